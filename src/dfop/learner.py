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

from .core import Filter
from .discounts import Clock, row_weights
from .forgetting import ByClock, ByRows, Forgetting, as_rule
from .validation import check_prior, check_rows

Array = NDArray[np.float64]

# Where d mu is larger, lam^d is below 1e-8: forgetting outruns what d rows can teach.
_LARGEST_D_MU = 18.0


class Learner(BaseEstimator, ABC):
    """Base of `DFOPRegressor` and `DFOPClassifier`."""

    _filter: Filter | None
    """None between the first row and the first target (late labels only)."""
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
        rows = check_rows(model, X, first=model is not self)
        targets_known = hasattr(model, "_outputs")
        if model is self and not targets_known:
            model = self._twin()  # rows came before, targets are new: take them over only if good
        targets = model._encode(y, len(rows), first=not targets_known, classes=classes)
        weights = row_weights(
            as_rule(self.forgetting),
            len(rows),
            model._clock,
            discount=discount,
            time=time,
            sample_weight=sample_weight,
        )
        if restart and not weights.gain.any():
            raise ValueError("sample_weight is zero for every row: there is nothing to fit")
        outputs = np.empty((len(rows), model._outputs))
        model._warn_of_haste()
        self._become(model)
        self._rebase()
        self._open_filter().learn(rows, targets, weights.discount, weights.gain, outputs)
        self._clock = weights.clock
        self._log_discount += weights.elapsed(len(rows))
        return outputs

    def _predict_outputs(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._outputs_of(check_rows(self, X, first=False))

    def _outputs_of(self, rows: Array) -> Array:
        outputs = np.zeros((len(rows), getattr(self, "_outputs", 1)))
        if self._filter is not None:
            self._filter.predict(rows, outputs)
        return outputs

    # -- state --------------------------------------------------------------------------------

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

    def _warn_of_haste(self) -> None:
        d = self.n_features_in_ + bool(self.fit_intercept)
        rule = as_rule(self.forgetting)
        if self._filter is None and isinstance(rule, ByRows) and d * rule.mu > _LARGEST_D_MU:
            warnings.warn(
                f"{d} weights and mu={rule.mu:g} forget faster than {d} rows can teach "
                f"(d mu = {d * rule.mu:.0f}, above {_LARGEST_D_MU:.0f}): the cap keeps the "
                "model finite, but use a smaller mu or fewer features",
                UserWarning,
                stacklevel=4,
            )

    def _open_filter(self) -> Filter:
        if self._filter is None:
            self._filter = Filter(
                self.n_features_in_,
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
