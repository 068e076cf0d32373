"""What the regressor and the classifier share: a filter or a bank, fed with checked rows.

The order in every learning call is the same: check all arguments, work out discounts and coded
targets, and only then touch the state, in calls that cannot fail.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .automatic import make_bank, maps_for
from .batch import Batch, read_batch
from .coding import Coded, RowCoder, coded_names, cut, learn_coded, parts_of
from .core import Bank, Filter
from .discounts import Clock, RowTimes, RowWeights, row_weights
from .forgetting import Automatic, ByClock, ByRows, Forgetting, as_rule
from .insight import Insight
from .lags import Lags
from .validation import as_numbers, check_features, check_finite, check_lags, check_prior
from .watch import Watch

Array = NDArray[np.float64]

# Where d mu is larger, lam^d is below 1e-8: forgetting outruns what d rows can teach.
_LARGEST_D_MU = 18.0

PRIOR_VARIANCE = 100.0
"""Of the weights of a single filter, where none is given."""


class Learned(NamedTuple):
    """What one step ahead was known of rows that were learned."""

    outputs: Array
    told: list[Any]
    """By the watch, of consecutive runs of rows; empty without one."""


class Learner(Insight, BaseEstimator, ABC):
    """Base of `DFOPRegressor` and `DFOPClassifier`."""

    _filter: Filter | Bank | None
    """None between the first row and the first target (late labels only)."""
    _coder: RowCoder
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _outputs: int
    _clock: Clock
    _log_discount: float
    """log of the product of all discounts so far."""
    _foretold: dict[int | str, Array]
    """What was predicted of rows that wait, where a watch will judge it."""
    _pending: dict[int | str, tuple[Array, float]]
    """Rows that wait for their label, with `_log_discount` at their arrival."""

    _lags: Lags
    """The last known labels, as features; none before `_open_lags`."""
    _transformer: Any
    """`features` fitted to the first row, where it is a transformer."""

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: Any = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        cap: float | None = 1e6,
    ) -> None:
        self.forgetting = forgetting
        self.features = features
        self.lags = lags
        self.fit_intercept = fit_intercept
        self.prior_variance = prior_variance
        self.cap = cap

    @property
    def needs_time(self) -> bool:
        """Whether rows must come with their time: the model forgets by the clock."""
        return isinstance(as_rule(self.forgetting), ByClock)

    # -- for the subclasses -------------------------------------------------------------------

    @abstractmethod
    def _encode(self, y: Any, n: int, *, first: bool, classes: Any) -> Array:
        """Code targets as (n, outputs); on first targets, take over their kind."""

    @abstractmethod
    def _decode(self, outputs: Array) -> NDArray[Any]:
        """Turn the filter's outputs into predictions."""

    @abstractmethod
    def _targets(self) -> list[tuple[str, int]]:
        """Coding and number of outputs of each target."""

    @abstractmethod
    def _new_watch(self) -> Watch:
        """Make a watch over the outputs."""

    @abstractmethod
    def _rebase(self) -> None:
        """Keep the digits of the logarithms of discounts."""

    # -- learning -----------------------------------------------------------------------------

    def _learn(
        self,
        X: Any,
        y: Any,
        *,
        restart: bool = False,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> Learned:
        """Predict every row before its target is seen, and learn it."""
        model = self if self._started() and not restart else self._blank()
        batch = read_batch(model, X, first=model is not self)
        n = len(batch.numbers)
        targets_known = hasattr(model, "_outputs")
        if model is self and not targets_known:
            model = self._twin()  # rows came before, targets are new: take them over only if good
        targets = model._encode(y, n, first=not targets_known, classes=classes)
        weights = row_weights(
            model._pace(),
            n,
            model._clock,
            discount=discount,
            time=time,
            sample_weight=sample_weight,
        )
        if restart and not weights.any_seen:
            raise ValueError("sample_weight is zero for every row: there is nothing to fit")
        outputs = np.empty((n, model._outputs))
        with model._coder.lock:
            coded = model._coder.code(batch, weights.times)
            model._check_transformable(coded)
            model._warn_of_haste(coded.width)
            self._become(model)
            self._rebase()
            self._open(coded.rows, coded.widths[0][1])
            self._take(batch, coded)
            told = self._learn_coded(coded, targets, weights, outputs)
        self._clock = weights.clock
        self._log_discount += weights.elapsed(n)
        return Learned(outputs, told)

    def _learn_coded(
        self, coded: Coded, targets: Array, weights: RowWeights | RowTimes, outputs: Array
    ) -> list[Any]:
        """Learn coded rows with their lags; return what the watch told."""
        if self._watch is None and not self._lags.width and isinstance(self.features, str):
            learn_coded(self._filter, coded, targets, weights.per_row, outputs)
            return []
        n = len(coded.rows)
        known = np.broadcast_to(weights.times > 0.0, n)
        lags = self._lags.before(targets, known) if self._lags.width else np.empty((n, 0))
        told: list[Any] = []
        for part, width in parts_of(coded):
            rows = np.hstack([lags[part], coded.rows[part, :width]])
            per_row = cut(weights.per_row, part, n)
            told += self._teach(rows, targets[part], per_row, known[part], outputs[part])
        if self._lags.width:
            self._lags.add(targets[known])
        return told

    def _teach(
        self,
        rows: Array,
        targets: Array,
        per_row: tuple[Array, Array],
        known: NDArray[np.bool_],
        outputs: Array,
        foretold: Array | None = None,
    ) -> list[Any]:
        """Let the filter or the bank learn rows of one width, and the watch see them.

        The watch judges what was `foretold` of the rows, by default just before they are learned.
        """
        learner = self._filter
        assert learner is not None
        rows = self._transformed(rows)
        learner.add_features(rows.shape[1] - learner.features)
        if self._watch is None:
            learner.learn(np.ascontiguousarray(rows), targets, *per_row, outputs)
            return []
        return self._learn_watched(learner, rows, targets, per_row, known, outputs, foretold)

    def _predict_outputs(self, X: Any) -> Array:
        check_is_fitted(self)
        batch = read_batch(self, X, first=False)
        with self._coder.lock:
            return self._outputs_of(self._with_lags(self._coder.code_to_predict(batch)))

    def _with_lags(self, rows: Array) -> Array:
        """Put the labels known now before coded rows."""
        return np.hstack([self._lags.now(len(rows)), rows]) if self._lags.width else rows

    def _outputs_of(self, rows: Array) -> Array:
        outputs = np.zeros((len(rows), getattr(self, "_outputs", 1)))
        if self._filter is not None:
            self._filter.predict(np.ascontiguousarray(self._transformed(rows)), outputs)
        return outputs

    # -- features -----------------------------------------------------------------------------

    def _transformed(self, rows: Array) -> Array:
        """Rows as the filter sees them: lags as they are, columns through the transformer."""
        if isinstance(self.features, str):
            return rows
        lags = self._lags.width
        columns = as_numbers(self._transformer.transform(rows[:, lags:]), "features(X)")
        check_finite(columns, "features(X)", None)
        return np.hstack([rows[:, :lags], columns])

    def _check_transformable(self, coded: Coded) -> None:
        """Fit a transformer to the first row; refuse rows that it cannot take."""
        if isinstance(self.features, str):
            return
        known = getattr(self._transformer, "n_features_in_", coded.widths[0][1])
        if len(coded.widths) > 1 or known != coded.width:
            raise ValueError(
                f"features={self.features!r} was fitted to {known} columns and there are "
                f'{coded.width} now: text, gaps and new columns need features="auto", or an '
                "encoding of your own"
            )
        transformer = self._transformer or clone(self.features).fit(coded.rows[:1])
        columns = as_numbers(transformer.transform(coded.rows), "features(X)")
        check_finite(columns, "features(X)", None)
        self._transformer = transformer

    def _pace(self) -> Forgetting:
        """Return the rule by which rows are weighted: a bank's experts have each their own."""
        rule = as_rule(self.forgetting)
        automatic = self._is_bank(rule)
        if getattr(self, "_filter", None) is not None:
            started = isinstance(self._filter, Bank), len(self._lags.labels)
            if started != (automatic, self.lags):
                raise ValueError(
                    "forgetting, features or lags were changed after the first row to what this "
                    "model was not made with: set them back, or start anew with fit"
                )
        return Automatic() if automatic else rule

    # -- state --------------------------------------------------------------------------------

    @property
    def coded_names_(self) -> NDArray[Any]:
        """Names of the coded columns; in `coef_` their weights stand behind those of lags."""
        if not self._started():
            raise AttributeError("coded_names_ is known once a row was seen")
        return coded_names(self._coder, getattr(self, "feature_names_in_", None))

    def _take(self, batch: Batch, coded: Coded) -> None:
        """Learn how the columns of a batch are coded, and the names of new ones."""
        self._coder.take(coded)
        if batch.new_names:
            self.feature_names_in_ = np.array(
                [*self.feature_names_in_, *batch.new_names], dtype=object
            )
            self.n_features_in_ = len(self.feature_names_in_)

    def _started(self) -> bool:
        return hasattr(self, "_clock")

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()

    def _blank(self) -> Self:
        """Make an unfitted model with the same parameters, ready for a first row."""
        rule = as_rule(self.forgetting)
        check_prior(self.prior_variance, self.cap)
        check_features(self.features)
        check_lags(self.lags)
        if isinstance(rule, ByClock) and self._is_bank(rule):
            raise ValueError(
                f'features={self.features!r} needs a forgetting by rows, or "auto": several '
                "experts cannot forget by the clock"
            )
        blank = type(self)(**self.get_params(deep=False))
        blank._clock = Clock()
        blank._filter = None
        blank._coder = RowCoder()
        blank._log_discount = 0.0
        blank._pending = {}
        blank._foretold = {}
        blank._lags = Lags(0, 0)
        blank._watch = None
        blank._transformer = None
        return blank

    def _twin(self) -> Self:
        """Make a model that shares this one's state, to be changed instead of it."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def _become(self, model: Self) -> None:
        """Take over another model's state as a whole."""
        if model is not self:
            if hasattr(self, "feature_names_in_") and not hasattr(model, "feature_names_in_"):
                del self.feature_names_in_
            self.__dict__.update(model.__dict__)

    def _warn_of_haste(self, width: int) -> None:
        """Warn where `width` coded columns are too many, if they have not been before."""
        before = 0
        rule = as_rule(self.forgetting)
        if self._is_bank(rule):
            return
        if self._filter is not None:
            if self._filter.features == width:
                return
            before = self._filter.features + bool(self.fit_intercept)
        d = width + bool(self.fit_intercept)
        if isinstance(rule, ByRows) and d * rule.mu > _LARGEST_D_MU >= before * rule.mu:
            warnings.warn(
                f"{d} weights and mu={rule.mu:g} forget faster than {d} rows can teach "
                f"(d mu = {d * rule.mu:.0f}, above {_LARGEST_D_MU:.0f}): the cap keeps the "
                "model finite, but use a smaller mu or fewer features",
                UserWarning,
                stacklevel=4,
            )

    def _open(self, rows: Array, width: int) -> None:
        """Make the filter or the bank, if there is none yet, for `width` coded columns."""
        if self._filter is not None:
            return
        self._open_lags()
        rule = as_rule(self.forgetting)
        if not isinstance(self.features, str):
            lagged = np.hstack([np.zeros((1, self._lags.width)), rows[:1, :width]])
            width = self._transformed(lagged).shape[1] - self._lags.width
        width += self._lags.width
        if self._is_bank(rule):
            self._filter = make_bank(
                width,
                self._targets(),
                maps_for(self.features, rule, width),
                rule,
                intercept=bool(self.fit_intercept),
                prior_variance=self.prior_variance,
                cap=self.cap,
            )
            self._watch = self._new_watch()
        else:
            self._filter = Filter(
                width,
                self._outputs,
                bool(self.fit_intercept),
                PRIOR_VARIANCE if self.prior_variance is None else float(self.prior_variance),
                math.inf if self.cap is None else float(self.cap),
            )
        self._forget(self._log_discount)

    def _open_lags(self) -> None:
        """Make room for the labels that are features, once it is known how they are coded."""
        if len(self._lags.labels) != self.lags:
            self._lags = Lags(self.lags, self._outputs)

    def _forget(self, log_discount: float) -> None:
        """Let time pass, given as `_log_discount` counts it."""
        if self._filter is not None and log_discount < 0.0:
            self._filter.forget(
                -log_discount
                if isinstance(self._filter, Bank)
                else max(math.exp(log_discount), 1e-300)
            )

    def _filter_names(self) -> list[Any]:
        """Names of what the linear experts see."""
        which = [f" of output {o}" for o in range(self._outputs)] if self._outputs > 1 else [""]
        lagged = [f"label {k + 1} back{o}" for k in range(self.lags) for o in which]
        if isinstance(self.features, str):
            return [*lagged, *self.coded_names_]
        assert self._filter is not None
        return lagged + [f"feature {j}" for j in range(self._filter.features - len(lagged))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags
