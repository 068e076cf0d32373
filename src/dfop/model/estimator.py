"""What the faces for arrays share: scikit-learn's contract around one `Model`.

Every public call holds the model's lock from its first check to its last change, so that threads
see whole calls. Parameters are frozen with the first row: one that was changed since is refused.
"""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dfop.core import first_unusable
from dfop.forgetting import ByClock, Forgetting, as_rule
from dfop.rows.batch import Batch
from dfop.rows.checks import in_words
from dfop.rows.sparse import SparseBatch, sparse_batch
from dfop.rows.tables import find_gaps, first_batch, has_no_rows, is_sparse, next_batch

from .arriving import arrive, read_due
from .keys import Key, Keys, check_keys
from .late import check_none, forget_late, learn_late
from .model import Model, Run
from .opening import Target
from .settings import Settings, settings_of
from .sparse_rows import WIDEST_DENSE

Array = NDArray[np.float64]

T = TypeVar("T")


class Ahead(NamedTuple):
    """What was predicted of rows before their targets were seen, and how sure that was."""

    prediction: NDArray[Any]
    """Numbers or labels."""
    probability: Array | None = None
    """Of the label that was predicted; None for numbers."""
    interval: Array | None = None
    """Lower and upper ends, shape (n, 2); None for labels, and without a monitor."""


class Estimator(BaseEstimator):
    """Base of `DFOPRegressor` and `DFOPClassifier`."""

    takes_batches = True
    """Whether X may be a `dfop.rows.Batch`."""

    _model: Model
    _made_with: tuple[Any, ...]
    _parameter_names: tuple[str, ...] = (
        "forgetting",
        "features",
        "lags",
        "fit_intercept",
        "prior_variance",
        "prior_covariance",
        "cap",
        "pending_limit",
        "pending_expiry",
        "monitor",
        "semi",
        "experts",
        "threads",
        "storage",
        "guarantee",
    )
    _values_of: ClassVar[attrgetter[tuple[Any, ...]]]
    """Reads all parameters; asked in every call."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._values_of = attrgetter(*cls._parameter_names)

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
    ) -> None:
        self.forgetting = forgetting
        self.features = features
        self.lags = lags
        self.fit_intercept = fit_intercept
        self.prior_variance = prior_variance
        self.prior_covariance = prior_covariance
        self.cap = cap
        self.pending_limit = pending_limit
        self.pending_expiry = pending_expiry
        self.monitor = monitor
        self.semi = semi
        self.experts = experts
        self.threads = threads
        self.storage = storage
        self.guarantee = guarantee

    @property
    def needs_time(self) -> bool:
        """Whether rows must come with their time: the model forgets by the clock."""
        return isinstance(as_rule(self.forgetting), ByClock)

    @property
    def takes_time(self) -> bool:
        """Whether rows may come with their time: to forget by the clock, or for alarms."""
        model: Model | None = self.__dict__.get("_model")
        settings = self._settings() if model is None else model.settings
        return self.needs_time or settings.monitored

    def set_params(self, **params: Any) -> Self:
        """Set parameters, see scikit-learn; the next call checks them.

        Returns
        -------
        self
        """
        super().set_params(**params)
        if "_made_with" in self.__dict__:
            self._made_with = ()  # equal is not enough: True is 1, but no number of threads
        return self

    # -- the model ----------------------------------------------------------------------------

    @abstractmethod
    def _new_target(self, y: Any) -> Target:
        """Make a target that knows nothing yet; `y` is None where rows come before labels."""

    def _parameters(self) -> tuple[Any, ...]:
        return self._values_of(self)

    def _settings(self) -> Settings:
        return settings_of(self._parameter_names, self._parameters())

    def _started(self) -> Model | None:
        """Return the model, once there is one; refuse parameters changed since, but `threads`."""
        model: Model | None = self.__dict__.get("_model")
        if model is not None and self._may_have_changed():
            settings = self._settings()
            with model.lock:
                model.settings.check_same(settings)
                model.use_threads(settings.threads)
                self._made_with = self._parameters()
        return model

    def _may_have_changed(self) -> bool:
        """Whether a parameter is another one than when the model was made."""
        try:
            return self._parameters() != self._made_with
        except ValueError:  # arrays, which only the settings can compare
            return True

    def _open(self, X: Any, y: Any) -> tuple[Model, Batch | SparseBatch]:
        """Make a model for its first rows; it is not yet this one's."""
        model = Model(self._settings_for(X), self._new_target(y))
        return model, sparse_batch(X) if is_sparse(X) else first_batch(X)

    def _settings_for(self, X: Any) -> Settings:
        """Return what a model is made with if these are its first rows."""
        settings = self._settings()
        wide = is_sparse(X) and X.ndim == 2 and X.shape[1] > WIDEST_DENSE
        return settings.for_wide_sparse_rows() if wide else settings

    def _keep(self, model: Model) -> None:
        self.__dict__.update(_made_with=self._parameters(), _model=model)  # both at once

    @property
    def _opening(self) -> threading.RLock:
        """Two threads may bring the first rows: one of them makes the model, under this lock."""
        lock: threading.RLock = self.__dict__.setdefault("_opening_lock", threading.RLock())
        return lock

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__().copy()  # other threads may go on
        state.pop("_opening_lock", None)
        return state

    def __copy__(self) -> Self:
        """Return a learner of its own: what one learns, the other must not know."""
        return copy.deepcopy(self)

    def __dfop_model__(self) -> Model | None:
        """Return the model, for a file."""
        return self._started()

    def __dfop_resume__(self, model: Model) -> None:
        """Go on with a model, from a file."""
        self._keep(model)

    def _batch(self, model: Model, X: Any) -> Batch | SparseBatch:
        """Read rows that must fit the model."""
        if (  # nothing to convert: a row at a time must not pay for the general check
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == model.columns
            and X.shape[0] > 0
            and model.names is None
            and X.flags.c_contiguous
            and X.flags.aligned
        ):
            return Batch(X, first_unusable(X) < X.size and find_gaps(X))
        return next_batch(self, X, model.names, model.columns)

    # -- learning and predicting --------------------------------------------------------------

    def _learn(self, X: Any, y: Any, *, restart: bool = False, **given: Any) -> list[Run]:
        """Predict every row before its target is seen, and learn it."""
        if restart:
            return self._learn_anew(X, y, **given)
        model = self._started()
        if model is None:
            with self._opening:
                model = self._started()
                if model is None:
                    model, batch = self._open(X, y)
                    runs = model.learn(batch, y, **given)
                    self._keep(model)
                    return runs
        with model.lock:
            return model.learn(self._batch(model, X), y, **given)

    def _learn_anew(self, X: Any, y: Any, **given: Any) -> list[Run]:
        """Forget everything, then learn; until then other threads use the model as it was."""
        model, batch = self._open(X, y)
        runs = model.learn(batch, y, **given)
        if not model.learned:
            raise ValueError(
                "every target is missing (or its row has the weight 0): there is nothing to fit; "
                "give some rows with a target"
                if model.settings.semi
                else "sample_weight is zero for every row: there is nothing to fit"
            )
        if empty := model.empty_columns():
            raise ValueError(
                f"no row that counts has a value in {in_words(empty)}: there is nothing to learn "
                "from; leave that out of X, or, if values come later, learn the rows with "
                "partial_fit, which waits for the first value"
            )
        with self._opening:
            self._keep(model)
        return runs

    def _predicted(self, X: Any, shown: Callable[[Model, Array], T]) -> T:
        """Return what is shown of the outputs that make the predictions, by the same model."""
        model = self._started()
        if model is None:  # scikit-learn's own way to say so takes a third of a row's time
            check_is_fitted(self)
            model = self._started()  # another thread has learned the first rows in between
            assert model is not None
        with model.lock:
            some = type(X) is np.ndarray and X.size > 0
            if not some and has_no_rows(X, model.columns, model.names):
                return shown(model, np.empty((0, model.target.width)))
            return shown(model, model.predict(self._batch(model, X)))

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        return self._known("n_features_in_").columns

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where X had names."""
        names = self._known("feature_names_in_").names
        if names is None:
            raise AttributeError("feature_names_in_: the columns have no names")
        return np.array(names, dtype=object)

    @property
    def coded_names_(self) -> NDArray[Any]:
        """Names of the coded columns; in `coef_` their weights stand behind those of lags."""
        model = self._known("coded_names_")
        with model.lock:
            return np.array(model.coded_names(), dtype=object)

    @property
    def empty_columns_(self) -> list[str]:
        """Names of the columns that have had no value yet: their first one says what they hold."""
        model = self._known("empty_columns_")
        with model.lock:
            return model.empty_columns()

    def _known(self, what: str) -> Model:
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            raise AttributeError(f"{what} is known once a row was seen")
        return model

    def _weighted(self) -> Model:
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            raise AttributeError("the weights are known once a row was learned")
        return model

    # -- labels that come late ----------------------------------------------------------------

    @property
    def pending_(self) -> list[Key]:
        """Keys of the rows that wait for their label, oldest first."""
        model = self.__dict__.get("_model")
        if model is None:
            return []
        with model.lock:
            return list(model.waiting)

    @property
    def expired_(self) -> int:
        """How many rows were given up that waited too long, or were too many."""
        model = self.__dict__.get("_model")
        return 0 if model is None else model.waiting.expired

    def predict_pending(
        self,
        X: Any,
        keys: Iterable[Key],
        *,
        labels: tuple[Iterable[Key], Any, Any] | None = None,
        classes: Any = None,
        discount: ArrayLike | None = None,
        time: Any = None,
    ) -> NDArray[Any]:
        """Predict rows now and keep them until `learn_pending` brings their labels.

        Forgetting goes on with the arrival of rows, not of labels. The result does not depend on
        how rows and labels are cut into calls.

        Parameters
        ----------
        X : array-like of shape (n, features)
            The rows.
        keys : iterable of int or str
            A new key for each row, to name it when its label comes.
        labels : tuple of (keys, y, before), optional
            Labels that arrive between these rows: those of the rows `keys`, each before the row
            of X that `before` counts (n: after the last), in ascending order.
        classes : array-like, optional
            For a classifier that has not learned anything yet: all its classes.
        discount, time : array-like, optional
            As in `partial_fit`.

        Returns
        -------
        ndarray
            The predictions. Before the first label: 0, or the first class.

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> model = DFOPRegressor(forgetting=0)
        >>> model.predict_pending([[1.0], [2.0]], keys=["monday", "tuesday"])
        array([0., 0.])
        >>> model.learn_pending(["tuesday"], [4.0]).pending_
        ['monday']
        """
        given = {"classes": classes, "discount": discount, "time": time}
        return joined(self._arrive(X, keys, labels, given, told=False))

    def ahead_pending(
        self,
        X: Any,
        keys: Iterable[Key],
        *,
        labels: tuple[Iterable[Key], Any, Any] | None = None,
        classes: Any = None,
        time: Any = None,
    ) -> Ahead:
        """Predict rows now, and how sure that is; keep them until their labels come.

        Parameters
        ----------
        X, keys, labels, classes, time
            As in `predict_pending`; labels of shape (n,).

        Returns
        -------
        Ahead
            `prediction`, as `predict_pending` gives it, and its `probability` or `interval`, by the
            labels that came before the row.

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> model = DFOPRegressor()
        >>> ahead = model.ahead_pending([[1.0], [2.0]], keys=["monday", "tuesday"])
        >>> ahead.prediction, ahead.interval  # nothing is known before the first label
        (array([0., 0.]), array([[-inf,  inf],
               [-inf,  inf]]))
        """
        given = {"classes": classes, "time": time}
        return self._ahead(self._arrive(X, keys, labels, given, told=True))

    @abstractmethod
    def _ahead(self, runs: list[Run]) -> Ahead:
        """Return what runs say of rows with one target each."""

    def _arrive(
        self, X: Any, keys: Iterable[Key], labels: Any, given: dict[str, Any], *, told: bool
    ) -> list[Run]:
        """Predict rows as they arrive; if `told`, with what the monitor says of them."""
        if labels is not None:
            given["due"] = read_due(labels)
        model = self._started()
        if model is None:
            with self._opening:
                model = self._started()
                if model is None:
                    model, batch = self._open(X, None)
                    runs = arrive(model, batch, keys, told=told, **given)
                    self._keep(model)
                    return runs
        with model.lock:
            return arrive(model, self._batch(model, X), keys, told=told, **given)

    def learn_pending(self, keys: Iterable[Key], y: Any) -> Self:
        """Learn the labels of rows that were predicted before.

        Parameters
        ----------
        keys : iterable of int or str
            Which rows, in any order; none where no label has come.
        y : array-like of shape (n,) or (n, m)
            Their labels.

        Returns
        -------
        self

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> model = DFOPRegressor(forgetting=0)
        >>> _ = model.predict_pending([[1.0], [2.0], [3.0]], keys=["a", "b", "c"])
        >>> model.learn_pending(["c", "a"], [6.0, 2.0]).pending_
        ['b']
        >>> round(float(model.predict([[2.0]])[0]), 1)
        4.0
        """
        names = check_keys(keys, None)
        model = self._where_wait(names)
        if not len(names):
            check_none(y)
        elif model is not None:
            with model.lock:
                learn_late(model, names, y)
        return self

    def forget_pending(self, keys: Iterable[Key]) -> Self:
        """Stop waiting for labels that will never come.

        Parameters
        ----------
        keys : iterable of int or str
            Which rows.

        Returns
        -------
        self

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> model = DFOPRegressor()
        >>> _ = model.predict_pending([[1.0], [2.0]], keys=[17, 18])
        >>> model.forget_pending([17]).pending_
        [18]
        """
        names = check_keys(keys, None)
        model = self._where_wait(names)
        if model is not None:
            with model.lock:
                forget_late(model, names)
        return self

    def _where_wait(self, names: Keys) -> Model | None:
        """Return the model in which rows wait; there may be none yet if no row is named."""
        model = self._started()
        if model is None and len(names):
            raise ValueError("no row waits for its label: predict_pending announces rows")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = not self.experts  # which learn one target
        return tags


def joined(runs: list[Run]) -> NDArray[Any]:
    """Return the predictions of all runs."""
    parts = [run.target.decode(run.outputs) for run in runs]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
