"""Your own experts: the default, LightGBM retrained, and LightGBM as an expert of the default.

    make own-experts                              all of it, to results-own-experts.md
    python benchmarks/own_experts.py sticky tree  some families or streams, printed

LightGBM with its own settings is retrained every 250 rows on the last 5,000 (`dfop.Retrained`):
what people do today. Labels are known at once, or come in batches (`evaluate(label_batch=...)`);
LightGBM is then retrained with the labels that have come. Families have 5,000 rows and seed 1, and
of a published stream the first 5,000 rows count. Families of more than 20 classes are left out,
since training LightGBM on one of them takes longer than all the rest.

A row's loss is 1 for a wrong label, or the squared error. The difference of two methods is beyond
chance (+, -) if its mean is more than twice its standard error, taken from the means of blocks of
250 rows. The first 250 rows, or the first batch, do not count: nobody has learned anything yet.
"""

from __future__ import annotations

import hashlib
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor

from dfop import DFOPClassifier, DFOPRegressor, Retrained, evaluate, streams
from dfop.evaluation.sources import in_memory
from families import FAMILIES, make

ROWS, BLOCK, MOST_CLASSES = 5_000, 250, 20
STREAMS = ("electricity", "powersupply", "weather", "sea", "sru-1", "debutanizer")
BATCHES = (1, 250, 1000)
WORDS = {1: "at once", 250: "in batches of 250", 1000: "in batches of 1,000"}
METHODS = ("default", "LightGBM", "both")
PAIRS = (("default", "LightGBM"), ("both", "default"), ("both", "LightGBM"))
OUT = Path(__file__).with_name("results-own-experts.md")

_trained: dict[bytes, dict[str, Any]] = {}
"""Trainings on the same rows, which the methods share, are done once."""


class _Remembered:
    """LightGBM that knows its earlier trainings."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        key = hashlib.sha256(X.tobytes() + y.tobytes() + str(X.shape).encode()).digest()
        if key not in _trained:
            super().fit(X, y)
            _trained[key] = dict(vars(self))
        vars(self).update(_trained[key])
        return self


class Classifier(_Remembered, LGBMClassifier):
    """LightGBM for labels."""


class Regressor(_Remembered, LGBMRegressor):
    """LightGBM for numbers."""


def model(method: str, labels: bool) -> Any:
    """Return a fresh model."""
    inner = (Classifier if labels else Regressor)(n_jobs=1, verbose=-1, random_state=0)
    retrained = Retrained(inner, every=250, window=5_000)
    if method == "LightGBM":
        return retrained
    own = {"experts": [retrained]} if method == "both" else {}
    return DFOPClassifier(**own) if labels else DFOPRegressor(**own)


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return features, targets, and whether these are labels."""
    if name in FAMILIES:
        X, y = make(name, ROWS, seed=1)
        return X, y, FAMILIES[name].labels
    stream = in_memory(streams.load(name))[:ROWS]
    labels = stream.task == "classification"
    y = np.asarray(stream.y)
    return np.ascontiguousarray(stream.rows.numbers), y if labels else y.astype(float), labels


def retrained_predictions(X: np.ndarray, y: np.ndarray, labels: bool, batch: int) -> np.ndarray:
    """Predict with LightGBM alone, as `evaluate` would row by row, a batch at a time."""
    alone, size = model("LightGBM", labels), max(batch, BLOCK)  # it stands still in between
    told = [y[:size]]  # does not count
    for start in range(size, len(y), size):
        alone.partial_fit(X[start - size : start], y[start - size : start])
        told.append(alone.predict(X[start : start + size]))
    return np.concatenate(told)


def losses(name: str, batch: int) -> dict[str, np.ndarray]:
    """Return the loss of each method at every row that counts."""
    X, y, labels = rows_of(name)
    out = {}
    for method in METHODS:
        if method == "LightGBM":
            predicted = retrained_predictions(X, y, labels, batch)
        else:
            predicted = evaluate(model(method, labels), (X, y), label_batch=batch).predictions
        wrong = predicted != y if labels else (np.asarray(predicted, float) - y) ** 2
        out[method] = wrong[max(batch, BLOCK) :].astype(float)
    return out


def beyond_chance(first: np.ndarray, second: np.ndarray) -> int:
    """1 if the first method's losses are lower beyond chance, -1 if higher, else 0."""
    blocks = (second - first)[: len(first) // BLOCK * BLOCK].reshape(-1, BLOCK).mean(axis=1)
    error = blocks.std(ddof=1) / np.sqrt(len(blocks))
    return int(np.sign(blocks.mean())) if abs(blocks.mean()) > 2.0 * error else 0


def shown(loss: np.ndarray, labels: bool) -> str:
    """Accuracy in percent, or RMSE."""
    return f"{100 - 100 * loss.mean():.2f}" if labels else f"{np.sqrt(loss.mean()):.4g}"


def of_name(name: str) -> dict[int, tuple[list[str], list[int]]]:
    """Return, for each batch, the scores and who beats whom."""
    labels = rows_of(name)[2]
    out = {}
    for batch in BATCHES:
        lost = losses(name, batch)
        scores = [shown(lost[method], labels) for method in METHODS]
        out[batch] = scores, [beyond_chance(lost[a], lost[b]) for a, b in PAIRS]
    _trained.clear()
    return out


def counts(results: dict[str, Any], names: list[str], batch: int) -> list[str]:
    """Wins and losses beyond chance of each pair."""
    signs = np.array([results[name][batch][1] for name in names])
    return [f"{(s > 0).sum()} : {(s < 0).sum()}" for s in signs.T]


def page(results: dict[str, Any]) -> str:
    """Return all tables."""
    lines = [
        "# Your own experts",
        "",
        "Written by `make own-experts`; `own_experts.py` says how.",
        "",
    ]
    families = [name for name in results if name in FAMILIES]
    published = [name for name in results if name not in FAMILIES]
    pairs = " | ".join(f"{a} against {b}" for a, b in PAIRS)
    lines += [f"Wins : losses beyond chance.\n\n| | labels | {pairs} |", "|---|---|---|---|---|"]
    groups = ((f"{len(families)} families", families), (f"{len(published)} streams", published))
    for title, names in groups:
        for batch in BATCHES if names else ():
            cells = " | ".join(counts(results, names, batch))
            lines.append(f"| {title} | {WORDS[batch]} | {cells} |")
    for batch in BATCHES:
        lines += [
            "",
            f"## Labels {WORDS[batch]}",
            "",
            f"| stream | {' | '.join(METHODS)} | {pairs} |",
        ]
        lines.append("|---|---|---|---|---|---|---|")
        for name, found in results.items():
            scores, signs = found[batch]
            marks = [{1: "+", 0: "", -1: "-"}[sign] for sign in signs]
            lines.append(f"| {name} | {' | '.join([*scores, *marks])} |")
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    """Run all and write, or print some."""
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    some = bool(names)
    few = [
        n for n, f in FAMILIES.items() if not f.labels or len(set(rows_of(n)[1])) <= MOST_CLASSES
    ]
    results: dict[str, Any] = {}
    for name in names or [*few, *STREAMS]:
        start = time.process_time()
        results[name] = of_name(name)
        print(f"{name}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
        if not some:  # after each, so that a run that was stopped has shown something
            OUT.write_text(page(results), "utf-8")
    if some:
        print(page(results))


if __name__ == "__main__":
    main(sys.argv[1:])
