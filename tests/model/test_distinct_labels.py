"""The different labels, found faster than by sorting all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

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
