"""The experts of the automatic learner, and what each is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.core import Bank
from dfop.engines.design import GIVEN, KINDS
from dfop.model.label_targets import LabelTarget
from dfop.model.model import Model

Array = NDArray[np.float64]

__all__ = ["Expert", "bank_of", "describe_features", "experts_of", "weights_of"]


@dataclass(frozen=True)
class Expert:
    """One expert of the automatic learner, and what it is worth now.

    Attributes
    ----------
    kind : str
        "filter" (recursive least squares), or what else it is: a key of
        `dfop.engines.design.KINDS`, or the class of an expert of your own.
    features : str or None
        What a filter sees: "linear", "rff", "sparse rff" (waves of two features each),
        "poly" or "ranks".
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
        On how many rows the cap acted on it; None where it is no filter, and after loading a file
        of before it was counted.

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

    kind: str
    features: str | None
    width: float | None
    forgetting: float
    walk: float
    weight: float
    error: float
    recent_error: float
    limited_rows: int | None


_SHOWN = {
    "linear": "linear",
    "fourier": "rff",
    "products": "poly",
    "sparse": "sparse rff",
    "ranks": "ranks",
}
_WORDS = {
    "linear": "the features",
    "fourier": "{} waves of all features",
    "sparse": "{} waves of two features each",
    "products": "the features and their products",
    "ranks": "their ranks",
}


def bank_of(model: Model | None, what: str) -> Bank:
    """Return the bank of a model, or say why there is none."""
    if model is None or model.engine is None:
        raise AttributeError(f"{what} is known once a row was learned")
    if not isinstance(model.engine, Bank):
        raise AttributeError(
            f'{what} needs the automatic learner: forgetting="auto", and where rows are sparse no '
            "more than 1,000 columns"
        )
    return model.engine


def experts_of(model: Model) -> list[Expert]:
    """Describe the experts of a model."""
    bank = bank_of(model, "experts_")
    weights = bank.weights()[model.counted_outputs].mean(axis=0)
    errors = bank.errors()
    own = iter(model.own.names if model.own is not None else ())
    return [
        Expert(
            **_described(bank, view, next(own) if view == GIVEN[0] else None),
            forgetting=mu,
            walk=walk,
            weight=float(weights[k]),
            error=float(errors["mean"][k]),
            recent_error=float(errors["recent"][k]),
            limited_rows=None if isinstance(view, str) else bank.limited_rows(k),
        )
        for k, (view, mu, walk) in enumerate(bank.experts)
    ]


def _described(bank: Bank, view: int | str, own: str | None) -> dict[str, Any]:
    """Say what an expert is and what it sees."""
    if isinstance(view, str):
        return {"kind": own or view, "features": None, "width": None}
    seen, width, count = bank.maps[view]
    return {"kind": "filter", "features": _SHOWN[seen], "width": width if count else None}


def describe_features(features: Any, bank: Bank, own: Sequence[str] = ()) -> str:
    """Say in words what the experts of a bank see; `own` are names of the user's experts."""
    if not isinstance(features, str):
        return f"what {features!r} makes of them"
    views: dict[str, int] = {}
    for kind, _, count in bank.maps:
        views[kind] = views.get(kind, 0) + count
    seen = ", ".join(_WORDS[kind].format(count) for kind, count in views.items())
    others = [KINDS[kind] for kind in dict.fromkeys(_other_kinds(bank))]
    others += [f"your {name}" for name in own]
    return f"{seen}; and beside filters: {', '.join(others)}" if others else seen


def _other_kinds(bank: Bank) -> list[str]:
    """Return the experts of the pool that are no filters, by name."""
    return [view for view, _, _ in bank.experts if view in KINDS]


def weights_of(model: Model | None) -> tuple[Array, Array]:
    """Return the weights and constants of every output, in the order in which they are shown."""
    if model is None or model.engine is None or not model.target.known:
        raise AttributeError("the weights are known once a row was learned")
    engine = model.engine
    coef, constant = _of_bank(engine) if isinstance(engine, Bank) else engine.coefficients()
    target = model.target
    if not isinstance(target, LabelTarget) or target.classes is None:
        return coef, constant
    if target.always_two:
        return coef * target.sign, constant * target.sign
    if target.margin:  # one output per class is learned in the background
        coef, constant = coef[1:], constant[1:]
    count = len(target.classes)  # the output to spare for the next class is none of them
    coef, constant = coef[:count], constant[:count]
    shown, constants = np.empty_like(coef), np.empty_like(constant)
    shown[target.positions], constants[target.positions] = coef, constant
    return shown, constants


def _of_bank(bank: Bank) -> tuple[Array, Array]:
    if any(kind != "linear" for kind, _, _ in bank.maps):
        raise AttributeError(
            "this model has curved experts, so it has no weights of the features: "
            'features="linear" has'
        )
    if bank.own:
        raise AttributeError(
            "this model has experts of your own, so it has no weights of the features"
        )
    coef = np.zeros((bank.outputs, bank.features))
    constant = np.zeros(bank.outputs)
    for k, share in enumerate(bank.weights().T):
        of_features, of_one = bank.coefficients(k)
        coef += share[:, np.newaxis] * of_features
        constant += share * of_one
    return coef, constant
