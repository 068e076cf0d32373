"""``dfop paper``: the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from dfop import paper as experiments

from .problems import in_sentences, unwinding


@in_sentences
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
    known = experiments.unconverged_is_known()
    with known, unwinding(), Progress(*columns, console=console) as progress:
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
