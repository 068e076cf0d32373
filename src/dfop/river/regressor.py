"""`DFOPRegressor` for River."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from river import base

from dfop.core import COVERAGES
from dfop.forgetting import Forgetting
from dfop.insight.experts import weights_of
from dfop.insight.uncertainty import half_widths_at, monitor_of
from dfop.model.by_name import RowsByName
from dfop.model.monitor import NumberMonitor
from dfop.model.remembered import INTERVAL, PREDICTION
from dfop.model.targets import NumberTarget, Planned
from dfop.rows.cells import is_missing
from dfop.rows.target_cells import one_number, split_targets, target_numbers

from .learner import RiverLearner, Row, batch_of_frame, series_beside


class DFOPRegressor(RiverLearner, base.MiniBatchRegressor):
    """Forgetting least squares for River: nothing to choose, and features may come and go.

    Text gets a weight per text; a missing value (None, NaN) the mean of the past and a weight
    for being missing. A feature that a row does not have is 0.

    Parameters
    ----------
    forgetting
        How fast the past fades. "auto" has experts of many forgettings side by side and finds
        out, "few" with four straight ones alone. A number is the paper's `mu`: a row t rows old
        counts `(1 - mu)^t`; or `dfop.period(rows)`, `dfop.half_life(rows)`. With those the
        model is a single exact filter.
    features
        What the experts see: "linear", "rff", "poly" or "auto"; see `dfop.DFOPRegressor`. The
        number of features of the first row decides over the widths of curves.
    lags
        How many of the last labels are features, too, named "label 1 back" and so on. Labels are
        taken as known before the next row comes.
    fit_intercept
        Whether to learn a constant as well.
    prior_variance
        Variance of the weights before any row; see `dfop.DFOPRegressor`.
    cap
        How uncertain forgetting may make a weight; see `dfop.DFOPRegressor`.
    pending_limit
        How many rows are remembered that were predicted and have not been learned yet; labels of
        others count as known at once. See Notes.
    monitor
        Whether a single filter has `predict_interval_one` and `alarms_`, too, as the
        automatic learner always has.
    semi
        Whether rows may come without a target (`learn_one(x)`, or None, NaN): they are predicted by
        whoever asks, and the model forgets with them as with any row.
    max_features
        How many feature names have weights of their own; further ones share 32 by their hash.
    experts
        Models of your own beside those of the automatic learner: River models, or
        `dfop.Retrained` around a scikit-learn estimator; see `dfop.DFOPRegressor`.
    threads
        On how many threads the experts take the rows of `learn_many` and `predict_many`; see
        `dfop.DFOPRegressor`.
    storage
        Keep this many directions and a diagonal instead of the whole covariance, for dicts with
        thousands of names (raise `max_features`); needs a given `forgetting`. A row then costs by
        the values it has. A missing value is an indicator of its own, no mean is filled in.
    guarantee
        With `storage`: keep frequent directions, which bound what they leave out
        (`storage_error_`), at several times the cost.

    Notes
    -----
    *Labels that come late.* What was predicted of a row is remembered by what the row says, until
    `learn_one` brings a row that says the same. If others were learned or predicted in between, its
    label is late: the combination of experts, intervals, calibration, alarms and lags go by what
    was predicted and known when the row came. Nobody has to say so: whoever predicts now and learns
    later gets it, as `progressive_val_score(..., delay=)` does. A row that is learned right after
    it was predicted, or that was not predicted one at a time, is learned as if its label had been
    known at once. Time passes with the rows that are learned: to predict teaches nothing, it is
    only noted. A row that `predict_one` and right after that `predict_interval_one` are asked about
    is one row; asked about by the same method twice it is two, and of equal rows the one predicted
    first is taken. A row that comes otherwise than it was predicted, as behind a `StandardScaler`
    that has gone on, is not known again.

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
        pending_limit: int = 2_000,
        monitor: bool = False,
        semi: bool = False,
        max_features: int = 1000,
        experts: Sequence[Any] | None = None,
        threads: int = 1,
        storage: int | None = None,
        guarantee: bool = False,
    ) -> None:
        super().__init__(
            NumberTarget(known=True),
            forgetting=forgetting,
            features=features,
            lags=lags,
            fit_intercept=fit_intercept,
            prior_variance=prior_variance,
            cap=cap,
            pending_limit=pending_limit,
            monitor=monitor,
            semi=semi,
            max_features=max_features,
            experts=experts,
            threads=threads,
            storage=storage,
            guarantee=guarantee,
        )

    def _speed_up(self) -> None:
        settings = self._model.settings
        if self._model.engine is None or settings.lags or settings.monitored or settings.semi:
            return
        if not isinstance(self._rows, RowsByName):
            return
        # A Python method around the compiled one would cost a third of the time at few features.
        self.learn_one = self._rows.named.learn_function()  # type: ignore
        self.predict_one = self._rows.named.predict_function()  # type: ignore

    def learn_one(self, x: Row, y: float | None = None) -> None:
        """Learn one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.
        y
            The target; with `semi=True` it may be missing.

        Examples
        --------
        >>> from dfop.river import DFOPRegressor
        >>> model = DFOPRegressor(forgetting=0.0)
        >>> model.learn_one({"size": 2.0, "color": "red"}, 5.0)
        """
        model = self._checked()
        with model.lock:
            first = model.engine is None
            if model.settings.semi and is_missing(y):
                assert isinstance(self._rows, RowsByName)  # a sketch has no such rows
                self._rows.pass_by(x, np.zeros((1, 1)))
            else:
                self._rows.learn_number(x, one_number(y))
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

        Examples
        --------
        >>> from dfop.river import DFOPRegressor
        >>> DFOPRegressor().predict_one({"size": 2.0})  # nothing is known yet
        0.0
        """
        model = self._checked()
        with model.lock:
            return self._predict(x, PREDICTION)

    def _predict(self, x: Row, method: int) -> float:
        outputs = self._rows.outputs(x)
        self._remember(x, method)
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
        half_widths_at(np.zeros(len(COVERAGES)), coverage)  # refuse it also before the first row
        model = self._checked()
        with model.lock:
            half = math.inf
            if model.engine is not None:
                monitor = monitor_of(model, "predict_interval_one")
                assert isinstance(monitor, NumberMonitor)
                tracked = monitor.intervals.half_widths()
                half = float(half_widths_at(tracked, coverage)[0])
            centre = self._predict(x, INTERVAL)
        return centre - half, centre + half

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn rows in their order, the same as one after the other.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.
        y
            The targets.

        Examples
        --------
        >>> import pandas as pd
        >>> from dfop.river import DFOPRegressor
        >>> model = DFOPRegressor(forgetting=0.0, prior_variance=1e6)
        >>> model.learn_many(pd.DataFrame({"size": [1.0, 2.0, 3.0]}), pd.Series([2.0, 4.0, 6.0]))
        >>> round(model.predict_one({"size": 4.0}), 2)
        8.0
        """
        model = self._checked()
        with model.lock:
            batch = batch_of_frame(X)
            n, labelled = len(batch), None
            if model.settings.semi:
                y, labelled = split_targets(y, n, words=True)
            values = np.zeros((n, 1)) if y is None else target_numbers(y, n).reshape(n, 1)
            self._rows.learn_batch(batch, Planned(model.target, values), labelled)
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

        Examples
        --------
        >>> import pandas as pd
        >>> from dfop.river import DFOPRegressor
        >>> DFOPRegressor().predict_many(pd.DataFrame({"size": [1.0, 2.0]})).tolist()
        [0.0, 0.0]
        """
        model = self._checked()
        with model.lock:
            return series_beside(X, self._rows.outputs_of_batch(batch_of_frame(X))[:, 0])

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
