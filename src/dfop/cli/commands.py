"""The command ``dfop`` and the names of its commands."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from dfop.__main__ import load

NAMES = (
    "learn", "predict", "inspect", "evaluate", "compare", "report", "streams", "demo", "paper"
)  # fmt: skip

HELP = """One-pass learning from data streams whose distribution changes.

\b
Examples:
  dfop learn sales.csv --target price --model sales.dfop --report sales.html
  dfop predict sales.dfop new.csv > predictions.csv
  dfop inspect sales.dfop
  dfop demo
"""


class Commands(TyperGroup):
    """The commands by name; each is loaded when it is asked for, and waits for no other."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the order of the help."""
        return list(NAMES)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is asked for, or say which was probably meant."""
        near = get_close_matches(args[0], NAMES, n=1)
        if args[0] not in NAMES and near:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command: `app` of its module, or the function of its name."""
        if cmd_name not in NAMES:
            return None
        module = load(f"{__package__}.{cmd_name}")
        one = getattr(module, "app", None)
        if one is None:
            one = typer.Typer(add_completion=False, rich_markup_mode=None)
            one.command(cmd_name, help=getattr(module, "HELP", None))(getattr(module, cmd_name))
        command = get_command(one)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=Commands,
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
