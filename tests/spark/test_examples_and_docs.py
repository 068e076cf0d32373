"""The examples run as they are, and so does what the docstrings show."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not here")
def test_a_stored_stream():
    said = run("spark_fit.py")
    assert "the same as of one: True" in said
    assert "rows scored: 20000" in said


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not here")
def test_a_model_per_key():
    said = run("spark_per_key.py")
    assert "records: 1000" in said  # 200 rows a day, and the labels of two days
    assert "Lima: 2.00 sold a visitor" in said
    assert "Oslo: 5.00 sold a visitor" in said


@pytest.mark.parametrize("name", ["batch", "scoring", "per_key", "requirements"])
def test_what_docstrings_show(name, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"dfop.spark.{name}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert not doctest.testmod(module, extraglobs={"spark": spark}, optionflags=flags).failed
