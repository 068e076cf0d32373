"""How fast rows come from files, against the parsers alone.

    python benchmarks/reading.py [rows]

Six numbers, two texts, a time and a label. Each way reads the file once per round, in turns, so
that a busy machine hurts all of them alike; the best round counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from dfop import streams

ROWS = 1_000_000
ROUNDS = 3
SIZE = 10_000


def table(rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=rows).round(6) for j in range(6)}
    second = np.datetime64("2024-01-01T00:00:00") + np.arange(rows).astype("timedelta64[s]")
    columns["color"] = rng.choice(["red", "green", "blue", "yellow"], rows)
    columns["city"] = rng.choice([f"city {i}" for i in range(200)], rows)
    columns["when"] = second.astype(str)
    columns["label"] = rng.choice(["up", "down"], rows)
    return pa.table(columns)


def write(folder: Path, rows: int) -> None:
    whole = table(rows)
    pa.csv.write_csv(whole, folder / "a.csv", pa.csv.WriteOptions(quoting_style="needed"))
    pa.csv.write_csv(whole, folder / "quoted.csv", pa.csv.WriteOptions(quoting_style="all_valid"))
    pa.parquet.write_table(whole, folder / "a.parquet")
    whole.to_pandas().to_json(folder / "a.jsonl", orient="records", lines=True)
    # one row in 10,000 is bad
    lines = (folder / "a.csv").read_bytes().splitlines(keepends=True)
    lines[5000::10_000] = [b"oops" + line for line in lines[5000::10_000]]
    (folder / "bad.csv").write_bytes(b"".join(lines))


def ours(path: Path) -> int:
    stream = streams.read(path, target="label", time="when", bad_rows="skip")
    rows = sum(len(y) for _, y in stream.batches(SIZE))
    return rows + stream.bad.total


def ways(folder: Path) -> Iterator[tuple[str, Callable[[], int]]]:
    yield (
        "pyarrow.csv.open_csv",
        lambda: sum(b.num_rows for b in pa.csv.open_csv(folder / "a.csv")),
    )
    yield "streams.read, CSV", lambda: ours(folder / "a.csv")
    yield "streams.read, CSV, all quoted", lambda: ours(folder / "quoted.csv")
    yield "streams.read, CSV, a bad row in 10,000", lambda: ours(folder / "bad.csv")
    yield (
        "pandas.read_csv in chunks",
        lambda: sum(len(c) for c in pd.read_csv(folder / "a.csv", chunksize=SIZE)),
    )
    yield "streams.read, Parquet", lambda: ours(folder / "a.parquet")
    yield "streams.read, JSON lines", lambda: ours(folder / "a.jsonl")
    yield (
        "pyarrow.json.read_json",
        lambda: pa.json.read_json(folder / "a.jsonl").num_rows,
    )


def measure(rows: int = ROWS, rounds: int = ROUNDS) -> dict[str, float]:
    """Print and return thousands of rows a second by way."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        for _ in range(rounds):
            for way, run in ways(folder):
                started = time.perf_counter()
                found = run()
                seconds = time.perf_counter() - started
                assert found == rows, (way, found)
                best[way] = max(best.get(way, 0.0), rows / seconds / 1e3)
    alone = best["pyarrow.csv.open_csv"]
    print("| way | thousand rows/s | of open_csv |\n|---|---|---|")
    for way, rate in best.items():
        print(f"| {way} | {rate:,.0f} | {rate / alone:.2f} |")
    return best


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
