"""What a model of another library says about itself: whose it is, its task, its name."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.base import is_classifier, is_regressor

from dfop.rows.extras import need

Task = Literal["classification", "regression"]


def is_river(model: Any) -> bool:
    """Tell a River model from the others: it has its own ``clone``.

    Examples
    --------
    >>> from river import naive_bayes
    >>> is_river(naive_bayes.GaussianNB())
    True
    """
    return hasattr(model, "learn_one") and hasattr(model, "clone")


def task_of(model: Any) -> Task | None:
    """Ask the model what it does; None if it does not say.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> task_of(SGDRegressor())
    'regression'
    """
    if is_river(model):
        base = need("river.base", extra="river")
        steps = getattr(model, "steps", None)  # a pipeline is what its last step is
        last = list(steps.values())[-1] if isinstance(steps, dict) else model
        classifier, regressor = isinstance(last, base.Classifier), isinstance(last, base.Regressor)
    elif hasattr(model, "__sklearn_tags__") and not isinstance(model, type):
        classifier, regressor = is_classifier(model), is_regressor(model)
    else:
        return None
    return "classification" if classifier else "regression" if regressor else None


def name_of(model: Any) -> str:
    """Name for tables and plots.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> name_of(SGDRegressor())
    'SGDRegressor'
    """
    steps = getattr(model, "steps", None)
    if is_river(model) and isinstance(steps, dict):
        return " | ".join(str(step) for step in steps)
    return type(model).__name__
