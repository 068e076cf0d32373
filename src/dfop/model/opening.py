"""How a model begins: its engine and its monitor, and a prior that must fit the first rows."""

from __future__ import annotations

from dfop.core import Filter
from dfop.engines import Engine, build_engine
from dfop.engines.prior import Prior, check_sizes, set_prior
from dfop.rows.batch import Batch
from dfop.rows.sparse import SparseBatch

from .label_targets import LabelTarget
from .monitor import LabelMonitor, Monitor, NumberMonitor
from .settings import Settings
from .several_labels import SeveralLabels
from .targets import NumberTarget

Target = NumberTarget | LabelTarget | SeveralLabels


def new_engine(settings: Settings, target: Target, width: int, lag_columns: int) -> Engine:
    """Return an engine that has seen nothing, for rows of `width` columns, some of them lags."""
    engine = build_engine(
        width,
        target.designs(),  # type: ignore[arg-type]
        settings.rule,
        settings.features,
        fit_intercept=bool(settings.fit_intercept),
        prior_variance=settings.largest_prior,
        cap=settings.cap,
        storage=settings.storage,
        guarantee=bool(settings.guarantee),
        own=len(settings.experts or ()),
    )
    prior = settings.prior
    if prior is None:
        return engine
    assert isinstance(engine, Filter)
    mean = prior.mean
    if mean is not None and not target.known and mean.ndim == 2 and len(mean) > 1:
        raise ValueError(
            "prior_mean is of several targets, and the first rows came without any: give the "
            "first rows with their targets"
        )
    set_prior(engine, prior, lag_columns)
    return engine


def new_monitor(target: Target, features: int) -> Monitor:
    """Return a monitor that has seen nothing, of a model with so many coded columns."""
    if isinstance(target, NumberTarget):
        return NumberMonitor(features, target.outputs)
    if isinstance(target, SeveralLabels):
        return LabelMonitor(features, [len(some) for some in target.columns])
    return LabelMonitor(features, [target.calibrated])


def check_columns(prior: Prior, batch: Batch | SparseBatch, constant: bool, *, new: bool) -> None:
    """Refuse columns, the first ones of a `new` model or later ones, that a prior does not fit."""
    if new:
        check_sizes(prior, batch.shape[1], constant)
    if isinstance(batch, SparseBatch):
        return
    count = prior.weights - constant
    text = next((j for j in batch.texts if j < count), None)
    if text is not None:
        name = repr(batch.names[text]) if batch.names else str(text)
        raise ValueError(
            f"column {name} holds text, which has a weight per text: prior_mean and "
            "prior_covariance are of columns of numbers; put texts behind those, or code them "
            "as numbers before"
        )


def check_targets(prior: Prior, target: Target) -> None:
    """Refuse targets that a prior mean does not fit."""
    mean = prior.mean
    if mean is None or not target.known:
        return
    outputs = 1 if mean.ndim == 1 else len(mean)
    if outputs != target.width:
        raise ValueError(
            f"prior_mean is of {outputs} targets but y has {target.width}: give a row of "
            "weights per target"
        )
