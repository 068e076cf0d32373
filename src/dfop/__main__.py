"""``python -m dfop`` and the command ``dfop``: starts the command line, if it is installed.

Little is loaded before Ctrl-C is no error any more: from then on it ends the process in one line,
also where it meets an import, which must not be torn out of. What has something to put back in
order asks for more: `stopping` and `unwinding` in `dfop.cli.problems`.
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
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    load("dfop.cli").app()


def load(module: str) -> Any:
    """Load a module of the command line; say what to install where a package is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("the command needs more packages: pip install 'dfop[cli,plot]'")


def _leave(number: int, _: Any) -> NoReturn:
    print("dfop: stopped", file=sys.stderr, flush=True)
    os._exit(128 + number)


if __name__ == "__main__":
    main()
