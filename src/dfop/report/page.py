"""`write_page`: a history as one HTML file that opens offline and prints."""

from __future__ import annotations

import base64
import hashlib
import resource
import sys
from importlib.resources import files as package_files
from typing import Any

from dfop.files import to_bytes
from dfop.files.replacing import replace_file

from . import sections
from .history import History
from .text import embedded, marked_up
from .zoom import PLACE, scripts, zoomable

LARGEST = 1_500_000
"""Bytes of a page."""
_START = f"""
Bokeh.embed.embed_item(JSON.parse(document.getElementById("{PLACE}-item").textContent));
"""


def write_page(
    path: Any,
    history: History,
    model: Any = None,
    *,
    title: str = "What was learned",
    about: dict[str, Any] | None = None,
) -> None:
    """Write the report: one HTML file, whole or not at all.

    It asks nothing of the network and needs no script but for zooming. Nothing that comes from
    data is taken for markup: a policy inside the page forbids all scripts but its own.

    Parameters
    ----------
    path : path
        Where to write it; a file that is there is replaced.
    history : History
        What happened.
    model : DFOPRegressor or DFOPClassifier, optional
        The model, for its parameters, its size and its drift spectrum.
    title : str
        The heading.
    about : dict of str to object, optional
        What else is worth knowing: the source, the target, ...

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> history = History("classification")
    >>> history.add(["up", "up", "down"], ["up", "up", "up"])
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_page(path, history, title="Up or down")
    >>> "<h1>Up or down</h1>" in path.read_text("utf-8")
    True
    """
    if history.rows == 0:
        raise ValueError("a report needs at least one row: nothing was added to the history")
    content = page_of(history, model, title=title, about=about or {}).encode("utf-8", "replace")
    replace_file(path, content)


def page_of(history: History, model: Any, *, title: str, about: dict[str, Any]) -> str:
    """Return the text of the page.

    Examples
    --------
    >>> history = History("regression")
    >>> history.add([0.0, 1.0], [0.0, 0.0])
    >>> page_of(history, None, title="A page", about={})[:15]
    '<!doctype html>'
    """
    summary = history.summary()
    zoom = zoomable(history)
    code = [*scripts(), _START]
    body = [
        sections.headline(title, summary),
        sections.error_section(history, summary),
        sections.forgetting_section(history, summary, _drift(model)),
        sections.alarm_section(summary),
        sections.feature_section(history, summary),
        sections.sureness_section(history, summary),
        sections.bad_section(history, summary),
        sections.facts_section({**about, **_parameters(model)}, summary),
        sections.speed_section(history, _peak_memory(), _size(model)),
        sections.zoom_section(PLACE, zoom.errors, zoom.features),
        f'<script type="application/json" id="summary">{embedded(summary)}</script>',
        f'<script type="application/json" id="{PLACE}-item">{embedded(zoom.item)}</script>',
        *(f"<script>{part}</script>" for part in code),
    ]
    return _frame(title, code, "\n".join(body))


def _frame(title: str, code: list[str], body: str) -> str:
    style = (package_files(__package__) / "style.css").read_text("utf-8")
    allowed = " ".join(f"'sha256-{_digest(part)}'" for part in code)
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{marked_up(title, 200)}</title><style>{style}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _parameters(model: Any) -> dict[str, Any]:
    return {} if model is None else {"model": " ".join(repr(model).split())}


def _drift(model: Any) -> str | None:
    spectrum = getattr(model, "drift_", None)
    return None if spectrum is None else str(spectrum)


def _size(model: Any) -> int | None:
    return None if model is None else len(to_bytes(model))


def _peak_memory() -> float:
    """Return the most memory that this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)
