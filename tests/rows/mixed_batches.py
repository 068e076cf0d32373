"""Random batches of numbers, text, gaps and new columns, as cells and as the coder takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

WORDS = ["red", "blue", " blue", "green ", "é", "\udc80", "x" * 40, "NA", " ? ", "None", "w1", "w2"]

NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.just(2.0**500), st.just(-(2.0**500)), st.just(-0.0))
TEXTS = st.one_of(st.sampled_from(WORDS), st.text("abcdef", min_size=1, max_size=2))


class Batch(NamedTuple):
    columns: list[int]
    cells: list[list[Any]]
    """A row per list: numbers, text, None."""
    kinds: list[str]
    """Of the columns, as given."""
    weights: list[float]


@st.composite
def batches(draw: Any, count: int = 3) -> list[Batch]:
    """Batches one after the other, each with the columns of those before and maybe new ones."""
    kinds = draw(st.lists(st.sampled_from(["number", "text"]), min_size=1, max_size=5))
    known, out = 0, []
    for _ in range(count):
        total = draw(st.integers(known, len(kinds)))
        old = draw(st.permutations(range(known)))
        columns = [*old[: draw(st.integers(0, known))], *range(known, total)]
        n = draw(st.integers(1, 12))
        cells = [
            [
                draw(st.one_of(st.none(), NUMBERS if kinds[c] == "number" else TEXTS))
                for c in columns
            ]
            for _ in range(n)
        ]
        weights = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, 0.3]), min_size=n, max_size=n))
        out.append(Batch(columns, cells, [kinds[c] for c in columns], weights))
        known = total
    return out


def cut(batch: Batch, start: int, stop: int) -> Batch:
    return batch._replace(cells=batch.cells[start:stop], weights=batch.weights[start:stop])


def as_given(batch: Batch) -> tuple[Any, dict[int, Any], list[int]]:
    """The numbers, texts and columns that `Coder.code` takes."""
    numbers = np.zeros((len(batch.cells), len(batch.columns)))
    texts = {}
    for j, kind in enumerate(batch.kinds):
        cells = [row[j] for row in batch.cells]
        if kind == "number":
            numbers[:, j] = [np.nan if cell is None else cell for cell in cells]
        else:
            values: dict[str, int] = {}
            codes = [-1 if c is None else values.setdefault(c, len(values)) for c in cells]
            texts[j] = np.array(codes, dtype=np.int64), list(values)
    return numbers, texts, batch.columns
