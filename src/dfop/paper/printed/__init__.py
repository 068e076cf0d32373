"""What the paper prints: its tables as they stand, and what is known to be wrong in them.

Source: P. Zhao, Z.-H. Zhou, "Distribution-Free One-Pass Learning", with its supplement. The four
CSV files are its tables of classification, of forgetting periods, of regression and of data sets.
``dfop_is`` is the printed mark: DFOP significantly "better" or "worse" than the method, else empty.
"""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

PRINTED_COUNTS = {
    "SVM-win": (18, 1, 1),
    "1NN-win": (14, 4, 2),
    "SVM-fix": (19, 1, 0),
    "SVM-ada": (18, 2, 0),
    "DWM": (14, 3, 3),
    "RLS": (19, 1, 0),
}
"""Win/tie/loss of DFOP as printed under the classification table."""

WRONG_MARKS = {
    ("1CSurr", "SVM-win"): "worse",
    ("1CSurr", "1NN-win"): "worse",
    ("MG-2C-2D", "1NN-win"): "worse",
    ("Electricity", "DWM"): "worse",
}
"""Printed as "better" where the printed means say the opposite."""


class Cell(NamedTuple):
    """One field of a printed table: accuracy in percent, or mean squared error x 100."""

    mean: float
    std: float
    dfop_is: str


class Period(NamedTuple):
    """A line of the printed table of forgetting periods."""

    T0: int
    mu: float


class Size(NamedTuple):
    """A line of the printed table of data sets."""

    rows: int
    features: int


def _rows(table: str) -> list[dict[str, str]]:
    text = files(__name__).joinpath(f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def scores(table: str) -> dict[tuple[str, str], Cell]:
    """Read the printed scores.

    Parameters
    ----------
    table : {"classification", "regression"}
        Which table.

    Returns
    -------
    dict of (stream, method) to Cell

    Examples
    --------
    >>> scores("classification")["SEA", "DFOP"]
    Cell(mean=87.99, std=0.05, dfop_is='')
    >>> scores("regression")["SRU-1", "OAUE"]
    Cell(mean=0.047, std=0.0, dfop_is='worse')
    """
    return {
        (row["stream"], row["method"]): Cell(float(row["mean"]), float(row["std"]), row["dfop_is"])
        for row in _rows(table)
    }


@cache
def periods() -> dict[str, Period]:
    """Read the printed forgetting periods of the synthetic streams.

    Examples
    --------
    >>> periods()["1CSurr"]
    Period(T0=600, mu=0.005)
    """
    return {row["stream"]: Period(int(row["T0"]), float(row["mu"])) for row in _rows("forgetting")}


@cache
def sizes() -> dict[str, Size]:
    """Read the printed sizes of the streams.

    Examples
    --------
    >>> sizes()["Chess"]
    Size(rows=533, features=7)
    """
    return {
        row["stream"]: Size(int(row["rows"]), int(row["features"])) for row in _rows("datasets")
    }


def corrected_counts() -> dict[str, tuple[int, int, int]]:
    """Count win/tie/loss of DFOP from the printed marks, the wrong ones turned round.

    Examples
    --------
    >>> corrected_counts()["SVM-win"], corrected_counts()["RLS"]
    ((17, 1, 2), (19, 1, 0))
    """
    counts: dict[str, list[int]] = {}
    for (stream, method), cell in scores("classification").items():
        if method != "DFOP":
            mark = WRONG_MARKS.get((stream, method), cell.dfop_is)
            place = {"better": 0, "": 1, "worse": 2}[mark]
            counts.setdefault(method, [0, 0, 0])[place] += 1
    return {method: (won, tied, lost) for method, (won, tied, lost) in counts.items()}
