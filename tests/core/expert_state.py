"""The whole state of a compiled part, to compare it with another's."""

import numpy as np


def bits(part):
    return _bits(part.state())


def _bits(state):
    if isinstance(state, dict):
        return {name: _bits(value) for name, value in state.items()}
    return np.asarray(state).tobytes()
