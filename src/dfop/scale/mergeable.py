"""What can be merged: rows of numbers, settings without a combination, filters on numbers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from dfop.core import Filter
from dfop.engines.build import PRIOR_VARIANCE
from dfop.engines.limits import LARGEST_VARIANCE, Bounds
from dfop.model.label_targets import LabelTarget
from dfop.model.model import Model
from dfop.model.settings import Settings
from dfop.model.targets import NumberTarget
from dfop.rows.batch import Batch
from dfop.rows.numbers_only import refuse_all_but_numbers
from dfop.rows.tables import first_batch


def rows_of(X: Any) -> Batch:
    """Read rows of numbers; there may be none."""
    shape = getattr(X, "shape", None) or (len(X) if hasattr(X, "__len__") else None,)
    if shape[0] == 0:
        names = list(getattr(X, "columns", ()))
        d = np.shape(X)[1] if np.ndim(X) == 2 else 0
        if d == 0:
            raise ValueError(
                "X has no rows and no columns: a part without rows is merged by its columns, give "
                "np.empty((0, columns))"
            )
        named = names and all(isinstance(name, str) for name in names)
        return Batch(np.zeros((0, d)), False, names=tuple(names) if named else None)
    batch = first_batch(X)
    refuse_all_but_numbers(batch)
    return batch


def prior_of(settings: Settings) -> float:
    """Return the variance of a weight before any row."""
    given = settings.prior_variance
    return PRIOR_VARIANCE if given is None else float(given)


def cap_of(settings: Settings) -> float:
    """Return how uncertain forgetting may make a weight."""
    return LARGEST_VARIANCE if settings.cap is None else float(settings.cap)


def bounds_of(settings: Settings) -> Bounds:
    """Return the limits of filters with these settings."""
    return Bounds(cap_of(settings), prior_of(settings))


def same_classes(a: Any, b: Any) -> bool:
    """Whether two targets have the same classes; numbers have none."""
    return isinstance(a, NumberTarget) or np.array_equal(a.classes, b.classes)


def check_mergeable(model: Model) -> None:
    """Refuse a model that is more than a filter on numbers."""
    if model.settings.storage is not None:
        raise ValueError(f"storage={model.settings.storage} keeps a sketch, which cannot be merged")
    if not isinstance(model.engine, Filter):
        raise ValueError(
            'the experts of "auto" and "few" cannot be merged, since they are combined row by row: '
            "give mu, period(...) or half_life(...)"
        )
    if model.lags is not None or model.transform is not None:
        raise ValueError("a learner with lags or a transformer cannot be merged")
    if model.settings.prior is not None or model.settings.semi:
        raise ValueError(
            "a learner with prior_mean, prior_covariance or rows without a target cannot be merged"
        )
    if model.monitor is not None:
        raise ValueError(
            "a learner with monitor=True cannot be merged, since its monitor judges row by row: "
            "learn the rows without one"
        )
    if model.waiting:
        raise ValueError(
            "rows wait for their label: bring the labels (learn_pending), or forget_pending"
        )
    if not isinstance(model.target, NumberTarget | LabelTarget):
        raise ValueError("a learner of several labels a row cannot be merged: one for each can")
    if set(model.coder.kinds()) != {"number"} or model.coder.width != model.columns:
        raise ValueError("columns with text or gaps cannot be merged: code them as numbers before")


def check_same_settings(a: Settings, b: Settings) -> None:
    """Refuse parts that were learned with different settings; name what differs."""
    differing = [
        f"{name} is {getattr(a, name)} in one part and {getattr(b, name)} in the other"
        for name in (field.name for field in fields(a))
        if getattr(a, name) != getattr(b, name)
    ]
    if differing:
        raise ValueError(
            f"different settings: {'; '.join(differing).replace('rule is', 'forgetting is')}: "
            "learn all parts with the same"
        )


def plain(settings: Settings) -> Settings:
    """Return the settings that parts must share."""
    return Settings.of(
        forgetting=settings.rule,
        fit_intercept=bool(settings.fit_intercept),
        prior_variance=settings.prior_variance,
        cap=settings.cap,
    )
