"""The table of data sets: what the paper prints, and the streams as they are read."""

import numpy as np

from dfop.streams import catalogue

from . import printed
from .run import Run, table
from .settings import CLASSIFICATION, REGRESSION
from .supply import supply


def datasets(run: Run) -> None:
    """Write the table of streams as read, beside the printed one.

    Parameters
    ----------
    run : Run
        Files ``datasets.csv`` and ``datasets.md`` go into its folder.
    """
    lines = []
    streams = [s for s in (*CLASSIFICATION, *REGRESSION) if not run.only or s.name in run.only]
    for at, stream in enumerate(streams):
        run.tell(f"datasets: {stream.name}", at, len(streams))
        name = stream.name if stream.key else f"{stream.name} (regression)"
        size = printed.sizes()[name]
        supplied = supply(run, stream)
        remark = catalogue()[stream.key].remark if stream.key else "Drawn anew in every trial."
        if supplied is None:
            lines.append([name, size.rows, size.features, "", "", "", "", "left out", remark])
            continue
        rows = supplied.rows
        shares = ""
        if rows.task == "classification":
            counts = np.unique(rows.y, return_counts=True)[1]
            shares = " ".join(f"{100 * c / len(rows.y):.1f}" for c in counts)
        lines.append(
            [
                name, size.rows, size.features, *rows.X.shape, shares,
                len(rows.changes), supplied.source, remark,
            ]
        )  # fmt: skip
    run.tell("datasets", len(streams), len(streams))
    header = ["stream", "paper_rows", "paper_features", "rows", "features", "class_shares",
              "changes", "source", "remark"]  # fmt: skip
    run.write_csv("datasets", header, lines)
    fields = [
        [
            str(line[0]),
            f"{line[1]:,} x {line[2]}",
            f"{line[3]:,} x {line[4]}" if line[3] != "" else "-",
            str(line[5]),
            str(line[6]),
            str(line[7]),
        ]
        for line in lines
    ]
    notes = [f"- **{line[0]}**: {line[8]}" for line in lines if line[8]]
    run.write_markdown(
        "datasets",
        "Data sets",
        [
            table(
                ["stream", "paper", "read", "share of each class, %", "known changes", "source"],
                fields,
            ),
            "\n".join(notes),
        ],
    )
