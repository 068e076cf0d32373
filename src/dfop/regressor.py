"""`DFOPRegressor`: forgetting least squares behind the scikit-learn contract."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from .core import COVERAGES
from .forgetting import as_rule
from .pending import LateLabels
from .uncertainty import half_widths_at
from .validation import check_numbers
from .watch import NumberWatch

Array = NDArray[np.float64]


class DFOPRegressor(RegressorMixin, LateLabels):
    r"""Linear regression on a stream that changes: exact, one pass, constant memory.

    After row t the weights minimise

    .. math:: \sum_{i \le t} \Lambda_{i,t} (y_i - x_i'w)^2 + \Lambda_{0,t} \|w\|^2 / p_0,
              \quad \Lambda_{i,t} = \prod_{j=i+1}^{t} \lambda_j

    (the generalised DFOP of Zhao and Zhou, with its prior). All outputs share one covariance, so
    further outputs are nearly free. Text and missing values are coded as they come: a weight per
    text, and for a gap the mean of the past with a weight for being missing.

    Parameters
    ----------
    forgetting : "auto", float or rule, default="auto"
        How fast the past fades. "auto" has experts of many forgettings side by side and finds out.
        A number is the paper's ``mu`` (a row t rows old counts ``(1 - mu)^t``; 0 is plain
        recursive least squares); `dfop.period` and `dfop.half_life` count in rows or by the clock.
        With a number or a rule the model is a single exact filter.
    features : {"auto", "linear", "rff", "poly"} or transformer, default="auto"
        What the experts see: the features as they are ("linear"), random Fourier features of them
        ("rff"), the standardised features and their products ("poly"), or what a scikit-learn
        transformer makes of them that learns nothing from the data. "auto" is linear and rff
        experts side by side, linear alone for more than 20 features or a given `forgetting`.
    lags : int, default=0
        How many of the last known labels are features, too. For streams whose label is known
        before the next row comes; see the page on lags for what that means for scores.
    fit_intercept : bool, default=True
        Whether to learn a constant as well.
    prior_variance : float, optional
        ``p_0``, the variance of the weights before any row; it fades like a row. By default 100,
        and for the automatic learner 3000 over the number of weights, features scaled to at most 1.
    cap : float or None, default=1e6
        How uncertain forgetting may make a weight, in units of the noise over the feature's
        largest square. Keeps the model finite where data stop exciting a direction; on well
        excited data it never acts. None is the plain recursion, for comparison only.

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
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, where the first X had names.
    pending_ : list
        Keys of rows that wait for their label.
    experts_ : list of `dfop.automatic.Expert`
        Of the automatic learner: its experts, and what each is worth now.
    forgetting_ : float
        Of the automatic learner: the effective mu now.
    features_ : str
        Of the automatic learner: what its experts see, in words.
    drift_ : `dfop.drift.DriftSpectrum`
        Of the automatic learner: noise and drift of the stream so far.
    alarms_ : list of `dfop.uncertainty.Alarm`
        Of the automatic learner: sudden changes found, and which weights moved.

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

    _flat: bool
    """Whether targets are (n,)."""

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
            The rows, oldest first.
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
            Time of each row, numbers (seconds) or datetimes, for a rule by the clock.

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight=sample_weight, discount=discount, time=time)
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
        learned = self._learn(X, y, sample_weight=sample_weight, discount=discount, time=time)
        return self._decode(learned.outputs)

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
        """
        outputs = self._predict_outputs(X)
        if self._filter is None and self._is_bank(as_rule(self.forgetting)):
            half = half_widths_at(np.full(len(COVERAGES), np.inf), coverage)
        else:
            self._bank("predict_interval")
            assert isinstance(self._watch, NumberWatch)
            half = half_widths_at(self._watch.intervals.half_widths(), coverage)
        return self._ends(outputs, np.broadcast_to(half, outputs.shape))

    def predict_interval_then_learn(
        self,
        X: Any,
        y: Any,
        coverage: float = 0.9,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Array:
        """Give each row's interval before its target is seen, then learn it: one pass.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        coverage : float, default=0.9
            As in `predict_interval`.

        Returns
        -------
        ndarray of shape (n, 2) or (n, m, 2)
            Lower and upper ends.
        """
        if not self._is_bank(as_rule(self.forgetting)):
            raise AttributeError('intervals need the automatic learner: forgetting="auto"')
        half_widths_at(np.zeros(len(COVERAGES)), coverage)  # refuse before learning
        learned = self._learn(X, y, sample_weight=sample_weight)
        return self._ends(learned.outputs, half_widths_at(np.concatenate(learned.told), coverage))

    def _ends(self, outputs: Array, half: Array) -> Array:
        ends = np.stack([outputs - half, outputs + half], axis=-1)
        return ends[:, 0] if getattr(self, "_flat", True) else ends

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
        return self._decode(self._predict_outputs(X))

    @property
    def coef_(self) -> Array:
        """The weights now."""
        coef = self._coefficients()[0]
        return coef[0] if self._flat else coef

    @property
    def intercept_(self) -> Any:
        """The constant now."""
        constant = self._coefficients()[1]
        return float(constant[0]) if self._flat else constant

    def _encode(self, y: Any, n: int, *, first: bool, classes: Any) -> Array:
        numbers = check_numbers(y, n)
        flat, outputs = numbers.ndim == 1, 1 if numbers.ndim == 1 else numbers.shape[1]
        if first:
            self._flat, self._outputs = flat, outputs
        elif (flat, outputs) != (self._flat, self._outputs):
            expected = "(n,)" if self._flat else f"(n, {self._outputs})"
            raise ValueError(
                f"y has shape {numbers.shape} but this model has learned y of {expected}"
            )
        return numbers.reshape(n, outputs)

    def _targets(self) -> list[tuple[str, int]]:
        return [("number", 1)] * self._outputs

    def _new_watch(self) -> NumberWatch:
        return NumberWatch(self._outputs)

    def _announce(self, classes: Any) -> None:
        if self.lags:  # rows have lags before the first label has shown how many outputs there are
            self._flat, self._outputs = True, 1

    def _decode(self, outputs: Array) -> Array:
        return outputs[:, 0] if getattr(self, "_flat", True) else outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
