"""What the learners for River share: one `Model`, fed with dicts."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from river import base

from dfop.forgetting import ByClock
from dfop.insight.views import Insight
from dfop.model.by_name import RowsByName
from dfop.model.label_targets import LabelTarget
from dfop.model.model import Model
from dfop.model.opening import Target
from dfop.model.remembered import PROBABILITIES
from dfop.model.settings import Settings
from dfop.model.sparse_by_name import SparseRowsByName
from dfop.rows.batch import Batch
from dfop.rows.tables import as_batch

Array = NDArray[np.float64]
Row = dict[Any, Any]

_PARAMETERS = (
    "forgetting",
    "features",
    "lags",
    "fit_intercept",
    "prior_variance",
    "cap",
    "pending_limit",
    "monitor",
    "semi",
    "max_features",
    "max_classes",
    "storage",
    "guarantee",
    "experts",
    "threads",
)


class RiverLearner(Insight, base.Estimator):
    """A model fed with dicts."""

    takes_batches = True  # in evaluation: missing values come as None

    _touched: bool
    """Whether a parameter was set since the model was made."""

    def __init__(self, target: Target, **parameters: Any) -> None:
        settings = _settings(parameters)
        for name, value in parameters.items():
            setattr(self, name, value)
        self._use(Model(settings, target, by_name=True))

    def _use(self, model: Model) -> None:
        """Go on with a model."""
        self._model = model
        self._rows = _rows_of(model)
        self._made_with = self._parameters()
        self._touched = False
        self._speed_up()

    def _speed_up(self) -> None:
        """Let compiled functions take the place of methods, where they can."""

    def _parameters(self) -> tuple[Any, ...]:
        values = vars(self)
        return tuple(values[name] for name in _PARAMETERS if name in values)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PARAMETERS:  # a changed parameter is refused by the methods, at the next call
            for fast in ("learn_one", "predict_one"):
                self.__dict__.pop(fast, None)
            self.__dict__["_touched"] = True
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        fast = ("learn_one", "predict_one", "_rows")
        return {name: value for name, value in vars(self).copy().items() if name not in fast}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._rows = _rows_of(self._model)
        self._speed_up()

    def __copy__(self) -> Self:
        """Return a learner of its own: what one learns, the other must not know."""
        return copy.deepcopy(self)

    def _checked(self) -> Model:
        """Return the model; refuse parameters changed since the first row."""
        if self._touched and self._parameters() != self._made_with:
            with self._model.lock:
                self._take_parameters()
        return self._model

    def _take_parameters(self) -> None:
        """Start anew with changed parameters, if there was no row yet."""
        model = self._model
        names = (name for name in _PARAMETERS if name in vars(self))
        settings = _settings(dict(zip(names, self._parameters(), strict=True)))
        if model.engine is not None:
            model.settings.check_same(settings)
            model.use_threads(settings.threads)
            self._made_with = self._parameters()
            return
        target = model.target
        if isinstance(target, LabelTarget):
            target = replace(target, limit=settings.max_classes)
        self._use(Model(settings, target, by_name=True))

    def __dfop_model__(self) -> Model:
        """Return the model, for a file."""
        return self._checked()

    def __dfop_resume__(self, model: Model) -> None:
        """Go on with a model, from a file."""
        self._use(model)

    def _remember(self, x: Row, method: int) -> None:
        """Remember a row that was predicted, to know it again when its label comes."""
        if isinstance(self._rows, RowsByName):
            self._rows.ask(x, method)

    def _active(self, x: Row) -> Array:
        """Return the outputs that make the prediction of one row."""
        outputs = self._rows.outputs(x)
        self._remember(x, PROBABILITIES)
        return self._model.target.active(np.array([outputs])) if outputs else np.zeros((1, 1))


def _rows_of(model: Model) -> RowsByName | SparseRowsByName:
    return RowsByName(model) if model.settings.storage is None else SparseRowsByName(model)


def _settings(parameters: dict[str, Any]) -> Settings:
    """Check parameters; refuse those that only arrays have a use for."""
    settings = Settings.of(**parameters)
    if isinstance(settings.rule, ByClock):
        raise ValueError(
            "River's learn_one has no time: choose a forgetting by rows, such as "
            "forgetting=0.001 or half_life(700); dfop.DFOPRegressor forgets by the clock"
        )
    if settings.storage is not None and settings.lags:
        raise ValueError(f"lags={settings.lags} and storage= do not go together: use lags=0")
    if settings.transformer is not None:
        raise ValueError(
            f"features={settings.features!r} is a transformer of arrays, and rows are dicts: "
            "put one of River's transformers before the model, in a pipeline"
        )
    return settings


def batch_of_frame(X: Any) -> Batch:
    """Read a frame; River's calls for many rows take nothing else."""
    frame = hasattr(X, "iloc") or hasattr(X, "get_columns")  # pandas, polars
    if not frame or len(X.shape) != 2:
        raise TypeError(
            f"X must be a data frame of pandas or polars, not {type(X).__name__}: make one of it, "
            "as by pandas.DataFrame(X, columns=names). learn_one and predict_one take a dict; "
            "arrays go to the learners outside dfop.river"
        )
    return as_batch(X)


def series_beside(X: Any, values: NDArray[Any]) -> Any:
    """Return a column beside a frame, of the same library."""
    if hasattr(X, "get_columns"):  # polars
        import polars as pl

        return pl.Series(values.tolist())
    import pandas as pd  # needed by learn_many and predict_many only, as in River itself

    return pd.Series(values, index=X.index) if len(values) else pd.Series(values)


def frame_beside(X: Any, values: Array, names: Any) -> Any:
    """Return columns beside a frame, of the same library."""
    if hasattr(X, "get_columns"):  # polars
        import polars as pl

        return pl.DataFrame({str(name): values[:, k] for k, name in enumerate(names)})
    import pandas as pd

    return pd.DataFrame(values, index=X.index, columns=list(names))
