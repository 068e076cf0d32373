"""The figures of a run as Prometheus text, for the node exporter's folder of text files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def prometheus(summary: Mapping[str, Any]) -> str:
    r"""Return the figures of a summary in Prometheus' text format.

    Parameters
    ----------
    summary : mapping
        As `dfop learn --json` prints it.

    Returns
    -------
    str

    Examples
    --------
    >>> figures = {"now": 0.1, "overall": 0.2, "no_change": None}
    >>> bad = {"total": 1, "kinds": {'not a "number"': 1}}
    >>> text = prometheus(
    ...     {"rows_read": 9, "rows": 8, "error": figures, "bad_rows": bad, "alarms": {"count": 0}}
    ... )
    >>> [line for line in text.splitlines() if not line.startswith("#")][2:4]
    ['dfop_bad_rows_total{kind="not a \\"number\\""} 1', 'dfop_error{over="now"} 0.1']
    """
    errors = summary["error"]
    families: list[tuple[str, str, str, list[tuple[str, Any]]]] = [
        ("dfop_rows_total", "counter", "Rows read, good and bad.", [("", summary["rows_read"])]),
        ("dfop_scored_rows_total", "counter", "Rows whose label came.", [("", summary["rows"])]),
        (
            "dfop_bad_rows_total",
            "counter",
            "Rows left out, by what was wrong.",
            [(_label("kind", kind), n) for kind, n in summary["bad_rows"]["kinds"].items()],
        ),
        (
            "dfop_error",
            "gauge",
            "One-step-ahead error: share wrong, or mean squared error.",
            [(_label("over", over), errors.get(over)) for over in ("now", "overall")],
        ),
        (
            "dfop_no_change_error",
            "gauge",
            "The error of predicting the last label.",
            [
                (_label("over", "now"), errors.get("no_change_now")),
                (_label("over", "overall"), errors.get("no_change")),
            ],
        ),
        (
            "dfop_forgetting_mu",
            "gauge",
            "Effective forgetting factor.",
            [("", summary.get("forgetting", {}).get("mu"))],
        ),
        ("dfop_alarms", "gauge", "Sudden changes found.", [("", summary["alarms"]["count"])]),
    ]
    lines = []
    for name, kind, words, samples in families:
        known = [(labels, value) for labels, value in samples if value is not None]
        if known:
            lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
            lines += [f"{name}{labels} {value}" for labels, value in known]
    return "\n".join(lines) + "\n"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{{{name}="{escaped}"}}'
