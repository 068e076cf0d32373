"""The default beside the default of before: what counts as worse."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.exists():  # in a source archive
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.append(str(BENCHMARKS))

import before  # noqa: E402


@pytest.mark.parametrize(
    ("columns", "classes", "limit"),
    [(5, 0, 10.5), (20, 2, 10.5), (20, 5, 12.0), (10, 26, 13.0), (60, 5, 50.0), (60, 2, 50.0)],
)
def test_limits_of_the_time_a_row(columns, classes, limit):
    assert before.most(columns, classes, 10.0) == limit


def wrong(*, both, only_before, only_now, right):
    then = np.repeat([1.0, 1.0, 0.0, 0.0], [both, only_before, only_now, right])
    now = np.repeat([1.0, 0.0, 1.0, 0.0], [both, only_before, only_now, right])
    return then, now


def test_chance_is_what_a_coin_would_do():
    for only_before in range(1, 60):
        for only_now in range(1, 60):
            rows = wrong(both=5, only_before=only_before, only_now=only_now, right=400)
            p = 2 * stats.norm.sf(abs(only_now - only_before) / np.sqrt(only_now + only_before))
            if abs(p - 0.05) > 1e-4:
                assert before.by_chance(*rows) == (p > 0.05)


def test_a_stream_is_worse_by_points_or_percent_and_a_short_one_by_more_than_chance():
    lost = wrong(both=10, only_before=10, only_now=14, right=466)  # .8 points, 4 of 24 rows
    line, worse = before.line_of_scores("sea", *lost)
    assert worse
    assert "| sea | 96.00 | 95.20 | -0.80 |" in line
    assert not before.line_of_scores("chess", *lost)[1]
    much = wrong(both=10, only_before=2, only_now=40, right=448)
    assert before.line_of_scores("chess", *much)[1]
    assert not before.line_of_scores("sea", *wrong(both=0, only_before=0, only_now=1, right=999))[1]
    number = np.full(100, 4.0)
    assert before.line_of_scores("sru-1", number, number * 1.03)[1]
    line, worse = before.line_of_scores("sru-1", number, number * 1.01)
    assert not worse
    assert "| sru-1 | 2.0000 | 2.0100 | +0.5 % |" in line
