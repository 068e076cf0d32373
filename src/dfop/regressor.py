"""`DFOPRegressor`: forgetting least squares behind the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from .core import COVERAGES
from .forgetting import Forgetting
from .insight.experts import weights_of
from .insight.uncertainty import half_widths_at, monitor_of, no_monitor
from .insight.views import Insight
from .model.estimator import Ahead, Estimator, joined
from .model.model import Model, Run
from .model.monitor import NumberMonitor
from .model.targets import NumberTarget

Array = NDArray[np.float64]


class DFOPRegressor(RegressorMixin, Insight, Estimator):
    r"""Linear regression on a stream that changes: exact, one pass, constant memory.

    After row t the weights minimise

    .. math:: \sum_{i \le t} \Lambda_{i,t} (y_i - x_i'w)^2 + \Lambda_{0,t} \|w\|^2 / p_0,
              \quad \Lambda_{i,t} = \prod_{j=i+1}^{t} \lambda_j

    (the generalised DFOP of Zhao and Zhou, with its prior). All outputs share one covariance, so
    further outputs are nearly free. Text and missing values are coded as they come: a weight per
    text, and for a gap the mean of the past with a weight for being missing.

    Parameters
    ----------
    forgetting : "auto", "few", float or rule, default="auto"
        How fast the past fades. "auto" has experts of many forgettings side by side and finds out;
        "few" does it with four straight ones alone, for models that must be small.
        A number is the paper's ``mu`` (a row t rows old counts ``(1 - mu)^t``; 0 is plain
        recursive least squares); `dfop.period` and `dfop.half_life` count in rows or by the clock.
        With a number or a rule the model is a single exact filter.
    features : {"auto", "linear", "rff", "poly"} or transformer, default="auto"
        What the experts see: the features as they are ("linear"), random Fourier features of them
        ("rff"), the standardised features and their products ("poly"), or what a scikit-learn
        transformer makes of them that learns nothing from the data. "auto" is all of
        the pool of experts (see the page on the automatic learner), and linear alone with a given
        `forgetting`.
    lags : int, default=0
        How many of the last known labels are features, too. For streams whose label is known
        before the next row comes; see the page on lags for what that means for scores.
    fit_intercept : bool, default=True
        Whether to learn a constant as well.
    prior_variance : float, optional
        ``p_0``, the variance of the weights before any row; it fades like a row (with `storage` it
        does not, and is 1 by default). By default 100,
        and for the automatic learner 3000 over the number of weights, features scaled to at most 1.
    prior_mean : array-like of shape (w,) or (m, w), optional
        Of a single filter: what the weights are believed to be before any row, in the order of the
        columns, the constant last; columns of numbers only. By default 0.
    prior_covariance : array-like of shape (w, w), optional
        Of a single filter, in place of `prior_variance`: how sure that is, and which weights go
        together, in units of the variance of the noise. Columns that come later have its largest
        variance.
    cap : float or None, default=1e6
        How uncertain forgetting may make a weight, in units of the noise over the feature's
        largest square. Keeps the model finite where data stop exciting a direction; on well
        excited data it never acts. None is the plain recursion, for comparison only.
    pending_limit : int, default=100000
        How many rows may wait for their label; the oldest are given up beyond it.
    pending_expiry : int, str or None, default=None
        How long a row waits for its label at most: a number of rows, or a duration such as "3d"
        for a model that forgets by the clock.
    monitor : bool, default=False
        Whether a single filter keeps an eye on its errors, too, as the automatic learner always
        does: `predict_interval`, `alarms_`; the page on uncertainty has the cost.
    semi : bool, default=False
        Whether rows may come without a target (NaN, None, pandas' NA): they are predicted, the
        model forgets with them as with any row, and they show how features are distributed.
    experts : list, optional
        Models of your own that are asked before each row and are candidates beside those of the
        automatic learner: scikit-learn estimators with `partial_fit`, River models, or
        `dfop.Retrained` around any estimator. Copies of them learn, from the coded columns. See
        the page on the automatic learner for what they see and what happens if one fails. Such a
        model can be pickled, not saved in a model file.
    threads : int, default=1
        On how many threads the experts of the automatic learner learn; no result depends on it.
        Worth it for calls of some hundred rows and more: fewer than 16 rows stay on one thread.
        May be set at any time.
    storage : int, optional
        Keep this many directions and a diagonal instead of the whole covariance: memory and time
        of d instead of its square, for thousands to millions of columns, dense or sparse. Needs a
        given `forgetting`; 20 is a good start. None is exact, but for the default on sparse rows of
        more than 1,000 columns, which takes a sketch. See the page on scale.
    guarantee : bool, default=False
        With `storage`: keep frequent directions, which bound what they leave out
        (`storage_error_`), at several times the cost. `cap` has no part in it.

    Attributes
    ----------
    coef_ : ndarray of shape (w,) or (m, w)
        The weights now: one per column, where all columns are numbers without gaps, else one per
        coded column.
    intercept_ : float or ndarray of shape (m,)
        The constant now.
    coded_names_ : ndarray of str
        What each weight belongs to: "size" (a number), "size is missing", "color=red" (a text),
        "color#7" (texts beyond the first hundred, by their hash).
    empty_columns_ : list of str
        Names of the columns of X that have had no value yet.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, where the first X had names.
    pending_ : list
        Keys of rows that wait for their label.
    expired_ : int
        How many rows were given up that waited too long, or were too many.
    storage_error_ : float
        With `guarantee=True`: how much of the rows' information is left out in any direction at
        most.
    limited_rows_ : int
        Of a single filter: on how many rows the cap acted; 0 means that the model is the exact one.
    covariance_ : ndarray of shape (w, w)
        Of a single filter: how unsure the weights are, in units of the variance of the noise, the
        constant last.
    experts_ : list of `dfop.insight.experts.Expert`
        Of the automatic learner: its experts, and what each is worth now.
    forgetting_ : float
        Of the automatic learner: the effective mu now.
    features_ : str
        Of the automatic learner: what its experts see, in words.
    drift_ : `dfop.insight.drift.DriftSpectrum`
        Of the automatic learner: noise and drift of the stream so far.
    alarms_ : list of `dfop.insight.uncertainty.Alarm`
        With a monitor: sudden changes found, and of the automatic learner which weights moved.

    See Also
    --------
    DFOPClassifier : The same for class labels.

    References
    ----------
    P. Zhao, Z.-H. Zhou. Distribution-Free One-Pass Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, 2.0, 3.0]
    >>> y[1000:] = X[1000:] @ [3.0, 2.0, 1.0]  # the world changes
    >>> model = DFOPRegressor(forgetting=0.02)
    >>> ahead = model.predict_then_learn(X, y)  # every row predicted before its y is seen
    >>> bool(np.mean((y - ahead)[-500:] ** 2) < 1e-3)
    True
    >>> model.coef_.round(2)
    array([3., 2., 1.])

    Rows may hold text and gaps:

    >>> rows = [["red", 1.0], ["blue", None], ["red", 3.0]]
    >>> DFOPRegressor().fit(rows, [1.0, 2.0, 3.0]).coded_names_.tolist()
    ['x0=red', 'x1', 'x0=blue', 'x1 is missing']
    """

    _parameter_names = (*Estimator._parameter_names, "prior_mean")

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: Any = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
        prior_mean: ArrayLike | None = None,
        prior_covariance: ArrayLike | None = None,
        cap: float | None = 1e6,
        pending_limit: int = 100_000,
        pending_expiry: int | str | None = None,
        monitor: bool = False,
        semi: bool = False,
        experts: Sequence[Any] | None = None,
        threads: int = 1,
        storage: int | None = None,
        guarantee: bool = False,
    ) -> None:
        super().__init__(
            forgetting,
            features=features,
            lags=lags,
            fit_intercept=fit_intercept,
            prior_variance=prior_variance,
            prior_covariance=prior_covariance,
            cap=cap,
            pending_limit=pending_limit,
            pending_expiry=pending_expiry,
            monitor=monitor,
            semi=semi,
            experts=experts,
            threads=threads,
            storage=storage,
            guarantee=guarantee,
        )
        self.prior_mean = prior_mean

    def _new_target(self, y: Any) -> NumberTarget:
        return NumberTarget()

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> Self:
        """Forget everything, then learn the rows in their order, once.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows, oldest first. A column without any value is refused: `partial_fit` takes
            one whose values may come later.
        y : array-like of shape (n,) or (n, m)
            The targets.
        sample_weight, discount, time : array-like of shape (n,), optional
            As in `partial_fit`.

        Returns
        -------
        self
        """
        self._learn(X, y, restart=True, sample_weight=sample_weight, discount=discount, time=time)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
        late: bool = False,
    ) -> Self:
        """Learn further rows in their order.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows, oldest first: numbers, text, and missing values. A DataFrame's column names
            are kept and checked; further columns may follow the known ones, and count as 0 in
            the rows before.
        y : array-like of shape (n,) or (n, m)
            The targets.
        sample_weight : array-like of shape (n,), optional
            How many times each row counts: c means the row c times, 0 not at all.
        discount : array-like of shape (n,), optional
            The discounts ``lam_t`` in (0, 1] themselves, instead of the rule in `forgetting`.
        time : array-like of shape (n,), optional
            Time of each row, numbers (seconds) or datetimes: for a rule by the clock, where it must
            not run backwards. Of other models only alarms carry it, in any order.
        late : bool
            Whether all these rows were predicted before any of their labels was known, as by
            someone who predicts a day and learns it at night. An automatic model then also judges
            its experts by what they predicted, and lags are the labels known before these rows.

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight=sample_weight, discount=discount, time=time, late=late)
        return self

    def predict_then_learn(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> Array:
        """Predict each row before its target is seen, then learn it: one pass.

        The same, to the last bit, for any split of the rows into calls.

        Parameters
        ----------
        X, y, sample_weight, discount, time
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The one-step-ahead predictions.
        """
        return joined(self._learn(X, y, sample_weight=sample_weight, discount=discount, time=time))

    def learn_then_filter(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> Array:
        """Learn each row, then give its filtered value: what the model makes of it afterwards.

        That is the estimate of a signal under noise, ``x_t'w_t``, the a posteriori estimate of
        Kalman filters. It knows the row's own target, so it is **no prediction** and must never
        be scored as one; `predict_then_learn` is honest. Of a single filter.

        Parameters
        ----------
        X, y, sample_weight, discount, time
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The filtered values.

        Examples
        --------
        >>> import numpy as np
        >>> from dfop import DFOPRegressor
        >>> rng = np.random.default_rng(0)
        >>> signal = np.sin(np.arange(2000) / 100)
        >>> y = signal + rng.normal(size=2000)
        >>> level = np.ones((2000, 1))  # its weight is the level
        >>> model = DFOPRegressor(forgetting=0.05, fit_intercept=False)
        >>> bool(np.mean((model.learn_then_filter(level, y) - signal) ** 2) < 0.1)  # noise: 1
        True
        """
        settings = self._settings()
        if settings.several_experts or settings.storage is not None:
            raise AttributeError(
                "learn_then_filter is of a single exact filter: give a forgetting, such as "
                "forgetting=0.001, and no storage="
            )
        return joined(
            self._learn(
                X, y, sample_weight=sample_weight, discount=discount, time=time, filtered=True
            )
        )

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Intervals that hold a given share of the targets, with the model as it is now.

        Their width follows the model's own recent errors, whatever their distribution.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.
        coverage : float, default=0.9
            Share of the targets that shall be inside, above 0 and at most 0.99.

        Returns
        -------
        ndarray of shape (n, 2) or (n, m, 2)
            Lower and upper ends. Infinite before the first label.

        Examples
        --------
        >>> import numpy as np
        >>> from dfop import DFOPRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(2000, 2))
        >>> y = X[:, 0] + rng.normal(size=2000)
        >>> model = DFOPRegressor().fit(X, y)
        >>> low, high = model.predict_interval([[1.0, 0.0]], coverage=0.9)[0]
        >>> bool(-1.2 < low < -0.2 and 2.2 < high < 3.2)  # 1 -+ 1.64 for this noise
        True

        The paper's learner has them on request:

        >>> model = DFOPRegressor(forgetting=0.001, monitor=True).fit(X, y)
        >>> low, high = model.predict_interval([[1.0, 0.0]], coverage=0.9)[0]
        >>> bool(-1.2 < low < -0.2 and 2.2 < high < 3.2)
        True
        """

        def ends(model: Model, outputs: Array) -> Array:
            monitor = monitor_of(model, "predict_interval")
            assert isinstance(monitor, NumberMonitor)
            half = half_widths_at(monitor.intervals.half_widths(), coverage)
            return _ends(outputs, half, model.target.flat)

        return self._predicted(X, ends)

    def predict_interval_then_learn(
        self,
        X: Any,
        y: Any,
        coverage: float = 0.9,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> Array:
        """Give each row's interval before its target is seen, then learn it: one pass.

        Parameters
        ----------
        X, y, sample_weight, discount, time
            As in `partial_fit`.
        coverage : float, default=0.9
            As in `predict_interval`.

        Returns
        -------
        ndarray of shape (n, 2) or (n, m, 2)
            Lower and upper ends.
        """
        model = self._started()
        settings = self._settings_for(X) if model is None else model.settings
        if not settings.monitored:
            raise no_monitor("predict_interval_then_learn", settings)
        half_widths_at(np.zeros(len(COVERAGES)), coverage)  # refuse before learning
        runs = self._learn(X, y, sample_weight=sample_weight, discount=discount, time=time)
        half = half_widths_at(np.concatenate([run.monitored for run in runs]), coverage)
        outputs = np.concatenate([run.outputs for run in runs])
        return _ends(outputs, half, runs[-1].target.flat)

    def ahead_then_learn(self, X: Any, y: Any, coverage: float = 0.9, *, time: Any = None) -> Ahead:
        """Predict each row, and how sure that is, before its target is seen; then learn it.

        Parameters
        ----------
        X, y, time
            As in `partial_fit`; y of shape (n,).
        coverage : float, default=0.9
            As in `predict_interval`.

        Returns
        -------
        Ahead
            `prediction`, as `predict_then_learn` gives it, and its `interval`: None without a
            monitor.

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> ahead = DFOPRegressor().ahead_then_learn([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
        >>> ahead.interval.shape
        (3, 2)
        """
        if np.ndim(y) != 1:
            raise ValueError(f"y has shape {np.shape(y)}: ahead_then_learn takes one target a row")
        half_widths_at(np.zeros(len(COVERAGES)), coverage)  # refuse before learning
        return self._ahead(self._learn(X, y, time=time), coverage)

    def _ahead(self, runs: list[Run], coverage: float = 0.9) -> Ahead:
        if runs[0].monitored is None:
            return Ahead(joined(runs))
        half = half_widths_at(np.concatenate([run.monitored for run in runs]), coverage)
        outputs = np.concatenate([run.outputs for run in runs])
        return Ahead(joined(runs), interval=_ends(outputs, half, True))

    def predict(self, X: Any) -> Array:
        """Predict rows with the model as it is now.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The predictions.
        """
        decoded: Array = self._predicted(X, lambda model, outputs: model.target.decode(outputs))
        return decoded

    @property
    def coef_(self) -> Array:
        """The weights now."""
        model = self._weighted()
        with model.lock:
            coef = weights_of(model)[0]
            return coef[0] if model.target.flat else coef

    @property
    def intercept_(self) -> Any:
        """The constant now."""
        model = self._weighted()
        with model.lock:
            constant = weights_of(model)[1]
            return float(constant[0]) if model.target.flat else constant


def _ends(outputs: Array, half: Array, flat: bool) -> Array:
    ends = np.stack([outputs - half, outputs + half], axis=-1)
    return ends[:, 0] if flat else ends
