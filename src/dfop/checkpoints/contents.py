"""What a generation of a run holds: model, history, arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.classifier import DFOPClassifier
from dfop.files import from_bytes, to_bytes
from dfop.regressor import DFOPRegressor
from dfop.report import History
from dfop.scale import Keyed
from dfop.streams.layout import Layout

from .generation import Generation
from .options import Options
from .per_key import PerKey


def history_of(generation: Generation) -> History:
    """Return the history that a generation holds."""
    return History.restore(generation.state["history"], arrays_of(generation, "history/"))


def model_of(generation: Generation) -> Any:
    """Return the model that a generation holds, None where it had not learned a row."""
    if not generation.blobs["model"]:
        return None
    model, key = from_bytes(generation.blobs["model"]), generation.state["options"].get("key")
    return model if key is None else PerKey(model, key)


def model_bytes(model: Any) -> bytes:
    """Return the model of a run as the content of a file."""
    return to_bytes(model.keyed if isinstance(model, PerKey) else model)


def new_model(options: Options, told: Layout) -> Any:
    """Return a model that has learned nothing, as the options and the labels ask for."""
    kind = DFOPClassifier if told.task == "classification" else DFOPRegressor
    model = kind(options.rule, lags=options.lags, pending_limit=options.pending_limit)
    if options.key is None:
        return model
    expire: Any = options.expire
    if expire is not None and expire.isdigit():
        expire = int(expire)
    return PerKey(Keyed(model, expire=expire, shared=options.shared), options.key)


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
