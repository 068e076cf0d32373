"""Keys that became floats: each is refused with a remedy that gives the right keys back."""

import numpy as np
import pytest

from dfop.rows.keys import read_keys


@pytest.mark.parametrize(
    ("keys", "remedy"),
    [
        ([1.0, 2.0], r"make whole numbers of them, keys.astype\(int\)"),
        ([1.0, np.nan], "keys has NaN at row 1: a row without a key"),
        ([1.0, 1.5], "give whole numbers or texts"),
        ([1.0, np.inf], "give whole numbers or texts"),  # astype(int) would make a key of it
        ([1.0, 2.0**53], "give whole numbers or texts"),  # 2**53 + 1 is the same float
    ],
)
def test_floats_are_refused_with_a_remedy_that_is_right(keys, remedy):
    with pytest.raises(ValueError, match=remedy):
        read_keys(np.array(keys), 2)
