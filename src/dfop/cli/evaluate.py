"""``dfop evaluate``: the honest scores of the learner on a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dfop.checkpoints.options import delay_of, forgetting_of
from dfop.classifier import DFOPClassifier
from dfop.evaluation import evaluate as score
from dfop.regressor import DFOPRegressor
from dfop.streams import Stream

from .options import (
    AsJson,
    BadRows,
    Features,
    Format,
    Ignore,
    Separator,
    Source,
    Target,
    TaskName,
    TextColumns,
    Time,
    open_stream,
)
from .problems import in_sentences

HELP = """Score the learner on a stream: every row is predicted before its label is learned.

\b
Examples:
  dfop evaluate sales.csv --target price
  dfop evaluate electricity --lags 1 --report electricity.html
"""


@in_sentences
def evaluate(
    source: Source,
    target: Target = None,
    forgetting: Annotated[
        str, typer.Option(help="auto, mu (0.001), period=1000, half-life=3d.")
    ] = "auto",
    lags: Annotated[int, typer.Option(help="How many of the last labels are features.")] = 0,
    delay: Annotated[
        str | None, typer.Option(help="When labels are known: after ROWS or a DURATION (3d).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page here (HTML).", dir_okay=False)
    ] = None,
    as_json: AsJson = False,
    features: Features = None,
    ignore: Ignore = None,
    text: TextColumns = None,
    time: Time = None,
    task: TaskName = None,
    bad_rows: BadRows = "fail",
    form: Format = None,
    separator: Separator = None,
) -> None:
    """Score the learner on a stream."""
    stream = open_stream(
        source,
        target,
        features=features,
        ignore=ignore,
        text=text,
        time=time,
        task=task,
        form=form,
        separator=separator,
        bad_rows=bad_rows,
    )
    model = learner(stream, forgetting=forgetting_of(forgetting), lags=lags)
    result = score(model, stream, delay=0 if delay is None else delay_of(delay))
    if as_json:
        print(json.dumps({"rows": len(result), **result.metrics}))
    else:
        print(result.summary())
    if report is not None:
        from dfop.report import History, write_page  # draws: only where it is asked for

        write_page(report, History.of(result), model, about={"source": source})


def learner(stream: Stream, **given: Any) -> DFOPClassifier | DFOPRegressor:
    """Make the learner that suits a stream."""
    return (DFOPClassifier if stream.task == "classification" else DFOPRegressor)(**given)
