"""What is public is documented, and the examples run."""

import doctest
from pathlib import Path

import pytest

from dfop import streams

PAGE = Path(__file__).parents[2] / "docs" / "streams.md"


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert result.attempted > 10
    assert result.failed == 0


@pytest.mark.parametrize("name", streams.__all__)
def test_a_public_name_is_documented_with_an_example_and_on_the_page(name):
    doc = getattr(streams, name).__doc__
    assert ">>>" in doc
    page = PAGE.read_text("utf-8")
    assert name in page or name in ("Entry", "Upstream", "DownloadError", "hyperplane_regression")


def test_the_page_names_what_it_cannot_vouch_for():
    assert "stand-in" in PAGE.read_text("utf-8")
