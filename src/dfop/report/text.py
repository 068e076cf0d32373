"""Text and numbers as they stand on the page: what comes from data never becomes markup."""

from __future__ import annotations

import html
import json
import math
import unicodedata
from typing import Any, TypeGuard

LONGEST = 60
UNKNOWN = "n/a"


def shown(text: Any, longest: int = LONGEST) -> str:
    r"""Return text from data so that it can be read, and is nothing but text.

    Control and formatting characters are replaced, long text is cut, and what a spreadsheet would
    take for a formula gets the apostrophe that says it is none.

    Parameters
    ----------
    text : object
        What is written of it is shown.
    longest : int
        How many characters at most.

    Returns
    -------
    str

    Examples
    --------
    >>> shown("=cmd()"), shown("-1.5"), shown("a\x00b"), shown("x" * 100, 5)
    ("'=cmd()", '-1.5', 'a�b', 'xxxx…')
    """
    words = "".join("\ufffd" if unicodedata.category(c)[0] == "C" else c for c in str(text))
    if words[:1] in ("=", "+", "-", "@") and not _is_number(words):
        words = "'" + words
    return words if len(words) <= longest else words[: longest - 1] + "…"


def _is_number(words: str) -> bool:
    try:
        float(words)
    except ValueError:
        return False
    return True


def marked_up(text: Any, longest: int = LONGEST) -> str:
    """Return text from data for a page.

    Parameters
    ----------
    text : object
        What is written of it is shown.
    longest : int
        How many characters at most.

    Returns
    -------
    str

    Examples
    --------
    >>> marked_up("</script>")
    '&lt;/script&gt;'
    """
    return html.escape(shown(text, longest), quote=True)


def embedded(value: Any) -> str:
    r"""Return JSON that may stand inside a script element.

    Parameters
    ----------
    value : object
        What JSON can hold.

    Returns
    -------
    str

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name": "\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _is_known(figure: float | None) -> TypeGuard[float]:
    return figure is not None and math.isfinite(figure)


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with a few significant digits.

    Parameters
    ----------
    value : float or None
        None and what is not finite is unknown.
    digits : int
        How many that count.

    Returns
    -------
    str

    Examples
    --------
    >>> number(1234567), number(0.012345), number(1.5e-9), number(None)
    ('1,234,567', '0.0123', '1.5e-09', 'n/a')
    """
    if not _is_known(value):
        return UNKNOWN
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value):,}"
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float | None) -> str:
    """Write a share as a percentage.

    Parameters
    ----------
    share : float or None
        None is unknown.

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.1234), percent(0.0004), percent(1), percent(None)
    ('12.3 %', '0.04 %', '100 %', 'n/a')
    """
    if not _is_known(share):
        return UNKNOWN
    value = 100.0 * share
    if value in (0.0, 100.0):
        return f"{value:.0f} %"
    return f"{value:.1f} %" if abs(value) >= 1 else f"{value:.2g} %"


def size(count: float | None) -> str:
    """Write a number of bytes.

    Parameters
    ----------
    count : float or None
        None is unknown.

    Returns
    -------
    str

    Examples
    --------
    >>> size(1500), size(2_500_000)
    ('1.5 kB', '2.5 MB')
    """
    if not _is_known(count):
        return UNKNOWN
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= least:
            return f"{count / least:.3g} {unit}"
    return f"{count:.0f} bytes"
