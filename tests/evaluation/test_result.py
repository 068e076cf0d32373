"""What one pass leaves behind."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from dfop import DFOPRegressor
from dfop.evaluation import evaluate
from dfop.insight.plotting import named_lines

from .fakes import LeastSquares, Numbers, Rows, SignOf


@pytest.fixture
def result():
    X = np.random.default_rng(0).normal(size=(300, 2))
    rows = Rows(X, np.where(X[:, 0] > 0, "up", "down"), "halves")
    rows.changes = (100, 200)
    return evaluate(SGDClassifier(loss="log_loss", random_state=0), rows, window=50, proba=True)


def test_curves_end_where_the_score_is(result):
    assert len(result) == 300
    assert result.curve("accumulated")[-1] == pytest.approx(result.metrics["accuracy"])
    right = result.truth == result.predictions
    assert result.curve("windowed")[-1] == pytest.approx(right[-50:].mean())
    with pytest.raises(ValueError, match="kind must be"):
        result.curve("wavy")


def test_a_regression_curve_is_the_mean_squared_error():
    X = np.random.default_rng(0).normal(size=(100, 2))
    result = evaluate(LeastSquares(), Numbers(X, X[:, 0]))
    assert result.curve("accumulated")[-1] == pytest.approx(result.metrics["MSE"])
    assert result.score_name == "MSE"


def test_a_prediction_that_is_not_finite_shows_in_the_curve():
    class Breaks(LeastSquares):
        def predict_then_learn(self, X, y):
            return np.where(np.arange(len(y)) == 3, np.nan, 0.0)

    result = evaluate(Breaks(), Numbers(np.ones((20, 1)), np.ones(20)), window=5)
    assert result.score == np.inf
    assert np.isfinite(result.curve("windowed")[[2, 8]]).all()
    assert np.isinf(result.curve("windowed")[3:8]).all()


def test_frame(result):
    frame = result.to_frame()
    assert list(frame) == [
        "truth", "prediction", "accumulated", "windowed", "faded", "p(down)", "p(up)"
    ]  # fmt: skip
    assert (frame["truth"] == frame["prediction"]).mean() == result.score
    np.testing.assert_allclose(frame["p(down)"] + frame["p(up)"], 1)


def test_text(result):
    assert repr(result).startswith("<Result: SGDClassifier on halves, 300 rows: accuracy 0.")
    lines = str(result).splitlines()
    assert lines[0] == "SGDClassifier on halves, 300 rows"
    for name in (
        "accuracy", "balanced accuracy", "kappa", "kappa-M", "kappa-temporal", "log loss",
        "Brier score", "time", "memory",
    ):  # fmt: skip
        assert any(line.strip().startswith(name) for line in lines), name


def test_picture(result, tmp_path):
    ax = result.plot()
    assert [t.get_text() for t in ax.texts] == [
        "new concept",
        "last 50 rows",
        "all rows so far",
        "no-change, last 50",
    ]
    windowed = next(line for line in ax.lines if line.get_label() == "last 50 rows")
    np.testing.assert_array_equal(windowed.get_ydata(), result.curve("windowed"))
    assert sorted(line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2) == [
        100,
        200,
    ]
    assert ax.get_ylabel() == "accuracy"
    ax.figure.savefig(tmp_path / "result.png")
    before = len(ax.lines)
    assert result.plot(ax) is ax
    assert len(ax.lines) == before + 2


def test_the_axis_shows_the_stream_and_not_its_first_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = 100.0 + X[:, 0] + 0.1 * rng.normal(size=2000)  # the first prediction is 0: wrong by 10,000
    ax = evaluate(LeastSquares(), (np.column_stack([X, np.ones(2000)]), y), window=100).plot()
    low, high = ax.get_ylim()
    assert 0 < low < 0.02
    assert high < 200
    labels = np.where(X[:, 0] > 0, 1, -1)
    low, high = evaluate(SignOf(), (X, labels), window=100).plot().get_ylim()
    assert 0.3 < low < 0.5 < 0.98 < high < 1.05  # no-change is right on half of the rows


def test_a_second_model_is_named(result):
    ax = result.plot()
    result.plot(ax)
    assert [line.get_label() for line in named_lines(ax)] == [
        "last 50 rows",
        "all rows so far",
        "no-change, last 50",
        "SGDClassifier, last 50 rows",
        "SGDClassifier, all rows so far",
    ]


def test_a_window_over_all_rows_is_one_line(result):
    assert len(named_lines(replace(result, window=300).plot())) == 1


def test_nothing_optional_is_needed_for_the_numbers():
    code = """
import sys
from dataclasses import replace
optional = ("matplotlib", "pandas", "scikit_posthocs", "seaborn", "river", "rich", "tqdm")
class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in optional:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent)
import numpy as np
from sklearn.linear_model import SGDRegressor
from dfop.evaluation import compare, evaluate
X = np.random.default_rng(0).normal(size=(50, 2))
print(evaluate(SGDRegressor(), (X, X[:, 0])))
models = {"a": SGDRegressor(), "b": SGDRegressor(eta0=0.1), "c": SGDRegressor(eta0=0.2)}
table = compare(models, {"s": (X, X[:, 0]), "t": (X, X[:, 1])}, trials=2)
for form in ("text", "markdown", "latex", "csv"):
    table.render(form)
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("matplotlib.pyplot", "plot", lambda r: r.plot()),
        ("pandas", "stats", lambda r: r.to_frame()),
    ],
)
def test_a_missing_package_is_named_with_its_extra(result, monkeypatch, module, extra, use):
    package = module.partition(".")[0]
    for name in list(sys.modules):
        if name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)

    class Absent:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == package:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    with pytest.raises(ImportError, match=rf"{package}.*: pip install 'dfop\[{extra}\]'"):
        use(result)


def test_alarms_are_drawn_with_what_moved_and_no_change_knows_late_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.1 * rng.normal(size=2000)
    y[1000:] -= 4.0 * X[1000:, 1]
    result = evaluate(DFOPRegressor(), (X, y), window=100, delay=3)
    assert len(result.alarms) == 1
    ax = result.plot()
    assert "x1" in [text.get_text() for text in ax.texts]
    [drawn] = [line for line in ax.lines if line.get_label() == "no-change, last 100"]
    values = drawn.get_ydata()
    unknown = result.known == 0
    assert unknown.any()
    np.testing.assert_array_equal(np.isnan(values), unknown)
    last = y[result.known - 1]
    assert values[-1] == pytest.approx(np.mean((y - last)[-100:] ** 2))
