"""The command ``dfop`` and the names of its commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from . import compare, demo, evaluate, inspect, learn, paper, predict, report, streams

HELP = """One-pass learning from data streams whose distribution changes.

\b
Examples:
  dfop learn sales.csv --target price --model sales.dfop --report sales.html
  dfop predict sales.dfop new.csv > predictions.csv
  dfop inspect sales.dfop
  dfop demo
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"dfop {version('dfop')}")
        raise typer.Exit


@app.callback(help=HELP)
def _command(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print it."),
    ] = False,
) -> None:
    """Take what comes before the name of a command."""


for _name, _command_help, _run in (
    ("learn", learn.HELP, learn.learn),
    ("predict", predict.HELP, predict.predict),
    ("inspect", inspect.HELP, inspect.inspect),
    ("evaluate", evaluate.HELP, evaluate.evaluate),
    ("compare", compare.HELP, compare.compare),
    ("report", report.HELP, report.report),
):
    app.command(_name, help=_command_help)(_run)
app.add_typer(streams.app, name="streams")
app.command("demo")(demo.command)
app.command("paper")(paper.paper)
