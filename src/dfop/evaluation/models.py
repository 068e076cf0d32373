"""What a model says about itself: its kind, its name, its settings."""

import re
from typing import Any, cast

from sklearn.base import clone

from dfop.engines.foreign import is_river, name_of, task_of

__all__ = ["describe", "is_river", "name_of", "task_of", "untrained"]


def untrained(model: Any, seed: int) -> Any:
    """Copy the settings of a model, not what it has learned.

    Random parts that were left free get the seed: a cell of a comparison is then the same in
    whichever process and order it is computed.

    Parameters
    ----------
    model : object
        Any model that scikit-learn or River can clone.
    seed : int
        Takes the place of ``random_state=None`` (River: ``seed=None``).

    Returns
    -------
    object
        A new model.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> untrained(SGDRegressor(alpha=0.5), seed=7)
    SGDRegressor(alpha=0.5, random_state=7)
    """
    if is_river(model):
        return model.clone(_seeded(model._get_params(), seed))
    copy = clone(model)
    free_states = {
        name: seed
        for name, value in copy.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return copy.set_params(**free_states) if free_states else copy


def _seeded(settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Fill in the free seeds of a River model, of the steps of a pipeline and of parts."""

    def fill(name: str, value: Any) -> Any:
        if isinstance(value, dict):  # a step
            return _seeded(value, seed)
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):  # a part
            return value[0], _seeded(value[1], seed)
        return seed if name == "seed" and value is None else value

    return {name: fill(name, value) for name, value in settings.items()}


def describe(model: Any) -> str:
    """Spell out the class and every setting, the same in every process.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe(GaussianNB())
    'sklearn.naive_bayes.GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if is_river(model):
        text = f"{kind} {' '.join(repr(model).split())}"
    else:
        settings = cast("dict[str, Any]", model.get_params(deep=True))
        text = f"{kind}({', '.join(f'{k}={v!r}' for k, v in sorted(settings.items()))})"
    return re.sub(r" at 0x[0-9a-f]+", "", text)  # an address differs from run to run
