"""What a run writes beside its generations: predictions, and bad rows that are put aside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dfop.model.estimator import Ahead
from dfop.rows.batch import Batch
from dfop.streams.bad_rows import check_quarantine
from dfop.streams.layout import Layout

from .aside import Aside, OnlyAside
from .disk import Disk
from .options import Options
from .outputs import Appended, Printed, check_apart
from .per_key import keys_of
from .predictions import BadMark, Predicted, Predictions, columns_of, format_of


class Written:
    """The files that a run appends to; each has a length up to which it is valid.

    Parameters
    ----------
    options : Options
        What is to be written, and what is read: the two must be apart.
    disk : Disk
        What writes.

    Raises
    ------
    ValueError
        If a file cannot be written, is a source, or holds something else.
    """

    def __init__(self, options: Options, disk: Disk) -> None:
        if options.predictions is not None:
            format_of(options.predictions)
        if options.quarantine is not None:
            check_quarantine(Path(options.quarantine))
        outputs = (options.predictions, options.quarantine)
        check_apart(outputs, (*options.sources, options.labels))
        self._options, self._disk = options, disk
        self.aside = Aside()
        """Takes bad rows."""
        self._predictions: Predictions | None = None

    @property
    def aside_of_labels(self) -> OnlyAside:
        """Takes bad rows of the labels: their file says where they come from."""
        return OnlyAside(self.aside)

    def open(
        self, rows: Layout, labels: Layout, lengths: Mapping[str, int], folder: Path | None
    ) -> None:
        """Open the files, those of a run before up to where they are valid.

        Parameters
        ----------
        rows, labels : Layout
            Of the source of rows, and of that which has the labels.
        lengths : mapping of str to int
            Up to where files are valid; those that are not named begin anew.
        folder : Path, optional
            Where rows of Parquet are kept until it is complete.
        """
        options = self._options
        if options.predictions is not None:
            time = None
            if options.time is not None:
                time = "float64" if rows.numeric_time else "time"
            columns = columns_of(
                labels=labels.task == "classification",
                whole=labels.whole,
                ids=options.id is not None,
                keys=options.key is not None,
                time=time,
            )
            columns |= {"label": columns["prediction"], "bad": "string"}
            part = None if folder is None else folder / "predictions.rows"
            self._predictions = Predictions(
                options.predictions,
                self._disk,
                columns,
                length=lengths.get("predictions"),
                part=part,
            )
        self.aside.predictions = self._predictions
        if options.quarantine is not None:
            path = Path(options.quarantine)
            self.aside.open(path, self._disk, lengths.get("quarantine"))

    def add(
        self,
        numbers: Any,
        ids: Any,
        batch: Batch,
        ahead: Ahead,
        y: NDArray[Any],
        marks: list[BadMark],
    ) -> None:
        """Write what was predicted of rows, and which were bad between them."""
        if self._predictions is not None:
            label = None if self._options.labels is not None else y
            key = self._options.key
            keys = None if key is None else keys_of(batch, key)
            predicted = Predicted(numbers, ids, batch.time, *ahead, label, keys)
            self._predictions.add(predicted, marks)

    def end(self) -> None:
        """Write which rows were bad after the last good one."""
        if self._predictions is not None:
            self._predictions.add(None, self.aside.take())

    def _files(self) -> dict[str, Appended | Printed]:
        files: dict[str, Appended | Printed] = {}
        if self._predictions is not None:
            files["predictions"] = self._predictions.out
        if self.aside.out is not None:
            files["quarantine"] = self.aside.out
        return files

    def lengths(self) -> dict[str, int]:
        """Return how long the files are, with what waits to be written."""
        return {name: file.length for name, file in self._files().items()}

    def sync(self) -> None:
        """Bring everything to the disk."""
        for file in self._files().values():
            file.sync()

    def cut(self, lengths: Mapping[str, int]) -> None:
        """Take back what is beyond these lengths."""
        for name, file in self._files().items():
            file.cut(lengths[name])

    def finish(self) -> None:
        """Complete the predictions."""
        if self._predictions is not None:
            self._predictions.finish()

    def close(self) -> None:
        """Close the files."""
        for file in self._files().values():
            file.close()
