"""The options of ``dfop learn``, beside those that other commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .config import ConfigOption

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Files of the same columns in their order, a folder of Parquet, or -.",
    ),
]
TargetColumn = Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
ModelFile = Annotated[Path | None, typer.Option(help="Save the model here.", dir_okay=False)]
PredictionsFile = Annotated[
    str | None, typer.Option(help="FILE.parquet, .csv or .jsonl; - for CSV on stdout.")
]
ReportFile = Annotated[Path | None, typer.Option(help="Write a page here (HTML).", dir_okay=False)]
MetricsFile = Annotated[
    Path | None, typer.Option(help="Keep figures here (Prometheus text).", dir_okay=False)
]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]
ForgettingRule = Annotated[
    str, typer.Option(help="auto, few, mu (0.001), period=1000, half-life=3d.")
]
Lags = Annotated[
    int, typer.Option(min=0, max=1000, help="How many of the last labels are features.")
]
DelayOfLabels = Annotated[
    str | None, typer.Option(help="When labels are known: after ROWS or a DURATION (3d).")
]
LabelsFile = Annotated[
    Path | None, typer.Option(help="Labels in a file of their own; needs --id and --time.")
]
IdColumn = Annotated[
    str | None, typer.Option("--id", help="The column that names a row; no feature.")
]
KeyColumn = Annotated[
    str | None, typer.Option("--key", help="A model for each value of this column; no feature.")
]
ExpireKeys = Annotated[
    str | None, typer.Option("--expire", help="Give up keys idle for ROWS or a DURATION (30d).")
]
SharedModel = Annotated[
    bool, typer.Option("--shared", help="Let a model of all keys come before theirs.")
]
PendingLimit = Annotated[int, typer.Option(min=1, help="How many rows may wait for their label.")]
BadRowsAndFile = Annotated[
    str, typer.Option(help="What to do with bad rows: fail, skip or quarantine=FILE.")
]
MaxBad = Annotated[
    str | None, typer.Option(help="Bad rows that are too many: a share (0.01) or a number.")
]
CheckpointFolder = Annotated[
    Path | None, typer.Option(help="Keep in this folder what is needed to go on.")
]
Every = Annotated[
    str, typer.Option(help="How often to keep it: ROWS (100000) or a DURATION (30s).")
]
Skip = Annotated[int, typer.Option(min=0, help="Rows of the source to leave out first.")]
ProgressAsJson = Annotated[
    bool, typer.Option("--progress-json", help="Progress as JSON lines on stderr.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no words.")]
Config = Annotated[Path | None, ConfigOption]
