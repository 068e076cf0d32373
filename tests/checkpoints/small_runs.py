"""Small runs with many generations, and what they leave."""

import contextlib
import json
from pathlib import Path

import numpy as np

from dfop.checkpoints import DISK, Options, Run

COLUMNS = "size,color,price"


def write_rows(path, rows=240, seed=0, bad=True):
    """Write a CSV file of numbers, text, gaps and some bad rows."""
    rng = np.random.default_rng(seed)
    lines = [COLUMNS]
    for t in range(rows):
        size, color = rng.normal(), rng.choice(["red", "blue", ""])
        price = 2 * size + (color == "red") + 0.1 * rng.normal()
        word = "oops" if bad and t % 37 == 20 else f"{size:.3f}"
        lines.append(f"{word},{color},{price:.3f}")
    path.write_text("\n".join(lines) + "\n")
    return path


def write_late_rows(folder, rows=240):
    """Write rows without labels, and their labels in a file of their own, each 20 hours later."""
    rng = np.random.default_rng(0)
    at = np.datetime64("2024-05-01", "s") + 3600 * np.arange(rows)
    size = rng.normal(size=rows).round(3)
    kind = np.where(size + 0.5 * rng.normal(size=rows) > 0, "up", "down")
    told = [f"{t},{at[t]},{size[t]}" for t in range(rows)]
    late = [f"{t},{at[t] + 72_000},{kind[t]}" for t in range(rows) if t % 9]
    (folder / "rows.csv").write_text("\n".join(["id,at,size", *told]) + "\n")
    (folder / "late.csv").write_text("\n".join(["id,at,price", *late]) + "\n")


LATE = {"labels": "late.csv", "id": "id", "time": "at", "bad_rows": "skip", "quarantine": None}


def options(predictions="p.csv", **given):
    """Return the options of a run, with paths as they are in its folder."""
    usual = {
        "forgetting": "0.01",
        "bad_rows": "quarantine",
        "quarantine": "bad.csv",
        "predictions": predictions,
    }
    return Options(("rows.csv",), "price", **{**usual, **given})


def go(folder, disk=DISK, every=40, predictions="p.csv", **given):
    """Run to the end in a folder and return everything that it leaves."""
    with contextlib.chdir(folder):
        made = options(predictions, **given)
        with Run(made, checkpoint="state", every_rows=every, disk=disk) as run:
            for _ in run.steps():
                pass
            run.finish("m.dfop")
            summary = json.dumps(run.history.summary(), sort_keys=True)
        files = [Path(name) for name in (predictions, "bad.csv", "m.dfop")]
        return summary, {file.name: file.read_bytes() for file in files if file.exists()}
