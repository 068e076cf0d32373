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
from dfop.checkpoints.per_key import PerKey
from dfop.checkpoints.predictions import Predicted, Predictions, columns_of, format_of
from dfop.checkpoints.reading import without_ids
from dfop.classifier import DFOPClassifier
from dfop.files import load
from dfop.insight.columns import column_kinds
from dfop.regressor import DFOPRegressor
from dfop.rows.batch import Batch
from dfop.scale import Keyed
from dfop.streams import Stream, read

from .options import (
    BadRows,
    Format,
    Separator,
    check_choice,
    check_file,
    check_folder,
    check_reading,
)
from .problems import USAGE, fail, in_sentences, say, usage

HELP = """Predict the rows of a file or a pipe with a model as it is; nothing is learned.

\b
Examples:
  dfop predict sales.dfop new.csv > predictions.csv
  dfop predict sales.dfop new.parquet --id order --predictions p.parquet
"""


@in_sentences
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model that `dfop learn` saved.")
    ],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, a folder of Parquet, or -.")
    ],
    predictions: Annotated[
        str, typer.Option(help="FILE.parquet, .csv or .jsonl; - for CSV on stdout.")
    ] = "-",
    id_column: Annotated[
        str | None, typer.Option("--id", help="A column that names a row, to be written along.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="The column of keys, of a model per key.")
    ] = None,
    bad_rows: BadRows = "fail",
    form: Format = None,
    separator: Separator = None,
) -> None:
    """Predict the rows of a file or a pipe with a model as it is."""
    check_reading(None, form)
    check_choice("--bad-rows", bad_rows, ("fail", "skip"))
    check_file(str(model))
    check_file(source)
    check_folder(None if predictions == "-" else predictions)
    with usage():
        check_apart([predictions], [source, str(model)])
        format_of(predictions)
    loaded = load(model)
    if isinstance(loaded, Keyed):
        if key is None:
            fail(f"{model} has a model per key: name the column of keys, --key COLUMN", USAGE)
        loaded = PerKey(loaded, key)
    elif key is not None:
        fail(f"--key {key}: {model} is one model, not one per key", USAGE)
    elif not isinstance(loaded, DFOPRegressor | DFOPClassifier):
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
        numbers, marks = aside.number(before, len(batch))
        ids = None
        if id_column is not None:
            at = stream.feature_names.index(id_column)
            batch, ids = without_ids(batch, at, numbers)
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
    kinds = model.kinds() if isinstance(model, PerKey) else column_kinds(model)
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
    by_key = isinstance(model, PerKey)
    face = model.keyed if by_key else model
    labels = hasattr(face, "classes_")
    whole = labels and np.asarray(face.classes_).dtype.kind in "iu"
    columns = columns_of(labels=labels, whole=whole, ids=id_column is not None, keys=by_key)
    return {**columns, "bad": "string"}


def _predicted(model: Any, batch: Batch, numbers: Any, ids: Any) -> Predicted:
    if isinstance(model, PerKey):
        keys, ahead = model.split(batch)[0], model.ahead(batch)
        return Predicted(numbers, ids, None, *ahead, None, keys)
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
