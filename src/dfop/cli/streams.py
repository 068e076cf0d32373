"""``dfop streams``: the public streams of the paper."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dfop.streams import catalogue
from dfop.streams.download import find
from dfop.streams.entries import entry

from .options import AsJson
from .problems import USAGE, close_to, fail, in_sentences

HELP = """The public streams of the paper: list them, show facts, fetch files.

\b
Examples:
  dfop streams list
  dfop streams show electricity
  dfop streams fetch electricity
"""
app = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
_SHOWN = (
    *("name", "task", "kind", "rows", "targets", "classes"),
    *("origin", "citation", "licence", "remark", "file"),
)
Name = Annotated[str, typer.Argument(help="A name that `dfop streams list` shows.")]


@app.command("list")
@in_sentences
def list_streams(as_json: AsJson = False) -> None:
    """List the public streams."""
    entries = catalogue()
    if as_json:
        print(json.dumps({name: _facts(name) for name in entries}))
        return
    table = Table("name", "task", "rows", "features", "origin")
    for name, facts in entries.items():
        table.add_row(name, facts.task, f"{facts.rows:,}", str(facts.features), facts.kind)
    Console().print(table)


@app.command()
@in_sentences
def show(name: Name, as_json: AsJson = False) -> None:
    """Show what is known of a stream."""
    facts = _facts(_known(name))
    if as_json:
        print(json.dumps(facts))
        return
    for key, value in facts.items():
        print(f"{key:<12} {', '.join(map(str, value)) if isinstance(value, list) else value}")


@app.command()
@in_sentences
def fetch(name: Name) -> None:
    """Find or download a stream's file, check it, and print its path."""
    print(find(entry(_known(name))))


def _known(name: str) -> str:
    if name not in catalogue():
        fail(f"there is no public stream {name!r}.{close_to(name, list(catalogue()))}", USAGE)
    return name


def _facts(name: str) -> dict[str, Any]:
    """Return the facts that people ask for, as values that JSON can hold."""
    known = entry(name)
    shown = asdict(known)
    facts = {key: list(v) if isinstance(v := shown[key], tuple) else v for key in _SHOWN}
    return {**facts, "features": list(known.feature_names)}
