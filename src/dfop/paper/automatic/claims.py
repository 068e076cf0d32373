"""What is claimed of the automatic learner, and on how many streams it holds."""

from collections.abc import Iterable, Sequence

import numpy as np

from dfop.paper.run import table

from . import work
from .results import FullStream, Sureness, Trials


def missed(full: Sequence[FullStream], trials: Sequence[Trials], sure: Sureness) -> list[str]:
    """List everything that does not hold, each with its numbers."""
    lines = []
    for one in full:
        shown, name = one.shown, f"{one.name} ({one.task})"
        if not one.keeps_promise:
            lines.append(f"{name}: {shown(one.default)}, promised {one.promised:g}")
        if one.behind(one.default, one.no_change) >= 0:
            lines.append(f"{name}: {shown(one.default)}, no-change has {shown(one.no_change)}")
        for view, (mu, best) in one.fixed.items():
            if one.behind(one.automatic[view], best) > one.allowance:
                lines.append(
                    f"{name}, {view} features alone: {shown(one.automatic[view])}, the best fixed "
                    f"mu in hindsight ({mu:.2g}) has {shown(best)}"
                )
        if one.lagged is not None and not one.keeps_promise_lagged:
            lines.append(
                f"{name}, {one.lags} lags: {shown(one.lagged)}, promised {one.promised_lagged:g}"
            )
    lines += [
        f"{one.name} ({one.task}), the paper's trials: {np.mean(one.ours):.4g}, printed "
        f"{one.printed.mean:g}±{one.printed.std:g} ({one.method})"
        for one in trials
        if one.printed is not None and not one.holds
    ]
    for name, many in sure.coverage.items():
        if max(abs(one["all"] - work.COVERAGE) for one in many) > 0.01:
            lines.append(f"{name}: coverage farther than .01 from {work.COVERAGE}")
        if min(one["worst"] for one in many) < work.COVERAGE - 0.12:
            lines.append(f"{name}: coverage of the worst {work.WINDOW} rows below .78")
    lines += [
        f"{name}: calibration error {error:.3f}, above .03"
        for name, error in sure.calibration.items()
        if error >= 0.03
    ]
    return lines


def summary_counts(
    full: Sequence[FullStream], trials: Sequence[Trials]
) -> dict[str, tuple[int, int]]:
    """Count on how many streams, of how many, each claim about scores holds."""
    fixed = [
        one.behind(one.automatic[view], one.fixed[view][1]) <= one.allowance
        for one in full
        for view in ("linear", "rff")
    ]
    promised = [one for one in full if one.promised is not None]
    lagged = [one for one in full if one.promised_lagged is not None]
    rows = [one for one in trials if one.task == "classification" and one.printed is not None]
    return {
        "promised score, full streams": _count(one.keeps_promise for one in promised),
        "better than no-change": _count(one.behind(one.default, one.no_change) < 0 for one in full),
        "within .2 points or 5 % of the best fixed mu, linear and rff": _count(fixed),
        "promised score with lags": _count(one.keeps_promise_lagged for one in lagged),
        "the paper's best number minus one std, its trials": _count(one.holds for one in rows),
    }


def _count(marks: Iterable[bool]) -> tuple[int, int]:
    listed = list(marks)
    return sum(listed), len(listed)


def summary(full: Sequence[FullStream], trials: Sequence[Trials], sure: Sureness) -> str:
    """Lay out on how many streams each claim holds."""
    rows = [
        [what, f"{held} of {of}"] for what, (held, of) in summary_counts(full, trials).items() if of
    ]
    off = max(
        (abs(one["all"] - work.COVERAGE) for many in sure.coverage.values() for one in many),
        default=0.0,
    )
    worst = min((o["worst"] for many in sure.coverage.values() for o in many), default=1.0)
    late = [d for found in sure.changes for d in found["delays"]]
    rows += [
        ["coverage at .9 off by at most", f"{off:.3f}"],
        [f"coverage of the worst {work.WINDOW} rows", f"{worst:.2f}"],
        ["streams with a calibration error below .03",
         f"{sum(e < 0.03 for e in sure.calibration.values())} of {len(sure.calibration)}"],
        [f"changes of the hyperplane found within {work.NEAR} rows",
         f"{sum(d is not None for d in late)} of {len(late)}"],
        ["alarms on streams of 10^5 rows without change",
         f"{sum(map(sum, sure.still.values()))} on {sum(map(len, sure.still.values()))}"],
    ]  # fmt: skip
    return table(["claim", "holds on"], rows)
