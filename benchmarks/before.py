"""The default now beside the default as it was before the wider pool: time a row, and scores.

make before                            all of it, to results-before.md
python benchmarks/before.py sea sru-1  the times, and some streams

Before is commit a03c58b: it is checked out to `build/before`, with an environment of its own, when
this runs for the first time. Each of the two builds works in a process of its own, and they take
turns: what is told of times is the median over rounds of the CPU time a row of one call of 4,000
rows to a model that has learned 1,000, and of how the two compare in one round. Scores are of the
paper's streams, the first 20,000 rows of each, labels at once; the first row does not count.
`DFOP_DATA` names the folder of the streams. Limits are of what it took before, up to 20 columns;
rows of 60, for which there were lines alone then, may take 50 us each.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from default import learner, model, stream
from delayed import LABELS, NUMBERS, ROWS
from dfop import evaluate, streams
from dfop.evaluation.sources import in_memory
from machine import machine

COMMIT = "a03c58b"
HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "before"
COLUMNS = (5, 10, 20, 60)
CLASSES = (0, 2, 5, 26)
LEARNED, TIMED, ROUNDS = 1_000, 4_000, 11
MOST_OF_WIDE = 50.0
"""Microseconds for a row of more than 20 columns."""
MOST_LOST, MOST_GROWN = 0.15, 1.0
"""Points of accuracy, and percent of RMSE, by which no stream may be worse than before."""
SHORT = ("chess", "usenet-1", "usenet-2")
"""Streams so short that they may be worse by chance: see `by_chance`."""


def most(columns: int, classes: int, before: float) -> float:
    """Return how many microseconds a row may take, where it took so many before."""
    if columns > 20:
        return MOST_OF_WIDE
    return before * (1.05 if classes <= 2 else 1.2 if classes <= 8 else 1.3)


# -- what a build is asked ------------------------------------------------------------------------


def seconds_a_row(columns: int, classes: int) -> float:
    """CPU seconds a row of a call to a model that has learned before."""
    X, y = stream(LEARNED + TIMED, columns, classes)
    learned = model(classes)
    learner(learned, X[:LEARNED], y[:LEARNED], classes)()
    run = learner(learned, X[LEARNED:], y[LEARNED:], classes)
    start = time.process_time()
    run()
    return (time.process_time() - start) / TIMED


def errors(name: str) -> list[float]:
    """Of each row but the first: 0 or 1 of a label, the squared error of a number."""
    rows = in_memory(streams.load(name))[:ROWS]
    number = name in NUMBERS
    predicted = np.asarray(evaluate(model(0 if number else 2), rows).predictions)[1:]
    y = np.asarray(rows.y)[1:]
    wrong = (predicted - y.astype(float)) ** 2 if number else predicted != y
    return wrong.astype(float).tolist()


def answer() -> None:
    """Answer what is asked on standard input, a line each, until it ends."""
    for line in sys.stdin:
        what, *given = json.loads(line)
        print(json.dumps({"time": seconds_a_row, "errors": errors}[what](*given)), flush=True)


# -- two builds -----------------------------------------------------------------------------------


class Builds(NamedTuple):
    """A process of each."""

    before: subprocess.Popen[str]
    now: subprocess.Popen[str]

    @staticmethod
    def ask(build: subprocess.Popen[str], *question: Any) -> Any:
        """Return what a build answers."""
        assert build.stdin is not None
        assert build.stdout is not None
        print(json.dumps(question), file=build.stdin, flush=True)
        told = build.stdout.readline()
        if not told:
            raise SystemExit(f"the build {build.args} gave up at {question}; see its words above")
        return json.loads(told)

    def both(self, *question: Any) -> tuple[Any, Any]:
        """Return what each answers, one after the other."""
        return self.ask(self.before, *question), self.ask(self.now, *question)


def python_of_before() -> Path:
    """Return the Python of the build as it was; make it if there is none."""
    tree, venv = BUILD / "tree", BUILD / "venv"
    python, made = venv / "bin" / "python", BUILD / "made"
    if made.exists():
        return python
    if not tree.exists():  # --force: an earlier one may have been removed with `build`
        add = ["git", "worktree", "add", "--force", "--detach", str(tree), COMMIT]
        subprocess.run(add, cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", f"{tree}[data,river]"]
    subprocess.run(install, check=True, stdout=sys.stderr)
    made.touch()
    return python


def start(python: str) -> subprocess.Popen[str]:
    """Start a build that answers."""
    pipe = subprocess.PIPE
    return subprocess.Popen([python, str(HERE), "answer"], stdin=pipe, stdout=pipe, text=True)


# -- the page -------------------------------------------------------------------------------------


def table_of_times(builds: Builds) -> Iterator[str]:
    """Time a row, by columns and classes."""
    yield "| columns | classes | before, us a row | now, us a row | at most | now / before | |"
    yield "|---:|---|---:|---:|---:|---:|---|"
    missed = 0
    for columns in COLUMNS:
        for classes in CLASSES:
            builds.both("time", columns, classes)  # warms up
            pairs = [builds.both("time", columns, classes) for _ in range(ROUNDS)]
            before, now = (1e6 * statistics.median(of) for of in zip(*pairs, strict=True))
            ratio = statistics.median(b / a for a, b in pairs)
            limit = most(columns, classes, before)
            late = (now if columns > 20 else ratio * before) > limit
            missed += late
            yield (
                f"| {columns} | {classes or 'numbers'} | {before:.1f} | {now:.1f} | {limit:.1f} "
                f"| {ratio:.2f} | {'**missed**' if late else ''} |"
            )
    yield f"\nMissed: {missed}."


def by_chance(before: np.ndarray, now: np.ndarray) -> bool:
    """Whether rows on which just one was wrong are as a coin would share them (McNemar, 5 %)."""
    only_now, only_before = np.sum(now > before), np.sum(before > now)
    return bool(abs(only_now - only_before) <= 1.96 * np.sqrt(only_now + only_before))


def line_of_scores(name: str, before: np.ndarray, now: np.ndarray) -> tuple[str, bool]:
    """Return a line of the table, and whether the stream is worse by more than it may be."""
    if name in NUMBERS:
        then, here = np.sqrt(before.mean()), np.sqrt(now.mean())
        change = 100 * (here / then - 1)
        return f"| {name} | {then:.4f} | {here:.4f} | {change:+.1f} % |", change > MOST_GROWN
    then, here = 100 * (1 - before.mean()), 100 * (1 - now.mean())
    worse = here - then < -MOST_LOST and not (name in SHORT and by_chance(before, now))
    return f"| {name} | {then:.2f} | {here:.2f} | {here - then:+.2f} |", worse


def table_of_scores(builds: Builds, names: tuple[str, ...]) -> Iterator[str]:
    """Scores of both, and how many streams are worse by more than they may be."""
    yield "| stream | before | now | difference | |\n|---|---:|---:|---:|---|"
    missed = 0
    for name in names:
        before, now = builds.both("errors", name)
        line, worse = line_of_scores(name, np.array(before), np.array(now))
        missed += worse
        yield f"{line} {'**missed**' if worse else ''} |"
    bounds = f"{MOST_LOST} points, or {MOST_GROWN:.0f} % of RMSE"
    yield (
        f"\nWorse by more than {bounds}: {missed} of {len(names)} streams (of the short ones, "
        f"{', '.join(SHORT)}: by more than chance)."
    )


def main(names: tuple[str, ...]) -> None:
    """Print the page."""
    builds = Builds(start(str(python_of_before())), start(sys.executable))
    print("# The default now and before the wider pool\n")
    how = " ".join((__doc__ or "").split("\n\n")[2].split())
    print(f"Written by `make before`. {how}\n")
    print(machine(["numpy"]) + "\n\n## Time a row\n", flush=True)
    for line in table_of_times(builds):
        print(line, flush=True)
    print("\n## Scores, labels at once\n")
    for line in table_of_scores(builds, names):
        print(line, flush=True)
    for build in builds:
        build.communicate()


if __name__ == "__main__":
    if sys.argv[1:] == ["answer"]:
        answer()
    else:
        main(tuple(sys.argv[1:]) or (*LABELS, *NUMBERS))
