"""A file as files are: text, gaps, garbage, and labels that are known only later.

Orders are predicted when they come in: will this one be sent back? The answer comes 50 orders
later. In the middle of the file customers change their minds.
"""

import random
import tempfile
from pathlib import Path

from dfop import DFOPClassifier, streams

DELAY = 50


def write_orders(path: Path, n: int = 6000) -> None:
    rng = random.Random(0)
    lines = ["price,city,channel,returned"]
    for t in range(n):
        price, city = round(rng.uniform(5, 95), 2), rng.choice(["Rome", "Oslo", "Lima"])
        tempting = price > 60 if t < n // 2 else city == "Lima"
        returned = "yes" if rng.random() < (0.85 if tempting else 0.1) else "no"
        channel = rng.choice(["web", "shop", ""])  # an empty cell is a gap
        lines.append(f"{price if rng.random() > 0.05 else 'NA'},{city},{channel},{returned}")
    lines[500] = "12.50,Rome"  # a row cut short
    lines[900] = "twelve,Oslo,web,no"  # a word where a number belongs
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "orders.csv")
        write_orders(path)
        stream = streams.read(path, target="returned", bad_rows="quarantine",
                              quarantine=Path(folder, "bad.csv"))  # fmt: skip
        model = DFOPClassifier(pending_limit=1000)
        waiting: list[tuple[int, str]] = []  # in life the answers come from elsewhere
        rows = right = right_no_change = 0
        known = "no"  # the newest answer
        for X, y in stream.batches(10):
            keys = range(rows, rows + len(y))
            predicted = model.predict_pending(X, keys, classes=["no", "yes"] if not rows else None)
            right += int((predicted == y).sum())
            right_no_change += int((y == known).sum())
            waiting += zip(keys, y, strict=True)
            rows += len(y)
            due, waiting = waiting[:-DELAY], waiting[-DELAY:]
            if due:
                model.learn_pending([key for key, _ in due], [label for _, label in due])
                known = due[-1][1]
        print(stream.bad)
        print(f"right: {right / rows:.1%}")
        print(f"the last known answer again: {right_no_change / rows:.1%}")
        print(f"still waiting: {len(model.pending_)}; given up: {model.expired_}")


if __name__ == "__main__":
    main()
