from pathlib import Path

import numpy as np
import pytest

# Doctests are collected everywhere; these hold none, and would clash by name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


# Files that `make test-fast` leaves out: each room keeps quicker ones.
THOROUGH = """
baselines/test_baseline_contract.py  baselines/test_baseline_sklearn.py
baselines/test_baseline_table.py  baselines/test_dynamic_weighted_majority.py  baselines/test_svm.py
cli/test_demo.py
core/test_bank_against_oracle.py  core/test_calibration.py  core/test_error_alarm.py
core/test_kernel_choice.py  core/test_memory.py
docs/test_pages_of_ideas.py  docs/test_rows_page.py
evaluation/test_docs.py  evaluation/test_honesty.py  evaluation/test_prequential.py
evaluation/test_result.py
faces/test_bad_input.py  faces/test_every_model_is_honest.py  faces/test_river_evaluation.py
faces/test_same_rows.py  faces/test_sklearn_contract.py
files/test_crash_safety.py  files/test_forged.py  files/test_old_formats.py
hostile/test_hostile.py  hostile/test_hostile_automatic.py
model/test_electricity.py  model/test_splits.py  model/test_threads.py
paper/test_automatic.py  paper/test_evidence.py  paper/test_paper_numbers.py  paper/test_targets.py
rows/test_coder.py  rows/test_named_rows.py
streams/test_archive.py  streams/test_catalogue.py  streams/test_pipes.py
streams/test_round_trips.py  streams/test_sea_and_hyperplane.py
test_examples.py
theory/test_concentration.py  theory/test_theorem_experiment.py  theory/test_theory_page.py
theory/test_theory_scale.py
""".split()


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    thorough = {here / name for name in THOROUGH}
    for item in items:
        if item.path in thorough:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def rng():
    return np.random.default_rng(20161)
