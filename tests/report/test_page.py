"""The page is one file of a bounded size, and text from data stays text."""

import itertools
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from dfop import DFOPClassifier, DFOPRegressor, evaluate
from dfop.insight.looks import Look
from dfop.report import History, write_page
from dfop.report.curves import error_curves, forgetting_curve, influence_curves, recent_errors
from dfop.report.page import LARGEST
from dfop.report.pictures import draw_coverage, draw_error, picture
from dfop.report.sections import feature_section, forgetting_section
from dfop.report.text import embedded, marked_up, shown
from dfop.report.words import verdict_words

from .pages import HOSTILE, of_classes, of_numbers


class Elements(HTMLParser):
    """Which elements a page has, with their attributes, and the text of each script."""

    def __init__(self):
        super().__init__()
        self.found, self.scripts, self.words = [], [], []
        self.inside = None

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.words.append(data)


def read(path):
    elements = Elements()
    elements.feed(path.read_text("utf-8"))
    return elements


@pytest.fixture(scope="module", params=[of_numbers, of_classes])
def written(request, tmp_path_factory):
    model, history = request.param()
    path = tmp_path_factory.mktemp("pages") / "report.html"
    write_page(path, history, model, title="<i>$$title$$</i>", about={"source": "</title><b>"})
    return path, history, read(path)


def test_a_page_is_one_file_of_a_bounded_size(written):
    path, _, elements = written
    assert path.stat().st_size <= LARGEST
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    asked = [
        value
        for _, attributes in elements.found
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset")
    ]
    assert all(value.startswith("#") for value in asked)


def test_no_element_or_attribute_comes_from_data(written):
    _, _, elements = written
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"img", "b", "i", "iframe", "object", "link", "base", "form"}
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    assert "<i>$$title$$</i>" in elements.words


def test_only_scripts_of_ours_may_run(written):
    _, _, elements = written
    [policy] = [a["content"] for tag, a in elements.found if tag == "meta" and "http-equiv" in a]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    kinds = [a.get("type") for tag, a in elements.found if tag == "script"]
    assert kinds.count("application/json") == 2
    # One digest per script that is no data: a script that data smuggled in would have none.
    assert len(rules["script-src"].split()) == kinds.count(None)


def test_the_page_holds_its_summary(written):
    _, history, elements = written
    assert json.loads(elements.scripts[0]) == history.summary()


def test_every_figure_is_that_of_the_summary(written):
    _, history, elements = written
    figures = [a for tag, a in elements.found if tag == "data"]
    assert len(figures) > 10
    for figure in figures:
        value = history.summary()
        for key in figure["data-figure"].split("."):
            value = value[int(key) if isinstance(value, list) else key]
        assert figure["value"] == ("" if value is None else str(value))


def test_names_are_shown_as_they_are(tmp_path):
    model, history = of_numbers(600)
    write_page(tmp_path / "r.html", history, model)
    words = " ".join(read(tmp_path / "r.html").words)
    assert "$$x$$" in words
    assert "'=cmd()" in words
    assert "<script>document" in words
    assert "\u202e" not in words


@pytest.mark.parametrize("n", [1, 2, 3, 40])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_history_of_a_few_rows_has_a_page(tmp_path, n, task):
    history = History(task)
    history.add(np.arange(n) % 2, np.zeros(n))
    write_page(tmp_path / "r.html", history)
    assert "<h1>What was learned</h1>" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("scale", [1e-300, 1e290, np.inf])
def test_extreme_numbers_have_a_page(tmp_path, scale):
    rng = np.random.default_rng(0)
    history = History("regression")
    y = rng.normal(size=500) * min(scale, 1.0 if scale == np.inf else scale)
    history.add(y, np.where(np.arange(500) % 7 == 0, np.inf, 0.0) if scale == np.inf else 2 * y)
    write_page(tmp_path / "r.html", history)


def test_an_empty_history_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="at least one row"):
        write_page(tmp_path / "r.html", History("regression"))
    assert not list(tmp_path.iterdir())


def test_an_evaluation_writes_the_same_page(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    model = DFOPClassifier()
    result = evaluate(model, (X, y), proba=True, delay=5)
    result.report(tmp_path / "r.html", model)
    summary = json.loads(read(tmp_path / "r.html").scripts[0])
    assert summary["error"]["overall"] == pytest.approx(1 - result.metrics["accuracy"])
    knows = result.known > 0
    last = result.truth[result.known[knows] - 1]
    assert summary["error"]["no_change"] == np.mean(last != result.truth[knows])
    assert summary["calibration"]["rows"] == 500


def test_curves_have_at_most_two_thousand_points():
    history = History("classification")
    rng = np.random.default_rng(1)
    for _ in range(50):
        history.add(rng.integers(0, 2, 9973), rng.integers(0, 2, 9973))
    assert max(map(len, recent_errors(history).values())) <= 2000
    assert len(error_curves(history, 120).rows) == 120


def test_grouped_errors_are_means_over_their_rows():
    rng = np.random.default_rng(1)
    truth, predicted = rng.normal(size=(2, 4000))
    history = History("regression")
    history.add(truth, predicted)
    curves = error_curves(history, 50)
    edges = np.append(0, curves.rows.astype(int))
    squares = (truth - predicted) ** 2
    means = [squares[a:b].mean() for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(curves.model, means)


def test_influence_shows_what_mattered_once():
    _, history = of_numbers(3000)
    rows, shares = influence_curves(history, 4)
    early, late = rows < 1400, rows > 2400
    assert shares[HOSTILE[3]][early].max() < 0.1 < 0.2 < shares[HOSTILE[3]][late].min()


@pytest.mark.parametrize("text", ["</script>", "<!--", "&amp;", "]]>", "\u2028"])
def test_json_in_a_script_ends_no_script(text):
    inside = embedded({text: text})
    assert json.loads(inside) == {text: text}
    assert not re.search(r"[<>&\u2028]", inside)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@x", "'@x"),
        ("-1.5", "-1.5"),
        ("x=1", "x=1"),
        ("\ud800", "\ufffd"),
        ("a\nb\u202ec", "a\ufffdb\ufffdc"),
    ],
)
def test_what_a_spreadsheet_or_a_terminal_would_act_on_is_only_shown(text, safe):
    assert shown(text) == safe


def test_quotes_do_not_end_an_attribute():
    assert '"' not in marked_up('" onload="x')


def test_a_missing_package_is_named_with_its_extra(tmp_path):
    code = """
import sys
class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "bokeh":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent)
from dfop.report import History, write_page
history = History("regression")
history.add([1.0], [1.0])
write_page(sys.argv[1], history)
"""
    run = [sys.executable, "-c", code, str(tmp_path / "r.html")]
    done = subprocess.run(run, capture_output=True, text=True)
    assert "the report needs bokeh: pip install 'dfop[report]'" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("n", "half"), [(1, 1), (2, 1), (9, 1), (40, 2), (90, 4)])
def test_running_medians_are_medians_of_what_is_there(n, half):
    history = History("regression")
    mu = np.random.default_rng(n).uniform(0.1, 0.9, size=n)
    history.looks.kept = [Look(32 * t + 32, float(value), {}) for t, value in enumerate(mu)]
    drawn = forgetting_curve(history)[1]
    np.testing.assert_allclose(
        drawn, [np.median(mu[max(0, t - half) : t + half + 1]) for t in range(n)]
    )


def test_figures_beside_an_axis_keep_their_digits():
    """A mean squared error from 0.0002 to 0.01 has a tick at 0.002, not at 0.00."""
    rng = np.random.default_rng(0)
    history = History("regression")
    truth = np.cumsum(rng.normal(size=3000)) * 0.05
    history.add(truth, truth + 0.03 * rng.normal(size=3000) * np.linspace(0.3, 3, 3000))
    drawn = picture("error", "error", draw_error, history)
    written = re.findall(r"<text [^>]*>([\d.e,-]+)</text>", drawn)
    assert len(written) == len(set(written)), "two ticks have one name"
    assert any(len(name) > 4 for name in written)


def test_a_stream_of_seven_rows_has_whole_ticks_and_no_empty_picture():
    model, history = DFOPRegressor(), History("regression")
    X = np.arange(7.0)[:, None]
    history.add(X[:, 0], model.predict_then_learn(X, X[:, 0]))
    history.look(model)
    summary = history.summary()
    assert "<svg" not in feature_section(history, summary)
    assert "as it was told" not in forgetting_section(history, summary, None)
    along = re.findall(r"<text [^>]*>(\d+)</text>", picture("e", "e", draw_coverage, history))
    assert len(along) > 2
    assert len({int(b) - int(a) for a, b in itertools.pairwise(along)}) == 1, along


def test_a_model_worse_on_average_and_better_squared_is_not_said_to_be_both():
    error = {
        "overall": 2.0,
        "no_change": 4.0,
        "simple_overall": 9.0,
        "absolute": 1.2,
        "no_change_absolute": 1.0,
    }
    for further in ({}, {"simple_absolute": 1.1}):
        said = verdict_words({"task": "regression", "error": {**error, **further}})
        assert said.startswith("Where large errors count more, it has 50.0 % less error (squared)")


def test_how_much_is_gained_is_told_of_the_errors_that_the_sentence_before_tells():
    """Off by 2 where the mean is off by 8: three quarters less, not the 15/16 of the squares."""
    error = {"overall": 4.0, "no_change": 100.0, "simple_overall": 64.0}
    absolute = {"absolute": 2.0, "no_change_absolute": 10.0, "simple_absolute": 8.0}
    said = verdict_words({"task": "regression", "error": error | absolute})
    assert said.startswith("That is 75.0 % less than the mean so far")
    assert said.endswith("(squared: 93.8 %).")
