"""The classification table: twenty streams, the paper's seven methods and four it leaves out."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dfop.evaluation import compare

from . import printed
from .run import Run, table, unconverged_is_known
from .scores import MARKS, Scores, beside, printed_ratios
from .settings import CLASSIFICATION, PROTOCOL, SEVEN, SLOW, PaperStream, classifiers
from .supply import supply

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# About how long a row takes, in seconds of one core; only the time left depends on it.
_COST = {"fast": 2e-5, "slow": 4e-4}
_EXTRA = ("DFOP capped", "No-change", "Majority", "DWM p=1")


def scores(run: Run) -> tuple[Scores, dict[str, str]]:
    """Do all trials, or read those that are done.

    Parameters
    ----------
    run : Run
        Where finished trials are kept, how many there shall be.

    Returns
    -------
    Scores
        Accuracies in percent.
    dict of str to str
        Where each stream's rows came from; streams that could not be had are absent.
    """
    result, sources = Scores("DFOP"), {}
    plan = list(_plan(run))
    total = sum(work for *_, work in plan)
    done = 0.0
    for stream, group, work in plan:
        supplied = supply(run, stream)
        if supplied is not None:
            sources[stream.name] = supplied.source
            models = classifiers(stream)
            with unconverged_is_known():
                comparison = compare(
                    {name: models[name] for name in models if (name in SLOW) == (group == "slow")},
                    {stream.name: supplied.rows},
                    trials=run.trials,
                    jobs=run.jobs,
                    resume=run.record("classification", stream.name, group),
                    progress=run.part(f"classification: {stream.name}", done, work, total),
                )
            result.add(comparison)
        done += work
        run.tell(f"classification: {stream.name}", done, total)
    return result, sources


def _plan(run: Run) -> Iterator[tuple[PaperStream, str, float]]:
    """Plan the fast methods everywhere, then the slow ones, longest first so that no core waits."""
    wanted = [s for s in CLASSIFICATION if not run.only or s.name in run.only]
    rows = {s.name: run.rows(printed.sizes()[s.name].rows) for s in wanted}
    for group in ("fast", "slow"):
        for stream in sorted(wanted, key=lambda s: rows[s.name], reverse=True):
            yield stream, group, run.trials * 0.8 * rows[stream.name] * _COST[group]


def classification(run: Run) -> None:
    """Write the classification table: ours beside the printed one.

    Parameters
    ----------
    run : Run
        Files ``classification.csv``, ``classification-trials.csv``, ``classification.md`` and
        the picture go into its folder.
    """
    result, sources = scores(run)
    streams = [s for s in CLASSIFICATION if s.name in sources]
    known = printed.scores("classification")
    lines, each = [], []
    for stream in streams:
        for method in (*SEVEN, *_EXTRA):
            ours = result.trials[stream.name, method]
            p, mark = result.outcome(stream.name, method)
            cell = known.get((stream.name, method))
            lines.append(
                [
                    stream.name, sources[stream.name], method,
                    stream.mu if method.startswith("DFOP") else "",
                    len(ours), f"{ours.mean():.4f}", f"{result.spread(stream.name, method):.4f}",
                    *beside(cell, ours.mean()),
                    "" if method == "DFOP" else f"{p:.4g}", mark, cell.dfop_is if cell else "",
                ]
            )  # fmt: skip
            each += [[stream.name, method, t, f"{v:.4f}"] for t, v in enumerate(ours)]
    run.write_csv(
        "classification",
        ["stream", "source", "method", "mu", "trials", "mean", "std", "paper_mean", "paper_std",
         "difference", "p_value", "dfop_is", "paper_dfop_is"],
        lines,
    )  # fmt: skip
    run.write_csv("classification-trials", ["stream", "method", "trial", "accuracy"], each)
    run.write_markdown("classification", "Classification", _page(run, result, streams, sources))
    own = [s for s in streams if not sources[s.name].startswith("stand-in")]
    run.save("classification", lambda: _picture(result, own or streams))


def _page(
    run: Run, result: Scores, streams: Sequence[PaperStream], sources: dict[str, str]
) -> list[str]:
    published = [s.name for s in streams if not sources[s.name].startswith("stand-in")]
    paragraphs = [
        PROTOCOL,
        f"Accuracy in percent, mean ± standard deviation of {run.trials} trials. Each field: "
        "paper / ours (difference). ●: DFOP is significantly better in our run, ○: worse (paired "
        "t-test, 95 %; trials overlap, so it is too sure of itself). **Bold**: best of our seven.",
        _main_table(result, streams, sources, published),
        'What the paper leaves out. DFOP is its plain recursion, "capped" the same with the '
        "library's guard against wind-up; No-change predicts the previous label; DWM p=1 "
        "reconsiders its experts at every row, the paper's DWM at every 50th.",
        _extra_table(result, streams, sources),
    ]
    missing = [s.name for s in CLASSIFICATION if s.name not in sources]
    if missing and not run.only:
        paragraphs.append(f"Left out, no file: {', '.join(missing)}.")
    other = [f"{name} ({source})" for name, source in sources.items() if "generated" in source]
    if other:
        paragraphs.append(
            f"Not the published rows: {', '.join(other)}. A stand-in only resembles the published "
            "stream; it is not in the sums below the table."
        )
    return paragraphs


def _main_table(
    result: Scores,
    streams: Sequence[PaperStream],
    sources: dict[str, str],
    published: Sequence[str],
) -> str:
    known = printed.scores("classification")
    rows = []
    for stream in streams:
        means = result.mean([stream.name], SEVEN)[0]
        row = [_label(stream, sources), f"{stream.mu:g}"]
        for method, mean in zip(SEVEN, means, strict=True):
            paper = known[stream.name, method].mean
            field = f"{mean:.2f}±{result.spread(stream.name, method):.2f}"
            field = f"**{field}**" if mean == means.max() else field
            mark = MARKS[result.outcome(stream.name, method)[1]]
            row.append(f"{paper:.2f} / {field} ({mean - paper:+.2f}){mark}")
        rows.append(row)
    if published:
        corrected = printed.corrected_counts()
        counts = ["/".join(map(str, result.counts(published, m))) for m in SEVEN[:-1]]
        theirs = ["/".join(map(str, corrected[m])) for m in SEVEN[:-1]]
        sums = result.robustness(published, SEVEN).sum(axis=0)
        paper_sums = printed_ratios(published).sum(axis=0)
        rows += [
            [f"win/tie/loss of DFOP, our {len(published)}", "", *counts, ""],
            ["the same, paper (20, corrected)", "", *theirs, ""],
            [f"robustness: paper / ours, {len(published)} streams", ""]
            + [f"{a:.2f} / {b:.2f}" for a, b in zip(paper_sums, sums, strict=True)],
            ["mean rank, ours", ""] + [f"{r:.2f}" for r in result.ranks(published, SEVEN)],
        ]
    return table(["stream", "mu", *SEVEN], rows)


def _extra_table(result: Scores, streams: Sequence[PaperStream], sources: dict[str, str]) -> str:
    rows = []
    for stream in streams:
        row = [_label(stream, sources)]
        for method in ("DFOP", *_EXTRA):
            mean = result.trials[stream.name, method].mean()
            mark = MARKS[result.outcome(stream.name, method)[1]]
            row.append(f"{mean:.2f}±{result.spread(stream.name, method):.2f}{mark}")
        rows.append(row)
    return table(["stream", "DFOP", *_EXTRA], rows)


def _label(stream: PaperStream, sources: dict[str, str]) -> str:
    stand_in = sources[stream.name].startswith("stand-in")
    return f"{stream.name} (stand-in)" if stand_in else stream.name


def _picture(result: Scores, streams: Sequence[PaperStream]) -> "Figure":
    from .figures import OURS, PAPER, panels

    known = printed.scores("classification")
    names = [s.name for s in streams]
    theirs = np.array([[known[s, m].mean for m in SEVEN] for s in names])
    gap = result.mean(names, SEVEN) - theirs
    figure, axes = panels(1, len(SEVEN), 14, 1.4 + 0.26 * len(names), sharey=True)
    for ax, method, values in zip(axes, SEVEN, gap.T, strict=True):
        y = np.arange(len(names))
        far = np.abs(values) > 1
        ax.axvline(0, color="0.6", linewidth=1)
        ax.axvspan(-1, 1, color="0.93", zorder=0)
        ax.plot(values[~far], y[~far], "o", color=OURS, markersize=5)
        ax.plot(values[far], y[far], "D", color=PAPER, markersize=5)
        ax.set_xscale("symlog", linthresh=2)
        ax.set_xlim(-50, 50)
        ax.set_xticks([-20, -1, 1, 20], ["-20", "-1", "1", "20"], fontsize=8)
        ax.minorticks_off()
        ax.set_title(f"{method}: {int((~far).sum())} of {len(names)}", loc="left", fontsize=10)
    axes[0].set_yticks(np.arange(len(names)), names)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    axes[3].set_xlabel("our accuracy minus the paper's, in points of percent (grey: within 1)")
    figure.suptitle(
        "Classification: on how many streams we are within one point of the paper, by method",
        x=0.01,
        ha="left",
    )
    return figure
