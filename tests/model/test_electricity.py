"""Electricity, raw features: where plain forgetting fails silently, the capped one does not."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier


@pytest.fixture(scope="module")
def electricity():
    folder = os.environ.get("DFOP_DATA")
    if not folder:
        pytest.skip("DFOP_DATA is not set: it names the folder that holds electricity.csv.gz")
    table = pd.read_csv(Path(folder) / "electricity.csv.gz")
    assert table.shape == (45_312, 9)
    return table.drop(columns="y"), table["y"]


@pytest.mark.parametrize(("mu", "at_least"), [(0.1, 0.900), (0.01, 0.853)])
def test_electricity_is_predicted_as_well_as_stated(electricity, mu, at_least):
    X, y = electricity
    ahead = DFOPClassifier(mu).predict_then_learn(X, y, classes=["DOWN", "UP"])
    assert np.mean(ahead == y) >= at_least


@pytest.mark.parametrize(("mu", "at_most"), [(0.1, 0.80), (0.01, 0.80)])
def test_plain_forgetting_in_covariance_form_does_not_get_there(electricity, mu, at_most):
    """The textbook recursion, as it is usually written: P <- (P - P x x'P / (lam + x'Px)) / lam."""
    X, y = electricity
    rows = np.column_stack([np.ones(len(X)), X.to_numpy()])
    code = np.where(y == "UP", 1.0, -1.0)
    lam, P, w = 1 - mu, np.eye(9) * 100.0, np.zeros(9)
    right = 0
    with np.errstate(all="ignore"):
        for x, target in zip(rows, code, strict=True):
            error = target - x @ w
            right += (x @ w > 0) == (target > 0)
            Px = P @ x
            P = (P - np.outer(Px, Px) / (lam + x @ Px)) / lam
            P = (P + P.T) / 2
            w = w + P @ x * error
    assert right / len(y) <= at_most
