"""The compiled coder: what its rules say, for any split; and back to where it was."""

import copy
import pickle

import numpy as np
import pytest
from coder_oracle import OracleCoder, bucket_of, clean
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_batches import WORDS, as_given, batches, cut

from dfop.core import BUCKETS, Coder, KindError, clean_text, restore_coder

ONCE = np.ones(1)
MOST = st.integers(1, 6)


def code(coder, batch):
    return coder.code(*as_given(batch), np.array(batch.weights))


def everything(coder):
    """All that a coder knows, to the bit."""
    state = {name: values.tobytes() for name, values in coder.state().items()}
    return coder.describe(), coder.lags, coder.shared, coder.kinds(), coder.width, state


def names_of(coder):
    return [f"c{j}" for j in range(coder.columns)]


# -- the rules --------------------------------------------------------------------------------


@settings(max_examples=150)
@given(parts=batches(), most=MOST)
def test_the_coder_is_what_its_rules_say(parts, most):
    coder, oracle = Coder(most), OracleCoder(most)
    for batch in parts:
        rows, widths = code(coder, batch)
        expected, expected_widths = oracle.code(batch.columns, batch.cells, batch.weights)
        assert rows.tobytes() == expected.tobytes()
        assert widths == expected_widths
        assert coder.describe() == oracle.describe()
        assert coder.labels(names_of(coder)) == oracle.labels(names_of(coder))
        assert coder.state()["sums"].tolist() == oracle.sums
        assert coder.state()["counts"].tolist() == oracle.counts


@settings(max_examples=100)
@given(parts=batches(), most=MOST, data=st.data())
def test_any_split_gives_the_same_bits(parts, most, data):
    whole, split = Coder(most), Coder(most)
    for batch in parts:
        rows, _ = code(whole, batch)
        at = data.draw(st.integers(1, len(batch.cells)))
        pieces = [cut(batch, 0, at), cut(batch, at, len(batch.cells))]
        coded = [code(split, piece)[0] for piece in pieces if piece.cells]
        padded = np.zeros(rows.shape)
        for piece, start in zip(coded, (0, at), strict=False):
            padded[start : start + len(piece), : piece.shape[1]] = piece
        assert padded.tobytes() == rows.tobytes()
        assert everything(split) == everything(whole)


@settings(max_examples=100)
@given(parts=batches(), most=MOST)
def test_predicting_is_coding_rows_of_weight_0_and_changes_nothing(parts, most):
    coder = Coder(most)
    for batch in parts:
        before = everything(coder)
        asked = coder.code_to_predict(*as_given(batch))
        assert everything(coder) == before
        twin = copy.deepcopy(coder)
        rows, _ = code(twin, batch._replace(weights=[0.0] * len(batch.cells)))
        new = [j for j, c in enumerate(batch.columns) if c >= coder.columns]
        for column in batch.columns:  # a column never seen has no part in a prediction
            if column >= coder.columns:
                rows[:, twin.describe()[column]["place"]] = 0.0
        assert asked.tobytes() == np.ascontiguousarray(rows[:, : coder.width]).tobytes()
        assert len(new) == rows.shape[1] - coder.width
        code(coder, batch)


@pytest.mark.parametrize(
    "text", [*WORDS, "", "\t", "N/A", "nULL", "<NA>", "nan ", "nano", "é\u2003"]
)
def test_text_is_stripped_and_some_words_say_that_it_is_missing(text):
    assert clean_text(text) == clean(text)


def test_texts_beyond_the_first_hundred_share_columns():
    texts = [f"t{k}" for k in range(400)]
    coder = Coder()
    rows, widths = coder.code(np.zeros((400, 1)), {0: (np.arange(400), texts)}, [0], ONCE)
    assert rows.shape == (400, 100 + BUCKETS)
    np.testing.assert_array_equal(rows[:100, :100], np.eye(100))
    labels = coder.labels(["c"])
    shared = [labels[row.argmax()] for row in rows[100:]]
    assert shared == [f"c#{bucket_of(text)}" for text in texts[100:]]
    assert len(widths) == 132


def test_a_batch_of_plain_numbers_is_its_own_code():
    coder, slow = Coder(), OracleCoder()
    rng = np.random.default_rng(0)
    for weight in (ONCE, np.array([0.5]), rng.uniform(0.0, 2.0, 30)):
        X = rng.normal(size=(30, 3))
        for columns in (range(3), None, [0, 1, 2]):
            rows, widths = coder.code(X, {}, columns, weight)
            assert rows is X
            assert widths == [(0, 3)]
            slow.code([0, 1, 2], X.tolist(), np.broadcast_to(weight, 30).tolist())
        assert coder.code_to_predict(X, {}, range(3)) is X
    assert coder.state()["sums"].tolist() == slow.sums
    assert coder.state()["counts"].tolist() == slow.counts
    assert coder.code(X, {}, [0, 2, 1], ONCE)[0] is not X


def test_large_batches_are_coded_alike():
    """Without the GIL, in the same way."""
    rng = np.random.default_rng(1)
    n = 4000
    numbers = rng.normal(size=(n, 3))
    numbers[rng.random((n, 3)) < 0.1] = np.nan
    codes, values = rng.integers(-1, 300, n), [f"v{k}" for k in range(300)]
    coder, oracle = Coder(), OracleCoder()
    rows, widths = coder.code(numbers, {1: (codes, values)}, None, ONCE)
    cells = [
        [a, None if k < 0 else values[k], b]
        for (a, _, b), k in zip(numbers.tolist(), codes, strict=True)
    ]
    expected, expected_widths = oracle.code([0, 1, 2], cells, np.ones(n))
    assert rows.tobytes() == expected.tobytes()
    assert widths == expected_widths


# -- back -------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(parts=batches(4), most=MOST)
def test_rollback_undoes_the_last_batch_completely(parts, most):
    coder = Coder(most)
    for batch in parts:
        before = everything(coder)
        rows, widths = code(coder, batch)
        after = everything(coder)
        coder.rollback()
        assert everything(coder) == before
        coder.rollback()  # there is nothing left to undo
        assert everything(coder) == before
        again, widths_again = code(coder, batch)
        assert (again.tobytes(), widths_again) == (rows.tobytes(), widths)
        assert everything(coder) == after


@settings(max_examples=50)
@given(parts=batches(4), most=MOST)
def test_a_group_of_changes_is_undone_together(parts, most):
    coder = Coder(most)
    code(coder, parts[0])
    before = everything(coder)
    coder.begin()
    for batch in parts[1:]:
        coder.open_lags(1)
        code(coder, batch)
    coder.rollback()
    assert everything(coder) == before
    coder.begin()
    coder.open_lags(2)
    coder.commit()
    coder.rollback()
    assert len(coder.lags) == 2


@settings(max_examples=50)
@given(parts=batches(2), most=MOST)
def test_a_coder_goes_on_as_if_never_stopped(parts, most):
    coder = Coder(most)
    coder.open_lags(2)
    code(coder, parts[0])
    for other in (pickle.loads(pickle.dumps(coder)), copy.deepcopy(coder)):
        assert everything(other) == everything(coder)
        assert other.labels(names_of(other)) == coder.labels(names_of(coder))
        expected = code(copy.copy(coder), parts[1])[0]
        assert code(other, parts[1])[0].tobytes() == expected.tobytes()


def test_lags_are_left_to_the_caller():
    coder = Coder()
    assert coder.open_lags(2) == 0
    rows, _ = coder.code(np.array([[3.0]]), {}, [0], ONCE)
    assert coder.open_lags(1) == 3
    assert rows.tolist() == [[0.0, 0.0, 3.0]]
    assert coder.labels(["a"]) == [None, None, "a", None]
    assert coder.lags == [0, 1, 3]


# -- what is refused --------------------------------------------------------------------------


def test_a_column_keeps_its_kind_and_errors_say_where():
    coder = Coder()
    text = {1: (np.array([0, -1]), ["red"])}
    coder.code(np.array([[1.0, 0.0], [2.0, 0.0]]), text, [0, 1], ONCE)
    before = everything(coder)
    numbers = np.array([[1.0, np.nan], [np.nan, 5.0]])
    for ask in (lambda *a: coder.code(*a, ONCE), coder.code_to_predict):
        with pytest.raises(KindError) as error:
            ask(numbers, {}, [0, 1])
        assert error.value.args == (1, 1, "number")
        with pytest.raises(KindError) as error:
            ask(numbers, {0: (np.array([-1, 0]), ["x"])}, [0, 1])
        assert error.value.args == (1, 0, "text")
        missing = ask(numbers[:, :1].copy(), {0: (np.array([-1, 0]), ["nan"])}, [0])
        rows = missing[0] if isinstance(missing, tuple) else missing
        assert rows[:, 0].tolist() == [1.5, 1.5]  # no text in it
        coder.rollback()
    assert everything(coder) == before


@pytest.mark.parametrize(
    ("numbers", "texts", "columns", "weight", "error", "message"),
    [
        (np.ones((2, 2), np.float32), {}, [0, 1], ONCE, TypeError, "float64 matrix"),
        (np.ones((2, 4))[:, ::2], {}, [0, 1], ONCE, TypeError, "C-ordered"),
        (np.ones((2, 2)), {}, [0, 2], ONCE, ValueError, "the next ids"),
        (np.ones((2, 2)), {}, [1, 0], ONCE, ValueError, "the next ids"),
        (np.ones((2, 2)), {}, [0], ONCE, ValueError, "one column id per column"),
        (np.ones((2, 2)), {}, [0, 1], np.ones(3), ValueError, "weight has the wrong length"),
        (np.ones((2, 1)), {1: (np.zeros(2, int), ["a"])}, [0], ONCE, ValueError, "beyond"),
        (np.ones((2, 1)), {0: (np.zeros(3, int), ["a"])}, [0], ONCE, ValueError, "wrong length"),
        (np.ones((2, 1)), {0: (np.ones(2, int), ["a"])}, [0], ONCE, ValueError, "without a value"),
        (np.ones((2, 1)), {0: (np.zeros(2, int), [1])}, [0], ONCE, TypeError, "must be str"),
    ],
)
def test_what_does_not_fit_is_refused(numbers, texts, columns, weight, error, message):
    coder = Coder()
    with pytest.raises(error, match=message):
        coder.code(numbers, texts, columns, weight)
    assert everything(coder) == everything(Coder())


def test_a_column_comes_once():
    coder = Coder()
    coder.code(np.ones((1, 1)), {}, [0], ONCE)
    with pytest.raises(ValueError, match="comes twice"):
        coder.code(np.ones((1, 2)), {}, [0, 0], ONCE)


def described(**changes):
    column = {"kind": "text", "place": 0, "gap": None, "texts": [["a", 0], ["b", 1]], "buckets": []}
    return [column | changes]


@pytest.mark.parametrize(
    "parts",
    [
        described(kind="date"),
        described(kind="number"),
        described(kind=None),
        described(texts=[]),
        described(texts=[["a", 0], ["b", 2]]),
        described(texts=[["a", 1], ["b", 1]]),
        described(texts=[["a", 0], ["a", 1]]),
        described(texts=[["a", 0], [3, 1]]),
        described(texts=[["a", 0], ["b", 1], ["c", 2], ["d", 3]]),
        described(texts=[["a", 0], ["b"]]),
        described(texts=3),
        described(place=1.0),
        described(place=True),
        described(place=7),
        described(gap=1),
        described(gap=-1),
        described(gap=2**70),
        described(buckets=[[3, 2]]),
        described(texts=[["a", 0], ["b", 1], ["c", 2]], buckets=[[32, 3]]),
        [{"kind": None}],
        [3],
    ],
)
def test_a_description_that_cannot_be_is_refused_and_changes_nothing(parts):
    coder = Coder(3)
    coder.code(np.array([[1.0]]), {}, [0], ONCE)
    before = everything(coder)
    for width in range(1, 5):
        with pytest.raises(ValueError):  # noqa: PT011
            coder.restore(parts, np.zeros(width), np.zeros(width))
    assert everything(coder) == before
    coder.restore(described(), np.zeros(2), np.zeros(2))
    assert coder.labels(["c"]) == ["c=a", "c=b"]


@pytest.mark.parametrize("bad", [np.nan, 1e301, -1.0])
def test_sums_that_cannot_be_are_refused(bad):
    with pytest.raises(ValueError, match="out of range"):
        restore_coder(3, described(), np.zeros(2), np.array([1.0, bad]), [], [])
