"""Streams: generated, public, or your own.

Generators, reproducible by seed and without a file:

- `sea`, `hyperplane`, `hyperplane_regression`
- `archive`: the ten sets of the non-stationary data stream archive

Drift made of any two streams:

- `abrupt`, `gradual`, `incremental`, `recurring`

Public files, checked and cached:

- `load`: by name
- `catalogue`: origin, citation, licence, differences from the paper

Your own data:

- `read`: CSV, Parquet, JSON lines, ARFF, DataFrames, iterables, pipes
- `Stream.from_arrays`: arrays and frames

All give a `Stream`, which is read in batches. What is wrong with data is told by `DataError` and
`DownloadError`; rows that were left out are counted by `BadRows`, each a `BadRow`.
"""

from dfop.streams.bad_rows import BadRow, BadRows
from dfop.streams.drift import abrupt, gradual, incremental, recurring
from dfop.streams.entries import Entry, Upstream, catalogue
from dfop.streams.errors import DataError, DownloadError
from dfop.streams.generators.archive import archive
from dfop.streams.generators.hyperplane import hyperplane, hyperplane_regression
from dfop.streams.generators.sea import sea
from dfop.streams.loader import load
from dfop.streams.readers import read
from dfop.streams.stream import Stream

__all__ = [
    "BadRow",
    "BadRows",
    "DataError",
    "DownloadError",
    "Entry",
    "Stream",
    "Upstream",
    "abrupt",
    "archive",
    "catalogue",
    "gradual",
    "hyperplane",
    "hyperplane_regression",
    "incremental",
    "load",
    "read",
    "recurring",
    "sea",
]
