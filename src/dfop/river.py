"""The learners for River: rows are dicts, features and classes may come and go.

A feature that a row does not have counts as 0, and one never seen before as having been 0 all
the time; so does a new class. The model is then exactly the one that would have had them from
the start, and the same as `dfop.DFOPRegressor` and `dfop.DFOPClassifier` on the same rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from river import base
except ImportError as error:
    raise ImportError("dfop.river needs River: pip install 'dfop[river]'") from error

from .forgetting import ByClock, Forgetting
from .insight.experts import bank_of, weights_of
from .insight.uncertainty import half_widths_at
from .insight.views import Insight
from .model.by_name import RowsByName
from .model.label_targets import LabelTarget
from .model.model import Model, Target
from .model.monitor import LabelMonitor, NumberMonitor
from .model.settings import Settings
from .model.targets import NumberTarget, Planned
from .rows.checks import check_length
from .rows.tables import as_batch
from .rows.target_cells import one_number, target_numbers

__all__ = ["DFOPClassifier", "DFOPRegressor"]

Array = NDArray[np.float64]
Row = dict[Any, Any]

_PARAMETERS = (
    "forgetting",
    "features",
    "lags",
    "fit_intercept",
    "prior_variance",
    "cap",
    "max_features",
    "max_classes",
)


class _RiverLearner(Insight, base.Estimator):
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
        self._rows = RowsByName(model)
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
        self._rows = RowsByName(self._model)
        self._speed_up()

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

    def _active(self, x: Row) -> Array:
        """Return the outputs that make the prediction of one row."""
        outputs = self._rows.outputs(x)
        return self._model.target.active(np.array([outputs])) if outputs else np.zeros((1, 1))


class DFOPRegressor(_RiverLearner, base.MiniBatchRegressor):
    """Forgetting least squares for River: nothing to choose, and features may come and go.

    Text gets a weight per text; a missing value (None, NaN) the mean of the past and a weight
    for being missing. A feature that a row does not have is 0.

    Parameters
    ----------
    forgetting
        How fast the past fades. "auto" has experts of many forgettings side by side and finds
        out. A number is the paper's `mu`: a row t rows old counts `(1 - mu)^t`; or
        `dfop.period(rows)`, `dfop.half_life(rows)`. With those the model is a single exact filter.
    features
        What the experts see: "linear", "rff", "poly" or "auto"; see `dfop.DFOPRegressor`. What
        "auto" is, the number of features of the first row decides.
    lags
        How many of the last labels are features, too, named "label 1 back" and so on. Labels are
        taken as known before the next row comes.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row; see `dfop.DFOPRegressor`.
    cap
        How uncertain forgetting may make a weight; see `dfop.DFOPRegressor`.
    max_features
        How many feature names have weights of their own; further ones share 32 by their hash.

    Examples
    --------
    >>> from dfop.river import DFOPRegressor
    >>> model = DFOPRegressor(forgetting=0.05)
    >>> for t in range(400):
    ...     x = {"a": t % 7, "b": t % 5}
    ...     model.learn_one(x, 2 * x["a"] - x["b"] + 1)
    >>> round(model.predict_one({"a": 1, "b": 1}), 3)
    2.0
    >>> model.learn_one({"a": 1, "c": 1}, 4.0)  # a new feature, and one that is gone
    >>> sorted(model.weights)
    ['a', 'b', 'c']
    >>> model.learn_one({"a": None, "color": "red"}, 3.0)
    >>> sorted(model.weights)
    ['a', 'a is missing', 'b', 'c', 'color=red']
    """

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: str = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        cap: float | None = 1e6,
        max_features: int = 1000,
    ) -> None:
        super().__init__(
            NumberTarget(known=True),
            forgetting=forgetting,
            features=features,
            lags=lags,
            fit_intercept=fit_intercept,
            prior_variance=prior_variance,
            cap=cap,
            max_features=max_features,
        )

    def _speed_up(self) -> None:
        settings = self._model.settings
        if self._model.engine is None or settings.lags or settings.several_experts:
            return
        # A Python method around the compiled one would cost a third of the time at few features.
        self.learn_one = self._rows.named.learn_function()  # type: ignore
        self.predict_one = self._rows.named.predict_function()  # type: ignore

    def learn_one(self, x: Row, y: float) -> None:
        """Learn one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.
        y
            The target.
        """
        model = self._checked()
        with model.lock:
            values = np.array([[one_number(y)]])
            first = model.engine is None
            self._rows.learn(x, Planned(model.target, values))
            if first:
                self._speed_up()

    def predict_one(self, x: Row) -> float:
        """Predict one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        The prediction.
        """
        model = self._checked()
        with model.lock:
            outputs = self._rows.outputs(x)
        return outputs[0] if outputs else 0.0

    def predict_interval_one(self, x: Row, coverage: float = 0.9) -> tuple[float, float]:
        """Give an interval that holds a given share of the targets, for one row.

        Parameters
        ----------
        x
            Features by name.
        coverage
            Share of the targets that shall be inside, above 0 and at most 0.99.

        Returns
        -------
        Lower and upper end; infinite before the first row.

        Examples
        --------
        >>> import random
        >>> from dfop.river import DFOPRegressor
        >>> rng, model = random.Random(0), DFOPRegressor()
        >>> for t in range(500):
        ...     model.learn_one({"a": t % 7}, t % 7 + rng.gauss(0.0, 1.0))
        >>> low, high = model.predict_interval_one({"a": 3}, coverage=0.9)
        >>> 0.8 < low < 1.9 and 4.1 < high < 5.2  # 3 -+ 1.64 for this noise
        True
        """
        model = self._checked()
        with model.lock:
            centre, half = self.predict_one(x), math.inf
            if model.engine is not None:
                bank_of(model, "predict_interval_one")
                assert isinstance(model.monitor, NumberMonitor)
                tracked = model.monitor.intervals.half_widths()
                half = float(half_widths_at(tracked, coverage)[0])
        return centre - half, centre + half

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn rows in their order, the same as one after the other.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.
        y
            The targets.
        """
        model = self._checked()
        with model.lock:
            batch = as_batch(X)
            values = target_numbers(y, len(batch)).reshape(len(batch), 1)
            self._rows.learn_batch(batch, Planned(model.target, values))
            self._speed_up()

    def predict_many(self, X: Any) -> Any:
        """Predict rows.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.

        Returns
        -------
        The predictions.
        """
        model = self._checked()
        with model.lock:
            return _series(X, self._rows.outputs_of_batch(as_batch(X))[:, 0])

    @property
    def weights(self) -> dict[Any, float]:
        """The weights now, by feature name; of text, by "name=text"."""
        model = self._model
        with model.lock:
            return dict(zip(model.weight_names(), weights_of(model)[0][0], strict=True))

    @property
    def intercept(self) -> float:
        """The constant now."""
        with self._model.lock:
            return float(weights_of(self._model)[1][0])


class DFOPClassifier(_RiverLearner, base.MiniBatchClassifier):
    """Forgetting least squares on class labels for River; features and classes may come and go.

    The same model as `dfop.DFOPClassifier`: two classes are a margin, -1 for the class learned
    first and +1 for the second; from the third on there is one output per class, and the largest
    decides, of equal ones (within 1e-9) the class learned first. Text and missing values are coded
    as in `DFOPRegressor`.

    Parameters
    ----------
    forgetting
        How fast the past fades. "auto" has experts of many forgettings side by side and finds
        out. A number is the paper's `mu`: a row t rows old counts `(1 - mu)^t`; or
        `dfop.period(rows)`, `dfop.half_life(rows)`. With those the model is a single exact filter.
    features
        What the experts see: "linear", "rff", "poly" or "auto"; see `dfop.DFOPRegressor`. What
        "auto" is, the number of features of the first row decides.
    lags
        How many of the last labels are features, too, named "label 1 back" and so on. Labels are
        taken as known before the next row comes.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row; see `dfop.DFOPRegressor`.
    cap
        How uncertain forgetting may make a weight; see `dfop.DFOPRegressor`.
    max_features
        How many feature names have weights of their own; further ones share 32 by their hash.
    max_classes
        How many classes there may be; a further one counts as none of them.

    Examples
    --------
    >>> from dfop.river import DFOPClassifier
    >>> model = DFOPClassifier(forgetting=0.05)
    >>> for t in range(200):
    ...     model.learn_one({"a": t % 5 - 2}, "up" if t % 5 > 2 else "down")
    >>> model.predict_one({"a": 2})
    'up'
    """

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: str = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        cap: float | None = 1e6,
        max_features: int = 1000,
        max_classes: int = 1000,
    ) -> None:
        super().__init__(
            LabelTarget(limit=max_classes, grows=True),
            forgetting=forgetting,
            features=features,
            lags=lags,
            fit_intercept=fit_intercept,
            prior_variance=prior_variance,
            cap=cap,
            max_features=max_features,
            max_classes=max_classes,
        )

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: Any) -> None:
        """Learn one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.
        y
            The label; a new one opens a class.
        """
        model = self._checked()
        with model.lock:
            assert isinstance(model.target, LabelTarget)
            self._rows.learn(x, model.target.plan_growing([y]))

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """Predict the label of one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        The label; None before any was seen.
        """
        model = self._checked()
        with model.lock:
            target = model.target
            assert isinstance(target, LabelTarget)
            order = target.order
            k = self._rows.chosen(x, margin=target.margin)
            # the spare output is no class yet
            return order[min(k, len(order) - 1)] if order else None

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Predict the probability of each label for one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        Probabilities by label; empty before any was seen.
        """
        model = self._checked()
        with model.lock:
            p = self._probabilities(self._active(x))[0].tolist()
            assert isinstance(model.target, LabelTarget)
            return dict(zip(model.target.order, p, strict=True))

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn rows in their order, the same as one after the other.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.
        y
            The labels.
        """
        labels = list(y)
        check_length(np.empty(len(labels)), len(X))
        model = self._checked()
        with model.lock:
            assert isinstance(model.target, LabelTarget)
            self._rows.learn_batch(as_batch(X), model.target.plan_growing(labels))

    def predict_proba_many(self, X: Any) -> Any:
        """Predict the probability of each label for rows.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.

        Returns
        -------
        A column per label.
        """
        model = self._checked()
        with model.lock:
            assert isinstance(model.target, LabelTarget)
            p = self._probabilities(self._rows.outputs_of_batch(as_batch(X)))
            return _frame(X, p, model.target.order)

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of rows.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.

        Returns
        -------
        The labels; empty before any was seen.
        """
        model = self._checked()
        with model.lock:
            target = model.target
            assert isinstance(target, LabelTarget)
            if not target.order:
                return _series(X, np.empty(0, dtype=object))
            return _series(X, target.decode(self._rows.outputs_of_batch(as_batch(X))))

    def _probabilities(self, active: Array) -> Array:
        model = self._model
        assert isinstance(model.target, LabelTarget)
        if isinstance(model.monitor, LabelMonitor):
            return model.monitor.probabilities(active)[0]
        return model.target.probabilities(active)


def _settings(parameters: dict[str, Any]) -> Settings:
    """Check parameters; refuse those that only arrays have a use for."""
    settings = Settings.of(**parameters)
    if isinstance(settings.rule, ByClock):
        raise ValueError(
            "River's learn_one has no time: choose a forgetting by rows, such as "
            "forgetting=0.001 or half_life(700); dfop.DFOPRegressor forgets by the clock"
        )
    if settings.transformer is not None:
        raise ValueError(
            f"features={settings.features!r} is a transformer of arrays, and rows are dicts: "
            "put one of River's transformers before the model, in a pipeline"
        )
    return settings


def _series(X: Any, values: NDArray[Any]) -> Any:
    """Return a column beside a frame, of the same library."""
    if hasattr(X, "get_columns"):  # polars
        import polars as pl

        return pl.Series(values.tolist())
    import pandas as pd  # needed by learn_many and predict_many only, as in River itself

    return pd.Series(values, index=X.index) if len(values) else pd.Series(values)


def _frame(X: Any, values: Array, names: Any) -> Any:
    """Return columns beside a frame, of the same library."""
    if hasattr(X, "get_columns"):  # polars
        import polars as pl

        return pl.DataFrame({str(name): values[:, k] for k, name in enumerate(names)})
    import pandas as pd

    return pd.DataFrame(values, index=X.index, columns=list(names))
