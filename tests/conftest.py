import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does: it says nothing of the code.
# Where CI is set the examples are the same every time; elsewhere each run draws new ones.
settings.register_profile("dfop", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("dfop")

os.environ.setdefault("MPLBACKEND", "agg")  # pictures are drawn, but no window shows them

# Doctests are collected everywhere; these hold none, and would clash by name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


# Files (test_....py) that `make test-fast` leaves out, by room; each room keeps quicker ones.
THOROUGH = {
    "": ["examples"],
    "baselines": [
        "baseline_contract",
        "baseline_sklearn",
        "baseline_table",
        "dynamic_weighted_majority",
        "svm",
    ],
    "checkpoints": ["killed", "refused"],
    "cli": ["demo", "fuzzed_files", "learn", "pipes", "problems"],
    "core": [
        "bank_against_oracle",
        "calibration",
        "error_alarm",
        "forests_against_oracle",
        "kernel_choice",
        "label_experts",
        "memory",
    ],
    "docs": ["pages_of_ideas", "rows_page", "tutorial"],
    "evaluation": ["docs", "honesty", "prequential", "result", "trials"],
    "faces": [
        "bad_input",
        "every_model_is_honest",
        "information",
        "information_dirty",
        "keyed",
        "keyed_few_late",
        "river_automatic",
        "river_evaluation",
        "same_rows",
        "sklearn_contract",
    ],
    "files": ["crash_safety", "forged", "old_formats", "size"],
    "hostile": ["hostile", "hostile_automatic", "hostile_keyed"],
    "model": [
        "automatic_properties",
        "electricity",
        "own_experts",
        "splits",
        "threads",
        "told_alike",
    ],
    "paper": ["automatic", "evidence", "paper_numbers", "targets"],
    "report": ["in_a_browser", "page"],
    "rows": ["coder", "named_rows"],
    "streams": [
        "archive",
        "bad_rows",
        "catalogue",
        "download",
        "pipes",
        "round_trips",
        "sea_and_hyperplane",
    ],
    "theory": ["concentration", "theorem_experiment", "theory_page", "theory_scale"],
}


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    thorough = {here / room / f"test_{name}.py" for room in THOROUGH for name in THOROUGH[room]}
    for item in items:
        if item.path in thorough:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def rng():
    return np.random.default_rng(20161)
