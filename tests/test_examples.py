"""The scripts in examples/ run as they are, quickly, and say what their pages promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not here")


def shares(text):
    return [float(number) for number in re.findall(r"([\d.]+)%", text)]


@pytest.fixture
def run(tmp_path):
    def run(name):
        done = subprocess.run(
            [sys.executable, "-W", "error", str(EXAMPLES / name)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        assert done.returncode == 0, done.stderr
        assert not list(tmp_path.iterdir()), "an example leaves nothing behind"
        return done.stdout

    return run


def test_there_are_three_short_ones():
    scripts = sorted(EXAMPLES.glob("*.py"))
    names = [script.name for script in scripts if not script.name.startswith("spark")]
    assert names == ["late_labels.py", "river_text.py", "sklearn_pipeline.py"]
    for script in scripts:
        assert len(script.read_text("utf-8").splitlines()) < 70


def test_a_file_with_text_gaps_garbage_and_late_labels(run):
    said = run("late_labels.py")
    ours, no_change = shares(said)
    assert ours > 75 > 65 > no_change
    assert "2 of 6000 rows: 1 wrong number of cells, 1 not a number" in said
    assert "still waiting: 50; given up: 0" in said


def test_a_pipeline_of_scikit_learn(run):
    said = run("sklearn_pipeline.py")
    cross_validated, stream = shares(said)
    assert cross_validated > 85
    assert stream > 85
    assert re.search(r"alarms at \[30\d\d\b", said)


def test_river(run):
    ours, late, theirs = shares(run("river_text.py"))
    assert ours > 85
    assert late > 80
    assert ours > theirs
