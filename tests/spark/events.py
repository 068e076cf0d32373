"""Records of a stream of keys, of all kinds, and what models apart make of them."""

import numpy as np
import pandas as pd

from dfop import DFOPRegressor
from dfop.spark.bucket import COMPLETE, LABEL, QUESTION, UNUSABLE, WAITING, Records

HOUR = 3_600_000_000  # microseconds
START = np.datetime64("2026-10-24T20:00", "us").astype(np.int64)  # the clocks go back that night


def records(seed, n=120, keys=4, text=False):
    """Return records of all kinds, in the order of their times."""
    rng = np.random.default_rng(seed)
    key = rng.integers(keys, size=n)
    gaps = rng.integers(1, HOUR // 2, size=n) * rng.choice([1, 1, 1, 1, 12], size=n)
    kinds = rng.choice([COMPLETE, COMPLETE, WAITING, LABEL, QUESTION, UNUSABLE], size=n)
    rows = np.array([str(name) for name in rng.integers(8, size=n)], object)
    names = np.array([f"shop {k}" for k in key], object) if text else key
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    return Records(names, np.cumsum(gaps).astype(np.int64), kinds, X, y, rows)


def models_apart(events, forgetting, expire):
    """Return what learners of each key predict, record by record, and which records they learn."""
    return learners_apart(events, forgetting, expire)[:2]


def learners_apart(events, forgetting, expire):
    """Do the same with a learner per key, record by record; return the learners, too."""
    models, last, waiting = {}, {}, set()
    predicted, learned = np.full(len(events.keys), np.nan), np.zeros(len(events.keys), bool)
    for t, (key, kind, row) in enumerate(zip(events.keys, events.kinds, events.rows, strict=True)):
        x, y = events.X[t : t + 1], events.y[t : t + 1]
        now = events.times[t]
        idle = key in last and expire is not None and now - last[key] > expire
        by_clock = DFOPRegressor(forgetting).needs_time
        told = {"time": events.times[t : t + 1].view("M8[us]")} if by_clock else {}
        if kind == UNUSABLE:
            continue
        if kind in (COMPLETE, WAITING):
            if idle:
                waiting = {pair for pair in waiting if pair[0] != key}
            if idle or key not in models:
                models[key] = DFOPRegressor(forgetting)
            last[key] = now
        known = key in models and not (idle and kind == QUESTION)
        if kind == COMPLETE:
            predicted[t], learned[t] = models[key].predict_then_learn(x, y, **told)[0], True
        elif kind == WAITING and (key, row) not in waiting:
            predicted[t] = models[key].predict_pending(x, [row], **told)[0]
            waiting.add((key, row))
        elif kind in (WAITING, QUESTION):
            seen = known and models[key].__dfop_model__() is not None
            predicted[t] = models[key].predict(x)[0] if seen else 0.0
        elif (key, row) in waiting and not idle:
            models[key].learn_pending([row], y)
            waiting.discard((key, row))
            learned[t] = True
    return predicted, learned, models


def as_frame(events):
    """Return records as a source of Spark has them: features a and b, target y."""
    frame = pd.DataFrame(events.X, columns=["a", "b"])
    frame["y"] = events.y
    frame["row"] = events.rows
    frame["shop"] = events.keys
    frame["at"] = (events.times + START).view("M8[us]")
    frame["at"] = frame["at"].dt.tz_localize("UTC")
    frame.loc[events.kinds == UNUSABLE, "b"] = None
    frame.loc[events.kinds == LABEL, ["a", "b"]] = None
    frame.loc[np.isin(events.kinds, (WAITING, QUESTION)), "y"] = None
    frame.loc[np.isin(events.kinds, (COMPLETE, QUESTION)), "row"] = None
    return frame
