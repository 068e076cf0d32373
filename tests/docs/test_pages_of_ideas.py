"""The examples of the pages run and show what they say; links and pictures are there."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("automatic", "features", "drift", "uncertainty", "lags", "report", "scale", "fixed-mu")
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not here")


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_the_page_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write a file
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    page = DOCS / f"{name}.md"
    result = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert result.attempted >= 8
    assert result.failed == 0


@pytest.mark.parametrize("name", [*PAGES, "automatic-results"])
def test_what_the_page_points_to_is_there(name):
    text = (DOCS / f"{name}.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", text)
    assert targets
    for file, section in targets:
        there = DOCS / file
        assert there.exists(), file
        if section:
            titles = re.findall(r"^#+ (.+)$", there.read_text("utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}
            assert section in anchors, f"{file}#{section}"


def test_pictures_are_small():
    for picture in (DOCS / "pictures").glob("*.png"):
        assert picture.stat().st_size < 200_000
