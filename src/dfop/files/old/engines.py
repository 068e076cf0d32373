"""Filters and banks of formats 1 and 2 as they are now."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dfop.core import Filter, restore_bank, restore_filter
from dfop.engines import Engine
from dfop.engines.build import PRIOR_VARIANCE
from dfop.files.container import Tensors
from dfop.files.engine import read_design, read_prior
from dfop.files.values import Reading

from .numbers import bank_fields, filter_fields, fresh_output


def old_engine(old: Any, targets: list[Any], width: int, *, grows: bool = False) -> Engine:
    """Make the engine; `grows`: of River's classes, an output each and none to spare."""
    settings = old.settings
    intercept = bool(settings.fit_intercept)
    cap = math.inf if settings.cap is None else float(settings.cap)
    outputs = sum(count for _, count in targets)
    if not settings.several_experts:
        fields = filter_fields(old.state["filter"], old.reading)
        Filter.check_state(width, outputs, intercept, fields)
        prior = PRIOR_VARIANCE if settings.prior_variance is None else settings.prior_variance
        if grows:
            fields, outputs = _with_margin(fields)
        return restore_filter(width, outputs, intercept, float(prior), cap, fields)
    described = old.state["bank"]
    maps, experts = read_design(described, settings, width)
    fields = bank_fields(described, old.reading, width, targets)
    if grows:
        fields = _with_spare(fields, outputs, len(experts))
        targets = [("one_hot", outputs + 1)]
    prior = read_prior(described["prior"], settings)
    relative = settings.prior_variance is None
    return restore_bank(width, targets, maps, experts, intercept, prior, relative, cap, fields)


def is_fresh(old: Any) -> bool:
    """Whether River's filter for one number and no column has not learned anything."""
    settings = old.settings
    prior = PRIOR_VARIANCE if settings.prior_variance is None else float(settings.prior_variance)
    cap = math.inf if settings.cap is None else float(settings.cap)
    fresh = Filter(0, 1, bool(settings.fit_intercept), prior, cap).state()
    now = filter_fields(old.state["filter"], Reading(old.reading.left))
    del fresh["limited_rows"]  # which those files do not tell
    return all(np.array_equal(now[name], values) for name, values in fresh.items())


def _with_margin(fields: Tensors) -> tuple[Tensors, int]:
    """Add an output for the next class and, of two classes, one for their margin.

    What a filter predicts is linear in its targets, so the margin is the difference of the outputs.
    """
    weights = fields["weights"]
    n, d = weights.shape
    rows = [weights, np.zeros((1, d))]
    if n <= 2:
        rows.insert(0, weights[1:2] - weights[:1] if n == 2 else -weights[:1])
    now = np.vstack(rows)
    return {**fields, "weights": now}, len(now)


def _with_spare(fields: Tensors, outputs: int, experts: int) -> Tensors:
    """Add an output for the next class."""
    grown = {f"output {outputs}/{name}": part for name, part in fresh_output(experts).items()}
    for k in range(experts):
        weights = fields[f"expert {k}/weights"]
        grown[f"expert {k}/weights"] = np.vstack([weights, np.zeros((1, weights.shape[1]))])
    return {**fields, **grown}
