"""Late labels and many classes of small banks by key, beside a dict of models apart.

One stream goes to `Keyed` in calls of many keys and to the models apart row by row. Everything that
both predict is compared, and in the end every number that they know.
"""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, Keyed, ModelFileError
from dfop.files.container import pack, unpack

KEYS, N, D = 6, 500, 3
PIECES = {"errors/length", "errors/history", "errors/open", "errors/open_rows"}
NAMED = ["a", "b", "c", "d"]


class Apart:
    """Models of their own in a dict, given up as a `Keyed` says that it does."""

    def __init__(self, make, given, expire=None, most=None):
        self.make, self.given, self.expire, self.most = make, given, expire, most
        self.models, self.touched, self.of_row = {}, {}, {}
        self.rows = self.evicted = self.expired = self.expired_rows = 0

    def model(self, key):
        """Return the model that a row of the key belongs to."""
        self.rows += 1
        for idle, at in list(self.touched.items()):
            if self.expire and self.rows - at > self.expire:
                self.give_up(idle)
                self.expired += 1
        if key not in self.models:
            if self.most and len(self.models) == self.most:
                self.give_up(min(self.touched, key=self.touched.get))
                self.evicted += 1
            self.models[key] = self.make()
        self.touched[key] = self.rows
        return self.models[key]

    def give_up(self, key):
        del self.models[key], self.touched[key]

    def learn(self, key, x, y):
        model = self.model(key)
        given = self.given if model.__dfop_model__() is None else {}
        return model.predict_then_learn(x, y, **given)[0]

    def arrive(self, key, x, row):
        model = self.of_row[row] = self.model(key)
        return model.predict_pending(x, [row], **self.given)[0]

    def label(self, key, row, y):
        model = self.of_row.pop(row)
        if self.models.get(key) is model:
            model.learn_pending([row], y)
        else:
            self.expired_rows += 1


def stream(kind, rng):
    """Return rows, keys and numbers with a trend and a turn, or labels of which one is rare."""
    X, key = rng.normal(size=(N, D)), rng.integers(0, KEYS, N)
    if kind == "numbers":
        turn = np.where(np.arange(N) < N // 2, 1.0, -3.0)
        return X, key, X[:, 0] * turn + 0.02 * np.arange(N) + 0.1 * rng.normal(size=N)
    if kind == "two outputs":
        return X, key, X @ rng.normal(size=(D, 2)) + 0.1 * rng.normal(size=(N, 2))
    if kind == "two classes":
        return X, key, np.where(X[:, 0] + rng.normal(size=N) > 0, "b", "a")
    best = np.argmax(X + rng.normal(size=X.shape), axis=1)
    return X, key, np.array(NAMED)[np.where(rng.random(N) < 0.02, 3, best)]


def same(a, b):
    a = np.asarray(a)
    np.testing.assert_array_equal(a, np.array(b, dtype=a.dtype).reshape(a.shape))


def run(rng, keyed, apart, data, *, late):
    """Give both the same rows, with labels at once or some of them late, in any order."""
    X, key, y = data
    waiting, start = [], 0
    while start < N:
        rows = np.arange(start, min(start + int(rng.integers(1, 12)), N))
        start = int(rows[-1]) + 1
        given = {} if keyed._models.targets.target.known else apart.given
        if not late or (keyed.expired_rows_ + len(waiting) > 5 and rng.random() < 0.25):
            told = keyed.predict_then_learn(key[rows], X[rows], y[rows], **given)
            same(told, [apart.learn(key[r], X[[r]], y[[r]]) for r in rows])
        else:
            told = keyed.predict_pending(key[rows], X[rows], rows.tolist(), **given)
            same(told, [apart.arrive(key[r], X[[r]], int(r)) for r in rows])
            waiting += rows.tolist()
        if waiting and rng.random() < 0.5:
            count = int(rng.integers(1, min(len(waiting), 14) + 1))
            due = [waiting.pop(int(rng.integers(min(len(waiting), 40)))) for _ in range(count)]
            keyed.learn_pending(due, y[due])
            for r in due:
                apart.label(key[r], r, y[[r]])
        if rng.random() < 0.1 and len(keyed):
            keyed = Keyed.from_bytes(keyed.to_bytes())
    return keyed


def all_the_same(keyed, apart):
    assert set(keyed) == set(apart.models)
    some_late = False
    for key, alone in apart.models.items():
        mine, model = keyed[key].__dfop_model__(), alone.__dfop_model__()
        assert mine.engine.targets == model.engine.targets
        some_late |= any(len(target) > 3 for target in mine.engine.targets)
        state, expected = mine.engine.state(), model.engine.state()
        assert state.keys() == expected.keys()
        for name in state.keys() - PIECES:
            np.testing.assert_array_equal(state[name], expected[name], err_msg=name)
    return some_late


CASES = [
    ("numbers", {}, {}),
    ("two classes", {"classes": ["a", "b"]}, {}),
    ("many classes", {"classes": NAMED}, {}),
    ("many classes", {"classes": [*NAMED, "never"]}, {}),
    ("many classes", {"classes": "open"}, {}),
    ("many classes", {"classes": "open"}, {"max_classes": 4}),
]


def makes(kind, parameters, forgetting="few"):
    face = DFOPRegressor if kind in ("numbers", "two outputs") else DFOPClassifier
    return lambda: face(forgetting, **parameters)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("kind", "given", "parameters", "late"),
    [(*case, late) for case in CASES for late in (False, True)] + [("two outputs", {}, {}, False)],
)
def test_every_number_is_that_of_models_apart(kind, given, parameters, late, seed):
    rng, make = np.random.default_rng(seed), makes(kind, parameters)
    apart = Apart(make, given)
    keyed = run(rng, Keyed(make()), apart, stream(kind, rng), late=late)
    assert all_the_same(keyed, apart) is late  # a second combination began, or none did


@pytest.mark.parametrize(
    (
        "kind",
        "given",
        "parameters",
        "expire",
    ),  # an open class makes keys larger, so fewer have room
    [(*CASES[0], None), (*CASES[0], 15), (*CASES[2], None), (*CASES[2], 15), (*CASES[4], 15)],
)
def test_models_given_up_take_their_late_labels_along(kind, given, parameters, expire):
    rng, make = np.random.default_rng(7), makes(kind, parameters)
    X, key, y = stream(kind, rng)
    begun = Keyed(make())
    begun.predict_pending(key[:1], X[:1], ["first"], **given)
    limit = None if expire else 4 * begun.bytes_per_key_ + 100
    apart = Apart(make, given, expire, None if expire else 4)
    keyed = run(
        rng, Keyed(make(), expire=expire, memory_limit=limit), apart, (X, key, y), late=True
    )
    all_the_same(keyed, apart)
    counts = keyed.expired_, keyed.evicted_, keyed.expired_rows_
    assert counts == (apart.expired, apart.evicted, apart.expired_rows)
    assert apart.expired_rows > 0


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("forgetting", [0.05, "few"])
@pytest.mark.parametrize("expire", [1, 2, 3])
def test_labels_of_models_that_are_given_up_within_a_call(forgetting, expire, seed):
    """Keys are often idle for some rows, and others take their places in the same call."""
    rng, make = np.random.default_rng(seed), makes("numbers", {}, forgetting)
    apart = Apart(make, {}, expire)
    keyed = run(rng, Keyed(make(), expire=expire), apart, stream("numbers", rng), late=True)
    assert (keyed.expired_, keyed.expired_rows_) == (apart.expired, apart.expired_rows)
    assert set(keyed) == set(apart.models)
    probes = np.eye(D)
    for key, alone in apart.models.items():
        same(keyed[key].predict(probes), alone.predict(probes))


def test_a_limit_too_small_for_late_labels_is_told_and_nothing_is_lost():
    rng = np.random.default_rng(0)
    X, key, y = stream("numbers", rng)
    size = Keyed(DFOPRegressor("few")).partial_fit(key[:1], X[:1], y[:1]).bytes_per_key_
    keyed = Keyed(DFOPRegressor("few"), memory_limit=size).partial_fit(key[:9], X[:9], y[:9])
    before = keyed.to_bytes()
    with pytest.raises(ValueError, match="too little for one key"):
        keyed.predict_pending(key[9:12], X[9:12], range(3))
    assert keyed.to_bytes() == before
    keyed.partial_fit(key[9:], X[9:], y[9:])
    whole = Keyed(DFOPRegressor("few"), memory_limit=size).partial_fit(key, X, y)
    assert keyed.to_bytes() == whole.to_bytes()


def test_a_key_without_a_label_yet_goes_on_apart():
    X, _, y = stream("numbers", np.random.default_rng(3))
    keyed, alone = Keyed(DFOPRegressor("few")), DFOPRegressor("few")
    keyed.predict_pending(np.zeros(9, int), X[:9], range(9))
    alone.predict_pending(X[:9], range(9))
    mine = keyed[0]
    for model in (mine, alone):
        model.predict_pending(X[9:30], range(9, 30))
        model.learn_pending(range(9, 30), y[9:30])
    same(mine.predict(X), alone.predict(X))


def test_names_of_columns_text_and_a_shared_model_with_late_labels():
    """However rows and labels are cut into calls."""
    rng = np.random.default_rng(4)
    X, key, y = stream("many classes", rng)
    rows = X.astype(object)
    rows[:, 2] = np.array(["red", "green", "blue"])[rng.integers(0, 3, N)]
    rows[:, 2][:100] = "red"
    for shared in (False, True):
        whole, parts = (Keyed(DFOPClassifier("few"), shared=shared) for _ in range(2))
        told = []
        for t in range(N):
            told += list(parts.predict_pending(key[[t]], rows[[t]], [t], classes=NAMED))
            if t >= 20:
                parts.learn_pending([t - 20], y[[t - 20]])
        due = list(range(N - 20)), y[: N - 20], np.arange(21, N + 1)
        ahead = whole.ahead_pending(key, rows, list(range(N)), labels=due, classes=NAMED)
        same(ahead.prediction, told)
        same(whole.predict_proba(key, rows), parts.predict_proba(key, rows))
        assert whole.pending_ == parts.pending_


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e301, 0.5, -1.0, 7.0])
def test_damaged_numbers_of_late_labels_are_refused_or_harmless(value):
    X, key, y = stream("many classes", np.random.default_rng(5))
    keyed = Keyed(DFOPClassifier("few"))
    keyed.predict_pending(key[:90], X[:90], range(90), classes="open")
    for row in range(60):
        keyed.learn_pending([row], y[[row]])
    document, tensors = unpack(keyed.to_bytes())
    for name in ("records", "waiting.made", "waiting.stamps", "late"):
        for at in range(0, tensors[name].size, 1 + tensors[name].size // 60):
            broken = tensors[name].copy()
            broken.flat[at] = value
            try:
                twin = Keyed.from_bytes(pack(document, {**tensors, name: broken}))
            except ModelFileError:
                continue
            twin.learn_pending(range(60, 80), y[60:80])
            twin.predict(key, X)


def test_a_number_that_is_none_is_refused_in_each_part():
    X, key, y = stream("numbers", np.random.default_rng(6))
    keyed = Keyed(DFOPRegressor("few"))
    keyed.predict_pending(key[:90], X[:90], range(90))
    keyed.learn_pending(range(60), y[:60])
    document, tensors = unpack(keyed.to_bytes())
    for name in ("records", "waiting.made", "waiting.stamps", "late"):
        broken = tensors[name].copy()
        broken.flat[0] = np.nan
        with pytest.raises(ModelFileError):
            Keyed.from_bytes(pack(document, {**tensors, name: broken}))
