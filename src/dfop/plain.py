"""Models as plain data (JSON values and float64 tensors) and back, every value checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .classifier import DFOPClassifier
from .coding import RowCoder
from .core import Filter, NamedFilter, restore_filter
from .discounts import Clock
from .forgetting import ByClock, ByRows
from .labels import LabelCode
from .pending import LateLabels
from .plain_coder import Tensors, describe_coder, read_coder
from .regressor import DFOPRegressor

# The tensors there are, and magnitudes far above any that a filter was seen to reach on hostile
# streams (5e97 in U, 3e245 in the weights): what is larger was not written by one.
_LARGEST = {
    "upper": 1e150,
    "D": 1e50,
    "limit": 1e50,
    "scale": 2.0**500,
    "weights": 1e300,
    "waiting_rows": 2.0**500,
    "waiting_stamps": 1e300,
    "sums": 1e300,
    "counts": 1e300,
}


def describe(model: Any) -> tuple[str, dict[str, Any], dict[str, Any], Tensors]:
    """Kind, constructor arguments, state and tensors of a model."""
    kind = _KINDS.get((type(model).__module__, type(model).__name__))
    if kind is None:
        raise TypeError(f"save knows dfop's learners, not {type(model).__name__}")
    named = kind.startswith("river.")
    if not named and not model._started():
        raise ValueError("this model has not seen a row yet: there is nothing to save")
    parameters = {
        "forgetting": _describe_forgetting(model.forgetting),
        "fit_intercept": bool(model.fit_intercept),
        "prior_variance": float(model.prior_variance),
        "cap": None if model.cap is None else float(model.cap),
    }
    filter_ = model._rows.filter if named else model._filter
    if filter_ is not None:
        _check_built_with(filter_, parameters)
    state, tensors = _describe_named(model) if named else _describe_learner(model)
    return kind, parameters, state, tensors


def _check_built_with(filter_: Filter, parameters: dict[str, Any]) -> None:
    """Refuse parameters set after the first row: the file would not go on as the model does."""
    cap = math.inf if parameters["cap"] is None else parameters["cap"]
    twin = Filter(0, 0, False, parameters["prior_variance"], cap)
    for name, now, then in (
        ("fit_intercept", parameters["fit_intercept"], filter_.intercept),
        ("prior_variance", twin.prior_variance, filter_.prior_variance),
        ("cap", twin.cap, filter_.cap),
    ):
        if now != then:
            raise ValueError(
                f"{name} was changed from {then!r} to {now!r} after the first row, which has no "
                "effect: set it back before saving, or fit anew"
            )


def rebuild(document: dict[str, Any], tensors: Tensors) -> Any:
    """Make the model that was described; any value that makes no sense is an error."""
    kind, state = document["kind"], document["state"]
    parameters = dict(document["parameters"])
    if set(parameters) != {"forgetting", "fit_intercept", "prior_variance", "cap"}:
        raise ValueError(f"parameters {sorted(parameters)}")
    parameters["forgetting"] = _read_forgetting(parameters["forgetting"])
    if type(parameters["fit_intercept"]) is not bool:
        raise ValueError(f"fit_intercept {parameters['fit_intercept']!r}")
    for name, tensor in tensors.items():
        if name not in _LARGEST or tensor.dtype != np.float64:
            raise ValueError(f"tensor {name!r} of {tensor.dtype}")
        if not (np.abs(tensor) <= _LARGEST[name]).all():
            raise ValueError(f"tensor {name!r} is not finite, or too large")
    if kind == "DFOPRegressor":
        return _read_learner(DFOPRegressor(**parameters), state, tensors)
    if kind == "DFOPClassifier":
        return _read_learner(DFOPClassifier(**parameters), state, tensors)
    if kind in ("river.DFOPRegressor", "river.DFOPClassifier"):
        from . import river

        return _read_named(
            getattr(river, kind.removeprefix("river."))(**parameters), state, tensors
        )
    raise ValueError(f"kind {kind!r} is unknown")


_KINDS = {
    ("dfop.regressor", "DFOPRegressor"): "DFOPRegressor",
    ("dfop.classifier", "DFOPClassifier"): "DFOPClassifier",
    ("dfop.river", "DFOPRegressor"): "river.DFOPRegressor",
    ("dfop.river", "DFOPClassifier"): "river.DFOPClassifier",
}


def _describe_learner(model: LateLabels) -> tuple[dict[str, Any], Tensors]:
    state: dict[str, Any] = {
        "n_features": int(model.n_features_in_),
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", [])] or None,
        "log_discount": model._log_discount,
        "clock": [model._clock.last, model._clock.datetimes],
        "waiting": list(model._pending),
        "outputs": getattr(model, "_outputs", None),
        "flat": getattr(model, "_flat", None),
        "filter": None,
    }
    tensors: Tensors = {}
    state["columns"] = describe_coder(model._coder, tensors)
    if model._pending:
        tensors["waiting_rows"] = model._waiting_rows(model._pending)
        tensors["waiting_stamps"] = np.array([stamp for _, stamp in model._pending.values()])
    if isinstance(model, DFOPClassifier) and hasattr(model, "_codes"):
        state["classes"] = [_describe_labels(code.classes) for code in model._codes]
    if model._filter is not None:
        state["filter"] = _describe_filter(model._filter, tensors)
    return state, tensors


def _read_learner(model: Any, state: dict[str, Any], tensors: Tensors) -> Any:
    fresh = model._blank()
    features = _whole(state["n_features"])
    fresh.n_features_in_ = features
    if state["feature_names"] is not None:
        names = _texts(state["feature_names"])
        if len(names) != features:
            raise ValueError("one name per feature is needed")
        fresh.feature_names_in_ = np.array(names, dtype=object)
    fresh._coder = _read_columns(state, range(features), tensors)
    fresh._log_discount = _number(state["log_discount"])
    last, datetimes = state["clock"]
    if last is not None and type(last) is not (int if datetimes else float):
        raise ValueError(f"clock {last!r}")
    fresh._clock = Clock(last, bool(datetimes))
    keys = state["waiting"]
    if keys:
        rows, stamps = tensors["waiting_rows"], tensors["waiting_stamps"]
        if rows.shape != (len(keys), fresh._coder.width) or stamps.shape != (len(keys),):
            raise ValueError("waiting rows of the wrong shape")
        if not all(type(key) in (int, str) for key in keys) or len(set(keys)) != len(keys):
            raise ValueError("keys of waiting rows")
        fresh._pending = {
            key: (row.copy(), float(stamp))
            for key, row, stamp in zip(keys, rows, stamps, strict=True)
        }
    if state["outputs"] is not None:
        fresh._outputs = _whole(state["outputs"])
        if type(state["flat"]) is not bool:
            raise ValueError(f"flat is {state['flat']!r}")
        fresh._flat = state["flat"]
        if isinstance(fresh, DFOPClassifier):
            fresh._codes = [LabelCode(_read_labels(classes)) for classes in state["classes"]]
            if sum(code.outputs for code in fresh._codes) != fresh._outputs:
                raise ValueError("classes that do not fit the outputs")
        elif fresh._flat and fresh._outputs != 1:
            raise ValueError("several outputs for one target")
    if state["filter"] is not None:
        fresh._filter = _read_filter(fresh, state["filter"], tensors)
        if fresh._filter.outputs != fresh._outputs:
            raise ValueError("a filter of the wrong size")
        if fresh._filter.features != fresh._coder.width:
            raise ValueError("a filter that does not fit the coded columns")
    return fresh


def _describe_named(model: Any) -> tuple[dict[str, Any], Tensors]:
    tensors: Tensors = {}
    coder = model._rows.coder
    state = {
        "names": _describe_hashables(coder.columns, "feature name"),
        "columns": describe_coder(coder, tensors),
        "classes": _describe_hashables(getattr(model, "_classes", []), "class"),
        "filter": _describe_filter(model._rows.filter, tensors),
    }
    return state, tensors


def _read_named(model: Any, state: dict[str, Any], tensors: Tensors) -> Any:
    names, classes = state["names"], state["classes"]
    filter_ = _read_filter(model, state["filter"], tensors)
    for values in (names, classes):
        _describe_hashables(values, "entry")
        if len(set(values)) != len(values):
            raise ValueError("equal names")
    outputs = 1
    if hasattr(model, "_classes"):
        model._classes = {label: k for k, label in enumerate(classes)}
        outputs = len(classes)
    coder = _read_columns(state, names, tensors)
    if coder.width != filter_.features or filter_.outputs != outputs:
        raise ValueError("a filter of the wrong size")
    model._use(NamedFilter(filter_, coder, model._rows.discount))
    return model


# -- the parts --------------------------------------------------------------------------------


def _read_columns(state: dict[str, Any], keys: Any, tensors: Tensors) -> RowCoder:
    if "columns" in state:
        return read_coder(state["columns"], keys, tensors)
    if len(keys) > 10**6:  # numbers in a file are free, columns are not
        raise ValueError(f"{len(keys)} columns")
    return RowCoder.of_numbers(keys)  # written when rows were numbers only


def _describe_filter(filter_: Filter, tensors: Tensors) -> dict[str, Any]:
    snapshot = filter_.snapshot()
    for name in ("upper", "D", "limit", "scale", "weights"):
        tensors[name] = snapshot[name]
    return {name: snapshot[name] for name in ("unseen_variance", "faded")}


def _read_filter(model: Any, described: dict[str, Any], tensors: Tensors) -> Filter:
    upper, D, scale, weights = (tensors[name] for name in ("upper", "D", "scale", "weights"))
    limit = tensors["limit"]
    unseen, faded = (_number(described[name]) for name in ("unseen_variance", "faded"))
    d = D.size
    if (
        upper.shape != (d * (d - 1) // 2,)
        or scale.shape != D.shape
        or D.ndim != 1
        or limit.shape != D.shape
    ):
        raise ValueError("tensors of the wrong shape")
    if weights.ndim != 2 or weights.shape[1] != d:
        raise ValueError("weights of the wrong shape")
    fraction, exponent = np.frexp(scale)
    if not (
        (limit > 0).all()
        and (D > 0).all()
        and (fraction == 0.5).all()
        and (np.abs(exponent - 1) <= 500).all()
    ):
        raise ValueError("variances or scales out of range")
    if not (0.0 < unseen <= 1e100 and 1.0 <= faded <= 1e3):
        raise ValueError("a variance out of range")
    state = {
        "upper": upper,
        "D": D,
        "limit": limit,
        "scale": scale,
        "weights": weights,
        "unseen_variance": unseen,
        "faded": faded,
    }
    intercept = bool(model.fit_intercept)
    if d < intercept:
        raise ValueError("no intercept")
    return restore_filter(
        d - intercept,
        len(weights),
        intercept,
        float(model.prior_variance),
        math.inf if model.cap is None else float(model.cap),
        state,
    )


def _describe_forgetting(forgetting: Any) -> Any:
    if isinstance(forgetting, ByRows):
        return {"by_rows": forgetting.mu}
    if isinstance(forgetting, ByClock):
        return {"by_clock": forgetting.period}
    return float(forgetting)


def _read_forgetting(described: Any) -> Any:
    if isinstance(described, dict):
        ((kind, value),) = described.items()
        return {"by_rows": ByRows, "by_clock": ByClock}[kind](_number(value))
    return _number(described)


def _describe_labels(classes: NDArray[Any]) -> dict[str, Any]:
    return {
        "dtype": "object" if classes.dtype == object else classes.dtype.str,
        "values": _describe_hashables(classes.tolist(), "class"),
    }


def _read_labels(described: dict[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(described["dtype"])
    if dtype.kind not in "biufUO":
        raise ValueError(f"labels of type {dtype}")
    values = _describe_hashables(described["values"], "class")
    classes = np.array(values, dtype=dtype)
    if classes.ndim != 1 or classes.size == 0 or not (classes[:-1] < classes[1:]).all():
        raise ValueError("labels that are not sorted")
    return classes


def _describe_hashables(values: Any, what: str) -> list[Any]:
    described = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in described:
        if not isinstance(value, str | int | float | bool):
            raise TypeError(f"the {what} {value!r} cannot be saved: use text, numbers or booleans")
    return described


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no finite number")
    return float(value)


def _texts(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("names that are no texts")
    return values
