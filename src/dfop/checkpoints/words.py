"""The library's words in those of the command line: what is `task='regression'` there is an option.

The library says what to pass to `dfop.streams.read`; whoever typed a command has options.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Words = str | Callable[[re.Match[str]], str]

_NAME = r"""(?:'([^']*)'|"([^"]*)")"""


def _option(name: str) -> Callable[[re.Match[str]], str]:
    """Return what writes an option with the name that was found, quoted for a shell if needed."""
    return lambda match: f"--{name} {_quoted(match)}"


def _quoted(match: re.Match[str]) -> str:
    value = match[1] if match[1] is not None else match[2]
    return value if re.fullmatch(r"[\w.-]+", value) else f"'{value}'"


_RULES: list[tuple[str, Words]] = [
    (
        rf"kinds=\{{{_NAME}: 'number'\}} or 'text', whichever they are",
        lambda match: f"--text {_quoted(match)} if they are names, or write them as numbers",
    ),
    (rf", or pass kinds=\{{{_NAME}: 'number'\}} if others are numbers", ""),
    (rf"pass kinds=\{{{_NAME}: 'number'\}}", "write numbers as numbers"),
    (rf"kinds=\{{{_NAME}: 'text'\}}", _option("text")),
    (r"name (them|the columns to use) with features=\[\.\.\.\]", r"name \1 with --features a,b,c"),
    (r"with features=\[\.\.\.\]", "with --ignore"),
    (r"separator= is for CSV: .*", "--separator is for CSV: leave it out, or pass --format csv"),
    (r"separator='\\t'", "--format tsv"),
    (rf"separator={_NAME}", lambda match: f"--separator '{match[1]}'"),
    (rf"\btime={_NAME}", _option("time")),
    (rf"\btask={_NAME}", _option("task")),
    (rf"\bformat={_NAME}", _option("format")),
    (r"\bformat=,", "--format,"),
    (r"\btask=", "--task "),
    (r"\btime=,", "--time,"),
    (r"\bclasses=\(\.\.\.\)", "--classes a,b,c"),
    (r"\bname all classes", "name all classes with --classes a,b,c"),
    (r"bad_rows='skip' or 'quarantine'", "--bad-rows skip or quarantine=FILE"),
    (r"\bmax_bad[= ]", "--max-bad "),
    (
        r"more than max_classes=(\d+): .*",
        r"more than \1: numbers are learned with --task regression",
    ),
    (r", no longer than pending_expiry=None; expired_ counts them", ": give --pending-limit"),
    (r"raise pending_limit or pending_expiry", "raise --pending-limit"),
    (r"\bpending_limit=", "--pending-limit "),
    (rf"\bexpire={_NAME}", _option("expire")),
    (rf"\bforgetting={_NAME}", _option("forgetting")),
    (rf"\bhalf_life\({_NAME}\)", lambda match: f"half-life={match[1]}"),
    (r"\blags=(?!\d)", "--lags 12 or so"),
    (r"\b(forgetting|lags)=", r"--\1 "),
]


def in_options(sentence: str) -> str:
    """Say what the library says to pass as options of the command.

    Examples
    --------
    >>> in_options("Pass task='classification' or task='regression'.")
    'Pass --task classification or --task regression.'
    >>> in_options("pass kinds={'unit price': 'text'}, or leave it out with features=[...]")
    "pass --text 'unit price', or leave it out with --ignore"
    """
    for pattern, words in _RULES:
        sentence = re.sub(pattern, words, sentence)
    return sentence
