"""What every face of models by key can tell: its keys, a model of one of them, sizes and counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

from numpy.typing import NDArray

from dfop.classifier import DFOPClassifier
from dfop.core import Lock
from dfop.engines.keyed import find
from dfop.model.label_targets import LabelTarget
from dfop.regressor import DFOPRegressor
from dfop.rows.keys import read_keys

from .keyed_models import KeyedModels

Key = int | str


class KeyedViews:
    """Base of `Keyed`: what it holds, and what it can be told to give up."""

    model: DFOPRegressor | DFOPClassifier
    expire: Any
    memory_limit: int | None
    shared: bool | DFOPRegressor
    _models: KeyedModels
    _lock: Lock

    def __repr__(self) -> str:
        """Say what the design is, how many keys there are, and what they take.

        Examples
        --------
        >>> from dfop import DFOPRegressor, Keyed
        >>> keyed = Keyed(DFOPRegressor(forgetting=0.001), shared=True)
        >>> keyed
        Keyed(DFOPRegressor(forgetting=0.001), shared=True): no keys yet
        >>> keyed.partial_fit(["ham", "eggs"], [[1.0]] * 2, [2.0, 3.0])
        Keyed(DFOPRegressor(forgetting=0.001), shared=True): 2 keys, ... bytes
        """
        asked = {"expire": self.expire, "memory_limit": self.memory_limit, "shared": self.shared}
        given = [f"{name}={value!r}" for name, value in asked.items() if value not in (None, False)]
        shown = f"{type(self).__name__}({', '.join([repr(self.model), *given])})"
        n = len(self)
        if not n:
            return f"{shown}: no keys yet"
        return f"{shown}: {n:,} {'key' if n == 1 else 'keys'}, {self.memory_bytes_:,} bytes"

    def __len__(self) -> int:
        store = self._models.store
        return 0 if store is None else len(store)

    def __contains__(self, key: object) -> bool:
        if self._models.store is None:
            return False
        try:
            return self._entry(key) >= 0  # type: ignore[arg-type]
        except (TypeError, ValueError):  # what cannot be a key here is none
            return False

    def __iter__(self) -> Iterator[Key]:
        """Go through the keys, the idlest first."""
        store = self._models.store
        if store is None:
            return iter(())
        state = store.snapshot()
        return iter(state["texts"] if store.text else state["numbers"])

    def __getitem__(self, key: Key) -> Any:
        """Return the model of a key, as a learner of its own: it goes on apart."""
        with self._lock:
            entry = -1 if self._models.store is None else self._entry(key)
            if entry < 0:
                raise KeyError(f"no rows of the key {key!r} were learned, or they were given up")
            learner = type(self.model)(**self.model.get_params())
            return self._models.learner_of(entry, learner)

    def _entry(self, key: Key) -> int:
        names = read_keys([key], 1)
        self._models.check_kind(names)
        return int(find(self._models.known(), names.values)[0])

    def forget(self, keys: Any) -> Self:
        """Give up models, and their rows that wait, as if the keys had never been heard of.

        Parameters
        ----------
        keys : array-like of shape (n,)
            Whose models; those not known are passed over.

        Returns
        -------
        self
        """
        with self._lock:
            models = self._models
            store = models.known()
            names = read_keys(keys, None)
            models.check_kind(names)
            models.late.forget_keys(store, names.values)
        return self

    # -- bounds -------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        self._models.known()
        return self._models.coder.columns

    @property
    def feature_names_in_(self) -> tuple[str, ...] | None:
        """Names of the columns, None where the first X had none."""
        self._models.known()
        return self._models.names

    @property
    def empty_columns_(self) -> list[str]:
        """Names of the columns that have had no value yet."""
        names, kinds = self.feature_names_in_, self._models.coder.kinds()
        given = names or [f"x{j}" for j in range(len(kinds))]
        return [name for name, kind in zip(given, kinds, strict=True) if kind is None]

    @property
    def column_kinds_(self) -> dict[str, Literal["number", "text"]]:
        """What the columns hold that have names; "number" where no cell was ever there."""
        names, kinds = self.feature_names_in_ or (), self._models.coder.kinds()
        return {name: "text" if kind == "text" else "number"
                for name, kind in zip(names, kinds, strict=bool(names))}  # fmt: skip

    @property
    def limited_rows_(self) -> int:
        """On how many rows the cap acted, of all models that are held; 0: they are exact."""
        with self._lock:
            if self._models.settings.several_experts:
                raise AttributeError(
                    "limited_rows_ is of single filters; keyed[key].experts_ tell theirs"
                )
            return int(self._models.known().limited_rows())

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        target = self._models.targets.target
        if not isinstance(target, LabelTarget) or target.classes is None:
            raise AttributeError("classes_ is known of labels, once one was learned")
        return target.classes

    @property
    def evicted_(self) -> int:
        """How many keys lost their place to new ones."""
        store = self._models.store
        return 0 if store is None else int(store.evicted)

    @property
    def expired_(self) -> int:
        """How many keys were idle for too long."""
        store = self._models.store
        return 0 if store is None else int(store.expired)

    @property
    def expired_rows_(self) -> int:
        """How many rows waited for a label whose model was gone, or were too many."""
        return self._models.late.expired

    @property
    def memory_bytes_(self) -> int:
        """What the models take now, and what late labels take beside rows that wait."""
        store = self._models.store
        return 0 if store is None else store.memory_bytes

    @property
    def bytes_per_key_(self) -> int:
        """What one more key takes."""
        return self._models.bytes_per_key()
