"""Predictions as CSV, JSON lines or Parquet, the same bytes however rows are cut into batches."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.rows.arrow import is_number
from dfop.rows.extras import need

from .disk import Disk
from .outputs import Appended, Printed

GROUP = 2**16
"""Rows of a row group in Parquet."""
FORMATS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


class Predicted(NamedTuple):
    """What is written of some rows."""

    row: NDArray[np.int64]
    """Their numbers among all rows, good and bad, counted from 1."""
    ids: Sequence[str | None] | None
    time: NDArray[Any] | None
    prediction: NDArray[Any]
    probability: NDArray[np.float64] | None
    interval: NDArray[np.float64] | None
    label: NDArray[Any] | None
    keys: Sequence[str] | None = None


class BadMark(NamedTuple):
    """A bad row, as it is written among the others."""

    row: int
    kind: str


def format_of(path: str) -> str:
    """Return the format that a path asks for; "-" is CSV on standard output.

    Examples
    --------
    >>> format_of("p.parquet"), format_of("-")
    ('parquet', 'csv')
    """
    if path == "-":
        return "csv"
    found = FORMATS.get(Path(path).suffix.lower())
    if found is None:
        raise ValueError(
            f"predictions {path}: the ending must be .csv, .jsonl or .parquet, or - for CSV on "
            "standard output"
        )
    return found


def columns_of(
    *, labels: bool, whole: bool, ids: bool, keys: bool = False, time: str | None = None
) -> dict[str, str]:
    """Return the columns that all predictions have, and the Arrow types of their cells.

    Parameters
    ----------
    labels, whole : bool
        Whether labels are predicted, and whether these are whole numbers.
    ids : bool
        Whether rows have names.
    keys : bool
        Whether rows belong to keys.
    time : str, optional
        The type of their times.

    Examples
    --------
    >>> list(columns_of(labels=True, whole=False, ids=False))
    ['row', 'prediction', 'probability']
    """
    columns = {"row": "int64"} | ({"id": "string"} if ids else {})
    columns |= {"key": "string"} if keys else {}
    columns |= {} if time is None else {"time": time}
    if labels:
        return columns | {"prediction": "int64" if whole else "string", "probability": "float64"}
    return columns | dict.fromkeys(("prediction", "low", "high"), "float64")


class Predictions:
    """A file of predictions.

    Parameters
    ----------
    path : str
        Where to; "-" for standard output. Parquet appears when it is complete; until then its rows
        are in `part`.
    disk : Disk
        What writes.
    columns : dict of str to str
        Columns and the Arrow types of their cells.
    length : int, optional
        Up to where the file, or `part`, is valid; None to begin anew.
    part : Path, optional
        Where the rows of Parquet are kept until it is complete.
    """

    def __init__(
        self,
        path: str,
        disk: Disk,
        columns: dict[str, str],
        *,
        length: int | None = None,
        part: Path | None = None,
    ) -> None:
        pa = need("pyarrow", extra="data", purpose="writing predictions")
        self.path, self.format, self._disk = path, format_of(path), disk
        self._keep_part = part is not None
        self._schema = pa.schema([(name, _type(pa, kind)) for name, kind in columns.items()])
        where = Path(path)
        if self.format == "parquet":
            where = part or where.with_name(f".{where.name}.rows")
        self.out = Printed() if path == "-" else Appended(where, disk, length)
        if not length:
            self.out.append(self._head())

    def _head(self) -> bytes:
        if self.format == "parquet":
            return bytes(self._schema.serialize())
        return (",".join(self._schema.names) + "\n").encode() if self.format == "csv" else b""

    def add(self, rows: Predicted | None, bad: Sequence[BadMark]) -> None:
        """Write rows, with bad ones in their place among them."""
        pa = need("pyarrow", extra="data")
        columns = [] if rows is None else self._columns(rows)
        if bad:
            columns = self._with_bad(columns, bad)
        if columns:
            n = next(len(column) for column in columns if column is not None)
            arrays = [
                pa.nulls(n, field.type)
                if column is None
                else pa.array(column, type=field.type, from_pandas=True)
                for column, field in zip(columns, self._schema, strict=True)
            ]
            self.out.append(self._encoded(pa.record_batch(arrays, schema=self._schema)))

    def _columns(self, rows: Predicted) -> list[Any]:
        low, high = (None, None) if rows.interval is None else rows.interval.T
        given = {
            "row": rows.row,
            "id": rows.ids,
            "key": rows.keys,
            "time": rows.time,
            "prediction": rows.prediction,
            "probability": rows.probability,
            "low": None if low is None else np.where(np.isfinite(low), low, np.nan),
            "high": None if high is None else np.where(np.isfinite(high), high, np.nan),
            "label": rows.label,
            "bad": None,
        }
        return [given[name] for name in self._schema.names]

    def _with_bad(self, columns: list[Any], bad: Sequence[BadMark]) -> list[Any]:
        """Put bad rows between the others, by their number."""
        names = self._schema.names
        marks: dict[str, list[Any]] = {name: [None] * len(bad) for name in names}
        marks["row"], marks["bad"] = [mark.row for mark in bad], [mark.kind for mark in bad]
        if not columns:
            return [marks[name] for name in names]
        order = np.argsort(np.concatenate([columns[0], marks["row"]]), kind="stable")
        joined = []
        for name, column in zip(names, columns, strict=True):
            cells = [None] * len(columns[0]) if column is None else column
            cells = cells.astype(object) if isinstance(cells, np.ndarray) else cells
            both = np.array([*cells, *marks[name]], dtype=object)[order]
            joined.append(both if name != "row" else both.astype(np.int64))
        return joined

    def _encoded(self, batch: Any) -> bytes:
        if self.format == "parquet":
            return bytes(batch.serialize())
        if self.format == "csv":
            csv = need("pyarrow.csv", extra="data")
            sink = io.BytesIO()
            csv.write_csv(batch, sink, csv.WriteOptions(include_header=False))
            return sink.getvalue()
        lines = (json.dumps({k: _plain(v) for k, v in row.items()}) for row in batch.to_pylist())
        return "".join(line + "\n" for line in lines).encode()

    def finish(self) -> None:
        """Complete the file."""
        self.out.close()
        if self.format == "parquet":
            assert isinstance(self.out, Appended)
            self._write_parquet(self.out.path)
            if not self._keep_part:
                self._disk.unlink(self.out.path)

    def _write_parquet(self, part: Path) -> None:
        """Make Parquet of the rows: row groups of one size, so the bytes depend on rows alone."""
        parquet = need("pyarrow.parquet", extra="data", purpose="writing Parquet")
        target = Path(os.path.realpath(self.path))
        hidden = target.with_name(f".{target.name}.part")
        file = self._disk.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            sink = _Sink(self._disk, file)
            # numbers hardly repeat: a dictionary of them takes time and saves nothing
            texts = [f.name for f in self._schema if not is_number(f.type)]
            with parquet.ParquetWriter(sink, self._schema, use_dictionary=texts) as writer:
                for table in _groups(part):
                    writer.write_table(table, row_group_size=GROUP)
            self._disk.sync(file)
        except BaseException:
            self._disk.close(file)
            self._disk.unlink(hidden)
            raise
        self._disk.close(file)
        self._disk.rename(hidden, target)
        self._disk.sync_folder(target.parent)


class _Sink(io.RawIOBase):
    """A file for Arrow, whose writes go through the disk."""

    def __init__(self, disk: Disk, file: int) -> None:
        super().__init__()
        self._disk, self._descriptor = disk, file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._disk.write(self._descriptor, bytes(data))
        return len(data)


def _groups(part: Path) -> Iterator[Any]:
    """Give the rows of a part as tables of `GROUP` rows each; the last may be shorter."""
    pa = need("pyarrow", extra="data")
    ipc = need("pyarrow.ipc", extra="data")
    held: list[Any] = []
    count = 0
    with pa.OSFile(str(part)) as file, ipc.open_stream(file) as reader:
        for batch in reader:
            start = 0
            while count + batch.num_rows - start >= GROUP:
                piece = batch.slice(start, GROUP - count)
                yield pa.Table.from_batches([*held, piece]).combine_chunks()
                start += piece.num_rows
                held, count = [], 0
            if start < batch.num_rows:
                held.append(batch.slice(start))
                count += batch.num_rows - start
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def _type(pa: Any, kind: str) -> Any:
    return pa.timestamp("ns") if kind == "time" else pa.type_for_alias(kind)


def _plain(value: Any) -> Any:
    """Return a cell that JSON can hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int | str) else str(value)
