"""Labels exactly 50 rows late: the default now, and as it was before it knew of late labels.

make delayed                                    all streams, to results-delayed.md
python benchmarks/delayed.py scores > FILE      scores of the build that is installed, as CSV

`delayed-before.csv` has the scores of the default before it had the wider pool of experts and
judged labels that come late as late: of commit a03c58b, built on its own, with this file in its
`benchmarks`. `DFOP_DATA` names the folder of the streams; of each the first 20,000 rows, of which
the first 50 do not count.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dfop import DFOPClassifier, DFOPRegressor, evaluate, streams
from dfop.evaluation.sources import in_memory

LABELS = (
    "sea", "hyperplane", "1cdt", "2cdt", "1cht", "2cht", "1csurr", "ug-2c-2d", "ug-2c-5d",
    "mg-2c-2d", "g-2c-2d", "chess", "usenet-1", "usenet-2", "luxembourg", "spam", "weather",
    "powersupply", "electricity",
)  # fmt: skip
NUMBERS = ("sru-1", "sru-2", "debutanizer")
ROWS, DELAY = 20_000, 50
MOST_LOST, MOST_GROWN = 0.5, 2.0
"""Points of accuracy, and percent of RMSE, by which no stream may be worse than before."""
HERE = Path(__file__).parent


def scores() -> Iterator[tuple[str, float]]:
    """Accuracy in percent, or RMSE, of every stream."""
    for name in (*LABELS, *NUMBERS):
        stream = in_memory(streams.load(name))[:ROWS]
        y = np.asarray(stream.y)[DELAY:]
        model = DFOPRegressor() if name in NUMBERS else DFOPClassifier()
        predicted = np.asarray(evaluate(model, stream, delay=DELAY).predictions)[DELAY:]
        if name in NUMBERS:
            yield name, float(np.sqrt(np.mean((predicted - y.astype(float)) ** 2)))
        else:
            yield name, 100.0 * float(np.mean(predicted == y))


def table(before: dict[str, float]) -> Iterator[str]:
    """Both, the difference, and how many streams are worse by more than is allowed."""
    yield "# Labels exactly 50 rows late\n"
    yield "Written by `make delayed`; what it says is in `delayed.py`.\n"
    yield "| stream | before | now | difference |\n|---|---:|---:|---:|"
    worse = 0
    for name, now in scores():
        then = before[name]
        if name in NUMBERS:
            change = 100.0 * (now / then - 1.0)
            worse += change > MOST_GROWN
            yield f"| {name} | {then:.4f} | {now:.4f} | {change:+.1f} % |"
        else:
            worse += now - then < -MOST_LOST
            yield f"| {name} | {then:.2f} | {now:.2f} | {now - then:+.2f} |"
    bounds = f"{MOST_LOST} points, or {MOST_GROWN:.0f} % of RMSE"
    yield f"\nWorse by more than {bounds}: {worse} of {len(before)} streams."


def main() -> None:
    """Print scores, or the table."""
    if sys.argv[1:] == ["scores"]:
        print("stream,score")
        for name, score in scores():
            print(f"{name},{score:.6g}", flush=True)
        return
    with (HERE / "delayed-before.csv").open() as file:
        before = {row["stream"]: float(row["score"]) for row in csv.DictReader(file)}
    for line in table(before):
        print(line, flush=True)


if __name__ == "__main__":
    main()
