"""The main job in one minute: follow a stream whose concept changes, against plain RLS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from dfop.regressor import DFOPRegressor

from .problems import in_sentences, unwinding

Array = NDArray[np.float64]

FEATURES = 10
CHANGES = (25_000, 50_000, 75_000)
NOISE = 0.3


@dataclass(frozen=True)
class DemoResult:
    """Squared error of every one-step-ahead prediction, by name of the learner."""

    errors: dict[str, Array]
    seconds: dict[str, float]


def make_stream(rows: int = 100_000, seed: int = 0) -> tuple[Array, Array]:
    """Make a linear concept in noise: it jumps three times, and drifts slowly in between."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES))
    concepts = rng.normal(size=(len(CHANGES) + 1, FEATURES))
    w = concepts[np.searchsorted(CHANGES, np.arange(rows), side="right")]
    w = w + np.cumsum(rng.normal(scale=2e-3, size=(rows, FEATURES)), axis=0)
    return X, np.einsum("ij,ij->i", X, w) + rng.normal(scale=NOISE, size=rows)


def run(
    X: Array,
    y: Array,
    track: Callable[[Iterable[slice], str, int], Iterable[slice]] = lambda parts, *_: parts,
) -> DemoResult:
    """Feed the stream to the learners, part by part; `track` may show the progress."""
    from time import perf_counter

    learners = {
        "plain RLS (mu = 0)": DFOPRegressor(forgetting=0),
        "DFOP (mu = 0.01)": DFOPRegressor(forgetting=0.01),
        "DFOP, automatic": DFOPRegressor(),
    }
    errors, seconds = {}, {}
    parts = [slice(start, start + 1000) for start in range(0, len(X), 1000)]
    for name, model in learners.items():
        spent, collected = 0.0, []
        for part in track(parts, name, len(parts)):
            start = perf_counter()
            ahead = model.predict_then_learn(X[part], y[part])
            spent += perf_counter() - start
            collected.append((y[part] - ahead) ** 2)
        errors[name], seconds[name] = np.concatenate(collected), spent
    return DemoResult(errors, seconds)


def plot(result: DemoResult, path: Path, window: int = 500) -> None:
    """Draw the error over time, averaged over the last `window` rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    looks = (("#D55E00", 0), ("#0072B2", 8), ("#009E73", -8))  # the last two end close together
    for (name, squared), (colour, shift) in zip(result.errors.items(), looks, strict=True):
        total = np.cumsum(np.concatenate([[0.0], squared]))
        mean = (total[window:] - total[:-window]) / window
        rows = np.arange(window, len(squared) + 1)
        axes.plot(rows, mean, color=colour, linewidth=1.6)
        axes.annotate(
            name,
            (rows[-1], mean[-1]),
            xytext=(6, shift),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )
    axes.axhline(NOISE**2, color="0.5", linewidth=1, linestyle=":")
    axes.annotate(
        "noise, the least possible",
        (0, NOISE**2),
        xytext=(4, -12),
        textcoords="offset points",
        color="0.4",
    )
    for change in CHANGES:
        axes.axvline(change, color="0.8", linewidth=1, zorder=0)
    axes.set_yscale("log")
    axes.set_xlim(0, len(squared))
    axes.set_title(
        "The concept jumps at the grey lines: DFOP follows, plain RLS averages", loc="left"
    )
    axes.set_xlabel("row of the stream")
    axes.set_ylabel(f"squared error, mean of {window} rows")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


@in_sentences
def demo(
    picture: Annotated[
        Path, typer.Option("--plot", help="Where to save the picture.", dir_okay=False)
    ] = Path("dfop-demo.png"),
) -> None:
    """Learn from a stream whose concept changes, against plain RLS; save a picture."""
    console = Console()
    X, y = make_stream()
    console.print(
        f"{len(X):,} rows, {X.shape[1]} features, made in memory; the concept jumps at rows "
        f"{', '.join(f'{change:,}' for change in CHANGES)} and drifts in between.\n"
        "Every row is predicted before its target is seen."
    )
    columns = [
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("thousand rows"),
        TimeElapsedColumn(),
    ]
    with unwinding(), Progress(*columns, console=console) as progress:

        def track(parts: Iterable[slice], name: str, total: int) -> Iterator[slice]:
            return iter(progress.track(parts, total=total, description=name))

        result = run(X, y, track)
    table = Table("learner", "mean squared error", "last 1,000 rows", "rows per second")
    for name, squared in result.errors.items():
        table.add_row(
            name,
            f"{squared.mean():.3f}",
            f"{squared[-1000:].mean():.3f}",
            f"{len(squared) / result.seconds[name]:,.0f}",
        )
    table.add_row("noise, the least possible", f"{NOISE**2:.3f}", f"{NOISE**2:.3f}", "")
    console.print(table)
    try:
        plot(result, picture)
    except ImportError:
        console.print("No picture: pip install 'dfop[plot]'")
        return
    console.print(f"Picture saved: {picture}")
