"""The table of docs/scale.md on what goes together: every "yes" runs, every "no" is refused."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from dfop import DFOPRegressor, Information, Keyed, half_life

N = 60
RNG = np.random.default_rng(0)
X, Y, KEY = RNG.normal(size=(N, 3)), RNG.normal(size=N), np.arange(N) % 4
TIME = np.arange(N, dtype=float)

DESIGNS = {
    "`mu`": {"forgetting": 0.01},
    "the clock": {"forgetting": half_life("1h")},
    '`"few"`': {"forgetting": "few"},
    '`"auto"`': {},
    "`lags=2`": {"forgetting": 0.01, "lags": 2},
    "`storage=2`": {"forgetting": 0.01, "storage": 2},
    "`monitor=True`": {"forgetting": 0.01, "monitor": True},
    "`semi=True`": {"forgetting": 0.01, "semi": True},
}


def clock(name):
    return {"time": TIME} if name == "the clock" else {}


def by_key(name):
    Keyed(DFOPRegressor(**DESIGNS[name])).partial_fit(KEY, X, Y, **clock(name))


def by_key_late(name):
    keyed = Keyed(DFOPRegressor(**DESIGNS[name]))
    keyed.predict_pending(KEY, X, range(N), **clock(name))
    keyed.learn_pending(range(N), Y)


def merged(name):
    Information.from_learner(DFOPRegressor(**DESIGNS[name]).fit(X, Y, **clock(name)))


def sparse(name):
    DFOPRegressor(**DESIGNS[name]).fit(csr_matrix(X), Y, **clock(name))


def wide(name):
    rows = csr_matrix((np.ones(N), (np.arange(N), 97 * np.arange(N))), shape=(N, 9000))
    DFOPRegressor(**DESIGNS[name]).fit(rows, Y, **clock(name))


def late(name):
    model = DFOPRegressor(**DESIGNS[name])
    model.predict_pending(X, range(N), **clock(name))
    model.learn_pending(range(N), Y)


COLUMNS = [by_key, by_key_late, merged, sparse, wide, late]
REFUSED = [
    "by key|of each key",
    "by key|of each key",
    "cannot be merged",
    "",
    "sparse with 9000",
    "",
]
"""What a refusal speaks of."""


def table():
    text = (Path(__file__).parents[2] / "docs/scale.md").read_text("utf-8")
    lines = text.split("## What goes together")[1].split("\n## ")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")][2:]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows}


def test_the_table_has_a_line_for_every_design():
    assert list(table()) == list(DESIGNS)


@pytest.mark.parametrize("column", range(len(COLUMNS)), ids=lambda i: COLUMNS[i].__name__)
@pytest.mark.parametrize("name", DESIGNS)
def test_a_cell_says_what_the_code_does(name, column):
    said = table()[name][column]
    if said == "yes":
        COLUMNS[column](name)
        return
    assert said == "no"
    with pytest.raises(ValueError, match=REFUSED[column]):
        COLUMNS[column](name)
