r"""What is believed of the weights before any row: a mean and a covariance, as a filter takes them.

The filter then minimises

.. math:: \sum_{i \le t} \Lambda_{i,t} (y_i - x_i'w)^2 + \Lambda_{0,t} (w - w_0)'P_0^{-1}(w - w_0) ,

in which the prior fades like a row. Weights are in the order of the columns, the constant last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfop.core import Filter

Array = NDArray[np.float64]

_ORDER = "in the order of the columns, the constant last where there is one"
_LEAST_PIVOT = 1e-13
"""Of a variance given those behind it, as a share of the variance: below, it is rounding."""
_ASYMMETRY = 1e-9
_SIZES = (1e-100, 1e100)


class Prior(NamedTuple):
    """A mean, a covariance, or both; by default 0, and the prior variance of each weight."""

    mean: Array | None
    covariance: Array | None

    @classmethod
    def of(cls, mean: Any, covariance: Any) -> Prior:
        """Take over numbers that were checked."""
        known = (None if some is None else np.array(some) for some in (mean, covariance))
        return cls(*known)

    @property
    def weights(self) -> int:
        """How many weights it is of, the constant among them."""
        known = self.mean if self.covariance is None else self.covariance
        assert known is not None
        return int(known.shape[-1])


def checked_mean(given: Any) -> Any:
    """Return a prior mean as tuples, which nobody changes."""
    mean = _numbers("prior_mean", given)
    if mean.ndim not in (1, 2) or mean.size == 0:
        raise ValueError(
            f"prior_mean has shape {mean.shape}: give one number per weight, {_ORDER}; for y of "
            "shape (n, m), m such rows"
        )
    return _frozen(mean)


def checked_covariance(given: Any) -> Any:
    """Return a prior covariance as tuples; refuse what is none.

    Examples
    --------
    >>> checked_covariance([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
    ...
    ValueError: prior_covariance is not positive definite: some mixture of weights would have no ...
    """
    P = _numbers("prior_covariance", given)
    if P.ndim != 2 or P.shape[0] != P.shape[1] or P.size == 0:
        raise ValueError(
            f"prior_covariance has shape {P.shape}: give a square matrix with a row and a column "
            f"per weight, {_ORDER}"
        )
    asymmetry = np.abs(P - P.T).max()
    if asymmetry > _ASYMMETRY * np.abs(P).max():
        i, j = divmod(int(np.abs(P - P.T).argmax()), len(P))
        raise ValueError(
            f"prior_covariance is not symmetric: {P[i, j]:g} at ({i}, {j}) but {P[j, i]:g} at "
            f"({j}, {i}); (P + P.T) / 2 is"
        )
    P = (P + P.T) / 2.0
    variances = P.diagonal()
    outside = ~((variances >= _SIZES[0]) & (variances <= _SIZES[1]))
    if outside.any():
        j = int(np.argmax(outside))
        raise ValueError(
            f"prior_covariance is not positive definite: weight {j} has the variance "
            f"{variances[j]:g}, which must be above 0 (1e-100 to 1e100)"
        )
    size = np.sqrt(variances)
    factors = _factors(P / np.outer(size, size))
    if factors is None or not (factors[1] > _LEAST_PIVOT).all():
        raise ValueError(
            "prior_covariance is not positive definite: some mixture of weights would have no "
            "variance, or a negative one; add a small number to its diagonal, or leave away what "
            "is known for sure"
        )
    return _frozen(P)


def _numbers(name: str, given: Any) -> Array:
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers: it holds NaN or infinity")
    return values


def _frozen(values: Array) -> Any:
    rows = values.tolist()
    return tuple(map(tuple, rows)) if values.ndim == 2 else tuple(rows)


def _factors(P: Array) -> tuple[Array, Array] | None:
    """Return U and D of P = U D U', U unit upper triangular; None where there are none."""
    try:
        lower = np.linalg.cholesky(P[::-1, ::-1])
    except np.linalg.LinAlgError:
        return None
    upper = lower[::-1, ::-1]
    root = upper.diagonal()
    return np.asarray(upper / root), np.asarray(root**2)


def check_sizes(prior: Prior, columns: int, constant: bool) -> None:
    """Refuse a prior that does not have as many weights as the rows have columns."""
    weights = columns + constant
    for name, given in (("prior_mean", prior.mean), ("prior_covariance", prior.covariance)):
        if given is not None and given.shape[-1] != weights:
            raise ValueError(
                f"{name} is of {given.shape[-1]} weights, and there are {weights}, one for each of "
                f"{columns} columns{' and the constant' * constant}: give them {_ORDER}"
            )


def set_prior(engine: Filter, prior: Prior, first: int) -> None:
    """Let a new filter believe a prior of the features from `first` on."""
    d, constant = engine.features + engine.intercept, int(engine.intercept)
    count = prior.weights - constant
    mine = np.r_[np.zeros(constant, int), constant + first + np.arange(count)]
    theirs = np.r_[np.full(constant, count), np.arange(count)]
    P = np.eye(len(mine)) * engine.prior_variance
    if prior.covariance is not None:
        P = prior.covariance[np.ix_(theirs, theirs)]
    factors = _factors(P)
    assert factors is not None
    U, D, weights = np.eye(d), np.zeros(d), np.zeros((engine.outputs, d))
    U[np.ix_(mine, mine)], D[mine] = factors
    if prior.mean is not None:
        weights[:, mine] = np.atleast_2d(prior.mean)[:, theirs]
    engine.set_prior(U, D, weights)
