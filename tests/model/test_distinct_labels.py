"""The different labels, found faster than by sorting all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from dfop.core import first_rows
from dfop.rows.labels import distinct


@given(
    st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8", "?", "f8", "<U3"]).flatmap(
        lambda kind: (
            npst.arrays(kind, st.integers(0, 30), elements=None)
            if kind != "f8"
            else npst.arrays(kind, st.integers(0, 30), elements=st.floats(-5, 5))
        )
    )
)
def test_they_are_those_of_numpy(labels):
    found, expected = distinct(labels), np.unique(labels)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["i1", "i8", "u8"])
def test_the_ends_of_a_type_are_labels_like_others(kind):
    ends = np.iinfo(kind)
    labels = np.array([ends.max, ends.min, ends.max, ends.max - 1] * 100, dtype=kind)
    assert distinct(labels).tolist() == [ends.min, ends.max - 1, ends.max]


@given(
    classes=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=30),
    met=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_the_first_row_of_a_class_is_the_first_that_is_seen(classes, met):
    expected = {}
    for row, (k, seen) in enumerate(classes):
        if seen and not met[k]:
            expected.setdefault(k, row)
    numbers = np.array([k for k, _ in classes], dtype=np.int64)
    seen = np.array([seen for _, seen in classes], dtype=bool)
    assert first_rows(numbers, seen, np.array(met)) == [(row, k) for k, row in expected.items()]


def test_a_class_that_has_no_number_is_refused():
    with pytest.raises(ValueError, match="a class of no number"):
        first_rows(np.array([0, 2]), np.ones(2, bool), np.zeros(2, bool))
    with pytest.raises(ValueError, match="one value per row"):
        first_rows(np.array([0, 1]), np.ones(1, bool), np.zeros(2, bool))
