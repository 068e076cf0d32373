"""How large the default is."""

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, to_bytes

ROWS, COLUMNS = 20_000, 20
MOST_BYTES = 6_000_000


@pytest.mark.parametrize("classes", [0, 2, 5, 26])
def test_the_default_on_twenty_columns_is_saved_in_at_most_six_megabytes(classes):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X @ rng.normal(size=COLUMNS) + np.sin(3 * X[:, 0]) + rng.normal(size=ROWS)
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
        model = DFOPClassifier().partial_fit(X, y, classes=range(classes))
    else:
        model = DFOPRegressor().partial_fit(X, y)
    assert 1_000_000 < len(to_bytes(model)) <= MOST_BYTES  # all experts are in it
