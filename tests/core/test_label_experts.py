"""The experts of class labels: against their formulas, and the promises every expert keeps."""

import itertools

import numpy as np
import pytest
from expert_state import bits
from hypothesis import given, settings
from hypothesis import strategies as st
from label_oracle import ORACLES, shares, standardised

from dfop.core import Bank

KINDS = tuple(ORACLES)
EXPERTS = [(kind, mu, 0.0) for kind in KINDS for mu in (0.0, 0.01)]
EXPERTS.append(("histogram_bayes", 0.0, 0.0))
BOTH = [("margin", 1), ("one_hot", 3, True)]


def bank_of(features, targets, experts=EXPERTS):
    return Bank(features, targets, [], experts, True, 30.0, True, np.inf)


def coded(labels, targets):
    """Numbers for class indices; -1 is none of the known classes."""
    parts = []
    for coding, outputs, *_ in targets:
        if coding == "margin":
            parts.append(np.select([labels == 0, labels == 1], [-1.0, 1.0], 0.0)[:, None])
        else:
            parts.append((labels[:, None] == np.arange(outputs)).astype(float))
    return np.ascontiguousarray(np.hstack(parts))


def stream(seed, n, d, classes):
    """Clusters that move; one feature begins late, one is in small units and far from 0."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.integers(0, classes, n), np.arange(n) // 8)  # classes come in order
    centres = 2.0 * rng.normal(size=(classes, d))
    X = centres[labels] + rng.normal(size=(n, d)) + np.linspace(0, 2, n)[:, None]
    X[: n // 4, 0] = 0.0
    X[:, -1] = 1e4 + 1e-2 * X[:, -1]
    return X, labels


def learn(bank, X, Y, elapsed=1.0, age=0.0):
    out = np.empty(Y.shape)
    bank.learn(
        np.ascontiguousarray(X), np.ascontiguousarray(Y), np.atleast_1d(elapsed),
        np.atleast_1d(age), out,
    )  # fmt: skip
    return out


def each(bank, X):
    """What every expert says by itself: (experts, rows, outputs)."""
    out = np.empty((len(bank.experts), len(X), bank.outputs))
    bank.predict_each(np.ascontiguousarray(X), out)
    return out


def fading(mu, elapsed, age):
    """Of a row that stands for `elapsed` rows, and came `age` ago."""
    copies = elapsed if mu == 0 else (1 - (1 - mu) ** elapsed) / mu
    return (1 - mu) ** elapsed, copies * (1 - mu) ** age


def shown(p, targets):
    parts = []
    for coding, outputs, *_ in targets:
        parts.append([p[1] - p[0]] if coding == "margin" else p[:outputs])
    return np.concatenate(parts)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("targets", "classes"),
    [([("margin", 1)], 2), ([("one_hot", 4)], 4), ([("margin", 1), ("one_hot", 3, True)], 2)],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mu", [0.0, 0.01])
def test_each_is_what_its_formulas_say(kind, mu, targets, classes, seed, weighted):
    rng = np.random.default_rng(seed)
    n, d = 150, 4
    X, labels = stream(seed, n, d, classes)
    elapsed, age = np.ones(n), np.zeros(n)
    if weighted:
        elapsed = rng.choice([0.25, 1.0, 2.0, 3.0], n)
        age = rng.choice([0.0, 2.5, np.inf], n, p=[0.8, 0.1, 0.1])
        age[:20] = 0.0
    seen = np.isfinite(age)
    z = standardised(X, seen)
    bank = bank_of(d, targets, [(kind, mu, 0.0)])
    oracle = ORACLES[kind](d, max(classes, 3))
    Y = coded(labels, targets)
    squares = []
    for t in range(n):
        expected = shown(oracle.predict(X[t], z[t]), targets)
        found = each(bank, X[t : t + 1])[0, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7, err_msg=f"row {t}")
        learn(bank, X[t : t + 1], Y[t : t + 1], elapsed[t], age[t])
        if seen[t]:
            decisive = Y[t, :1] - expected[:1] if len(targets) == 2 else Y[t] - expected
            squares.append((decisive**2).sum())
            oracle.learn(X[t], z[t], labels[t], *fading(mu, elapsed[t], age[t]))
    # what it said while it learned, not only when it was asked
    assert bank.errors()["mean"][0] == pytest.approx(np.mean(squares), rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 5])
def test_histograms_are_what_their_formula_says(classes, weighted):
    """Where edges are drawn anew, the counts are taken over: what a bin holds moves as a whole."""
    rng = np.random.default_rng(classes)
    n, d, targets = 300, 4, [("one_hot", classes)]
    X, labels = stream(classes, n, d, classes)
    X[:, 1] = np.round(X[:, 1])
    Y = coded(labels, targets)
    elapsed = rng.choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    bank = bank_of(d, targets, [("histogram_bayes", 0.0, 0.0)])
    weights, counts, edges = np.zeros(classes), np.zeros((d, 32, classes)), None
    for t in range(n):
        state = bank.state()
        if edges is None or (edges != state["bins/edges"]).any():
            edges, taken = state["bins/edges"], state["expert 0/label 0/counts"]
            np.testing.assert_allclose(taken.sum(axis=1), counts.sum(axis=1))
            counts = taken
        bins = (edges < 2.0**500).sum(axis=1) + 1
        at = (X[t][:, None] >= edges).sum(axis=1)
        scores = np.log(np.where(weights > 0, weights, 1.0))
        for j in np.flatnonzero(bins > 1):
            share = (counts[j, at[j]] + 0.5) / (weights + 0.5 * bins[j])
            scores += np.log(share) / np.sqrt((bins > 1).sum())
        found = each(bank, X[t : t + 1])[0, 0]
        np.testing.assert_allclose(found, shares(scores, weights), rtol=1e-9, atol=1e-12)
        learn(bank, X[t : t + 1], Y[t : t + 1], elapsed[t])
        weights[labels[t]] += elapsed[t]
        counts[np.arange(d), at, labels[t]] += elapsed[t]
    assert (bins > 5).all()


def test_histograms_have_room_for_so_many_classes():
    """Those beyond are never likely, whether they were announced or came later."""
    d, known, all_classes = 100, 40, 50  # 2^17 cells of 32 bins each
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(500, d)), np.arange(500) % all_classes
    always = bank_of(d, [("one_hot", all_classes)], [("histogram_bayes", 0.0, 0.0)])
    grown = bank_of(d, [("one_hot", 10)], [("histogram_bayes", 0.0, 0.0)])
    grown.add_outputs(40)
    wider = bank_of(60, [("one_hot", all_classes)], [("histogram_bayes", 0.0, 0.0)])
    Y = coded(labels, [("one_hot", all_classes)])
    for bank in (always, grown):
        learn(bank, X, Y)
        assert bank.state()["expert 0/label 0/counts"].size <= 2**17
    assert bits(grown) == bits(always)
    said = each(always, X)[0]
    assert said[:, :known].any(axis=0).all()
    assert not said[:, known:].any()
    learn(wider, X[:, :60], Y)
    assert each(wider, X[:, :60])[0].any(axis=0).all()
    wider.add_features(40)
    assert not each(wider, X)[0][:, known:].any()


def test_what_one_says_of_a_row_adds_up_to_1_and_a_margin_is_the_difference():
    X, labels = stream(3, 300, 3, 2)
    bank = bank_of(3, BOTH)
    assert not each(bank, X).any()  # nothing was learned
    learn(bank, X[:5], coded(np.zeros(5, int), BOTH))
    said = each(bank, X)
    np.testing.assert_array_equal(said, np.broadcast_to([-1.0, 1.0, 0.0, 0.0], said.shape))
    learn(bank, X, coded(labels, BOTH))
    said = each(bank, X)
    np.testing.assert_allclose(said[..., 1:].sum(axis=-1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(said[..., 0], said[..., 2] - said[..., 1])
    assert not said[..., 3].any()  # never learned


@pytest.mark.parametrize("cuts", [[1], [127, 128], [5, 200, 201], list(range(1, 400, 7))])
def test_nothing_depends_on_how_rows_are_cut(cuts):
    X, labels = stream(1, 400, 5, 6)
    targets = [("one_hot", 7)]
    whole, parts = bank_of(5, targets), bank_of(5, targets)
    Y = coded(labels, targets)
    out = learn(whole, X, Y)
    edges = [0, *cuts, 400]
    pieces = [learn(parts, X[a:b], Y[a:b]) for a, b in itertools.pairwise(edges) if a < b]
    assert np.vstack(pieces).tobytes() == out.tobytes()
    assert bits(whole) == bits(parts)


def test_time_passes_before_a_row_and_changes_no_prediction():
    X, labels = stream(2, 300, 3, 3)
    targets = [("one_hot", 3)]
    Y = coded(labels, targets)
    once, twice = bank_of(3, targets), bank_of(3, targets)
    for t in range(300):
        row = slice(t, t + 1)
        learn(once, X[row], Y[row])
        before = each(twice, X)
        twice.forget(1.0)
        assert each(twice, X).tobytes() == before.tobytes()
        learn(twice, X[row], Y[row], elapsed=0.0)
    assert bits(once) == bits(twice)


def test_a_discriminant_is_exact_after_a_long_time():
    """Its scatter was updated 20,000 times; here it is worked out once, from all rows."""
    mu, n, d = 0.002, 20_000, 5
    rng = np.random.default_rng(12)
    labels = rng.integers(0, 3, n)
    mix = np.eye(d) + 0.5 * rng.normal(size=(d, d))
    X = (rng.normal(size=(3, d))[labels] + rng.normal(size=(n, d))) @ mix
    before = np.arange(n)[:, None]
    sums, squares = (np.vstack([np.zeros(d), np.cumsum(part, axis=0)[:-1]]) for part in (X, X**2))
    mean = sums[1:] / before[1:]
    spread = np.sqrt(squares[1:] / before[1:] - mean**2)
    z = np.zeros((n, d))
    z[2:] = np.clip((X[2:] - mean[1:]) / spread[1:], -4, 4)
    bank = bank_of(d, [("one_hot", 3)], [("discriminant", mu, 0.0)])
    learn(bank, X, coded(labels, [("one_hot", 3)]))
    weights = (1 - mu) ** np.arange(n - 1, -1, -1)
    S = np.zeros((d, d))
    for c in range(3):
        of = labels == c
        means = np.average(z[of], axis=0, weights=weights[of])
        S += ((z[of] - means) * weights[of, None]).T @ (z[of] - means)
        if c == labels[-1]:
            last = means
    found = bank.state()["expert 0/label 0/direction"][labels[-1]]
    np.testing.assert_allclose(found, weights.sum() * np.linalg.solve(S, last), rtol=1e-6)


def test_a_discriminant_bears_columns_that_are_sums_of_others():
    X, labels = stream(13, 6000, 3, 2)
    X = np.column_stack([X[:, :2], X[:, 0] + X[:, 1], X[:, 0] - X[:, 1], np.ones(6000)])
    targets = [("margin", 1)]
    plain, dependent = (
        bank_of(d, targets, [("discriminant", mu, 0.0) for mu in (0.0, 0.01, 0.5)]) for d in (2, 5)
    )
    Y = coded(labels, targets)
    learn(plain, X[:, :2], Y)
    learn(dependent, X, Y)
    rows = X[-500:]
    right = [
        ((each(bank, rows[:, : bank.features])[..., 0] > 0) == (Y[-500:, 0] > 0)).mean(axis=1)
        for bank in (plain, dependent)
    ]
    assert (np.abs(right[0] - right[1]) < 0.03).all()
    for k in range(3):
        state = dependent.state()
        E = state[f"expert {k}/label 0/E"] / state[f"expert {k}/label 0/unit"]
        assert (E >= 1 - 1e-9).all()  # a row of the prior is never forgotten


@pytest.mark.parametrize("kind", KINDS)
def test_all_is_forgotten_after_a_long_time(kind):
    X, labels = stream(2, 300, 3, 3)
    targets = [("one_hot", 3)]
    Y = coded(labels, targets)
    bank = bank_of(3, targets, [(kind, 0.01, 0.0)])
    learn(bank, X, Y)
    for _ in range(5):
        bank.forget(1e6)
    assert np.isfinite(each(bank, X)).all()
    learn(bank, X[:1], Y[:1])
    said = each(bank, X)[0]
    np.testing.assert_allclose(said, np.tile(Y[0], (300, 1)), atol=1e-12)


def test_classes_that_come_later_are_those_announced():
    X, labels = stream(4, 400, 3, 5)
    always, grown = bank_of(3, [("one_hot", 6)]), bank_of(3, [("one_hot", 4)])  # a spare
    since = int(np.argmax(labels >= 3))
    Y = coded(labels, [("one_hot", 6)])
    expected = learn(always, X[:since], Y[:since])
    found = learn(grown, X[:since], Y[:since, :4])
    assert found.tobytes() == np.ascontiguousarray(expected[:, :4]).tobytes()
    grown.add_outputs(2)
    assert bits(grown) == bits(always)
    found, expected = (learn(bank, X[since:], Y[since:]) for bank in (grown, always))
    assert found.tobytes() == expected.tobytes()
    assert bits(grown) == bits(always)


def test_a_margin_that_goes_leaves_its_classes():
    X, labels = stream(5, 300, 3, 2)
    both, alone = bank_of(3, BOTH), bank_of(3, [("one_hot", 3)])
    learn(both, X, coded(labels, BOTH))
    learn(alone, X, coded(labels, [("one_hot", 3)]))
    both.drop_first_target()
    both.set_shadow(0, False)

    def of_experts(bank):
        return {k: v for k, v in bits(bank).items() if k.startswith("expert ")}

    assert of_experts(both) == of_experts(alone)
    assert each(both, X).tobytes() == each(alone, X).tobytes()


def test_a_margin_alone_is_one_with_classes_in_its_shadow():
    X, labels = stream(5, 300, 3, 2)
    both, alone = bank_of(3, BOTH), bank_of(3, [("margin", 1)])
    for bank, targets in ((both, BOTH), (alone, [("margin", 1)])):
        learn(bank, X, coded(labels, targets))
    said = np.ascontiguousarray(each(both, X)[..., :1])
    assert said.tobytes() == each(alone, X).tobytes()


def test_labels_side_by_side_know_nothing_of_each_other():
    X, first = stream(6, 200, 3, 2)
    second = np.random.default_rng(7).integers(0, 3, 200)
    several, numbers = [("margin", 1), ("one_hot", 3)], np.arange(200.0)[:, None]
    bank = bank_of(3, [*several, ("number", 1)])
    learn(bank, X, np.hstack([coded(first, several[:1]), coded(second, several[1:]), numbers]))
    said = each(bank, X)
    for at, (labels, target) in enumerate([(first, several[0]), (second, several[1])]):
        alone = bank_of(3, [target])
        learn(alone, X, coded(labels, [target]))
        expected = each(alone, X)
        assert np.ascontiguousarray(said[..., at : at + target[1]]).tobytes() == expected.tobytes()
    assert not said[..., 4].any()  # a number is not theirs to predict
    before = bits(bank)
    bank.restore(bank.state())
    assert bits(bank) == before


def test_a_row_of_none_of_the_known_classes_teaches_nothing_but_time():
    X, labels = stream(8, 200, 3, 2)
    targets = [("margin", 1)]
    taught, waited = bank_of(3, targets), bank_of(3, targets)
    for bank in (taught, waited):
        learn(bank, X[:150], coded(labels[:150], targets))
    row, nothing = np.zeros((1, 3)), coded(np.full(1, -1), targets)
    experts = {name: v for name, v in taught.state().items() if name.startswith("expert ")}
    learn(taught, row, nothing)
    waited.forget(1.0)
    assert bits(taught) != bits(waited)  # the combination saw the row
    for name in experts:
        np.testing.assert_array_equal(taught.state()[name], waited.state()[name], name)


def test_a_feature_that_comes_later_was_always_0():
    X, labels = stream(9, 400, 5, 3)
    targets = [("one_hot", 3)]
    X[:200, 3:] = 0.0
    Y = coded(labels, targets)
    always, grown = bank_of(5, targets), bank_of(3, targets)
    expected = learn(always, X[:200], Y[:200])
    assert learn(grown, X[:200, :3], Y[:200]).tobytes() == expected.tobytes()
    grown.add_features(2)
    assert bits(grown) == bits(always)
    assert learn(grown, X[200:], Y[200:]).tobytes() == learn(always, X[200:], Y[200:]).tobytes()
    assert bits(grown) == bits(always)


@pytest.mark.parametrize("at", [0, 1, 77, 200])
def test_a_bank_goes_on_from_its_state_to_the_last_bit(at):
    X, labels = stream(10, 400, 3, 5)
    targets = [("one_hot", 5)]
    Y = coded(labels, targets)
    first, second = bank_of(3, targets), bank_of(3, targets)
    learn(first, X[:at], Y[:at])
    first.forget(3.0)
    second.restore(first.state())
    assert learn(first, X[at:], Y[at:]).tobytes() == learn(second, X[at:], Y[at:]).tobytes()
    assert bits(first) == bits(second)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("expert 0/label 0/weights", 1e-250),
        ("expert 2/label 0/variance", 1e-300),
        ("expert 6/label 0/class", 0.5),
        ("expert 6/label 0/class", 3.0),
        ("expert 6/label 0/changed", 0.5),
        ("expert 8/label 0/bins", 1.5),
    ],
)
def test_what_no_expert_can_have_known_is_refused(field, value):
    X, labels = stream(11, 100, 3, 3)
    bank = bank_of(3, [("one_hot", 3)])
    learn(bank, X, coded(labels, [("one_hot", 3)]))
    before, state = bits(bank), bank.state()
    state[field].flat[0] = value
    with pytest.raises(ValueError, match=f"^{field.rpartition('/')[0]}"):
        bank.restore(state)
    assert bits(bank) == before


def test_every_field_is_checked_and_named():
    X, labels = stream(11, 100, 3, 3)
    bank = bank_of(3, [("one_hot", 3)])
    learn(bank, X, coded(labels, [("one_hot", 3)]))
    before, state = bits(bank), bank.state()
    told = Bank.shapes(3, bank.targets, [], EXPERTS, True)
    for field in (name for name in state if name.startswith("expert ")):
        assert told[field] == state[field].shape
        for bad in (np.nan, np.inf, -1e308, 1e308):
            worse = state[field].copy()
            worse.flat[-1] = bad
            with pytest.raises(ValueError, match=f"^{field}: "):
                bank.restore({**state, field: worse})
        with pytest.raises(ValueError, match=f"^{field}: "):
            bank.restore({**state, field: state[field].ravel()[:-1]})
    assert bits(bank) == before


def test_histograms_do_not_forget():
    with pytest.raises(ValueError, match="histogram_bayes"):
        bank_of(3, [("one_hot", 3)], [("histogram_bayes", 0.01, 0.0)])


HOSTILE = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e-160, 1e150, -1e150, 2.0**500, -(2.0**500), 3.7]
)


@given(
    rows=st.lists(
        st.tuples(
            st.lists(HOSTILE, min_size=3, max_size=3),
            st.integers(-1, 3),
            st.sampled_from([1.0, 0.0, 1e-60, 1e30, 2.5, 1e9]),
            st.sampled_from([0.0, 0.0, 0.0, 1e6, np.inf]),
        ),
        min_size=1,
        max_size=60,
    )
)
@settings(max_examples=60, deadline=None)
def test_whatever_comes_probabilities_stay_probabilities(rows):
    targets = [("one_hot", 4)]
    bank = bank_of(3, targets, [*EXPERTS, *((kind, 0.9, 0.0) for kind in KINDS)])
    for x, label, elapsed, age in rows:
        learn(bank, np.array([x]), coded(np.array([label]), targets), elapsed, age)
        said = each(bank, np.array([x, [0.0, 1.0, 2.0**500]]))
        assert np.isfinite(said).all()
        assert (said >= 0).all()
        assert (said.sum(axis=-1) <= 1 + 1e-9).all()
    bank.restore(bank.state())  # and the state is one that can be saved
