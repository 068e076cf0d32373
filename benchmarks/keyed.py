"""Many models by key: rows a second, bytes a key, against dicts of models.

    python benchmarks/keyed.py [--keys 1000000] [--rows 2000000] [--river 2000]

Writes benchmarks/keyed.md. Rows come in batches of 100,000, keys drawn evenly; the first rows of
keys (new models) and later ones are measured apart. One thread, each line in a process of its own;
seconds of the processor, since other programs may run beside it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from dfop import DFOPRegressor, Keyed, half_life

FEATURES, BATCH = 10, 100_000
HERE = Path(__file__).parent


def resident_bytes() -> int:
    """Return what this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def rows_of(rng: np.random.Generator, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(len(keys), FEATURES))
    return X, X[:, 0] + (keys % 7) * X[:, 1] + rng.normal(size=len(keys))


def pace(keyed: Keyed, batches: list[np.ndarray], rng: np.random.Generator, clock: bool) -> float:
    """Return the rows a second of learning, without that of making the rows."""
    seconds = 0.0
    for keys in batches:
        X, y = rows_of(rng, keys)
        given = {"time": np.full(len(keys), pace.now)} if clock else {}
        pace.now += 1.0
        start = time.process_time()
        keyed.predict_then_learn(keys, X, y, **given)
        seconds += time.process_time() - start
    return sum(map(len, batches)) / seconds


pace.now = 0.0


def of_keyed(count: int, rows: int, rule: object, expire: int | None = None) -> str:
    rng = np.random.default_rng(0)
    before = resident_bytes()
    clock = not isinstance(rule, float | str)
    keyed = Keyed(DFOPRegressor(rule), expire=expire)
    order = rng.permutation(count)
    first = pace(keyed, np.array_split(order, max(1, count // BATCH)), rng, clock)
    draws = [rng.integers(0, count, BATCH) for _ in range(max(1, rows // BATCH))]
    later = pace(keyed, draws, rng, clock)
    assert len(keyed) == count
    grown = (resident_bytes() - before) / 2**20
    kind = "clock" if clock else rule if isinstance(rule, str) else f"mu {rule:g}"
    kind += "" if expire is None else ", keys may expire"
    return (
        f"| Keyed, {kind} | {count:,} | {first:,.0f} | {later:,.0f} | {keyed.bytes_per_key_} | "
        f"{keyed.memory_bytes_ / 2**20:,.0f} | {grown:,.0f} |"
    )


def of_dict(name: str, make: object, count: int, rows: int) -> str:
    """Learn row by row with a dict of models."""
    rng = np.random.default_rng(0)
    models: dict[int, object] = {-1: make()}
    keys = np.concatenate([rng.permutation(count), rng.integers(0, count, rows)])
    X, y = rows_of(rng, keys)
    dicts = [dict(enumerate(x)) for x in X.tolist()]
    before = resident_bytes()
    paces = []
    for part in (slice(0, count), slice(count, None)):
        start = time.process_time()
        for key, x, target in zip(keys[part].tolist(), dicts[part], y[part].tolist(), strict=True):
            model = models.get(key)
            if model is None:
                model = models[key] = make()
            model.predict_one(x)
            model.learn_one(x, target)
        paces.append(len(keys[part]) / (time.process_time() - start))
    grown = resident_bytes() - before
    return (
        f"| {name} | {count:,} | {paces[0]:,.0f} | {paces[1]:,.0f} | {grown / count:,.0f} | "
        f"{grown / 2**20:,.0f} | {grown / 2**20:,.0f} |"
    )


def pipeline() -> object:
    from river import linear_model, preprocessing

    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def bayesian() -> object:
    from river import linear_model

    return linear_model.BayesianLinearRegression()


def ours() -> object:
    from dfop import river

    return river.DFOPRegressor(0.001)


DICTS = {
    "dict of River's StandardScaler, LinearRegression": pipeline,
    "dict of River's BayesianLinearRegression": bayesian,
    "dict of dfop.river.DFOPRegressor(0.001)": ours,
}


def alone(work: Callable[..., str], *given: object) -> str:
    """Run in a process of its own, whose memory nothing else has touched."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        line = pool.submit(work, *given).result()
    print(line, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--river", type=int, default=2_000, help="keys of the dicts of models")
    given = parser.parse_args()
    lines = [
        f"{FEATURES} features, {given.rows:,} later rows; {platform.machine()}, "
        f"{os.cpu_count()} cores, one used; load {os.getloadavg()[0]:.1f} at the start. "
        "Rows a second of the processor, of the first row "
        "of every key and of later ones; MB of the store as it counts itself, and as the process "
        "grew.",
        "",
        "| models | keys | first rows/s | later rows/s | bytes a key | MB counted | MB grown |",
        "|---|---|---|---|---|---|---|",
    ]
    for count in (1, 1000, 100_000, given.keys):
        lines.append(alone(of_keyed, count, given.rows, 0.001))
    lines.append(alone(of_keyed, given.keys, given.rows, 0.001, 10 * given.rows))
    lines.append(alone(of_keyed, given.keys, given.rows, half_life("1h")))
    lines.append(alone(of_keyed, given.keys // 10, given.rows // 4, "few"))
    for name, make in DICTS.items():
        lines.append(alone(of_dict, name, make, given.river, 5 * given.river))
    (HERE / "keyed.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
