"""One run of the experiments: where results go, how long it may take, what it tells."""

import csv
import importlib.util
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
from sklearn.exceptions import ConvergenceWarning

from dfop.evaluation.journal import Journal
from dfop.insight import plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_ROWS = 1_000
"""Streams are cut to so many rows by a quick run."""
QUICK_TRIALS = 2

Tell = Callable[[str, float, float], object]
Work = Callable[..., dict[str, Any]]


def _silent(*_: object) -> None: ...


@dataclass
class Run:
    """What all experiments share.

    Attributes
    ----------
    folder : Path
        Where results are written; ``folder/trials`` keeps finished work, so that the same
        command continues after a kill.
    quick : bool
        Two trials on shortened streams, to see everything work.
    trials : int
        How often each method sees each stream.
    jobs : int
        Processes; -1 for one per core. No result depends on it.
    only : sequence of str
        Names of streams; empty for all.
    tell : callable
        Gets what is going on, the work done and the work in all (in about seconds).
    say : callable
        Gets messages.

    Examples
    --------
    >>> import tempfile
    >>> run = Run(Path(tempfile.mkdtemp()), quick=True)
    >>> run.trials, run.rows(50_000)
    (2, 1000)
    """

    folder: Path
    quick: bool = False
    trials: int = 10
    jobs: int = -1
    only: Sequence[str] = ()
    tell: Tell = _silent
    say: Callable[[str], object] = _silent
    left_out: dict[str, str] = field(default_factory=dict)
    """Streams that could not be had, each with the reason; filled on the way."""

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        if self.quick:
            self.trials = min(self.trials, QUICK_TRIALS)
        if self.trials < 2:
            raise ValueError(f"a mean with a spread needs at least 2 trials, not {self.trials}")

    def rows(self, full: int) -> int:
        """How many rows of a stream with `full` rows are read."""
        return min(full, QUICK_ROWS) if self.quick else full

    def record(self, *parts: str) -> Path:
        """Name the file of finished work of one part."""
        name = "-".join(parts).replace(" ", "-").replace("/", "-").lower()
        path = self.folder / "trials" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_csv(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a table of numbers."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        self._write(f"{name}.csv", out.getvalue())

    def write_markdown(self, name: str, title: str, paragraphs: Sequence[str]) -> None:
        """Write a page: a title, then paragraphs and tables."""
        parts = [f"# {title}"]
        if self.quick:
            parts.append(
                f"{self._quick_run}. It shows that everything works; the numbers are not the "
                "paper's experiment."
            )
        self._write(f"{name}.md", "\n\n".join([*parts, *paragraphs]) + "\n")

    def save(self, name: str, draw: Callable[[], "Figure"]) -> None:
        """Draw a picture and save it as PNG and SVG; without matplotlib, say so.

        The title of a quick run's picture says what it is.
        """
        if importlib.util.find_spec("matplotlib") is None:
            self.say(f"{name}: no picture; pip install 'dfop[plot]'")
            return
        figure = draw()
        if self.quick:
            title = "\n".join(filter(None, [f"{self._quick_run}.", figure.get_suptitle()]))
            figure.suptitle(title, x=0.01, ha="left", fontsize=10)
        self.folder.mkdir(parents=True, exist_ok=True)
        for ending in ("png", "svg"):
            plotting.save(figure, self.folder / f"{name}.{ending}")

    @property
    def _quick_run(self) -> str:
        return f"Quick run: {self.trials} trials, streams cut to {QUICK_ROWS:,} rows"

    def _write(self, name: str, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        aside = self.folder / f".{name}.new"
        aside.write_text(text, "utf-8")
        aside.replace(self.folder / name)

    def part(
        self, what: str, before: float, work: float, total: float
    ) -> Callable[[int, int | None], None]:
        """Make what `compare` tells its progress to, where it is a part of the work.

        Parameters
        ----------
        what : str
            What is going on.
        before, work, total : float
            The work done before this part, of this part, and in all.

        Returns
        -------
        callable
            Gets the cells done and how many there are.

        Examples
        --------
        >>> run = Run(Path("unused"), tell=lambda *told: print(told))
        >>> run.part("SEA", 10, 4, 20)(3, 6)
        ('SEA', 12.0, 20)
        """

        def tell(cells: int, of: int | None) -> None:
            self.tell(what, before + work * cells / (of or 1), total)

        return tell

    def each(
        self,
        name: str,
        work: Work,
        cells: Sequence[dict[str, Any]],
        configuration: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Do work that is not a comparison: in parallel, and never twice.

        Parameters
        ----------
        name : str
            What it is, for the bar and the file of finished work.
        work : callable
            ``work(**cell)`` gives what is to be kept, as JSON can hold it.
        cells : sequence of dict
            Arguments of each piece of work, as JSON can hold them.
        configuration : dict
            What else the results depend on; finished work of another one is refused.

        Returns
        -------
        list of dict
            One per cell, in order.
        """
        keys = [json.dumps(cell, sort_keys=True) for cell in cells]
        with Journal(self.record(name), configuration) as journal:
            done = {kept["cell"]: kept["result"] for kept in journal.cells}
            missing = [i for i, key in enumerate(keys) if key not in done]
            self.tell(name, len(cells) - len(missing), len(cells))
            parallel = joblib.Parallel(n_jobs=self.jobs, return_as="generator_unordered")
            tasks = (joblib.delayed(_keyed)(keys[i], work, cells[i]) for i in missing)
            for key, result in parallel(tasks):
                journal.append({"cell": key, "result": result})
                done[key] = result
                self.tell(name, sum(k in done for k in keys), len(cells))
        return [done[key] for key in keys]


def _keyed(key: str, work: Work, cell: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return key, work(**cell)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a Markdown table; numbers stand to the right.

    Examples
    --------
    >>> print(table(["stream", "rows"], [["SEA", "50,000"]]))
    | stream | rows |
    |---|---:|
    | SEA | 50,000 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in (header, *rows)]
    lines.insert(1, "|---|" + "---:|" * (len(header) - 1))
    return "\n".join(lines)


@contextmanager
def unconverged_is_known() -> Iterator[None]:
    """Keep solvers that stop early from filling the screen, in worker processes as well.

    The SVMs on raw units do, by design: see the baselines' documentation. Worker processes read
    the rule when they start, so it must be there before the first of them.

    Examples
    --------
    >>> with unconverged_is_known():
    ...     warnings.warn("The SVM stopped after 9 steps", ConvergenceWarning, stacklevel=1)
    """
    before = os.environ.get("PYTHONWARNINGS")
    rule = "ignore:The SVM stopped after:UserWarning"
    os.environ["PYTHONWARNINGS"] = f"{before},{rule}" if before else rule
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before
