"""`load`: a public stream by its name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dfop.streams.download import find
from dfop.streams.entries import Entry, entry
from dfop.streams.generators.archive import ARCHIVE, archive_fresh
from dfop.streams.generators.sea import sea
from dfop.streams.readers import read
from dfop.streams.stream import BatchRows, Fresh, Stream


def load(name: str) -> Stream:
    """Load a public stream.

    The file is looked for in the folder that the environment variable ``DFOP_DATA`` names, then
    in the cache (``DFOP_CACHE``, or the user's cache folder), and else downloaded and converted.
    Wherever it comes from, its content is checked against the catalogue, and it is read in
    batches, never all at once.

    Parameters
    ----------
    name : str
        A name of `catalogue`.

    Returns
    -------
    Stream
        The published rows in their order. `fresh` is known for SEA and for the sets of the
        non-stationary archive whose geometry is known.

    Raises
    ------
    DownloadError
        The file is not here and cannot be fetched; the message says where to put which file.
    DataError
        The file's content is not that of the published stream.

    See Also
    --------
    catalogue : facts about each stream, with its differences from the DFOP paper.
    archive, sea, hyperplane : the synthetic ones drawn anew, without a file.

    Examples
    --------
    >>> load("electrcity")
    Traceback (most recent call last):
    ...
    ValueError: no stream 'electrcity' in the catalogue; did you mean 'electricity'? ...
    """
    facts = entry(name)
    relabel = facts.relabel
    stored = read(
        find(facts),
        target=facts.targets[0] if len(facts.targets) == 1 else facts.targets,
        features=facts.feature_names,
        kinds=dict.fromkeys(facts.feature_names, "number"),
        task=facts.task,
        missing="error",
        classes=None if relabel else facts.classes,
    )

    def rows(start: int, stop: int | None) -> Iterator[BatchRows]:
        for X, y in stored.pieces(start, stop):
            yield X, np.where(y < relabel["below"], *relabel["labels"]) if relabel else y

    return Stream(
        facts.name,
        facts.task,
        facts.feature_names,
        rows,
        target_names=facts.targets,
        classes=facts.classes,
        changes=facts.changes,
        length=facts.rows,
        fresh=_fresh(facts),
    )


def _fresh(facts: Entry) -> Fresh | None:
    if facts.name == "sea":
        return sea(facts.rows).fresh
    # The generator of UG-2C-3D is a stand-in: it says nothing about the file.
    if facts.name in ARCHIVE and facts.name != "ug-2c-3d":
        return archive_fresh(facts.name, facts.changes)
    return None
