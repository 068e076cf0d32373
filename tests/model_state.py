"""The whole state of a model, to compare it with another's."""

import copy

import numpy as np

from dfop.plain_coder import describe_coder


def to_bytes(state):
    if isinstance(state, dict):
        return {key: to_bytes(part) for key, part in state.items()}
    return np.asarray(state).tobytes()


def everything(model):
    """All that a model knows, to the bit."""
    known = {}
    for name, value in vars(model).items():
        if name == "_filter" and value is not None:
            value = to_bytes(value.state())
        elif name == "_watch" and value is not None:
            value = to_bytes(value.state()), value.rows, value.alarms, value.open
        elif name == "_lags":
            value = value.labels.tolist()
        elif name == "_codes":
            value = [code.classes.tolist() for code in value]
        elif name == "_foretold":
            value = {key: given.tobytes() for key, given in value.items()}
        elif name == "_pending":
            value = {key: (row.tobytes(), stamp) for key, (row, stamp) in value.items()}
        elif name == "_coder":
            tensors = {}
            columns = describe_coder(value, tensors)
            value = [*value.columns], columns, {k: v.tobytes() for k, v in tensors.items()}
        elif isinstance(value, np.ndarray):
            value = value.tolist()
        known[name] = copy.deepcopy(value)
    return known
