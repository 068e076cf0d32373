"""The user's own experts of a model: asked before each row, and taught it, beside the engine.

They do not depend on the engine, so they take some rows first, one expert after the other, and the
engine then gets their answers with the rows.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dfop.engines.own import Asked, OwnEstimator, OwnExpert, OwnRiver, Taught, own_experts

from .label_targets import LabelTarget
from .settings import Settings
from .targets import NumberTarget

if TYPE_CHECKING:
    from .model import Model
    from .opening import Target

Array = NDArray[np.float64]


class OwnExperts:
    """Copies of the models that a user gave.

    Parameters
    ----------
    settings : Settings
        With the models.
    target : Target
        What the model learns.
    """

    def __init__(self, settings: Settings, target: Target) -> None:
        if not settings.several_experts:
            raise ValueError(
                "experts= needs the automatic learner, which combines them with its own: leave out "
                f"forgetting={settings.rule!r}, or leave out experts="
            )
        labels = not isinstance(target, NumberTarget)
        self.experts: list[OwnExpert] = own_experts(settings.experts, labels=labels)
        if isinstance(target, LabelTarget):
            self.check(target)
        self.by_name = any(isinstance(expert, OwnRiver) for expert in self.experts)
        """Whether any of them needs the names of columns."""
        self.warned: set[int] = set()

    @property
    def names(self) -> list[str]:
        """What each is called."""
        return [expert.name for expert in self.experts]

    def check(self, target: Target) -> None:
        """Refuse targets that they cannot learn."""
        if isinstance(target, LabelTarget) and target.grows:
            self._check_growing()
        one = isinstance(target, LabelTarget) or getattr(target, "outputs", 0) == 1
        if not one:
            raise ValueError(
                "y has several targets, and own experts learn one: give y of shape (n,), a model "
                "for each target, or leave out experts="
            )

    def _check_growing(self) -> None:
        """Refuse those that cannot meet classes on the way."""
        for expert in self.experts:
            if isinstance(expert, OwnEstimator):
                raise ValueError(
                    f"the expert {expert.name} must know all classes at its first row, and this "
                    "model meets them on the way: give a River model, or dfop.Retrained(...)"
                )

    def answers(self, model: Model, X: Array) -> Array:
        """Return what they say of rows as they are now: (rows, experts, outputs)."""
        target = model.target
        given = self._nothing(model, len(X))
        for j, expert in enumerate(self.experts):
            said = expert.answers(self._asked(model, X, target))
            given[:, j] = _outputs(said, target, target)
        return given

    def learn(
        self,
        model: Model,
        X: Array,
        values: NDArray[Any],
        seen: NDArray[np.bool_],
        times: Array,
        before: Target,
    ) -> Array:
        """Return what they say of each row before its target is seen, and teach them."""
        taught = self._taught(model, values, seen, times)
        given = self._nothing(model, len(X))
        for j, expert in enumerate(self.experts):
            said = expert.ask_then_teach(self._asked(model, X, before), taught)
            given[:, j] = _outputs(said, before, model.target)
        return given

    def replay(
        self, model: Model, X: Array, steps: NDArray[np.int64], values: NDArray[Any], before: Target
    ) -> tuple[Array, Array]:
        """Go through rows and labels as they arrive; `values` are those of all rows.

        Returns what they say of each row when it comes, and when its label does.
        """
        first, late = self._nothing(model, len(X)), self._nothing(model, len(X))
        everyone = np.ones(len(X), bool)
        cuts = np.flatnonzero(np.diff(steps < 0)) + 1
        for j, expert in enumerate(self.experts):
            for some in np.split(steps, cuts):
                if some[0] >= 0:
                    said = expert.answers_alone(self._asked(model, X[some], before))
                    first[some, j] = _outputs(said, before, model.target)
                    continue
                rows = ~some
                taught = self._taught(model, values[rows], everyone[rows], np.ones(1))
                said = expert.ask_then_teach(self._asked(model, X[rows], before), taught)
                late[rows, j] = _outputs(said, before, model.target)
        return first, late

    def warn(self) -> None:
        """Warn once of each that raised or had no usable answer, after everything was learned."""
        for j, expert in enumerate(self.experts):
            if expert.complaint is None or j in self.warned:
                continue
            self.warned.add(j)
            warnings.warn(
                f"the own expert {expert.name} failed: {expert.complaint}. Where it has no answer, "
                "the prediction is that of the other experts",
                UserWarning,
                stacklevel=5,
            )

    def _nothing(self, model: Model, n: int) -> Array:
        assert model.engine is not None
        return np.full((n, len(self.experts), model.engine.outputs), np.nan)

    def _asked(self, model: Model, X: Array, before: Target) -> Asked:
        names, rows = model.weight_names() if self.by_name else (), X.copy()  # they may write there
        if not isinstance(before, LabelTarget):
            return Asked(rows, names, None)
        now = model.target
        assert isinstance(now, LabelTarget)
        named = None if now.grows else now.classes
        return Asked(rows, names, before.order, now.order if named is None else named.tolist())

    def _taught(
        self, model: Model, values: NDArray[Any], seen: NDArray[np.bool_], times: Array
    ) -> Taught:
        target = model.target
        strict = not model.by_name and model.rows == 0  # else what came before would be lost
        weights = np.broadcast_to(times, len(seen))
        if isinstance(target, LabelTarget):
            # A class may be beyond the limit (-1), or yet to come if the row is not learned.
            met = (values[:, 0] >= 0) & (values[:, 0] < len(target.order))
            labels = (*target.order, None)
            y = [labels[k] for k in np.where(met, values[:, 0], -1).tolist()]
            return Taught(y, seen & met, weights, target.classes, strict)
        return Taught(values[:, 0].tolist(), seen, weights, None, strict)


def _outputs(said: Array, before: Target, now: Target) -> Array:
    """Return answers as outputs of the engine."""
    if isinstance(now, LabelTarget):
        return now.outputs_of(said, margin=before.margin)  # type: ignore[union-attr]
    return said
