"""What a person reads of a record: tables in Markdown, and the short form for other pages."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from functools import partial

from dfop.paper.run import table

from .chance import BETTER, CHANCE, LEAST_ROWS, MOST_BLOCKS, WORSE
from .record import Entry
from .roster import BANK, FAMILY_SYSTEMS, OURS, SYSTEMS
from .rows import KINDS_OF_FAMILIES
from .summary import Contest, Rival, contests, counts, not_run, peers_of, rows_seen
from .systems import System

MARKS = {BETTER: "●", CHANCE: "○", WORSE: "▲"}
KINDS = (
    "no-change", "majority", "linear", "naive Bayes", "kNN", "LeveragingBagging", "ARF10", "ARF100",
    "SRP10", "boosting", "others", "LightGBM",
)  # fmt: skip
"""Columns of the table of streams; of each kind the best in hindsight is shown."""
SPEED_ON = "Electricity"
IN_SHORT = {
    "no-change": "saying the last label or value again",
    "LightGBM, retrained": "LightGBM, retrained every 250 rows on the last 5,000",
    "CapyMOA ARF10": "CapyMOA's adaptive random forest, 10 trees",
    "CapyMOA SRP10": "CapyMOA's streaming random patches, 10 trees (labels)",
    "CapyMOA LeveragingBagging": "CapyMOA's leveraging bagging, 10 trees (labels)",
}
"""Peers that the short form names, beside the best of all in hindsight."""

HOW_TO_READ = f"""\
Every row is predicted before its label is seen, by everyone, and everyone sees the same rows: \
{{rows}} of each stream (all of it where there are fewer), in their order. Accuracy in percent \
over all of them, or the mean squared error x 100.

{MARKS[BETTER]} ours is better, {MARKS[CHANCE]} the difference is within chance, {MARKS[WORSE]} \
the peer is better: Student's t-test, 5 %, on the paired differences of block means (at most \
{MOST_BLOCKS} blocks, of at least {LEAST_ROWS} rows). Of many comparisons one in twenty is \
called a difference by chance alone, and "the best in hindsight" is picked after the race, which \
favours it."""


def shown(entry: Entry) -> str:
    """Write a score with the digits of its measure."""
    if entry.task == "labels":
        return f"{entry.score:.2f}"
    return f"{entry.score:.4f}" if entry.score < 10 else f"{entry.score:.4g}"


def cell(rival: Rival | None, named: bool = False) -> str:
    """Write a peer's score with its mark; with its name and form if wanted."""
    if rival is None:
        return ""
    form = f", {rival.entry.form}" if rival.entry.form else ""
    name = f" {rival.peer}{form}" if named else ""
    return f"{shown(rival.entry)} {MARKS[rival.difference.verdict]}{name}"


def in_short(found: Sequence[Contest]) -> str:
    """Lay out how often ours was better than the peers that matter most."""
    lines = [
        _count_line(f"the best of {len(peers_of(found))} peers, picked for each stream", found)
    ]
    for peer, about in IN_SHORT.items():
        if some := [one for one in found if peer in one.rivals]:
            lines.append(_count_line(about, some, peer))
    about = f"dfop with no argument, on {rows_seen(found)} of each stream, against"
    return table([about, "streams", BETTER, CHANCE, WORSE], lines)


def _count_line(about: str, some: Sequence[Contest], peer: str | None = None) -> list[str]:
    found = counts(some, lambda one: one.rivals.get(peer) if peer else one.best())
    return [about, str(len(some)), *map(str, found)]


def streams_table(found: Sequence[Contest]) -> str:
    """Lay out stream by stream: ours, the best peer, and the best of each kind."""
    kinds = [kind for kind in KINDS if any(one.best(kind) for one in found)]
    return table(
        ["stream", "rows", "dfop", "best peer", *kinds],
        [
            [one.stream, f"{one.ours.rows:,}", f"**{shown(one.ours)}**", cell(one.best(), True),
             *(cell(one.best(kind)) for kind in kinds)]
            for one in found
        ],
    )  # fmt: skip


def peers_table(found: Sequence[Contest]) -> str:
    """Lay out peer by peer: counts and time; of labels also its mean accuracy beside ours."""
    labels = found[0].labels
    lines = []
    for peer in peers_of(found):
        some = [one for one in found if peer in one.rivals]
        theirs = [one.rivals[peer].entry for one in some]
        line = [peer, str(len(some))]
        if labels:  # errors of different streams have no mean
            line += [
                f"{statistics.fmean(entry.score for entry in entries):.2f}"
                for entries in (theirs, [one.ours for one in some])
            ]
        time = statistics.median(entry.us_per_row for entry in theirs)
        lines.append([*line, _verdicts(some, peer), micro(time)])
    means = ["mean score", "ours there"] if labels else []
    verdicts = f"ours {BETTER} / {CHANCE} / {WORSE}"
    return table(["peer", "streams", *means, verdicts, "us a row, median"], lines)


def micro(time: float) -> str:
    """Write microseconds."""
    return f"{time:,.0f}" if time >= 100 else f"{time:.2g}"


def speed_table(entries: Sequence[Entry], stream: str) -> str:
    """Lay out what a row costs on one stream, and how many times that is ours."""
    some = [entry for entry in entries if entry.stream == stream]
    ours = next(entry.us_per_row for entry in some if entry.system == OURS)
    name = {(e.system, e.form): f"{e.system}, {e.form}" if e.form else e.system for e in some}
    return table(
        ["system", "accuracy, %", "us a row", "times ours"],
        [
            [name[e.system, e.form], shown(e), micro(e.us_per_row), f"{e.us_per_row / ours:.2g}"]
            for e in sorted(some, key=lambda entry: entry.us_per_row)
        ],
    )


def versions(entries: Sequence[Entry]) -> str:
    """List the libraries and their versions."""
    return ", ".join(dict.fromkeys(f"{entry.library} {entry.version}" for entry in entries))


def left_out(entries: Sequence[Entry], systems: Iterable[System]) -> list[str]:
    """Say who was not run where: a paragraph and a list, or nothing."""
    lines = [
        f"- {name}: ran on {ran} of {ran + len(left)} streams"
        + (f", not on {', '.join(left)}" if len(left) <= 3 else "")
        for name, (ran, left) in not_run(entries, systems).items()
    ]
    if not lines:
        return []
    return [
        "Not run everywhere, because a row takes them milliseconds, or tens of them where there "
        "are many columns or classes (an empty cell):",
        "\n".join(lines),
    ]


def paper_page(entries: Sequence[Entry], where: str) -> str:
    """Compose the page on the paper's streams."""
    found = contests(entries)
    labelled = [one for one in found if one.labels]
    numbers = [one for one in found if not one.labels]
    rows = rows_seen(found)
    parts = [
        f"# The default against other stream learners, on {rows} of each stream",
        "Written by `make peers`; every score is in `results-peers.csv`.",
        HOW_TO_READ.format(rows=rows),
        f"## In short ({rows})",
        in_short(found),
        f"## Labels: accuracy in percent ({rows})",
        "Of each kind the best in hindsight, whichever library and form it has. *Linear*: River's "
        "LogisticRegression, PassiveAggressive and ALMA, each raw and behind a `StandardScaler`, "
        "the better of both; *others*: Hoeffding trees and DWM.",
        streams_table(labelled),
        f"## Numbers: mean squared error x 100 ({rows})",
        "Features and target are scaled to [0, 1] over the whole file, as the paper's were. "
        "*Majority* is the running mean, *SRP10* River's random patches and CapyMOA's SOKNL. A "
        "linear model that diverges is shown as it is.",
        streams_table(numbers),
        f"## Peer by peer, labels ({rows})",
        peers_table(labelled),
        f"## Peer by peer, numbers ({rows})",
        peers_table(numbers),
        f"## What a row costs on {SPEED_ON}",
        "Microseconds of processor time of the whole process (Java's compiler and collector "
        "included), one thread, on a machine that others used too: ratios say more than times. "
        f'*{BANK}* is `features="linear"`.',
        speed_table(entries, SPEED_ON),
        "## Who takes part",
        "CapyMOA's learners at their defaults on raw features, ensembles of ten unless the name "
        "says otherwise; River's at their defaults. LightGBM with its defaults is trained after "
        "every 250 rows on the last 5,000 and predicts the next 250; before its first training "
        "it says the most frequent label, or the mean.",
        *left_out(entries, SYSTEMS),
        f"{versions(entries)}. {where}.",
    ]
    return "\n\n".join(parts) + "\n"


def families_page(entries: Sequence[Entry], where: str) -> str:
    """Compose the page on generated families."""
    found = contests(entries)
    rows = rows_seen(found)
    peers = peers_of(found)
    of_kind = {
        kind: [one for one in found if one.stream.rpartition(" ")[0] in families]
        for kind, families in KINDS_OF_FAMILIES.items()
    }
    lines = [
        [kind, str(len(some)), *(_verdicts(some, peer) for peer in peers)]
        for kind, some in of_kind.items()
        if some
    ]
    parts = [
        f"# The default against other stream learners, on {rows} of generated families",
        "Written by `make peers`; every score is in `results-families.csv`. The families are those "
        "of `families.py`; a stream has the name of its family and a seed.",
        HOW_TO_READ.format(rows=rows),
        f"## In short ({rows})",
        f"Streams on which ours is {BETTER} / {CHANCE} / {WORSE}:",
        table(["family", "streams", *peers], lines),
        *_lost(found),
        f"## Every stream: accuracy in percent ({rows})",
        table(
            ["family and seed", "dfop", *peers],
            [
                [one.stream, f"**{shown(one.ours)}**",
                 *(cell(one.rivals.get(peer)) for peer in peers)]
                for one in found
            ],
        ),
        *left_out(entries, FAMILY_SYSTEMS),
        f"{versions(entries)}. {where}.",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _verdicts(some: Sequence[Contest], peer: str) -> str:
    return " / ".join(map(str, counts(some, partial(_rival, peer))))


def _rival(peer: str, one: Contest) -> Rival | None:
    return one.rivals.get(peer)


def _lost(found: Sequence[Contest]) -> list[str]:
    """Say on which streams which peers are better."""
    lines = [
        f"- {one.stream}: dfop {shown(one.ours)}, {rival.peer} {shown(rival.entry)}"
        for one in found
        for rival in one.rivals.values()
        if rival.difference.verdict == WORSE
    ]
    return ["Where a peer is better than ours, beyond chance:", "\n".join(lines) or "- nowhere."]
