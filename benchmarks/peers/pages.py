"""Puts what the records say where people read it: pages, picture, and parts of other pages."""

from __future__ import annotations

from pathlib import Path

from dfop.insight import plotting
from machine import where

from .page import families_page, in_short, paper_page
from .picture import picture
from .record import Record
from .summary import contests

BENCHMARKS = Path(__file__).parents[1]
ROOT = BENCHMARKS.parent
PAPER, FAMILIES = BENCHMARKS / "results-peers.csv", BENCHMARKS / "results-families.csv"
PICTURE = ROOT / "docs" / "pictures" / "peers.png"
SHORT_FORM_IN = (ROOT / "README.md", ROOT / "docs" / "automatic-results.md")
BEGIN, END = "<!-- make peers writes this -->", "<!-- until here -->"


def replaced(text: str, part: str) -> str:
    """Return a page with the part between its two marks replaced."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no part between {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"


def write_paper() -> None:
    """Write the page, the picture and the short forms of the record of the paper's streams."""
    entries = Record(PAPER).entries
    PAPER.with_suffix(".md").write_text(paper_page(entries, where()), "utf-8")
    found = contests(entries)
    for page in SHORT_FORM_IN:
        page.write_text(replaced(page.read_text("utf-8"), in_short(found)), "utf-8")
    plotting.save(picture(found), PICTURE)


def write_families() -> None:
    """Write the page of the record of generated families."""
    entries = Record(FAMILIES).entries
    FAMILIES.with_suffix(".md").write_text(families_page(entries, where()), "utf-8")
