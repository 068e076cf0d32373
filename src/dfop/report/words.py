"""What the figures say, in sentences: the headings of the page."""

from __future__ import annotations

from typing import Any

from .text import marked_up, number, percent


def error_words(summary: dict[str, Any]) -> str:
    """Say how good the model is, against no-change.

    Parameters
    ----------
    summary : dict
        Of a `History`.

    Returns
    -------
    str

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("classification")
    >>> history.add(["a", "b", "a", "b"], ["a", "b", "a", "a"])
    >>> error_words(history.summary())
    'Right on 75.0 % of the rows; repeating the last label is right on 0 %'
    """
    error = summary["error"]
    if summary["task"] == "classification":
        right = percent(_rest(error["overall"]))
        last = percent(_rest(error["no_change"]))
        return f"Right on {right} of the rows; repeating the last label is right on {last}"
    off = f"Off by {number(error['absolute'])} on average"
    if error["no_change_absolute"] is None:
        return off
    return f"{off}; repeating the last value is off by {number(error['no_change_absolute'])}"


def verdict_words(summary: dict[str, Any]) -> str:
    """Say whether the model is worth it: its error against the better of its two rivals.

    Numbers are compared by how far they are off, which is what the sentence before tells, and by
    squared errors, which is what the model makes small.

    Examples
    --------
    >>> from dfop.report import History
    >>> history = History("regression")
    >>> history.add([0.0, 2.0, 0.0, 2.0], [0.0, 2.0, 0.0, 1.0])
    >>> verdict_words(history.summary())
    'That is 82.7 % less than the mean so far, the better of two simple rivals (squared: 88.9 %).'
    """
    error = summary["error"]
    overall = error["overall"]
    name = "the majority class" if summary["task"] == "classification" else "the mean so far"
    known = _known({"no-change": error["no_change"], name: error["simple_overall"]})
    if overall is None or not known:
        return "There are too few rows to compare it with simple rivals."
    best = min(known, key=lambda rival: known[rival])
    least = known[best]
    if least == 0.0:
        return f"No model can do better than {best} here: it makes no error."
    gain = 1.0 - overall / least
    better = f"the better of {'two' if len(known) == 2 else 'the known'} simple rivals"
    if gain == 0:
        return f"That is as good as {best}, {better}."
    if gain < 0:
        more = f"{percent(-gain)} more error{'' if error.get('absolute') is None else ' (squared)'}"
        return f"That is {more} than {best}, {better}: the model is not worth it."
    absolute = error.get("absolute")
    off = _known({"no-change": error.get("no_change_absolute"), name: error.get("simple_absolute")})
    if absolute is None or not off:
        return f"That is {percent(gain)} less error than {best}, {better}."
    nearest = min(off, key=lambda rival: off[rival])
    if absolute >= off[nearest]:  # the mean absolute error says the opposite of the squared one
        return (
            f"Where large errors count more, it has {percent(gain)} less error (squared) than "
            f"{best}, {better}."
        )
    less = percent(1.0 - absolute / off[nearest])
    return f"That is {less} less than {nearest}, {better} (squared: {percent(gain)})."


def _known(errors: dict[str, float | None]) -> dict[str, float]:
    return {rival: error for rival, error in errors.items() if error is not None}


def forgetting_words(summary: dict[str, Any], moving: bool) -> str:
    """Say how far back the model looks.

    Examples
    --------
    >>> forgetting_words({"forgetting": {"mu": 0.001, "period": 1000.0}}, False)
    'It looks back about 1,000 rows, as it was told'
    """
    mu, period = summary["forgetting"]["mu"], summary["forgetting"]["period"]
    if mu is None:
        return "How fast it forgets is not known"
    if period is None:
        return "It forgets nothing now" if moving else "It forgets nothing, as it was told"
    rows = f"{float(f'{period:.2g}'):,.0f}"
    return (
        f"It looks back about {rows} rows now"
        if moving
        else f"It looks back about {rows} rows, as it was told"
    )


def alarm_words(summary: dict[str, Any]) -> str:
    """Say how many sudden changes there were.

    Examples
    --------
    >>> alarm_words({"alarms": {"count": 0}})
    'No sudden change was found'
    """
    count = summary["alarms"]["count"]
    if count == 0:
        return "No sudden change was found"
    return "One sudden change was found" if count == 1 else f"{count:,} sudden changes were found"


def feature_words(summary: dict[str, Any]) -> str:
    """Say which features matter, as markup.

    Examples
    --------
    >>> feature_words({"features": [{"name": "<b>", "share": 0.7}, {"name": "y", "share": 0.3}]})
    '<q>&lt;b&gt;</q> matters most now, then <q>y</q>'
    """
    features = summary["features"]
    if not features:
        return "Which features matter is not known"
    words = f"<q>{marked_up(features[0]['name'], 40)}</q> matters most now"
    if len(features) > 1:
        words += f", then <q>{marked_up(features[1]['name'], 40)}</q>"
    return words


def calibration_words(calibration: dict[str, Any]) -> str:
    """Say whether probabilities come true.

    Examples
    --------
    >>> calibration_words({"error": 0.012, "mean_probability": 0.9, "right": 0.91})
    'Probabilities come true: they are off by 1.2 % on average'
    """
    error = calibration["error"]
    off = f"they are off by {percent(error)} on average"
    if error is not None and error < 0.03:
        return f"Probabilities come true: {off}"
    too = "sure" if calibration["mean_probability"] > calibration["right"] else "modest"
    return f"Probabilities are too {too}: {off}"


def coverage_words(coverage: dict[str, Any]) -> str:
    """Say whether intervals hold what they promise.

    Examples
    --------
    >>> coverage_words({"wanted": 0.9, "overall": 0.897})
    'Intervals that shall hold 90.0 % of the targets hold 89.7 %'
    """
    wanted, overall = percent(coverage["wanted"]), percent(coverage["overall"])
    return f"Intervals that shall hold {wanted} of the targets hold {overall}"


def bad_words(summary: dict[str, Any]) -> str:
    """Say how many rows were bad.

    Examples
    --------
    >>> bad_words({"bad_rows": {"total": 3}})
    '3 rows were bad and were not learned'
    """
    total = summary["bad_rows"]["total"]
    if total == 0:
        return "No row was bad"
    return f"{total:,} row{' was' if total == 1 else 's were'} bad and were not learned".replace(
        "was bad and were", "was bad and was"
    )


def _rest(share: float | None) -> float | None:
    return None if share is None else 1.0 - share
