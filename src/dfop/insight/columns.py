"""What the columns of a model hold."""

from __future__ import annotations

from typing import Any, Literal

from dfop.model.model import Model


def column_kinds(face: Any) -> dict[str, Literal["number", "text"]]:
    """Return what each column of a model holds; "number" where no cell of it was ever there.

    Parameters
    ----------
    face : DFOPRegressor or DFOPClassifier
        A model that has seen rows with names.

    Returns
    -------
    dict of str to {"number", "text"}

    Examples
    --------
    >>> from dfop import DFOPRegressor
    >>> model = DFOPRegressor().fit([{"size": 1.5, "color": "red"}], [2.0])
    >>> column_kinds(model)
    {'size': 'number', 'color': 'text'}
    """
    model: Model | None = face.__dfop_model__()
    if model is None or model.names is None:
        raise ValueError("the columns of this model have no names, so no file can be read for it")
    with model.lock:
        kinds = model.coder.kinds()
    return {
        name: "text" if kind == "text" else "number"
        for name, kind in zip(model.names, kinds, strict=True)
    }
