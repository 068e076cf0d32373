"""The printed numbers that the package holds are the paper's, and say what is wrong in it."""

import pytest

from dfop.paper import printed
from dfop.paper.scores import printed_ratios
from dfop.paper.settings import (
    CLASSIFICATION,
    REGRESSION,
    REGRESSION_SEVEN,
    SEVEN,
    classifiers,
    regressors,
)

NAMES = [stream.name for stream in CLASSIFICATION]


def test_every_stream_has_every_method():
    assert set(printed.scores("classification")) == {(s, m) for s in NAMES for m in SEVEN}
    assert set(printed.scores("regression")) == {
        (s.name, m) for s in REGRESSION for m in REGRESSION_SEVEN
    }


@pytest.mark.parametrize(
    ("stream", "method", "mean", "std", "mark"),
    [
        ("SEA", "SVM-win", 73.94, 0.12, "better"),
        ("hyperplane", "DFOP", 90.14, 0.05, ""),
        ("1CSurr", "1NN-win", 98.12, 0.11, "better"),
        ("UG-2C-3D", "RLS", 61.95, 2.60, "better"),
        ("MG-2C-2D", "SVM-win", 90.20, 0.07, "worse"),
        ("Chess", "SVM-ada", 69.18, 3.65, "better"),
        ("Electricity", "DWM", 78.60, 0.41, "better"),
    ],
)
def test_fields_of_the_classification_table(stream, method, mean, std, mark):
    assert printed.scores("classification")[stream, method] == (mean, std, mark)


def test_sums_of_the_classification_table():
    """Summed by column from the paper's own text: a slip in any field would show."""
    known = printed.scores("classification")
    means = [1685.9, 1705.3, 1722.63, 1704.97, 1734.26, 1535.56, 1776.25]
    spreads = [8.61, 6.72, 9.59, 11.83, 12.29, 19.74, 5.64]
    for method, mean, spread in zip(SEVEN, means, spreads, strict=True):
        assert sum(known[s, method].mean for s in NAMES) == pytest.approx(mean, abs=0.001)
        assert sum(known[s, method].std for s in NAMES) == pytest.approx(spread, abs=0.001)


def test_the_regression_table():
    rows = {
        "RLS": (2.291, 0.306, 0.392, 2.467),
        "OB": (1.914, 0.051, 0.142, 0.577),
        "AddExp.C": (0.730, 0.049, 0.139, 1.283),
        "EOS-ELM": (1.903, 0.050, 0.142, 1.057),
        "Learn++.NSE": (1.662, 0.098, 0.232, 1.040),
        "OAUE": (1.959, 0.047, 0.131, 0.731),
        "DFOP": (0.619, 0.063, 0.064, 0.360),
    }
    for method, means in rows.items():
        for stream, mean in zip(REGRESSION, means, strict=True):
            assert printed.scores("regression")[stream.name, method].mean == mean


def test_corrected_counts_differ_from_the_printed_where_marks_are_wrong():
    corrected = printed.corrected_counts()
    assert corrected == {
        "SVM-win": (17, 1, 2),
        "1NN-win": (13, 3, 4),
        "SVM-fix": (19, 1, 0),
        "SVM-ada": (18, 2, 0),
        "DWM": (13, 3, 4),
        "RLS": (19, 1, 0),
    }
    wrong = {method for _, method in printed.WRONG_MARKS}
    assert {m for m in corrected if corrected[m] != printed.PRINTED_COUNTS[m]} == wrong


def test_marks_of_1nn_win_do_not_add_up_to_what_is_printed_below_them():
    known = printed.scores("classification")
    marks = [known[stream, "1NN-win"].dfop_is for stream in NAMES]
    assert tuple(map(marks.count, ("better", "", "worse"))) == (15, 3, 2)
    assert printed.PRINTED_COUNTS["1NN-win"] == (14, 4, 2)


def test_the_table_has_twelve_synthetic_streams_where_the_text_speaks_of_thirteen():
    """SEA, hyperplane "and another 11"; the streams of the world come last, from Chess on."""
    assert NAMES[:2] == ["SEA", "hyperplane"]
    assert NAMES.index("Chess") == 12


def test_wrong_marks_contradict_the_printed_means():
    known = printed.scores("classification")
    for stream, method in printed.WRONG_MARKS:
        assert known[stream, method].dfop_is == "better"
        assert known[stream, method].mean > known[stream, "DFOP"].mean


def test_dfop_is_best_on_fourteen_printed_streams():
    known = printed.scores("classification")
    best = [s for s in NAMES if known[s, "DFOP"].mean == max(known[s, m].mean for m in SEVEN)]
    assert len(best) == 14


def test_robustness_of_the_printed_table():
    sums = dict(zip(SEVEN, printed_ratios(NAMES).sum(axis=0).round(2), strict=True))
    assert sums["DFOP"] == 24.96
    assert max(sums, key=sums.get) == "DFOP"
    assert min(sums, key=sums.get) == "RLS"


def test_mu_is_the_printed_one_where_the_paper_prints_it():
    for stream in CLASSIFICATION:
        assert stream.printed_mu == (stream.name in printed.periods())
        if stream.printed_mu:
            assert stream.mu == printed.periods()[stream.name].mu


def test_the_methods_of_the_tables_come_first():
    assert tuple(classifiers(CLASSIFICATION[0]))[:7] == SEVEN
    assert tuple(regressors(REGRESSION[0]))[:7] == REGRESSION_SEVEN


def test_dfop_is_the_plain_recursion_with_the_mu_of_the_stream():
    for stream in CLASSIFICATION:
        model = classifiers(stream)["DFOP"]
        assert (model.forgetting, model.cap) == (stream.mu, None)


def test_sea_alone_has_the_long_svm_window():
    windows = {s.name: classifiers(s)["SVM-fix"].window for s in CLASSIFICATION}
    assert windows.pop("SEA") == 500
    assert set(windows.values()) == {100}
