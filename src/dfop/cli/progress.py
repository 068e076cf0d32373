"""Progress of a run: at doubling rows, then every few seconds; out of sample throughout."""

from __future__ import annotations

import json
import sys
from time import monotonic
from typing import Any, NamedTuple, Protocol

from rich.console import Console
from rich.live import Live
from rich.table import Table

from dfop.checkpoints import Run

SECONDS = 5.0
"""From one line to the next, once doubling rows take longer."""
MOST_LINES = 20
COLUMNS = ("rows", "now", "overall", "no-change", "mu", "alarms", "bad", "rows/s")


class Line(NamedTuple):
    """How a run stands."""

    rows: int
    now: float | None
    overall: float | None
    no_change: float | None
    mu: float | None
    alarms: int
    bad: int
    rate: float

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        errors = [_figure(self.now), _figure(self.overall), _figure(self.no_change)]
        counts = [f"{self.alarms:,}", f"{self.bad:,}", f"{self.rate:,.0f}"]
        return [f"{self.rows:,}", *errors, _figure(self.mu), *counts]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


class Shown(Protocol):
    """One way to show progress."""

    def show(self, line: Line) -> None:
        """Show how the run stands."""

    def end(self) -> None:
        """Leave what was shown."""


class PlainLines:
    """Lines of text, for a file or a pipe."""

    def __init__(self) -> None:
        self._begun = False

    def show(self, line: Line) -> None:
        """Print a line, the first one after the names of the columns."""
        if not self._begun:
            self._print(COLUMNS)
            self._begun = True
        self._print(line.cells())

    def _print(self, cells: Any) -> None:
        print(" | ".join(f"{cell:>11}" for cell in cells), file=sys.stderr, flush=True)

    def end(self) -> None:
        """Do nothing: all is printed."""


class JsonLines:
    """JSON lines, for a program."""

    def show(self, line: Line) -> None:
        """Print an object."""
        print(json.dumps(line._asdict()), file=sys.stderr, flush=True)

    def end(self) -> None:
        """Do nothing: all is printed."""


class LiveTable:
    """A table on a terminal, of the last lines."""

    def __init__(self, console: Console) -> None:
        self._lines: list[Line] = []
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def show(self, line: Line) -> None:
        """Add a line."""
        self._lines = [*self._lines, line][-MOST_LINES:]
        table = Table(*COLUMNS)
        for column in table.columns:
            column.justify = "right"
        for shown in self._lines:
            table.add_row(*shown.cells())
        self._live.update(table, refresh=True)

    def end(self) -> None:
        """Leave the table on the screen."""
        self._live.stop()


class Nothing:
    """No progress."""

    def show(self, line: Line) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


def shown(*, as_json: bool, quiet: bool) -> Shown:
    """Choose how to show progress."""
    if as_json:
        return JsonLines()
    if quiet:
        return Nothing()
    console = Console(stderr=True)
    return LiveTable(console) if console.is_terminal else PlainLines()


class Progress:
    """Decides when a line is due.

    Parameters
    ----------
    run : Run
        What is under way.
    how : Shown
        Where lines go.
    """

    def __init__(self, run: Run, how: Shown) -> None:
        self._run, self._how = run, how
        self._due, self._last = 128, monotonic()
        self._started, self._first = monotonic(), run.bad.rows
        self._shown_rows = -1

    def tick(self) -> bool:
        """Show a line if one is due; whether it was."""
        rows, now = self._run.history.rows, monotonic()
        doubled = rows >= self._due and now - self._started < SECONDS
        if not doubled and now - self._last < SECONDS:
            return False
        while self._due <= rows:
            self._due *= 2
        self._last = now
        self.show()
        return True

    def show(self) -> None:
        """Show how the run stands."""
        self._shown_rows = self._run.history.rows
        self._how.show(self.line())

    def end(self) -> None:
        """Show the last line, if it is new."""
        if self._shown_rows != self._run.history.rows:
            self.show()
        self._how.end()

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return monotonic() - self._started

    def rate(self) -> float:
        """Rows a second since the start."""
        return (self._run.bad.rows - self._first) / max(self.seconds, 1e-9)

    def line(self) -> Line:
        """Return how the run stands."""
        history = self._run.history
        figures = history.summary()
        errors = figures["error"]
        return Line(
            history.rows,
            errors["now"],
            errors["overall"],
            errors["no_change"],
            figures["forgetting"]["mu"],
            figures["alarms"]["count"],
            self._run.bad.total,
            self.rate(),
        )
