"""`DFOPClassifier`: forgetting least squares on class labels, behind the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from .labels import LabelCode, as_labels
from .pending import LateLabels
from .watch import LabelWatch

Array = NDArray[np.float64]


class DFOPClassifier(ClassifierMixin, LateLabels):
    r"""Linear classification on a stream that changes: exact, one pass, constant memory.

    Forgetting least squares on coded labels (see `DFOPRegressor` for the objective). Two
    classes: -1 and +1, and the sign of the margin decides; a margin of exactly 0 means the first
    class. More classes: one output each, the largest decides, of equal ones the first.
    ``y`` of shape (n, m) are m targets, each with classes of its own; all share one covariance.
    Rows may hold text and missing values, as in `DFOPRegressor`.

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
        and for the automatic learner 30 over the number of weights, features scaled to at most 1.
    cap : float or None, default=1e6
        How uncertain forgetting may make a weight; see `DFOPRegressor`.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        The labels, sorted (a list with one entry per target where targets differ in them).
    coef_ : ndarray of shape (outputs, w)
        The weights now, one row for two classes, else one per class; w as in `DFOPRegressor`.
    intercept_ : ndarray of shape (outputs,)
        The constants now.
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
            The rows, oldest first: numbers, text, and missing values. A DataFrame's column names
            are kept and checked; further columns may follow the known ones, and count as 0 in
            the rows before.
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

        The same for any split of the rows into calls, the first of which names the classes.

        Parameters
        ----------
        X, y, sample_weight, discount, time, classes
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The labels predicted one step ahead.
        """
        learned = self._learn(
            X, y, sample_weight=sample_weight, discount=discount, time=time, classes=classes
        )
        return self._decode(learned.outputs)

    def predict_proba_then_learn(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        discount: ArrayLike | None = None,
        time: Any = None,
        classes: Any = None,
    ) -> Any:
        """Give each row's probabilities before its label is seen, then learn it: one pass.

        Parameters
        ----------
        X, y, sample_weight, discount, time, classes
            As in `partial_fit`.

        Returns
        -------
        ndarray or list
            The probabilities one step ahead, as `predict_proba` gives them.
        """
        learned = self._learn(
            X, y, sample_weight=sample_weight, discount=discount, time=time, classes=classes
        )
        if not learned.told:
            return self._probabilities(learned.outputs)
        return self._shown([np.vstack(parts) for parts in zip(*learned.told, strict=True)])

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
        margins = self._per_target(LabelCode.margins, self._predict_outputs(X))
        return np.column_stack(margins) if self._all_binary() else margins

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of rows with the model as it is now.

        The automatic learner calibrates them while it learns. A single filter's are what least
        squares on coded labels estimates directly (a linear probability model), bent into range,
        with 1 % spread evenly over the classes.

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
        outputs = self._predict_outputs(X)
        if isinstance(self._watch, LabelWatch):
            return self._shown(self._watch.probabilities(outputs))
        return self._probabilities(outputs)

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
        predicted, y = self.predict(X), np.asarray(y)
        if y.shape == (len(predicted), 1) and predicted.ndim == 1:
            y = y[:, 0]
        if y.shape != predicted.shape:
            raise ValueError(
                f"y has shape {y.shape} but the predictions have {predicted.shape}: give one "
                "label per row and target"
            )
        right = predicted == y
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
        return self._coefficients()[0]

    @property
    def intercept_(self) -> Array:
        """The constants now."""
        return self._coefficients()[1]

    def _encode(self, y: Any, n: int, *, first: bool, classes: Any) -> Array:
        labels = as_labels(y, n)
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
        listed = (
            list(classes) if isinstance(classes, Iterable) and not isinstance(classes, str) else []
        )
        if not listed:
            raise ValueError(f"classes={classes!r} must be a list of all labels there are")
        if isinstance(listed[0], list | tuple | np.ndarray):  # one list per target
            self._flat = False
            self._codes = [LabelCode.learn(np.asarray(some), some) for some in listed]
            self._outputs = sum(code.outputs for code in self._codes)
        else:
            self._take_classes(listed, np.asarray(listed))

    def _check_announced(self, classes: Any) -> None:
        self._check_same_classes(classes)

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

    def _probabilities(self, outputs: Array) -> Any:
        """Return what the margins of a single filter say themselves."""
        return self._shown([code.probabilities(part) for code, part in self._parts(outputs)])

    def _shown(self, probabilities: list[Array]) -> Any:
        """Show the probabilities of each target as `predict_proba` does."""
        if self._all_binary():
            return np.column_stack([p[:, -1] for p in probabilities])
        return probabilities[0] if self._flat else probabilities

    def _targets(self) -> list[tuple[str, int]]:
        return [
            ("margin", 1) if code.outputs == 1 else ("one_hot", code.outputs)
            for code in self._codes
        ]

    def _new_watch(self) -> LabelWatch:
        return LabelWatch(self._codes)

    def _per_target(self, view: Any, outputs: Array) -> Any:
        shown = [view(code, part) for code, part in self._parts(outputs)]
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
