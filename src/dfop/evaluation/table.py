"""A comparison as text, Markdown, LaTeX and CSV."""

import csv
import io
import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from .sources import Array

if TYPE_CHECKING:
    from .comparison import Comparison

Form = Literal["text", "markdown", "latex", "csv"]
PERCENT = ("accuracy", "balanced accuracy")


class Entry(NamedTuple):
    """One field of the table."""

    text: str
    best: bool = False
    outcome: int = 0


def render(comparison: "Comparison", form: Form) -> str:
    """Write a comparison in one of the forms; see `Comparison.render`.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.evaluation import Comparison
    >>> c = Comparison(["A"], ["S"], "A", "MSE", {"MSE": np.ones((1, 1, 2))})
    >>> print(render(c, "markdown"))
    MSE, mean±std of 2 trials
    <BLANKLINE>
    | stream | A |
    |---|---:|
    | S | **1.000±0.000** |
    ...
    """
    writers = {"text": _text, "markdown": _markdown, "latex": _latex, "csv": _csv}
    if form not in writers:
        raise ValueError(f"form must be one of {list(writers)}, got {form!r}")
    return writers[form](comparison)


def _grid(c: "Comparison") -> list[list[Entry]]:
    """Means and standard deviations, a row per stream."""
    mean, std, outcome = c.mean, c.std, c.outcomes
    if c.metric in PERCENT:
        mean, std = 100 * mean, 100 * std
    best = mean.max(axis=1) if c.greater_is_better else mean.min(axis=1)
    grid = []
    for s, stream in enumerate(c.streams):
        digits = _digits(c, mean[s])
        row = [Entry(stream)]
        for m in range(len(c.models)):
            text = f"{mean[s, m]:.{digits}f}"
            if c.trials > 1:
                text += f"±{std[s, m]:.{digits}f}"
            row.append(Entry(text, bool(mean[s, m] == best[s]), int(outcome[s, m])))
        grid.append(row)
    return grid


def _digits(c: "Comparison", means: Array) -> int:
    """Decimals for one stream: two of a percentage, else four digits of the smallest mean."""
    if c.metric in PERCENT:
        return 2
    sizes = [abs(v) for v in means.tolist() if v != 0 and math.isfinite(v)]
    return max(0, 3 - math.floor(math.log10(min(sizes)))) if sizes else 0


def _footer(c: "Comparison") -> list[list[Entry]]:
    """Sum up every model over the streams."""
    counts = {m: "/".join(map(str, wtl)) for m, wtl in c.win_tie_loss.items()}
    rows = []
    if c.trials > 1 and counts:
        rows.append(["win/tie/loss", *(counts.get(m, "") for m in c.models)])
    sums = list(c.robustness.values())
    if not any(math.isnan(s) for s in sums):
        rows.append(["robustness", *(f"{s:.2f}" for s in sums)])
    rows.append(["mean rank", *(f"{r:.2f}" for r in c.mean_ranks.values())])
    return [[Entry(text) for text in row] for row in rows]


def _title(c: "Comparison") -> str:
    unit = " in %" if c.metric in PERCENT else ""
    return f"{c.metric}{unit}, mean±std of {c.trials} trials" if c.trials > 1 else c.metric + unit


def _notes(c: "Comparison", better: str, worse: str) -> list[str]:
    notes = []
    if c.trials > 1 and len(c.models) > 1:
        notes.append(
            f"{better} {c.reference} is significantly better, {worse} worse "
            f"(paired t-test, 95 %); win/tie/loss counts for {c.reference}."
        )
    if len(c.models) >= 3 and len(c.streams) >= 2:
        statistic, p = c.friedman
        notes.append(
            f"Friedman: chi2 = {statistic:.2f}, p = {p:.2g}; critical difference of mean "
            f"ranks (Nemenyi, 95 %): {c.critical_difference:.2f}."
        )
    return notes


def _text(c: "Comparison") -> str:
    def show(entry: Entry) -> str:
        # The best is starred, others keep the room, so that points stand below points.
        return f"{entry.text}{'*' if entry.best else ' '}{'○ ●'[entry.outcome + 1]}"

    head = [Entry("stream"), *(Entry(m) for m in c.models)]
    body = [[row[0].text, *map(show, row[1:])] for row in _grid(c)]
    foot = [[e.text if i == 0 else e.text + "  " for i, e in enumerate(r)] for r in _footer(c)]
    top = [e.text if i == 0 else e.text + "  " for i, e in enumerate(head)]
    widths = [max(map(len, column)) for column in zip(top, *body, *foot, strict=True)]

    def line(row: list[str]) -> str:
        first, *rest = row
        cells = [f"{text:>{w}}" for text, w in zip(rest, widths[1:], strict=True)]
        return "  ".join([f"{first:<{widths[0]}}", *cells]).rstrip()

    rule = "  ".join("-" * w for w in widths)
    lines = [_title(c), "", line(top), rule, *map(line, body), rule, *map(line, foot), ""]
    return "\n".join([*lines, "* best.", *_notes(c, "●", "○")])


def _markdown(c: "Comparison") -> str:
    def clean(text: str) -> str:
        return text.replace("|", "\\|")

    def show(entry: Entry) -> str:
        text = f"**{clean(entry.text)}**" if entry.best else clean(entry.text)
        return text + ("", " ●", " ○")[entry.outcome]

    rows = [[Entry("stream"), *(Entry(m) for m in c.models)], *_grid(c), *_footer(c)]
    lines = ["| " + " | ".join(map(show, row)) + " |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * len(c.models))
    return "\n".join([_title(c), "", *lines, "", "\n\n".join(_notes(c, "●", "○"))]).rstrip()


def _latex(c: "Comparison") -> str:
    special = {ord(k): "\\" + k for k in "&%$#_{}"} | {
        ord("\\"): "\\textbackslash{}",
        ord("~"): "\\textasciitilde{}",
        ord("^"): "\\textasciicircum{}",
        ord("±"): "$\\pm$",
        ord("|"): "$|$",
    }

    def show(entry: Entry) -> str:
        text = entry.text.translate(special)
        text = f"\\textbf{{{text}}}" if entry.best else text
        return text + ("", "~$\\bullet$", "~$\\circ$")[entry.outcome]

    def line(row: list[Entry]) -> str:
        return " & ".join(map(show, row)) + r" \\"

    head = [Entry("stream"), *(Entry(m) for m in c.models)]
    caption = " ".join([_title(c) + ".", *_notes(c, "BETTER", "WORSE")]).translate(special)
    caption = caption.replace("BETTER", "$\\bullet$").replace("WORSE", "$\\circ$")
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            f"\\caption{{{caption}}}",
            f"\\begin{{tabular}}{{l{'r' * len(c.models)}}}",
            "\\toprule",
            line(head),
            "\\midrule",
            *map(line, _grid(c)),
            "\\midrule",
            *map(line, _footer(c)),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
    )


def _csv(c: "Comparison") -> str:
    """One line per stream and model, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["stream", "model", "metric", "trials", "mean", "std", "p_value", "reference_is"]
    )
    mean, std, p, outcome = c.mean, c.std, c.p_values, c.outcomes
    for s, stream in enumerate(c.streams):
        for m, model in enumerate(c.models):
            test = ["", ""]
            if model != c.reference and c.trials > 1:
                test = [repr(float(p[s, m])), ("tie", "better", "worse")[outcome[s, m]]]
            spread = repr(float(std[s, m])) if c.trials > 1 else ""
            row = [stream, model, c.metric, c.trials, repr(float(mean[s, m])), spread, *test]
            writer.writerow(row)
    return out.getvalue().rstrip("\n")
