"""Settings: what a model was made with, checked once and frozen when its first row comes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from dfop.engines import is_bank
from dfop.forgetting import Automatic, ByClock, Forgetting, as_rule, seconds_of


@dataclass(frozen=True)
class Settings:
    """The parameters of a model; see `dfop.DFOPRegressor` for what each means.

    Examples
    --------
    >>> Settings.of(forgetting=0.001).rule
    ByRows(mu=0.001)
    >>> Settings.of(forgetting="auto", lags=-1)
    Traceback (most recent call last):
    ...
    ValueError: lags=-1 must be a whole number from 0 to 1000: how many of the last labels are ...
    """

    rule: Forgetting
    features: Any = "auto"
    lags: int = 0
    fit_intercept: bool = True
    prior_variance: float | None = None
    cap: float | None = 1e6
    pending_limit: int = 100_000
    pending_expiry: int | float | None = None
    """A whole number of rows, or a float: seconds."""
    max_classes: int = 1000
    max_features: int = 1000
    threads: int = 1
    """The one that may change at any time, as no result depends on it."""

    @classmethod
    def of(cls, *, forgetting: Any, **parameters: Any) -> Settings:
        """Check parameters as a user gives them."""
        rule = as_rule(forgetting)
        expiry = parameters.get("pending_expiry")
        if isinstance(expiry, str):
            parameters["pending_expiry"] = seconds_of(expiry)
        given = cls(rule, **parameters)
        _check_prior(given.prior_variance, given.cap)
        _check_features(given.features)
        _check_whole(
            "lags", given.lags, 0, 1000, "how many of the last labels are features of a row"
        )
        _check_whole("pending_limit", given.pending_limit, 1, 10**9, "how many rows may wait")
        _check_whole("max_classes", given.max_classes, 2, 10**6, "how many classes there may be")
        _check_whole("max_features", given.max_features, 1, 10**6, "how many names have weights")
        _check_whole(
            "threads", given.threads, 1, 256, "on how many threads the experts learn (1: no others)"
        )
        _check_expiry(given.pending_expiry, rule)
        if isinstance(rule, ByClock) and given.several_experts:
            raise ValueError(
                f'features={given.features!r} needs a forgetting by rows, or "auto": several '
                "experts cannot forget by the clock"
            )
        return given

    def __post_init__(self) -> None:
        # Asked of every row, so worked out once.
        several = is_bank(self.rule, self.features)
        object.__setattr__(self, "several_experts", several)
        object.__setattr__(self, "pace", Automatic() if several else self.rule)

    several_experts: ClassVar[bool]
    """Whether the engine is a bank."""
    pace: ClassVar[Forgetting]
    """The rule by which rows are weighted: a bank's experts have each their own."""

    @property
    def transformer(self) -> Any:
        """Return `features` where it is a transformer, else None."""
        return None if isinstance(self.features, str) else self.features

    def check_same(self, now: Settings) -> None:
        """Refuse parameters that were changed after the first row: they would have no effect."""
        for field in fields(self):
            if field.name == "threads":
                continue
            before, after = getattr(self, field.name), getattr(now, field.name)
            if before is not after and before != after:
                name = "forgetting" if field.name == "rule" else field.name
                raise ValueError(
                    f"{name} was changed from {before!r} to {after!r} after the first row, which "
                    "this model was not made with: set it back, or start anew with fit or a fresh "
                    "model"
                )


def _check_prior(prior_variance: Any, cap: Any) -> None:
    if prior_variance is not None and not (
        _is_number(prior_variance) and 0.0 < prior_variance <= 1e100
    ):
        raise ValueError(
            f"prior_variance={prior_variance!r} must be a positive number: the variance of the "
            "weights before any row (100 is a weak prior)"
        )
    if cap is not None and not (_is_number(cap) and cap >= 1.0):
        raise ValueError(
            f"cap={cap!r} must be a number of at least 1, or None for the plain recursion that "
            "can wind up"
        )


def _check_features(features: Any) -> None:
    named = isinstance(features, str) and features in ("auto", "linear", "rff", "poly")
    if not (named or (hasattr(features, "fit") and hasattr(features, "transform"))):
        raise ValueError(
            f'features={features!r} is not known: give "auto", "linear", "rff", "poly", or a '
            "scikit-learn transformer that learns nothing from the data"
        )


def _check_whole(name: str, value: Any, least: int, most: int, meaning: str) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and least <= value <= most):
        raise ValueError(
            f"{name}={value!r} must be a whole number from {least} to {most}: {meaning}"
        )


def _check_expiry(expiry: Any, rule: Forgetting) -> None:
    if expiry is None:
        return
    if not (_is_number(expiry) and expiry > 0):
        raise ValueError(
            f"pending_expiry={expiry!r} must be a number of rows or a duration such as '3d': how "
            "long a row waits for its label"
        )
    if isinstance(expiry, float) and not isinstance(rule, ByClock):
        raise ValueError(
            f"pending_expiry={expiry!r} is a duration, which needs a model that forgets by the "
            "clock: give a whole number of rows"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
