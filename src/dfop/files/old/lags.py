"""The last labels as features, as formats 1 and 2 had them.

Arrays had the outputs that stand for a label before all columns: as now for numbers, several labels
and two classes; more classes had an indicator each. River had columns of text, "label 1 back" and
so on, whose texts were "class 0", "class 1": also an indicator for each.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from dfop.core import BUCKETS, MOST_TEXTS
from dfop.files.values import listed, number, whole
from dfop.model.label_targets import LabelTarget


def of_arrays(old: Any, target: Any) -> tuple[dict[str, Any], list[int]]:
    """Take over lags; return their description and their coded columns, which come first."""
    count = old.settings.lags
    if old.state.get("lagged") is not True:
        raise ValueError("a model that has learned, without its lags")
    labels = old.reading.take("lags", (count, old.outputs))
    width = count * old.outputs
    for column in old.coded:
        _shift(column, width)
    nothing = np.zeros(width)
    old.sums, old.counts = np.append(nothing, old.sums), np.append(nothing, old.counts)
    described: dict[str, Any] = {"blocks": [0]}
    if isinstance(target, LabelTarget):
        if target.margin:
            labels = np.where(labels == 0.0, -1.0, labels > 0.0)
        else:
            met = labels.any(axis=1)
            labels = np.where(met, labels.argmax(axis=1), -1.0)[:, np.newaxis]
            K = old.outputs
            described = {
                "indicators": [[k, list(range(k, width, K))] for k in range(K)],
            }
    old.arrays["lags/recent"] = np.ascontiguousarray(labels, dtype=np.float64)
    return described, list(range(width))


def _shift(column: dict[str, Any], by: int) -> None:
    """Move the coded columns of a column."""
    column["place"] = whole(column["place"]) + by
    column["gap"] = None if column["gap"] is None else whole(column["gap"]) + by
    for part in ("texts", "buckets"):
        column[part] = [[key, whole(place) + by] for key, place in column[part]]


def of_river(
    old: Any, names: list[Any], target: Any
) -> tuple[dict[str, Any], list[Any], list[int], int]:
    """Take over lags; return their description, the other names, their coded columns.

    And how many of these are new: a class that was no feature yet, since it came last.
    """
    count = old.settings.lags
    recent = listed(old.state["recent"], "labels")
    if len(recent) != count:
        raise ValueError(f"{count} labels are features, not {recent!r}")
    by_name = dict(zip(names, old.coded, strict=True))
    lagged = [by_name.pop(f"label {back + 1} back") for back in range(count)]
    old.coded = list(by_name.values())
    if isinstance(target, LabelTarget):
        numbers = {f"class {k}": k for k in range(len(target.order))}
        labels = [-1.0 if label is None else float(numbers[label]) for label in recent]
        described, places, missing = _indicators(lagged, len(target.order), old.sums.size)
    else:
        labels = [number(label) for label in recent]
        places, missing = [whole(column["place"]) for column in lagged], 0
        if any(column["kind"] != "number" or column["gap"] is not None for column in lagged) or (
            places != list(range(places[0], places[0] + count))
        ):
            raise ValueError("lags that are no numbers")
        described = {"blocks": places[:1]}
    old.arrays["lags/recent"] = np.array(labels, dtype=np.float64)[:, np.newaxis]
    old.sums, old.counts = (np.append(part, np.zeros(missing)) for part in (old.sums, old.counts))
    for part in (old.sums, old.counts):
        part[places] = 0.0  # labels have no gaps that their mean would fill
    return described, list(by_name), sorted(set(places)), missing


def _indicators(
    lagged: list[dict[str, Any]], classes: int, width: int
) -> tuple[dict[str, Any], list[int], int]:
    """Find the coded columns of every class; open those that there are not yet."""
    found = [_places(column, classes) for column in lagged]
    indicators, end = [], width
    for k in range(-1, classes):
        columns = []
        for places in found:
            if k not in places:
                places[k], end = end, end + 1
            columns.append(places[k])
        indicators.append([k, columns])
    return (
        {"indicators": indicators},
        [place for places in found for place in places.values()],
        end - width,
    )


def _places(column: dict[str, Any], classes: int) -> dict[int, int]:
    """Return the coded columns of one lag, by class; of -1, where there was no label."""
    texts, buckets = dict(column["texts"]), dict(column["buckets"])
    places = {}
    if column["gap"] is not None:
        places[-1] = whole(column["gap"])
    if not texts:  # its first text would have been the class that was learned first
        places[0] = whole(column["place"])
    for k in range(classes):
        name = f"class {k}"
        if name in texts:
            places[k] = whole(texts[name])
        elif len(texts) == MOST_TEXTS and zlib.crc32(name.encode()) % BUCKETS in buckets:
            places[k] = whole(buckets[zlib.crc32(name.encode()) % BUCKETS])
    return places
