"""What the record says: ours against every peer, stream by stream, and how often who was better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .chance import BETTER, CHANCE, WORSE, Difference, compared
from .record import Entry, RecordError
from .roster import BANK, OURS
from .rows import LABELS
from .systems import System


@dataclass(frozen=True)
class Rival:
    """A peer on a stream, in its better form, and what its difference to ours is worth."""

    entry: Entry
    difference: Difference

    @property
    def peer(self) -> str:
        """Its name."""
        return self.entry.system


@dataclass(frozen=True)
class Contest:
    """All who took part on a stream.

    Attributes
    ----------
    ours : Entry
    rivals : dict of str to Rival
        By peer.
    """

    ours: Entry
    rivals: dict[str, Rival]

    @property
    def stream(self) -> str:
        """Its name."""
        return self.ours.stream

    @property
    def labels(self) -> bool:
        """Whether labels are predicted, not numbers."""
        return self.ours.task == LABELS

    def best(self, kind: str | None = None) -> Rival | None:
        """Return the best peer in hindsight, of a kind or of all; None if there is none."""
        some = [r for r in self.rivals.values() if kind in (None, r.entry.kind)]
        return min(some, key=lambda rival: float(rival.entry.losses.sum()), default=None)


def contests(entries: Iterable[Entry]) -> list[Contest]:
    """Set ours against every peer of the same stream, each peer in its better form.

    Parameters
    ----------
    entries : iterable of Entry
        Of one record.

    Returns
    -------
    list of Contest
        In the order of the entries.
    """
    streams: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        forms = streams.setdefault(entry.stream, {})
        known = forms.get(entry.system)
        if known is None or entry.losses.sum() < known.losses.sum():
            forms[entry.system] = entry
    found = []
    for stream, forms in streams.items():
        if OURS not in forms:
            raise RecordError(f"{stream}: nothing of {OURS} in the record; run the command again")
        ours = forms[OURS]
        for entry in forms.values():
            if (entry.rows, entry.columns) != (ours.rows, ours.columns):
                raise RecordError(f"{stream}: {entry.system} and {OURS} saw different rows")
        rivals = {
            peer: Rival(entry, compared(ours.losses, entry.losses, ours.rows))
            for peer, entry in forms.items()
            if peer not in (OURS, BANK)
        }
        found.append(Contest(ours, rivals))
    return found


Counts = tuple[int, int, int]
"""On how many streams ours is better, within chance, worse."""


def counts(some: Sequence[Contest], rival: Callable[[Contest], Rival | None]) -> Counts:
    """Count what ours is against the rival of each stream, where there is one."""
    verdicts = [found.difference.verdict for one in some if (found := rival(one)) is not None]
    return verdicts.count(BETTER), verdicts.count(CHANCE), verdicts.count(WORSE)


def peers_of(some: Sequence[Contest]) -> list[str]:
    """Return the peers, in the order of the record."""
    return list(dict.fromkeys(peer for one in some for peer in one.rivals))


def not_run(
    entries: Sequence[Entry], systems: Iterable[System]
) -> dict[str, tuple[int, list[str]]]:
    """Return by system on how many streams it ran, and those of its task on which it did not."""
    tasks = {entry.stream: entry.task for entry in entries}
    ran = {entry.key for entry in entries}
    found: dict[str, tuple[int, list[str]]] = {}
    for system in systems:
        streams = [stream for stream, task in tasks.items() if task in system.tasks]
        left = [s for s in streams if (s, system.peer, system.form) not in ran]
        if left:
            name = f"{system.name} ({', '.join(system.tasks)})"
            found[name] = len(streams) - len(left), left
    return found


def rows_seen(some: Sequence[Contest]) -> str:
    """Say in words which rows of the streams were seen."""
    limit = some[0].ours.limit
    return f"the first {limit:,} rows" if limit else "all rows"
