"""Where PySpark and Java are there, an import error of ours fails the tests of this room."""

import os
import subprocess
import sys
from pathlib import Path

BREAK = """
import importlib.abc, sys
class Broken(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "dfop.spark.batch":
            raise ImportError("a mistake in dfop.spark")
sys.meta_path.insert(0, Broken())
"""


def test_a_mistake_of_ours_is_not_taken_for_an_absent_spark(tmp_path):
    (tmp_path / "broken_spark.py").write_text(BREAK)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "broken_spark",
         "-p", "no:cacheprovider", str(Path(__file__).parent)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "a mistake in dfop.spark" in done.stdout + done.stderr
