"""What a person reads of the automatic learner's measurements: tables, a page, a picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dfop.paper.run import Run, table

from . import work
from .claims import missed, summary
from .results import FullStream, Sureness, Trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FULL_HEADER = (
    "task", "stream", "source", "rows", "features", "default", "promised", "no_change", "linear",
    "best_mu_linear", "best_fixed_linear", "rff", "best_mu_rff", "best_fixed_rff", "lags", "lagged",
    "promised_lagged", "best_mu_lagged", "best_fixed_lagged",
)  # fmt: skip


def write_tables(
    run: Run, full: Sequence[FullStream], trials: Sequence[Trials], sure: Sureness
) -> None:
    """Write ``automatic.csv``, ``automatic-trials.csv`` and ``automatic-sureness.csv``."""
    run.write_csv(
        "automatic",
        FULL_HEADER,
        [
            [
                one.task, one.name, one.source, one.rows, one.features, _digits(one.default),
                _digits(one.promised), _digits(one.no_change), *_view(one, "linear"),
                *_view(one, "rff"), one.lags or "", _digits(one.lagged),
                _digits(one.promised_lagged), *_pair(one.fixed_lagged),
            ]
            for one in full
        ],
    )  # fmt: skip
    run.write_csv(
        "automatic-trials",
        ["task", "stream", "source", "method", "trial", "score", "paper_best", "paper_mean",
         "paper_std"],
        [
            [one.task, one.name, one.source, method, k, _digits(score),
             *(["", "", ""] if one.printed is None
               else [one.method, one.printed.mean, one.printed.std])]
            for one in trials
            for method, scores in (("automatic", one.ours), ("No-change", one.no_change))
            for k, score in enumerate(scores)
        ],
    )  # fmt: skip
    lines: list[list[object]] = []
    for name, many in sure.coverage.items():
        for k, one in enumerate(many):
            lines.append(["coverage", name, k, "all rows", _digits(one["all"])])
            lines.append(["coverage", name, k, "worst 200 rows", _digits(one["worst"])])
    lines += [["calibration", name, 0, "ece", _digits(e)] for name, e in sure.calibration.items()]
    for k, found in enumerate(sure.changes):
        lines += [["alarms", "hyperplane", k, f"delay {i + 1}", "" if delay is None else delay]
                  for i, delay in enumerate(found["delays"])]  # fmt: skip
        lines.append(["alarms", "hyperplane", k, "false", found["false"]])
    for kind, counts in sure.still.items():
        lines += [["alarms", kind, k, "false", count] for k, count in enumerate(counts)]
    for i, many in sure.spectra.items():
        for k, one in enumerate(many):
            lines += [["drift", f"walk {i + 1}", k, what, _digits(one[what])]
                      for what in ("mu", "noise", "misfit")]  # fmt: skip
    run.write_csv("automatic-sureness", ["what", "stream", "seed", "measure", "value"], lines)


def page(full: Sequence[FullStream], trials: Sequence[Trials], sure: Sureness) -> list[str]:
    """Compose the page."""
    labelled = [one for one in full if one.task == "classification"]
    numbers = [one for one in full if one.task == "regression"]
    parts = [
        "`DFOPClassifier()` and `DFOPRegressor()`, with no argument and nothing chosen, on every "
        "stream. Every row is predicted before its label is learned.",
        "## In short",
        summary(full, trials, sure),
        "Missed:",
        "\n".join(f"- {line}" for line in missed(full, trials, sure)) or "- nothing.",
        "## Full streams, classification",
        "Accuracy in percent over the full stream, in file order. No-change predicts the previous "
        "label. ● the default is better than the best fixed mu of both, ○ it is not. Other "
        "learners: `make peers`. *Linear* and *rff*: the automatic learner with these features "
        f"alone / the best of {len(work.GRID)} fixed mu in hindsight with the same features "
        "(which mu).",
        _full_table(labelled),
    ]
    if numbers:
        parts += [
            "## Full streams, regression",
            "Mean squared error x 100. Features and target are scaled to [0, 1] over the whole "
            "file, which looks ahead; the paper's errors are of such data. The hyperplane is "
            "drawn: mean, least and largest of ten seeds.",
            _full_table(numbers),
        ]
    lagged = [one for one in full if one.lags]
    if lagged:
        parts += [
            "## With the last labels as features",
            "For streams whose label is known before the next row comes (temporal augmentation). "
            "These scores say how the order of the rows helps, and must not be compared with "
            "those above.",
            _lagged_table(lagged),
        ]
    return parts + _trials_and_sureness(trials, sure)


def _trials_and_sureness(trials: Sequence[Trials], sure: Sureness) -> list[str]:
    return [
        "## The paper's trials",
        "Ten trials on a random contiguous 80 % of the stream each, as in the paper's tables (its "
        "protocol is recovered, not stated), against the best number that it prints for the "
        "stream, whichever method has it. Holds: at least as good, minus the printed standard "
        "deviation.",
        _trial_table(trials),
        "## Intervals",
        f"`predict_interval`, target {work.COVERAGE}: share of the targets inside, of all rows "
        f"and of the worst {work.WINDOW} consecutive ones; where several seeds were drawn, the "
        "share farthest from the target and the worst rows of all.",
        _coverage_table(sure),
        "## Probabilities",
        "Expected calibration error of `predict_proba`, 15 bins, every row before its label.",
        table(
            ["stream", "calibration error"],
            [[name, f"{error:.3f}"] for name, error in sure.calibration.items()],
        ),
        "## Alarms",
        _alarm_table(sure),
        "## Drift spectrum",
        "Random walks of known noise and drift, `drift_` of the linear bank: recommended mu and "
        "noise over the true ones, the seed farthest off; and the largest misfit.",
        _spectrum_table(sure),
        "![The default against the best fixed mu and no-change](automatic.png)",
    ]


def _full_table(full: Sequence[FullStream]) -> str:
    rows = []
    for one in full:
        mark = "●" if one.ahead > 0 else "○"
        note = "" if one.keeps_promise else " (missed)"
        source = (
            ""
            if one.source == "published file" or one.task == "regression"
            else (f" ({one.source})")
        )
        low, high = one.seeds
        spread = f" ({one.shown(low)} to {one.shown(high)})" if low < high else ""
        rows.append(
            [
                one.name + source,
                f"**{one.shown(one.default)}**{spread} {mark}",
                "" if one.promised is None else f"{one.promised:g}{note}",
                one.shown(one.no_change),
                *(
                    f"{one.shown(one.automatic[view])} / {one.shown(one.fixed[view][1])} "
                    f"({one.fixed[view][0]:.2g})"
                    for view in ("linear", "rff")
                ),
            ]
        )
    return table(
        ["stream", "default", "promised", "no-change", "linear / best mu", "rff / best mu"],
        rows,
    )


def _lagged_table(lagged: Sequence[FullStream]) -> str:
    rows = []
    for one in lagged:
        assert one.lagged is not None
        assert one.fixed_lagged is not None
        note = "" if one.keeps_promise_lagged else " (missed)"
        measure = "accuracy, %" if one.task == "classification" else "MSE x 100"
        promised = "" if one.promised_lagged is None else f"{one.promised_lagged:g}{note}"
        mu, fixed = one.fixed_lagged
        rows.append(
            [one.name, measure, str(one.lags), f"**{one.shown(one.lagged)}**", promised,
             one.shown(one.default), one.shown(one.no_change), f"{one.shown(fixed)} ({mu:.2g})"]
        )  # fmt: skip
    header = ["stream", "measure", "lags", "with lags", "promised", "without", "no-change"]
    return table([*header, "best fixed mu, linear, same lags"], rows)


def _trial_table(trials: Sequence[Trials]) -> str:
    rows = []
    for one in trials:
        digits = 2 if one.task == "classification" else 3
        ours, still = np.array(one.ours), np.array(one.no_change)
        name = one.name if one.task == "classification" else f"{one.name} (MSE x 100)"
        printed = ["", ""]
        if one.printed is not None:
            mean, std = one.printed.mean, one.printed.std
            printed = [f"{mean:.{digits}f}±{std:.{digits}f} {one.method}",
                       "yes" if one.holds else "no"]  # fmt: skip
        rows.append(
            [
                name + (" (stand-in)" if one.source.startswith("stand-in") else ""),
                f"**{ours.mean():.{digits}f}±{ours.std(ddof=1):.{digits}f}**",
                *printed,
                f"{still.mean():.{digits}f}±{still.std(ddof=1):.{digits}f}",
            ]
        )
    return table(["stream", "default", "paper's best", "holds", "no-change"], rows)


def _coverage_table(sure: Sureness) -> str:
    rows = []
    for name, many in sure.coverage.items():
        farthest = max((one["all"] for one in many), key=lambda share: abs(share - work.COVERAGE))
        worst = min(one["worst"] for one in many)
        rows.append([name, str(len(many)), f"{farthest:.3f}", f"{worst:.3f}"])
    return table(["stream", "seeds", "all rows", f"worst {work.WINDOW} rows"], rows)


def _alarm_table(sure: Sureness) -> str:
    delays = [d for found in sure.changes for d in found["delays"]]
    found = [d for d in delays if d is not None]
    rows = [
        [f"regression hyperplane, {len(sure.changes)} seeds: changes found within "
         f"{work.NEAR} rows", f"{len(found)} of {len(delays)}"],
        ["rows until found: median, most",
         f"{np.median(found):.0f}, {max(found)}" if found else "-"],
        ["false alarms there", str(sum(one["false"] for one in sure.changes))],
    ]  # fmt: skip
    rows += [
        [f"no change, {kind}: alarms on {len(counts)} streams", str(sum(counts))]
        for kind, counts in sure.still.items()
    ]
    return table(["", ""], rows)


def _spectrum_table(sure: Sureness) -> str:
    rows = []
    for i, many in sure.spectra.items():
        n, d, mu, s2 = work.WALKS[i]
        far = {
            what: max((one[what] for one in many), key=lambda ratio: abs(np.log(ratio)))
            for what in ("mu", "noise")
        }
        rows.append(
            [f"{n:,} rows, d = {d}, mu* = {mu:g}, noise {s2:g}", f"{far['mu']:.3f}",
             f"{far['noise']:.3f}", f"{max(one['misfit'] for one in many):.2f}"]
        )  # fmt: skip
    return table(["walk", "mu* / truth", "noise / truth", "misfit"], rows)


def picture(full: Sequence[FullStream]) -> "Figure":
    """Draw by how much the default is above the best fixed mu in hindsight, and above no-change."""
    from dfop.paper.figures import GREY, OURS, PAPER, panels

    labelled = [one for one in full if one.task == "classification"]
    numbers = [one for one in full if one.task == "regression"]
    figure, axes = panels(1, 2, 11, 1.9 + 0.24 * max(len(labelled), len(numbers)))
    for ax, some in zip(axes, (labelled, numbers), strict=True):
        y = np.arange(len(some))
        if some is labelled:
            fixed = [one.default - max(best for _, best in one.fixed.values()) for one in some]
            still = [one.default - one.no_change for one in some]
            ax.set_xlabel("accuracy of the default minus theirs, points")
            ax.set_xscale("symlog", linthresh=1)
            ax.set_xticks([-1, 0, 1, 3, 10, 30], ["-1", "0", "1", "3", "10", "30"])
        else:
            fixed = [min(best for _, best in one.fixed.values()) / one.default for one in some]
            still = [one.no_change / one.default for one in some]
            ax.set_xlabel("their error over that of the default (log scale)")
            ax.set_xscale("log")
            ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        zero = 0.0 if some is labelled else 1.0
        ax.axvline(zero, color=GREY, linewidth=1)
        ax.hlines(y, zero, fixed, color="0.8", linewidth=2, zorder=1)
        ax.plot(still, y, "s", color=PAPER, markersize=5, label="no-change")
        ax.plot(fixed, y, "o", color=OURS, markersize=6, label="the best fixed mu in hindsight")
        ax.minorticks_off()
        ax.set_yticks(y, [one.name for one in some])
        ax.set_ylim(len(some) - 0.5, -0.5)
    axes[1].legend(loc="center right", fontsize=9, frameon=False)
    ahead = sum(one.ahead > 0 for one in full)
    figure.suptitle(
        f"Nothing to choose: ahead of the best of {2 * len(work.GRID)} single filters, picked for "
        f"each stream afterwards, on {ahead} of {len(full)} streams",
        x=0.01,
        ha="left",
        fontsize=11,
    )
    return figure


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _view(one: FullStream, view: str) -> list[str]:
    return [_digits(one.automatic[view]), *_pair(one.fixed[view])]


def _pair(pair: tuple[float, float] | None) -> list[str]:
    return ["", ""] if pair is None else [f"{pair[0]:.6g}", _digits(pair[1])]
