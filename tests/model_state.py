"""The whole state of a model, to compare it with another's, to the bit."""

import numpy as np
import pytest


def bits(state):
    if isinstance(state, dict):
        return {key: bits(part) for key, part in state.items()}
    return np.asarray(state).tobytes()


def state_of(part):
    return None if part is None else bits(part.state())


def monitor_state(monitor):
    if monitor is None:
        return None
    parts = {name: state_of(part) for name, part in monitor.parts().items()}
    return parts, monitor.rows, list(monitor.alarms), list(monitor.open)


def model_state(model):
    """All that a `dfop.model.Model` knows."""
    target = model.target
    classes = getattr(target, "classes", None)
    lags = model.lags
    return {
        "settings": model.settings,
        "target": (type(target), classes if classes is None else classes.tolist(),
                   target.designs() if target.known else None, getattr(target, "order", None)),
        "columns": (model.names, model.columns, list(model.ids.items())),
        "coder": (model.coder.describe(), state_of(model.coder), model.coder.lags,
                  model.coder.shared),
        "engine": state_of(model.engine),
        "monitor": monitor_state(model.monitor),
        "lags": None
        if lags is None
        else (lags.recent.tolist(), list(lags.blocks), lags.indicators),
        "clock": model.clock,
        "time": (model.now, model.rows, model.learned),
        "waiting": (list(model.waiting), bits(model.waiting.all_kept()._asdict()),
                    model.waiting.expired),
    }  # fmt: skip


def everything(face):
    """All that a learner knows, also one that has not started."""
    model = vars(face).get("_model")
    parameters = face.get_params(deep=False) if hasattr(face, "get_params") else None
    return parameters, None if model is None else model_state(model)


def refused(model, call, *fragments, error=(ValueError, TypeError)):
    """Expect an error that says so and leaves the model as it was."""
    before = everything(model)
    with pytest.raises(error) as caught:
        call(model)
    assert everything(model) == before
    message = str(caught.value)
    for fragment in fragments:
        assert fragment.lower() in message.lower(), message
