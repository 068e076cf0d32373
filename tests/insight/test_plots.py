"""The picture of what happened shows what was put into the stream."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from dfop import DFOPClassifier, DFOPRegressor


def jumping(n=3000):
    """One of three weights changes half-way."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["speed", "load", "$heat$"])
    late = np.arange(n) >= n // 2
    return X, 2 * X["speed"] - 2 * late * X["load"] + X["$heat$"] + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def figure():
    return DFOPRegressor().fit(*jumping()).plot()


def lines(ax):
    return {str(line.get_label()): line for line in ax.lines}


def test_the_error_is_drawn_against_no_change(figure):
    ax = figure.axes[0]
    model, last = (lines(ax)[name].get_ydata() for name in ("best expert", "no-change"))
    y = jumping()[1].to_numpy()
    expected = np.mean(np.diff(y) ** 2)
    assert np.mean(last) == pytest.approx(expected, rel=0.1)
    share = f"{1 - np.mean(model) / np.mean(last):.0%}"
    assert f"{share} less than no-change, 1 sudden change found" in ax.get_title(loc="left")


def test_the_alarm_bears_the_name_of_what_moved(figure):
    assert "load" in {text.get_text() for text in figure.axes[0].texts}


def test_it_pays_to_look_back_less_after_the_change(figure):
    [steps] = [line for line in figure.axes[1].lines if len(line.get_xdata()) > 2]
    rows, back = np.asarray(steps.get_xdata()), np.asarray(steps.get_ydata())
    assert back[(rows > 1500) & (rows < 1700)].min() < np.median(back[rows < 1500])


def test_weights_go_from_the_long_past_to_now(figure):
    ax = figure.axes[2]
    assert ax.xaxis_inverted()
    names = [text.get_text() for text in ax.texts]
    drawn = [line for line in ax.lines if len(line.get_xdata()) > 2]
    [load] = [line for name, line in zip(names, drawn, strict=True) if name == "load"]
    effect = np.asarray(load.get_ydata())
    assert effect[0] == pytest.approx(-1.0, abs=0.2)  # over all rows
    assert effect[-1] == pytest.approx(-2.0, abs=0.2)  # now


def test_each_point_of_the_past_is_drawn_once(figure):
    drawn = [line for line in figure.axes[2].lines if len(line.get_xdata()) > 2]
    assert all((np.diff(line.get_xdata()) < 0).all() for line in drawn)


def test_an_alarm_of_inputs_bears_the_name_of_the_column_that_changed():
    X, y = jumping()
    X.loc[1000:1499, "$heat$"] *= 10
    figure = DFOPRegressor(features="linear").fit(X, y).plot()
    assert {"$heat$", "load"} <= {text.get_text() for text in figure.axes[0].texts}


def test_numbers_beside_the_axes_do_not_cover_each_other():
    X, y = jumping()
    model = DFOPRegressor(features="linear").fit(X[:600], y[:600])
    axes = [*model.plot().axes, model.drift_.plot()]
    for ax in axes:
        ax.figure.draw_without_rendering()
        for axis, side in ((ax.xaxis, 0), (ax.yaxis, 1)):
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            boxes = [t.label1.get_window_extent() for t in ticks if t.label1.get_text()]
            ends = sorted((box.min[side], box.max[side]) for box in boxes)
            assert all(before[1] <= after[0] for before, after in pairwise(ends))


@pytest.mark.parametrize("rows", [1, 30])
def test_few_rows_and_labels_draw_too(rows):
    X, y = jumping()
    assert len(DFOPRegressor().fit(X[:rows], y[:rows]).plot().axes) == 3
    model = DFOPClassifier().fit(X[:rows], y[:rows] > 0, classes=[False, True])
    model.plot().savefig("/dev/null", format="png")


def test_a_series_that_no_change_predicts_says_so():
    X = np.random.default_rng(1).normal(size=(500, 2))
    title = DFOPRegressor().fit(X, np.repeat([1.0, 5.0], 250)).plot().axes[0].get_title(loc="left")
    assert "no-change" in title


def test_long_names_that_begin_alike_are_told_apart():
    names = [f"temperature_of_the_reactor_{k}_in_hall_2" for k in range(50)]
    X, y = jumping(2400)
    wide = pd.DataFrame(np.random.default_rng(2).normal(size=(2400, 50)), columns=names)
    wide[names[:3]] = X.to_numpy()
    wide.loc[2000:, names[4]] *= 10
    model = DFOPRegressor(features="linear").fit(wide, y)
    moved, changed = model.alarms_
    assert (next(iter(moved.moved)), changed.columns) == (names[1], (names[4],))
    figure, alarms, weights = model.plot(), model.plot_alarms(), model.plot_weights()
    told = [text.get_text() for text in figure.axes[0].texts]
    assert [text for text in told if "…" in text] == [
        "temperatur…_1_in_hall_2",
        "temperatur…_4_in_hall_2",
    ]
    for shown in (
        [text.get_text() for text in figure.axes[2].texts],
        [label.get_text() for label in alarms.get_yticklabels()],
        [label.get_text() for label in weights.get_yticklabels()],
    ):
        assert len(shown) >= 2
        assert len(set(shown)) == len(shown)
        assert max(map(len, shown)) <= 24


def test_alarms_of_a_single_filter_are_drawn_over_the_columns_that_changed():
    X, y = jumping()
    X.loc[2200:, "load"] *= 10
    model = DFOPRegressor(0.01, monitor=True).fit(X, y)
    [changed] = [alarm.row for alarm in model.alarms_ if alarm.kind == "inputs"]
    ax = model.plot_alarms()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["load"]
    [mark] = [line for line in ax.lines if line.get_marker() == "s"]
    assert mark.get_xdata()[0] == changed
    assert [text.get_text() for text in ax.texts] == ["column changed"]


def test_one_row_is_a_point_over_whole_rows():
    ax = DFOPRegressor().fit([[1.0, 2.0]], [3.0]).plot().axes[0]
    assert {line.get_marker() for line in lines(ax).values()} == {"o"}
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1"]
