"""Run several models on several streams, several times.

A trial is a random contiguous part of the stream, 80 % of it unless told otherwise, read
once, predict-then-learn, scored over every row. The paper that introduced DFOP does not state
its protocol; this one was recovered by matching its printed numbers.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import joblib
import numpy as np

from dfop.rows.checks import check_count

from .comparison import Comparison
from .delay import Delay
from .journal import Journal
from .models import describe, is_river, name_of, task_of, untrained
from .prequential import evaluate
from .progress import Progress, reporter
from .sources import ArrayStream, Source, Task, as_stream, in_memory

Supplier = Source | Callable[..., Source]


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    streams: Mapping[str, Supplier] | Sequence[Source],
    *,
    trials: int = 10,
    share: float = 0.8,
    reference: str | None = None,
    delay: Delay = 0,
    seed: int = 0,
    jobs: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> Comparison:
    """Compare models on streams, in trials.

    Parameters
    ----------
    models : mapping of str to model, or sequence of models
        Anything `evaluate` takes that scikit-learn or River can clone: every cell trains a
        copy of its own. ``random_state=None`` (River: ``seed=None``) gets the trial's seed.
    streams : mapping of str to stream, or sequence of streams
        Streams, tuples ``(X, y)``, or callables that give one, called when its turn comes. A
        callable with an argument ``seed`` makes new data for every trial. All of one task.
    trials : int
        How often each model sees each stream.
    share : float
        The part of the stream that a trial reads: contiguous, from a random start, the same
        rows for all models.
    reference : str, optional
        The model that the others are tested against; by default the first.
    delay : int, float, timedelta, numpy.timedelta64 or str
        As for `evaluate`.
    seed : int
        Decides all the random choices.
    jobs : int
        Processes; -1 for one per core. The scores do not depend on it.
    resume : path-like, optional
        A file that records every finished cell. When it exists, only missing cells are
        computed; more ``trials`` add to it. If it was made with other models, streams, data or
        settings, it is refused.
    progress : bool or callable
        True draws a bar; a callable gets the cells done and their total.

    Returns
    -------
    Comparison

    Notes
    -----
    Trials of one stream share at least three rows in four when ``share`` is .8. They are not
    independent, and the paired t-test over them is too sure of itself: it says whether a
    difference holds wherever one starts on this stream, not whether it would hold on another.
    Ranks over many streams say that.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> table = compare(
    ...     {"slow": SGDRegressor(eta0=1e-4), "fast": SGDRegressor(eta0=0.1)},
    ...     {"plane": (X, X @ [1.0, 2.0])},
    ...     trials=3,
    ...     reference="fast",
    ... )
    >>> print(table)
    MSE, mean±std of 3 trials
    ...
    """
    _check_numbers(trials, share)
    _refuse_one(models, "model")
    _refuse_one(streams, "stream")
    named_models = _named(models, [name_of(m) for m in models], "model")
    named_streams = _named(streams, [getattr(s, "name", "data") for s in streams], "stream")
    if reference is None:
        reference = next(iter(named_models))
    if reference not in named_models:
        raise ValueError(f"reference {reference!r} is not among the models {list(named_models)}")
    for name, model in named_models.items():
        if isinstance(model, type) or not (is_river(model) or hasattr(model, "get_params")):
            raise TypeError(
                f"the model {name!r} cannot be copied: it must be an instance with get_params "
                "(scikit-learn) or clone (River)"
            )
    tasks = {task_of(m) for m in named_models.values()} - {None}
    if len(tasks) > 1:
        raise ValueError("classifiers and regressors cannot be compared with each other")
    plan = _Plan(named_models, named_streams, trials, share, delay, seed, next(iter(tasks), None))
    wanted = list(plan.keys())
    done: dict[Key, Cell] = {}
    if resume is None:
        done = plan.run(wanted, jobs, progress, lambda cell: None)
    else:
        with Journal(resume, plan.configuration()) as journal:
            done = {_key(cell): cell for cell in journal.cells}
            missing = [key for key in wanted if key not in done]
            done |= plan.run(missing, jobs, progress, journal.append)
    return Comparison.from_cells(
        [done[key] for key in wanted],
        models=list(named_models),
        streams=list(named_streams),
        trials=trials,
        reference=reference,
    )


Key = tuple[str, str, int]
"""Stream, model, trial."""
Cell = dict[str, Any]


@dataclass(frozen=True)
class _Plan:
    models: Mapping[str, Any]
    streams: Mapping[str, Supplier]
    trials: int
    share: float
    delay: Delay
    seed: int
    task: Task | None

    def keys(self) -> Iterator[Key]:
        """Stream by stream, trial by trial, so that a stream is read once."""
        for stream in self.streams:
            for trial in range(self.trials):
                for model in self.models:
                    yield stream, model, trial

    def configuration(self) -> dict[str, Any]:
        """All that a cell depends on, the data included; not how many trials there are."""
        streams = {}
        for name in self.streams:
            stream = self.supply(name, 0)
            streams[name] = {"task": stream.task, "rows": len(stream), "data": _digest(stream)}
        return {
            "models": {name: describe(model) for name, model in self.models.items()},
            "streams": streams,
            "share": self.share,
            "delay": repr(self.delay),
            "seed": self.seed,
        }

    def run(
        self, keys: list[Key], jobs: int, progress: Progress, keep: Callable[[Cell], None]
    ) -> dict[Key, Cell]:
        """Compute cells in parallel; each is kept as soon as it is there."""
        done = {}
        with (
            reporter(progress, len(keys), "cells") as advance,
            joblib.Parallel(n_jobs=jobs, return_as="generator_unordered") as parallel,
        ):
            for cell in parallel(self._tasks(keys)):
                keep(cell)
                done[_key(cell)] = cell
                advance(1)
        return done

    def _tasks(self, keys: list[Key]) -> Iterable[Any]:
        """Read streams only when their cells are due."""
        whole: tuple[str, int | None, ArrayStream] | None = None
        for key in keys:
            stream_name, model_name, trial = key
            each = trial if self._reseeded(stream_name) else None
            if whole is None or whole[:2] != (stream_name, each):
                whole = (stream_name, each, self.supply(stream_name, trial))
            start, stop = self.part(stream_name, trial, len(whole[2]))
            _, model_seed, _ = self._draws(stream_name, trial)
            yield joblib.delayed(_run_cell)(
                key, self.models[model_name], whole[2][start:stop], start, self.delay, model_seed
            )

    def supply(self, name: str, trial: int) -> ArrayStream:
        """Read the whole stream of a trial."""
        source = self.streams[name]
        if callable(source):
            data_seed, _, _ = self._draws(name, trial)
            source = source(seed=data_seed) if self._reseeded(name) else source()
        return in_memory(as_stream(source, self.task))

    def part(self, name: str, trial: int, rows: int) -> tuple[int, int]:
        """Rows of the trial: any start is as probable as any other."""
        size = max(1, round(self.share * rows))
        start = int(self._draws(name, trial)[2].integers(rows - size + 1))
        return start, start + size

    def _draws(self, name: str, trial: int) -> tuple[int, int, np.random.Generator]:
        """Seeds of the data and of the models, and the generator of the start.

        They depend on the stream's name and the trial alone: not on the other streams, and not
        on the model, so that all models see the same rows.
        """
        rng = np.random.default_rng([self.seed, crc32(name.encode()), trial])
        return int(rng.integers(2**31)), int(rng.integers(2**31)), rng

    def _reseeded(self, name: str) -> bool:
        source = self.streams[name]
        return callable(source) and "seed" in inspect.signature(source).parameters


def _run_cell(key: Key, model: Any, part: ArrayStream, start: int, delay: Delay, seed: int) -> Cell:
    stream_name, model_name, trial = key
    try:
        result = evaluate(untrained(model, seed), part, delay=delay)
    except Exception as error:
        error.add_note(f"in the cell: model {model_name!r}, stream {stream_name!r}, trial {trial}")
        raise
    return {
        "stream": stream_name,
        "model": model_name,
        "trial": trial,
        "start": start,
        "rows": len(result),
        "metrics": result.metrics,
        "seconds per row": result.seconds_per_row,
        "bytes": result.bytes,
    }


def _digest(stream: ArrayStream) -> Any:
    """Tell data apart; text and times count where there are any."""
    rows = stream.rows
    more = [part for part in (rows.texts, rows.time) if part is not None and len(part)]
    return joblib.hash((rows.numbers, stream.y, *more))


def _key(cell: Cell) -> Key:
    key = cell.get("stream"), cell.get("model"), cell.get("trial")
    numbers = [cell.get("seconds per row"), cell.get("bytes")]
    numbers += list(cell["metrics"].values()) if isinstance(cell.get("metrics"), dict) else [None]
    if not (
        isinstance(key[0], str)
        and isinstance(key[1], str)
        and isinstance(key[2], int)
        and all(isinstance(number, int | float) for number in numbers)
    ):
        raise ValueError(f"the record has a cell that is none: {str(cell)[:200]}; remove its line")
    return key[0], key[1], key[2]


def _refuse_one(given: Any, kind: str) -> None:
    if isinstance(given, str) or not (hasattr(given, "__len__") and hasattr(given, "__iter__")):
        raise TypeError(
            f"{kind}s must be a list or a dict of {kind}s, not one {type(given).__name__}"
        )


def _named(given: Any, names: list[str], kind: str) -> dict[str, Any]:
    if not len(given):
        raise ValueError(f"compare needs at least one {kind}")
    if isinstance(given, Mapping):
        return dict(given)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"more than one {kind} is called {repeated}; give a dict of names")
    return dict(zip(names, given, strict=True))


def _check_numbers(trials: int, share: float) -> None:
    check_count("trials", trials)
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
