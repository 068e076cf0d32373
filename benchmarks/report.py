"""What a person reads of the results: tables, a CSV file, a picture."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contenders import (
    ARRAY,
    PADASIP,
    PEAK,
    PLAIN,
    POLARS,
    RIVER,
    RIVER_BAYES,
    RIVER_LINEAR,
    ROW,
    SGD,
    TIGHT,
)
from machine import machine

Table = dict[tuple[object, object], float]


class Results(NamedTuple):
    """All that was measured."""

    memory: Table  # rows learned -> resident MB
    speed: Table  # contender, d -> rows/s
    calls: Table  # call, d -> microseconds
    outputs: Table  # outputs, d -> cost in units of one output
    rows: Table  # rows in a call, d -> nanoseconds per row


class Target(NamedTuple):
    """How many times the speed of a peer ours has to reach."""

    ours: str
    peer: str
    at_least: dict[int, float]  # d -> ratio


TARGETS = (
    Target(ARRAY, PLAIN, {2: 50, 10: 40, 50: 9, 100: 4, 500: 2.2}),
    Target(ARRAY, TIGHT, {2: 50, 10: 40, 50: 9, 100: 4, 500: 2.2}),
    Target(ARRAY, POLARS, {2: 25, 10: 25, 50: 25, 100: 25}),
    Target(ARRAY, PEAK, {50: 0.35, 100: 0.45, 500: 0.50}),
    Target(RIVER, RIVER_LINEAR, {2: 10, 10: 6, 50: 3.5, 100: 2.5}),
)

PEERS_OF = {
    ARRAY: (TIGHT, PLAIN, POLARS, PADASIP, RIVER_LINEAR, RIVER_BAYES, SGD),
    ROW: (TIGHT, PLAIN, PADASIP, RIVER_LINEAR, RIVER_BAYES, SGD),
    RIVER: (RIVER_LINEAR, RIVER_BAYES, SGD),
}

PACKAGES = (
    "dfop", "numpy", "scipy", "scikit-learn", "river", "padasip", "polars", "polars-ols"
)  # fmt: skip

INTRODUCTION = """\
# Benchmarks

Written by `make bench`. Every number is the median of interleaved rounds in one run: contenders
take turns, each is charged with the CPU time of the process, and every library is held to one
thread, so one core is compared with one core whatever else the machine does. Ratios carry over to
other machines better than rows per second do.

Every contender predicts each row and then learns it, with one output and with the past fading by
0.99 a row where it can fade. Before the clock starts, those that claim forgetting least squares
are checked to predict alike.

- *{plain}*: dsymv, daxpy, dsyr on one triangle, in place, as one writes it.
- *{tight}*: the fastest such loop found. The weights are one more row of the
  matrix, which saves two calls a row; all arguments are positional, which halves a call's cost.
- *{polars}* starts anew with every call, and its fitted values have seen their own target.
- *{linear}* and *{sgd}* are first-order: O(d) a row, and not
  least squares.
- *{peak}*: fused multiply-adds alone, at 3 d^2 flops a row.

The automatic learner's speed, and other stream learners': [results-peers](results-peers.md).
"""


# -- tables ---------------------------------------------------------------------------------------


def markdown(results: Results) -> str:
    introduction = INTRODUCTION.format(
        plain=PLAIN, tight=TIGHT, polars=POLARS, linear=RIVER_LINEAR, sgd=SGD, peak=PEAK
    )
    speed = results.speed
    sections = [
        introduction,
        "## Rows per second",
        grid(speed, "d =", quantity),
        "## How many times as fast as its peers",
        *(against_peers(speed, ours) for ours in PEERS_OF),
        "## Share of the FMA peak",
        grid(ratios(speed, {ours: (ours, PEAK) for ours in PEERS_OF}), "d =", "{:.0%}".format),
        "## Targets",
        targets(speed),
        "## One call with one row, microseconds",
        grid(results.calls, "d =", significant),
        "## Cost of a row with m outputs, in units of a row with one",
        grid(results.outputs, "m, d =", "{:.2f}".format),
        "## Nanoseconds per row of one call with n rows (arrays)",
        grid(results.rows, "n, d =", significant),
        "## Resident memory after n rows of 10 features, MB",
        grid(results.memory, "n", "{:.1f}".format),
        "## Machine and versions",
        machine(PACKAGES),
    ]
    return "\n\n".join(section.strip() for section in sections if section) + "\n"


def grid(table: Table, corner: str, show: Callable[[float], str]) -> str:
    names = list(dict.fromkeys(name for name, _ in table))
    columns = list(dict.fromkeys(column for _, column in table))
    lines = [[corner, *map(label, columns)]]
    for name in names:
        cells = (table.get((name, column)) for column in columns)
        lines.append([label(name), *("-" if cell is None else show(cell) for cell in cells)])
    return aligned(lines)


def aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(
        f"| {first.ljust(widths[0])} | "
        + " | ".join(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        + " |"
        for first, *rest in (lines[0], rule, *lines[1:])
    )


def label(key: object) -> str:
    return f"{key:,}" if isinstance(key, int) else str(key)


def significant(value: float) -> str:
    """Two digits at least, no exponent."""
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.{2 if value < 9.95 else 1}f}"


def quantity(value: float) -> str:
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def against_peers(speed: Table, ours: str) -> str:
    table = ratios(speed, {f"/ {peer}": (ours, peer) for peer in PEERS_OF[ours]})
    return f"{ours}:\n\n" + grid(table, "d =", significant)


def ratios(speed: Table, pairs: dict[str, tuple[str, str]]) -> Table:
    """For each name: how many times as fast the first of its two contenders is."""
    return {
        (name, d): speed[ours, d] / speed[peer, d]
        for name, (ours, peer) in pairs.items()
        for d in dict.fromkeys(d for _, d in speed)
        if (peer, d) in speed
    }


def targets(speed: Table) -> str:
    lines = [["ratio", "d", "at least", "measured", "met"]]
    for target in TARGETS:
        for d, at_least in target.at_least.items():
            if (target.peer, d) not in speed:
                continue
            ratio = speed[target.ours, d] / speed[target.peer, d]
            lines.append(
                [
                    f"{target.ours} / {target.peer}",
                    str(d),
                    f"{at_least:g}",
                    significant(ratio),
                    "yes" if ratio >= at_least else "NO",
                ]
            )
    return aligned(lines)


# -- CSV ------------------------------------------------------------------------------------------


def write_csv(results: Results, path: Path) -> None:
    kinds = {
        "speed": ("rows per second", "d"),
        "calls": ("microseconds per call", "d"),
        "outputs": ("cost in units of one output", "d"),
        "rows": ("nanoseconds per row", "d"),
        "memory": ("MB", ""),
    }
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["table", "name", "d", "value", "unit"])
        for kind, (unit, column) in kinds.items():
            for (name, d), value in getattr(results, kind).items():
                writer.writerow([kind, name, d if column else "", f"{value:.6g}", unit])


# -- picture --------------------------------------------------------------------------------------

# Okabe and Ito's colours, told apart by people with any kind of colour vision.
BLUE, ORANGE, GREEN, PURPLE, SKY, RED, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#777777",
)
LINES = {
    ARRAY: (RED, "-", "o"),
    ROW: (RED, "--", "s"),
    RIVER: (RED, ":", "D"),
    TIGHT: (BLUE, "-", "^"),
    PLAIN: (BLUE, "--", "v"),
    POLARS: (GREEN, "-", "P"),
    RIVER_LINEAR: (ORANGE, "-", "X"),
    RIVER_BAYES: (ORANGE, "--", "d"),
    PADASIP: (PURPLE, "-", "p"),
    SGD: (GREY, "-", "h"),
}


def plot(results: Results, path: Path) -> None:
    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(12, 9.5), layout="constrained")
        main, below = figure.subfigures(2, 1, height_ratios=(1.75, 1))
        plot_speed(main.add_subplot(), results.speed)
        peak, outputs, rows = below.subplots(1, 3)
        plot_peak(peak, results.speed)
        plot_lines(outputs, results.outputs, "outputs", "Cost of a row, one output = 1")
        plot_lines(rows, results.rows, "rows in the call", "Nanoseconds per row, arrays")
        rows.set_yscale("log")
        figure.savefig(path, dpi=120)


def plot_speed(axes: Axes, speed: Table) -> None:
    ends = {}
    for name, (colour, dash, marker) in LINES.items():
        points = series(speed, name)
        ours = name in PEERS_OF
        axes.loglog(
            *zip(*points, strict=True),
            color=colour,
            linestyle=dash,
            marker=marker,
            markersize=5,
            linewidth=2.4 if ours else 1.3,
        )
        ends[name] = points[-1]
    limit = [point for point in series(speed, PEAK) if point[0] >= 50]
    if limit:
        axes.loglog(*zip(*limit, strict=True), color="black", linewidth=0.8)
        axes.annotate(
            f"{PEAK}, 3d² flops a row",
            limit[0],
            xytext=(6, 2),
            textcoords="offset points",
        )
    for name, at in spread({name: y for name, (_, y) in ends.items()}):
        x, y = ends[name]
        axes.annotate(
            name,
            (x, y),
            xytext=(x * 1.25, at),
            va="center",
            color=LINES[name][0],
            fontweight="bold" if name in PEERS_OF else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": LINES[name][0],
                "linewidth": 0.6,
                "relpos": (0, 0.5),
                "shrinkA": 0,
            },
        )
    dimensions = [x for x, _ in series(speed, ARRAY)]
    axes.set_xticks(dimensions, [f"{d:g}" for d in dimensions])
    axes.minorticks_off()
    axes.set_xlim(right=dimensions[-1] * 4.5)
    axes.set_xlabel("features d")
    axes.set_title("Rows predicted and learned per second, one core", loc="left")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def plot_peak(axes: Axes, speed: Table) -> None:
    shares = [
        (d, value / speed[PEAK, d]) for d, value in series(speed, ARRAY) if (PEAK, d) in speed
    ]
    bars = axes.bar([f"{d:g}" for d, _ in shares], [100 * share for _, share in shares], color=RED)
    axes.bar_label(bars, fmt="%.0f %%", padding=2)
    axes.set_xlabel("features d")
    axes.set_title("Share of the FMA peak, arrays", loc="left")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def plot_lines(axes: Axes, table: Table, xlabel: str, title: str) -> None:
    """One line for each d, named at its end."""
    for colour, d in zip((RED, BLUE, GREEN), dict.fromkeys(d for _, d in table), strict=False):
        points = [(x, value) for (x, other), value in table.items() if other == d]
        axes.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=4)
        axes.annotate(
            f"d = {d}",
            points[-1],
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
    axes.set_xscale("log")
    axes.set_xlabel(xlabel)
    axes.set_title(title, loc="left")
    ticks = list(dict.fromkeys(x for x, _ in table))
    axes.set_xticks(ticks, [quantity(x) for x in ticks])
    axes.minorticks_off()
    axes.set_xlim(right=ticks[-1] * (ticks[-1] / ticks[0]) ** 0.2)  # room for the names


def series(table: Table, name: str) -> list[tuple[float, float]]:
    return [(d, value) for (other, d), value in table.items() if other == name]


def spread(heights: dict[str, float], factor: float = 1.75) -> Iterator[tuple[str, float]]:
    """Heights of labels on a logarithmic axis, each at least `factor` above the one below."""
    lowest = 0.0
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        lowest = max(height, lowest * factor)
        yield name, lowest
