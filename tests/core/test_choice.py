"""Near ties are decided by a rule, not by the last bit."""

import numpy as np
import pytest

from dfop.core import Calibration, choose

TIE = 1e-9
NEAR = 0.4 * TIE


@pytest.mark.parametrize(
    ("row", "chosen"),
    [
        ([0.2, 0.5, 0.3], 1),
        ([0.5, 0.5 + NEAR, 0.1], 0),
        ([0.5 - NEAR, 0.1, 0.5], 0),
        ([0.5 - 3 * TIE, 0.1, 0.5], 2),
        ([0.0, 0.0, 0.0], 0),
        ([-1e300, 1e300, 1e300], 1),
        ([3.0], 0),
    ],
)
def test_the_first_of_those_near_the_largest(row, chosen):
    assert choose(np.array([row]), False).tolist() == [chosen]


def test_a_margin_must_exceed_the_tie():
    margins = np.array([[-1.0], [0.0], [NEAR], [2 * TIE], [1.0]])
    found = choose(margins, True)
    assert found.tolist() == [0, 0, 0, 1, 1]
    assert found.dtype == np.int64


def test_outputs_may_have_any_strides():
    outputs = np.random.default_rng(0).normal(size=(50, 8))
    for view in (outputs[:, ::2], outputs[::-1], np.asfortranarray(outputs)):
        np.testing.assert_array_equal(choose(view, False), view.argmax(axis=1))


@pytest.mark.parametrize("margin", [True, False])
def test_the_calibrated_class_is_the_chosen_one(margin):
    rng = np.random.default_rng(1)
    scores = NEAR * rng.integers(-4, 5, size=(500, 1 if margin else 4)).astype(float)
    calibration = Calibration(2 if margin else 4)
    p = calibration.calibrate(scores, rng.integers(0, calibration.classes, 500))
    np.testing.assert_array_equal(p.argmax(axis=1), choose(scores, margin))


def test_what_is_no_margin_is_refused():
    with pytest.raises(ValueError, match="one output"):
        choose(np.zeros((3, 2)), True)
