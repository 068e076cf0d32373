"""What a run is asked to do, as far as it decides what is learned and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from dfop.evaluation.delay import check_delay
from dfop.forgetting import Automatic, Few, Forgetting, as_rule, half_life, period, seconds_of


@dataclass(frozen=True)
class Options:
    """The options of a run; those of `dfop learn` have the same names.

    Parameters
    ----------
    sources : tuple of str
        Files in their order, or "-" for standard input.
    target : str
        The column to predict.
    task, time, features, ignore, text, classes, format, separator
        As in `dfop.streams.read`; `text` names columns that hold text.
    forgetting : str
        "auto", "few", mu, "period=1000", "half-life=3d".
    lags : int
        How many of the last labels are features.
    delay : str, optional
        Rows or a duration after which labels are known.
    labels, id : str, optional
        A file of labels, and the column that says to which row each belongs.
    key : str, optional
        The column that says to which of many models a row belongs.
    expire : str, optional
        Rows or a duration after which the model of an idle key is given up.
    shared : bool
        Whether a model of all keys comes before theirs.
    pending_limit : int
        How many rows may wait for their label.
    bad_rows : {"fail", "skip", "quarantine"}
        What to do with bad rows.
    quarantine : str, optional
        The file in which they are put aside.
    max_bad : float or int, optional
        How many are too many.
    predictions : str, optional
        A file for the predictions, or "-".

    Examples
    --------
    >>> options = Options(("log.csv",), "price", lags=2)
    >>> options.changed_since({**options.state(), "lags": 0})
    ['--lags was 0 and is 2']
    """

    sources: tuple[str, ...]
    target: str
    task: str | None = None
    time: str | None = None
    features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    format: str | None = None
    separator: str | None = None
    forgetting: str = "auto"
    lags: int = 0
    delay: str | None = None
    labels: str | None = None
    id: str | None = None
    key: str | None = None
    expire: str | None = None
    shared: bool = False
    pending_limit: int = 100_000
    bad_rows: str = "fail"
    quarantine: str | None = None
    max_bad: float | int | None = None
    predictions: str | None = None

    def __post_init__(self) -> None:
        self.rule  # noqa: B018
        if self.delay is not None:
            check_delay(delay_of(self.delay), clocked=self.time is not None)
        if self.labels is not None and (self.id is None or self.time is None):
            raise ValueError(
                "labels in a file of their own need --id, the column that says to which row each "
                "belongs, and --time, when rows and labels came"
            )
        if self.labels is not None and self.delay is not None:
            raise ValueError("--delay and --labels exclude each other: labels have their own time")
        if self.key is None and (self.expire is not None or self.shared):
            raise ValueError("--expire and --shared are of models by key: name the column, --key")
        if self.key is not None and self.key in (self.id, self.time, self.target):
            raise ValueError(f"the key {self.key!r} is also the id, the time or the target")
        if "-" in self.sources and len(self.sources) > 1:
            raise ValueError("standard input cannot be one of several sources")

    @property
    def rule(self) -> Forgetting:
        """The rule of forgetting."""
        return forgetting_of(self.forgetting)

    @property
    def late(self) -> bool:
        """Whether labels come late."""
        return self.labels is not None or self.delay is not None

    def state(self) -> dict[str, Any]:
        """Return the options for JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def changed_since(self, before: Mapping[str, Any]) -> list[str]:
        """Say which options differ from those of a run before; further files are no difference."""
        now = self.state()
        known = before.get("sources", [])
        if now["sources"][: len(known)] == known:
            now["sources"] = known
        names = {field.name for field in fields(self)} | set(before)
        return [
            f"{_option(name)} was {_shown(before.get(name))} and is {_shown(now.get(name))}"
            for name in sorted(names)
            if before.get(name) != now.get(name)
        ]


def _option(name: str) -> str:
    return "SOURCE" if name == "sources" else f"--{name.replace('_', '-')}"


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def forgetting_of(text: str) -> Forgetting:
    """Read a rule of forgetting as it is written on a command line.

    Examples
    --------
    >>> forgetting_of("0.001"), forgetting_of("half-life=3d").period
    (ByRows(mu=0.001), 373946.55)
    """
    if text == "auto":
        return Automatic()
    if text == "few":
        return Few()
    kind, equals, length = text.partition("=")
    if equals and kind in ("period", "half-life"):
        made = period if kind == "period" else half_life
        try:
            return made(float(length))
        except ValueError:
            if length.replace(".", "", 1).isdigit():
                raise
            return made(length)
    try:
        return as_rule(float(text))
    except ValueError as error:
        if "must be in" in str(error):
            raise
        raise ValueError(
            f"forgetting {text!r}: write auto, few, a number from 0 up to 1 (mu), period=1000 "
            "or half-life=3d"
        ) from None


def classes_of(names: tuple[str, ...]) -> tuple[Any, ...]:
    """Read the names of classes: whole numbers where all of them are.

    Examples
    --------
    >>> classes_of(("0", "1")), classes_of(("0", "one"))
    ((0, 1), ('0', 'one'))
    """
    try:
        return tuple(int(name) for name in names)
    except ValueError:
        return names


def delay_of(text: str, *, in_seconds: bool = False) -> int | float | str:
    """Read a delay: whole numbers are rows, others durations such as "3d".

    Parameters
    ----------
    text : str
        What was given.
    in_seconds : bool
        Whether times are numbers of seconds, so that the duration must be one.

    Examples
    --------
    >>> delay_of("100"), delay_of("3d"), delay_of("3d", in_seconds=True)
    (100, '3d', 259200.0)
    """
    if text.isdigit():
        return int(text)
    seconds = seconds_of(text)
    return seconds if in_seconds else text
