"""``dfop predict``: the predictions of a model for rows without labels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dfop.checkpoints import DISK
from dfop.checkpoints.aside import Aside
from dfop.checkpoints.outputs import check_apart
from dfop.checkpoints.predictions import Predicted, Predictions, columns_of
from dfop.checkpoints.reading import good_numbers, without_ids
from dfop.classifier import DFOPClassifier
from dfop.files import load
from dfop.insight.columns import column_kinds
from dfop.regressor import DFOPRegressor
from dfop.rows.batch import Batch
from dfop.streams import Stream, read

from .options import BadRows, Format, Separator, check_choice, check_file, check_reading
from .problems import USAGE, fail, in_sentences, say

HELP = """Predict the rows of a file or a pipe with a model as it is; nothing is learned.

\b
Examples:
  dfop predict sales.dfop new.csv > predictions.csv
  dfop predict sales.dfop new.parquet --id order --predictions p.parquet
"""


@in_sentences
def predict(
    model: Annotated[Path, typer.Argument(help="A model that `dfop learn` saved.")],
    source: Annotated[str, typer.Argument(help="A file, a folder of Parquet, or -.")],
    predictions: Annotated[
        str, typer.Option(help="FILE.parquet, .csv or .jsonl; - for CSV on stdout.")
    ] = "-",
    id_column: Annotated[
        str | None, typer.Option("--id", help="A column that names a row, to be written along.")
    ] = None,
    bad_rows: BadRows = "fail",
    form: Format = None,
    separator: Separator = None,
) -> None:
    """Predict the rows of a file or a pipe with a model as it is."""
    check_reading(None, form)
    check_choice("--bad-rows", bad_rows, ("fail", "skip"))
    check_file(source)
    check_apart([predictions], [source, str(model)])
    loaded = load(model)
    if not isinstance(loaded, DFOPRegressor | DFOPClassifier):
        fail(f"{model} is a model for River: predict its rows in Python")
    aside = Aside()
    put_aside = None if bad_rows == "fail" else aside
    stream = _rows(loaded, source, id_column, put_aside, form, separator)
    out = Predictions(predictions, DISK, _columns(loaded, id_column))
    aside.predictions = out
    try:
        _write(loaded, stream, id_column, out, aside)
        out.finish()
    finally:
        out.out.close()
    if stream.bad.total:
        say(f"dfop: {stream.bad.total:,} of {stream.bad.rows:,} rows were bad and left out")


def _write(
    model: Any, stream: Stream, id_column: str | None, out: Predictions, aside: Aside
) -> None:
    """Predict all rows, batch by batch."""
    before = 0
    for batch, _ in stream.pieces(0, None):
        marks = aside.take()
        numbers = good_numbers(before, len(batch), [mark.row for mark in marks])
        ids = None
        if id_column is not None:
            at = stream.feature_names.index(id_column)
            batch, ids = without_ids(batch, at, before + 1)
        out.add(_predicted(model, batch, numbers, ids), marks)
        before = stream.bad.rows
    out.add(None, aside.take())


def _rows(
    model: Any,
    source: str,
    id_column: str | None,
    put_aside: Aside | None,
    form: str | None,
    separator: str | None,
) -> Stream:
    kinds = column_kinds(model)
    features = list(kinds)
    if id_column in kinds:
        fail(f"--id {id_column} is a feature of the model: name another column", USAGE)
    if id_column is not None:
        features.append(id_column)
        kinds[id_column] = "text"
    return read(
        sys.stdin.buffer if source == "-" else Path(source),
        target=(),
        features=features,
        kinds=kinds,
        bad_rows="fail" if put_aside is None else "quarantine",
        quarantine=put_aside,
        format=form or ("csv" if source == "-" else None),
        separator=separator,
    )


def _columns(model: Any, id_column: str | None) -> dict[str, str]:
    labels = isinstance(model, DFOPClassifier)
    whole = labels and np.asarray(model.classes_).dtype.kind in "iu"
    columns = columns_of(labels=labels, whole=whole, ids=id_column is not None)
    return {**columns, "bad": "string"}


def _predicted(model: Any, batch: Batch, numbers: Any, ids: Any) -> Predicted:
    prediction = model.predict(batch)
    probability = interval = None
    if isinstance(model, DFOPClassifier):
        probability = model.predict_proba(batch).max(axis=1)
    else:
        try:
            interval = model.predict_interval(batch)
        except AttributeError:  # a single filter has no intervals
            interval = None
    return Predicted(numbers, ids, None, prediction, probability, interval, None)
