"""The ten sets of the non-stationary data stream archive, drawn from their geometry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dfop.streams.generators import archive_paths as paths
from dfop.streams.generators.generated import generated
from dfop.streams.stream import Fresh, Rows, Stream, TimedRows

# name: (blocks, rows of each class in a block, features, one class of one block)
_SETS: dict[str, tuple[int, int, int, paths.Draw]] = {
    "1cdt": (40, 200, 2, paths.translation("1cdt")),
    "2cdt": (40, 200, 2, paths.translation("2cdt")),
    "1cht": (40, 200, 2, paths.translation("1cht")),
    "2cht": (40, 200, 2, paths.translation("2cht")),
    "ug-2c-2d": (100, 500, 2, paths.ug_2c_2d),
    "ug-2c-3d": (100, 1000, 3, paths.ug_2c_3d),
    "ug-2c-5d": (100, 1000, 5, paths.ug_2c_5d),
    "mg-2c-2d": (100, 1000, 2, paths.mg_2c_2d),
    "g-2c-2d": (100, 1000, 2, paths.g_2c_2d),
}
ARCHIVE = (*_SETS, "1csurr")


def archive(name: str, *, seed: int = 0) -> Stream:
    """Draw a set of the non-stationary archive anew.

    The geometry was measured in the published files: distributions are constant inside a block
    and change between blocks. All sets but one agree with their file block by block within
    sampling error. The path of UG-2C-3D is not published and ``archive("ug-2c-3d")`` is a
    stand-in of the same size and similar difficulty; its name says so.

    Parameters
    ----------
    name : str
        1cdt, 2cdt, 1cht, 2cht, 1csurr, ug-2c-2d, ug-2c-3d, ug-2c-5d, mg-2c-2d or g-2c-2d.
    seed : int
        The same seed gives the same rows.

    Returns
    -------
    Stream
        Classes 1 and 2; `fresh` is known.

    References
    ----------
    V. M. A. Souza, D. F. Silva, J. Gama, G. E. A. P. A. Batista. Data stream classification
    guided by clustering on nonstationary environments and extreme verification latency.
    SDM 2015.

    Examples
    --------
    >>> stream = archive("1cdt", seed=1)
    >>> len(stream), stream.changes[:3]
    (16000, (400, 800, 1200))
    >>> archive("ug-2c-3d").name
    'ug-2c-3d (stand-in)'
    """
    if name not in ARCHIVE:
        raise ValueError(f"no archive set {name!r}; there are {', '.join(ARCHIVE)}")
    if name == "1csurr":
        return _surr(seed)
    blocks, per_class, d, one_class = _SETS[name]
    size = 2 * per_class
    changes = range(size, blocks * size, size)

    def draw(start: int, stop: int, rng: np.random.Generator) -> Rows:
        y = rng.permutation(np.repeat([1, 2], per_class))
        return _rows(one_class, start // size, y, d, rng), y

    return generated(
        name if name != "ug-2c-3d" else "ug-2c-3d (stand-in)",
        blocks * size,
        draw,
        seed=seed,
        piece=size,
        task="classification",
        feature_names=[f"x{j + 1}" for j in range(d)],
        classes=(1, 2),
        changes=changes,
        fresh=archive_fresh(name, changes),
    )


def archive_fresh(name: str, changes: Sequence[int]) -> Fresh:
    """Fresh rows of a set whose blocks begin at 0 and at `changes`."""

    def block(t: int) -> int:
        return int(np.searchsorted(changes, t, side="right"))

    if name == "1csurr":

        def fresh(t: int, n: int, rng: np.random.Generator) -> Rows:
            pieces = [paths.surr_step(block(t), rng)]
            while sum(len(y) for _, y in pieces) < n:
                pieces.append(paths.surr_step(block(t), rng))
            X, y = (np.concatenate(part)[:n] for part in zip(*pieces, strict=True))
            return X, y

        return fresh
    _, _, d, one_class = _SETS[name]

    def fresh_balanced(t: int, n: int, rng: np.random.Generator) -> Rows:
        y = rng.integers(1, 3, n)
        return _rows(one_class, block(t), y, d, rng), y

    return fresh_balanced


def _rows(
    one_class: paths.Draw, k: int, y: np.ndarray, d: int, rng: np.random.Generator
) -> paths.Floats:
    X = np.empty((len(y), d))
    for label in (1, 2):
        X[y == label] = one_class(k, label, int((y == label).sum()), rng)
    return X


def _surr(seed: int) -> Stream:
    # The number of rows that survive in a step is random, so the lengths must be drawn first:
    # 55,000 rows of two numbers are small enough to keep.
    steps = [paths.surr_step(k, np.random.default_rng([seed, k])) for k in range(paths.SURR_STEPS)]
    X, y = (np.concatenate(part) for part in zip(*steps, strict=True))
    changes = np.cumsum([len(labels) for _, labels in steps])[:-1].tolist()

    def read(start: int, stop: int | None) -> Iterator[TimedRows]:
        if len(y[start:stop]):
            yield X[start:stop], y[start:stop], None

    return Stream(
        "1csurr",
        "classification",
        ("x1", "x2"),
        read,
        classes=(1, 2),
        changes=changes,
        length=len(y),
        fresh=archive_fresh("1csurr", changes),
    )
