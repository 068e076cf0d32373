"""``python -m dfop`` and the command ``dfop``: starts the command line, if it is installed.

Little is loaded before `load` is under way, so that Ctrl-C while the rest loads is no error.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def main() -> None:
    """Load the command line and run it."""
    load("dfop.cli").app()


def load(module: str) -> Any:
    """Load a module of the command line; say what to install where a package is missing.

    Ctrl-C ends the process in one line: nothing was begun.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("the command needs more packages: pip install 'dfop[cli,plot]'")
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def _leave(number: int, _: Any) -> NoReturn:
    print("dfop: stopped", file=sys.stderr, flush=True)
    os._exit(128 + number)


if __name__ == "__main__":
    main()
