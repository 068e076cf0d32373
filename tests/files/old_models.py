"""Models of format 2, and what the version that wrote them predicted when they went on.

Run by that version (0.2 at d8cbdd2, in an environment of its own), this file writes the models and
`formats/expected.json`; the tests load the models and go on in the same way.

    python tests/files/old_models.py
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[1] / "formats"
SAVED, END = 60, 110


def rows():
    t = np.arange(END)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, 5.0)))
    return X, X @ [1.0, 2.0, 3.0] + 0.3 * np.cos(7.0 * t[:, 0])


def labels(kind):
    _, y = rows()
    return {
        "number": y,
        "numbers": np.c_[y, -(y**2)],
        "two": np.where(y > 0, "yes", "no"),
        "three": np.digitize(y, [-1.0, 1.0]) * 10,
        "several": np.c_[np.digitize(y, [-1.0, 1.0]), y > 0],
    }[kind]


def mixed(X):
    """Rows of numbers, gaps and text."""
    return [
        [None if t % 7 == 3 else a, "high" if b > 0.3 else "low", c]
        for t, (a, b, c) in enumerate(X.tolist())
    ]


def dicts():
    return [dict(zip(("a", "kind", "c"), row, strict=True)) for row in mixed(rows()[0])]


# -- arrays -----------------------------------------------------------------------------------


def learn(model, kind):
    X, _ = rows()
    y = labels(kind)
    named = {"classes": np.unique(y)} if kind in ("two", "three") else {}
    model.partial_fit(mixed(X)[:SAVED], y[:SAVED], **named)
    model.predict_pending(mixed(X)[SAVED : SAVED + 3], keys=["p", 7, "q"])
    return model


def go_on(model, kind):
    X, _ = rows()
    y = labels(kind)
    told = [model.predict(mixed(X)[:5])]
    model.learn_pending([7, "p"], y[[SAVED + 1, SAVED]])
    for start in range(SAVED + 3, END, 10):
        told.append(model.predict_then_learn(mixed(X)[start : start + 10], y[start : start + 10]))
    told.append(model.predict(mixed(X)[:5]))
    if kind in ("number", "numbers"):
        if hasattr(model, "experts_"):
            told.append(model.predict_interval(mixed(X)[:5]))
    else:
        told.append(model.predict_proba(mixed(X)[:5]))
    return told


def no_label(model, kind):
    X, y = rows()[0], labels(kind)
    named = {"classes": np.unique(y)} if kind in ("two", "three") else {}
    model.predict_pending(mixed(X)[:4], keys=range(4), **named)
    return model


def first_labels(model, kind):
    X, y = rows()[0], labels(kind)
    model.learn_pending([2, 0, 1], y[[2, 0, 1]])
    told = [model.predict(mixed(X)[:5])]
    for start in range(4, END, 10):
        told.append(model.predict_then_learn(mixed(X)[start : start + 10], y[start : start + 10]))
    return told


def clock(model, kind):
    X, y = rows()
    time = np.cumsum(1.0 + np.arange(END) % 3)
    model.partial_fit(X[:SAVED], y[:SAVED], time=time[:SAVED])
    model.predict_pending(X[SAVED : SAVED + 2], keys=["p", "q"], time=time[SAVED : SAVED + 2])
    return model


def clock_on(model, kind):
    X, y = rows()
    time = np.cumsum(1.0 + np.arange(END) % 3)
    late = slice(SAVED + 2, END)
    told = [model.predict_then_learn(X[late], y[late], time=time[late])]
    model.learn_pending(["q"], y[[SAVED + 1]])
    return [*told, model.predict(X[:5])]


# -- River ------------------------------------------------------------------------------------


def learn_dicts(model, kind):
    for row, label in list(zip(dicts(), labels(kind).tolist(), strict=True))[:SAVED]:
        model.learn_one(row, label)
    return model


def few_dicts(model, kind):
    """Only the rows of the first class, and fewer than there are lags."""
    y = labels(kind).tolist()
    for row in dicts()[:2]:
        model.learn_one(row, y[0])
    return model


NEW = 99
"""A class that comes late, where labels are numbers: the record has it as "new"."""


def name_of(label):
    return "new" if label == NEW else label


def dicts_on(model, kind):
    told, y = [], labels(kind).tolist()
    for t, (row, label) in enumerate(zip(dicts(), y, strict=True)):
        if t < SAVED:
            continue
        if kind == "number":
            told.append(model.predict_one(row))
        else:
            likely = model.predict_proba_one(row).items()
            told.append(
                [name_of(model.predict_one(row)), sorted((str(name_of(k)), p) for k, p in likely)]
            )
            if t in (80, 95):
                label = "new" if isinstance(label, str) else NEW
        if t > 90:
            row = {**row, "late": float(t % 5)}
        model.learn_one(row, label)
    return told


def nothing(model, kind):
    return model


R, C = "DFOPRegressor", "DFOPClassifier"
SINGLE, AUTO = {"forgetting": 0.02}, {"features": "linear"}
ONE, TWO, THREE = {"lags": 1}, {"lags": 2}, {"lags": 3}
POLY = {"features": "poly", "prior_variance": 9.0, "cap": None}
ARRAYS, DICTS = (learn, go_on), (learn_dicts, dicts_on)

MODELS = {
    "number": (R, "number", SINGLE, *ARRAYS),
    "numbers-lags": (R, "numbers", SINGLE | TWO, *ARRAYS),
    "two": (C, "two", SINGLE, *ARRAYS),
    "two-lags": (C, "two", SINGLE | TWO, *ARRAYS),
    "three": (C, "three", SINGLE, *ARRAYS),
    "three-lags": (C, "three", SINGLE | TWO, *ARRAYS),
    "several-lags": (C, "several", SINGLE | ONE, *ARRAYS),
    "auto-number-lags": (R, "number", AUTO | ONE, *ARRAYS),
    "auto-poly": (R, "number", POLY, *ARRAYS),
    "auto-two-lags": (C, "two", AUTO | ONE, *ARRAYS),
    "auto-three-lags": (C, "three", AUTO | ONE, *ARRAYS),
    "auto-several": (C, "several", AUTO, *ARRAYS),
    "no-label": (R, "numbers", SINGLE, no_label, first_labels),
    "no-label-lags": (C, "three", SINGLE | TWO, no_label, first_labels),
    "auto-no-label": (R, "number", AUTO | ONE, no_label, first_labels),
    "clock": (R, "number", {"forgetting": "clock"}, clock, clock_on),
    "river-number-lags": (f"river.{R}", "number", SINGLE | TWO, *DICTS),
    "river-two": (f"river.{C}", "two", SINGLE, *DICTS),
    "river-two-lags": (f"river.{C}", "two", SINGLE | TWO, *DICTS),
    "river-three-lags": (f"river.{C}", "three", SINGLE | TWO, *DICTS),
    "river-one-lags": (f"river.{C}", "three", SINGLE | THREE, few_dicts, dicts_on),
    "river-auto-number-lags": (f"river.{R}", "number", AUTO | TWO, *DICTS),
    "river-auto-two": (f"river.{C}", "two", AUTO, *DICTS),
    "river-auto-two-lags": (f"river.{C}", "two", AUTO | ONE, *DICTS),
    "river-auto-three-lags": (f"river.{C}", "three", AUTO | ONE, *DICTS),
    "river-auto-one": (f"river.{C}", "three", AUTO | THREE, few_dicts, dicts_on),
    "river-nothing": (f"river.{R}", "number", SINGLE, nothing, dicts_on),
}


def path_of(name):
    return HERE / f"format-2-old-{name}.dfop"


def plain(told):
    if isinstance(told, list | tuple):
        return [plain(part) for part in told]
    return told.tolist() if isinstance(told, np.ndarray | np.generic) else told


def expected():
    return json.loads((HERE / "expected.json").read_text())


def main():
    import dfop
    from dfop import river

    told = {}
    for name, (face, kind, parameters, start, on) in MODELS.items():
        where = river if face.startswith("river.") else dfop
        parameters = dict(parameters)
        if parameters.get("forgetting") == "clock":
            parameters["forgetting"] = dfop.half_life("30s")
        model = getattr(where, face.removeprefix("river."))(**parameters)
        dfop.save(start(model, kind), path_of(name))
        told[name] = plain(on(dfop.load(path_of(name)), kind))
    (HERE / "expected.json").write_text(json.dumps(told, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    sys.exit(main())
