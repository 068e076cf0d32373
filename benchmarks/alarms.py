"""Alarms: how many changes are found within 50 rows, how many ring for nothing, beside detectors.

make alarms                          all of it, to results-alarms.md (needs Java)
make alarms SYSTEMS="dfop ADWIN"     some systems made anew, the others as that page has them, as
                                     long as the errors that they saw have hardly changed
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
from pathlib import Path
from typing import Any

import numpy as np
from river import drift

from changes import CHANGED_AT, ERRORS, INPUTS, NOISES, NONE, series
from dfop import DFOPClassifier, DFOPRegressor, streams

PAGE = Path(__file__).with_name("results-alarms.md")
Table = dict[str, list[str]]
WITHIN, UNCHANGED = 50, 100_000
CHANGES = (*ERRORS, *INPUTS)
NOTHING = f"No change, alarms per 10^6 rows ({UNCHANGED:,} rows a family)"
SEEN, OTHERS = "Mean size of the errors in those rows, as seen", "by the others"
ALIKE = 1e-3
"""How far it may be from the one that was seen by systems that are not run again, relatively."""
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


def rings(sizes: np.ndarray, systems: list[str]) -> dict[str, list[int]]:
    """Return the rows at which each detector rings."""
    return {
        name: list(_rings_of(make(), as_wanted(name, sizes)))
        for name, make in DETECTORS.items()
        if name in systems
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
    before: np.ndarray, changed: dict[str, np.ndarray], systems: list[str]
) -> dict[str, dict[str, list[int]]]:
    """Return the rows at which each detector rings within `WITHIN` of each change.

    The rows before are the same for every change: a detector of River that has seen them is
    copied. Those of CapyMOA live in Java and see them again.
    """
    found: dict[str, dict[str, list[int]]] = {change: {} for change in changed}
    for name in systems:
        make = DETECTORS[name]
        taught = make()
        if _is_of_river(taught):
            list(_rings_of(taught, as_wanted(name, before)))
        for change, after in changed.items():
            values = as_wanted(name, np.concatenate([before, after[:WITHIN]]))
            seen = len(before) if _is_of_river(taught) else 0
            detector = copy.deepcopy(taught) if seen else make()
            found[change][name] = list(_rings_of(detector, values, seen))
    return found


def runs(family: str, seed: int, systems: list[str]) -> Iterable[tuple[str, dict[str, list[int]]]]:
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
    found = rings_after(before, sizes, [name for name in systems if name != "dfop"])
    for change in CHANGES:
        yield change, {"dfop": alarms[change], **found[change]}


def _hit(rows: list[int]) -> bool:
    return any(CHANGED_AT <= row < CHANGED_AT + WITHIN for row in rows)


def detection(seeds: range, systems: list[str]) -> dict[tuple[str, str, str], float]:
    """Return the share of seeds found, by detector, family and change."""
    hits: dict[tuple[str, str, str], list[bool]] = {}
    for family in NOISES:
        for seed in seeds:
            for change, found in runs(family, seed, systems):
                for name, rows in found.items():
                    hits.setdefault((name, family, change), []).append(_hit(rows))
    return {key: float(np.mean(some)) for key, some in hits.items()}


def false_alarms(systems: list[str]) -> tuple[dict[tuple[str, str], float], list[str]]:
    """Return alarms per 10^6 rows without a change, by detector and family; and the mean of |e|."""
    counts, seen = {}, []
    for family in NOISES:
        X, y = series(family, NONE, 100, UNCHANGED)
        model = DFOPRegressor()
        sizes = np.abs(y - model.predict_then_learn(X, y))
        seen.append(f"{sizes.mean():.9g}")
        for name, rows in {"dfop": model.alarms_, **rings(sizes, systems)}.items():
            counts[name, family] = len(rows) / UNCHANGED * 1e6
    return counts, seen


def shown(title: str, head: Iterable[str], rows: Table) -> str:
    """Return a table with its title."""
    head = list(head)
    lines = [f"\n{title}\n", f"| | {' | '.join(head)} |", "|---|" + "---:|" * len(head)]
    return "\n".join(
        [*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())]
    )


def tables(page: str) -> dict[str, Table]:
    """Return the tables of a page by title, each row by its name.

    Examples
    --------
    >>> tables(shown("Found", ["jump"], {"dfop": ["1"], "ADWIN": ["0"]}))
    {'Found': {'': ['jump'], 'dfop': ['1'], 'ADWIN': ['0']}}
    """
    found: dict[str, Table] = {}
    title = ""
    for line in page.splitlines():
        if not line.startswith("|"):
            title = line or title
        elif not line.startswith("|---"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(title, {})[name] = cells
    return found


def compared(seeds: range, systems: list[str], kept: dict[str, Table]) -> Iterable[str]:
    """Yield the tables of all systems; those that are not run are as they were kept."""
    found, names = detection(seeds, systems), ["dfop", *DETECTORS]
    if kept:
        names = list(kept[NOTHING])[1:]
    means = {
        name: [f"{np.mean([found[name, family, c] for family in NOISES]):.2f}" for c in CHANGES]
        for name in systems
    }
    title = (
        f"Found within {WITHIN} rows, share of {len(seeds)} seeds, mean over {len(NOISES)} "
        "families; one outlier must not ring"
    )
    yield shown(title, CHANGES, {name: means.get(name) or kept[title][name] for name in names})
    for name in ("dfop", "ADWIN", "KSWIN"):
        title = f"The same by family: {name}"
        if name in systems:
            cells = {c: [f"{found[name, family, c]:.2g}" for family in NOISES] for c in CHANGES}
        else:
            cells = {c: kept[title][c] for c in CHANGES}
        yield shown(title, NOISES, cells)
    false, seen = false_alarms(systems)
    cells = {name: [f"{false[name, family]:,.0f}" for family in NOISES] for name in systems}
    rows = {name: cells.get(name) or kept[NOTHING][name] for name in names}
    yield shown(NOTHING, NOISES, rows)
    means_seen = {f"by {', '.join(systems)}": seen}
    if kept and set(names) - set(systems):
        before = kept[SEEN].get(OTHERS) or list(kept[SEEN].values())[1]
        if not np.allclose(np.array(before, float), np.array(seen, float), rtol=ALIKE):
            raise SystemExit(f"predictions have changed since {PAGE.name} was made: run them all")
        means_seen[OTHERS] = before
    yield shown(SEEN, NOISES, means_seen)


def natural() -> str:
    """Return what rings on streams that were not generated."""
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
    return shown("Streams that were not generated: alarms of dfop", head, rows)


def main(seeds: int, some: list[str]) -> None:
    """Write the page."""
    unknown = set(some) - {"dfop", *DETECTORS}
    if unknown:
        raise SystemExit(f"no such systems here: {', '.join(unknown)}")
    kept = tables(PAGE.read_text()) if some else {}
    parts = [*compared(range(1000, 1000 + seeds), some or ["dfop", *DETECTORS], kept), natural()]
    head = "# Alarms\n\nMade by `make alarms`; the series are those of `benchmarks/changes.py`."
    PAGE.write_text("\n".join([head, *parts, ""]))


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(numbers[0] if numbers else 20, [word for word in sys.argv[1:] if not word.isdigit()])
