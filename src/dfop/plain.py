"""Models as plain data (JSON values and float64 tensors) and back, every value checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .classifier import DFOPClassifier
from .coding import RowCoder
from .core import Bank, Filter, NamedFilter, restore_filter
from .discounts import Clock
from .forgetting import Automatic, ByClock, ByRows, as_rule
from .labels import LabelCode
from .lags import Lags
from .learner import PRIOR_VARIANCE
from .pending import LateLabels
from .plain_bank import check_design, describe_bank, read_bank
from .plain_coder import describe_coder, read_coder
from .plain_filter import describe_state, read_state
from .plain_values import Tensors, number, tensor, texts, truth, whole, within
from .plain_watch import describe_watch, read_watch
from .regressor import DFOPRegressor
from .watch import Watch

_FIRST_PARAMETERS = {"forgetting", "fit_intercept", "prior_variance", "cap"}
_PARAMETERS = _FIRST_PARAMETERS | {"features", "lags"}


def describe(model: Any) -> tuple[str, dict[str, Any], dict[str, Any], Tensors]:
    """Kind, constructor arguments, state and tensors of a model."""
    kind = _KINDS.get((type(model).__module__, type(model).__name__))
    if kind is None:
        raise TypeError(f"save knows dfop's learners, not {type(model).__name__}")
    named = kind.startswith("river.")
    if not named and not model._started():
        raise ValueError("this model has not seen a row yet: there is nothing to save")
    if not isinstance(model.features, str):
        raise TypeError(
            f"features={model.features!r} cannot be saved, since a model file holds no code: "
            'transform X before the model and use features="linear", or pickle the model'
        )
    parameters = {
        "forgetting": _describe_forgetting(model.forgetting),
        "features": model.features,
        "lags": int(model.lags),
        "fit_intercept": bool(model.fit_intercept),
        "prior_variance": None if model.prior_variance is None else float(model.prior_variance),
        "cap": None if model.cap is None else float(model.cap),
    }
    if model._filter is not None:
        _check_built_with(model, parameters)
    state, tensors = _describe_named(model) if named else _describe_learner(model)
    return kind, parameters, state, tensors


def _check_built_with(model: Any, parameters: dict[str, Any]) -> None:
    """Refuse parameters set after the first row: the file would not go on as the model does."""
    learner, prior = model._filter, parameters["prior_variance"]
    is_bank = isinstance(learner, Bank)
    cap = math.inf if parameters["cap"] is None else parameters["cap"]
    twin = Filter(0, 0, False, PRIOR_VARIANCE if prior is None else prior, cap)
    changed = [
        ("fit_intercept", parameters["fit_intercept"], learner.intercept),
        ("cap", twin.cap, min(learner.cap, 1e40)),
    ]
    if is_bank and learner.relative_prior:
        changed.append(("prior_variance", prior, None))
    else:
        changed.append(("prior_variance", twin.prior_variance, learner.prior_variance))
    if isinstance(model, LateLabels):
        changed.append(("lags", parameters["lags"], len(model._lags.labels)))
    for name, now, then in changed:
        if now != then:
            raise ValueError(
                f"{name} was changed from {then!r} to {now!r} after the first row, which has no "
                "effect: set it back before saving, or fit anew"
            )
    rule = as_rule(model.forgetting)
    if model._is_bank(rule) != is_bank:
        raise ValueError(
            f"forgetting={model.forgetting!r} and features={model.features!r} are not what the "
            "model was made with: set them back before saving, or fit anew"
        )
    if is_bank:
        check_design(model.features, rule, learner)


class _Read(dict[str, Any]):
    """Tensors, of which it is known which were read: what nobody reads was not checked."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__(tensors)
        self.taken: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.taken.add(name)
        return super().__getitem__(name)


def rebuild(document: dict[str, Any], tensors: Tensors) -> Any:
    """Make the model that was described; any value that makes no sense is an error."""
    kind, state = document["kind"], document["state"]
    parameters = dict(document["parameters"])
    if set(parameters) != (_FIRST_PARAMETERS if document["format"] == 1 else _PARAMETERS):
        raise ValueError(f"parameters {sorted(parameters)}")
    parameters["forgetting"] = _read_forgetting(parameters["forgetting"])
    truth(parameters["fit_intercept"])
    if type(parameters.get("features", "")) is not str:
        raise ValueError(f"features {parameters['features']!r}")
    for name, values in tensors.items():
        if values.dtype != np.float64 or not np.isfinite(values).all():
            raise ValueError(f"tensor {name!r} of {values.dtype} is not finite")
    read = _Read(tensors)
    if kind == "DFOPRegressor":
        model = _read_learner(DFOPRegressor(**parameters), state, read)
    elif kind == "DFOPClassifier":
        model = _read_learner(DFOPClassifier(**parameters), state, read)
    elif kind in ("river.DFOPRegressor", "river.DFOPClassifier"):
        from . import river

        twin = getattr(river, kind.removeprefix("river."))(**parameters)
        model = _read_named(twin, state, read)
    else:
        raise ValueError(f"kind {kind!r} is unknown")
    if set(tensors) != read.taken:
        raise ValueError(f"tensors that say nothing: {sorted(set(tensors) - read.taken)}")
    return model


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
        "bank": None,
        "watch": None,
        "lagged": model._lags.width > 0,
    }
    tensors: Tensors = {}
    state["columns"] = describe_coder(model._coder, tensors)
    if model._pending:
        tensors["waiting_rows"] = model._waiting_rows(model._pending)
        tensors["waiting_stamps"] = np.array([stamp for _, stamp in model._pending.values()])
        if model._foretold:
            outputs = getattr(model, "_outputs", 1)
            told = [model._foretold[key] for key in model._pending]
            tensors["waiting_outputs"] = np.array(
                [given if given.size == outputs else np.zeros(outputs) for given in told]
            )
    if isinstance(model, DFOPClassifier) and hasattr(model, "_codes"):
        state["classes"] = [_describe_labels(code.classes) for code in model._codes]
    if state["lagged"] and model._lags.width:
        tensors["lags"] = model._lags.labels
    _describe_knowledge(model, state, tensors)
    return state, tensors


def _describe_knowledge(model: Any, state: dict[str, Any], tensors: Tensors) -> None:
    """Describe the filter, or the bank and its watch."""
    learner = model._filter
    if isinstance(learner, Filter):
        state["filter"] = describe_state(learner.state(), tensors)
    elif learner is not None:
        state["bank"] = describe_bank(learner, tensors)
        state["watch"] = describe_watch(model._watch, tensors)


def _read_learner(model: Any, state: dict[str, Any], tensors: Tensors) -> Any:
    fresh = model._blank()
    features = whole(state["n_features"])
    fresh.n_features_in_ = features
    if state["feature_names"] is not None:
        names = texts(state["feature_names"])
        if len(names) != features:
            raise ValueError("one name per feature is needed")
        fresh.feature_names_in_ = np.array(names, dtype=object)
    fresh._coder = _read_columns(state, range(features), tensors)
    fresh._log_discount = number(state["log_discount"])
    last, datetimes = state["clock"]
    if last is not None and type(last) is not (int if datetimes else float):
        raise ValueError(f"clock {last!r}")
    fresh._clock = Clock(last, bool(datetimes))
    if state["outputs"] is not None:
        _read_outputs(fresh, state)
    learned = state["filter"] is not None or state.get("bank") is not None
    lagged = truth(state.get("lagged", False))
    if learned and fresh.lags and not lagged:
        raise ValueError("a model that has learned, without its lags")
    if fresh.lags and lagged:
        fresh._lags = Lags(fresh.lags, fresh._outputs)
        fresh._lags.labels = tensor(tensors, "lags", (fresh.lags, fresh._outputs)).copy()
        within(fresh._lags.labels, -(2.0**500), 2.0**500, "labels")
    _read_waiting(fresh, state["waiting"], tensors)
    if hasattr(fresh, "_outputs"):
        width = fresh._lags.width + fresh._coder.width
        fresh._filter, fresh._watch = _read_knowledge(
            fresh, state, tensors, width, fresh._targets()
        )
    return fresh


def _read_outputs(fresh: Any, state: dict[str, Any]) -> None:
    fresh._outputs = whole(state["outputs"], 10**6)  # numbers in a file are free, outputs are not
    fresh._flat = truth(state["flat"])
    if isinstance(fresh, DFOPClassifier):
        fresh._codes = [LabelCode(_read_labels(classes)) for classes in state["classes"]]
        if sum(code.outputs for code in fresh._codes) != fresh._outputs:
            raise ValueError("classes that do not fit the outputs")
        if fresh._flat and len(fresh._codes) != 1:
            raise ValueError("several targets for one")
    elif fresh._flat and fresh._outputs != 1:
        raise ValueError("several outputs for one target")


def _read_waiting(fresh: Any, keys: Any, tensors: Tensors) -> None:
    if not keys:
        return
    if not all(type(key) in (int, str) for key in keys) or len(set(keys)) != len(keys):
        raise ValueError("keys of waiting rows")
    width = fresh._lags.width + fresh._coder.width
    rows = tensor(tensors, "waiting_rows", (len(keys), width))
    stamps = tensor(tensors, "waiting_stamps", (len(keys),))
    within(rows, -(2.0**500), 2.0**500, "waiting rows")
    within(stamps, -1e300, 1e300, "the stamps of waiting rows")
    fresh._pending = {
        key: (row.copy(), float(stamp)) for key, row, stamp in zip(keys, rows, stamps, strict=True)
    }
    if fresh._is_bank(as_rule(fresh.forgetting)):
        outputs = getattr(fresh, "_outputs", 1)
        told = tensor(tensors, "waiting_outputs", (len(keys), outputs))
        within(told, -1e300, 1e300, "what was predicted of waiting rows")
        fresh._foretold = dict(zip(keys, told.copy(), strict=True))


def _read_knowledge(
    model: Any, state: dict[str, Any], tensors: Tensors, width: int, targets: Any
) -> tuple[Filter | Bank | None, Watch | None]:
    """Make the filter, or the bank and its watch."""
    if state["filter"] is None and state.get("bank") is None:
        return None, None
    rule = as_rule(model.forgetting)
    if not model._is_bank(rule):
        outputs = sum(count for _, count in targets)
        return _read_filter(model, width, outputs, state["filter"], tensors), None
    bank = read_bank(model, rule, state["bank"], tensors, width, targets)
    watch = model._new_watch()
    read_watch(watch, state["watch"], tensors)
    return bank, watch


def _describe_named(model: Any) -> tuple[dict[str, Any], Tensors]:
    tensors: Tensors = {}
    coder = model._rows.coder
    state = {
        "names": _describe_hashables(coder.columns, "feature name"),
        "columns": describe_coder(coder, tensors),
        "classes": _describe_hashables(getattr(model, "_classes", []), "class"),
        "filter": None,
        "bank": None,
        "watch": None,
        "recent": model._recent,
    }
    _describe_knowledge(model, state, tensors)
    return state, tensors


def _read_named(model: Any, state: dict[str, Any], tensors: Tensors) -> Any:
    names, classes = state["names"], state["classes"]
    for values in (names, classes):
        _describe_hashables(values, "entry")
        if len(set(values)) != len(values):
            raise ValueError("equal names")
    if hasattr(model, "_classes"):
        model._classes = {label: k for k, label in enumerate(classes)}
    recent = state.get("recent", [])
    if not isinstance(recent, list) or len(recent) != model.lags:
        raise ValueError(f"{model.lags} labels are features, not {recent!r}")
    model._recent = [_read_label(model, label) for label in recent]
    coder = _read_columns(state, names, tensors)
    learner, watch = _read_knowledge(model, state, tensors, coder.width, model._targets())
    if learner is None:
        if coder.width or classes:
            raise ValueError("columns or classes that nothing was learned from")
    else:
        model._watch = watch
        model._use(NamedFilter(learner, coder, model._rows.discount))
    return model


def _read_label(model: Any, label: Any) -> Any:
    """Return a label that is a feature of the next row."""
    if isinstance(model._no_label, float):
        if abs(number(label)) > 2.0**500:
            raise ValueError(f"the label {label!r}")
    elif label is not None and type(label) is not str:
        raise ValueError(f"the label {label!r}")
    return label


# -- the parts --------------------------------------------------------------------------------


def _read_columns(state: dict[str, Any], keys: Any, tensors: Tensors) -> RowCoder:
    if "columns" in state:
        return read_coder(state["columns"], keys, tensors)
    if len(keys) > 10**6:  # numbers in a file are free, columns are not
        raise ValueError(f"{len(keys)} columns")
    return RowCoder.of_numbers(keys)  # written when rows were numbers only


def _read_filter(
    model: Any, features: int, outputs: int, described: dict[str, Any], tensors: Tensors
) -> Filter:
    intercept = bool(model.fit_intercept)
    state = read_state(described, tensors, features + intercept, outputs)
    return restore_filter(
        features,
        outputs,
        intercept,
        PRIOR_VARIANCE if model.prior_variance is None else float(model.prior_variance),
        math.inf if model.cap is None else float(model.cap),
        state,
    )


def _describe_forgetting(forgetting: Any) -> Any:
    if isinstance(forgetting, ByRows):
        return {"by_rows": forgetting.mu}
    if isinstance(forgetting, ByClock):
        return {"by_clock": forgetting.period}
    return "auto" if isinstance(as_rule(forgetting), Automatic) else float(forgetting)


def _read_forgetting(described: Any) -> Any:
    if described == "auto":
        return described
    if isinstance(described, dict):
        ((kind, value),) = described.items()
        return {"by_rows": ByRows, "by_clock": ByClock}[kind](number(value))
    return number(described)


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
