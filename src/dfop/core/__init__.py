"""The mathematics: the learner's state and its update, knowing nothing but numpy.

`Filter` is the compiled update (``src/core``), `Sketch` one that keeps only a diagonal and a few
directions of its information, `FrequentDirections` one that knows how much it leaves out, `Bank`
many filters combined, `KeyedStore` many at rest, one per key;
`Coder` turns columns of numbers, text and gaps into rows of numbers, `NamedRows` does so for dicts
and lets a filter or bank learn them, one call at a time by `Lock`; by `digest_of_row` a dict is
known again, and `AskedRows` are those predicted since something was learned; `Intervals`,
`Calibration` and `Watch` say how sure a model is, row by row, and `ErrorRecord` what its experts
were worth.
`choose` is the rule by which outputs stand for classes: those within 1e-9 of the largest are
equal, and the first of them is chosen.

The update is compiled twice, for processors with AVX2 and FMA and for all others. The environment
variable ``DFOP_KERNEL`` (``baseline`` or ``avx2``), read when this module is imported, decides
which one runs; without it the fastest does. `Filter.kernel` tells. The two agree but for rounding.

`dfop.core.oracle` is the same mathematics in plain NumPy, row by row, to check it against.
"""

import copyreg
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import (
    BUCKETS,
    COVERAGES,
    LARGEST,
    MOST_TEXTS,
    SMALLEST,
    AskedRows,
    Bank,
    Calibration,
    Coder,
    ErrorRecord,
    Filter,
    FrequentDirections,
    Intervals,
    KeyedStore,
    KindError,
    Lock,
    NamedRows,
    Sketch,
    Watch,
    choose,
    clean_text,
    digest_of_row,
    first_rows,
    first_unusable,
    moved_weights,
    plain_row,
)

__all__ = [
    "BUCKETS",
    "COVERAGES",
    "LARGEST",
    "MOST_TEXTS",
    "SMALLEST",
    "AskedRows",
    "Bank",
    "Calibration",
    "Coder",
    "ErrorRecord",
    "ExpertDesign",
    "Filter",
    "FrequentDirections",
    "Intervals",
    "KeyedStore",
    "KindError",
    "Lock",
    "NamedRows",
    "Sketch",
    "Snapshot",
    "State",
    "Target",
    "Watch",
    "choose",
    "clean_text",
    "digest_of_row",
    "first_rows",
    "first_unusable",
    "moved_weights",
    "plain_row",
    "restore_bank",
    "restore_coder",
    "restore_directions",
    "restore_filter",
    "restore_sketch",
]

Target = tuple[str, int] | tuple[str, int, bool] | tuple[str, int, bool, bool]
"""Coding, outputs, whether errors of the target tell nothing about the experts, and whether one of
its labels came late."""
ExpertDesign = tuple[int | str, float, float]
"""The number of the map that a filter sees, or the name of another kind; its mu; its walk."""
State = dict[str, NDArray[np.float64]]
"""What a part knows, by name.

``state()`` gives it; ``restore`` checks it and takes it over whole or not at all; ``shapes`` tells
its names and shapes (-1: as many as there are) without making a part, and ``check_state`` checks a
state of a filter or a bank that is not made yet.
"""


def restore_filter(
    features: int,
    outputs: int,
    intercept: bool,
    prior_variance: float,
    cap: float,
    state: State,
) -> Filter:
    """Build a filter that goes on where the one that gave the state stood."""
    Filter.check_state(features, outputs, intercept, state)  # before any memory is asked for
    filter_ = Filter(features, outputs, intercept, prior_variance, cap)
    filter_.restore(state)
    return filter_


def restore_sketch(
    features: int,
    outputs: int,
    rank: int,
    intercept: bool,
    prior_variance: float,
    cap: float,
    state: State,
) -> Sketch:
    """Build a sketch that goes on where the one that gave the state stood."""
    Sketch.check_state(features, outputs, rank, intercept, state)
    sketch = Sketch(features, outputs, rank, intercept, prior_variance, cap)
    sketch.restore(state)
    return sketch


def restore_directions(
    features: int,
    outputs: int,
    rank: int,
    intercept: bool,
    prior_variance: float,
    state: State,
) -> FrequentDirections:
    """Build frequent directions that go on where those that gave the state stood."""
    FrequentDirections.check_state(features, outputs, rank, intercept, state)
    directions = FrequentDirections(features, outputs, rank, intercept, prior_variance)
    directions.restore(state)
    return directions


def restore_bank(
    features: int,
    targets: Sequence[Target],
    maps: list[tuple[str, float, int]],
    experts: list[ExpertDesign],
    intercept: bool,
    prior_variance: float,
    relative_prior: bool,
    cap: float,
    state: State,
    bounded: bool = False,
) -> Bank:
    """Build a bank that goes on where the one that gave the state stood."""
    Bank.check_state(features, targets, maps, experts, intercept, state, bounded)
    prior = prior_variance, relative_prior
    bank = Bank(features, targets, maps, experts, intercept, *prior, cap, bounded)
    bank.restore(state)
    return bank


def restore_coder(
    most_texts: int,
    described: list[dict[str, Any]],
    sums: NDArray[np.float64],
    counts: NDArray[np.float64],
    lags: list[int],
    shared: list[tuple[int, int]],
) -> Coder:
    """Build the coder that was described."""
    coder = Coder(most_texts)
    coder.restore(described, sums, counts, lags, shared)
    return coder


def _reduce_coder(c: Coder) -> tuple[Any, ...]:
    state = c.state()
    return restore_coder, (
        c.most_texts,
        c.describe(),
        state["sums"],
        state["counts"],
        c.lags,
        c.shared,
    )


def _restore_rows(lags: NDArray[np.float64] | None, *parts: Any) -> NamedRows:
    rows = NamedRows(*parts)
    rows.set_lags(lags)
    return rows


def _reduce_rows(r: NamedRows) -> tuple[Any, ...]:
    with r.lock:
        parts = r.engine, r.coder, r.names, r.lock, r.discount, r.most_names
        return _restore_rows, (r.lags, *parts)


def _restore_asked(limit: int, *state: Any) -> AskedRows:
    asked = AskedRows(limit)
    asked.restore(*state)
    return asked


def _reduce_filter(f: Filter) -> tuple[Any, ...]:
    return restore_filter, (
        f.features,
        f.outputs,
        f.intercept,
        f.prior_variance,
        f.cap,
        f.state(),
    )


def _reduce_sketch(s: Sketch) -> tuple[Any, ...]:
    return restore_sketch, (
        s.features,
        s.outputs,
        s.rank,
        s.intercept,
        s.prior_variance,
        s.cap,
        s.state(),
    )


def _reduce_directions(f: FrequentDirections) -> tuple[Any, ...]:
    return restore_directions, (
        f.features,
        f.outputs,
        f.rank,
        f.intercept,
        f.prior_variance,
        f.state(),
    )


def _reduce_bank(b: Bank) -> tuple[Any, ...]:
    return restore_bank, (
        b.features,
        b.targets,
        b.maps,
        b.experts,
        b.intercept,
        b.prior_variance,
        b.relative_prior,
        b.cap,
        b.state(),
        b.bounded,
    )


def restore_part(kind: Any, sizes: tuple[int, ...], state: State) -> Any:
    """Build a part of the uncertainty that goes on where the one that gave the state stood."""
    part = kind(*sizes)
    part.restore(state)
    return part


class Snapshot:
    """A compiled part as it is now. Pickled or copied, it becomes such a part.

    Unlike a copy it costs nothing to build, and nothing where it is only pickled.
    """

    def __init__(self, part: Any) -> None:
        reduce: Any = copyreg.dispatch_table[type(part)]
        self._reduced: tuple[Any, ...] = reduce(part)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduced

    def restore(self) -> Any:
        """Return the part."""
        make, given = self._reduced
        return make(*given)


# pickle, copy and joblib of everything that holds a filter
copyreg.pickle(Bank, _reduce_bank)
copyreg.pickle(AskedRows, lambda a: (_restore_asked, (a.limit, *a.rows(), a.methods)))
copyreg.pickle(Coder, _reduce_coder)
copyreg.pickle(Filter, _reduce_filter)
copyreg.pickle(FrequentDirections, _reduce_directions)
copyreg.pickle(Lock, lambda lock: (Lock, ()))
copyreg.pickle(Intervals, lambda i: (restore_part, (Intervals, (i.outputs,), i.state())))
copyreg.pickle(
    Calibration, lambda c: (restore_part, (Calibration, (c.classes, c.curves), c.state()))
)
copyreg.pickle(Watch, lambda w: (restore_part, (Watch, (w.features, w.outputs), w.state())))
copyreg.pickle(ErrorRecord, lambda r: (restore_part, (ErrorRecord, (r.experts,), r.state())))
copyreg.pickle(NamedRows, _reduce_rows)
copyreg.pickle(Sketch, _reduce_sketch)
