"""`DFOPClassifier` for River."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from river import base

from dfop.forgetting import Forgetting
from dfop.model.by_name import RowsByName
from dfop.model.label_targets import LabelTarget
from dfop.model.monitor import LabelMonitor
from dfop.model.remembered import PREDICTION
from dfop.rows.cells import is_missing
from dfop.rows.checks import check_length
from dfop.rows.target_cells import cells_of, split_targets

from .learner import Array, RiverLearner, Row, batch_of_frame, frame_beside, series_beside


class DFOPClassifier(RiverLearner, base.MiniBatchClassifier):
    """Forgetting least squares on class labels for River; features and classes may come and go.

    The same model as `dfop.DFOPClassifier`: two classes are a margin, -1 for the class learned
    first and +1 for the second; from the third on there is one output per class, and the largest
    decides, of equal ones (within 1e-9) the class learned first. Text and missing values are coded
    as in `DFOPRegressor`.

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
        Whether a single filter has calibrated probabilities and `alarms_`, too, as the
        automatic learner always has.
    semi
        Whether rows may come without a target (`learn_one(x)`, or None, NaN): they are predicted by
        whoever asks, and the model forgets with them as with any row.
    max_features
        How many feature names have weights of their own; further ones share 32 by their hash.
    max_classes
        How many classes there may be; a further one counts as none of them.
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
    only noted. A row that `predict_one` and right after that `predict_proba_one` are asked about
    is one row; asked about by the same method twice it is two, and of equal rows the one predicted
    first is taken. A row that comes otherwise than it was predicted, as behind a `StandardScaler`
    that has gone on, is not known again.

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
        pending_limit: int = 2_000,
        monitor: bool = False,
        semi: bool = False,
        max_features: int = 1000,
        max_classes: int = 1000,
        experts: Sequence[Any] | None = None,
        threads: int = 1,
        storage: int | None = None,
        guarantee: bool = False,
    ) -> None:
        super().__init__(
            LabelTarget(limit=max_classes, grows=True),
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
            max_classes=max_classes,
            experts=experts,
            threads=threads,
            storage=storage,
            guarantee=guarantee,
        )

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: Any = None) -> None:
        """Learn one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.
        y
            The label; a new one opens a class. With `semi=True` it may be missing.

        Examples
        --------
        >>> from dfop.river import DFOPClassifier
        >>> model = DFOPClassifier()
        >>> model.learn_one({"size": 2.0}, "large")
        >>> model.learn_one({"size": 0.1}, "small")  # a class that was not met before
        """
        model = self._checked()
        with model.lock:
            assert isinstance(model.target, LabelTarget)
            if model.settings.semi and not isinstance(y, str) and is_missing(y):
                assert isinstance(self._rows, RowsByName)  # a sketch has no such rows
                self._rows.pass_by(x, np.full((1, 1), -1))
                return
            self._rows.learn_label(x, y)

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """Predict the label of one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        The label; None before any was seen.

        Examples
        --------
        >>> from dfop.river import DFOPClassifier
        >>> model = DFOPClassifier()
        >>> print(model.predict_one({"size": 2.0}))  # no class was met yet
        None
        >>> model.learn_one({"size": 2.0}, "large")
        >>> model.predict_one({"size": 2.0})
        'large'
        """
        model = self._checked()
        with model.lock:
            target = model.target
            assert isinstance(target, LabelTarget)
            order = target.order
            k = self._rows.chosen(x, target)
            self._remember(x, PREDICTION)
            return order[k] if order else None

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Predict the probability of each label for one row.

        Parameters
        ----------
        x
            Features by name: numbers, text, or None where missing.

        Returns
        -------
        Probabilities by label; empty before any was seen.

        Examples
        --------
        >>> from dfop.river import DFOPClassifier
        >>> model = DFOPClassifier(forgetting=0.01)
        >>> for t in range(100):
        ...     model.learn_one({"size": t % 10}, "large" if t % 10 > 4 else "small")
        >>> p = model.predict_proba_one({"size": 9})
        >>> sorted(p), p["large"] > 0.5
        (['large', 'small'], True)
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

        Examples
        --------
        >>> import pandas as pd
        >>> from dfop.river import DFOPClassifier
        >>> model = DFOPClassifier()
        >>> model.learn_many(pd.DataFrame({"size": [2.0, 0.1]}), pd.Series(["large", "small"]))
        >>> model.predict_one({"size": 2.0})
        'large'
        """
        model = self._checked()
        with model.lock:
            assert isinstance(model.target, LabelTarget)
            batch, labelled = batch_of_frame(X), None
            n = len(batch)
            if model.settings.semi:
                y, labelled = split_targets(y, n, words=False)
            labels = [None] * n if y is None else cells_of(y).tolist()
            check_length(np.empty(len(labels)), n)
            planned = model.target.plan_growing(labels, labelled)
            self._rows.learn_batch(batch, planned, labelled)

    def predict_proba_many(self, X: Any) -> Any:
        """Predict the probability of each label for rows.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.

        Returns
        -------
        A column per label.

        Examples
        --------
        >>> import pandas as pd
        >>> from dfop.river import DFOPClassifier
        >>> model = DFOPClassifier(forgetting=0.01)
        >>> for t in range(100):
        ...     model.learn_one({"size": t % 10}, "large" if t % 10 > 4 else "small")
        >>> p = model.predict_proba_many(pd.DataFrame({"size": [0, 9]}))
        >>> p.idxmax(axis=1).tolist()
        ['small', 'large']
        """
        model = self._checked()
        with model.lock:
            assert isinstance(model.target, LabelTarget)
            p = self._probabilities(self._rows.outputs_of_batch(batch_of_frame(X)))
            return frame_beside(X, p, model.target.order)

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of rows.

        Parameters
        ----------
        X
            A data frame of pandas or polars, a row per line.

        Returns
        -------
        The labels; empty before any was seen.

        Examples
        --------
        >>> import pandas as pd
        >>> from dfop.river import DFOPClassifier
        >>> model = DFOPClassifier(forgetting=0.01)
        >>> for t in range(100):
        ...     model.learn_one({"size": t % 10}, "large" if t % 10 > 4 else "small")
        >>> model.predict_many(pd.DataFrame({"size": [0, 9]})).tolist()
        ['small', 'large']
        """
        model = self._checked()
        with model.lock:
            target = model.target
            assert isinstance(target, LabelTarget)
            if not target.order:
                return series_beside(X, np.empty(0, dtype=object))
            return series_beside(X, target.decode(self._rows.outputs_of_batch(batch_of_frame(X))))

    def _probabilities(self, active: Array) -> Array:
        model = self._model
        assert isinstance(model.target, LabelTarget)
        if isinstance(model.monitor, LabelMonitor):
            return model.monitor.says(active)[0]
        return model.target.probabilities(active)
