"""What the learners for River share: a filter or a bank, fed with dicts or frames.

The automatic learner has no bank before its first row: the number of features decides which
experts there are.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

try:
    from river import base
except ImportError as error:
    raise ImportError("dfop.river needs River: pip install 'dfop[river]'") from error

from .automatic import make_bank, maps_for
from .batch import read_frame
from .coding import First, RowCoder, in_order, parts_of
from .core import Bank, Filter, NamedFilter
from .forgetting import ByClock, Forgetting, as_rule
from .insight import Insight
from .learner import PRIOR_VARIANCE
from .validation import check_features, check_lags, check_prior
from .watch import Watch

if TYPE_CHECKING:
    import pandas as pd  # needed by learn_many and predict_many only, as in River itself

__all__ = ["Array", "DictLearner", "Row", "base"]

Array = NDArray[np.float64]
Row = dict[Any, Any]

_KNOWN = np.ones(1, bool)


class DictLearner(Insight, base.Estimator):
    """Base of the learners for River: a filter or a bank, fed with dicts."""

    _first_outputs: int

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: str = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        cap: float | None = 1e6,
    ) -> None:
        rule = as_rule(forgetting)
        if isinstance(rule, ByClock):
            raise ValueError(
                "River's learn_one has no time: choose a forgetting by rows, such as "
                "forgetting=0.001 or half_life(700); dfop.DFOPRegressor forgets by the clock"
            )
        check_prior(prior_variance, cap)
        check_features(features)
        if not isinstance(features, str):
            raise ValueError(
                f"features={features!r} is a transformer of arrays, and rows are dicts: put one of "
                "River's transformers before the model, in a pipeline"
            )
        check_lags(lags)
        self.forgetting = forgetting
        self.features = features
        self.lags = lags
        self.fit_intercept = fit_intercept
        self.prior_variance = prior_variance
        self.cap = cap
        self._watch = None
        self._recent: list[Any] = [self._no_label] * lags
        """The last labels as features, oldest first."""
        filter_ = Filter(
            0,
            self._first_outputs,
            bool(fit_intercept),
            PRIOR_VARIANCE if prior_variance is None else float(prior_variance),
            math.inf if cap is None else float(cap),
        )
        self._use(NamedFilter(filter_, RowCoder(), 1.0 - getattr(rule, "mu", 0.0)))

    _no_label: Any
    """What stands for a label before the first one."""

    def _use(self, rows: NamedFilter) -> None:
        self._rows = rows

    # -- the filter or the bank ---------------------------------------------------------------

    @property
    def _filter(self) -> Filter | Bank | None:  # type: ignore[override]
        """None before the first row of an automatic learner: it decides what experts there are."""
        learner: Filter | Bank = self._rows.filter
        automatic = self._is_bank(as_rule(self.forgetting))
        return None if automatic and not isinstance(learner, Bank) else learner

    @abstractmethod
    def _targets(self) -> list[tuple[str, int]]:
        """Coding and number of outputs of the target."""

    @abstractmethod
    def _new_watch(self) -> Watch:
        """Make a watch over the outputs."""

    def _new_bank(self, width: int) -> Bank:
        rule = as_rule(self.forgetting)
        return make_bank(
            width,
            self._targets(),
            maps_for(self.features, rule, width),
            rule,
            intercept=bool(self.fit_intercept),
            prior_variance=self.prior_variance,
            cap=self.cap,
        )

    def _opened(self, row: Row) -> NamedFilter:
        """Return the learner of rows: if there is none yet, one for this row, not yet in use."""
        if self._filter is not None:
            return self._rows
        self._rows.predict_outputs(row)  # refuses what is no row
        coder = RowCoder()
        coder.code_one(row, True)
        width = coder.width
        coder.means.restore(np.zeros(width), np.zeros(width))  # the row is counted when learned
        return NamedFilter(self._new_bank(width), coder, 1.0)

    def _took(self, rows: NamedFilter, outputs: Array, targets: Array) -> None:
        """Go on after a row was learned."""
        if rows is not self._rows:
            self._use(rows)
            self._watch = self._new_watch()
        if self._watch is not None:
            self._see(outputs, targets, _KNOWN)

    # -- labels as features -------------------------------------------------------------------

    def _with_lags(self, row: Row) -> Row:
        if not self.lags:
            return row
        if not isinstance(row, dict):
            raise TypeError("a row must be a dict of feature names and values")
        names = _lag_names(self.lags)
        _check_no_lag(names, row)
        return {**dict(zip(names, self._recent[::-1], strict=True)), **row}

    def _remember(self, labels: list[Any]) -> None:
        if self.lags:
            self._recent = (self._recent + labels)[-self.lags :]

    def _frame_with_lags(self, X: pd.DataFrame, labels: list[Any] | None) -> pd.DataFrame:
        """Put lags before the columns; `labels` are those of the rows, None to predict."""
        if labels is not None and X.columns.is_unique:
            X = X[in_order(X.columns)]
        if not self.lags:
            return X
        names = _lag_names(self.lags)
        _check_no_lag(names, X.columns)
        X = X.copy(deep=False)
        known = self._recent + (labels or [])
        for i, name in enumerate(names):
            start = self.lags - 1 - i
            X.insert(i, name, known[start] if labels is None else known[start : start + len(X)])
        return X

    # -- batches ------------------------------------------------------------------------------

    def _learn_matrix(self, X: pd.DataFrame, targets: Array, opens: list[int]) -> None:
        """Learn rows; before each of the rows in `opens`, an output is opened."""
        batch = read_frame(X)
        coder = self._rows.coder
        with coder.lock:
            coded = coder.code(batch)
            if self._filter is None:
                width = coded.widths[0][1]
                coder.means.resize(width)
                self._use(NamedFilter(self._new_bank(width), coder, 1.0))
                self._watch = self._new_watch()
            coder.take(coded)
            for part, width in parts_of(coded):
                self._rows.filter.add_features(width - self._rows.filter.features)
                edges = [part.start, *(t for t in opens if part.start < t < part.stop), part.stop]
                for start, stop in itertools.pairwise(edges):
                    self._rows.add_outputs(int(start in opens))
                    self._learn_piece(coded.rows[start:stop, :width], targets[start:stop])

    def _learn_piece(self, rows: Array, targets: Array) -> None:
        """Learn rows during which nothing is opened."""
        learner = self._rows.filter
        targets = targets[:, : learner.outputs]
        outputs = np.empty(targets.shape)
        if self._watch is not None:
            now, known = (np.ones(1), np.zeros(1)), np.ones(len(rows), bool)
            self._learn_watched(learner, rows, targets, now, known, outputs)
        else:
            lam = np.array([self._rows.discount])
            rows, targets = np.ascontiguousarray(rows), np.ascontiguousarray(targets)
            learner.learn(rows, targets, lam, np.ones(1), outputs)

    def _predict_matrix(self, X: pd.DataFrame) -> Array:
        batch, rows = read_frame(self._frame_with_lags(X, None)), self._rows
        with rows.coder.lock:
            coded = rows.coder.code_to_predict(batch)
            outputs = np.empty((len(coded), rows.filter.outputs))
            rows.filter.predict(coded, outputs)
        return outputs

    def _filter_names(self) -> list[Any]:
        coder = self._rows.coder
        names: list[Any] = coder.labels(coder.columns)
        return names


def _lag_names(count: int) -> list[str]:
    return [First(f"label {i + 1} back") for i in range(count)]


def _check_no_lag(names: list[str], columns: Any) -> None:
    for name in names:
        if name in columns:
            raise ValueError(f"feature {name!r} has the name of a lag: rename it, or use lags=0")
