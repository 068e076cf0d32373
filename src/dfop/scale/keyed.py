"""`Keyed`: many models of one design, one per key, in one compiled store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dfop.core import Filter, KeyedStore, Lock
from dfop.engines.build import build_engine
from dfop.engines.keyed import build_store, bytes_per_key, find, place
from dfop.files.keyed import pack_keyed, unpack_keyed
from dfop.files.resuming import resume
from dfop.forgetting import ByClock, ByRows, Duration
from dfop.model.keyed_design import checked_design, checked_expiry
from dfop.model.keyed_late import LateRows, Placed
from dfop.model.keys import check_keys
from dfop.model.settings import Settings
from dfop.model.targets import NumberTarget
from dfop.regressor import DFOPRegressor
from dfop.rows.batch import Batch
from dfop.rows.columns import check_columns, first_batch, refuse_all_but_numbers
from dfop.rows.keys import KeyArray, read_keys
from dfop.rows.weights import Clock, RowWeights, discounts_of_gaps, read_times, row_weights

Array = NDArray[np.float64]
Key = int | str

_SHARED_FORGETTING = 1e-4
"""The most that a shared model forgets with a row, since rows of all keys are its rows."""


class Keyed:
    """One model per key, of one design, for up to 10 million keys.

    The same, to the last bit, as a dict of models that learn each the rows of its key, in one
    compiled store: a key of 10 features takes 811 bytes.

    Parameters
    ----------
    model : DFOPRegressor
        The design: a single filter (`forgetting` is no "auto") without lags, that has learned
        nothing. Rows are numbers without gaps.
    expire : int, str or None, default=None
        How long a key may be idle before its model is given up: a number of rows (of all keys), or
        a duration such as "30d" for a model that forgets by the clock.
    memory_limit : int or None, default=None
        Bytes that the models may take: beyond it, a new key takes the place of the idlest one.
    shared : bool or DFOPRegressor, default=False
        Whether one model learns the rows of all keys, and each key what that one leaves over: a
        new key is then predicted from its first row on. True has it forget by the same clock, or at
        most 1e-4 a row; or give the model.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    evicted_ : int
        How many keys lost their place to new ones.
    expired_ : int
        How many keys were idle for too long.
    expired_rows_ : int
        How many rows waited for a label that came when the key's model was gone, or were too many.
    memory_bytes_ : int
        What the models take now.
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
        model: DFOPRegressor,
        *,
        expire: int | Duration | None = None,
        memory_limit: int | None = None,
        shared: bool | DFOPRegressor = False,
    ) -> None:
        if type(model) is not DFOPRegressor:
            raise TypeError(f"model is a {type(model).__name__}: give a DFOPRegressor, the design")
        if model.__dfop_model__() is not None:
            raise ValueError("model has learned rows: give a new one, it is the design of all")
        self.model, self.expire, self.memory_limit = model, expire, memory_limit
        self._settings = checked_design(Settings.of(**model.get_params()))
        self._expiry = checked_expiry(expire, self._settings)
        if memory_limit is not None and not (isinstance(memory_limit, int) and memory_limit > 0):
            raise ValueError(f"memory_limit={memory_limit!r} must be a number of bytes, or None")
        self.shared = shared
        self._shared = _shared_model(shared, model, self._settings)
        self._lock = Lock()
        self._store: KeyedStore | None = None
        self._target = NumberTarget()
        self._names: tuple[str, ...] | None = None
        self._datetimes: bool | None = None
        self._columns = 0
        self._late = LateRows(self._settings.pending_limit)

    # -- learning and predicting --------------------------------------------------------------

    def predict_then_learn(self, keys: Any, X: Any, y: Any, *, time: Any = None) -> Array:
        """Predict each row with the model of its key before its target is seen, then learn it.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Whole numbers or texts, one per row.
        X : array-like of shape (n, features)
            The rows, oldest first.
        y : array-like of shape (n,) or (n, m)
            The targets.
        time : array-like of shape (n,), optional
            Time of each row, for a rule by the clock; it must not run backwards within a key.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The one-step-ahead predictions.
        """
        with self._lock:
            batch = self._read(X)
            n = len(batch.numbers)
            names = read_keys(keys, n)
            self._check_kind(names)
            planned = self._target.plan(y, n, np.ones(n, bool))
            self._check_outputs(planned.target)
            moments = self._read_times(names, time)
            store = self._open(batch, names, planned.target)
            ahead = self._learn_shared(batch.numbers, planned.values, time)
            entries, fresh, pace = self._place(store, names, moments)
            left = planned.values if ahead is None else planned.values - ahead
            out = np.empty(left.shape)
            store.learn(entries, fresh, batch.numbers, left, pace, out)
            return self._target.decode(out if ahead is None else out + ahead)

    def partial_fit(self, keys: Any, X: Any, y: Any, *, time: Any = None) -> Self:
        """Learn rows, each with the model of its key.

        Parameters
        ----------
        keys, X, y, time
            As in `predict_then_learn`.

        Returns
        -------
        self
        """
        self.predict_then_learn(keys, X, y, time=time)
        return self

    def predict(self, keys: Any, X: Any) -> Array:
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
            store = self._known()
            batch = self._read(X)
            names = read_keys(keys, len(batch.numbers))
            self._check_kind(names)
            out = np.empty((len(batch.numbers), self._target.outputs))
            store.predict(find(store, names.values), batch.numbers, out)
            if self._shared is not None and self._shared.__dfop_model__() is not None:
                out += self._shared.predict(batch.numbers).reshape(out.shape)
            return self._target.decode(out)

    def _learn_shared(self, X: Array, values: Array, time: Any) -> Array | None:
        if self._shared is None:
            return None
        given = {"time": time} if self._shared.needs_time else {}
        ahead = self._shared.predict_then_learn(X, self._target.decode(values), **given)
        return ahead.reshape(values.shape)

    # -- labels that come late ----------------------------------------------------------------

    def predict_pending(self, keys: Any, X: Any, rows: Iterable[Key], *, time: Any = None) -> Array:
        """Predict rows now and keep them until `learn_pending` brings their labels.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Which model each row is for.
        X : array-like of shape (n, features)
            The rows.
        rows : iterable of int or str
            A new name for each row, to name it when its label comes.
        time : array-like of shape (n,), optional
            As in `predict_then_learn`.

        Returns
        -------
        ndarray
            The predictions.
        """
        with self._lock:
            batch = self._read(X)
            names = read_keys(keys, len(batch.numbers))
            self._check_kind(names)
            named = check_keys(rows, len(batch.numbers))
            self._late.check_new(named)
            moments = self._read_times(names, time)
            store = self._open(batch, names, self._target)
            ahead = np.zeros((len(named), self._target.outputs))
            if self._shared is not None and self._shared.__dfop_model__() is not None:
                ahead = self._shared.predict(batch.numbers).reshape(ahead.shape)
            placed = self._place(store, names, moments)
            out = self._late.arrive(store, named, batch.numbers, ahead, placed)
            return self._target.decode(out + ahead)

    def learn_pending(self, rows: Iterable[Key], y: Any) -> Self:
        """Learn the labels of rows that were predicted before, with what they count by now.

        A label whose model was given up meanwhile is not learned, and counted in `expired_rows_`.

        Parameters
        ----------
        rows : iterable of int or str
            Which rows, in any order.
        y : array-like of shape (n,) or (n, m)
            Their labels.

        Returns
        -------
        self
        """
        with self._lock:
            store, named = self._known(), check_keys(rows, None)
            self._late.check_waiting(named)
            planned = self._target.plan(y, len(named), np.ones(len(named), bool))
            self._check_outputs(planned.target)
            if self._shared is not None:
                X = np.vstack([self._late.rows[row].x for row in named])
                self._shared.partial_fit(X, self._target.decode(planned.values))
            self._target = planned.target
            self._late.learn(store, named, planned.values)
        return self

    def forget_pending(self, rows: Iterable[Key]) -> Self:
        """Stop waiting for labels that will never come.

        Parameters
        ----------
        rows : iterable of int or str
            Which rows.

        Returns
        -------
        self
        """
        with self._lock:
            store, named = self._known(), check_keys(rows, None)
            self._late.check_waiting(named)
            self._late.forget(store, named)
        return self

    @property
    def pending_(self) -> list[Key]:
        """Names of the rows that wait for their label, oldest first."""
        return list(self._late.rows)

    # -- keys ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return 0 if self._store is None else len(self._store)

    def __contains__(self, key: Key) -> bool:
        return self._store is not None and self._entry(key) >= 0

    def __iter__(self) -> Iterator[Key]:
        """Go through the keys, the idlest first."""
        if self._store is None:
            return iter(())
        state = self._store.snapshot()
        return iter(state["texts"] if self._store.text else state["numbers"])

    def __getitem__(self, key: Key) -> DFOPRegressor:
        """Return the model of a key, as a learner of its own: it goes on apart."""
        with self._lock:
            entry = -1 if self._store is None else self._entry(key)
            if entry < 0:
                raise KeyError(f"no rows of the key {key!r} were learned, or they were given up")
            assert self._store is not None
            return self._as_learner(self._store, entry)

    def _entry(self, key: Key) -> int:
        names = read_keys([key], 1)
        self._check_kind(names)
        return int(find(self._known(), names.values)[0])

    def _as_learner(self, store: KeyedStore, entry: int) -> DFOPRegressor:
        learner = DFOPRegressor(**self.model.get_params())
        clock = Clock()
        if self._datetimes is not None:
            seconds, ticks = store.last(entry)
            clock = Clock(ticks if self._datetimes else seconds, self._datetimes)
        # How many rows a key had is not counted: one at least.
        resume(learner, self._target, store.filter(entry), names=self._names, clock=clock, rows=1)
        return learner

    # -- files --------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return all models as bytes that `from_bytes` reads.

        Returns
        -------
        bytes
        """
        with self._lock:
            store = self._known()
            if self._late.rows:
                raise ValueError(
                    f"{len(self._late.rows)} rows wait for their label: bring the labels "
                    "(learn_pending), or forget_pending, before saving"
                )
            return pack_keyed(
                {
                    "model": self.model,
                    "shared": self._shared,
                    "columns": self._columns,
                    "names": self._names,
                    "target": self._target,
                    "expire": self._expiry,
                    "memory_limit": self.memory_limit,
                    "text": store.text,
                    "state": store.snapshot(),
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

    @classmethod
    def __dfop_rebuild__(cls, parts: dict[str, Any]) -> Self:
        """Make the models again that a file holds."""
        keyed = cls(parts["model"], memory_limit=parts["memory_limit"], shared=False)
        keyed._expiry = checked_expiry(parts["expire"], keyed._settings)
        keyed.expire = parts["expire"]
        keyed._shared = parts["shared"]
        keyed.shared = False if keyed._shared is None else keyed._shared
        keyed._columns, keyed._names = parts["columns"], parts["names"]
        keyed._target = parts["target"]
        keyed._store = keyed._build(parts["text"])
        keyed._store.restore(parts["state"])
        keyed._datetimes = any(parts["state"]["ticks"])
        return keyed

    # -- checks -------------------------------------------------------------------------------

    def _read(self, X: Any) -> Batch:
        batch = first_batch(X)
        if self._store is not None:
            check_columns(batch, self._names, self._columns, "Keyed")
        refuse_all_but_numbers(batch)
        return batch

    def _check_kind(self, names: KeyArray) -> None:
        if self._store is not None and names.text != self._store.text and len(names.values):
            kinds = ("texts", "whole numbers") if self._store.text else ("whole numbers", "texts")
            raise ValueError(f"keys were {kinds[0]} before and are {kinds[1]} now: keep to one")

    def _check_outputs(self, target: NumberTarget) -> None:
        if self._store is not None and target.outputs != self._target.outputs:
            raise ValueError(
                f"y has {target.outputs} outputs, but rows were predicted before as if it had one: "
                "learn a row with its label first"
            )

    def _read_times(self, names: KeyArray, time: Any) -> Any:
        n, rule = len(names.values), self._settings.rule
        row_weights(rule, 0, Clock(), time=None if time is None else np.empty(0))  # needs it or not
        if time is None:
            return None
        times, datetimes = read_times(time, n)
        if self._datetimes is not None and datetimes != self._datetimes:
            before, now = ("numbers", "datetimes") if datetimes else ("datetimes", "numbers")
            raise ValueError(f"time was given as {before} before and as {now} now: keep to one")
        store = self._store if self._store is not None else self._empty(names.text)
        row = store.first_backwards(names.values, times)
        if row < n:
            raise ValueError(
                f"time runs backwards at row {row}, key {names.shown(row)}: sort the rows of "
                "each key by time, or leave late rows out"
            )
        return times

    # -- the store ----------------------------------------------------------------------------

    def _known(self) -> KeyedStore:
        if self._store is None:
            raise ValueError(
                "no row was learned yet: predict_then_learn or partial_fit comes first"
            )
        return self._store

    def _open(self, batch: Batch, names: KeyArray, target: NumberTarget) -> KeyedStore:
        """Return the store; make it for the first rows, which have been checked by now."""
        if self._store is None:
            self._columns, self._names = batch.numbers.shape[1], batch.names
            before, self._target = self._target, target
            try:
                self._store = self._build(names.text)
            except ValueError:
                self._target = before
                raise
        self._target = target
        return self._store

    def _build(self, text: bool) -> KeyedStore:
        return build_store(self._design(), text, self.memory_limit, self._expiry)

    def _empty(self, text: bool) -> KeyedStore:
        return KeyedStore(Filter(0, 1, True, 1.0, 1.0), text, 0, 0.0, 0.0)

    def _design(self) -> Filter:
        settings = self._settings
        engine = build_engine(
            self._columns, list(self._target.designs()), settings.rule, settings.features,
            fit_intercept=bool(settings.fit_intercept), prior_variance=settings.prior_variance,
            cap=settings.cap,
        )  # fmt: skip
        assert isinstance(engine, Filter)
        return engine

    def _place(self, store: KeyedStore, names: KeyArray, times: Any) -> Placed:
        """Decide which model each row belongs to, and how it fades: nothing can fail from here."""
        entries, fresh, gaps = place(store, names.values, times)
        rule = self._settings.rule
        if isinstance(rule, ByClock):
            self._datetimes = times.dtype == np.int64
            return Placed(entries, fresh, discounts_of_gaps(rule, gaps))
        weights = row_weights(rule, len(gaps), Clock())
        assert isinstance(weights, RowWeights)
        return Placed(entries, fresh, weights.pace)

    # -- bounds -------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        self._known()
        return self._columns

    @property
    def evicted_(self) -> int:
        """How many keys lost their place to new ones."""
        return 0 if self._store is None else int(self._store.evicted)

    @property
    def expired_(self) -> int:
        """How many keys were idle for too long."""
        return 0 if self._store is None else int(self._store.expired)

    @property
    def expired_rows_(self) -> int:
        """How many rows waited too long for their label."""
        return self._late.expired

    @property
    def memory_bytes_(self) -> int:
        """What the models take now."""
        return 0 if self._store is None else self._store.memory_bytes

    @property
    def bytes_per_key_(self) -> int:
        """What one more key takes."""
        return bytes_per_key(self._design(), self._known().text)


def _shared_model(
    shared: bool | DFOPRegressor, model: DFOPRegressor, settings: Settings
) -> DFOPRegressor | None:
    if isinstance(shared, DFOPRegressor):
        return shared
    if not shared:
        return None
    rule = settings.rule
    if isinstance(rule, ByRows):
        rule = ByRows(min(rule.mu, _SHARED_FORGETTING))
    return DFOPRegressor(rule, fit_intercept=model.fit_intercept, cap=model.cap)
