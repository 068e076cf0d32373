"""Many models by key as bytes, and back, all checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dfop.model.keyed_late import LateRow, LateRows
from dfop.model.keys import Key
from dfop.model.label_targets import LabelTarget
from dfop.model.settings import Settings
from dfop.model.targets import NumberTarget
from dfop.regressor import DFOPRegressor

from .columns import describe_coder, read_coder
from .container import FORMAT, ModelFileError, Tensors, as_bytes, pack, unpack
from .faces import class_of, describe_parameters, kind_of, read_parameters
from .saving import NONSENSE, from_bytes, to_bytes
from .targets import describe_target, read_target
from .values import LARGEST, Reading, as_json, known, listed, number, texts, truth, whole, within

T = TypeVar("T")

_KIND = "Keyed"
_PARTS = {
    "format", "kind", "model", "shared", "columns", "names", "target", "expire", "memory_limit",
    "text", "texts", "now", "rows", "evicted", "expired", "tickets", "waiting", "expired_rows",
    "learner", "coder", "zoned", "two combinations",
}  # fmt: skip
_FIRST = {
    "learner": "DFOPRegressor", "tickets": 0, "waiting": [], "expired_rows": 0, "zoned": None,
    "two combinations": False,
}  # fmt: skip
"""What the first files did not have: they held numbers, and no rows that wait, and no zones."""
_FARTHEST = 16.0 * LARGEST
"""Of what experts make of a row."""
_COUNTS = ("rows", "evicted", "expired", "tickets")


def pack_keyed(parts: dict[str, Any]) -> bytes:
    """Return the bytes of the named parts of a `Keyed`."""
    state, shared = parts["state"], parts["shared"]
    tensors: Tensors = {name: state[name] for name in ("seconds", "touched", "records", "late")}
    coder = parts["coder"]
    tensors |= _waiting(parts["late"], state["entries"], coder.width)
    tensors["numbers"], tensors["ticks"] = _halves(state["numbers"]), _halves(state["ticks"])
    described: Any = None
    if shared is not None and shared.__dfop_model__() is None:  # rows wait, and no label has come
        described = describe_parameters(shared)
    elif shared is not None:
        content = to_bytes(shared)
        described = len(content)
        tensors["shared"] = np.frombuffer(content + bytes(-described % 4), np.int32)
    document = {
        "format": FORMAT,
        "kind": _KIND,
        "learner": kind_of(parts["model"]),
        "model": describe_parameters(parts["model"]),
        "shared": described,
        "columns": coder.columns,
        "coder": describe_coder(coder, tensors),
        "names": None if parts["names"] is None else list(parts["names"]),
        "target": describe_target(parts["target"]),
        "expire": parts["expire"],
        "memory_limit": parts["memory_limit"],
        "text": parts["text"],
        "zoned": parts["zoned"],
        "two combinations": parts["two_combinations"],
        "texts": state["texts"],
        "now": list(state["now"]),
        **{name: int(state[name]) for name in _COUNTS},
        "waiting": as_json(parts["late"].rows, "name of a row"),
        "expired_rows": parts["late"].expired,
    }
    return pack(document, tensors)


def unpack_keyed(data: bytes, make: Callable[[dict[str, Any]], T]) -> T:
    """Make a `Keyed` of the parts that `make` takes; refuse what makes no sense."""
    content = as_bytes(data)
    try:
        document, tensors = unpack(content)
        return make(_parts(document, tensors))
    except ModelFileError as error:
        raise ModelFileError(f"cannot read these models by key: {error}") from None
    except NONSENSE as error:
        raise ModelFileError(
            f"cannot read these models by key: their content makes no sense ({error})"
        ) from None


def _completed(document: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Add what the first files did not have."""
    if "waiting" not in document:
        empty = _waiting(LateRows(0), [], whole(document["columns"], 10**6))
        tensors = {"late": np.empty((0, 4)), **empty, **tensors}
    if "two combinations" not in document:
        none = np.zeros(len(document.get("waiting", ())), np.int32)
        tensors = {"waiting.made": np.empty(0), "waiting.sizes": none, **tensors}
    if "coder" not in document:
        plain = np.zeros(whole(document["columns"], 10**6))
        tensors = {"coder/sums": plain, "coder/counts": plain, **tensors}
        document = {"coder": {"numbers": [0, len(plain)], "coded": []}, **document}
    return {**_FIRST, **document}, tensors


def _parts(document: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    document, tensors = _completed(document, tensors)
    known(document, _PARTS, "models by key")
    if document["kind"] != _KIND:
        raise ValueError(f"it is a {document['kind']!r}")
    kind = document["learner"]
    if kind not in ("DFOPRegressor", "DFOPClassifier"):
        raise ValueError(f"models of the kind {kind!r}")
    parameters = read_parameters(kind, document["model"])
    target = read_target(kind, document["target"], Settings.of(**parameters))
    if not isinstance(target, NumberTarget | LabelTarget):
        raise ValueError("several labels a row")
    reading = Reading(tensors)
    shared = _read_shared(document["shared"], reading)
    names = document["names"]
    columns, coder = whole(document["columns"], 10**6), read_coder(document["coder"], reading)
    if coder.columns != columns or coder.lags or coder.shared:
        raise ValueError("columns that models by key do not have")
    if names is not None and len(names := tuple(texts(names, "names"))) != columns:
        raise ValueError("names that do not fit the columns")
    seconds, ticks = listed(document["now"], "a moment")
    limit, expire = document["memory_limit"], document["expire"]
    state = {
        "numbers": _whole(reading.take("numbers", (-1, 2), np.int32)),
        "texts": texts(document["texts"], "keys"),
        "ticks": _whole(reading.take("ticks", (-1, 2), np.int32)),
        "records": reading.take("records", (-1, -1)),
        "now": (number(seconds, np.inf), whole(ticks, 2**63 - 1, -(2**63))),
        **{name: reading.take(name, (-1,)) for name in ("seconds", "touched")},
        "late": reading.take("late", (-1, 4)),
        **{name: float(whole(document[name])) for name in _COUNTS},
    }
    keys = len(state["touched"])  # type: ignore[arg-type]
    late = _read_waiting(document["waiting"], reading, coder.width, keys)
    reading.check_all_read()
    if not all(np.isfinite(state[name]).all() for name in ("seconds", "touched")):  # type: ignore[call-overload]
        raise ValueError("moments that are none")
    return {
        "model": class_of(kind)(**parameters),
        "shared": shared,
        "coder": coder,
        "names": names,
        "target": target,
        "expire": expire if type(expire) in (int, float, type(None)) else number(expire),
        "memory_limit": None if limit is None else whole(limit, least=1),
        "text": truth(document["text"]),
        "zoned": None if document["zoned"] is None else truth(document["zoned"]),
        "two_combinations": truth(document["two combinations"]),
        "state": state,
        "late": (late, whole(document["expired_rows"])),
    }


def _read_shared(described: Any, reading: Reading) -> DFOPRegressor | None:
    """Return the model that all keys share, if there is one."""
    if described is None:
        return None
    if type(described) is dict:
        return DFOPRegressor(**read_parameters("DFOPRegressor", described))
    content = reading.take("shared", (-1,), np.int32).tobytes()
    shared = from_bytes(content[: whole(described, len(content))])
    if type(shared) is not DFOPRegressor:
        raise ValueError("a shared model of another kind")
    return shared


def _waiting(late: LateRows, entries: list[int], width: int) -> Tensors:
    """Return the rows that wait."""
    rows = list(late.rows.values())
    ahead = len(rows[0].ahead) if rows else 1
    return {
        "waiting.x": late.coded(list(late.rows), width),
        "waiting.ahead": np.array([row.ahead for row in rows]).reshape(-1, ahead),
        "waiting.stamps": np.array([(row.stamp, row.ticket) for row in rows]).reshape(-1, 2),
        "waiting.places": late.places(entries),
        "waiting.made": np.concatenate([np.empty(0), *(row.made for row in rows)]),
        "waiting.sizes": np.array([len(row.made) for row in rows], np.int32),
    }


def _read_waiting(names: Any, reading: Reading, width: int, keys: int) -> dict[Key, LateRow]:
    n = len(listed(names, "rows that wait"))
    if len(set(names)) != n or not all(type(name) in (int, str) for name in names):
        raise ValueError("rows that wait without names of their own")
    x = reading.take("waiting.x", (n, width))
    ahead = reading.take("waiting.ahead", (n, -1))
    stamps = reading.take("waiting.stamps", (n, 2))
    places = reading.take("waiting.places", (n,), np.int32)
    within(places, -n, keys - 1, "keys of rows that wait")
    sizes = reading.take("waiting.sizes", (n,), np.int32).astype(np.int64)
    within(sizes, 0, 2**31 - 1, "what was made of rows that wait")
    made = reading.take("waiting.made", (int(sizes.sum()),))
    within(made, -_FARTHEST, _FARTHEST, "what was made of rows that wait")
    of_rows = np.split(made, np.cumsum(sizes)[:-1])
    if not all(np.isfinite(values).all() for values in (x, ahead, stamps)):
        raise ValueError("rows that wait that are no numbers")
    return {
        name: LateRow(
            int(places[t]), x[t].copy(), ahead[t], stamps[t, 0], stamps[t, 1], of_rows[t].copy()
        )
        for t, name in enumerate(names)
    }


def _halves(values: list[int]) -> NDArray[np.int32]:
    """Return whole numbers of 64 bits in two halves, as files have them."""
    return np.array(values, np.int64).view(np.int32).reshape(-1, 2)


def _whole(halves: NDArray[np.int32]) -> list[int]:
    return np.ascontiguousarray(halves).view(np.int64).ravel().tolist()
