"""Generated families of streams on which the automatic learner's pool is chosen.

A family is a recipe for streams that are hard in one way: tree-shaped, wide, sticky, and so on. The
same name, number of rows and seed give the same rows on every machine with the same NumPy. The
recipes are in `label_families` and `number_families`, which list themselves.

Examples
--------
>>> X, y = make("checkerboard", 1000, seed=1)
>>> X.shape, FAMILIES["checkerboard"].labels
((1000, 2), True)
"""

import zlib

import numpy as np

import label_families  # noqa: F401
import number_families  # noqa: F401
from recipes import FAMILIES, Rows

__all__ = ["FAMILIES", "make"]


def make(name: str, n: int, seed: int) -> Rows:
    """Return features and targets of a stream.

    Parameters
    ----------
    name : str
        One of `FAMILIES`.
    n : int
        How many rows.
    seed : int
        Streams of different seeds share nothing but their recipe.

    Returns
    -------
    X : ndarray of float64, (n, d)
    y : ndarray, (n,)
        Of int64 for labels, numbered from 0; else of float64.
    """
    family = FAMILIES[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    X, y = family.recipe(rng, n)
    X = np.ascontiguousarray(X, dtype=np.float64)
    if family.labels:
        return X, np.unique(y, return_inverse=True)[1].astype(np.int64)
    return X, np.asarray(y, dtype=np.float64)
