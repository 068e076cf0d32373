"""One table in every format that can be learned from."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = ("size", "speed", "color", "price")


def table(rows=400, seed=0):
    """Return rows of two numbers, a text and a target; the concept turns round half-way."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(rows):
        size, speed = np.round(rng.normal(size=2), 3).tolist()
        color = ["red", "green", "blue"][int(rng.integers(3))]
        sign = 1 if t < rows // 2 else -1
        price = round(sign * (2 * size - speed) + (color == "red") + 0.1 * rng.normal(), 3)
        found.append((size, speed, color, price))
    return found


def as_csv(rows, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in [NAMES, *rows])


def write(folder, form, rows):
    """Write rows in a format; return the arguments that name the source."""
    path = folder / f"rows.{form}"
    if form == "csv":
        path.write_text(as_csv(rows))
    elif form == "tsv":
        path.write_text(as_csv(rows, "\t"))
    elif form == "csv.gz":
        path.write_bytes(gzip.compress(as_csv(rows).encode()))
    elif form == "csv.zst":
        with pa.CompressedOutputStream(str(path), "zstd") as out:
            out.write(as_csv(rows).encode())
    elif form == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(NAMES, r, strict=True))) + "\n" for r in rows))
    elif form == "parquet":
        pq.write_table(arrow(rows), path)
    elif form == "folder":
        path.mkdir()
        pq.write_table(arrow(rows[:150]), path / "1.parquet")
        pq.write_table(arrow(rows[150:]), path / "2.parquet")
    elif form == "arff":
        kinds = ("numeric", "numeric", "{red,green,blue}", "numeric")
        head = "".join(f"@attribute {n} {k}\n" for n, k in zip(NAMES, kinds, strict=True))
        body = "".join(",".join(map(str, row)) + "\n" for row in rows)
        path.write_text(f"@relation r\n{head}@data\n{body}")
    elif form == "two files":
        first, second = folder / "1.csv", folder / "2.csv"
        first.write_text(as_csv(rows[:150]))
        second.write_text(as_csv(rows[150:]))
        return [str(first), str(second)]
    return [str(path)]


def arrow(rows):
    return pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))
