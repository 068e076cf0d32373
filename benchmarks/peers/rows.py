"""The rows that everyone sees: the paper's streams, and generated families."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dfop import streams
from dfop.evaluation.sources import in_memory
from dfop.paper.regression import unit_range
from dfop.paper.settings import CLASSIFICATION, REGRESSION
from families import make

LABELS, NUMBERS = "labels", "numbers"

KINDS_OF_FAMILIES = {
    "tree-shaped": ("tree", "tree_that_changes", "tree_among_noise", "tree_on_skewed"),
    "steps": ("steps",),
    "checkerboard": ("checkerboard", "turning_board"),
    "ring": ("rings", "shells"),
    "many classes": ("classes_26", "classes_60_correlated", "classes_100", "letters"),
    "sticky": ("sticky", "sticky_with_columns"),
    "heavy-tailed": ("heavy_tails", "sparse_heavy_wide"),
    "wide": ("wide_linear", "wide_curved", "wide_clusters", "wide_pictures"),
}
"""Families of labels by what is hard about them."""
MISSING = ("UG-2C-3D",)
"""Of the paper's streams: it was not within reach, and a stand-in is no stream of the paper."""


@dataclass(frozen=True)
class Rows:
    """The first rows of one stream.

    Attributes
    ----------
    name : str
    task : str
        `LABELS` or `NUMBERS`.
    X : ndarray of float64, (n, d)
    y : ndarray, (n,)
        Labels are numbered from 0, int64; numbers are float64.
    """

    name: str
    task: str
    X: NDArray[np.float64]
    y: NDArray

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return int(self.y.max()) + 1


def paper_names() -> list[str]:
    """Return the names of the paper's streams; of two that share one, the second has its task."""
    labelled = [stream.name for stream in CLASSIFICATION if stream.name not in MISSING]
    return labelled + [_number_name(stream.name) for stream in REGRESSION]


def _number_name(name: str) -> str:
    return f"{name}, numbers" if name == "hyperplane" else name


def paper_rows(name: str, limit: int | None) -> Rows:
    """Read a stream of the paper in file order.

    Features and target of numbers are scaled to [0, 1] over the whole file, as the paper's were.

    Parameters
    ----------
    name : str
        One of `paper_names`.
    limit : int or None
        How many of its first rows; None for all.

    Returns
    -------
    Rows
    """
    for stream in REGRESSION:
        if name == _number_name(stream.name):
            whole = stream.generate(seed=0) if stream.generate else streams.load(stream.key)
            scaled = unit_range(in_memory(whole))
            return Rows(name, NUMBERS, scaled.X[:limit], np.asarray(scaled.y[:limit], dtype=float))
    key = next(stream.key for stream in CLASSIFICATION if stream.name == name)
    rows = in_memory(streams.load(key))
    y = np.unique(rows.y[:limit], return_inverse=True)[1].astype(np.int64)
    return Rows(name, LABELS, np.ascontiguousarray(rows.X[:limit]), y)


def family_names(seeds: tuple[int, ...]) -> list[str]:
    """Return the names of generated streams: a family, and a seed."""
    return [
        f"{family} {seed}"
        for families in KINDS_OF_FAMILIES.values()
        for family in families
        for seed in seeds
    ]


def family_rows(name: str, limit: int | None) -> Rows:
    """Draw a generated stream of so many rows; see `families`."""
    if limit is None:
        raise ValueError("a generated stream has as many rows as one asks for: say how many")
    family, _, seed = name.rpartition(" ")
    return Rows(name, LABELS, *make(family, limit, int(seed)))
