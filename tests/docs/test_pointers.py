"""What the pages point to is there: links, sections, files, words of the glossary."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "CHANGELOG")),
]
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not here")


def anchors(page):
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, section in re.findall(
        r"\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)", page.read_text("utf-8")
    ):
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not section or section in anchors(there), f"{target}#{section}"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/glossary.md", "docs/rows.md"])
def test_files_that_are_named_are_there(name):
    folders = (ROOT, ROOT / "src" / "dfop", ROOT / "src" / "dfop" / "model", ROOT / "src" / "core")
    for file in re.findall(
        r"`([\w/]+\.(?:py|hpp|cpp|md|json|toml|txt))`", (ROOT / name).read_text("utf-8")
    ):
        assert any((folder / file).exists() for folder in folders), file


def test_every_word_of_the_glossary_has_one_sentence():
    lines = re.findall(r"^\| \*\*.*$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    words = [word for line in lines for word in re.findall(r"\*\*([^*]+)\*\*", line)]
    assert len(words) == len(set(words)) >= 50
    ours = "batch coder engine filter bank expert walk margin monitor stride settings target lags"
    assert {*ours.split(), "coded column", "shadow target", "spare output", "waiting row"} <= set(
        words
    )
    assert all(line.rstrip(" |").endswith((".", ".)")) for line in lines)
