"""The outcome of a comparison: numbers, tables, pictures."""

import csv
import io
import re

import numpy as np
import pytest

from dfop.evaluation import Comparison


@pytest.fixture
def comparison():
    rng = np.random.default_rng(0)
    level = np.array([[0.95, 0.9, 0.5], [0.8, 0.8, 0.7], [0.6, 0.9, 0.3], [0.7, 0.6, 0.5]])
    accuracy = level[:, :, None] + 0.01 * rng.normal(size=(4, 3, 10))
    accuracy[1, 1] = accuracy[1, 0]
    return Comparison(
        ["one", "two|2", "three_3"],
        ["S & T", "U", "V", "W"],
        "one",
        "accuracy",
        {"accuracy": accuracy, "MSE": 1 - accuracy, "seconds per row": accuracy},
    )


def test_numbers(comparison):
    accuracy = comparison.values["accuracy"]
    np.testing.assert_allclose(comparison.mean, accuracy.mean(axis=2))
    np.testing.assert_allclose(comparison.std, accuracy.std(axis=2, ddof=1))
    assert comparison.outcomes.tolist() == [[0, 1, 1], [0, 0, 1], [0, -1, 1], [0, 1, 1]]
    assert comparison.win_tie_loss == {"two|2": (2, 1, 1), "three_3": (4, 0, 0)}
    assert comparison.mean_ranks == {"one": 1.375, "two|2": 1.625, "three_3": 3.0}


def test_a_loss_gives_the_same_winners(comparison):
    loss = comparison.by("MSE")
    assert not loss.greater_is_better
    assert loss.win_tie_loss == comparison.win_tie_loss
    assert loss.mean_ranks == comparison.mean_ranks
    assert not comparison.by("seconds per row").greater_is_better
    with pytest.raises(ValueError, match="no metric 'beauty'; there are"):
        comparison.by("beauty")


def test_text_stands_in_columns(comparison):
    lines = comparison.render("text").splitlines()
    assert str(comparison) == comparison.render()
    assert lines[0] == "accuracy in %, mean±std of 10 trials"
    body = lines[4:8]
    assert len({line.index("±") for line in body}) == 1
    assert "●" in body[0]
    assert "*○" in body[2]
    assert re.search(r"win/tie/loss\s+2/1/1\s+4/0/0", str(comparison))


def test_markdown_is_a_table(comparison):
    lines = comparison.render("markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 1 + 1 + 4 + 3
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {5}
    assert r"two\|2" in table[0]
    assert re.fullmatch(r"\| S & T \| \*\*9\d\.\d\d±\d\.\d\d\*\* \| .* ● \| .* ● \|", table[2])


def test_latex_is_escaped(comparison):
    text = comparison.render("latex")
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {3}
    assert r"S \& T" in text
    assert r"three\_3" in text
    assert "±" not in text
    assert "●" not in text
    assert text.count(r"\begin") == text.count(r"\end") == 2
    assert re.search(r"(?<!\\)%(?! needs)", text) is None


def test_csv_has_the_numbers_in_full(comparison):
    rows = list(csv.DictReader(io.StringIO(comparison.render("csv"))))
    assert len(rows) == 12
    means = np.array([float(row["mean"]) for row in rows]).reshape(4, 3)
    np.testing.assert_array_equal(means, comparison.mean)
    assert [row["reference_is"] for row in rows[:6]] == [
        "",
        "better",
        "better",
        "",
        "tie",
        "better",
    ]
    assert rows[0]["p_value"] == ""


def test_one_trial_has_no_spread_and_no_test():
    c = Comparison(["A", "B"], ["S"], "A", "MSE", {"MSE": np.array([[[0.00123], [0.5]]])})
    assert "±" not in str(c)
    assert "win/tie/loss" not in str(c)
    assert "0.001230*" in str(c)
    assert list(csv.DictReader(io.StringIO(c.render("csv"))))[1]["p_value"] == ""


def test_infinite_losses_can_be_shown():
    c = Comparison(["A", "B"], ["S"], "A", "MSE", {"MSE": np.array([[[1.0, 2.0], [np.inf, 1.0]]])})
    for form in ("text", "markdown", "latex", "csv"):
        assert "inf" in c.render(form)
    assert c.win_tie_loss == {"B": (1, 0, 0)}


def test_an_unknown_form_is_refused(comparison):
    with pytest.raises(ValueError, match="form must be one of"):
        comparison.render("html")


def test_frame(comparison):
    frame = comparison.to_frame()
    assert frame.loc[("U", "one", 3), "accuracy"] == comparison.scores[1, 0, 3]
    assert len(frame) == 120


def test_picture_has_every_model(comparison, tmp_path):
    pytest.importorskip("matplotlib")
    ax = comparison.plot()
    text = " ".join(t.get_text() for t in ax.texts)
    for name, rank in comparison.mean_ranks.items():
        assert name in text
        assert f"{rank:.2f}" in text
    ax.figure.savefig(tmp_path / "ranks.png")


def test_ranks_need_three_models_and_two_streams():
    c = Comparison(["A", "B"], ["S"], "A", "MSE", {"MSE": np.ones((1, 2, 3))})
    for name in ("friedman", "nemenyi"):
        with pytest.raises(ValueError, match="at least three models and two streams"):
            getattr(c, name)
    assert "Friedman" not in str(c)


def test_repr(comparison):
    assert repr(comparison) == "<Comparison: 3 models on 4 streams, 10 trials, by accuracy>"
