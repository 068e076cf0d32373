"""What the README says of the default's speed is what was measured."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "benchmarks" / "results-default.md"
if not MEASURED.exists():  # in a source archive
    pytest.skip("the benchmarks are not here", allow_module_level=True)


def test_the_readme_names_the_speed_of_the_default_at_ten_features():
    page = MEASURED.read_text("utf-8")
    rates = {
        kind: float(re.search(rf"^\| 10 \| {kind} \| ([0-9,]+) \|", page, re.M)[1].replace(",", ""))
        for kind in ("2", "numbers")
    }
    two, numbers = (f"{1000 * round(rates[kind] / 1000):,}" for kind in ("2", "numbers"))
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"experts {two} (two classes) or {numbers} (numbers;" in readme
