"""The experts of the automatic learner, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank, Filter
from dfop.engines.design import CURVES, WIDEST, WIDTHS
from dfop.model.label_targets import LabelTarget
from dfop.model.model import Model

Array = NDArray[np.float64]

__all__ = ["Expert", "bank_of", "describe_features", "experts_of", "weights_of"]


@dataclass(frozen=True)
class Expert:
    """One expert of the automatic learner, and what it is worth now.

    Attributes
    ----------
    features : str
        What it sees: "linear", "rff" or "poly".
    width : float or None
        Of its random Fourier features.
    forgetting : float
        Its mu.
    walk : float
        How far its weights may walk with every row, as a variance; 0 if it only forgets.
    weight : float
        What it counts in the prediction now (mean over outputs). All weights add up to 1; one
        may be negative, where its error helps to correct that of others.
    error : float
        Its mean squared one-step error over the whole stream; of several outputs, their sum.
    recent_error : float
        The same over about the last 500 rows.
    limited_rows : int or None
        On how many rows the cap acted on it; None after loading a file of before it was counted.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = DFOPRegressor(features="linear").fit(X, X[:, 0])
    >>> best = min(model.experts_, key=lambda expert: expert.error)
    >>> best.features, best.error < 0.1
    ('linear', True)
    """

    features: str
    width: float | None
    forgetting: float
    walk: float
    weight: float
    error: float
    recent_error: float
    limited_rows: int | None


_SHOWN = {"linear": "linear", "fourier": "rff", "products": "poly"}


def bank_of(model: Model | None, what: str) -> Bank:
    """Return the bank of a model, or say why there is none."""
    if model is None or model.engine is None:
        raise AttributeError(f"{what} is known once a row was learned")
    if not isinstance(model.engine, Bank):
        raise AttributeError(f'{what} needs the automatic learner: forgetting="auto"')
    return model.engine


def experts_of(model: Model) -> list[Expert]:
    """Describe the experts of a model."""
    bank = bank_of(model, "experts_")
    weights = bank.weights()[model.counted_outputs].mean(axis=0)
    errors = bank.errors()
    maps = bank.maps
    return [
        Expert(
            features=_SHOWN[maps[view][0]],
            width=maps[view][1] if maps[view][0] == "fourier" else None,
            forgetting=mu,
            walk=walk,
            weight=float(weights[k]),
            error=float(errors["mean"][k]),
            recent_error=float(errors["recent"][k]),
            limited_rows=bank.limited_rows(k),
        )
        for k, (view, mu, walk) in enumerate(bank.experts)
    ]


def describe_features(features: Any, bank: Bank) -> str:
    """Say in words what the experts of a bank see."""
    kinds = {kind for kind, _, _ in bank.maps}
    if kinds == {"fourier"}:
        return f"{CURVES} random Fourier features of each of {len(WIDTHS)} widths"
    if kinds == {"products"}:
        return "the features and their products"
    if kinds == {"linear", "fourier"}:
        return f"the features, and {CURVES} random Fourier features of each of {len(WIDTHS)} widths"
    if features == "auto":
        return (
            f"the features alone: {bank.features} are more than {WIDEST}, too many for curves "
            f'(features="rff" insists)'
        )
    return "the features" if isinstance(features, str) else f"what {features!r} makes of them"


def weights_of(model: Model | None) -> tuple[Array, Array]:
    """Return the weights and constants of every output, in the order in which they are shown."""
    if model is None or model.engine is None or not model.target.known:
        raise AttributeError("the weights are known once a row was learned")
    engine = model.engine
    coef, constant = engine.coefficients() if isinstance(engine, Filter) else _of_bank(engine)
    target = model.target
    if not isinstance(target, LabelTarget) or target.classes is None:
        return coef, constant
    if target.always_two:
        return coef * target.sign, constant * target.sign
    if target.margin:  # one output per class is learned in the background
        coef, constant = coef[1:], constant[1:]
    shown, constants = np.empty_like(coef), np.empty_like(constant)
    shown[target.positions], constants[target.positions] = coef, constant
    return shown, constants


def _of_bank(bank: Bank) -> tuple[Array, Array]:
    if any(kind != "linear" for kind, _, _ in bank.maps):
        raise AttributeError(
            "this model has curved experts, so it has no weights of the features: "
            'features="linear" has'
        )
    coef = np.zeros((bank.outputs, bank.features))
    constant = np.zeros(bank.outputs)
    for k, share in enumerate(bank.weights().T):
        of_features, of_one = bank.coefficients(k)
        coef += share[:, np.newaxis] * of_features
        constant += share * of_one
    return coef, constant
