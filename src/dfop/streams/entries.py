"""The public streams: facts about each, kept as data in catalogue.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from dfop.streams.stream import Task


@dataclass(frozen=True)
class Upstream:
    """A public file: its address and what its bytes must be.

    Examples
    --------
    >>> from dfop.streams import catalogue
    >>> catalogue()["chess"].upstream[0].filename
    'chessweka.csv'
    """

    url: str
    sha256: str | None = None
    git_blob_sha1: str | None = None
    bytes: int | None = None

    @property
    def filename(self) -> str:
        """The last part of the address."""
        return self.url.rsplit("/", 1)[1]


@dataclass(frozen=True)
class Entry:
    """Facts about one public stream.

    Attributes
    ----------
    name : str
        What `load` calls it.
    task, kind : str
        Classification or regression; synthetic or real.
    rows : int
        Rows of the file.
    columns, targets : tuple of str
        All columns of the file, and those that are predicted.
    classes : tuple or None
        The labels; None for regression.
    changes : tuple of int
        The rows at which a new concept begins, where known.
    paper : mapping or None
        Instances and features that the DFOP paper states; None if it does not use the set.
    origin, citation, licence, remark : str
        Where it comes from, what to cite, what is known of its licence, differences from the
        paper and peculiarities.
    file : str
        The file that `load` looks for in the folder ``DFOP_DATA`` and in the cache.
    csv_sha256 : str or None
        Checksum of that file's uncompressed content.
    format : str
        The format of the upstream files, for the converter.
    upstream : tuple of Upstream
        Where to download it.
    relabel : mapping or None
        Threshold and new labels of a relabelled target.

    Examples
    --------
    >>> from dfop.streams import catalogue
    >>> entry = catalogue()["sea"]
    >>> entry.rows, entry.features, entry.classes, entry.changes
    (50000, 3, (0, 1), (12500, 25000, 37500))
    """

    name: str
    task: Task
    kind: str
    rows: int
    columns: tuple[str, ...]
    targets: tuple[str, ...]
    classes: tuple[Any, ...] | None
    changes: tuple[int, ...]
    paper: Mapping[str, int] | None
    origin: str
    citation: str
    licence: str
    remark: str
    file: str
    csv_sha256: str | None
    format: str
    upstream: tuple[Upstream, ...]
    relabel: Mapping[str, Any] | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns that are not outputs."""
        outputs = ("y", "y1", "y2")
        return tuple(column for column in self.columns if column not in outputs)

    @property
    def features(self) -> int:
        """The number of features."""
        return len(self.feature_names)


def catalogue() -> Mapping[str, Entry]:
    """Facts about every public stream that `load` knows, by name.

    Returns
    -------
    mapping of str to Entry
        In the order of the paper's tables.

    Examples
    --------
    >>> catalogue()["electricity"].citation
    'M. Harries. SPLICE-2 comparative evaluation: Electricity pricing. UNSW technical report, 1999.'
    >>> sum(entry.task == "regression" for entry in catalogue().values())
    4
    """
    return MappingProxyType(_entries())


def entry(name: str) -> Entry:
    """Look up one entry; a misspelt name gets a suggestion."""
    entries = _entries()
    if name not in entries:
        near = get_close_matches(name.lower(), entries, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"no stream {name!r} in the catalogue{hint} See dfop.streams.catalogue()")
    return entries[name]


@cache
def _entries() -> dict[str, Entry]:
    facts: dict[str, dict[str, Any]] = {}
    text = files("dfop.streams").joinpath("catalogue.json").read_text("utf-8")
    for fact in json.loads(text):
        base = facts[fact["same_as"]] if "same_as" in fact else {}
        facts[fact["name"]] = {**base, **fact}
    return {name: _entry(fact) for name, fact in facts.items()}


def _entry(fact: dict[str, Any]) -> Entry:
    interval, rows = fact["drift_interval"], fact["rows"]
    changes = fact.get("changes") or (range(interval, rows, interval) if interval else ())
    classes = fact.get("classes")
    return Entry(
        name=fact["name"],
        task=fact["task"],
        kind=fact["kind"],
        rows=rows,
        columns=tuple(fact["columns"]),
        targets=tuple(fact["targets"]),
        classes=None if classes is None else tuple(classes),
        changes=tuple(changes),
        paper=fact["paper"],
        origin=fact["origin"],
        citation=fact["citation"],
        licence=fact["licence"],
        remark=fact["remark"] or "",
        file=fact["file"],
        csv_sha256=fact["csv_sha256"],
        format=fact["format"],
        upstream=tuple(Upstream(**file) for file in fact["upstream"]),
        relabel=fact.get("relabel"),
    )
