"""Which kernel runs is chosen when the module is loaded."""

import os
import subprocess
import sys

import pytest


def run(kernel):
    code = "from dfop.core import Filter; print(Filter(1, 1, True, 1.0, 1.0).kernel)"
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "DFOP_KERNEL": kernel},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_baseline_can_be_chosen():
    assert run("baseline").stdout.strip() == "baseline"


def test_without_a_choice_the_fastest_runs():
    assert run("").stdout.strip() in ("avx2", "baseline")


@pytest.mark.parametrize("kernel", ["avx512", "Baseline", " "])
def test_an_unknown_kernel_is_refused(kernel):
    done = run(kernel)
    assert done.returncode == 1
    assert f'ImportError: DFOP_KERNEL is "{kernel}": it must be "baseline"' in done.stderr
