import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfop.streams import DataError, Stream, archive, hyperplane, hyperplane_regression, read, sea


def numbered(n, **options):
    return Stream.from_arrays(np.arange(n)[:, None], np.arange(n) % 2, time=np.arange(n), **options)


@given(
    n=st.integers(0, 60),
    size=st.integers(1, 70),
    cut=st.tuples(st.integers(-70, 70), st.integers(-70, 70)),
)
def test_batches_of_any_size_of_any_slice_are_the_rows_in_order(n, size, cut):
    rows = [{"x": float(i), "y": f"c{i % 2}"} for i in range(n)]
    expected = list(range(n))[slice(*cut)]
    streams = [numbered(n, classes=(0, 1))]
    if n:
        streams.append(read(rows, target="y"))
    for stream in streams:
        part = stream[cut[0] : cut[1]]
        batches = [np.asarray(X)[:, 0].tolist() for X, _ in part.batches(size)]
        assert [row for batch in batches for row in batch] == expected
        assert all(len(batch) == size for batch in batches[:-1])
        assert len(part) == len(expected)


@pytest.mark.parametrize(
    "stream",
    [sea(10_000), hyperplane(10_000), hyperplane_regression(), archive("1cdt"), archive("1csurr")],
    ids=lambda stream: stream.name,
)
def test_generated_rows_do_not_depend_on_the_batch_size_or_the_start(stream):
    X, y = stream.arrays()
    for size in (1000, 333):
        parts = list(stream[1234:1999].batches(size))
        np.testing.assert_array_equal(np.concatenate([p[0] for p in parts]), X[1234:1999])
        np.testing.assert_array_equal(np.concatenate([p[1] for p in parts]), y[1234:1999])


def test_a_slice_of_a_slice_moves_changes_times_and_fresh_rows():
    stream = sea(1000, thresholds=[2, 18], noise=0.0)
    part = stream[100:900][100:500]
    assert len(part) == 400
    assert part.changes == (300,)
    rng = np.random.default_rng(0)
    # b = 2 labels 2 % of the square, b = 18 labels 98 %.
    assert part.fresh(299, 5000, rng)[1].mean() < 0.1
    assert part.fresh(300, 5000, rng)[1].mean() > 0.9
    assert numbered(50)[10:20].time.tolist() == list(range(10, 20))


def test_timed_batches_carry_the_time_and_none_without():
    assert [t.tolist() for _, _, t in numbered(5).timed_batches(3)] == [[0, 1, 2], [3, 4]]
    assert {t for _, _, t in sea(10).timed_batches(3)} == {None}
    assert sea(10).time is None


@pytest.mark.parametrize("size", [0, -1])
def test_an_impossible_batch_size_is_refused_at_once(size):
    with pytest.raises(ValueError, match="at least one row"):
        numbered(5).batches(size)


@pytest.mark.parametrize(("index", "error"), [(3, TypeError), (slice(0, 5, 2), ValueError)])
def test_only_contiguous_slices_are_streams(index, error):
    with pytest.raises(error):
        numbered(5)[index]


def test_arrays_are_checked_with_row_and_column():
    X = np.zeros((3, 2))
    X[1, 1] = np.nan
    with pytest.raises(DataError, match=r"arrays, row 2, column 'x2': the cell is missing"):
        Stream.from_arrays(X, [0, 1, 0], missing="error")
    assert np.isnan(Stream.from_arrays(X, [0, 1, 0]).arrays()[0][1, 1])
    X[1, 1] = np.inf
    with pytest.raises(DataError, match=r"row 2, column 'x2': inf is not finite"):
        Stream.from_arrays(X, [0, 1, 0])
    with pytest.raises(DataError, match="row 3, column 'y'"):
        Stream.from_arrays(np.zeros((3, 1)), [0.0, 1.0, np.nan])
    with pytest.raises(ValueError, match="3 rows but y has 2"):
        Stream.from_arrays(np.zeros((3, 2)), [0, 1])


def test_a_constant_class_is_refused_unless_the_classes_are_given():
    with pytest.raises(DataError, match="only the class 1"):
        Stream.from_arrays(np.zeros((3, 1)), [1, 1, 1])
    assert Stream.from_arrays(np.zeros((3, 1)), [1, 1, 1], classes=(0, 1)).classes == (0, 1)
    with pytest.raises(DataError, match="label 1 is not among the classes"):
        Stream.from_arrays(np.zeros((3, 1)), [1, 1, 1], classes=(0, 2))
