"""``python -m dfop`` and the command ``dfop``: starts the command line, if it is installed."""

import sys


def main() -> None:
    """Run the command line, or say what to install for it."""
    try:
        from .cli import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("the command needs more packages: pip install 'dfop[cli,plot]'")
    app()


if __name__ == "__main__":
    main()
