"""Sparse matrices whose parts do not fit together are refused before SciPy's code reads them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from dfop import DFOPRegressor
from dfop.rows.sparse import sparse_batch

MODELS = [{"storage": 2, "forgetting": 0.001}, {}]  # by the non-zeros, and made dense


def whole(kind="csr", width=20):
    dense = np.zeros((4, width))
    dense[[0, 0, 1, 2, 3], [0, 3, 1, 2, 4]] = [1.0, 2.0, 3.0, 4.0, 5.0]
    return getattr(sparse, f"{kind}_matrix")(dense)


def test_a_wild_end_of_a_row_in_a_process_of_its_own():
    """Read before it is checked it kills the process."""
    program = (
        "import numpy as np, scipy.sparse as sp; from dfop import DFOPRegressor\n"
        "parts = np.ones(5), np.arange(5), np.array([0, 2, 10**7, 5])\n"
        "for width in (20, 2000):\n"
        "    S = sp.csr_matrix(parts, shape=(3, width))\n"
        "    try: DFOPRegressor(0.001, storage=2).fit(S, [1.0, 2.0, 3.0])\n"
        "    except ValueError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == second
    assert "row 1 is cells 2 to 10000000 of 5 (indptr); make the matrix anew" in first


@pytest.mark.parametrize("how", MODELS)
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("part", "at", "value"),
    [
        ("indptr", 0, -1),
        ("indptr", 0, 1),
        ("indptr", 1, 10**7),
        ("indptr", 1, -(10**7)),
        ("indptr", -1, 10**7),
        ("indices", 2, 10**7),
        ("indices", 2, -1),
    ],
)
def test_a_part_changed_afterwards(how, kind, part, at, value):
    X, y = whole(kind), np.arange(4.0)
    assert X.has_sorted_indices  # which the matrix notes
    model = DFOPRegressor(**how).fit(X, y)
    before = model.predict(whole())
    getattr(X, part)[at] = value
    calls = (lambda: model.predict(X), lambda: model.partial_fit(X, y), lambda: sparse_batch(X))
    for call in calls:
        with pytest.raises(ValueError, match=r"sparse and damaged: (row|column).*make the matrix"):
            call()
    np.testing.assert_array_equal(model.predict(whole()), before)


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [("row", 4, "row 4 of 4"), ("col", -1, "column -1 of 20"), ("col", 20, "column 20 of 20")],
)
def test_coordinates_out_of_range(part, value, words):
    X = whole("coo")
    getattr(X, part)[2] = value
    with pytest.raises(ValueError, match=f"cell 2 is in {words}; make the matrix anew"):
        sparse_batch(X)


def test_parts_of_unlike_length():
    X = whole()
    X.data = X.data[:3]
    with pytest.raises(ValueError, match="row 2 is cells 3 to 4 of 3"):
        sparse_batch(X)
    X = whole()
    X.indptr = X.indptr[:3]
    with pytest.raises(ValueError, match="indptr has 3 entries for 4 rows"):
        sparse_batch(X)
    X = whole("coo")
    X.data = X.data[:3]
    with pytest.raises(ValueError, match="5 rows, 5 columns and 3 values"):
        sparse_batch(X)


@pytest.mark.parametrize("how", MODELS)
@pytest.mark.parametrize(
    ("kind", "part", "change", "said"),
    [
        *((kind, part, change, said)
          for kind in ("csr", "csc", "bsr") for part in ("indptr", "indices")
          for change, said in (
              (lambda a: a.astype(float), "holds float64, not whole numbers"),
              (lambda a: a[:, np.newaxis], "has 2 dimensions, not 1"),
              (lambda a: a.tolist(), "is of type list, not an array"),
          )),
        ("csr", "data", lambda a: a[:, np.newaxis], "has 2 dimensions, not 1"),
        ("coo", "data", lambda a: a[:, np.newaxis], "has 2 dimensions, not 1"),
        ("bsr", "data", np.ravel, "has 1 dimensions, not 3"),
        ("bsr", "data", lambda a: a[:, :, :0], r"has blocks of shape \(1, 0\)"),
        ("dia", "data", np.ravel, "has 1 dimensions, not 2"),
        ("dia", "offsets", lambda a: a.astype(float), "holds float64, not whole numbers"),
        ("lil", "data", list, "is of type list, not an array"),
    ],
)  # fmt: skip
def test_parts_that_are_no_arrays_of_their_kind(how, kind, part, change, said):
    X = whole(kind)
    setattr(X, part, change(getattr(X, part)))
    with pytest.raises(ValueError, match=f"sparse and damaged: {part} {said}; make the matrix"):
        DFOPRegressor(**how).fit(X, np.arange(4.0))


@pytest.mark.parametrize("how", MODELS)
@pytest.mark.parametrize("cells", [None, ["a"], [None], [[1]], [[1], [1, 2]], (1,)])
@pytest.mark.parametrize(("part", "word"), [("rows", "columns"), ("data", "values")])
def test_what_is_no_list_of_cells(how, part, word, cells):
    X = whole("lil")
    getattr(X, part)[1] = cells
    with pytest.raises(ValueError, match=rf"row 1 holds .*, which is no list of {word}; make"):
        DFOPRegressor(**how).fit(X, np.arange(4.0))


def test_lists_that_do_not_fit():
    X = whole("lil")
    X.rows[1] = [20]
    with pytest.raises(ValueError, match="row 1 has a cell in column 20 of 20"):
        sparse_batch(X)
    X.rows[1] = [1] * 1000
    with pytest.raises(ValueError, match="row 1 holds 1000 columns and 1 values"):
        sparse_batch(X)
    X.rows = X.rows[:2]
    with pytest.raises(ValueError, match="2 and 4 lists are held for 4 rows"):
        sparse_batch(X)


def test_more_offsets_than_diagonals():
    X = sparse.dia_matrix(np.eye(4))
    X.offsets = np.arange(3)
    with pytest.raises(ValueError, match="3 offsets are held for 1 diagonals"):
        sparse_batch(X)


def test_an_order_that_was_noted_before_it_changed():
    X = whole()
    assert X.has_canonical_format
    X.indices[:2] = [3, 0]  # the same cells the other way round
    X.data[:2] = [2.0, 1.0]
    np.testing.assert_array_equal(sparse_batch(X).dense().numbers, whole().toarray())
    X.indices[:2] = [0, 0]  # one cell given twice
    assert sparse_batch(X).dense().numbers[0, 0] == 3.0
    assert X.indices[:2].tolist() == [0, 0]  # the one given stays as it is


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_every_format_is_read(kind):
    X = whole(kind)
    np.testing.assert_array_equal(sparse_batch(X).dense().numbers, whole().toarray())
