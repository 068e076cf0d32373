"""``dfop learn``: learn from files or a pipe in one pass."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import typer

from dfop.checkpoints import DISK, Options, Run
from dfop.checkpoints.disk import write_whole
from dfop.checkpoints.outputs import check_apart
from dfop.checkpoints.per_key import PerKey
from dfop.checkpoints.predictions import format_of
from dfop.forgetting import seconds_of

from . import learn_options as own
from .keys import given_up
from .metrics import prometheus
from .options import (
    ClassNames,
    Features,
    Format,
    Ignore,
    Separator,
    TaskName,
    TextColumns,
    Time,
    check_file,
    check_folder,
    check_reading,
    names,
)
from .problems import (
    StoppedError,
    fail,
    in_sentences,
    note_empty,
    say,
    stopping,
    usage,
)
from .progress import Progress, shown
from .report import write_report

METRICS_SECONDS = 5.0
HELP = """Learn from files or a pipe in one pass; every row is predicted before its label is seen.

\b
Examples:
  dfop learn sales.csv --target price --model sales.dfop --report sales.html
  dfop learn jan.csv.gz feb.csv.gz -t churn --bad-rows quarantine=bad.csv --max-bad 0.01
  tail -f events.csv | dfop learn - -t clicked --classes 0,1 --predictions -
  dfop learn log.csv -t y --checkpoint state --predictions p.parquet   # killed? run it again
  dfop learn rows.csv -t y --labels late.csv --id order --time at --forgetting half-life=7d
  dfop learn orders.csv -t amount --key customer --shared --forgetting 0.001

\b
Exit codes: 0 done, 1 failed, 2 usage, 3 too many bad rows, 4 checkpoint refused,
130 and 143 stopped by a signal and saved, 141 nobody reads the output any more.
"""


class Outputs(NamedTuple):
    """Where the results go, beside the predictions."""

    model: Path | None
    report: Path | None
    metrics: Path | None
    as_json: bool


@in_sentences
def learn(
    source: own.Sources,
    target: own.TargetColumn,
    model: own.ModelFile = None,
    predictions: own.PredictionsFile = None,
    report: own.ReportFile = None,
    metrics: own.MetricsFile = None,
    as_json: own.SummaryAsJson = False,
    features: Features = None,
    ignore: Ignore = None,
    text: TextColumns = None,
    time: Time = None,
    task: TaskName = None,
    classes: ClassNames = None,
    forgetting: own.ForgettingRule = "auto",
    lags: own.Lags = 0,
    delay: own.DelayOfLabels = None,
    labels: own.LabelsFile = None,
    id_column: own.IdColumn = None,
    key: own.KeyColumn = None,
    expire: own.ExpireKeys = None,
    shared: own.SharedModel = False,
    pending_limit: own.PendingLimit = 100000,
    bad_rows: own.BadRowsAndFile = "fail",
    max_bad: own.MaxBad = None,
    checkpoint: own.CheckpointFolder = None,
    every: own.Every = "30s",
    skip: own.Skip = 0,
    form: Format = None,
    separator: Separator = None,
    progress_json: own.ProgressAsJson = False,
    quiet: own.Quiet = False,
    config: own.Config = None,
) -> None:
    """Learn from files or a pipe in one pass."""
    _check_sources(source, labels, task, form)
    handling, _, put_aside = bad_rows.partition("=")
    with usage():
        options = Options(
            sources=tuple(source), target=target, task=task, time=time, format=form,
            separator=separator, features=names(features), ignore=names(ignore), text=names(text),
            classes=names(classes), forgetting=forgetting, lags=lags, delay=delay,
            labels=None if labels is None else str(labels), id=id_column, key=key, expire=expire,
            shared=shared, pending_limit=pending_limit, bad_rows=_handling(handling, put_aside),
            quarantine=put_aside or None, max_bad=_limit(max_bad), predictions=predictions,
        )  # fmt: skip
    outputs = Outputs(model, report, metrics, as_json)
    _check_outputs(outputs, options, config)
    with Run(options, checkpoint=checkpoint, skip=skip, **_every(every)) as run:
        with stopping(run.stop):
            progress = Progress(run, shown(as_json=progress_json, quiet=quiet))
            code = _go(run, outputs, progress, quiet)
        _end(run, outputs, progress, quiet, code)


def _go(run: Run, outputs: Outputs, progress: Progress, quiet: bool) -> int:
    """Run to the end, or until a signal; return the exit code."""
    # what a pipe must go on with is said in any case: else rows are learned twice
    silent = quiet and (run.stream.reusable or not run.resumed)
    for note in [] if silent else run.notes:
        say(note)
    written = monotonic()
    try:
        for _ in run.steps():
            progress.tick()
            if outputs.metrics and monotonic() - written >= METRICS_SECONDS:
                written = monotonic()
                _write_metrics(outputs.metrics, summary_of(run, progress))
    except StoppedError:
        return 128 + (run.stopped or 0)
    finally:
        progress.end()
    return 0


def _end(run: Run, outputs: Outputs, progress: Progress, quiet: bool, code: int) -> None:
    """Write the results, and say how it went."""
    if run.history.rows == 0 and not run.model.__sklearn_is_fitted__():
        fail("no row was learned: there is nothing to save", code or 1)
    if run.labels_unmatched and not run.history.rows:
        fail(
            f"none of the {run.labels_unmatched:,} labels in {run.options.labels} names a row by "
            f"its {run.options.id!r}: check that both files write it in the same way",
            code or 1,
        )
    _write(run, outputs, progress)
    if not quiet:
        _say_bad_rows(run)
        _say_end(run, outputs, stopped=bool(code))
    if code:
        raise typer.Exit(code)


def _write(run: Run, outputs: Outputs, progress: Progress) -> None:
    run.finish(outputs.model)
    summary = summary_of(run, progress)
    if outputs.report is not None:
        sources, target = run.options.sources, run.options.target
        write_report(outputs.report, run.history, run.model, sources, target)
    if outputs.metrics is not None:
        _write_metrics(outputs.metrics, summary)
    if outputs.as_json:
        print(json.dumps(summary), flush=True)


def summary_of(run: Run, progress: Progress) -> dict[str, Any]:
    """Return what `--json` prints; all but `speed` is the same however often a run was stopped."""
    return {
        "sources": list(run.options.sources),
        "target": run.options.target,
        "rows_read": run.bad.rows,
        **run.history.summary(),
        "speed": {"seconds": progress.seconds, "rows_per_second": progress.rate()},
    }


def _write_metrics(path: Path, summary: dict[str, Any]) -> None:
    write_whole(DISK, Path(os.path.realpath(path)), [prometheus(summary).encode()])


def _say_bad_rows(run: Run) -> None:
    bad = run.bad
    if not bad.total:
        return
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in bad.kinds.most_common())
    say(f"{bad.total:,} of {bad.rows:,} rows were bad ({kinds}) and not learned; the first:")
    for row in bad.examples:
        line = "" if row.line is None else f", line {row.line}"
        say(f"  {row.file}, row {row.row}{line}: {row.message.partition('; ')[0]}")


def _say_end(run: Run, outputs: Outputs, *, stopped: bool) -> None:
    errors = run.history.summary()["error"]
    if stopped:
        say(f"stopped after row {run.bad.rows:,}, and saved")
    if errors["overall"] is not None:
        rival = "" if errors["no_change"] is None else f", no-change {errors['no_change']:.4g}"
        say(f"{run.history.rows:,} rows: {errors['measure']} {errors['overall']:.4g}{rival}")
    if errors["no_change"] == 0.0:
        say("the target was the same in every row: there was nothing to predict")
    model = run.model.keyed if isinstance(run.model, PerKey) else run.model
    note_empty(model.empty_columns_)
    if run.labels_unmatched:
        say(f"{run.labels_unmatched:,} labels named no row that waits for one, and were not used")
    if isinstance(run.model, PerKey):
        say(f"{len(run.model.keyed):,} keys{given_up(run.model.keyed)}")
    for what, path in (("model", outputs.model), ("page", outputs.report)):
        if path is not None:
            say(f"{what}: {path}")


def _check_sources(
    source: list[str], labels: Path | None, task: str | None, form: str | None
) -> None:
    """Refuse sources that are not there, before anything is opened."""
    check_reading(task, form)
    for file in source if labels is None else [*source, str(labels)]:
        check_file(file)


def _check_outputs(outputs: Outputs, options: Options, config: Path | None) -> None:
    """Refuse, before anything is learned, to write where nothing can or should be written."""
    if outputs.as_json and options.predictions == "-":
        fail("--json and --predictions - would both write to standard output", 2)
    named = (outputs.model, outputs.report, outputs.metrics)
    files = [None if path is None else str(path) for path in named]
    files += [options.quarantine, None if options.predictions == "-" else options.predictions]
    for file in files:
        check_folder(file)
    read = (*options.sources, options.labels, None if config is None else str(config))
    with usage():
        check_apart(files, read)
        if options.predictions is not None:
            format_of(options.predictions)


def _handling(mode: str, file: str) -> str:
    if mode not in ("fail", "skip", "quarantine") or (mode == "quarantine") != bool(file):
        fail("--bad-rows is fail, skip or quarantine=FILE", 2)
    return mode


def _limit(given: str | None) -> float | int | None:
    if given is None:
        return None
    try:
        return int(given) if given.isdigit() else float(given)
    except ValueError:
        fail(f"--max-bad {given}: give a share such as 0.01, or a number of rows", 2)


def _every(given: str) -> dict[str, Any]:
    if given.isdigit() and int(given) > 0:
        return {"every_rows": int(given)}
    try:
        return {"every_seconds": seconds_of(given)}
    except ValueError:
        fail(f"--every {given}: give a number of rows, or a duration such as 30s", 2)
