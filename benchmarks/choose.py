"""Which experts the automatic learner's pool needs: its scores with kinds left out or added.

    python benchmarks/choose.py                     all families, 5,000 rows, seeds 1 and 2
    python benchmarks/choose.py --rows 20000        for memories, which short streams cannot choose
    python benchmarks/choose.py --only sticky rings --seeds 1

Every family of `families` is predicted row by row by a bank with the pool of
`dfop.engines.design`, and by banks that differ from it: without one kind, with one candidate more,
and with the linear filters alone and one kind beside them; and by the bank that was the default
before there were other kinds than lines and curves. Writes `results-choose.md` beside itself: what
each change does to the mean score, on how many streams it is up and down, and what a row costs.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dfop.core import Bank, ExpertDesign, choose
from dfop.engines.design import (
    CURVES,
    FORGETTING,
    LABEL_PRIOR,
    NUMBER_PRIOR,
    WALKS,
    WIDTHS,
    design_for,
)
from dfop.forgetting import Automatic
from families import FAMILIES, Rows, make

HERE = Path(__file__).parent
POOL, LINEAR, EARLIER = "the pool", "linear filters alone", "the default before the pool"
POINTS, PERCENT = 0.3, 1.0
"""A stream is up or down if its accuracy, or its error, changes by more."""
IGNORED = 20
"""First rows that do not count in an error of numbers: no range is known yet."""

# Experts that are not in the pool, to be tried in it.
CANDIDATES: dict[str, list[ExpertDesign]] = {
    "majority that forgets": [("majority", 0.01, 0.0)],
    "Gaussian Bayes of medium memory": [("gaussian_bayes", 0.001, 0.0)],
    "faster prototypes": [("prototypes", 0.01, 0.0)],
    "a faster discriminant": [("discriminant", 0.01, 0.0)],
}
LABEL_KINDS = ("majority", "gaussian_bayes", "histogram_bayes", "discriminant", "prototypes")


@dataclass(frozen=True)
class Pool:
    """Maps and experts of a bank."""

    maps: list[tuple[str, float, int]]
    experts: list[ExpertDesign]

    def kind_of(self, expert: ExpertDesign) -> str:
        """Return what a person calls the expert."""
        view = expert[0]
        return view if isinstance(view, str) else f"{self.maps[view][0]} filters"

    def kinds(self) -> list[str]:
        """Return the kinds there are, in order."""
        return list(dict.fromkeys(map(self.kind_of, self.experts)))

    def only(self, kinds: set[str]) -> Pool:
        """Return the experts of these kinds, with the maps that they need."""
        kept = [expert for expert in self.experts if self.kind_of(expert) in kinds]
        used = sorted({view for view, _, _ in kept if isinstance(view, int)})
        place = {view: k for k, view in enumerate(used)}
        return Pool(
            [self.maps[view] for view in used],
            [(place.get(view, view), mu, walk) for view, mu, walk in kept],
        )

    def plus(self, experts: list[ExpertDesign]) -> Pool:
        """Return the pool with more experts."""
        return Pool(self.maps, self.experts + experts)


def earlier(columns: int) -> Pool:
    """Return lines of 13 memories, and curves of two widths up to 20 columns."""
    maps = [("linear", 0.0, 0)]
    experts: list[ExpertDesign] = [(0, mu, 0.0) for mu in FORGETTING]
    experts += [(0, 0.0, walk) for walk in WALKS]
    if columns <= 20:
        maps += [("fourier", width, CURVES) for width in WIDTHS]
        for view in (1, 2):
            experts += [(view, mu, 0.0) for mu in (0.0, 3e-3, 3e-2)]
            experts += [(view, 0.0, walk) for walk in (1e-5, 1e-3)]
    return Pool(maps, experts)


def variants(pool: Pool, columns: int, labels: bool) -> dict[str, Pool]:
    """Return the pool, those that differ from it in one kind, and the one before it."""
    kinds = pool.kinds()
    linear = {"linear filters"}
    out = {POOL: pool, EARLIER: earlier(columns), LINEAR: pool.only(linear)}
    for kind in kinds:
        if kind not in linear:
            out[f"without {kind}"] = pool.only(set(kinds) - {kind})
            out[f"linear and {kind}"] = pool.only(linear | {kind})
    for name, experts in CANDIDATES.items():
        if labels or not any(kind in LABEL_KINDS for kind, _, _ in experts):
            out[f"with {name}"] = pool.plus(experts)
    return out


def score(pool: Pool, rows: Rows, labels: bool) -> tuple[float, float]:
    """Return accuracy in percent, or the root of the mean squared error; and microseconds a row."""
    X, y = rows
    n = len(y)
    if labels:
        _, first, y = np.unique(y, return_index=True, return_inverse=True)
        y = np.argsort(np.argsort(first))[y]  # numbered in the order in which they come
        classes = len(first)
        margin = classes <= 2
        Y = np.where(y == 1, 1.0, -1.0)[:, np.newaxis] if margin else np.eye(classes)[y]
        target = ("margin", 1) if margin else ("one_hot", classes)
    else:
        Y, target = np.ascontiguousarray(y)[:, np.newaxis], ("number", 1)
    prior = LABEL_PRIOR if labels else NUMBER_PRIOR
    bank = Bank(X.shape[1], [target], pool.maps, pool.experts, True, prior, True, math.inf, True)
    out = np.empty(Y.shape)
    start = time.process_time()
    bank.learn(X, Y, np.ones(1), np.zeros(1), out)
    cost = 1e6 * (time.process_time() - start) / n
    if labels:
        return 100 * float(np.mean(choose(out, margin) == y)), cost
    errors = (out[:, 0] - y)[min(IGNORED, n // 2) :]
    return float(np.sqrt(np.mean(errors**2))), cost


Scores = dict[str, dict[tuple[str, int], tuple[float, float]]]
"""Of every variant: of family and seed, score and cost."""


def measure(names: list[str], n: int, seeds: list[int]) -> Scores:
    """Return the scores of all variants on all streams."""
    scores: Scores = {}
    for name in names:
        labels = FAMILIES[name].labels
        for seed in seeds:
            rows = make(name, n, seed)
            columns = rows[0].shape[1]
            pool = Pool(*design_for("auto", Automatic(), columns, labels=labels))
            for variant, other in variants(pool, columns, labels).items():
                scores.setdefault(variant, {})[name, seed] = score(other, rows, labels)
        print(f"measured: {name}", file=sys.stderr, flush=True)
    return scores


def change(before: float, after: float, labels: bool) -> float:
    """Return points of accuracy, or percent by which an error is smaller."""
    return after - before if labels else -100 * math.log(max(after, 1e-300) / max(before, 1e-300))


def compared(scores: Scores, variant: str, base: str, labels: bool) -> list[str]:
    """Return the cells of a variant: mean change, streams up and down, cost."""
    streams = [s for s in scores[variant] if FAMILIES[s[0]].labels == labels]
    if not streams:
        return ["", "", ""]
    changes = [change(scores[base][s][0], scores[variant][s][0], labels) for s in streams]
    least = POINTS if labels else PERCENT
    up, down = sum(c > least for c in changes), sum(c < -least for c in changes)
    cost = float(np.median([scores[variant][s][1] for s in streams]))
    return [f"{np.mean(changes):+.2f}", f"{up} / {down}", f"{cost:.1f}"]


def table(header: list[str], lines: list[list[str]]) -> str:
    """Return a table in Markdown."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def page(scores: Scores, n: int, seeds: list[int]) -> str:
    """Return the page of results."""
    header = ["", "labels: points", "up / down", "us a row"]
    header += ["numbers: % of error", "up / down", "us a row"]
    lines = []
    for variant in scores:
        base = LINEAR if variant.startswith("linear and ") else POOL
        cells = [compared(scores, variant, base, labels) for labels in (True, False)]
        lines.append([variant, *cells[0], *cells[1]])
    streams = []
    for name, family in FAMILIES.items():
        found = [scores[POOL][name, seed][0] for seed in seeds if (name, seed) in scores[POOL]]
        if found:
            unit = "%" if family.labels else ""
            streams.append([name, family.about, " ".join(f"{s:.4g}{unit}" for s in found)])
    return f"""\
# What each kind of expert is worth

Written by `python benchmarks/choose.py --rows {n} --seeds {" ".join(map(str, seeds))}`. Means over
the generated families; a stream is up or down if its accuracy changes by more than {POINTS:g}
points or its root mean squared error by more than {PERCENT:g} %. Percent of an error are 100 times
the difference of logarithms: a mean of -17 is an error larger by the factor 1.19 in the geometric
mean. "linear and ..." is compared with the linear filters alone, all else with the pool. Costs are
medians of CPU time in one thread.

{table(header, lines)}

## The pool on every family

{table(["family", "what it is like", "accuracy or error, by seed"], streams)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--out", type=Path, default=HERE / "results-choose.md")
    given = parser.parse_args()
    text = page(measure(given.only, given.rows, given.seeds), given.rows, given.seeds)
    given.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
