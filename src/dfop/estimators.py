"""The learners: forgetting least squares behind the scikit-learn contract."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_array

from .labels import LabelCode
from .pending import LateLabels
from .validation import check_length, check_numbers

Array = NDArray[np.float64]


class DFOPRegressor(RegressorMixin, LateLabels):
    r"""Linear regression on a stream that changes: exact, one pass, constant memory.

    After row t the weights minimise

    .. math:: \sum_{i \le t} \Lambda_{i,t} (y_i - x_i'w)^2 + \Lambda_{0,t} \|w\|^2 / p_0,
              \quad \Lambda_{i,t} = \prod_{j=i+1}^{t} \lambda_j

    (the generalised DFOP of Zhao and Zhou, with its prior). All outputs share one covariance, so
    further outputs are nearly free.

    Parameters
    ----------
    forgetting : float or rule, default=0.001
        How fast the past fades: the paper's ``mu`` (a row t rows old counts ``(1 - mu)^t``; 0 is
        plain recursive least squares), `dfop.period` or `dfop.half_life`, in rows or by the
        clock.
    fit_intercept : bool, default=True
        Whether to learn a constant as well.
    prior_variance : float, default=100.0
        ``p_0``, the variance of the weights before any row; it fades like a row.
    cap : float or None, default=1e6
        How uncertain forgetting may make a weight, in units of the noise over the feature's
        largest square. Keeps the model finite where data stop exciting a direction; on well
        excited data it never acts. None is the plain recursion, for comparison only.

    Attributes
    ----------
    coef_ : ndarray of shape (features,) or (m, features)
        The weights now.
    intercept_ : float or ndarray of shape (m,)
        The constant now.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the first X had names.
    pending_ : list
        Keys of rows that wait for their label.

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
            The rows, oldest first; a DataFrame's column names are kept and checked.
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
        return self._decode(
            self._learn(X, y, sample_weight=sample_weight, discount=discount, time=time)
        )

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
        coef = _coefficients(self)[0]
        return coef[0] if self._flat else coef

    @property
    def intercept_(self) -> Any:
        """The constant now."""
        constant = _coefficients(self)[1]
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

    def _decode(self, outputs: Array) -> Array:
        return outputs[:, 0] if getattr(self, "_flat", True) else outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class DFOPClassifier(ClassifierMixin, LateLabels):
    r"""Linear classification on a stream that changes: exact, one pass, constant memory.

    Forgetting least squares on coded labels (see `DFOPRegressor` for the objective). Two
    classes: -1 and +1, and the sign of the margin decides; a margin of exactly 0 means the first
    class. More classes: one output each, the largest decides, of equal ones the first.
    ``y`` of shape (n, m) are m targets, each with classes of its own; all share one covariance.

    Parameters
    ----------
    forgetting : float or rule, default=0.001
        How fast the past fades: the paper's ``mu`` (a row t rows old counts ``(1 - mu)^t``; 0 is
        plain recursive least squares), `dfop.period` or `dfop.half_life`, in rows or by the
        clock.
    fit_intercept : bool, default=True
        Whether to learn a constant as well.
    prior_variance : float, default=100.0
        Variance of the weights before any row; it fades like a row.
    cap : float or None, default=1e6
        How uncertain forgetting may make a weight; see `DFOPRegressor`.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        The labels, sorted (a list with one entry per target where targets differ in them).
    coef_ : ndarray of shape (outputs, features)
        The weights now, one row for two classes, else one per class.
    intercept_ : ndarray of shape (outputs,)
        The constants now.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the first X had names.
    pending_ : list
        Keys of rows that wait for their label.

    See Also
    --------
    DFOPRegressor : The same for numbers.

    References
    ----------
    P. Zhao, Z.-H. Zhou. Distribution-Free One-Pass Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = np.where(X[:, 0] > 0, "up", "down")
    >>> y[2000:] = np.where(X[2000:, 1] > 0, "up", "down")  # the world changes
    >>> model = DFOPClassifier(forgetting=0.01)
    >>> ahead = model.predict_then_learn(X, y)
    >>> bool(np.mean(ahead[-1000:] == y[-1000:]) > 0.95)
    True
    >>> model.predict([[0.0, 1.0]])
    array(['up'], dtype='<U4')
    """

    _codes: list[LabelCode]
    _flat: bool

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        discount: ArrayLike | None = None,
        time: Any = None,
        classes: Any = None,
    ) -> Self:
        """Forget everything, then learn the rows in their order, once.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows, oldest first.
        y : array-like of shape (n,) or (n, m)
            The labels.
        sample_weight, discount, time, classes : optional
            As in `partial_fit`.

        Returns
        -------
        self
        """
        self._learn(
            X,
            y,
            restart=True,
            sample_weight=sample_weight,
            discount=discount,
            time=time,
            classes=classes,
        )
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
        classes: Any = None,
    ) -> Self:
        """Learn further rows in their order.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows, oldest first; a DataFrame's column names are kept and checked.
        y : array-like of shape (n,) or (n, m)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n,), optional
            How many times each row counts: c means the row c times, 0 not at all.
        discount : array-like of shape (n,), optional
            The discounts ``lam_t`` in (0, 1] themselves, instead of the rule in `forgetting`.
        time : array-like of shape (n,), optional
            Time of each row, numbers (seconds) or datetimes, for a rule by the clock.
        classes : array-like, or list of array-like for y of shape (n, m), optional
            All labels there are, in the first call, where its `y` may not hold them all.

        Returns
        -------
        self
        """
        self._learn(
            X, y, sample_weight=sample_weight, discount=discount, time=time, classes=classes
        )
        return self

    def predict_then_learn(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
        classes: Any = None,
    ) -> NDArray[Any]:
        """Predict each row before its label is seen, then learn it: one pass.

        The same for any split of the rows into calls.

        Parameters
        ----------
        X, y, sample_weight, discount, time, classes
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The labels predicted one step ahead.
        """
        return self._decode(
            self._learn(
                X, y, sample_weight=sample_weight, discount=discount, time=time, classes=classes
            )
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the labels of rows with the model as it is now.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The labels.
        """
        return self._decode(self._predict_outputs(X))

    def decision_function(self, X: Any) -> Any:
        """Margins of rows with the model as it is now.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, classes), or list of those
            For two classes, positive where the second is predicted; else one number per class.
            For y of shape (n, m): shape (n, m) where every target has two classes, else a list
            with one entry per target.
        """
        margins = self._per_target(LabelCode.margins, X)
        return np.column_stack(margins) if self._all_binary() else margins

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of rows with the model as it is now.

        Least squares on coded labels estimates them directly (a linear probability model); they
        are bent into range, and 1 % is spread evenly over the classes.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n, classes), or list of those
            In the order of `classes_`. For y of shape (n, m): shape (n, m), the probability of
            the second class, where every target has two classes, else a list with one entry per
            target.
        """
        probabilities = self._per_target(LabelCode.probabilities, X)
        if self._all_binary():
            return np.column_stack([p[:, -1] for p in probabilities])
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows predicted right (with all their labels, for y of shape (n, m)).

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.
        y : array-like of shape (n,) or (n, m)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows in the mean.

        Returns
        -------
        float
            The accuracy.
        """
        right = self.predict(X) == np.asarray(y)
        if right.ndim == 2:
            right = right.all(axis=1)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(right, weights=weights))

    @property
    def classes_(self) -> Any:
        """The labels, sorted."""
        if not hasattr(self, "_codes"):
            raise AttributeError("classes_ is known once a label was learned")
        classes = [code.classes for code in self._codes]
        shared = all(np.array_equal(some, classes[0]) for some in classes)
        return classes[0] if shared else classes

    @property
    def coef_(self) -> Array:
        """The weights now."""
        return _coefficients(self)[0]

    @property
    def intercept_(self) -> Array:
        """The constants now."""
        return _coefficients(self)[1]

    def _encode(self, y: Any, n: int, *, first: bool, classes: Any) -> Array:
        labels = _as_labels(y, n)
        if first:
            self._take_classes(classes, labels)
        else:
            self._check_same_classes(classes)
            if (labels.ndim == 1) != self._flat or (
                not self._flat and labels.shape[1] != len(self._codes)
            ):
                expected = "(n,)" if self._flat else f"(n, {len(self._codes)})"
                raise ValueError(
                    f"y has shape {labels.shape} but this model has learned y of {expected}"
                )
        columns = labels.reshape(n, -1).T
        return np.hstack(
            [code.encode(column) for code, column in zip(self._codes, columns, strict=True)]
        )

    def _announce(self, classes: Any) -> None:
        if classes is None:
            raise ValueError(
                "no label has been seen yet: pass classes=[...], all labels there are, with the "
                "first rows"
            )
        self._take_classes(classes, np.asarray(classes))

    def _take_classes(self, classes: Any, labels: NDArray[Any]) -> None:
        self._flat = labels.ndim == 1
        if self._flat:
            self._codes = [LabelCode.learn(labels, classes)]
        else:
            given = [None] * labels.shape[1] if classes is None else classes
            if len(given) != labels.shape[1]:
                raise ValueError(
                    f"classes must list the labels of each of {labels.shape[1]} targets"
                )
            self._codes = [
                LabelCode.learn(column, some) for column, some in zip(labels.T, given, strict=True)
            ]
        self._outputs = sum(code.outputs for code in self._codes)

    def _check_same_classes(self, classes: Any) -> None:
        if classes is None:
            return
        given = [classes] if self._flat else classes
        same = len(given) == len(self._codes) and all(
            np.array_equal(np.unique(some), code.classes)
            for some, code in zip(given, self._codes, strict=True)
        )
        if not same:
            raise ValueError(
                f"classes={classes!r} differs from the classes of the first call, {self.classes_}: "
                "the classes are fixed then"
            )

    def _decode(self, outputs: Array) -> NDArray[Any]:
        columns = [code.decode(part) for code, part in self._parts(outputs)]
        return columns[0] if self._flat else np.column_stack(columns)

    def _per_target(self, view: Any, X: Any) -> Any:
        shown = [view(code, part) for code, part in self._parts(self._predict_outputs(X))]
        return shown[0] if self._flat else shown

    def _all_binary(self) -> bool:
        return not self._flat and all(code.outputs == 1 for code in self._codes)

    def _parts(self, outputs: Array) -> list[tuple[LabelCode, Array]]:
        ends = np.cumsum([code.outputs for code in self._codes])
        return list(zip(self._codes, np.split(outputs, ends[:-1], axis=1), strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _coefficients(model: LateLabels) -> tuple[Array, Array]:
    if getattr(model, "_filter", None) is None:
        raise AttributeError("the weights are known once a row was learned")
    assert model._filter is not None
    return model._filter.coefficients()


def _as_labels(y: Any, n: int) -> NDArray[Any]:
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    labels: NDArray[Any] = check_array(
        y, dtype=None, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0,
        input_name="y",
    )  # fmt: skip
    check_length(labels, n)
    if labels.ndim > 2 or labels.size == 0:
        raise ValueError(f"y has shape {labels.shape}: expected (n,) or (n, m) with m > 0")
    missing = labels != labels  # NaN of any type is the one value unlike itself
    if np.any(missing):
        t = int(np.argwhere(missing)[0][0])
        raise ValueError(f"y contains NaN at row {t}: drop rows without a label before learning")
    return labels
