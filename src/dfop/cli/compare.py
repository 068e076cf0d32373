"""``dfop compare``: several learners on one stream."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from dfop import baselines
from dfop.checkpoints.options import forgetting_of
from dfop.evaluation import Result
from dfop.evaluation import evaluate as score
from dfop.rows.batch import Batch
from dfop.rows.extras import need
from dfop.streams import DataError, Stream

from . import options as reading
from .evaluate import learner, refuse_one_value
from .problems import USAGE, close_to, fail, in_sentences

HELP = """Score several learners on one stream, each in a pass of its own.

\b
Models: ours, linear (no curved experts), a mu such as 0.001, no-change, majority or mean, rls, and
river:MODULE.CLASS of River.

\b
Examples:
  dfop compare sales.csv --target price --models ours,linear,no-change
  dfop compare electricity --models ours,0.001,no-change,river:tree.HoeffdingTreeClassifier
"""

READ_NOTHING = ("no-change", "majority", "mean")
USUAL = ("ours", "linear", "no-change")
Make = Callable[[Stream], Any]


def _is_labels(stream: Stream) -> bool:
    return stream.task == "classification"


MODELS: dict[str, Make] = {
    "ours": learner,
    "linear": lambda stream: learner(stream, features="linear"),
    "no-change": lambda s: (
        baselines.NoChangeClassifier() if _is_labels(s) else baselines.NoChangeRegressor()
    ),
    "majority": lambda s: baselines.MajorityClass(),
    "mean": lambda s: baselines.RunningMean(),
    "rls": lambda s: baselines.RLSClassifier() if _is_labels(s) else baselines.RLSRegressor(),
}


@in_sentences
def compare(
    source: reading.Source,
    target: reading.Target = None,
    models: Annotated[
        list[str] | None,
        typer.Option(help="Which ones, a,b,c; see above.", show_default=",".join(USUAL)),
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
    """Score several learners on one stream."""
    chosen = {name: maker(name) for name in reading.names(models) or USUAL}
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
    if not stream.reusable:
        fail("a pipe can be read only once: save it to a file to compare learners on it", USAGE)
    found = {}
    for name, make in chosen.items():
        result = _scored(
            name, make(stream), featureless(stream) if name in READ_NOTHING else stream
        )
        refuse_one_value(result, target)
        rate = 1.0 / max(result.seconds_per_row, 1e-12)
        found[name] = {**result.metrics, "rows per second": rate}
    if as_json:
        print(json.dumps({"rows": len(result), "models": found}))
        return
    Console().print(_table(found))


def _scored(name: str, model: Any, stream: Stream) -> Result:
    """Score a model; what River's models cannot take is theirs to say."""
    if not name.startswith("river:"):
        return score(model, stream)
    try:
        return score(model, stream)
    except DataError:
        raise
    except Exception as error:
        fail(
            f"{name} cannot learn from {stream.name} ({type(error).__name__}: {error}). Most of "
            "River's models take numbers only: leave text and gaps out with --ignore"
        )


def featureless(stream: Stream) -> Stream:
    """Return a stream of the same labels whose rows say nothing, for models that read nothing."""

    def rows(start: int, stop: int | None) -> Iterator[tuple[Batch, Any]]:
        for batch, y in stream.pieces(start, stop):
            yield Batch(np.zeros((len(y), 1)), names=("nothing",), time=batch.time), y

    return Stream(
        stream.name, stream.task, ("nothing",), rows, classes=stream.classes, bad=stream.bad
    )


def maker(name: str) -> Make:
    """Return what makes the model of a name."""
    if name in MODELS:
        return MODELS[name]
    if name.startswith("river:"):
        return _of_river(name.removeprefix("river:"))
    try:
        rule = forgetting_of(name)
    except ValueError:
        near = close_to(name, list(MODELS))
        fail(
            f"there is no model {name!r}: choose of {', '.join(MODELS)}, a mu such as 0.001, or "
            f"river:MODULE.CLASS.{near}",
            USAGE,
        )
    return lambda stream: learner(stream, forgetting=rule)


def _of_river(path: str) -> Make:
    need("river", extra="river", purpose="comparing with River")
    module, _, name = path.rpartition(".")
    try:
        kind = getattr(importlib.import_module(f"river.{module}"), name)
    except (ImportError, AttributeError):
        fail(f"River has no {path}: write river:tree.HoeffdingTreeClassifier or the like", USAGE)
    return lambda stream: kind()


def _table(found: dict[str, dict[str, float]]) -> Table:
    measures = list(dict.fromkeys(name for figures in found.values() for name in figures))
    table = Table("model", *measures)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, figures in found.items():
        cells = [figures.get(measure) for measure in measures]
        table.add_row(name, *(_cell(m, c) for m, c in zip(measures, cells, strict=True)))
    return table


def _cell(measure: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if measure == "rows per second" else f"{value:.4g}"
