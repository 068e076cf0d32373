"""The page's examples run and show what it says they show."""

import doctest
from pathlib import Path


def test_the_examples_of_the_page_run():
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried >= 10
    assert failed == 0
