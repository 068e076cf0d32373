"""Models of every kind and setting, and rows to go on with, for the tests of files.

    python tests/files/made.py

writes some of them to `formats`, as this version of dfop does, for the tests of later ones.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from dfop import DFOPClassifier, DFOPRegressor, half_life, river, save

FORMATS = Path(__file__).parents[1] / "formats"
SAVED, END = 60, 110


def stream(n=END, d=3):
    """A stream without random numbers, which bends on the way."""
    t = np.arange(n)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, d + 2.0)))
    w = np.where(t < n // 3, 1.0, -2.0) * np.arange(1.0, d + 1.0)
    return X, (X * w).sum(axis=1) + 0.3 * np.cos(7.0 * t[:, 0])


def targets(kind, y):
    return {
        "number": y,
        "numbers": np.c_[y, -(y**2)],
        "one": np.full(len(y), "only"),
        "two": np.where(y > 0, "yes", "no"),
        "objects": np.where(y > 0, "yes", "no").astype(object),
        "booleans": y > 0,
        "three": np.digitize(y, [-1.0, 1.0]) * 10,
        "five": np.digitize(y, [-2.0, -1.0, 1.0, 2.0]) - 2.0,
        # the third class comes after the file was written
        "late third": np.where(np.arange(len(y)) < SAVED + 20, y > 0, 2 + (y > 0)),
        "several": np.c_[np.digitize(y, [-1.0, 1.0]), y > 0],
        "all two": np.c_[y > 0, y > 1],
    }[kind]


def frame(X, late=False):
    """Numbers, gaps and text, and a column that comes late."""
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    table["kind"] = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 0] < -0.5, "low", "mid"))
    table.loc[np.arange(len(X)) % 7 == 3, "b"] = np.nan
    if late:
        table["c"] = X[:, 2]
    return table


class Case:
    """A model that has learned rows, and the way it goes on."""

    def __init__(self, face, kind, plain=False, **parameters):
        self.face, self.kind, self.plain, self.parameters = face, kind, plain, parameters
        self.X, y = stream()
        self.y = targets(kind, y)

    def __repr__(self):
        given = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.face.__module__.split('.')[-1]}-{self.kind}-{given}"

    @property
    def path(self):
        return (
            FORMATS / f"format-3-{re.sub('[^a-z0-9.]+', '-', repr(self).lower()).strip('-')}.dfop"
        )

    def rows(self, part, late=False):
        return self.X[part] if self.plain else frame(self.X, late)[part]

    def time(self, part):
        clock = isinstance(self.parameters.get("forgetting"), type(half_life("1s")))
        return {"time": 100.0 + np.arange(END)[part] * 2.0} if clock else {}

    def made(self):
        start, waits = slice(0, SAVED), slice(SAVED, SAVED + 3)
        model = self.face(**self.parameters)
        known = {"classes": np.unique(self.y)} if self.kind in ("late third", "five") else {}
        model.partial_fit(self.rows(start), self.y[start], **known, **self.time(start))
        model.predict_pending(self.rows(waits), keys=["p", 7, "q"], **self.time(waits))
        return model

    def go_on(self, model):
        """Return what is predicted on the way."""
        late = not self.plain
        model.learn_pending([7, "p"], self.y[[SAVED + 1, SAVED]])
        told = [
            model.predict_then_learn(self.rows(part, late), self.y[part], **self.time(part))
            for part in (slice(SAVED + 3, SAVED + 30), slice(SAVED + 30, END))
        ]
        told.append(model.predict(self.rows(slice(0, 9), late)))
        if hasattr(model, "predict_proba"):
            told += list(model.predict_proba(self.rows(slice(0, 9), late)))
        return [np.asarray(part).tolist() for part in told]


class LateCase(Case):
    """Labels that come in batches."""

    def __repr__(self):
        return f"{super().__repr__()},late"

    def made(self):
        model = self.face(**self.parameters)
        known = {"classes": np.unique(self.y)} if self.face is DFOPClassifier else {}
        for part in (slice(0, 20), slice(20, 35), slice(35, SAVED)):
            model.partial_fit(self.rows(part), self.y[part], late=True, **known)
        waits = slice(SAVED, SAVED + 3)
        model.predict_pending(self.rows(waits), keys=["p", 7, "q"])
        return model


class RiverCase(Case):
    """The same with dicts."""

    def dicts(self, part, late=False):
        rows = frame(self.X, late)[part].to_dict("records")
        return list(zip(rows, self.y[part].tolist(), strict=True))

    def made(self):
        model = self.face(**self.parameters)
        for row, label in self.dicts(slice(0, SAVED)):
            model.learn_one(row, label)
        return model

    def go_on(self, model):
        told = []
        for row, label in self.dicts(slice(SAVED, END), late=True):
            told.append(model.predict_one(row))
            if hasattr(model, "predict_proba_one"):
                told.append(model.predict_proba_one(row))
            model.learn_one(row, label)
        return told


R, C = DFOPRegressor, DFOPClassifier
SINGLE = [
    Case(R, "number", forgetting=0.05),
    Case(R, "number", plain=True, forgetting=0.0, fit_intercept=False),
    Case(R, "number", forgetting=half_life("60s"), pending_expiry="3d"),
    Case(R, "number", forgetting=half_life(30), prior_variance=7, cap=None, pending_limit=50),
    Case(R, "numbers", forgetting=0.05, lags=2),
    Case(C, "one", forgetting=0.05),
    Case(C, "two", forgetting=0.05),
    Case(C, "two", forgetting=0.05, lags=2),
    Case(C, "objects", forgetting=0.05),
    Case(C, "booleans", forgetting=0.05, cap=10.0),
    Case(C, "three", forgetting=0.05),
    Case(C, "five", forgetting=0.05, lags=1),
    Case(C, "late third", forgetting=0.05),
    Case(C, "late third", forgetting=0.05, lags=2),
    Case(C, "several", forgetting=0.05, lags=1),
    Case(C, "all two", forgetting=0.05),
]
AUTOMATIC = [
    Case(R, "number"),
    Case(R, "number", plain=True, lags=2),
    Case(R, "numbers", features="linear", lags=1),
    Case(R, "number", features="poly", fit_intercept=False),
    Case(R, "number", features="rff", forgetting=0.01),
    Case(R, "number", features="linear", prior_variance=10.0, cap=None, pending_expiry=20),
    Case(C, "two", features="linear"),
    Case(C, "two", features="linear", lags=3),
    Case(C, "three", features="linear"),
    Case(C, "late third", features="linear", lags=1),
    Case(C, "several", features="linear"),
]
LATE = [
    LateCase(R, "number", features="linear"),
    LateCase(R, "numbers", features="linear", lags=1),
    LateCase(C, "two", features="linear", lags=2),
    LateCase(C, "three", features="linear"),
    LateCase(C, "late third", features="linear"),
]
RIVER = [
    RiverCase(river.DFOPRegressor, "number", forgetting=0.05),
    RiverCase(river.DFOPRegressor, "number", forgetting=0.05, lags=2, max_features=3),
    RiverCase(river.DFOPRegressor, "number", features="linear", lags=1),
    RiverCase(river.DFOPClassifier, "one", forgetting=0.05),
    RiverCase(river.DFOPClassifier, "two", forgetting=0.05),
    RiverCase(river.DFOPClassifier, "late third", forgetting=0.05, lags=2),
    RiverCase(river.DFOPClassifier, "five", forgetting=0.05, max_classes=3),
    RiverCase(river.DFOPClassifier, "three", features="linear", lags=1),
    RiverCase(river.DFOPClassifier, "late third", features="linear", lags=1),
]
CASES = SINGLE + AUTOMATIC + LATE + RIVER
SMALL = [
    case
    for case in CASES
    if case not in LATE
    if "forgetting" in case.parameters or case.parameters.get("features") == "linear"
    if case.parameters.get("features") != "rff"
]
"""Those whose file is small enough to be kept."""


def long_stream():
    """The stream of the first files of every format."""
    t = np.arange(200)[:, np.newaxis]
    X = np.sin((t + 1.0) * np.sqrt(np.arange(2.0, 6.0)))
    return X, X @ np.arange(1.0, 5.0) + np.cos(3.0 * t[:, 0])


def main():
    for case in SMALL:
        save(case.made(), case.path)
    X, y = long_stream()
    table = pd.DataFrame(X, columns=list("abcd"))
    save(DFOPRegressor(0.05).fit(X, y), FORMATS / "format-3-regressor.dfop")
    labels = np.where(y > 0, "yes", "no")
    save(DFOPClassifier(0.05).fit(table, labels), FORMATS / "format-3-classifier.dfop")
    twin = river.DFOPRegressor(0.05)
    for row, target in zip(table.to_dict("records"), y.tolist(), strict=True):
        twin.learn_one(row, target)
    save(twin, FORMATS / "format-3-river.dfop")


if __name__ == "__main__":
    main()
