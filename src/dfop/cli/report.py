"""``dfop report``: the page of a run, from its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from dfop.checkpoints.contents import history_of, model_of
from dfop.checkpoints.folder import newest_generation

from .options import AsJson, check_folder
from .problems import REFUSED, fail, in_sentences, say

HELP = """Write the page of a run from its checkpoint folder, also while the run goes on.

\b
Examples:
  dfop report state --output so-far.html
  dfop report state --json
"""


def write_report(path: Path, history: Any, model: Any, sources: Iterable[str], target: str) -> None:
    """Write the page of a run: the same while it goes on, and at its end."""
    from dfop.report import write_page  # draws: only where it is asked for

    about = {"source": ", ".join(sources), "target": target}
    write_page(path, history, model, title=f"{target}: what was learned", about=about)


@in_sentences
def report(
    checkpoint: Annotated[
        Path,
        typer.Argument(metavar="CHECKPOINT", help="The folder of `dfop learn --checkpoint`."),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The page (HTML).")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the page of a run from its checkpoint folder."""
    if output is None and not as_json:
        fail("name the page with --output FILE.html, or ask for figures with --json", 2)
    check_folder(output)
    if not checkpoint.is_dir():
        fail(f"{checkpoint}: there is no such folder", 2)
    generation, notes = newest_generation(checkpoint)
    for note in notes:
        say(note)
    if generation is None:
        fail(f"{checkpoint} holds no generation of a run", REFUSED)
    history = history_of(generation)
    if output is not None:
        options = generation.state["options"]
        write_report(output, history, model_of(generation), options["sources"], options["target"])
        say(f"page: {output}")
    if as_json:
        print(json.dumps(history.summary()))
