"""`dfop learn`: what it learns is what the library learns, from every kind of source."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from sample_files import NAMES, as_csv, table, write
from typer.testing import CliRunner

from dfop import DFOPClassifier, DFOPRegressor, evaluate, half_life, load
from dfop.cli import app
from dfop.streams import read

FORMATS = ["csv", "tsv", "csv.gz", "csv.zst", "jsonl", "parquet", "folder", "arff", "two files"]


def learn(*arguments, code=0):
    outcome = CliRunner().invoke(app, ["learn", *map(str, arguments)])
    assert outcome.exit_code == code, (outcome.exit_code, outcome.stderr, outcome.exception)
    return outcome


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def frame(rows):
    return [dict(zip(NAMES[:3], row[:3], strict=True)) for row in rows], [row[3] for row in rows]


@pytest.fixture(scope="module")
def expected():
    """Return the library's predictions and its model."""
    X, y = frame(table())
    model = DFOPRegressor(0.01)
    return model.predict_then_learn(X, y), model


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_makes_the_same_model_and_predictions(tmp_path, form, expected):
    source = write(tmp_path, form, table())
    out, model = tmp_path / "p.csv", tmp_path / "m.dfop"
    learn(*source, "-t", "price", "--forgetting", 0.01, "--predictions", out, "--model", model)
    rows = read_csv(out)
    assert [int(row["row"]) for row in rows] == list(range(1, 401))
    assert [float(row["label"]) for row in rows] == [row[3] for row in table()]
    np.testing.assert_allclose([float(r["prediction"]) for r in rows], expected[0], rtol=1e-12)
    new = [{"size": 1.0, "speed": 2.0, "color": "red"}]
    assert load(model).predict(new) == pytest.approx(expected[1].predict(new), rel=1e-12)


def test_predictions_are_the_same_as_csv_json_lines_parquet_and_on_standard_output(tmp_path):
    source = write(tmp_path, "csv", table())
    found = []
    for name in ("p.csv", "p.jsonl", "p.parquet", "-"):
        path = name if name == "-" else tmp_path / name
        outcome = learn(*source, "-t", "price", "--predictions", path)
        if name == "-":
            rows = list(csv.DictReader(outcome.stdout.splitlines()))
        elif name == "p.parquet":
            rows = pq.read_table(path).to_pylist()
        else:
            rows = read_csv(path) if name == "p.csv" else lines(path)
        found.append(
            [[_cell(row[n]) for n in ("row", "prediction", "low", "label")] for row in rows]
        )
    assert found[0] == found[1] == found[2] == found[3]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def _cell(value):
    return None if value in ("", None) else float(value)


@pytest.mark.parametrize("whole", [False, True], ids=["text", "whole numbers"])
def test_labels_have_a_probability(tmp_path, whole):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600).round(3)
    names = ("0", "1") if whole else ("down", "up")
    y = np.where(x + 0.5 * rng.normal(size=600) > 0, names[1], names[0])
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)))
    learn(path, "-t", "y", "--predictions", tmp_path / "p.csv", "--model", tmp_path / "m.dfop")
    rows = read_csv(tmp_path / "p.csv")
    labels = y.astype(int) if whole else y
    model = DFOPClassifier()
    predicted = model.predict_then_learn([{"x": v} for v in x.tolist()], labels.tolist())
    assert [row["prediction"] for row in rows] == [str(label) for label in predicted]
    probability = np.array([float(row["probability"]) for row in rows])
    assert ((probability > 0.4) & (probability <= 1)).all()
    right = np.array([row["prediction"] == row["label"] for row in rows])
    assert abs(probability[100:].mean() - right[100:].mean()) < 0.1
    assert load(tmp_path / "m.dfop").classes_.tolist() == sorted(set(labels.tolist()))


def test_columns_are_chosen_left_out_and_named_as_text(tmp_path):
    source = write(tmp_path, "csv", table())
    for options, names in (
        (["--features", "size,color"], ["size", "color"]),
        (["--ignore", "speed"], ["size", "color"]),
        (["--ignore", "speed", "--ignore", "color"], ["size"]),
    ):
        learn(*source, "-t", "price", *options, "--model", tmp_path / "m.dfop")
        assert load(tmp_path / "m.dfop").feature_names_in_.tolist() == names
    whole = tmp_path / "whole.csv"
    whole.write_text("zip,y\n" + "".join(f"{t % 3},{t % 3 * 1.5}\n" for t in range(200)))
    learn(whole, "-t", "y", "--text", "zip", "--model", tmp_path / "m.dfop")
    assert load(tmp_path / "m.dfop").coded_names_.tolist() == ["zip=0", "zip=1", "zip=2"]


def timed(tmp_path, rows):
    path = tmp_path / "timed.csv"
    moments = np.datetime64("2024-05-01", "s") + 3600 * np.arange(len(rows))
    cells = [
        f"{m},o{i},{a},{d}" for i, (m, (a, _, _, d)) in enumerate(zip(moments, rows, strict=True))
    ]
    path.write_text("at,order,size,price\n" + "\n".join(cells) + "\n")
    return path


def test_forgetting_by_the_clock_and_times_in_the_output(tmp_path):
    path = timed(tmp_path, table())
    out = tmp_path / "p.csv"
    learn(path, "-t", "price", "--time", "at", "--id", "order", "--forgetting", "half-life=2d",
          "--predictions", out)  # fmt: skip
    rows = read_csv(out)
    assert rows[30]["time"].startswith("2024-05-02 06:00:00")
    assert rows[30]["id"] == "o30"
    batch, y = read(path, target="price", time="at", features=["size"]).all_rows()
    ahead = DFOPRegressor(half_life("2d")).predict_then_learn(batch, y, time=batch.time)
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], ahead, rtol=1e-12)


@pytest.mark.parametrize("delay", ["10", "1d"])
def test_a_delay_is_that_of_evaluate(tmp_path, delay):
    path = timed(tmp_path, table())
    learn(path, "-t", "price", "--time", "at", "--ignore", "order", "--delay", delay,
          "--forgetting", "0.02", "--predictions", tmp_path / "p.csv")  # fmt: skip
    found = [float(row["prediction"]) for row in read_csv(tmp_path / "p.csv")]
    stream = read(path, target="price", time="at", features=["size"])
    given = int(delay) if delay.isdigit() else delay
    result = evaluate(DFOPRegressor(0.02), stream, delay=given)
    np.testing.assert_allclose(found, result.predictions, rtol=1e-12)


def test_labels_of_a_file_of_their_own_are_learned_when_they_come(tmp_path):
    rows = table(300)
    whole = timed(tmp_path, rows)
    _, *body = whole.read_text().splitlines()
    cells = [line.split(",") for line in body]
    (tmp_path / "rows.csv").write_text(
        "at,order,size\n" + "".join(f"{a},{o},{s}\n" for a, o, s, _ in cells)
    )
    # each label 3 days after its row, some never, some twice as late, one without a row
    late = []
    for t, (at, order, _, price) in enumerate(cells):
        days = 6 if t % 10 == 0 else 3
        if t % 25:
            late.append((str(np.datetime64(at) + np.timedelta64(days, "D")), order, price))
    late.append((cells[5][0], "nobody", "1.5"))
    late.sort()
    (tmp_path / "late.csv").write_text(
        "at,order,price\n" + "".join(",".join(label) + "\n" for label in late)
    )
    learn(tmp_path / "rows.csv", "-t", "price", "--labels", tmp_path / "late.csv", "--id", "order",
          "--time", "at", "--forgetting", "0.02", "--predictions", tmp_path / "p.csv",
          "--model", tmp_path / "m.dfop")  # fmt: skip
    found = [float(row["prediction"]) for row in read_csv(tmp_path / "p.csv")]
    # one by one, in the order of the times: labels of a moment before its rows
    model, expected, at = DFOPRegressor(0.02), [], 0
    waiting = set()

    def learn_label(label):
        if label[1] in waiting:
            model.learn_pending([label[1]], [float(label[2])])

    for moment, order, size, _ in cells:
        while at < len(late) and np.datetime64(late[at][0]) <= np.datetime64(moment):
            learn_label(late[at])
            at += 1
        expected.append(model.predict_pending([{"size": float(size)}], [order])[0])
        waiting.add(order)
    for label in late[at:]:
        learn_label(label)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    new = [{"size": 0.7}]
    assert load(tmp_path / "m.dfop").predict(new) == pytest.approx(model.predict(new), rel=1e-9)


def test_options_come_from_a_toml_file_and_the_command_line_goes_before(tmp_path):
    source = write(tmp_path, "csv", table())
    config = tmp_path / "run.toml"
    config.write_text(
        f"source = {json.dumps(source)}\ntarget = 'price'\nforgetting = '0.5'\n"
        f"ignore = ['speed']\nmodel = {json.dumps(str(tmp_path / 'm.dfop'))}\nbad-rows = 'skip'\n"
    )
    learn("--config", config, "--forgetting", "0.01")
    model = load(tmp_path / "m.dfop")
    assert model.forgetting.mu == 0.01
    assert model.feature_names_in_.tolist() == ["size", "color"]
    config.write_text("tarket = 'price'\n")
    outcome = learn("--config", config, code=2)
    assert "Did you mean target?" in outcome.stderr


def test_the_summary_and_the_metrics_say_the_same(tmp_path):
    source = write(tmp_path, "csv", table())
    outcome = learn(*source, "-t", "price", "--json", "--metrics", tmp_path / "m.prom")
    summary = json.loads(outcome.stdout)
    assert summary["rows"] == summary["rows_read"] == 400
    result = evaluate(DFOPRegressor(), read(source[0], target="price"))
    assert summary["error"]["overall"] == pytest.approx(result.metrics["MSE"], rel=1e-9)
    text = (tmp_path / "m.prom").read_text()
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert float(figures["dfop_rows_total"]) == 400
    assert float(figures['dfop_error{over="overall"}']) == summary["error"]["overall"]
    for line in text.splitlines():
        assert line.startswith(("# HELP dfop_", "# TYPE dfop_", "dfop_"))


def test_progress_is_lines_of_text_or_of_json_on_standard_error(tmp_path):
    source = write(tmp_path, "csv", table())
    outcome = learn(*source, "-t", "price")
    assert not outcome.stdout
    head, first, *_ = outcome.stderr.splitlines()
    columns = "rows | now | overall | no-change | mu | alarms | bad | rows/s"
    assert [name.strip() for name in head.split("|")] == columns.split(" | ")
    assert first.split("|")[0].strip() == "400"
    outcome = learn(*source, "-t", "price", "--progress-json")
    line = json.loads(outcome.stderr.splitlines()[0])
    assert line["rows"] == 400
    assert line["overall"] > 0


def with_bad_rows(tmp_path):
    rows = as_csv(table()).splitlines()
    for at in (50, 150, 151):
        rows[at] = "oops," + rows[at].split(",", 1)[1]
    rows[300] = "1,2"
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_bad_row_stops_the_run_unless_it_may_be_skipped(tmp_path):
    path = with_bad_rows(tmp_path)
    outcome = learn(path, "-t", "price", "--model", tmp_path / "m.dfop", code=3)
    assert "row 50 (line 51" in outcome.stderr
    assert not (tmp_path / "m.dfop").exists()
    outcome = learn(path, "-t", "price", "--bad-rows", "skip", "--predictions", tmp_path / "p.csv")
    assert "4 of 400 rows were bad (3 not a number, 1 wrong number of cells)" in outcome.stderr
    marked = {row["row"]: row["bad"] for row in read_csv(tmp_path / "p.csv") if row["bad"]}
    assert marked == {
        "50": "not a number",
        "150": "not a number",
        "151": "not a number",
        "300": "wrong number of cells",
    }
    clean = [row for t, row in enumerate(table()) if t + 1 not in (50, 150, 151, 300)]
    X, y = frame(clean)
    expected = DFOPRegressor().predict_then_learn(X, y)
    found = [float(r["prediction"]) for r in read_csv(tmp_path / "p.csv") if not r["bad"]]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_bad_rows_are_put_aside_and_too_many_stop_the_run(tmp_path):
    path = with_bad_rows(tmp_path)
    aside = tmp_path / "aside.csv"
    learn(path, "-t", "price", "--bad-rows", f"quarantine={aside}", "--max-bad", "0.02")
    assert [row["row"] for row in read_csv(aside)] == ["50", "150", "151", "300"]
    outcome = learn(path, "-t", "price", "--bad-rows", "skip", "--max-bad", "3", code=3)
    assert "4 bad rows" in outcome.stderr


def test_rows_can_be_left_out_at_the_beginning(tmp_path):
    path = with_bad_rows(tmp_path)
    learn(path, "-t", "price", "--bad-rows", "skip", "--skip", "100", "--predictions",
          tmp_path / "p.csv")  # fmt: skip
    rows = read_csv(tmp_path / "p.csv")
    assert [int(row["row"]) for row in rows] == list(range(101, 401))


def test_a_run_that_is_started_again_has_nothing_left_to_do(tmp_path):
    source = write(tmp_path, "csv", table())
    given = [*source, "-t", "price", "--checkpoint", tmp_path / "state", "--json"]
    first, second = (json.loads(learn(*given).stdout) for _ in range(2))
    assert {**first, "speed": 0} == {**second, "speed": 0}
    outcome = learn(*given[:-1], "--lags", "1", code=4)
    assert "--lags was 0 and is 1" in outcome.stderr
