"""The page about evaluation runs."""

import re
from pathlib import Path

import numpy as np
import pytest

from dfop import DFOPClassifier

from .fakes import FastSGD, Rows

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


class Known(Rows):
    def fresh(self, t, n, rng):
        X = rng.normal(size=(n, 2))
        return X, np.where(X[:, 0] > 0, "up", "down")


@pytest.mark.filterwarnings("ignore:no label had come")
def test_every_block_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    names = {
        "X": X,
        "y": y,
        "model": FastSGD(),
        "rival": FastSGD(),
        "learner": DFOPClassifier(),
        "stream": Known(X, y),
        "orders": Known(X, y, time=np.arange(40).astype("M8[D]")),
        "sensor": Known(X, y, time=np.arange(40.0)),
    }
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        exec(block, names)
    assert (tmp_path / "run.jsonl").exists()
    assert "win/tie/loss" in capsys.readouterr().out
