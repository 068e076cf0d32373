"""Alarms: how many changes are found within 50 rows, how many ring for nothing, beside detectors.

make alarms                          all of it, to results-alarms.md (needs Java)
python benchmarks/alarms.py 5        so many seeds

The detectors of River and CapyMOA see |e| of the same predictions, with their defaults. HDDM wants
numbers of [0, 1]: |e| in units of six times its mean over the first 300 rows, at most 1. DDM, RDDM,
STEPD and EWMA want right or wrong: wrong is what is above the .9 quantile of the first 300 rows.
Where CapyMOA is not installed its detectors are left out. `DFOP_DATA` names the folder of the
streams that were not generated.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from river import drift

from changes import CHANGED_AT, ERRORS, INPUTS, NOISES, NONE, series
from dfop import DFOPClassifier, DFOPRegressor, streams

WITHIN, UNCHANGED = 50, 100_000
CHANGES = (*ERRORS, *INPUTS)
NATURAL = ("electricity", "weather", "powersupply", "sru-1", "sru-2", "debutanizer")
SHARES, WRONG = ("HDDM",), ("DDM", "RDDM", "STEPD", "EWMA")
"""Beginnings of the names of those that want numbers of [0, 1], and right or wrong."""


def detectors() -> dict[str, Callable[[], Any]]:
    """Return by name what makes a detector."""
    made: dict[str, Callable[[], Any]] = {
        "ADWIN": drift.ADWIN,
        "PageHinkley": drift.PageHinkley,
        "KSWIN": lambda: drift.KSWIN(seed=0),
        "HDDM_A": drift.binary.HDDMA,
        "HDDM_W": drift.binary.HDDMW,
    }
    try:
        from capymoa.drift import detectors as capymoa
    except ImportError:
        return made
    return made | {
        "CUSUM (CapyMOA)": capymoa.CUSUM,
        "SEED (CapyMOA)": capymoa.SEED,
        "DDM (CapyMOA)": capymoa.DDM,
        "RDDM (CapyMOA)": capymoa.RDDM,
        "STEPD (CapyMOA)": capymoa.STEPD,
        "EWMA (CapyMOA)": capymoa.EWMAChart,
    }


DETECTORS = detectors()


def rings(sizes: np.ndarray) -> dict[str, list[int]]:
    """Return the rows at which each detector rings."""
    return {
        name: list(_rings_of(make(), as_wanted(name, sizes))) for name, make in DETECTORS.items()
    }


def as_wanted(name: str, sizes: np.ndarray) -> np.ndarray:
    """Return |e| in the form that a detector wants."""
    first = sizes[:300]
    if name.startswith(SHARES):
        return np.minimum(sizes / (6 * first.mean()), 1.0)
    if name.startswith(WRONG):
        return (sizes > np.quantile(first, 0.9)).astype(float)
    return sizes


def _rings_of(detector: Any, values: np.ndarray, first: int = 0) -> Iterable[int]:
    river = _is_of_river(detector)
    for row, value in enumerate(values[first:].tolist(), first):
        if river:
            detector.update(value)
        else:
            detector.add_element(value)
        if detector.drift_detected if river else detector.detected_change():
            yield row


def _is_of_river(detector: Any) -> bool:
    return hasattr(detector, "drift_detected")


def rings_after(
    before: np.ndarray, changed: dict[str, np.ndarray]
) -> dict[str, dict[str, list[int]]]:
    """Return the rows at which each detector rings within `WITHIN` of each change.

    The rows before are the same for every change: a detector of River that has seen them is
    copied. Those of CapyMOA live in Java and see them again.
    """
    found: dict[str, dict[str, list[int]]] = {change: {} for change in changed}
    for name, make in DETECTORS.items():
        taught = make()
        if _is_of_river(taught):
            list(_rings_of(taught, as_wanted(name, before)))
        for change, after in changed.items():
            values = as_wanted(name, np.concatenate([before, after[:WITHIN]]))
            seen = len(before) if _is_of_river(taught) else 0
            detector = copy.deepcopy(taught) if seen else make()
            found[change][name] = list(_rings_of(detector, values, seen))
    return found


def runs(family: str, seed: int) -> Iterable[tuple[str, dict[str, list[int]]]]:
    """Yield of every change the rows at which each rings; rows before it are learned once."""
    X, y = series(family, seed=seed)
    model = DFOPRegressor()
    before = np.abs(y[:CHANGED_AT] - model.predict_then_learn(X[:CHANGED_AT], y[:CHANGED_AT]))
    alarms, sizes = {}, {}
    for change in CHANGES:
        X, y = (part[CHANGED_AT:] for part in series(family, change, seed))
        after = copy.deepcopy(model)
        sizes[change] = np.abs(y - after.predict_then_learn(X, y))
        alarms[change] = [alarm.row for alarm in after.alarms_]
    found = rings_after(before, sizes)
    for change in CHANGES:
        yield change, {"dfop": alarms[change], **found[change]}


def _hit(rows: list[int]) -> bool:
    return any(CHANGED_AT <= row < CHANGED_AT + WITHIN for row in rows)


def detection(seeds: range) -> dict[tuple[str, str, str], float]:
    """Return the share of seeds found, by detector, family and change."""
    hits: dict[tuple[str, str, str], list[bool]] = {}
    for family in NOISES:
        for seed in seeds:
            for change, found in runs(family, seed):
                for name, rows in found.items():
                    hits.setdefault((name, family, change), []).append(_hit(rows))
    return {key: float(np.mean(some)) for key, some in hits.items()}


def false_alarms() -> dict[tuple[str, str], float]:
    """Return alarms per 10^6 rows without a change, by detector and family."""
    counts = {}
    for family in NOISES:
        X, y = series(family, NONE, 100, UNCHANGED)
        model = DFOPRegressor()
        sizes = np.abs(y - model.predict_then_learn(X, y))
        for name, rows in {"dfop": model.alarms_, **rings(sizes)}.items():
            counts[name, family] = len(rows) / UNCHANGED * 1e6
    return counts


def show(title: str, head: Iterable[str], rows: dict[str, list[str]]) -> None:
    head = list(head)
    print(f"\n{title}\n\n| |", " | ".join(head), "|\n|---|" + "---:|" * len(head))
    for name, cells in rows.items():
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def compare(seeds: range) -> None:
    found, names = detection(seeds), ["dfop", *DETECTORS]
    means = {
        name: [f"{np.mean([found[name, family, c] for family in NOISES]):.2f}" for c in CHANGES]
        for name in names
    }
    title = (
        f"Found within {WITHIN} rows, share of {len(seeds)} seeds, mean over {len(NOISES)} "
        "families; one outlier must not ring"
    )
    show(title, CHANGES, means)
    for name in ("dfop", "ADWIN", "KSWIN"):
        cells = {c: [f"{found[name, family, c]:.2g}" for family in NOISES] for c in CHANGES}
        show(f"The same by family: {name}", NOISES, cells)
    false = false_alarms()
    cells = {name: [f"{false[name, family]:,.0f}" for family in NOISES] for name in names}
    show(f"No change, alarms per 10^6 rows ({UNCHANGED:,} rows a family)", NOISES, cells)


def natural() -> None:
    rows = {}
    for name in NATURAL:
        stream = streams.load(name)
        face = DFOPRegressor if stream.task == "regression" else DFOPClassifier
        X, y = stream.arrays()
        alarms = face().fit(X, y).alarms_
        inputs = sum(alarm.kind == "inputs" for alarm in alarms)
        first = str(min((alarm.row for alarm in alarms), default=""))
        rows[name] = [f"{len(y):,}", str(len(alarms) - inputs), str(inputs), first]
    head = ("rows", "errors and jumps", "inputs", "first")
    show("Streams that were not generated: alarms of dfop", head, rows)


def main(seeds: int) -> None:
    print("# Alarms\n\nMade by `make alarms`; the series are those of `benchmarks/changes.py`.")
    compare(range(1000, 1000 + seeds))
    natural()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
