"""Less storage: what `storage=m` costs and loses; prints benchmarks/results-sketch.md.

    make sketch

Times are processor time of one thread, since the machine may be shared. Scores are prequential:
every row is predicted before its label is known; scikit-learn's SGD takes ten rows at a time, all
predicted before (a hundred at d = 10^6, where each of its calls takes milliseconds), of which the
first, before it has learned any, do not count. The streams
are described in `text_families.py`; Spam needs `DFOP_DATA`.

One seed each. The prior variance (1), mu (.0003), how much of the diagonal is believed (half) and
the width from which the default takes sketches were chosen after looking at Spam and at seeds 0 and
1 of these generators; under "Fresh seeds" are streams that were drawn afterwards.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from river import linear_model, optim
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from dfop import DFOPClassifier, streams
from dfop.engines import design
from text_families import FAMILIES, text_stream

ROWS, BATCH = 20_000, {10**5: 10, 10**6: 100}
MU, DIRECTIONS = 3e-4, 20
RATES = (0.1, 1.0, 10.0)
KINDS = {
    "exact": {},
    **{f"m = {m}": {"storage": m} for m in (10, 20, 50, 100)},
    **{f"m = {m}, guarantee": {"storage": m, "guarantee": True} for m in (20, 100)},
}


def main() -> None:
    print("# Less storage\n\nWritten by `make sketch`.\n")
    print(__doc__.split("\n\n", 2)[2].strip(), "\n", flush=True)
    spam()
    for d in BATCH:
        text(d)
    fresh(10**5)
    uniform()
    default()


def learned(model, X, y) -> tuple[float, float]:
    """Return the accuracy in percent and the rows per second of processor time."""
    start = time.process_time()
    ahead = model.predict_then_learn(X, y)
    return 100 * np.mean(ahead == y), len(y) / (time.process_time() - start)


def engine_bytes(model) -> int:
    return model.__dfop_model__().engine.memory_bytes


def spam() -> None:
    rows = streams.load("spam").arrays()
    X, y = np.ascontiguousarray(rows[0], float), np.asarray(rows[1])
    print(f"## Spam, {len(y):,} rows x {X.shape[1]}\n")
    print("Accuracy in percent, with the same prior variance (ridge) for all; rows/s; bytes.\n")
    print("| mu | prior variance |", *(f"{kind} |" for kind in KINDS))
    print("|" + "---|" * (2 + len(KINDS)))
    speeds = []
    for mu in (0.0, 1e-3):
        for prior in (1.0, 100.0):
            cells = []
            for kind, how in KINDS.items():
                model = DFOPClassifier(forgetting=mu, prior_variance=prior, **how)
                accuracy, speed = learned(model, X, y)
                cells.append(f"{accuracy:.2f}")
                speeds.append((kind, speed, engine_bytes(model)))
            print(f"| {mu:g} | {prior:g} |", " | ".join(cells), "|", flush=True)
    print("\n| | rows/s | state |\n|---|---|---|")
    for kind in KINDS:
        mine = [(speed, size) for which, speed, size in speeds if which == kind]
        print(f"| {kind} | {np.median([s for s, _ in mine]):,.0f} | {mine[0][1] / 1e6:.2f} MB |")
    print()
    spam_by_forgetting(X, y)


def spam_by_forgetting(X, y) -> None:
    """Tell what forgetting heals: the rows as they came, and without drift."""
    print("By mu, at a prior variance of 100, the rows as they came and shuffled:\n")
    print("| mu | exact | m = 100 | exact, shuffled | m = 100, shuffled |\n|---|---|---|---|---|")
    order = np.random.default_rng(0).permutation(len(y))
    for mu in (0.0, 1e-4, 3e-4, 1e-3):
        cells = []
        for rows in (slice(None), order):
            for kind in ("exact", "m = 100"):
                model = DFOPClassifier(forgetting=mu, prior_variance=100.0, **KINDS[kind])
                cells.append(f"{learned(model, X[rows], y[rows])[0]:.2f}")
        print(f"| {mu:g} |", " | ".join(cells), "|", flush=True)
    print()


def text(d: int) -> None:
    print(f"## Generated text, {ROWS:,} rows x {d:,}\n")
    rates = " | ".join(f"River {rate:g}" for rate in RATES)
    print(f"| stream | m = {DIRECTIONS} | {rates} | SGD | SGD {RATES[1]:g} | rows/s | state |")
    print("|" + "---|" * (5 + len(RATES) + 1))
    bounded = []
    for family in FAMILIES:
        X, y = text_stream(family, ROWS, d)
        model = DFOPClassifier(forgetting=MU, storage=DIRECTIONS)
        accuracy, speed = learned(model, X, y)
        others = [river_accuracy(X, y, rate) for rate in RATES]
        others += [sgd_accuracy(X, y, rate, BATCH[d]) for rate in (None, RATES[1])]
        cells = " | ".join(f"{a:.2f}" for a in (accuracy, *others))
        size = engine_bytes(model) / 1e6
        print(f"| {family} | {cells} | {speed:,.0f} | {size:.1f} MB |", flush=True)
        bounded.append((family, *with_guarantee(X, y)))
    print("\nWith a guarantee; the bound beside the sum of squares of the rows that count:\n")
    print("| stream | % | rows/s | state | bound | of the squares |\n|---|---|---|---|---|---|")
    for family, accuracy, speed, size, bound, share in bounded:
        print(f"| {family} | {accuracy:.2f} | {speed:,.0f} | {size:.1f} MB | {bound:.3g} | "
              f"{share:.2%} |")  # fmt: skip
    print(flush=True)


def with_guarantee(X, y) -> tuple[float, float, float, float, float]:
    model = DFOPClassifier(forgetting=MU, storage=DIRECTIONS, guarantee=True)
    accuracy, speed = learned(model, X, y)
    age = np.arange(len(y))[::-1]
    squares = 1.0 + np.asarray(X.multiply(X).sum(axis=1)).ravel()
    bound = model.storage_error_
    share = bound / float((1.0 - MU) ** age @ squares)
    return accuracy, speed, engine_bytes(model) / 1e6, bound, share


def fresh(d: int) -> None:
    """Repeat with streams that were drawn after all settings were fixed."""
    print(f"## Fresh seeds, {ROWS:,} rows x {d:,}\n")
    print(f"| stream | seed | m = {DIRECTIONS} | River 1 | River 10 | SGD 1 |")
    print("|---|---|---|---|---|---|")
    for family in FAMILIES:
        for seed in (3, 4):
            X, y = text_stream(family, ROWS, d, seed)
            mine, _ = learned(DFOPClassifier(forgetting=MU, storage=DIRECTIONS), X, y)
            others = [river_accuracy(X, y, rate) for rate in (1.0, 10.0)]
            others.append(sgd_accuracy(X, y, 1.0, BATCH[d]))
            cells = " | ".join(f"{a:.2f}" for a in (mine, *others))
            print(f"| {family} | {seed} | {cells} |", flush=True)
    print()


def river_accuracy(X, y, rate: float) -> float:
    model, right = linear_model.LogisticRegression(optim.SGD(rate)), 0
    for t, label in enumerate(y.tolist()):
        held = slice(X.indptr[t], X.indptr[t + 1])
        x = dict(zip(X.indices[held].tolist(), X.data[held].tolist(), strict=True))
        right += model.predict_one(x) == bool(label)
        model.learn_one(x, bool(label))
    return 100 * right / len(y)


def sgd_accuracy(X, y, rate: float | None, batch: int) -> float:
    """Predict some rows at a time, then learn them; the first are only learned."""
    how = {} if rate is None else {"learning_rate": "constant", "eta0": rate}
    model, right = SGDClassifier(loss="log_loss", alpha=1e-6, **how), 0
    for start in range(0, len(y), batch):
        part = slice(start, start + batch)
        if start:
            right += int(np.sum(model.predict(X[part]) == y[part]))
        model.partial_fit(X[part], y[part], classes=[0, 1])
    return 100 * right / (len(y) - batch)


def uniform() -> None:
    """Measure what a sketch may take at most: every column is as frequent as the others."""
    n, d, held = 100_000, 10**6, 100
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(d, size=(n, held)), axis=1).astype(np.int32)
    X = sparse.csr_array((np.ones(n * held), columns.ravel(), np.arange(n + 1) * held), (n, d))
    X.sum_duplicates()
    y = rng.integers(2, size=n)
    model = DFOPClassifier(forgetting=MU, storage=DIRECTIONS)
    _, speed = learned(model, X, y)
    state = model.__dfop_model__().engine.state()
    print(f"## The most that it takes, {n:,} rows x {d:,}\n")
    print(
        f"All columns equally frequent, {held} a row: {len(state['columns']):,} came, "
        f"{len(state['joined']):,} have joined the {DIRECTIONS} directions; {speed:,.0f} rows/s, "
        f"{engine_bytes(model) / 1e6:.0f} MB."
    )


def default() -> None:
    """Compare the automatic learner with linear filters and with sketches in their place."""
    print("\n## The automatic learner with filters and with sketches\n")
    print(f"It takes sketches above {design.SKETCHED:,} columns. Generated: ten factors and noise,")
    print("dense; half of the weights change sign in the middle.\n")
    print("| columns | filters, % | sketches, % | filters, rows/s | sketches, rows/s |")
    print("|---|---|---|---|---|")
    stated = design.SKETCHED
    for d in (500, 1000, 2000):
        X, y = factors(1500, d)
        cells = []
        for design.SKETCHED in (10**9, 0):
            cells.append(learned(DFOPClassifier(), X, y))
        (a, fast), (b, faster) = cells
        print(f"| {d:,} | {a:.2f} | {b:.2f} | {fast:,.0f} | {faster:,.0f} |", flush=True)
    design.SKETCHED = stated


def factors(n: int, d: int):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10)) @ rng.normal(size=(10, d)) / 3 + rng.normal(size=(n, d))
    w = np.tile(rng.normal(size=d) / np.sqrt(d), (n, 1))
    w[n // 2 :, : d // 2] *= -1
    return X, ((X * w).sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)


if __name__ == "__main__":
    sys.exit(main())
