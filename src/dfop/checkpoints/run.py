"""`Run`: one pass over a source that can be stopped at any moment and taken up again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from dfop.report import History
from dfop.rows.batch import Batch
from dfop.streams import Stream
from dfop.streams.bad_rows import BadRows
from dfop.streams.layout import Layout

from .contents import arrays_of, bytes_of, history_of, model_bytes, model_of, new_model
from .disk import DISK, Disk, write_whole
from .folder import Folder
from .generation import CheckpointError, Generation
from .labelled import Labelled
from .labelling import AtOnce, Delayed, Labelling, Learner
from .options import Options, delay_of
from .patient import PatientFile
from .place import Places
from .reading import (
    column_of_ids,
    label_rows,
    layout_of,
    layout_state,
    located,
    open_labels,
    open_rows,
    unit_of_times,
    without_ids,
)
from .written import Written

FORMAT = 3
_FURTHER = ". To go on with a new file, name it behind those that were learned from"


class StoppedError(Exception):
    """The run was asked to stop, and has; what it had done is kept."""


class Run:
    r"""Learn from a source in one pass, with everything that is needed to survive being killed.

    Parameters
    ----------
    options : Options
        What to learn from, and how.
    checkpoint : path, optional
        The folder of its generations; without it nothing can be taken up again.
    every_rows, every_seconds : optional
        How often a generation is written, in rows or in seconds.
    skip : int
        Rows of the source to leave out: of a pipe, those that a run before has committed.
    disk : Disk
        What writes.

    Attributes
    ----------
    notes : list of str
        What should be said aloud: what a run before had done, what was damaged.
    model : DFOPRegressor, DFOPClassifier or PerKey
        What learns.
    history : dfop.report.History
        What happened along the stream.
    bad : dfop.streams.bad_rows.BadRows
        The bad rows.
    resumed : int
        How many rows a run before had committed, good and bad.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> lines = [f"{i % 7},{i % 7 * 0.5}" for i in range(300)]
    >>> _ = path.write_text("\n".join(["x,y", *lines]))
    >>> with Run(Options((str(path),), "y")) as run:
    ...     for _ in run.steps():
    ...         pass  # after every batch: a moment to look at it, or to stop
    >>> run.history.rows, bool(abs(run.model.predict([{"x": 4.0}])[0] - 2.0) < 0.1)
    (300, True)
    """

    def __init__(
        self,
        options: Options,
        *,
        checkpoint: Any = None,
        every_rows: int | None = None,
        every_seconds: float | None = 30.0,
        skip: int = 0,
        disk: Disk = DISK,
    ) -> None:
        self.options, self.disk = options, disk
        self._every_rows, self._every_seconds = every_rows, every_seconds
        self.notes: list[str] = []
        self.stopped: int | None = None
        self._first_id: str | None = None
        self._not_again: str | None = None
        """The id with which a pipe that is taken up must not begin."""
        self._reading = False
        """Whether it waits for rows: all that was learned is then whole batches."""
        self._good = 0
        self._saved_at, self._saved_rows = monotonic(), 0
        self._places = Places([Path(p) for p in (*options.sources, options.labels) if p])
        self._folder = None if checkpoint is None else Folder(checkpoint, disk)
        self._closed_at_end = ExitStack()
        if self._folder is not None:
            self._closed_at_end.callback(self._folder.close)
        try:
            found = None if self._folder is None else self._recover(self._folder)
            self._open(found, skip)
        except BaseException:
            self.close()
            raise

    # -- opening ------------------------------------------------------------------------------

    def _recover(self, folder: Folder) -> Generation | None:
        """Find the newest generation and refuse it if this is another run."""
        generation = folder.newest()
        self.notes += folder.notes
        if generation is None:
            return None
        state = generation.state
        if state.get("format") != FORMAT:
            raise CheckpointError(f"{folder.path} is of another version of dfop; start anew")
        changed = self.options.changed_since(state["options"])
        if changed:
            raise CheckpointError(
                f"the checkpoint {folder.path} is of a run with other options: "
                f"{'; '.join(changed)}. Give the same ones, or start anew with an empty folder"
                f"{_FURTHER if self.options.sources != tuple(state['options']['sources']) else ''}"
            )
        self._places.check(state["places"])
        return generation

    def _open(self, found: Generation | None, skip: int) -> None:
        state: Any = {} if found is None else found.state
        options = self.options
        self._written = Written(options, self.disk)
        self._closed_at_end.callback(self._written.close)
        layout = layout_of(state["layout"]) if state else None
        self.stream = open_rows(
            options,
            self._open_text,
            standard_input=lambda: PatientFile(sys.stdin.buffer, self._meanwhile),
            layout=layout,
            skip=skip,
            put_aside=self._written.aside,
        )
        self.bad: BadRows = self.stream.bad
        labels: Stream | None = None
        if options.labels is not None:
            before = layout_of(state["label layout"]) if state else None
            labels = open_labels(
                options,
                self._open_text,
                layout=before,
                put_aside=self._written.aside_of_labels,
            )
        self._label_stream = labels
        self.notes += unit_of_times(self.stream)
        told: Layout = (labels or self.stream).layout
        self._id_at = column_of_ids(self.stream, options.id)
        if options.key is not None and options.key not in self.stream.feature_names:
            raise ValueError(f"the key {options.key!r} is no column, or one that is ignored")
        self.model = (model_of(found) if found else None) or new_model(options, told)
        self.history = history_of(found) if found else History(told.task)
        learner = Learner(self.model, self.history, told.classes)
        taken = state["labelling"]["taken"] if state and labels is not None else 0
        self._labelling: Labelling = AtOnce(learner)
        if options.delay is not None:
            delay = delay_of(options.delay, in_seconds=self.stream.layout.numeric_time)
            self._labelling = Delayed(learner, delay)
        elif labels is not None:
            come = label_rows(labels, taken)
            self._closed_at_end.callback(come.close)
            self._labelling = Labelled(learner, come, options.pending_limit)
        # only now, that the sources are there, files of a run before are written over
        folder = None if self._folder is None else self._folder.path
        self._written.open(self.stream.layout, told, state.get("outputs", {}), folder)
        self.resumed = 0
        if found is not None:
            self._resume(found)
        self._kept = self._now()

    def _open_text(self, path: Path) -> Any:
        # the hash of what is read is only needed to go on
        file = self._places.open(path) if self._folder else path.open("rb", buffering=0)
        return file if path.is_file() else PatientFile(file, self._meanwhile)

    def _resume(self, found: Generation) -> None:
        state = found.state
        self.bad.restore(state["bad"])
        if self._label_stream is not None:
            self._label_stream.bad.restore(state["label bad"])
        self._labelling.restore(state["labelling"], arrays_of(found, "labelling/"))
        self._good = int(state["good"])
        self.resumed = self._saved_rows = self.bad.rows
        self.notes.append(
            f"going on after row {self.bad.rows:,}, from generation {found.number} of "
            f"{self._folder.path if self._folder else ''}"
        )
        self._first_id = state.get("first id")
        if not self.stream.reusable:
            self._not_again = None if self.bad.skip else self._first_id
            self.notes.append(
                f"{self.bad.rows:,} rows of the pipe are committed: it must go on with row "
                f"{self.bad.rows + 1:,}; if it begins with the first one again, give "
                f"--skip {self.bad.rows}"
            )

    # -- the loop -----------------------------------------------------------------------------

    def steps(self) -> Iterator[None]:
        """Learn batch by batch; every now and then a generation is written.

        Yields
        ------
        None
            After every batch.

        Raises
        ------
        StoppedError
            After `stop`: everything up to the last batch is kept.
        """
        first = self._good if self.stream.reusable else 0
        pieces = self.stream.pieces(first, None)
        self._closed_at_end.callback(pieces.close)
        while (piece := self._next(pieces)) is not None:
            self._learn(*piece)
            if self._is_due():
                self.save()
            yield
            if self.stopped is not None:
                self._stop()
        self._written.end()
        self._labelling.end()
        self.history.look(self.model)
        self.history.note_bad(self.bad)
        self._kept = self._now()
        self.save()

    def _next(self, pieces: Iterator[tuple[Batch, NDArray[Any]]]) -> Any:
        self._reading = True
        try:
            if self.stopped is not None:
                self._stop()
            return next(pieces, None)
        except StoppedError:
            self._stop()
        finally:
            self._reading = False
        return None

    def stop(self, signal: int) -> None:
        """Ask the run to stop: at once where it waits for input, else after the batch.

        For a handler of signals.
        """
        self.stopped = signal
        if self._reading:
            raise StoppedError

    def _stop(self) -> None:
        """Go back to the last whole batch, keep it, and stop."""
        self._reading = False
        self.bad.restore(self._kept["bad"])
        self._written.cut(self._kept["outputs"])
        self.history.look(self.model)
        self.history.note_bad(self.bad)
        self.save()
        raise StoppedError

    def _learn(self, batch: Batch, y: NDArray[Any]) -> None:
        before = max(int(self._kept["bad"]["rows"]), self.bad.skip)
        numbers, marks = self._written.aside.number(before, len(y))
        ids = None
        if self._id_at is not None:
            batch, ids = without_ids(batch, self._id_at, numbers)
            self._check_first(ids[0])
        start = monotonic()
        try:
            ahead = self._labelling.step(batch, y, ids)
        except ValueError as error:
            raise located(error, batch, ids, numbers, self.options) from error
        self.history.seconds += monotonic() - start
        self._good += len(y)
        self._written.add(numbers, ids, batch, ahead, y, marks)
        self.history.note_bad(self.bad)
        self._kept = self._now()

    def _check_first(self, name: str) -> None:
        """Refuse a pipe that begins with the first row again: rows would be learned twice."""
        if name == self._not_again:
            raise CheckpointError(
                f"the pipe begins with the first row again ({self.options.id} {name!r}), and "
                f"{self.resumed:,} rows of it are committed: give --skip {self.resumed}"
            )
        self._not_again = None
        self._first_id = self._first_id or name

    @property
    def labels_unmatched(self) -> int:
        """Labels of a file of their own so far that named no row."""
        return self._labelling.unmatched

    def _now(self) -> dict[str, Any]:
        """Return what must go with the last whole batch, whatever is read ahead."""
        return {"bad": self.bad.state(), "outputs": self._written.lengths()}

    # -- keeping ------------------------------------------------------------------------------

    def _is_due(self) -> bool:
        if self._folder is None:
            return False
        if self._every_rows is not None:
            return int(self._kept["bad"]["rows"]) - self._saved_rows >= self._every_rows
        return self._every_seconds is not None and (
            monotonic() - self._saved_at >= self._every_seconds
        )

    def _meanwhile(self) -> float | None:
        """Write the generation that is due while a pipe pauses; return when one will be."""
        if not self._reading or self._folder is None or self._every_seconds is None:
            return None
        if self._every_rows is not None or int(self._kept["bad"]["rows"]) == self._saved_rows:
            return None
        left = self._saved_at + self._every_seconds - monotonic()
        if left > 0.0:
            return left
        self._reading = False  # a signal must not come between what is written
        self.save()
        self._reading = True
        if self.stopped is not None:
            raise StoppedError
        return None

    def save(self) -> None:
        """Bring the outputs to the disk, then write a generation of where the run stands."""
        if self._folder is None:
            return
        self._written.sync()
        values, arrays = self._labelling.state()
        figures, columns = self.history.state()
        arrays = {f"labelling/{name}": array for name, array in arrays.items()}
        arrays |= {f"history/{name}": array for name, array in columns.items()}
        labels = self._label_stream
        state = {
            "format": FORMAT,
            "options": self.options.state(),
            "places": self._places.state(),
            "good": self._good,
            "first id": self._first_id,
            "bad": self._kept["bad"],
            "outputs": self._kept["outputs"],
            "layout": layout_state(self.stream.layout),
            "label layout": None if labels is None else layout_state(labels.layout),
            "label bad": None if labels is None else labels.bad.state(),
            "labelling": values,
            "history": figures,
        }
        blobs = {name: bytes_of(array) for name, array in arrays.items()}
        blobs["model"] = model_bytes(self.model) if self._good else b""
        self._folder.save(state, blobs)
        self._saved_at, self._saved_rows = monotonic(), int(self._kept["bad"]["rows"])

    def finish(self, model: Any = None) -> None:
        """Complete the outputs, and save the model if a path is given."""
        self._written.finish()
        if model is not None:
            write_whole(self.disk, Path(os.path.realpath(model)), [model_bytes(self.model)])

    def close(self) -> None:
        """Close the files and let other runs use the folder."""
        self._closed_at_end.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
