"""Settings: what a model was made with, checked once and frozen when its first row comes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dfop.engines import is_bank
from dfop.engines.design import SPARSE_DIRECTIONS, SPARSE_FORGETTING
from dfop.engines.prior import Prior, checked_covariance, checked_mean
from dfop.forgetting import Automatic, ByClock, ByRows, Few, Forgetting, as_rule, seconds_of
from dfop.rows.weights import RowTimes, RowWeights, constant_weights


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
    prior_mean: Any = None
    prior_covariance: Any = None
    """Tuples, or None; `prior` has them as arrays."""
    cap: float | None = 1e6
    pending_limit: int = 100_000
    pending_expiry: int | float | None = None
    """A whole number of rows, or a float: seconds."""
    max_classes: int = 1000
    max_features: int = 1000
    storage: int | None = None
    """How many directions a sketch keeps; None: all, exactly."""
    guarantee: bool = False
    """Whether the sketch bounds what it leaves out."""
    monitor: bool = False
    """Whether a single filter has a monitor, too; a bank always has one."""
    semi: bool = False
    """Whether targets may be missing."""
    experts: tuple[Any, ...] | None = None
    """The user's own, beside those of the bank; None: there are none."""
    threads: int = 1
    """The one that may change at any time, as no result depends on it."""

    @classmethod
    def of(cls, *, forgetting: Any, **parameters: Any) -> Settings:
        """Check parameters as a user gives them."""
        rule = as_rule(forgetting)
        expiry = parameters.get("pending_expiry")
        if isinstance(expiry, str):
            parameters["pending_expiry"] = seconds_of(expiry)
        for name, check in (
            ("prior_mean", checked_mean),
            ("prior_covariance", checked_covariance),
        ):
            if parameters.get(name) is not None:
                parameters[name] = check(parameters[name])
        experts = parameters.get("experts")
        if isinstance(experts, list | tuple):
            parameters["experts"] = tuple(experts) or None
        given = cls(rule, **parameters)
        _check_prior(given.prior_variance, given.cap)
        _check_matrix(given)
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
        _check_storage(given)
        check_truth("monitor", given.monitor, "whether a single filter keeps an eye on its errors")
        check_truth("semi", given.semi, "whether rows may come without a target")
        if isinstance(rule, Few) and given.features not in ("auto", "linear"):
            raise ValueError(
                f'forgetting="few" is of linear filters: leave out features={given.features!r}, or '
                'give forgetting="auto"'
            )
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
        object.__setattr__(self, "monitored", several or bool(self.monitor))
        believed = self.prior_mean is not None or self.prior_covariance is not None
        prior = Prior.of(self.prior_mean, self.prior_covariance) if believed else None
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "pace", Automatic() if several else self.rule)
        object.__setattr__(self, "unweighted", constant_weights(self.pace))
        object.__setattr__(self, "given", self)

    several_experts: ClassVar[bool]
    """Whether the engine is a bank."""
    monitored: ClassVar[bool]
    """Whether there are intervals, calibrated probabilities and alarms."""
    prior: ClassVar[Prior | None]
    """What more is believed of the weights than one variance."""
    pace: ClassVar[Forgetting]
    """The rule by which rows are weighted: a bank's experts have each their own."""
    unweighted: ClassVar[RowWeights | RowTimes | None]
    """What rows weigh of which nothing is said; None where their time must be."""
    given: ClassVar[Settings]
    """What the user gave, where sparse rows have made a sketch of the default."""

    def for_wide_sparse_rows(self) -> Settings:
        """Return what is meant where sparse rows have more columns than are made dense.

        The default is then one sketch: its bank would keep the rows' squares, and has no way to
        go by their non-zeros. All else stays as it is, and is refused with its rows.

        Examples
        --------
        >>> sketch = Settings.of(forgetting="auto").for_wide_sparse_rows()
        >>> sketch.rule, sketch.storage
        (ByRows(mu=0.0003), 20)
        """
        plain = isinstance(self.features, str) and self.features in ("auto", "linear")
        automatic = isinstance(self.rule, Automatic) and not isinstance(self.rule, Few)
        if not (plain and automatic) or self.experts is not None or self.semi:
            return self
        sketch = replace(self, rule=ByRows(SPARSE_FORGETTING), storage=SPARSE_DIRECTIONS,
                         monitor=False)  # fmt: skip
        object.__setattr__(sketch, "given", self)
        return sketch

    @property
    def largest_prior(self) -> float | None:
        """The variance of a weight of which nothing else is believed."""
        if self.prior is None or self.prior.covariance is None:
            return self.prior_variance
        return float(self.prior.covariance.diagonal().max())

    @property
    def transformer(self) -> Any:
        """Return `features` where it is a transformer, else None."""
        return None if isinstance(self.features, str) else self.features

    def check_same(self, now: Settings) -> None:
        """Refuse parameters that were changed after the first row: they would have no effect."""
        for field in fields(self):
            if field.name == "threads":
                continue
            before, after = getattr(self.given, field.name), getattr(now, field.name)
            if before is not after and before != after:
                name = "forgetting" if field.name == "rule" else field.name
                raise ValueError(
                    f"{name} was changed from {before!r} to {after!r} after the first row, which "
                    "this model was not made with: set it back, or start anew with fit or a fresh "
                    "model"
                )


_PLAIN = frozenset({str, float, int, bool, type(None)})


def settings_of(names: tuple[str, ...], values: tuple[Any, ...]) -> Settings:
    """Check parameters as `Settings.of` does; plain ones that were checked before are not again.

    A fresh model for a few rows would spend more time on its settings than on the rows.
    """
    if _PLAIN.issuperset(map(type, values)):
        return _checked_before(names, *values)
    return Settings.of(**dict(zip(names, values, strict=True)))


@lru_cache(maxsize=128, typed=True)  # typed: True is no 1
def _checked_before(names: tuple[str, ...], *values: Any) -> Settings:
    return Settings.of(**dict(zip(names, values, strict=True)))


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


def _check_matrix(given: Settings) -> None:
    if given.prior is None:
        return
    name = "prior_mean" if given.prior_mean is not None else "prior_covariance"
    if given.several_experts or given.transformer is not None:
        raise ValueError(
            f"{name} is of the weights of a single filter on the columns as they are: give a "
            'forgetting, such as 0.001, and features="linear"'
        )
    if given.prior_covariance is not None and given.prior_variance is not None:
        raise ValueError(
            "give prior_variance or prior_covariance, not both: each says how sure the prior is"
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


def _check_storage(given: Settings) -> None:
    check_truth("guarantee", given.guarantee, "whether storage= bounds what it leaves out")
    if given.storage is None:
        if given.guarantee:
            raise ValueError(
                "guarantee=True is of a sketch: give its size, such as storage=20, or set it back "
                "to False"
            )
        return
    _check_whole(
        "storage", given.storage, 1, 1000, "how many directions are kept beside a diagonal"
    )
    if given.several_experts:
        raise ValueError(
            f"storage={given.storage} needs a single filter: give a forgetting such as "
            'forgetting=0.0001 and features="linear", or set it back to None'
        )
    for name in ("prior_mean", "prior_covariance", "monitor", "semi"):
        if getattr(given, name) not in (None, False):
            raise ValueError(
                f"{name}= needs the whole covariance, of which storage={given.storage} keeps a "
                "sketch: leave out one of them"
            )


def check_truth(name: str, value: Any, meaning: str) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False: {meaning}")


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
            f"pending_expiry is a duration ({expiry:g} seconds), which needs a model that forgets "
            "by the clock: give a whole number of rows, such as 1000"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
