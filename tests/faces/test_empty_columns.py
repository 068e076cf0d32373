"""Columns without any value: refused where all rows are at hand, told of where more may come."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dfop import DFOPClassifier, DFOPRegressor, Keyed
from dfop.cli import app
from model_state import everything, refused

RNG = np.random.default_rng(0)
N = 60
A = RNG.normal(size=N)
LABELS = (A > 0).astype(int)
EMPTY = {
    "array": (np.c_[A, np.full(N, np.nan)], "'x1'"),
    "lists": ([[a, None] for a in A], "'x1'"),
    "pandas, NaN": (pd.DataFrame({"a": A, "b": np.nan}), "'b'"),
    "pandas, None": (pd.DataFrame({"a": A, "b": pd.Series([None] * N, dtype=object)}), "'b'"),
    "pandas, NA": (pd.DataFrame({"a": A, "b": pd.array([pd.NA] * N, dtype="Int64")}), "'b'"),
    "dicts": ([{"a": a, "b": None} for a in A], "'b'"),
    "words for it": (pd.DataFrame({"a": A, "b": ["n/a", "", "?"] * (N // 3)}), "'b'"),
}


@pytest.mark.parametrize("face", [DFOPRegressor, DFOPClassifier])
@pytest.mark.parametrize("rows", EMPTY)
@pytest.mark.parametrize("forgetting", ["auto", 0.01])
def test_fit_refuses_a_column_without_a_value(face, rows, forgetting):
    X, name = EMPTY[rows]
    says = f"no row that counts has a value in column {name}"
    for model in (face(forgetting), face(forgetting).fit(A[:, np.newaxis], LABELS)):
        refused(model, lambda m: m.fit(X, LABELS), says, "leave that out", "partial_fit")


def test_a_value_in_a_row_of_weight_zero_is_none():
    X = np.c_[A, np.full(N, np.nan)]
    X[7, 1] = 3.0
    DFOPRegressor(0.01).fit(X, A)
    weights = np.ones(N)
    weights[7] = 0.0
    refused(DFOPRegressor(0.01), lambda m: m.fit(X, A, weights), "no row that counts", "'x1'")


def test_other_calls_wait_for_the_first_value_however_rows_are_cut():
    frame = pd.DataFrame({"a": A, "b": pd.Series([None] * N, dtype=object)})
    frame.loc[40:, "b"] = np.where(A[40:] > 0, "up", "down")
    whole, split = DFOPClassifier(), DFOPClassifier()
    told = whole.predict_then_learn(frame, LABELS, classes=[0, 1])
    parts = []
    for start in range(0, N, 20):
        rows = slice(start, start + 20)
        X = frame[rows].reset_index(drop=True)
        parts.append(split.predict_then_learn(X, LABELS[rows], classes=[0, 1]))
        assert split.empty_columns_ == (["b"] if start < 40 else [])
    assert (np.concatenate(parts) == told).all()
    assert everything(split) == everything(whole)


def test_empty_columns_of_models_by_key():
    keyed = Keyed(DFOPRegressor(0.01))
    keyed.partial_fit([1, 2] * (N // 2), np.c_[A, np.full(N, np.nan)], A)
    assert keyed.empty_columns_ == ["x1"]
    keyed.partial_fit([1], [[1.0, 2.0]], [3.0])
    assert keyed.empty_columns_ == []


@pytest.mark.parametrize("command", [["learn"], ["learn", "--key", "who"], ["evaluate"]])
@pytest.mark.parametrize("cell", ["", "NA"])
def test_commands_end_with_a_note_of_columns_that_never_had_a_value(command, cell, tmp_path):
    file = tmp_path / "rows.csv"
    rows = "".join(f"{a},{cell},{'xy'[int(a > 0)]},{2 * a}\n" for a in A)
    file.write_text("size,depth,who,price\n" + rows)
    fixed = ["--forgetting", "0.01", "--target", "price"]
    outcome = CliRunner().invoke(app, [command[0], str(file), *command[1:], *fixed])
    assert outcome.exit_code == 0, outcome.output
    note = "no row has a value in column 'depth': nothing was learned from it; --ignore leaves it"
    assert outcome.stderr.count(note) == 1
    clean = CliRunner().invoke(
        app, [command[0], str(file), *command[1:], *fixed, "--ignore", "depth"]
    )
    assert clean.exit_code == 0
    assert "no row has a value" not in clean.stderr
