"""Without Spark or Java everything else works, and a sentence says what to install."""

import importlib.util
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import dfop

FILE = Path(dfop.__file__).parent / "spark/requirements.py"
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


def requirements(monkeypatch, tmp_path, versions, java):
    """Return the check alone, on a machine that has these versions."""
    spec = importlib.util.spec_from_file_location("requirements", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def version(package):
        if package not in versions:
            raise PackageNotFoundError(package)
        return versions[package]

    program = tmp_path / "bin/java"
    program.parent.mkdir()
    program.touch(mode=0o755)
    if java:
        (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{java}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(module, "version", version)
    monkeypatch.setattr(module, "_is_there", lambda name: True)
    return module.check_installed


@pytest.mark.parametrize(
    ("versions", "java", "said"),
    [
        ({"pyspark": "3.5.1", "pandas": "2.2.3"}, "17.0.15", "PySpark 4, not 3.5.1"),
        ({"pyspark": "4.0.0", "pandas": "3.0.1"}, "17.0.15", "pandas 2, not 3.0.1"),
        ({"pyspark": "4.0.0", "pandas": "2.2.3"}, "1.8.0_392", "Java 17, not 8"),
        ({"pyspark": "4.0.0", "pandas": "2.2.3"}, "11.0.21", "Java 17, not 11"),
        ({"pandas": "2.2.3"}, "17.0.15", "pyspark-client"),
        ({"pyspark": "4.0.0", "pandas": "2.2.3"}, "17.0.15", None),
        ({"pyspark": "4.1.0", "pandas": "2.2.3"}, "21", None),
        ({"pyspark": "4.1.0", "pandas": "2.2.3"}, None, None),  # it does not say which it is
    ],
)
def test_what_is_too_old_or_too_new_is_named(monkeypatch, tmp_path, versions, java, said):
    check = requirements(monkeypatch, tmp_path, versions, java)
    if said is None:
        check()
        return
    with pytest.raises(ImportError, match=said) as refused:
        check()
    assert "pip install 'dfop[spark]'" in str(refused.value)
