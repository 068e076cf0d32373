import numpy as np
import pytest

from dfop.streams import DataError, Stream, abrupt, gradual, incremental, recurring, sea


def constant(value, n=1000, **options):
    """Rows that tell which stream they come from, and which row of it they are."""
    X = np.column_stack([np.full(n, value), np.arange(n)])
    return Stream.from_arrays(X, np.full(n, float(value)), **options)


def origins(stream):
    X, y = stream.arrays()
    np.testing.assert_array_equal(X[:, 0], y)
    return X


def test_abrupt_is_one_stream_then_the_other():
    stream = abrupt(constant(0, changes=[100]), constant(1, changes=[50]), at=300)
    X = origins(stream)
    assert len(stream) == len(X) == 1300
    assert stream.changes == (100, 300, 350)
    assert X[:300, 0].tolist() == [0] * 300
    assert X[300:, 0].tolist() == [1] * 1000
    assert X[300:, 1].tolist() == list(range(1000))


def test_gradual_mixes_with_a_rising_share_and_loses_no_row():
    stream = gradual(constant(0, 6000), constant(1, 6000), at=1000, width=4000, seed=3)
    X = origins(stream)
    assert len(X) == len(stream)
    assert (X[:1000, 0] == 0).all()
    assert (X[5000:, 0] == 1).all()
    for value in (0, 1):
        # Each stream is read from its start without a gap.
        own = X[X[:, 0] == value, 1]
        assert own.tolist() == list(range(len(own)))
    shares = X[1000:5000, 0].reshape(4, 1000).mean(axis=1)
    # A share over 1,000 rows has sd below 0.016.
    np.testing.assert_allclose(shares, [0.125, 0.375, 0.625, 0.875], atol=0.07)


def test_gradual_is_reproducible_by_seed():
    make = lambda seed: origins(gradual(constant(0), constant(1), 100, 500, seed=seed))  # noqa: E731
    np.testing.assert_array_equal(make(1), make(1))
    assert not np.array_equal(make(1)[:600], make(2)[:600])


def test_incremental_slides_features_and_targets_of_regression():
    stream = incremental(constant(0), constant(1), at=200, width=99)
    X, y = stream.arrays()
    assert len(X) == len(stream) == 1200
    np.testing.assert_allclose(X[200:299, 0], np.arange(1, 100) / 100)
    np.testing.assert_allclose(y, X[:, 0])
    assert X[299:, 1].tolist() == list(range(99, 1000))


def test_incremental_pairs_rows_of_the_same_class():
    y = np.tile(["a", "b"], 100)
    old = Stream.from_arrays(np.where(y == "a", 0.0, 10.0)[:, None], y)
    new = Stream.from_arrays(np.where(y == "a", 4.0, 20.0)[::-1, None], y[::-1])
    X, labels = incremental(old, new, at=50, width=3)[50:53].arrays()
    assert labels.tolist() == ["a", "b", "a"]
    np.testing.assert_allclose(X[:, 0], [0 + 0.25 * 4, 10 + 0.5 * 10, 0 + 0.75 * 4])
    only_b = Stream.from_arrays(np.zeros((9, 1)), ["b"] * 9, classes=("a", "b"))
    with pytest.raises(DataError, match="no row of class 'a'"):
        incremental(old, only_b, at=5, width=4).arrays()


def test_recurring_takes_turns_and_each_stream_goes_on_where_it_stopped():
    stream = recurring(constant(0, 1000), constant(1, 1000), period=300)
    X = origins(stream)
    assert stream.changes == (300, 600, 900, 1200, 1500)
    assert len(X) == len(stream) == 1800
    assert X[:, 0].reshape(6, 300).mean(axis=1).tolist() == [0, 1, 0, 1, 0, 1]
    assert X[600:900, 1].tolist() == list(range(300, 600))


def test_made_streams_can_be_cut_and_carry_time():
    time = np.arange(1000)
    stream = abrupt(constant(0, time=time), constant(1, time=time + 300), at=300)
    assert stream.time.tolist() == list(range(1300))
    part = stream[290:310]
    assert part.time.tolist() == list(range(290, 310))
    assert part.changes == (10,)
    assert part.target_names == ("y",)
    assert part.classes is None


# b = 2 labels 2 % of the square with 1, b = 18 labels 98 %.
LOW, HIGH = sea(1000, thresholds=[2], noise=0.0), sea(1000, thresholds=[18], noise=0.0, seed=1)


@pytest.mark.parametrize(
    ("stream", "t", "share"),
    [
        (abrupt(LOW, HIGH, 500), 499, 0.02),
        (abrupt(LOW, HIGH, 500), 500, 0.98),
        (gradual(LOW, HIGH, 200, 600), 100, 0.02),
        (gradual(LOW, HIGH, 200, 600), 499, 0.5),
        (gradual(LOW, HIGH, 200, 600), 900, 0.98),
        (incremental(LOW, HIGH, 200, 600), 100, 0.02),
        (incremental(LOW, HIGH, 200, 600), 900, 0.98),
        (recurring(LOW, HIGH, 100), 99, 0.02),
        (recurring(LOW, HIGH, 100), 100, 0.98),
        (recurring(LOW, HIGH, 100), 200, 0.02),
    ],
)
def test_fresh_rows_are_of_the_concept_in_force(stream, t, share):
    X, y = stream.fresh(t, 4000, np.random.default_rng(t))
    assert X.shape == (4000, 3)
    assert abs(y.mean() - share) < 0.04


def test_fresh_rows_of_a_mixture_are_asked_for_at_the_place_of_the_next_row():
    def telling(value):
        stream = constant(value)
        stream.fresh = lambda t, n, rng: (np.tile([value, t], (n, 1)), np.full(n, value))
        return stream

    stream = gradual(telling(0.0), telling(1.0), at=200, width=600, seed=5)
    rows = origins(stream)
    for t in [0, 199, *range(200, 800, 7), 800, 1200]:
        X, y = stream.fresh(t, 300, np.random.default_rng(t))
        np.testing.assert_array_equal(X[:, 0], y)
        came_from, place = rows[t]
        assert set(X[X[:, 0] == came_from, 1].tolist()) <= {place}
    assert came_from in X[:, 0]


def test_fresh_rows_between_two_positions_lie_between():
    stream = incremental(sea(900, thresholds=[5]), sea(900, thresholds=[5], seed=1), 100, 399)
    X, _ = stream.fresh(299, 20_000, np.random.default_rng(0))
    # The mean of two independent U(0, 10) has variance 100 / 24.
    assert abs(X[:, 2].var() - 100 / 24) < 0.2


def test_streams_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="features"):
        abrupt(constant(0), Stream.from_arrays(np.zeros((9, 1)), np.zeros(9)), 5)
    with pytest.raises(ValueError, match="classification"):
        abrupt(sea(100), constant(0), 5)
    with pytest.raises(ValueError, match="only 1000 rows"):
        abrupt(constant(0), constant(1), 1001)
    with pytest.raises(ValueError, match="at least 1"):
        gradual(constant(0), constant(1), 5, 0)
    with pytest.raises(ValueError, match="rows of a"):
        gradual(constant(0), constant(1), 900, 900)
    with pytest.raises(ValueError, match="period"):
        recurring(constant(0), constant(1, 10), 500)
