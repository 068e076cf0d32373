"""`DFOPClassifier`: forgetting least squares on class labels, behind the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from .forgetting import Forgetting
from .insight.experts import weights_of
from .insight.views import Insight
from .model.estimator import Ahead, Estimator, joined
from .model.label_targets import LabelTarget
from .model.model import Model, Run
from .model.monitor import LabelMonitor
from .model.opening import Target
from .model.several_labels import SeveralLabels

Array = NDArray[np.float64]


class DFOPClassifier(ClassifierMixin, Insight, Estimator):
    r"""Linear classification on a stream that changes: exact, one pass, constant memory.

    Forgetting least squares on coded labels (see `DFOPRegressor` for the objective). Classes are
    numbered in the order in which they are learned. Two classes: -1 and +1, and the sign of the
    margin decides; a margin of exactly 0 means the class learned first. More classes: one output
    each, the largest decides, of equal ones (within 1e-9) the class learned first.
    ``y`` of shape (n, m) are m targets, each with classes of its own; all share one covariance.
    Rows may hold text and missing values, as in `DFOPRegressor`.

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
        and for the automatic learner 30 over the number of weights, features scaled to at most 1.
    prior_covariance : array-like of shape (w, w), optional
        Of a single filter, in place of `prior_variance`; see `DFOPRegressor`.
    cap : float or None, default=1e6
        How uncertain forgetting may make a weight; see `DFOPRegressor`.
    pending_limit : int, default=100000
        How many rows may wait for their label; the oldest are given up beyond it.
    pending_expiry : int, str or None, default=None
        How long a row waits for its label at most: a number of rows, or a duration such as "3d"
        for a model that forgets by the clock.
    monitor : bool, default=False
        Whether a single filter keeps an eye on its errors, too, as the automatic learner always
        does: calibrated `predict_proba`, `alarms_`; the page on uncertainty has the cost.
    semi : bool, default=False
        Whether rows may come without a label (NaN, None, pandas' NA): they are predicted, the model
        forgets with them as with any row, and they show how features are distributed.
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
    max_classes : int, default=1000
        How many classes a target may have: a number taken for a label is found out. Classes that
        nobody can name beforehand: ``partial_fit(X, y, classes="open")``.

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

    _parameter_names = (*Estimator._parameter_names, "max_classes")

    def __init__(
        self,
        forgetting: str | float | Forgetting = "auto",
        *,
        features: Any = "auto",
        lags: int = 0,
        fit_intercept: bool = True,
        prior_variance: float | None = None,
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
        max_classes: int = 1000,
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
        self.max_classes = max_classes

    def _new_target(self, y: Any) -> LabelTarget | SeveralLabels:
        try:
            several = y is not None and np.asarray(y).ndim == 2
        except ValueError:  # rows of different length; reading them says so
            several = False
        return (SeveralLabels if several else LabelTarget)(limit=self.max_classes)

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
            The rows, oldest first. A column without any value is refused: `partial_fit` takes
            one whose values may come later.
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
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n,), optional
            How many times each row counts: c means the row c times, 0 not at all.
        discount : array-like of shape (n,), optional
            The discounts ``lam_t`` in (0, 1] themselves, instead of the rule in `forgetting`.
        time : array-like of shape (n,), optional
            Time of each row, numbers (seconds) or datetimes: for a rule by the clock, where it must
            not run backwards. Of other models only alarms carry it, in any order.
        classes : array-like, or list of array-like for y of shape (n, m), optional
            All labels there are, in the first call, where its `y` may not hold them all; "open" if
            any may come later, up to `max_classes`. Then `classes_` grows, and with it the columns
            of `predict_proba`; before a label is learned, None is predicted.
        late : bool
            Whether all these rows were predicted before any of their labels was known, as by
            someone who predicts a day and learns it at night. An automatic model then also judges
            its experts by what they predicted, and lags are the labels known before these rows.

        Returns
        -------
        self
        """
        self._learn(
            X,
            y,
            sample_weight=sample_weight,
            discount=discount,
            time=time,
            classes=classes,
            late=late,
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
        runs = self._learn(
            X, y, sample_weight=sample_weight, discount=discount, time=time, classes=classes
        )
        return joined(runs)

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
        runs = self._learn(
            X, y, sample_weight=sample_weight, discount=discount, time=time, classes=classes
        )
        parts = [_probabilities(run, self._model.target) for run in runs]
        if isinstance(parts[0], list):
            return [np.vstack(target) for target in zip(*parts, strict=True)]
        return np.vstack(parts)

    def ahead_then_learn(self, X: Any, y: Any, *, time: Any = None, classes: Any = None) -> Ahead:
        """Predict each row, and how sure that is, before its label is seen; then learn it.

        Parameters
        ----------
        X, y, time, classes
            As in `partial_fit`; y of shape (n,).

        Returns
        -------
        Ahead
            `prediction`, as `predict_then_learn` gives it, and its `probability`.

        Examples
        --------
        >>> from dfop import DFOPClassifier
        >>> X, y = [[1.0], [-1.0], [2.0], [-2.0]], ["up", "down", "up", "down"]
        >>> ahead = DFOPClassifier(forgetting=0).ahead_then_learn(X, y)
        >>> ahead.prediction[2:].tolist(), (ahead.probability[2:] > 0.5).tolist()
        (['up', 'down'], [True, True])
        """
        if np.ndim(y) != 1:
            raise ValueError(f"y has shape {np.shape(y)}: ahead_then_learn takes one label a row")
        return self._ahead(self._learn(X, y, time=time, classes=classes))

    def _ahead(self, runs: list[Run]) -> Ahead:
        return Ahead(joined(runs), probability=np.concatenate([_of_prediction(r) for r in runs]))

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
        decoded: NDArray[Any] = self._predicted(
            X, lambda model, outputs: model.target.decode(outputs)
        )
        return decoded

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

        def margins(model: Model, outputs: Array) -> Any:
            assert isinstance(model.target, LabelTarget | SeveralLabels)
            return model.target.margins(outputs)

        return self._predicted(X, margins)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of rows with the model as it is now.

        A model with a monitor (the automatic learner, or ``monitor=True``) calibrates them while it
        learns. A single filter's are else what least squares on coded labels estimates directly (a
        linear probability model), bent into range, with 1 % spread evenly over the classes.

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

        def probabilities(model: Model, outputs: Array) -> Any:
            monitor = model.monitor
            known = monitor.says(outputs) if isinstance(monitor, LabelMonitor) else None
            return _probabilities(Run(model.target, outputs, known), model.target)

        return self._predicted(X, probabilities)

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
        target = self._known("classes_").target
        if isinstance(target, SeveralLabels):
            classes = list(target.columns)
            shared = all(np.array_equal(some, classes[0]) for some in classes)
            return classes[0] if shared else classes
        assert isinstance(target, LabelTarget)
        if target.classes is None:
            raise AttributeError("classes_ is known once a label was learned")
        return target.classes

    @property
    def coef_(self) -> Array:
        """The weights now."""
        model = self._weighted()
        with model.lock:
            return weights_of(model)[0]

    @property
    def intercept_(self) -> Array:
        """The constants now."""
        model = self._weighted()
        with model.lock:
            return weights_of(model)[1]


def _probabilities(run: Run, now: Target) -> Any:
    """Show the probabilities of rows: calibrated, or what a single filter's outputs say.

    They have a column for each of the classes known `now`, which may be more than then.
    """
    target = run.target
    if isinstance(target, SeveralLabels):
        return target.shown(run.monitored or target.probabilities(run.outputs))
    assert isinstance(target, LabelTarget)
    if target.grows:
        target = replace(target, classes=now.classes)  # type: ignore[union-attr]
    return target.shown(_by_number(run))


def _by_number(run: Run) -> Array:
    """Return the probabilities of the classes in the order in which they were learned."""
    assert isinstance(run.target, LabelTarget)
    if run.monitored is None:
        return run.target.probabilities(run.outputs)
    return np.asarray(run.monitored[0])


def _of_prediction(run: Run) -> Array:
    """Return the probability of what was predicted of each row, by the classes known then.

    As long as no label is known nothing is predicted: any class is as good, and none of no class.
    """
    target = run.target
    assert isinstance(target, LabelTarget)
    if target.classes is None or not len(target.classes):
        return np.zeros(len(run.outputs))
    predicted = target.decode(run.outputs)
    if target.grows:  # the class that a row opens has a column already
        shown = target.of_classes(_by_number(run)[:, : len(target.classes)])
    else:
        shown = target.shown(_by_number(run))
    known = np.array([label is not None for label in predicted.tolist()])
    probability = np.full(len(shown), 1.0 / len(target.classes))
    at = np.searchsorted(target.classes, predicted[known].astype(target.classes.dtype))
    probability[known] = shown[known][np.arange(len(at)), at]
    return probability
