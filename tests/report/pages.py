"""Histories for the tests of the page: one of numbers with hostile names, one of classes."""

from collections import Counter
from types import SimpleNamespace

import numpy as np

from dfop import DFOPClassifier, DFOPRegressor
from dfop.report import History
from dfop.rows import Batch

HOSTILE = (
    "</script><script>document.title='taken'</script>",
    "$$x$$",
    "=cmd()",
    "\u202e\x00<img src=x onerror=document.title='taken'>",
)


def walk(model, history, batch, y, more):
    """Predict and learn rows, and keep their history."""
    start = 0
    while start < len(y):
        stop = min(len(y), start + history.rows_to_look())
        predicted = model.predict_then_learn(batch[start:stop], y[start:stop])
        history.add(y[start:stop], predicted, **more(predicted, start, stop))
        history.look(model)
        start = stop
    return model, history


def of_numbers(n=4000):
    """Numbers whose weights change half way, with intervals, dates and bad rows."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4))
    y = X @ [1.0, 2.0, 0.5, 0.1]
    y[n // 2 :] = X[n // 2 :] @ [1.0, -2.0, 0.5, 1.5]
    y += 0.3 * rng.normal(size=n)
    times = np.datetime64("2024-05-01", "s") + 60 * np.arange(n)

    def more(predicted, start, stop):
        ends = np.column_stack([predicted - 0.5, predicted + 0.5])
        return {"intervals": ends, "time": times[start:stop]}

    batch = Batch(X, names=HOSTILE)
    model, history = walk(DFOPRegressor(), History("regression"), batch, y, more)
    row = SimpleNamespace(
        row=3, line=4, kind="not a number", message="'<script>alert(1)</script>' is not a number"
    )
    kinds = Counter({"not a number": 5, "missing label": 2})
    history.note_bad(SimpleNamespace(kinds=kinds, total=7, rows=n + 7, examples=[row]))
    history.seconds = 1.0
    return model, history


def of_classes(n=3000):
    """Three classes with hostile names, with probabilities."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 3))
    labels = np.array(["<b>up</b>", "$$down$$", "=same()"])
    y = labels[np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])]
    sure = rng.uniform(0.4, 1.0, size=n)

    def more(predicted, start, stop):
        return {"probability": sure[start:stop]}

    model = DFOPClassifier(forgetting=0.01)
    model.partial_fit(X[:9], y[:9], classes=labels)
    return walk(model, History("classification"), Batch(X), y, more)
