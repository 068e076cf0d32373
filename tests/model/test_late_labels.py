"""A label may come late, in any order or never: the model is the closed form all the same."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closed_form import closed_form, design, weights_of
from dfop import DFOPClassifier, DFOPRegressor, period, to_bytes
from dfop.model.targets import NumberTarget
from model_state import everything, refused

EXACT = 1e-10


def expect(model, X, exact):
    reach = np.abs(design(X, model.fit_intercept)).max(axis=0)[:, np.newaxis]
    error = np.abs(weights_of(model) - exact) * reach
    assert error.max() <= EXACT * max(1.0, np.abs(exact * reach).max())


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 5),
    m=st.integers(1, 3),
    how=st.sampled_from(["rows", "discount", "clock"]),
    mixed=st.booleans(),
)
def test_labels_in_any_order_and_some_never_give_the_closed_form(seed, d, m, how, mixed):
    rng = np.random.default_rng(seed)
    n = 40
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))
    mu = 0.2 / (d + 1)
    lam, extra = np.full(n, 1 - mu), {}
    rule = mu
    if how == "discount":
        lam = rng.uniform(1 - mu, 1.0, n)
        extra["discount"] = lam
    if how == "clock":
        time = np.cumsum(rng.exponential(size=n))
        lam = np.exp(-np.diff(time, prepend=time[0]) * mu)
        rule, extra["time"] = period(f"{1 / mu!r} s"), time
    labelled = rng.random(n) < 0.8
    labelled[0] = True
    at_once = rng.random(n) < 0.3 if mixed else np.zeros(n, bool)
    due = np.arange(n) + rng.integers(0, 15, n)  # the row after which the label is there
    model = DFOPRegressor(rule)
    waiting = []
    for t in range(n):
        now = {name: values[t : t + 1] for name, values in extra.items()}
        if at_once[t] and labelled[t]:
            model.partial_fit(X[t : t + 1], Y[t : t + 1], **now)
        else:
            model.predict_pending(X[t : t + 1], [t], **now)
            if labelled[t]:
                waiting.append(t)
        arrived = [i for i in waiting if due[i] <= t]
        if arrived:
            rng.shuffle(arrived)
            model.learn_pending(arrived, Y[arrived])
            waiting = [i for i in waiting if i not in arrived]
    if waiting:
        model.learn_pending(waiting[::-1], Y[waiting[::-1]])
    expect(model, X, closed_form(X, Y, lam, labelled.astype(float)))
    assert model.pending_ == list(np.flatnonzero(~labelled))
    before = weights_of(model)
    if model.pending_:
        model.forget_pending(model.pending_)
    assert model.pending_ == []
    assert (weights_of(model) == before).all()


def test_a_batch_of_rows_is_predicted_with_the_model_before_it():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = DFOPRegressor(0.05).partial_fit(X[:20], y[:20])
    before = model.predict(X[20:])
    assert (model.predict_pending(X[20:], range(10)) == before).all()
    model.learn_pending(range(10), y[20:])
    expect(model, X, closed_form(X, y, 0.95, 1.0))


def test_a_classifier_learns_late_labels_as_if_they_had_been_there():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = DFOPClassifier(0.02)
    first = model.predict_pending(X, range(60), classes=[0, 1, 2])
    assert (first == 0).all()
    order = rng.permutation(60)
    for key in order:
        model.learn_pending([int(key)], [y[key]])
    expect(model, X, closed_form(X, np.eye(3)[y], 0.98, 1.0))


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_rows_may_come_before_the_first_label_of_a_classifier(classes, forgetting):
    model = DFOPClassifier(forgetting)
    assert (
        model.predict_pending([[1.0], [2.0]], [0, 1], classes=classes).tolist() == classes[:1] * 2
    )
    assert model.predict_pending([[3.0]], [2]).tolist() == classes[:1]
    model.learn_pending([0, 2], classes[1:] * 2 if len(classes) == 2 else classes[1:])
    assert model.predict_pending([[1.0]], [3]).tolist() == classes[1:2]


@pytest.mark.parametrize(
    "classes", [[[0, 1], [0, 1], [0, 1]], [[0, 1], [0, 1, 2]], [["a", "b", "c"], ["d", "e", "f"]]]
)
def test_classes_of_several_targets_can_be_announced(classes):
    model = DFOPClassifier()
    ahead = model.predict_pending(np.ones((2, 2)), ["x", "y"], classes=classes)
    assert ahead.shape == (2, len(classes))
    labels = np.array([[some[0] for some in classes], [some[-1] for some in classes]])
    model.learn_pending(["x", "y"], labels)
    assert model.predict(np.ones((1, 2))).shape == (1, len(classes))


def test_rows_of_a_data_frame_wait_without_a_warning():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    model = DFOPRegressor()
    model.predict_pending(frame, ["one", "two"])
    model.learn_pending(["two"], [1.0])
    assert model.predict_pending(frame, ["three", "four"]).shape == (2,)


@pytest.mark.parametrize("heavy", [1e4, 1e9, 1e18])
def test_the_age_of_a_pending_row_does_not_drown_in_the_age_of_the_stream(heavy):
    """After so much forgetting that a further row no longer changes the sum of logarithms."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    late, prompt = DFOPRegressor(0.1), DFOPRegressor(0.1)
    for model in (late, prompt):
        model.partial_fit(X[:1], y[:1], sample_weight=[heavy])
        model.partial_fit(X[1:30], y[1:30])
    prompt.partial_fit(X[30:], y[30:])
    late.predict_pending(X[30:], range(10))
    late.learn_pending(range(10), y[30:])
    assert np.abs(weights_of(late) - weights_of(prompt)).max() <= 1e-10


def test_a_label_so_late_that_nothing_is_left_of_it_changes_nothing():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3, 2)), rng.normal(size=3)
    model = DFOPRegressor(period("1 s"))
    model.predict_pending(X[:1], ["old"], time=[0.0])
    model.partial_fit(X[1:], y[1:], time=[1e6, 1e6])
    before = weights_of(model)
    model.learn_pending(["old"], [1e100])
    assert np.isfinite(weights_of(model)).all()
    assert (weights_of(model) == before).all()


# -- calls are cut in any way --------------------------------------------------------------------


class Stream:
    """Rows and their labels, and the order in which both arrive."""

    def __init__(self, rng, task, n=70, mixed=False, clock=False, limit=10**9):
        self.task, self.n = task, n
        X = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2]
        score = X @ [1.0, 0.3, -2.0] + 0.3 * rng.normal(size=n)
        self.X = X
        if mixed:
            self.X = pd.DataFrame(X, columns=["a", "b", "c"])
            texts = np.array([f"t{k}" for k in range(30)], object)
            self.X["d"] = texts[np.minimum(rng.integers(0, 30, n), np.arange(n) // 2)]
            self.X.loc[rng.random(n) < 0.15, "a"] = np.nan
            self.X.loc[rng.random(n) < 0.15, "d"] = None
        if task == "number":
            self.y = score
        elif task == "numbers":
            self.y = np.column_stack([score, -(score**2)])
        else:
            edges = {"two": [0.0], "five": [-2.0, -0.7, 0.7, 2.0]}[task]
            number = np.minimum(np.digitize(score, edges), np.arange(n) // 12)  # later ones are new
            self.y = np.array(["q", "b", "z", "a", "m"])[number]
        self.classes = {} if task.startswith("number") else {"classes": ["a", "b", "m", "q", "z"]}
        if task == "two":
            self.classes = {"classes": ["b", "q"]}
        self.time = np.cumsum(rng.uniform(0.5, 1.5, n)) if clock else None
        due = np.arange(n) + 1 + rng.integers(0, 20, n)
        never = rng.random(n) < 0.1
        events = [(t, 1, t) for t in range(n)]
        events += [(int(due[t]), 0, t) for t in range(n) if not never[t] and due[t] < n]
        self.events, self.expired = [], 0
        waiting = []
        for _, is_row, t in sorted(events):
            if is_row:
                waiting.append(t)
                self.expired += len(waiting) > limit
                waiting = waiting[-limit:]
                self.events.append(("row", t))
            elif t in waiting:  # a label that comes when its row is given up is left away
                waiting.remove(t)
                self.events.append(("label", t))
        self.later = n // 2  # the first row with a column that was not there before

    def rows(self, keys):
        part = self.X[keys[0] : keys[-1] + 1]
        if isinstance(part, pd.DataFrame) and keys[0] >= self.later:
            part = part.assign(e=np.arange(keys[0], keys[-1] + 1) % 5 - 2.0)
        return part

    def given(self, keys, first):
        more = dict(self.classes) if first else {}
        if self.time is not None:
            more["time"] = self.time[keys]
        return more

    def must_cut(self, t):
        return isinstance(self.X, pd.DataFrame) and t == self.later


def joined(predicted, stream):
    """All predictions; of several numbers, the first are 0 before it is known how many."""
    if stream.task == "numbers":
        predicted = [np.zeros((len(p), 2)) if p.ndim == 1 else p for p in predicted]
    return np.concatenate(predicted)


def one_kind_a_call(model, stream, cut):
    """Rows or labels that follow each other come in one call, if not `cut`."""
    predicted, group = [], []

    def send():
        if not group:
            return
        keys = [t for _, t in group]
        if group[0][0] == "row":
            more = stream.given(keys, first=not predicted)
            predicted.append(model.predict_pending(stream.rows(keys), keys, **more))
        else:
            model.learn_pending(keys, stream.y[keys])
        group.clear()

    for event in stream.events:
        new_column = event[0] == "row" and stream.must_cut(event[1])
        if group and (event[0] != group[0][0] or new_column or cut()):
            send()
        group.append(event)
    send()
    return joined(predicted, stream)


def rows_with_labels_between(model, stream, cut):
    """Labels come with the rows between which they arrive."""
    predicted, rows, late, before = [], [], [], []

    def send():
        more = stream.given(rows, first=not predicted)
        labels = (list(late), stream.y[late], list(before)) if late else None
        predicted.append(
            model.predict_pending(stream.rows(rows), list(rows), labels=labels, **more)
        )
        rows.clear(), late.clear(), before.clear()

    for kind, t in stream.events:
        if kind == "label":
            late.append(t)
            before.append(len(rows))
            continue
        if rows and (stream.must_cut(t) or cut()):
            send()
        rows.append(t)
    send()
    return joined(predicted, stream)


LATE = {
    "default, number": ("number", {}, {}),
    "default, several numbers": ("numbers", {}, {}),
    "default, five classes, text": ("five", {"mixed": True}, {}),
    "default, two classes, lags": ("two", {}, {"lags": 2}),
    "linear, number, text, lags": ("number", {"mixed": True}, {"features": "linear", "lags": 1}),
    "linear, five classes, lags": ("five", {"mixed": True}, {"features": "linear", "lags": 2}),
    "fixed mu, number": ("number", {}, {"forgetting": 0.01}),
    "fixed mu, several numbers, text": ("numbers", {"mixed": True}, {"forgetting": 0.02}),
    "fixed mu, two classes, text": ("two", {"mixed": True}, {"forgetting": 0.01}),
    "fixed mu, five classes, lags": ("five", {"mixed": True}, {"forgetting": 0.01, "lags": 2}),
    "clock, number, text": (
        "number",
        {"mixed": True, "clock": True},
        {"forgetting": period("40s")},
    ),
    "clock, five classes": ("five", {"clock": True}, {"forgetting": period("40s")}),
    "expiry by rows": ("number", {}, {"forgetting": 0.01, "pending_expiry": 25}),
    "expiry by time": (
        "two", {"clock": True}, {"forgetting": period("40s"), "pending_expiry": "31s"}
    ),
    "limit": ("number", {"mixed": True, "limit": 5}, {"features": "linear", "pending_limit": 5}),
    "limit, classes": ("five", {"limit": 7}, {"forgetting": 0.01, "lags": 1, "pending_limit": 7}),
}  # fmt: skip


def known_by(model):
    """All that a model knows; what was predicted of few classes as it counts among more."""
    state = everything(model)[1]
    keys, rows, expired = state["waiting"]
    waiting, target = model._model.waiting, model._model.target
    kept = waiting.all_kept()
    outputs = [target.as_active(row[np.newaxis]).tobytes() for row in kept.outputs()]
    size = getattr(model._model.engine, "made_size", 0)
    made = kept.made_of(size, alike=isinstance(target, NumberTarget)).tobytes()
    made += kept.said_of(getattr(model._model.monitor, "said_size", 0)).tobytes()
    as_they_count = ("widths", "predicted", "made_widths", "made", "said_widths", "said")
    rows = {name: part for name, part in rows.items() if name not in as_they_count}
    return state | {"waiting": (keys, rows, outputs, made, expired)}


def late_model(task, parameters):
    return (DFOPRegressor if task.startswith("number") else DFOPClassifier)(**parameters)


@pytest.mark.filterwarnings("ignore:.*rows were given up")
@pytest.mark.parametrize("name", LATE)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_it_does_not_matter_how_calls_are_cut(name, seed):
    task, kind, parameters = LATE[name]
    rng = np.random.default_rng(seed)
    stream = Stream(rng, task, **kind)
    model = late_model(task, parameters)
    predicted, state = one_kind_a_call(model, stream, lambda: True), known_by(model)
    if "limit" in name:
        assert model.expired_ == stream.expired > 0
    if "expiry" in name:
        assert model.expired_ > 0
    for play in (one_kind_a_call, rows_with_labels_between):
        for share in (0.0, 0.2, 1.0):
            model = late_model(task, parameters)
            again = play(model, stream, lambda share=share: rng.random() < share)
            assert (again == predicted).all(), (play.__name__, share)
            now = known_by(model)
            for part, expected in state.items():
                assert now[part] == expected, (play.__name__, share, part)


def test_the_pool_is_that_of_the_first_row_however_the_first_rows_are_cut():
    """Whatever columns the rows after it open."""
    stream = Stream(np.random.default_rng(0), "two", mixed=True)
    widths = set()
    for cut in (True, False):
        model = DFOPClassifier()
        one_kind_a_call(model, stream, lambda cut=cut: cut)
        assert len(model.coded_names_) > 20
        widths |= {expert.width for expert in model.experts_ if expert.features == "rff"}
    assert len(widths) == 1


# -- rows that wait are few ------------------------------------------------------------------------


GIVEN_UP = "rows were given up"


def test_no_more_rows_wait_than_the_limit_and_the_oldest_go_first():
    X = np.ones((1, 2))
    model = DFOPRegressor(0.01, pending_limit=3)
    for t in range(3):
        model.predict_pending(X * t, [f"k{t}"])
    with pytest.warns(UserWarning, match=r"1 rows were given up.*'k0'.*pending_limit=3"):
        model.predict_pending(X * 3, ["k3"])
    for t in range(4, 10):  # warned of once
        model.predict_pending(X * t, [f"k{t}"])
    assert model.pending_ == ["k7", "k8", "k9"]
    assert model.expired_ == 7
    refused(model, lambda m: m.learn_pending(["k9", "k2"], [1.0, 2.0]), "'k2'", "7 have expired")
    model.learn_pending(["k8"], [1.0])
    assert model.pending_ == ["k7", "k9"]


@pytest.mark.filterwarnings(f"ignore:.*{GIVEN_UP}")
def test_a_row_waits_as_many_rows_as_it_may():
    X = np.ones((1, 2))
    model = DFOPRegressor(0.01, pending_expiry=4)
    model.predict_pending(X, ["old"])
    for t in range(3):
        model.predict_pending(X, [t])
    assert "old" in model.pending_
    model.predict_pending(X, [3])
    assert model.pending_ == [0, 1, 2, 3]
    assert model.expired_ == 1


@pytest.mark.filterwarnings(f"ignore:.*{GIVEN_UP}")
def test_rows_that_come_with_their_labels_let_time_pass_too():
    X = np.ones((1, 2))
    model = DFOPRegressor(0.01, pending_expiry=4)
    model.predict_pending(X, ["old"])
    model.partial_fit(np.ones((3, 2)), np.ones(3))
    assert model.pending_ == ["old"]
    model.partial_fit(X, [1.0])
    assert model.pending_ == []
    assert model.expired_ == 1


@pytest.mark.filterwarnings(f"ignore:.*{GIVEN_UP}")
@pytest.mark.parametrize("learn", [False, True])
def test_a_row_waits_as_long_as_it_may_by_the_clock(learn):
    X = np.ones((1, 2))
    model = DFOPRegressor(period("1h"), pending_expiry="3 s")
    model.predict_pending(X, ["old"], time=[10.0])
    for t, expected in ((12.9, ["old"]), (13.0, [])):
        if learn:
            model.partial_fit(X, [1.0], time=[t])
        else:
            model.predict_pending(X, [t_key := f"at {t}"], time=[t])
            model.learn_pending([t_key], [1.0])
        assert model.pending_ == expected


def test_rows_that_wait_by_the_clock_need_their_time():
    model = DFOPRegressor(period("1h"), pending_expiry="3 s").partial_fit(
        [[1.0]], [1.0], time=[0.0]
    )
    refused(model, lambda m: m.predict_pending([[1.0]], ["a"], discount=0.9), "time=")


def test_a_label_that_comes_too_late_within_one_call_is_refused_before_anything_changes():
    model = DFOPRegressor(0.01, pending_expiry=4)
    model.predict_pending([[1.0]], ["old"])
    X, keys = np.ones((6, 1)), list(range(6))
    late = (["old"], [1.0], [4])
    refused(model, lambda m: m.predict_pending(X, keys, labels=late), "'old'", "too late")
    in_time = (["old"], [1.0], [3])
    with pytest.warns(UserWarning, match=GIVEN_UP):
        model.predict_pending(X, keys, labels=in_time)
    assert model.pending_ == [2, 3, 4, 5]


def test_rows_whose_labels_never_come_are_forgotten_without_a_trace():
    X, y = np.random.default_rng(5).normal(size=(2, 30, 2))
    without, with_some = DFOPRegressor(0.0), DFOPRegressor(0.0)
    without.partial_fit(X, y)
    with_some.predict_pending(X[:9], range(9))
    with_some.forget_pending(range(9))
    with_some.partial_fit(X, y)
    assert with_some.pending_ == []
    assert with_some.expired_ == 0  # asked for, not given up
    assert np.abs(weights_of(without) - weights_of(with_some)).max() <= EXACT


def test_a_row_that_waits_is_small():
    """8 numbers and 2 texts of a hundred: what is 0 is not kept."""
    rng = np.random.default_rng(6)

    def frame(n):
        some = pd.DataFrame(rng.normal(size=(n, 8)), columns=list("abcdefgh"))
        return some.assign(i=rng.choice(TEXTS, n), j=rng.choice(TEXTS, n))

    model = DFOPRegressor().partial_fit(frame(2000), rng.normal(size=2000))
    assert len(model.coded_names_) > 200
    before = len(pickle.dumps(model)), len(to_bytes(model))
    model.predict_pending(frame(1000), range(1000))
    after = len(pickle.dumps(model)), len(to_bytes(model))
    made = 8 * model._model.engine.made_size  # what each expert predicted
    assert (after[0] - before[0]) / 1000 < 300 + made
    assert (after[1] - before[1]) / 1000 < 300 + made


TEXTS = [f"text number {k}" for k in range(100)]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ((["p", "q"], [1.0, 2.0], [0]), ["before", "2 keys"]),
        ((["p"], [1.0], [0, 1]), ["before", "1 keys"]),
        ((["p", "q"], [1.0, 2.0], [2, 1]), ["before", "ascend"]),
        ((["p"], [1.0], [99]), ["before", "99"]),
        ((["p"], [1.0], [-1]), ["before", "-1"]),
        ((["p"], [1.0], [0.7]), ["before", "whole numbers"]),
        ((["p"], [1.0]), ["tuple"]),
        ((["new 1"], [1.0], [1]), ["'new 1'", "before the row itself"]),
    ],
)
@pytest.mark.parametrize("lags", [0, 2])
def test_labels_that_cannot_arrive_then_are_refused(labels, words, lags):
    model = DFOPRegressor(0.01, lags=lags)
    model.predict_pending([["red", 1.0], ["blue", 2.0]], ["p", "q"])
    rows = [["green", 3.0], ["red", 4.0]]
    call = {"keys": ["new 0", "new 1"], "labels": labels}
    refused(model, lambda m: m.predict_pending(rows, **call), *words)


def test_several_targets_after_rows_with_lags_say_how_to_begin():
    X = np.arange(12.0).reshape(6, 2)
    model = DFOPRegressor(0.01, lags=1)
    model.predict_pending(X, range(6))
    for learn in (lambda m: m.learn_pending(range(6), X), lambda m: m.partial_fit(X, X)):
        refused(model, learn, "(6, 2)", "with lags= by partial_fit with targets")
    new = DFOPRegressor(0.01, lags=1).partial_fit(X, X)
    new.predict_pending(X, range(6))
    new.learn_pending(range(6), X)
