"""The automatic learner, with no argument, on every stream: scores, and how sure it was."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dfop.baselines import NoChangeClassifier, NoChangeRegressor
from dfop.classifier import DFOPClassifier
from dfop.evaluation import compare
from dfop.paper import printed
from dfop.paper.regression import unit_range
from dfop.paper.run import Run
from dfop.paper.settings import CLASSIFICATION, REGRESSION, REGRESSION_SEVEN, SEVEN
from dfop.paper.supply import supply
from dfop.regressor import DFOPRegressor

from . import work
from .page import page, picture, write_tables
from .promises import LAGGED, PROMISED_ACCURACY, PROMISED_ERROR
from .results import FullStream, Sureness, Trials

SEEDS = 10
VIEWS = ("linear", "rff")


def automatic(run: Run) -> None:
    """Measure the learners with no argument on every stream, and write tables and a page.

    Parameters
    ----------
    run : Run
        Files ``automatic.csv``, ``automatic-trials.csv``, ``automatic-sureness.csv``,
        ``automatic.md`` and the picture go into its folder.
    """
    available = _available(run)
    full = _full_streams(run, available)
    trials = [*_classification_trials(run), *_regression_trials(run)]
    sure = _sureness(run, available)
    write_tables(run, full, trials, sure)
    run.write_markdown("automatic", "The automatic learner", page(full, trials, sure))
    run.save("automatic", lambda: picture(full))


def _available(run: Run) -> dict[tuple[str, str], str]:
    """By task and name, where each stream's rows come from; those without rows are absent."""
    found = {}
    promised = {"classification": PROMISED_ACCURACY, "regression": PROMISED_ERROR}
    for task, settings in (("classification", CLASSIFICATION), ("regression", REGRESSION)):
        for stream in settings:
            if stream.name in promised[task] and (not run.only or stream.name in run.only):
                supplied = supply(run, stream)
                if supplied is not None:
                    found[task, stream.name] = supplied.source
    return found


def _seeds(run: Run, task: str, name: str) -> range:
    drawn = (task, name) == ("regression", "hyperplane")
    return range(min(SEEDS, run.trials) if drawn else 1)


def _full_streams(run: Run, available: dict[tuple[str, str], str]) -> list[FullStream]:
    cells: list[dict[str, Any]] = []
    for (task, name), source in available.items():
        kinds: list[tuple[str, int, Sequence[float | None]]] = [
            ("auto", 0, [None]),
            ("no-change", 0, [None]),
            *((view, 0, [None, *work.GRID]) for view in VIEWS),
        ]
        if (task, name) in LAGGED:
            lags, _ = LAGGED[task, name]
            kinds += [("auto", lags, [None]), ("linear", lags, work.GRID)]
        cells += [
            {"task": task, "stream": name, "source": source, "seed": seed, "quick": run.quick,
             "features": features, "lags": lags, "mus": list(mus)}
            for features, lags, mus in kinds
            for seed in _seeds(run, task, name)
        ]  # fmt: skip
    done = run.each("automatic-streams", work.scores, cells, {})
    kept: dict[tuple[Any, ...], list[float]] = {}
    sizes = {}
    for cell, result in zip(cells, done, strict=True):
        task, name = cell["task"], cell["stream"]
        sizes[task, name] = result["rows"], result["features"]
        for mu, score in zip(cell["mus"], result["scores"], strict=True):
            kept.setdefault((task, name, cell["features"], cell["lags"], mu), []).append(score)
    return [
        _full_stream(run, kept, task, name, source, *sizes[task, name])
        for (task, name), source in available.items()
    ]


def _full_stream(
    run: Run,
    kept: dict[tuple[Any, ...], list[float]],
    task: str,
    name: str,
    source: str,
    rows: int,
    features: int,
) -> FullStream:
    def mean(view: str, lags: int = 0, mu: float | None = None) -> float:
        return float(np.mean(kept[task, name, view, lags, mu]))

    def best(view: str, lags: int = 0) -> tuple[float, float]:
        of = {mu: mean(view, lags, mu) for mu in work.GRID}
        mu = (max if task == "classification" else min)(of, key=lambda mu: of[mu])
        return mu, of[mu]

    lags, promised_lagged = LAGGED.get((task, name), (0, None))
    promised = (PROMISED_ACCURACY if task == "classification" else PROMISED_ERROR)[name]
    return FullStream(
        task=task,
        name=name,
        source=source,
        rows=rows,
        features=features,
        promised=None if run.quick else promised,
        default=mean("auto"),
        seeds=(min(kept[task, name, "auto", 0, None]), max(kept[task, name, "auto", 0, None])),
        no_change=mean("no-change"),
        automatic={view: mean(view) for view in VIEWS},
        fixed={view: best(view) for view in VIEWS},
        lags=lags,
        promised_lagged=None if run.quick else promised_lagged,
        lagged=mean("auto", lags) if lags else None,
        fixed_lagged=best("linear", lags) if lags else None,
    )


def _classification_trials(run: Run) -> Iterable[Trials]:
    known = printed.scores("classification")
    models = {"automatic": DFOPClassifier(), "No-change": NoChangeClassifier()}
    for at, stream in enumerate(CLASSIFICATION):
        run.tell(f"automatic, trials: {stream.name}", at, len(CLASSIFICATION))
        supplied = None if run.only and stream.name not in run.only else supply(run, stream)
        if supplied is None:
            continue
        record = run.record("automatic", "classification", stream.name)
        table = compare(
            models, {stream.name: supplied.rows}, trials=run.trials, jobs=run.jobs, resume=record
        )
        method = max(SEVEN, key=lambda m, name=stream.name: known[name, m].mean)  # type: ignore[misc]
        ours, no_change = (100 * table.scores[0]).tolist()
        yield Trials(
            "classification", stream.name, supplied.source, ours, no_change, method,
            None if run.quick else known[stream.name, method],
        )  # fmt: skip


def _regression_trials(run: Run) -> Iterable[Trials]:
    known = printed.scores("regression")
    models = {"automatic": DFOPRegressor(), "No-change": NoChangeRegressor()}
    for stream in REGRESSION:
        supplied = None if run.only and stream.name not in run.only else supply(run, stream)
        if supplied is None:
            continue
        drawn = stream.generate is not None
        record = run.record("automatic", "regression", stream.name)
        rows: Any = stream.generate if drawn else unit_range(supplied.rows)
        share = 1.0 if drawn else 0.8
        table = compare(
            models, {stream.name: rows}, trials=run.trials, jobs=run.jobs, resume=record,
            share=share,
        )  # fmt: skip
        method = min(REGRESSION_SEVEN, key=lambda m, name=stream.name: known[name, m].mean)  # type: ignore[misc]
        ours, no_change = (100 * table.scores[0]).tolist()
        yield Trials(
            "regression", stream.name, supplied.source, ours, no_change, method,
            None if run.quick else known[stream.name, method],
        )  # fmt: skip


def _sureness(run: Run, available: dict[tuple[str, str], str]) -> Sureness:
    quick = {"quick": run.quick}
    seeds = range(min(SEEDS, run.trials))
    covered: list[dict[str, Any]] = [
        {"stream": name, "source": source, "seed": seed, **quick}
        for (task, name), source in available.items()
        if task == "regression"
        for seed in _seeds(run, task, name)
    ]
    covered += [
        {"stream": kind, "source": "drawn", "seed": seed, **quick}
        for kind in work.DRIFTS
        for seed in seeds
    ]
    labelled: list[dict[str, Any]] = [
        {"stream": name, "source": source, **quick}
        for (task, name), source in available.items()
        if task == "classification"
    ]
    quiet: list[dict[str, Any]] = [
        {"kind": kind, "seed": seed, **quick} for kind in work.STILL for seed in seeds
    ]
    walks: list[dict[str, Any]] = [
        {"setting": i, "seed": seed, **quick} for i in range(len(work.WALKS)) for seed in seeds
    ]
    coverage = run.each("automatic-coverage", work.coverage, covered, {})
    calibration = run.each("automatic-calibration", work.calibration, labelled, {})
    changes = [{"seed": seed} for seed in seeds]
    still = run.each("automatic-still", work.still, quiet, {})
    spectra = run.each("automatic-spectrum", work.spectrum, walks, {})
    return Sureness(
        coverage=_grouped([cell["stream"] for cell in covered], coverage),
        calibration={
            cell["stream"]: one["ece"] for cell, one in zip(labelled, calibration, strict=True)
        },
        changes=run.each("automatic-alarms", work.found_changes, changes, {}),
        still=_grouped([cell["kind"] for cell in quiet], [one["alarms"] for one in still]),
        spectra=_grouped([cell["setting"] for cell in walks], spectra),
    )


def _grouped(keys: Sequence[Any], values: Sequence[Any]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    return groups
