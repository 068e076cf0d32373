"""`Keyed`: many models of one design, one per key, in one compiled store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dfop.classifier import DFOPClassifier
from dfop.core import Lock
from dfop.files.keyed import pack_keyed, unpack_keyed
from dfop.forgetting import ByRows, Duration
from dfop.model.estimator import Ahead
from dfop.model.keyed_design import checked_design, checked_expiry
from dfop.model.keyed_late import Shown
from dfop.model.keyed_targets import KeyedLabels, KeyedNumbers, SharedLabels
from dfop.model.label_targets import LabelTarget
from dfop.model.settings import Settings
from dfop.model.targets import NumberTarget
from dfop.regressor import DFOPRegressor

from .keyed_models import Bounds, KeyedModels
from .keyed_pending import KeyedPending

Array = NDArray[np.float64]

_SHARED_FORGETTING = 1e-4
"""The most that a shared model forgets with a row, since rows of all keys are its rows."""


class Keyed(KeyedPending):
    """One model per key, of one design, for up to 10 million keys.

    The same, to the last bit, as a dict of models that learn each the rows of its key, in one
    compiled store: a key of 10 features takes 811 bytes, with ``forgetting="few"`` 4,011 and from
    the first late label on 4,907.

    Parameters
    ----------
    model : DFOPRegressor or DFOPClassifier
        The design, that has learned nothing: a single filter, or with ``forgetting="few"`` four
        of them that find out by themselves how fast to forget; without lags. Rows may hold text
        and gaps, coded once for all keys; see the page on scale.
    expire : int, str or None, default=None
        How long a key may be idle before its model is given up: a number of rows (of all keys), or
        a duration such as "30d" for a model that forgets by the clock.
    memory_limit : int or None, default=None
        Bytes that the models may take: beyond it, a new key takes the place of the idlest one. Rows
        that make one key larger than that (columns, classes) are refused before anything changes.
    shared : bool or DFOPRegressor, default=False
        Whether one model learns the rows of all keys, and each key what that one leaves over: a
        new key is then predicted from its first row on. True has it forget by the same clock, or at
        most 1e-4 a row; or give the model.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : tuple of str or None
        Their names, where the first X had names.
    empty_columns_ : list of str
        Names of the columns that have had no value yet.
    classes_ : ndarray
        The labels, sorted; the same for all keys.
    limited_rows_ : int
        On how many rows the cap acted, of all models that are held; 0 means that all are exact.
    evicted_ : int
        How many keys lost their place to new ones.
    expired_ : int
        How many keys were idle for too long.
    expired_rows_ : int
        How many rows waited for a label that came when the key's model was gone, or were too many:
        more than `pending_limit` of a key, or of all keys whose models are gone.
    memory_bytes_ : int
        What the models take now, and 56 bytes of each key that has late labels; rows that wait are
        not counted.
    bytes_per_key_ : int
        What one more key takes.

    See Also
    --------
    Information : One model of one stream, learned in parts.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop import DFOPRegressor, Keyed
    >>> keyed = Keyed(DFOPRegressor(forgetting=0.001))
    >>> rng = np.random.default_rng(0)
    >>> X, keys = rng.normal(size=(1000, 2)), rng.choice(["ham", "eggs"], 1000)
    >>> y = np.where(keys == "ham", X[:, 0], X[:, 1])
    >>> ahead = keyed.predict_then_learn(keys, X, y)
    >>> keyed["ham"].coef_.argmax(), keyed["eggs"].coef_.argmax()
    (np.int64(0), np.int64(1))
    >>> keyed.predict(["ham", "eggs", "new"], [[1.0, 2.0]] * 3).round(2)
    array([1., 2., 0.])
    """

    def __init__(
        self,
        model: DFOPRegressor | DFOPClassifier,
        *,
        expire: int | Duration | None = None,
        memory_limit: int | None = None,
        shared: bool | DFOPRegressor = False,
    ) -> None:
        if type(model) not in (DFOPRegressor, DFOPClassifier):
            raise TypeError(
                f"model is a {type(model).__name__}: give a DFOPRegressor or DFOPClassifier, the "
                "design of all"
            )
        if model.__dfop_model__() is not None:
            raise ValueError("model has learned rows: give a new one, it is the design of all")
        settings = checked_design(Settings.of(**model.get_params()))
        if memory_limit is not None and (type(memory_limit) is not int or memory_limit < 1):
            raise ValueError(f"memory_limit={memory_limit!r} must be a number of bytes, or None")
        self.model, self.expire, self.memory_limit = model, expire, memory_limit
        self.shared = shared
        bounds = Bounds(checked_expiry(expire, settings), memory_limit)
        of_all = _shared_model(shared, model, settings)
        self._models = KeyedModels(settings, _targets(model, of_all is not None), bounds, of_all)
        self._lock = Lock()

    # -- learning and predicting --------------------------------------------------------------

    def predict_then_learn(
        self, keys: Any, X: Any, y: Any, *, time: Any = None, classes: Any = None
    ) -> NDArray[Any]:
        """Predict each row with the model of its key before its target is seen, then learn it.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Whole numbers or texts, one per row.
        X : array-like of shape (n, features)
            The rows, oldest first.
        y : array-like of shape (n,) or (n, m)
            The targets; labels of shape (n,).
        time : array-like of shape (n,), optional
            Time of each row, for a rule by the clock; it must not run backwards within a key, nor
            over all keys where a shared model goes by the clock.
        classes : array-like, optional
            All labels there are, in the first call, where its `y` may not hold them all; "open" if
            any may come later, up to `max_classes`. Then a key that has learned no label predicts
            None.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The one-step-ahead predictions.
        """
        with self._lock:
            return self._decode(self._learn(keys, X, y, time, classes))

    def ahead_then_learn(
        self, keys: Any, X: Any, y: Any, *, time: Any = None, classes: Any = None
    ) -> Ahead:
        """Predict each row, and how sure that is, before its target is seen; then learn it.

        Parameters
        ----------
        keys, X, y, time, classes
            As in `predict_then_learn`; y of shape (n,).

        Returns
        -------
        Ahead
            `prediction`, and of labels its `probability`.

        Examples
        --------
        >>> from dfop import DFOPClassifier, Keyed
        >>> keyed = Keyed(DFOPClassifier(forgetting=0))
        >>> X, y = [[1.0], [-1.0], [2.0], [-2.0]], ["up", "down", "up", "down"]
        >>> ahead = keyed.ahead_then_learn([7, 7, 7, 7], X, y)
        >>> ahead.prediction[2:].tolist(), (ahead.probability[2:] > 0.5).tolist()
        (['up', 'down'], [True, True])
        """
        with self._lock:
            return self._ahead(self._learn(keys, X, y, time, classes))

    def partial_fit(
        self, keys: Any, X: Any, y: Any, *, time: Any = None, classes: Any = None
    ) -> Self:
        """Learn rows, each with the model of its key.

        Parameters
        ----------
        keys, X, y, time, classes
            As in `predict_then_learn`.

        Returns
        -------
        self
        """
        with self._lock:
            self._learn(keys, X, y, time, classes)
        return self

    def predict(self, keys: Any, X: Any) -> NDArray[Any]:
        """Predict each row with the model of its key as it is now.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Whole numbers or texts. A key that is not known has learned nothing.
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The predictions.
        """
        with self._lock:
            return self._decode(self._predict(keys, X))

    def ahead(self, keys: Any, X: Any) -> Ahead:
        """Predict each row, and how sure that is, with the model of its key as it is now.

        Parameters
        ----------
        keys, X
            As in `predict`; of models of one target a row.

        Returns
        -------
        Ahead
            `prediction`, and of labels its `probability`.
        """
        with self._lock:
            return self._ahead(self._predict(keys, X))

    def predict_proba(self, keys: Any, X: Any) -> Array:
        """Class probabilities of each row, by the model of its key as it is now.

        Those of a `DFOPClassifier` of its own that was told `classes_`; where any class may come,
        to rounding.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Whole numbers or texts. A key that is not known has learned nothing.
        X : array-like of shape (n, features)
            The rows.

        Returns
        -------
        ndarray of shape (n, classes)
            In the order of `classes_`.

        Examples
        --------
        >>> from dfop import DFOPClassifier, Keyed
        >>> keyed = Keyed(DFOPClassifier(forgetting=0))
        >>> _ = keyed.partial_fit(["a", "a", "b", "b"], [[1.0], [-1.0]] * 2, [1, 0, 0, 1])
        >>> keyed.predict_proba(["a", "b", "new"], [[1.0]] * 3).round(1)
        array([[0. , 1. ],
               [1. , 0. ],
               [0.5, 0.5]])
        """
        with self._lock:
            return self._probabilities(self._predict(keys, X))

    def _learn(self, keys: Any, X: Any, y: Any, time: Any, classes: Any) -> Shown:
        models = self._models
        batch, names = self._read(keys, X)
        coded = models.targets.plan(y, len(batch.numbers), classes)
        return models.learn(names, batch, coded, time)

    def _predict(self, keys: Any, X: Any) -> Shown:
        self._models.known()
        batch, names = self._read(keys, X, maybe_none=True)
        return self._models.predict(names, batch)

    # -- files --------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return all models, and the rows that wait, as bytes that `from_bytes` reads.

        Returns
        -------
        bytes
        """
        with self._lock:
            models = self._models
            store = models.known()
            return pack_keyed(
                {
                    "model": self.model,
                    "shared": models.shared,
                    "coder": models.coder,
                    "names": models.names,
                    "target": models.targets.target,
                    "expire": models.bounds.expiry,
                    "memory_limit": self.memory_limit,
                    "text": store.text,
                    "zoned": models.zoned,
                    "two_combinations": models.two_combinations,
                    "state": store.snapshot(),
                    "late": models.late,
                }
            )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote. Reading never runs code from the bytes.

        Parameters
        ----------
        data : bytes
            All of them.

        Returns
        -------
        Keyed

        Raises
        ------
        ModelFileError
            If they are damaged or something else.
        """
        return unpack_keyed(data, cls.__dfop_rebuild__)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let copies and pickles learn for themselves."""
        if self._models.store is None:
            design = {name: getattr(self, name)
                      for name in ("model", "expire", "memory_limit", "shared")}  # fmt: skip
            return _new, (type(self), design)
        return type(self).from_bytes, (self.to_bytes(),)

    @classmethod
    def __dfop_rebuild__(cls, parts: dict[str, Any]) -> Self:
        """Make the models again that a file holds."""
        shared = parts["shared"]
        keyed = cls(
            parts["model"],
            memory_limit=parts["memory_limit"],
            shared=False if shared is None else shared,
        )
        models = keyed._models
        keyed.expire = parts["expire"]
        expiry = checked_expiry(parts["expire"], models.settings)
        models.bounds = models.bounds._replace(expiry=expiry)
        models.targets = replace(models.targets, target=parts["target"])
        models.two_combinations = parts["two_combinations"]
        models.restore(parts["coder"], parts["names"], parts["text"], parts["state"])
        models.zoned = parts["zoned"]
        rows, expired = parts["late"]
        models.late.restore(rows, parts["state"]["late"][:, 2], expired)
        return keyed


def _new(kind: type[Keyed], design: dict[str, Any]) -> Keyed:
    return kind(**design)


def _targets(
    model: DFOPRegressor | DFOPClassifier, shared: bool
) -> KeyedNumbers | KeyedLabels | SharedLabels:
    if isinstance(model, DFOPRegressor):
        return KeyedNumbers(NumberTarget())
    return (SharedLabels if shared else KeyedLabels)(LabelTarget(limit=model.max_classes))


def _shared_model(
    shared: bool | DFOPRegressor, model: DFOPRegressor | DFOPClassifier, settings: Settings
) -> DFOPRegressor | None:
    if isinstance(shared, DFOPRegressor):
        return shared
    if not isinstance(shared, bool):
        raise TypeError(
            f"shared is a {type(shared).__name__}: give True, False or a DFOPRegressor, which also "
            "learns the codes of labels"
        )
    if not shared:
        return None
    rule = settings.rule
    if isinstance(rule, ByRows):
        rule = ByRows(min(rule.mu, _SHARED_FORGETTING))
    return DFOPRegressor(rule, fit_intercept=model.fit_intercept, cap=model.cap)
