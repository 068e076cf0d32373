"""``dfop learn``: learn from files or a pipe in one pass."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, NamedTuple

import typer

from dfop.checkpoints import DISK, Options, Run
from dfop.checkpoints.disk import write_whole
from dfop.forgetting import seconds_of

from .config import ConfigOption
from .metrics import prometheus
from .options import check_file, check_reading, names
from .problems import StoppedError, fail, in_sentences, say, stopping
from .progress import Progress, shown

METRICS_SECONDS = 5.0
HELP = """Learn from files or a pipe in one pass; every row is predicted before its label is seen.

\b
Examples:
  dfop learn sales.csv --target price --model sales.dfop --report sales.html
  dfop learn jan.csv.gz feb.csv.gz -t churn --bad-rows quarantine=bad.csv --max-bad 0.01
  tail -f events.csv | dfop learn - -t clicked --classes 0,1 --predictions -
  dfop learn log.csv -t y --checkpoint state --predictions p.parquet   # killed? run it again
  dfop learn rows.csv -t y --labels late.csv --id order --time at --forgetting half-life=7d

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
    source: Annotated[
        list[str],
        typer.Argument(help="Files of the same columns in their order, a folder of Parquet, or -."),
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    model: Annotated[Path | None, typer.Option(help="Save the model here.", dir_okay=False)] = None,
    predictions: Annotated[
        str | None, typer.Option(help="FILE.parquet, .csv or .jsonl; - for CSV on stdout.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page here (HTML).", dir_okay=False)
    ] = None,
    metrics: Annotated[
        Path | None, typer.Option(help="Keep figures here (Prometheus text).", dir_okay=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    features: Annotated[
        list[str] | None, typer.Option(help="Columns to learn from, a,b,c; by default all.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Columns to leave out, a,b,c.")] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="Columns whose numbers are names, a,b,c.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="The column of times.")] = None,
    task: Annotated[
        str | None, typer.Option(help="classification or regression; by default found out.")
    ] = None,
    classes: Annotated[
        list[str] | None, typer.Option(help="All labels, a,b,c; by default the first rows'.")
    ] = None,
    forgetting: Annotated[
        str, typer.Option(help="auto, mu (0.001), period=1000, half-life=3d.")
    ] = "auto",
    lags: Annotated[int, typer.Option(help="How many of the last labels are features.")] = 0,
    delay: Annotated[
        str | None, typer.Option(help="When labels are known: after ROWS or a DURATION (3d).")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Labels in a file of their own; needs --id and --time.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="The column that names a row; no feature.")
    ] = None,
    pending_limit: Annotated[
        int, typer.Option(help="How many rows may wait for their label.")
    ] = 100_000,
    bad_rows: Annotated[
        str, typer.Option(help="What to do with bad rows: fail, skip or quarantine=FILE.")
    ] = "fail",
    max_bad: Annotated[
        str | None, typer.Option(help="Bad rows that are too many: a share (0.01) or a number.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep in this folder what is needed to go on.")
    ] = None,
    every: Annotated[
        str, typer.Option(help="How often to keep it: ROWS (100000) or a DURATION (30s).")
    ] = "30s",
    skip: Annotated[int, typer.Option(min=0, help="Rows of the source to leave out first.")] = 0,
    form: Annotated[
        str | None, typer.Option("--format", help="csv, tsv, jsonl, parquet or arff.")
    ] = None,
    separator: Annotated[str | None, typer.Option(help="Between the cells of CSV: ';'.")] = None,
    progress_json: Annotated[
        bool, typer.Option("--progress-json", help="Progress as JSON lines on stderr.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no words.")] = False,
    config: Annotated[Path | None, ConfigOption] = None,
) -> None:
    """Learn from files or a pipe in one pass."""
    if as_json and predictions == "-":
        fail("--json and --predictions - would both write to standard output", 2)
    check_reading(task, form)
    for file in (*source, *([] if labels is None else [str(labels)])):
        check_file(file)
    handling, _, put_aside = bad_rows.partition("=")
    options = Options(
        sources=tuple(source),
        target=target,
        task=task,
        time=time,
        features=names(features),
        ignore=names(ignore),
        text=names(text),
        classes=names(classes),
        format=form,
        separator=separator,
        forgetting=forgetting,
        lags=lags,
        delay=delay,
        labels=None if labels is None else str(labels),
        id=id_column,
        pending_limit=pending_limit,
        bad_rows=_handling(handling, put_aside),
        quarantine=put_aside or None,
        max_bad=_limit(max_bad),
        predictions=predictions,
    )
    outputs = Outputs(model, report, metrics, as_json)
    _check_places(outputs)
    how_often = _every(every)
    with Run(options, checkpoint=checkpoint, skip=skip, **how_often) as run:
        if not quiet:
            for note in run.notes:
                say(note)
        _go(run, outputs, Progress(run, shown(as_json=progress_json, quiet=quiet)), quiet)


def _go(run: Run, outputs: Outputs, progress: Progress, quiet: bool) -> None:
    """Run to the end, or until a signal, and write the results."""
    written = monotonic()
    code = 0
    try:
        with stopping(run.stop):
            for _ in run.steps():
                progress.tick()
                if outputs.metrics and monotonic() - written >= METRICS_SECONDS:
                    written = monotonic()
                    _write_metrics(outputs.metrics, summary_of(run, progress))
    except StoppedError:
        code = 128 + (run.stopped or 0)
    finally:
        progress.end()
    if run.history.rows == 0 and not run.model.__sklearn_is_fitted__():
        fail("no row was learned: there is nothing to save", code or 1)
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
        from dfop.report import write_page  # draws: only where it is asked for

        about = {"source": ", ".join(run.options.sources), "target": run.options.target}
        write_page(outputs.report, run.history, run.model, about=about)
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
        say(f"  {row.file}, row {row.row}{line}: {row.message.partition(';')[0]}")


def _say_end(run: Run, outputs: Outputs, *, stopped: bool) -> None:
    errors = run.history.summary()["error"]
    if stopped:
        say(f"stopped after row {run.bad.rows:,}, and saved")
    if errors["overall"] is not None:
        rival = "" if errors["no_change"] is None else f", no-change {errors['no_change']:.4g}"
        say(f"{run.history.rows:,} rows: {errors['measure']} {errors['overall']:.4g}{rival}")
    for what, path in (("model", outputs.model), ("page", outputs.report)):
        if path is not None:
            say(f"{what}: {path}")


def _check_places(outputs: Outputs) -> None:
    """Refuse, before anything is learned, to write where nothing can be written."""
    for path in (outputs.model, outputs.report, outputs.metrics):
        if path is not None and not os.access(path.parent or ".", os.W_OK):
            fail(f"{path}: there is no folder {path.parent} that can be written to", 2)


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
