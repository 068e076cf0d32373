"""The rows of a run: its source, opened as its options say, and a source of labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.rows.batch import Batch
from dfop.streams import DataError, Stream, read
from dfop.streams.layout import Layout

from .labelled import LabelRows
from .options import Options, classes_of
from .per_key import without_column

Opener = Callable[[Path], Any]


def open_rows(
    options: Options,
    opener: Opener,
    *,
    standard_input: Callable[[], Any],
    layout: Layout | None,
    skip: int,
    put_aside: Any,
) -> Stream:
    """Open the source of a run.

    Parameters
    ----------
    options : Options
        What to read, and how.
    opener : callable
        Opens files of text.
    standard_input : callable
        Opens the source "-".
    layout : Layout or None
        What was decided of the columns by a run before.
    skip : int
        How many rows to leave out.
    put_aside : object
        Takes bad rows where they are allowed (`append`).
    """
    kinds = dict.fromkeys(options.text, "text")
    features = list(options.features)
    for column in (options.id, options.key):
        if column is not None:
            kinds[column] = "text"
            features += [column] if features else []
    labels_apart = options.labels is not None
    return read(
        _source(options, standard_input),
        target=() if labels_apart else options.target,
        time=options.time,
        features=features or None,
        ignore=options.ignore,
        kinds=kinds,  # type: ignore[arg-type]
        task=None if labels_apart else options.task,  # type: ignore[arg-type]
        classes=None if labels_apart else _classes(options),
        **_bad_rows(options, put_aside),
        max_bad=options.max_bad,
        format=options.format or ("csv" if options.sources == ("-",) else None),
        separator=options.separator,
        skip=skip,
        layout=layout,
        opener=opener,
    )


def _bad_rows(options: Options, put_aside: Any) -> dict[str, Any]:
    """Return what `read` does with bad rows: those that are left out are put aside, too."""
    if options.bad_rows == "fail":
        return {"bad_rows": "fail"}
    return {"bad_rows": "quarantine", "quarantine": put_aside}


def _source(options: Options, standard_input: Callable[[], Any]) -> Any:
    if options.sources == ("-",):
        return standard_input()
    paths = [Path(source) for source in options.sources]
    return paths[0] if len(paths) == 1 else paths


def _classes(options: Options) -> Any:
    """Return the classes that are named, as whole numbers where all are; else the first ones."""
    if options.task == "regression":
        return None
    return classes_of(options.classes) or "first"


def open_labels(
    options: Options, opener: Opener, *, layout: Layout | None, put_aside: Any
) -> Stream:
    """Open the source of labels."""
    assert options.labels is not None
    assert options.id is not None
    return read(
        Path(options.labels),
        target=options.target,
        time=options.time,
        features=[options.id],
        kinds={options.id: "text"},
        task=options.task,  # type: ignore[arg-type]
        classes=_classes(options),
        **_bad_rows(options, put_aside),
        separator=options.separator,
        layout=layout,
        opener=opener,
    )


_UNITS = {1e3: "milliseconds", 1e6: "microseconds", 1e9: "nanoseconds"}


def unit_of_times(stream: Stream) -> list[str]:
    """Say in which unit times are taken where it is not seconds, which durations are told in."""
    unit = _UNITS.get(stream.layout.ticks)
    if unit is None:
        return []
    return [
        f"{stream.name}, column {stream.layout.time!r}: such large numbers are taken as {unit} "
        "since 1970, and are written in seconds"
    ]


def label_rows(stream: Stream, first: int) -> Generator[LabelRows, None, None]:
    """Give the labels of a stream from number `first` on."""
    last: Any = None
    for batch, y in stream.pieces(0, None):
        assert batch.time is not None
        times = batch.time if last is None else np.concatenate([[last], batch.time])
        if (times[1:] < times[:-1]).any():
            raise ValueError(
                f"{stream.name}: the labels must stand in the order of their times; sort the file"
            )
        last = times[-1]
        start, first = min(first, len(y)), max(first - len(y), 0)
        if start < len(y):
            ids = batch.texts[0].cells() if 0 in batch.texts else [None] * len(y)
            yield LabelRows(ids[start:], y[start:], batch.time[start:])


def column_of_ids(stream: Stream, name: str | None) -> int | None:
    """Return where among the features of a stream the ids stand."""
    if name is None:
        return None
    if name not in stream.feature_names:
        raise ValueError(
            f"the id {name!r} is also the target, the time or a column to ignore: name a column "
            "that is none of them"
        )
    return stream.feature_names.index(name)


def without_ids(batch: Batch, at: int, numbers: NDArray[np.int64]) -> tuple[Batch, list[str]]:
    """Take the ids out of a batch; a row without one is called by its number."""
    text = batch.texts.get(at)
    cells = [None] * len(batch) if text is None else text.cells()
    ids = [f"row {n}" if c is None else c for n, c in zip(numbers, cells, strict=True)]
    return without_column(batch, at), ids


def located(
    error: ValueError,
    batch: Batch,
    ids: Sequence[str] | None,
    numbers: NDArray[np.int64],
    options: Options,
) -> ValueError:
    """Return an error of a model, which counts the rows of a batch, as one of the source's rows."""
    said = str(error)
    source = ", ".join(options.sources)
    if options.key is not None and "time runs backwards" in said:
        return ValueError(f"{source}: {re.sub(r'at row [0-9]+, ', 'within the ', said)}")
    if batch.time is not None and "time runs backwards" in said:
        late = np.flatnonzero(batch.time[1:] < batch.time[:-1]) + 1
        return DataError(
            "the time is earlier than that of the row before",
            source=source,
            row=int(numbers[late[0] if late.size else 0]),
            column=options.time,
            remedy="Sort the rows by time, or leave late rows out; where clocks were set back, "
            "write the zone (2024-10-27T02:30:00+01:00)",
        )
    if ids is not None and "key" in said:
        first = {name: t for t, name in reversed(list(enumerate(ids)))}
        twice = next((t for t, name in enumerate(ids) if first[name] < t), None)
        if twice is not None:
            return DataError(
                f"the id {ids[twice]!r} is also that of row {numbers[first[ids[twice]]]}",
                source=source,
                row=int(numbers[twice]),
                column=options.id,
                remedy="Labels of their own file need an id that names one row",
            )
    return error


def layout_state(layout: Layout) -> dict[str, Any]:
    """Return a layout for JSON."""
    state = asdict(layout)
    state["given"] = sorted(layout.given)
    return {name: list(v) if isinstance(v, tuple) else v for name, v in state.items()}


def layout_of(state: Mapping[str, Any]) -> Layout:
    """Read a layout.

    Examples
    --------
    >>> from dfop.streams import read
    >>> layout = read([{"x": 1.0, "y": 0.5}, {"x": 2.0, "y": 1.5}], target="y").layout
    >>> layout_of(layout_state(layout)) == layout
    True
    """
    given: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in state.items()
    }
    given["given"] = frozenset(state["given"])
    return Layout(**given)
