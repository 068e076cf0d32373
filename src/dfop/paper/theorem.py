"""Theorem 2 as numbers: how often its certificates hold, and how far above the error they are."""

import joblib

from dfop.theory import SETTINGS, Outcome, Setting, draw_experiment, run_experiment

from .run import Run, table

SEEDS = 400
QUICK_SEEDS = 40


def theorem(run: Run) -> None:
    """Measure the coverage of the certificates C0 to C3 and draw them against the error.

    Parameters
    ----------
    run : Run
        Files ``theorem.csv``, ``theorem.md`` and the picture go into its folder.
    """
    seeds = QUICK_SEEDS if run.quick else SEEDS
    run.tell("theorem", 0, len(SETTINGS))
    outcomes: list[Outcome] = []
    with joblib.Parallel(n_jobs=run.jobs, return_as="generator") as parallel:
        for outcome in parallel(joblib.delayed(_one)(setting, seeds) for setting in SETTINGS):
            outcomes.append(outcome)
            run.tell("theorem", len(outcomes), len(SETTINGS))
    lines = [line for outcome in outcomes for line in outcome.table()]
    run.write_csv("theorem", list(lines[0]), [list(line.values()) for line in lines])
    header = ["setting", "error", "C3", "C2", "C1", "C0", "least coverage C3", "of C0 to C2"]
    header += ["C3 <= C2 <= C1 <= C0", "RMS error / C3's"]
    run.write_markdown(
        "theorem",
        "Theorem 2",
        [
            f"Distance of the learned from the true weights over {seeds} seeds, and the four "
            f"certificates, each to hold with probability {1 - outcomes[0].delta:.0%} at any fixed "
            "row. Medians at the last row; coverage at the worst row. C0 is the theorem as "
            "corrected, C3 the sharpest form.",
            table(header, [_fields(outcome) for outcome in outcomes]),
            "![Certificates and error over time](theorem.png)",
        ],
    )
    run.save("theorem", lambda: draw_experiment(outcomes))


def _one(setting: Setting, seeds: int) -> Outcome:
    return run_experiment([setting], seeds=seeds)[0]


def _fields(outcome: Outcome) -> list[str]:
    last = outcome.table()[-1]
    least = {name: float(values.min()) for name, values in outcome.coverage.items()}
    return [
        outcome.setting.name,
        *(f"{last[key]:.3g}" for key in ("error", "C3", "C2", "C1", "C0")),
        f"{least['C3']:.2%}",
        f"{min(least[name] for name in ('C0', 'C1', 'C2')):.2%}",
        "yes" if outcome.ordered else "no",
        f"{outcome.overall_rms_ratio:.3f}",
    ]
