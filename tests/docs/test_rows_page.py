"""The page about rows runs, and its claim about the indicator holds."""

import re
from pathlib import Path

import numpy as np

from dfop import DFOPRegressor

PAGE = Path(__file__).parents[2] / "docs" / "rows.md"


def test_every_block_of_the_page_runs(capsys):
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    shown = ["size", "color=red", "size is missing", "color=blue", "color is missing"]
    assert names["model"].coded_names_.tolist() == [*shown, "city=Rome", "city=Oslo"]
    assert set(names["twin"].weights) == set(shown[:-1])
    assert "color=blue" in capsys.readouterr().out


def test_being_missing_tells_something(rng):
    n = 20_000
    x, z = 5.0 + rng.normal(size=n), rng.normal(size=n)
    y = 2.0 * x + z + 0.1 * rng.normal(size=n)
    missing = rng.random(n) < 0.6 / (1.0 + np.exp(-2.0 * (x - 5.0)))
    known = np.where(missing, np.nan, x)
    mean = np.nancumsum(known) / np.maximum(np.cumsum(~missing), 1)
    rows = np.column_stack([known, z])
    filled = np.column_stack([np.where(missing, mean, x), z])
    errors = [
        np.mean((DFOPRegressor(0.001).predict_then_learn(X, y) - y)[100:] ** 2)
        for X in (rows, filled)
    ]
    np.testing.assert_allclose(errors, [0.77, 1.4], rtol=0.05)
