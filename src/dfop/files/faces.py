"""The four learners and their parameters: what a file calls them, and back."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np

from dfop.classifier import DFOPClassifier
from dfop.forgetting import Automatic, ByClock, ByRows, Few, as_rule
from dfop.model.model import Model
from dfop.regressor import DFOPRegressor

from .values import number, truth

_KINDS = {
    ("dfop.regressor", "DFOPRegressor"): "DFOPRegressor",
    ("dfop.classifier", "DFOPClassifier"): "DFOPClassifier",
    ("dfop.river", "DFOPRegressor"): "river.DFOPRegressor",
    ("dfop.river", "DFOPClassifier"): "river.DFOPClassifier",
}


class Face(Protocol):
    """A learner as users have it, around one `Model`."""

    features: Any
    experts: Any

    def __dfop_model__(self) -> Model | None:
        """Return the model; refuse parameters changed since its first row."""

    def __dfop_resume__(self, model: Model) -> None:
        """Go on with a model."""


def kind_of(face: Any) -> str:
    """Return what a file calls a learner."""
    kind = _KINDS.get((type(face).__module__, type(face).__name__))
    if kind is None:
        raise TypeError(f"save knows dfop's learners, not {type(face).__name__}")
    return kind


def class_of(kind: Any) -> Any:
    """Return the learner that a file calls `kind`."""
    if kind == "DFOPRegressor":
        return DFOPRegressor
    if kind == "DFOPClassifier":
        return DFOPClassifier
    if kind not in _KINDS.values():
        raise ValueError(f"kind {kind!r} is unknown")
    from dfop import river  # River need not be there for the others

    return getattr(river, kind.removeprefix("river."))


@cache
def _defaults(kind: type) -> Mapping[str, Any]:
    """Return the parameters that a file can hold, and their defaults."""
    parameters = inspect.signature(kind).parameters
    return {name: p.default for name, p in parameters.items() if name != "experts"}


ARRAYS = ("prior_mean", "prior_covariance")
"""Parameters that a file holds as arrays."""


def describe_parameters(face: Face) -> dict[str, Any]:
    """Return the constructor's arguments as JSON has them."""
    if not isinstance(face.features, str):
        raise TypeError(
            f"features={face.features!r} cannot be saved, since a model file holds no code: "
            'transform X before the model and use features="linear", or pickle the model'
        )
    if face.experts:
        raise TypeError(
            "a model with experts= of your own cannot be saved, since a model file holds no code "
            "and theirs is not ours: pickle the model, or leave out experts="
        )
    described = {
        name: _plain(getattr(face, name)) for name in _defaults(type(face)) if name not in ARRAYS
    }
    described["forgetting"] = describe_forgetting(described["forgetting"])
    return described


def read_parameters(kind: Any, described: Any) -> dict[str, Any]:
    """Return the constructor's arguments; those that the file does not know have their default."""
    defaults = _defaults(class_of(kind))
    if type(described) is not dict or not described.keys() <= defaults.keys():
        raise ValueError(f"parameters {described!r}")
    truth(described["fit_intercept"])
    truth(described.get("monitor", False))
    truth(described.get("semi", False))
    truth(described.get("guarantee", False))
    if type(described["features"]) is not str:
        raise ValueError(f"features {described['features']!r}")
    forgetting = read_forgetting(described["forgetting"])
    return {**defaults, **described, "forgetting": forgetting}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def describe_forgetting(forgetting: Any) -> Any:
    """Return a rule of forgetting as JSON has it."""
    if isinstance(forgetting, ByRows):
        return {"by_rows": forgetting.mu}
    if isinstance(forgetting, ByClock):
        return {"by_clock": forgetting.period}
    rule = as_rule(forgetting)
    if isinstance(rule, Automatic):
        return "few" if isinstance(rule, Few) else "auto"
    return float(forgetting)


def read_forgetting(described: Any) -> Any:
    """Return the rule of forgetting that was described."""
    if described in ("auto", "few"):
        return described
    if isinstance(described, dict):
        ((kind, value),) = described.items()
        return {"by_rows": ByRows, "by_clock": ByClock}[kind](number(value))
    return number(described)
