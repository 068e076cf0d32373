"""What the regressor and the classifier share: one filter, fed with checked rows.

The order in every learning call is the same: check all arguments, work out discounts and coded
targets, and only then touch the state, in one call of the filter that cannot fail.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .batch import Batch, read_batch
from .coding import Coded, RowCoder, coded_names, learn_coded
from .core import Filter
from .discounts import Clock, row_weights
from .forgetting import ByClock, ByRows, Forgetting, as_rule
from .validation import check_prior

Array = NDArray[np.float64]

# Where d mu is larger, lam^d is below 1e-8: forgetting outruns what d rows can teach.
_LARGEST_D_MU = 18.0


class Learner(BaseEstimator, ABC):
    """Base of `DFOPRegressor` and `DFOPClassifier`."""

    _filter: Filter | None
    """None between the first row and the first target (late labels only)."""
    _coder: RowCoder
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _outputs: int
    _clock: Clock
    _log_discount: float
    """log of the product of all discounts so far."""
    _pending: dict[int | str, tuple[Array, float]]
    """Rows that wait for their label, with `_log_discount` at their arrival."""

    def __init__(
        self,
        forgetting: float | Forgetting = 0.001,
        *,
        fit_intercept: bool = True,
        prior_variance: float = 100.0,
        cap: float | None = 1e6,
    ) -> None:
        self.forgetting = forgetting
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
    ) -> Array:
        """Predict every row before its target is seen, learn it, return the outputs."""
        model = self if self._started() and not restart else self._blank()
        batch = read_batch(model, X, first=model is not self)
        n = len(batch.numbers)
        targets_known = hasattr(model, "_outputs")
        if model is self and not targets_known:
            model = self._twin()  # rows came before, targets are new: take them over only if good
        targets = model._encode(y, n, first=not targets_known, classes=classes)
        weights = row_weights(
            as_rule(self.forgetting),
            n,
            model._clock,
            discount=discount,
            time=time,
            sample_weight=sample_weight,
        )
        if restart and not weights.gain.any():
            raise ValueError("sample_weight is zero for every row: there is nothing to fit")
        outputs = np.empty((n, model._outputs))
        with model._coder.lock:
            coded = model._coder.code(batch, weights.times)
            model._warn_of_haste(coded.width)
            self._become(model)
            self._rebase()
            filter_ = self._open_filter(coded.widths[0][1])
            self._take(batch, coded)
            learn_coded(filter_, coded, targets, weights.discount, weights.gain, outputs)
        self._clock = weights.clock
        self._log_discount += weights.elapsed(n)
        return outputs

    def _predict_outputs(self, X: Any) -> Array:
        check_is_fitted(self)
        batch = read_batch(self, X, first=False)
        with self._coder.lock:
            return self._outputs_of(self._coder.code_to_predict(batch))

    def _outputs_of(self, rows: Array) -> Array:
        outputs = np.zeros((len(rows), getattr(self, "_outputs", 1)))
        if self._filter is not None:
            self._filter.predict(rows, outputs)
        return outputs

    # -- state --------------------------------------------------------------------------------

    @property
    def coded_names_(self) -> NDArray[Any]:
        """Names of the coded columns, one for each weight in `coef_`."""
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
        as_rule(self.forgetting)
        check_prior(self.prior_variance, self.cap)
        blank = type(self)(**self.get_params(deep=False))
        blank._clock = Clock()
        blank._filter = None
        blank._coder = RowCoder()
        blank._log_discount = 0.0
        blank._pending = {}
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
        if self._filter is not None:
            if self._filter.features == width:
                return
            before = self._filter.features + bool(self.fit_intercept)
        d = width + bool(self.fit_intercept)
        rule = as_rule(self.forgetting)
        if isinstance(rule, ByRows) and d * rule.mu > _LARGEST_D_MU >= before * rule.mu:
            warnings.warn(
                f"{d} weights and mu={rule.mu:g} forget faster than {d} rows can teach "
                f"(d mu = {d * rule.mu:.0f}, above {_LARGEST_D_MU:.0f}): the cap keeps the "
                "model finite, but use a smaller mu or fewer features",
                UserWarning,
                stacklevel=4,
            )

    def _open_filter(self, width: int) -> Filter:
        if self._filter is None:
            self._filter = Filter(
                width,
                self._outputs,
                bool(self.fit_intercept),
                float(self.prior_variance),
                math.inf if self.cap is None else float(self.cap),
            )
            if self._log_discount:
                self._filter.forget(max(math.exp(self._log_discount), 1e-300))
        return self._filter

    def _coefficients(self) -> tuple[Array, Array]:
        if getattr(self, "_filter", None) is None:
            raise AttributeError("the weights are known once a row was learned")
        assert self._filter is not None
        return self._filter.coefficients()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags
