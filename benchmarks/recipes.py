"""What families of streams are made of, and the list of them; see `families`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = tuple[Array, NDArray]
Recipe = Callable[[np.random.Generator, int], Rows]


@dataclass(frozen=True)
class Family:
    """One recipe: its name, whether it makes labels or numbers, and what is hard about it."""

    name: str
    labels: bool
    recipe: Recipe

    @property
    def about(self) -> str:
        """The first line of the recipe's docstring."""
        return (self.recipe.__doc__ or "").partition("\n")[0]


FAMILIES: dict[str, Family] = {}


def labels(recipe: Recipe) -> Recipe:
    """List a recipe that makes class labels."""
    FAMILIES[recipe.__name__] = Family(recipe.__name__, True, recipe)
    return recipe


def numbers(recipe: Recipe) -> Recipe:
    """List a recipe that makes numbers."""
    FAMILIES[recipe.__name__] = Family(recipe.__name__, False, recipe)
    return recipe


# -- what recipes are made of ---------------------------------------------------------------------


def random_tree(rng: np.random.Generator, d: int, depth: int) -> Callable[[Array], NDArray]:
    """Return a function from rows in [0, 1]^d to the number of the leaf that each falls into."""
    columns = rng.integers(0, d, 2**depth)
    low, high = np.zeros((2**depth, d)), np.ones((2**depth, d))
    cuts = np.empty(2**depth)
    for node in range(1, 2**depth):
        j = columns[node]
        cuts[node] = low[node, j] + (high[node, j] - low[node, j]) * rng.uniform(0.3, 0.7)
        for child in (2 * node, 2 * node + 1):
            if child < 2**depth:
                low[child], high[child] = low[node], high[node]
                (high if child % 2 == 0 else low)[child, j] = cuts[node]

    def leaf(X: Array) -> NDArray:
        node = np.ones(len(X), dtype=np.int64)
        for _ in range(depth):
            node = 2 * node + (X[np.arange(len(X)), columns[node]] >= cuts[node])
        return node - 2**depth

    return leaf


def flipped(rng: np.random.Generator, y: NDArray, share: float) -> NDArray:
    """Give a share of the labels a random class of those there are."""
    y = np.asarray(y).astype(np.int64)
    hit = rng.random(len(y)) < share
    return np.where(hit, rng.integers(0, y.max() + 1, len(y)), y)


def halves(scores: Array) -> NDArray:
    """Return 1 for the larger half of the scores."""
    return (scores > np.median(scores)).astype(np.int64)


def part(n: int, parts: int) -> NDArray:
    """Return in which of equally long parts of the stream each row is."""
    return np.arange(n) * parts // n


def runs(rng: np.random.Generator, n: int, stay: float, classes: int) -> NDArray:
    """Return labels that stay the same with a probability, else become any other."""
    steps = np.where(rng.random(n) < stay, 0, rng.integers(1, classes, n))
    return np.cumsum(steps) % classes


def walk(rng: np.random.Generator, n: int, d: int, step: float) -> Array:
    """Return a random walk from a normal start."""
    return rng.normal(size=d) + np.cumsum(step * rng.normal(size=(n, d)), axis=0)
