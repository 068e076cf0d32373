"""The command ``dfop``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from dfop import paper as experiments

from . import demo as job

app = typer.Typer(
    help="One-pass learning from data streams whose distribution changes.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def _command() -> None: ...


@app.command()
def demo(
    plot: Annotated[Path, typer.Option(help="Where to save the picture.", dir_okay=False)] = Path(
        "dfop-demo.png"
    ),
) -> None:
    """Learn from a stream whose concept changes, against plain RLS; save a picture."""
    console = Console()
    X, y = job.make_stream()
    console.print(
        f"{len(X):,} rows, {X.shape[1]} features, made in memory; the concept jumps at rows "
        f"{', '.join(f'{change:,}' for change in job.CHANGES)} and drifts in between.\n"
        "Every row is predicted before its target is seen."
    )
    columns = [
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("thousand rows"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=console) as progress:

        def track(parts: Iterable[slice], name: str, total: int) -> Iterator[slice]:
            return iter(progress.track(parts, total=total, description=name))

        result = job.run(X, y, track)
    table = Table("learner", "mean squared error", "last 1,000 rows", "rows per second")
    for name, squared in result.errors.items():
        table.add_row(
            name,
            f"{squared.mean():.3f}",
            f"{squared[-1000:].mean():.3f}",
            f"{len(squared) / result.seconds[name]:,.0f}",
        )
    table.add_row("noise, the least possible", f"{job.NOISE**2:.3f}", f"{job.NOISE**2:.3f}", "")
    console.print(table)
    try:
        job.plot(result, plot)
    except ImportError:
        console.print("No picture: pip install 'dfop[plot]'")
        return
    console.print(f"Picture saved: {plot}")


@app.command()
def paper(
    target: Annotated[str, typer.Argument(help=f"One of: all, {', '.join(experiments.TARGETS)}.")],
    results: Annotated[
        Path | None,
        typer.Option(help="Folder of the results, by default dfop-paper.", file_okay=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two trials on shortened streams: two minutes.")
    ] = False,
    trials: Annotated[int, typer.Option(min=2, help="Trials of each method and stream.")] = 10,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1,
) -> None:
    """Reproduce the paper's tables and figures, with the printed numbers beside ours.

    A run that was stopped continues when the same command is given again. The streams are looked
    for in the folder DFOP_DATA, else downloaded, else generated where that is possible.
    """
    if target != "all" and target not in experiments.TARGETS:
        raise typer.BadParameter(f"{target!r} is none of: all, {', '.join(experiments.TARGETS)}")
    console = Console()
    folder = results or Path("dfop-paper-quick" if quick else "dfop-paper")
    columns = [
        TextColumn("{task.description:<28}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    ]
    with experiments.unconverged_is_known(), Progress(*columns, console=console) as progress:
        bar = progress.add_task("")

        def tell(what: str, done: float, total: float) -> None:
            progress.update(bar, description=what, completed=done, total=total)

        run = experiments.Run(
            folder, quick=quick, trials=trials, jobs=jobs, tell=tell, say=console.print
        )
        for name in experiments.TARGETS if target == "all" else [target]:
            progress.reset(bar, description=name)
            experiments.TARGETS[name](run)
            console.print(f"{name}: {folder / name}.md")
