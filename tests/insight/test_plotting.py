"""Pictures can be read: axes fit what matters, names do not cover each other."""

import itertools

import numpy as np
import pytest

from dfop.insight.plotting import draw_lines, named_lines, new_axes, panels, save
from dfop.rows.extras import need


@pytest.fixture(autouse=True)
def no_open_figures():
    """Figures of other tests stay open, and matplotlib warns of many."""
    from matplotlib import pyplot

    pyplot.close("all")
    yield
    pyplot.close("all")


def settled_line(n=1000, first=0.0, level=0.9):
    """A mean that begins with one wild row."""
    t = np.arange(1, n + 1)
    return t, level + (first - level) / t**2


def test_the_first_rows_do_not_stretch_the_axis():
    t, values = settled_line()
    low, high = draw_lines(None, t, [("a", values)], settled=100).get_ylim()
    assert 0.89 < low < 0.9 < high < 0.91
    low, _ = draw_lines(None, t, [("a", values)]).get_ylim()
    assert low < 0


def test_the_axis_makes_room_for_the_next_model():
    t, values = settled_line()
    ax = draw_lines(None, t, [("a", values)], settled=100)
    low, high = draw_lines(ax, t, [("b", values - 0.5)], settled=100).get_ylim()
    assert 0.35 < low < 0.4
    assert 0.9 < high < 0.95


def test_limits_that_were_set_stay():
    _, [ax] = panels(1, 1, 4, 3)
    ax.set_ylim(0, 2)
    assert draw_lines(ax, np.arange(3), [("a", np.ones(3))]).get_ylim() == (0, 2)


@pytest.mark.parametrize(
    ("values", "scale"),
    [([1.0, 1000.0], "log"), ([1.0, 50.0], "linear"), ([0.0, 1000.0], "linear")],
)
def test_a_loss_over_decades_is_drawn_in_decades(values, scale):
    ax = draw_lines(None, np.arange(2), [("a", np.array(values))], loss=True)
    assert ax.get_yscale() == scale
    assert draw_lines(None, np.arange(2), [("a", np.array(values))]).get_yscale() == "linear"


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("last", [1.0, 3.0])
def test_names_at_the_ends_do_not_cover_each_other(scale, last):
    ax = new_axes()
    ax.set_yscale(scale)
    draw_lines(ax, np.arange(2), [(c, np.array([0.5, last])) for c in "abcd"])
    ax.figure.draw_without_rendering()
    renderer = ax.figure.canvas.get_renderer()
    boxes = sorted((text.get_window_extent(renderer) for text in ax.texts), key=lambda b: b.y0)
    assert all(low.y1 <= high.y0 + 2 for low, high in itertools.pairwise(boxes))


def test_values_that_are_not_finite_are_left_out():
    ax = draw_lines(None, np.arange(3), [("a", np.array([1.0, np.inf, np.nan]))])
    assert np.isfinite(ax.get_ylim()).all()
    draw_lines(None, np.arange(1), [("a", np.array([np.nan]))])


def test_changes_are_drawn_once_and_many_not_at_all():
    _, [ax] = panels(1, 1, 4, 3)
    for name in "ab":
        draw_lines(ax, np.arange(9), [(name, np.ones(9))], [3, 6])
    assert len(named_lines(ax)) == 2
    assert len(ax.lines) == 4
    _, [ax] = panels(1, 1, 4, 3)
    draw_lines(ax, np.arange(99), [("a", np.ones(99))], range(1, 50))
    assert len(ax.lines) == 1


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_picture_gives_the_same_file(tmp_path, ending):
    written = []
    for _ in range(2):
        figure, [ax] = panels(1, 1, 4, 3)
        draw_lines(ax, np.arange(2), [("a", np.ones(2))])
        save(figure, tmp_path / f"a.{ending}")
        written.append((tmp_path / f"a.{ending}").read_bytes())
    assert written[0] == written[1]


def test_a_broken_package_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        need("half_there", extra="plot")
