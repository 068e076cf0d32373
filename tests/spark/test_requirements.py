"""Without Spark or Java everything else works, and a sentence says what to install."""

import importlib.util
import os
import subprocess
import sys

import pytest

WITHOUT_PYSPARK = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "pyspark" else find(name)
"""
TRY = """
import dfop
dfop.DFOPRegressor().fit([[1.0]], [1.0])
try:
    import dfop.spark
except ImportError as error:
    print(error)
"""


def said(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        env={name: value for name, value in {**os.environ, **environment}.items() if value},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_pyspark():
    sentence = said(WITHOUT_PYSPARK + TRY)
    assert "pyspark" in sentence
    assert "pip install 'dfop[spark]'" in sentence
    assert len(sentence.splitlines()) == 1


@pytest.mark.skipif(not importlib.util.find_spec("pyspark"), reason="PySpark is not installed")
def test_without_java():
    sentence = said(TRY, PATH="nowhere", JAVA_HOME="")
    assert "needs Java" in sentence
    assert "Java 17" in sentence
