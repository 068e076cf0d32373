"""What a generation of a run holds: model, history, arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.files import from_bytes
from dfop.report import History

from .generation import Generation


def history_of(generation: Generation) -> History:
    """Return the history that a generation holds."""
    return History.restore(generation.state["history"], arrays_of(generation, "history/"))


def model_of(generation: Generation) -> Any:
    """Return the model that a generation holds, None where it had not learned a row."""
    return from_bytes(generation.blobs["model"]) if generation.blobs["model"] else None


def arrays_of(generation: Generation, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a generation whose names begin so, without that beginning."""
    return {
        name.removeprefix(prefix): np.load(io.BytesIO(blob), allow_pickle=False)
        for name, blob in generation.blobs.items()
        if name.startswith(prefix)
    }


def bytes_of(array: NDArray[Any]) -> bytes:
    """Return an array as the content of a file of NumPy."""
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=False)
    return sink.getvalue()
