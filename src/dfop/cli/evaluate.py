"""``dfop evaluate``: the honest scores of the learner on a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dfop.checkpoints.options import delay_of, forgetting_of
from dfop.classifier import DFOPClassifier
from dfop.evaluation import Result
from dfop.evaluation import evaluate as score
from dfop.regressor import DFOPRegressor
from dfop.streams import Stream

from . import options as reading
from .problems import fail, in_sentences, note_empty, usage

HELP = """Score the learner on a stream: every row is predicted before its label is learned.

\b
Examples:
  dfop evaluate sales.csv --target price
  dfop evaluate electricity --lags 1 --report electricity.html
"""


@in_sentences
def evaluate(
    source: reading.Source,
    target: reading.Target = None,
    forgetting: Annotated[
        str, typer.Option(help="auto, few, mu (0.001), period=1000, half-life=3d.")
    ] = "auto",
    lags: Annotated[
        int, typer.Option(min=0, max=1000, help="How many of the last labels are features.")
    ] = 0,
    delay: Annotated[
        str | None, typer.Option(help="When labels are known: after ROWS or a DURATION (3d).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page here (HTML).", dir_okay=False)
    ] = None,
    as_json: reading.AsJson = False,
    features: reading.Features = None,
    ignore: reading.Ignore = None,
    text: reading.TextColumns = None,
    time: reading.Time = None,
    task: reading.TaskName = None,
    classes: reading.ClassNames = None,
    bad_rows: reading.BadRows = "fail",
    form: reading.Format = None,
    separator: reading.Separator = None,
) -> None:
    """Score the learner on a stream."""
    reading.check_folder(report)
    with usage():
        rule = forgetting_of(forgetting)
        wait = 0 if delay is None else delay_of(delay)
    stream = reading.open_stream(
        source,
        target,
        features=features,
        ignore=ignore,
        text=text,
        time=time,
        task=task,
        classes=classes,
        form=form,
        separator=separator,
        bad_rows=bad_rows,
    )
    model = learner(stream, forgetting=rule, lags=lags)
    if isinstance(wait, str) and _counts_seconds(stream):
        wait = delay_of(wait, in_seconds=True)
    result = score(model, stream, delay=wait)
    refuse_one_value(result, target)
    if as_json:
        print(json.dumps({"rows": len(result), **result.metrics}))
    else:
        print(result.summary())
    note_empty(model.empty_columns_)
    if report is not None:
        from dfop.report import History, write_page  # draws: only where it is asked for

        write_page(report, History.of(result), model, about={"source": source})


def _counts_seconds(stream: Stream) -> bool:
    """Whether the times of a stream are numbers: of a public one they are dates, if any."""
    return stream.layout is not None and stream.layout.numeric_time


def refuse_one_value(result: Result, target: str | None) -> None:
    """Leave if there was nothing to predict: all rows had the same target."""
    if len(result) > 1 and (result.truth == result.truth[0]).all():
        fail(
            f"the target {target!r} is {result.truth[0]} in all {len(result):,} rows: there is "
            "nothing to predict. Check the target column"
        )


def learner(stream: Stream, **given: Any) -> DFOPClassifier | DFOPRegressor:
    """Make the learner that suits a stream."""
    return (DFOPClassifier if stream.task == "classification" else DFOPRegressor)(**given)
