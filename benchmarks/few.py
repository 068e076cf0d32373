"""The filters of `forgetting="few"`: what is lost against more; prints results-few.md.

    make few

Streams of the generated families that have up to 30 columns, numbers or two classes, 1,000 rows
each: about what a key gets. Filters were added one by one, on seeds 0 and 1, each time the one that
helps most (a point of accuracy counts as much as three percent of the error); what is shown is on
seeds 2 and 3. Speeds are of `Keyed` at 10 features, in processor time of one thread.
"""

from __future__ import annotations

import time

import numpy as np

from choose import Pool, score
from dfop import DFOPRegressor, Keyed
from dfop.engines.design import FEW_FORGETTING, FEW_WALKS, FORGETTING, WALKS, design_for
from dfop.forgetting import Automatic
from families import FAMILIES, make

LINEAR = ("linear", 0.0, 0)
CANDIDATES = [*((0, mu, 0.0) for mu in FORGETTING), *((0, 0.0, q) for q in WALKS)]
CHOSEN, FRESH = (0, 1), (2, 3)
ROWS, COLUMNS = 1000, 30
Streams = list[tuple[np.ndarray, np.ndarray, bool]]


def streams(seeds: tuple[int, ...]) -> Streams:
    out = []
    for name, family in FAMILIES.items():
        for seed in seeds:
            X, y = make(name, ROWS, seed)
            if X.shape[1] <= COLUMNS and not (family.labels and len(np.unique(y)) != 2):
                out.append((X, y, family.labels))
    return out


def scores(some: Streams, pool: Pool | None) -> np.ndarray:
    """Return accuracies and root mean squared errors; without a pool, of the default's."""
    out = []
    for X, y, labels in some:
        mine = pool or Pool(*design_for("auto", Automatic(), X.shape[1], labels=labels))
        out.append(score(mine, (X, y), labels)[0])
    return np.array(out)


def against(some: Streams, mine: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return points of accuracy and percent of error, mean over the streams."""
    labels = np.array([is_label for _, _, is_label in some])
    accuracy = float((mine - other)[labels].mean())
    return accuracy, float(100 * np.log(mine / other)[~labels].mean())


def chosen_one_by_one(count: int) -> list[tuple[int, float, float]]:
    some, chosen = streams(CHOSEN), []
    full = scores(some, Pool([LINEAR], CANDIDATES))

    def worth(expert: tuple[int, float, float]) -> float:
        mine = scores(some, Pool([LINEAR], [*chosen, expert]))
        accuracy, error = against(some, mine, full)
        return accuracy - error / 3

    for _ in range(count):
        chosen.append(max((c for c in CANDIDATES if c not in chosen), key=worth))
    return chosen


def pace(rule: object, keys: int, rows: int = 200_000) -> tuple[float, int]:
    """Return rows a second of keys that are known, and bytes a key."""
    rng, keyed = np.random.default_rng(0), Keyed(DFOPRegressor(rule))
    X = rng.normal(size=(rows + keys, 10))
    y = X[:, 0] + rng.normal(size=len(X))
    order = np.concatenate([np.arange(keys), rng.integers(0, keys, rows)])
    keyed.partial_fit(order[:keys], X[:keys], y[:keys])
    start = time.process_time()
    keyed.predict_then_learn(order[keys:], X[keys:], y[keys:])
    return rows / (time.process_time() - start), keyed.bytes_per_key_


def main() -> None:
    print("# A few filters per key\n\nWritten by `make few`.\n")
    print(__doc__.split("\n\n", 2)[2].strip(), "\n", flush=True)
    found = chosen_one_by_one(5)
    few = {*((0, mu, 0.0) for mu in FEW_FORGETTING), *((0, 0.0, q) for q in FEW_WALKS)}
    assert set(found[:4]) == few, "other filters would be chosen now"
    some = streams(FRESH)
    full = scores(some, Pool([LINEAR], CANDIDATES))
    labels = sum(is_label for _, _, is_label in some)
    print(f"Against all 13 linear filters, {labels} streams of labels, {len(some) - labels} of "
          "numbers:\n")  # fmt: skip
    print("| | points of accuracy | error |\n|---|---|---|")
    pools = {f"one filter, mu = {mu:g}": [(0, mu, 0.0)] for mu in (1e-3, 1e-2, 1e-1)}
    for k in range(1, 6):
        _, mu, walk = found[k - 1]
        pools[f"{k}: and {f'walk {walk:g}' if walk else f'mu = {mu:g}'}"] = found[:k]
    for name, experts in pools.items():
        accuracy, error = against(some, scores(some, Pool([LINEAR], experts)), full)
        print(f"| {name} | {accuracy:+.2f} | {error:+.1f} % |", flush=True)
    accuracy, error = against(some, scores(some, None), full)
    print(f"| the default of one stream, curves and trees included | {accuracy:+.2f} | "
          f"{error:+.1f} % |\n")  # fmt: skip
    print("| per key | bytes | rows/s, 1,000 keys | rows/s, 100,000 keys |\n|---|---|---|---|")
    for rule in (0.001, "few"):
        (some_keys, size), (many, _) = pace(rule, 1000), pace(rule, 100_000)
        name = rule if isinstance(rule, str) else f"mu = {rule:g}"
        print(f"| {name} | {size:,} | {some_keys:,.0f} | {many:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
