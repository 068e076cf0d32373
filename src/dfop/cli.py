"""The command ``dfop``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

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
