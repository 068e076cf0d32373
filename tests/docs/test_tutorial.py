"""The tutorial runs as it stands there, from its first command to its last."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forked import Programs

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Run all commands in one folder; return what each block said, and the folder."""
    folder = tmp_path_factory.mktemp("tutorial")
    found = []
    programs = Programs(tmp_path_factory.mktemp("bin"))
    python = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs.folder}:{python}:{os.environ['PATH']}"}
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        outcome = subprocess.run(
            ["bash", "-eu", "-c", block],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert outcome.returncode == 0, (block, outcome.stderr)
        found.append(outcome.stdout + outcome.stderr)
    programs.close()
    return found, folder


def test_every_command_runs_and_says_what_the_page_says(said):
    found, folder = said
    head, refused, learned, inspected, predicted, killed, nightly, days, late, *others = found
    pipe, compared = others
    assert head.startswith("order,at,weight,distance,region,cost\n0,2024-05-01T")
    assert "exit code 3" in refused
    assert "row 124 (line 125" in refused
    assert "12 of 6,000 rows were bad" in learned
    assert len((folder / "bad.csv").read_text().splitlines()) == 1 + 12
    alarm = re.search(
        r"row \d+ \(2024-05-2\dT[\d:]+\): jump at about row (\d+); moved: .*distance", inspected
    )
    assert 2900 <= int(alarm[1]) <= 3100
    costs = [float(line.split(",")[1]) for line in predicted.splitlines()[1:]]
    assert costs[0] == pytest.approx(3 + 0.5 * 2 + 0.035 * 100, abs=0.5)
    assert costs[1] == pytest.approx(3 + 0.5 * 9 + 0.035 * 400 + 6, abs=0.5)
    assert "6001 predictions.csv" in killed
    assert "dfop_rows_total 6100" in nightly
    assert "going on after row 1,000" in days
    assert "rows: mean squared error" in late
    assert re.search(r"^99\d,", pipe, re.MULTILINE)
    assert "no-change" in compared


def test_the_pages_are_written(said):
    _, folder = said
    page = (folder / "cost.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert len(page) < 1.5e6
