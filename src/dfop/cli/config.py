"""Options from a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import typer

from .problems import USAGE, close_to, fail


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the options of a TOML file as defaults; what the command line says goes before."""
    if path is None:
        return None
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        fail(f"{path}: {error.strerror}", USAGE)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        fail(f"{path} is not TOML ({error})", USAGE)
    names = {
        option.lstrip("-"): parameter.name
        for parameter in context.command.params
        for option in (*parameter.opts, parameter.name or "")
        if parameter.name != "config"
    }
    defaults: dict[str, Any] = {}
    for key, value in given.items():
        if key not in names:
            fail(f"{path}: there is no option {key!r}.{close_to(key, list(names))}", USAGE)
        if isinstance(value, dict):
            fail(f"{path}: {key} is a table; write it as {key} = value", USAGE)
        defaults[names[key] or key] = value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


ConfigOption = typer.Option(
    "--config",
    help="A TOML file of options, by their long names: target = 'y'.",
    callback=read_config,
    is_eager=True,
    dir_okay=False,
)
