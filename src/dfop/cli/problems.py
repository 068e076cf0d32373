"""What goes wrong, as one sentence on standard error and an exit code.

0 done, 1 failed, 2 usage, 3 too many bad rows, 4 checkpoint refused, 130 and 143 stopped by a
signal and saved, 141 the reader of the output has gone.
"""

from __future__ import annotations

import difflib
import errno
import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import typer

from dfop.checkpoints import CheckpointError, StoppedError
from dfop.checkpoints.words import in_options
from dfop.files import ModelFileError
from dfop.rows.checks import in_words
from dfop.streams.errors import BadRowsError, UnknownColumnError

FAILED, USAGE, BAD_ROWS, REFUSED, PIPE_CLOSED = 1, 2, 3, 4, 141

F = TypeVar("F", bound=Callable[..., Any])


def say(words: str) -> None:
    """Print words to standard error: standard output is for data."""
    print(words, file=sys.stderr, flush=True)


def note_empty(columns: Sequence[str]) -> None:
    """Say which columns never had a value, if there are any."""
    if columns:
        them = "it" if len(columns) == 1 else "them"
        say(
            f"dfop: note: no row has a value in {in_words(columns)}: nothing was learned from "
            f"{them}; --ignore leaves {them} out"
        )


def fail(words: str, code: int = FAILED) -> NoReturn:
    """Say what went wrong and leave."""
    say(f"dfop: {words}")
    raise typer.Exit(code)


def close_to(word: str, known: Sequence[str]) -> str:
    """Return what was probably meant, as a sentence; nothing where nothing is near.

    Examples
    --------
    >>> close_to("prize", ["size", "price"])
    ' Did you mean price?'
    """
    plain = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), plain, n=1)
    return f" Did you mean {plain[found[0]]}?" if found else ""


def in_sentences(command: F) -> F:
    """Turn the errors that a user can mend into sentences and exit codes."""

    @functools.wraps(command)
    def run(*given: Any, **named: Any) -> Any:
        try:
            with plain_warnings():
                return command(*given, **named)
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except UnknownColumnError as error:
            fail(f"{in_options(str(error))}{close_to(error.column or '', error.columns)}", USAGE)
        except BadRowsError as error:
            # where none is allowed it is the row that is named, else there were too many
            skip = "" if error.row is None else " Or leave bad rows out with --bad-rows skip."
            fail(f"{in_options(str(error))}{skip}", BAD_ROWS)
        except CheckpointError as error:
            fail(str(error), REFUSED)
        except KeyboardInterrupt:
            fail("stopped", 128 + signal.SIGINT)
        except ModelFileError as error:
            fail(str(error))
        except ImportError as error:
            fail(str(error))
        except OSError as error:
            fail(_of_system(error))
        except (ValueError, TypeError, OverflowError) as error:
            fail(in_options(str(error)))

    return run  # type: ignore[return-value]


@contextmanager
def usage() -> Iterator[None]:
    """Make a usage error of what is wrong with the value of an option."""
    try:
        yield
    except ValueError as error:
        fail(in_options(str(error)), USAGE)


def _of_system(error: OSError) -> str:
    if error.errno is None:
        return str(error)
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    if error.errno == errno.ENOSPC:
        return f"{where}the disk is full. Make room and start again with the same command"
    return f"{where}{error.strerror}"


def _forget_output() -> None:
    """Let Python end without a word about the output that nobody reads."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings as sentences, each once."""
    with warnings.catch_warnings():
        warnings.simplefilter("once")
        warnings.showwarning = lambda message, *_, **__: say(
            f"dfop: note: {in_options(str(message))}"
        )
        yield


@contextmanager
def stopping(stop: Callable[[int], None]) -> Iterator[None]:
    """Hand SIGINT and SIGTERM to a run."""
    before = {
        which: signal.signal(which, lambda number, _: stop(number))
        for which in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


@contextmanager
def unwinding() -> Iterator[None]:
    """Let Ctrl-C raise `KeyboardInterrupt`: a bar must give the cursor back."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


__all__ = [
    "BAD_ROWS",
    "FAILED",
    "PIPE_CLOSED",
    "REFUSED",
    "USAGE",
    "StoppedError",
    "close_to",
    "fail",
    "in_sentences",
    "plain_warnings",
    "say",
    "stopping",
    "unwinding",
    "usage",
]
