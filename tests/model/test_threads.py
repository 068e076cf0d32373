"""Several threads may use one model: whatever they call, it is as if one had waited for the other.

Two threads make two calls each. What they got, and the model they leave, must be what one of the
six orders of these calls gives without threads.
"""

import copy
import functools
import itertools
import pickle
import sys
import threading
import time
import traceback

import numpy as np
import pandas as pd
import pytest

import dfop.river
from dfop import DFOPClassifier, DFOPRegressor, from_bytes, to_bytes
from dfop.model import estimator
from dfop.model.label_targets import LabelTarget
from dfop.rows.tables import as_batch
from model_state import everything

ROWS = 12
TEN_SECONDS = 10.0


@pytest.fixture(autouse=True)
def _threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


# -- rows ----------------------------------------------------------------------------------------


def numbers(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=ROWS)


def mixed(seed):
    """A frame with text and gaps; texts are ever new, and from the third one on a column, too."""
    X, y = numbers(seed)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = [f"text {(seed + t // 4) % 9}" for t in range(ROWS)]
    frame.loc[seed % ROWS, ["a", "d"]] = None
    return frame, y


def labels(y, seed):
    """Three classes; the third comes late."""
    return np.array(["low", "high", "new"])[(y > 0).astype(int) + ((y > 1) & (seed > 2))]


# -- calls: (model, seed) -> what it shows ---------------------------------------------------------


def shown(value):
    """A result as something to compare."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist()
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [shown(part) for part in value]
    return repr(value)


def state_of(copied):
    return everything(copied)[1]


class Arrays:
    """The calls of a learner of arrays or frames."""

    def __init__(self, kind, rows, **parameters):
        self.kind, self.rows, self.parameters = kind, rows, parameters
        self.classifies = kind is DFOPClassifier

    def new(self):
        return self.kind(**self.parameters)

    def started(self):
        return self.learn(self.new(), 1)

    def data(self, seed):
        X, y = self.rows(seed)
        return X, labels(y, seed) if self.classifies else y

    @property
    def classes(self):
        return {"classes": ["high", "low", "new"]} if self.classifies else {}

    def learn(self, model, seed):
        return model.partial_fit(*self.data(seed), **self.classes)

    def keys(self, seed):
        return [f"{seed}-{t}" for t in range(ROWS)]

    def announce(self, model, seed):
        return model.predict_pending(self.data(seed)[0], self.keys(seed), **self.classes)

    def settle(self, model, seed):
        model.learn_pending(self.keys(seed - 1), self.data(seed - 1)[1])

    def give_up(self, model, seed):
        model.forget_pending(self.keys(seed - 1)[:5])

    def sequences(self):
        """By name, the two calls of a thread."""
        ask = {
            "predict": lambda m, s: m.predict(self.data(s)[0]),
            "predict_then_learn": lambda m, s: m.predict_then_learn(*self.data(s), **self.classes),
            "coef_": lambda m, s: m.coef_,
            "intercept_": lambda m, s: m.intercept_,
            "coded_names_": lambda m, s: m.coded_names_,
            "feature_names_in_": lambda m, s: m.feature_names_in_,
            "n_features_in_": lambda m, s: m.n_features_in_,
            "pending_": lambda m, s: m.pending_,
            "expired_": lambda m, s: m.expired_,
            "score": lambda m, s: m.score(*self.data(s)),
            "get_params": lambda m, s: m.get_params(),
            "pickle": lambda m, s: state_of(pickle.loads(pickle.dumps(m))),
            "deepcopy": lambda m, s: state_of(copy.deepcopy(m)),
            "to_bytes": lambda m, s: state_of(from_bytes(to_bytes(m))),
            "partial_fit": lambda m, s: self.learn(m, s) and None,
            "fit": lambda m, s: m.fit(*self.data(s), **self.classes) and None,
        }
        if self.classifies:
            ask["predict_proba"] = lambda m, s: m.predict_proba(self.data(s)[0])
            ask["decision_function"] = lambda m, s: m.decision_function(self.data(s)[0])
            ask["classes_"] = lambda m, s: m.classes_
            ask["predict_proba_then_learn"] = lambda m, s: m.predict_proba_then_learn(
                *self.data(s), **self.classes
            )
        if self.parameters.get("forgetting", "auto") == "auto":
            for name in ("experts_", "alarms_", "drift_", "forgetting_", "features_"):
                ask[name] = lambda m, s, name=name: getattr(m, name)
            if not self.classifies:
                ask["predict_interval"] = lambda m, s: m.predict_interval(self.data(s)[0])
                ask["predict_interval_then_learn"] = lambda m, s: m.predict_interval_then_learn(
                    *self.data(s)
                )
        twice = {name: (call, call) for name, call in ask.items()}
        late = {
            "late labels": (self.announce, self.settle),
            "forget": (self.announce, self.give_up),
        }
        return twice | late


class River:
    """The calls of a learner of dicts."""

    def __init__(self, kind, **parameters):
        self.kind, self.parameters = kind, parameters
        self.classifies = kind is dfop.river.DFOPClassifier

    def new(self):
        return self.kind(**self.parameters)

    def started(self):
        model = self.new()
        self.learn(model, 1)
        return model

    def data(self, seed):
        X, y = mixed(seed)
        return X, labels(y, seed) if self.classifies else y

    def row(self, seed):
        X, y = self.data(seed)
        return {**as_batch(X[:1]).dicts()[0], f"new {seed}": 1.0}, y.tolist()[0]

    def learn(self, model, seed):
        model.learn_many(*self.data(seed))

    def sequences(self):
        """By name, the two calls of a thread."""
        ask = {
            "learn_one": lambda m, s: m.learn_one(*self.row(s)),
            "predict_one": lambda m, s: m.predict_one(self.row(s)[0]),
            "learn_many": self.learn,
            "predict_many": lambda m, s: m.predict_many(self.data(s)[0]),
            "pickle": lambda m, s: state_of(pickle.loads(pickle.dumps(m))),
            "deepcopy": lambda m, s: state_of(copy.deepcopy(m)),
            "to_bytes": lambda m, s: state_of(from_bytes(to_bytes(m))),
        }
        if self.classifies:
            ask["predict_proba_one"] = lambda m, s: m.predict_proba_one(self.row(s)[0])
            ask["predict_proba_many"] = lambda m, s: m.predict_proba_many(self.data(s)[0])
        else:
            ask["weights"] = lambda m, s: m.weights
            ask["intercept"] = lambda m, s: m.intercept
        if self.parameters.get("forgetting", "auto") == "auto":
            for name in ("experts_", "alarms_", "drift_", "forgetting_", "features_"):
                ask[name] = lambda m, s, name=name: getattr(m, name)
            if not self.classifies:
                ask["predict_interval_one"] = lambda m, s: m.predict_interval_one(self.row(s)[0])
        return {name: (call, call) for name, call in ask.items()}


FACES = {
    "numbers, fixed mu": Arrays(DFOPRegressor, numbers, forgetting=0.01),
    "numbers, default": Arrays(DFOPRegressor, numbers),
    "text, fixed mu, lags": Arrays(DFOPRegressor, mixed, forgetting=0.01, lags=2),
    "text, linear experts": Arrays(DFOPRegressor, mixed, features="linear"),
    "classes, fixed mu": Arrays(DFOPClassifier, mixed, forgetting=0.01),
    "classes, default, lags": Arrays(DFOPClassifier, mixed, lags=1),
    "River, fixed mu": River(dfop.river.DFOPRegressor, forgetting=0.01),
    "River, linear experts": River(dfop.river.DFOPRegressor, features="linear"),
    "River, classes, fixed mu": River(dfop.river.DFOPClassifier, forgetting=0.01),
    "River, classes, default": River(dfop.river.DFOPClassifier),
}


# -- orders ----------------------------------------------------------------------------------------


def result_of(call, model, seed):
    try:
        return shown(call(model, seed))
    except (AttributeError, ValueError) as error:  # not started yet; a row that does not wait
        return type(error).__name__
    except Exception:
        return traceback.format_exc()


@functools.cache
def orders():
    """All orders of the calls of two threads, as the thread of each call."""
    return sorted(set(itertools.permutations([0, 0, 1, 1])))


def seed_of(thread, call):
    return 2 + 2 * thread + call


def one_after_the_other(model, pair, order):
    results, done = ([], []), [0, 0]
    for thread in order:
        call = done[thread]
        results[thread].append(result_of(pair[thread][call], model, seed_of(thread, call)))
        done[thread] += 1
    return results, everything(model)


def side_by_side(model, pair):
    results, start = ([], []), threading.Barrier(2)

    def work(thread):
        start.wait()
        for call in range(2):
            results[thread].append(result_of(pair[thread][call], model, seed_of(thread, call)))

    threads = [threading.Thread(target=work, args=(thread,)) for thread in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, everything(model)


def expect_some_order(face, pair, seconds=0.0, *, started=True):
    """Let both threads run again and again, once at least."""
    make = face.started if started else face.new
    serial = {}  # worked out when it is needed
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 1 or time.perf_counter() < end:
        outcome = side_by_side(make(), pair)
        assert "Traceback" not in str(outcome[0]), str(outcome[0])
        for order in orders():
            if order not in serial:
                serial[order] = one_after_the_other(make(), pair, order)
            if outcome == serial[order]:
                break
        else:
            raise AssertionError(f"no order explains {outcome[0]}")
        rounds += 1


def pairs_of(face):
    return itertools.combinations_with_replacement(face.sequences().items(), 2)


# All faces take their turn for ten seconds a pair, below, and bring all pairs.
QUICK = [
    "numbers, fixed mu",
    "text, linear experts",
    "classes, fixed mu",
    "River, classes, fixed mu",
]


@pytest.mark.parametrize("name", QUICK)
def test_two_threads_are_as_if_one_waited_for_the_other(name):
    face = FACES[name]
    learners = ("learn", "fit", "late", "forget")
    # each face takes another third of the pairs
    for (first, a), (second, b) in itertools.islice(pairs_of(face), QUICK.index(name) % 3, None, 3):
        if any(word in first + second for word in learners):  # two that only ask change nothing
            expect_some_order(face, (a, b))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in FACES]
)
def test_two_threads_may_bring_the_first_rows(name):
    face = FACES[name]
    calls = face.sequences()
    openers = [calls[name] for name in ("partial_fit", "late labels", "learn_one") if name in calls]
    for a, b in itertools.product(openers, calls.values()):
        expect_some_order(face, (a, b), started=False)


def test_a_model_that_starts_while_it_is_asked_answers(monkeypatch):
    """The first rows are learned between the look for a model and the question if it is fitted."""
    face = FACES["text, fixed mu, lags"]
    model, expected = face.new(), face.new()
    asked = estimator.check_is_fitted

    def slow_to_ask(it):
        it.partial_fit(*face.data(1))
        asked(it)

    monkeypatch.setattr(estimator, "check_is_fitted", slow_to_ask)
    told = model.predict(face.data(2)[0])
    assert np.array_equal(told, expected.partial_fit(*face.data(1)).predict(face.data(2)[0]))


def every_pair():
    return [
        pytest.param(name, first, second, id=f"{name}: {first} beside {second}")
        for name, face in FACES.items()
        for (first, _), (second, _) in pairs_of(face)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "second"), every_pair())
def test_two_threads_for_ten_seconds_a_pair(name, first, second):
    face = FACES[name]
    calls = face.sequences()
    expect_some_order(face, (calls[first], calls[second]), TEN_SECONDS)


@pytest.mark.parametrize("call", ["predict", "predict_proba", "decision_function"])
def test_nobody_learns_while_a_prediction_is_put_into_words(call, monkeypatch):
    """A third class must not come between the outputs and the labels they stand for."""
    face = FACES["classes, default, lags"]
    model, learned = face.started(), threading.Event()
    before = getattr(model, call)(face.data(1)[0])

    def learn():
        model.partial_fit(*face.data(3))
        learned.set()

    learner = threading.Thread(target=learn)
    words = {"predict": "decode", "predict_proba": "shown", "decision_function": "margins"}[call]
    put_into_words = getattr(LabelTarget, words)

    def slowly(*given):
        learner.start()
        assert not learned.wait(0.05)
        return put_into_words(*given)

    monkeypatch.setattr(LabelTarget, words, slowly)
    assert (getattr(model, call)(face.data(1)[0]) == before).all()
    monkeypatch.undo()
    learner.join()
    assert learned.is_set()
