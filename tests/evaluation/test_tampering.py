"""Changed streams agree up to the cut and nowhere after."""

import numpy as np
import pytest

from dfop.evaluation.sources import as_stream
from dfop.evaluation.tampering import TAIL, changed_streams, far_out, of_one_label


@pytest.mark.parametrize("cut", [0, 1, 50, 99])
@pytest.mark.parametrize("delay", [0, 10])
@pytest.mark.parametrize("classes", [None, 2, 5])
def test_the_past_stays_and_all_labels_after_it_change(cut, delay, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = rng.normal(size=100) if classes is None else rng.integers(0, classes, size=100)
    data = as_stream((X, y), "regression" if classes is None else "classification")
    start = max(0, cut - delay)
    streams = list(changed_streams(data, cut, start))
    assert len(streams) >= 2
    for changed in streams:
        n = len(changed)
        assert n == min(100, cut + 1 + TAIL)
        np.testing.assert_array_equal(changed.X[: cut + 1], X[: cut + 1])
        np.testing.assert_array_equal(changed.y[:start], y[:start])
        assert changed.y[start] != y[start]
    assert any((changed.y[start:] != y[start : len(changed)]).all() for changed in streams)
    if classes is None:
        up, down, _ = streams
        assert (np.diff(up.y[start:]) > 0).all()
        assert up.y[start] > 2 * np.abs(y).max()
        assert (np.diff(down.y[start:]) < 0).all()
        assert down.y[start] < -2 * np.abs(y).max()
    else:
        assert set(np.concatenate([changed.y for changed in streams])) <= set(range(classes))
        assert len(set(streams[-1].y[start:])) == 1


def test_only_the_row_asked_for_is_moved_out():
    data = as_stream((np.ones((4, 2)), [0.5, 1.0, 1.5, 2.0]))
    assert far_out(data, 1).X[:, 0].tolist() == [1, 100, 1, 1]
    assert of_one_label(data).y.tolist() == [0.5] * 4
    assert data.y.tolist() == [0.5, 1.0, 1.5, 2.0]
