"""Names short enough for a picture, and still unlike each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

__all__ = ["short_names"]

LONGEST, _HEAD = 24, 10
"""Of what is written, and of its beginning where names are cut in the middle."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Cut long names; of those that begin alike, in the middle.

    Parameters
    ----------
    names : iterable of str
        All that may meet in one picture.

    Returns
    -------
    dict of str to str
        By name what to write: at most 24 characters, or all of it where two would look alike.

    Examples
    --------
    >>> short_names(["speed", "temperature of the second reactor"])
    {'speed': 'speed', 'temperature of the second reactor': 'temperature of the seco…'}
    >>> list(short_names(f"temperature of the reactor number {k}" for k in (1, 2)).values())
    ['temperatur…ctor number 1', 'temperatur…ctor number 2']
    """
    different = list(dict.fromkeys(names))
    short = {name: name for name in different if len(name) <= LONGEST}
    short |= _cut([name for name in different if len(name) > LONGEST], _HEAD)
    seen = Counter(short.values())
    return {name: short[name] if seen[short[name]] == 1 else name for name in different}


def _cut(names: list[str], start: int) -> dict[str, str]:
    """Show how names begin, and more from a place on; what looks alike, from where it parts."""
    shown: dict[str, list[str]] = {}
    for name in names:
        shown.setdefault(_window(name, start), []).append(name)
    short: dict[str, str] = {}
    for text, alike in shown.items():
        if len(alike) == 1:
            short[alike[0]] = text
        else:
            end = max(map(len, alike)) - (LONGEST - _HEAD - 1)  # all that follows has room
            short |= _cut(alike, max(min(_parting(alike), end), start + 1))
    return short


def _parting(names: list[str]) -> int:
    """Return the first place at which not all names are the same.

    Examples
    --------
    >>> _parting(["reactor 1", "reactor 12", "reactor 21"])
    8
    """
    first, last = min(names), max(names)
    same = (a == b for a, b in zip(first, last, strict=False))
    return next((at for at, is_same in enumerate(same) if not is_same), len(first))


def _window(name: str, start: int) -> str:
    """Return the beginning of a name and what follows from a place on, with dots between.

    Examples
    --------
    >>> _window("abcdefghijklmnopqrstuvwxyz", 10), _window("abcdefghijklmnopqrstuvwxyz", 20)
    ('abcdefghijklmnopqrstuvw…', 'abcdefghij…uvwxyz')
    """
    text = name[:_HEAD] + "…" * (start > _HEAD) + name[start:]
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
