"""What the automatic learner knows: its experts, the drift it has seen, alarms and what moved.

Shared by the learners for arrays and those for River.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .automatic import (
    Expert,
    describe_features,
    experts_of,
    linear_forgetters,
    nearest_forgetter,
)
from .coding import cut
from .core import Bank, Filter
from .drift import DriftSpectrum, drift_spectrum
from .forgetting import Automatic, Forgetting
from .uncertainty import Alarm, moved
from .watch import STRIDE, Watch

Array = NDArray[np.float64]

# The experts that are compared to see which weights moved, by about their mu.
_FAST, _SLOW = 0.03, 0.001
_MOST_NAMES = 10


class Insight(ABC):
    """The part of the learners that looks into a bank, and watches over it."""

    features: Any
    _filter: Filter | Bank | None
    _watch: Watch | None
    """None for a single filter."""

    @abstractmethod
    def _filter_names(self) -> list[Any]:
        """Names of what the linear experts see."""

    def _is_bank(self, rule: Forgetting) -> bool:
        return isinstance(rule, Automatic) or (
            isinstance(self.features, str) and self.features in ("rff", "poly")
        )

    # -- learning under watch -----------------------------------------------------------------

    def _learn_watched(
        self,
        learner: Any,
        rows: Array,
        targets: Array,
        per_row: tuple[Array, Array],
        known: NDArray[np.bool_],
        outputs: Array,
        foretold: Array | None = None,
    ) -> list[Any]:
        """Let a bank learn rows and the watch see them; return what was told of runs of rows."""
        assert self._watch is not None
        n, start, told = len(rows), 0, []
        while start < n:
            part = slice(start, min(n, start + self._watch.rows_to_stride()))
            learner.learn(
                np.ascontiguousarray(rows[part]),
                np.ascontiguousarray(targets[part]),
                *cut(per_row, part, n),
                outputs[part],
            )
            judged = outputs if foretold is None else foretold
            told.append(self._see(judged[part], targets[part], known[part]))
            start = part.stop
        return told

    def _see(self, outputs: Array, targets: Array, known: NDArray[np.bool_]) -> Any:
        """Let the watch see rows that were just learned, up to its next stride at most."""
        watch = self._watch
        assert watch is not None
        told = watch.learn(outputs, targets, known)
        if watch.open and watch.rows % STRIDE == 0:
            watch.close(self._moved())
        return told

    # -- what it knows ------------------------------------------------------------------------

    def _coefficients(self) -> tuple[Array, Array]:
        learner = getattr(self, "_filter", None)
        if learner is None:
            raise AttributeError("the weights are known once a row was learned")
        if isinstance(learner, Filter):
            return learner.coefficients()
        if any(kind != "linear" for kind, _, _ in learner.maps):
            raise AttributeError(
                "this model has curved experts, so it has no weights of the features: "
                'features="linear" has'
            )
        shares = learner.weights()
        coef = np.zeros((learner.outputs, learner.features))
        constant = np.zeros(learner.outputs)
        for k, share in enumerate(shares.T):
            of_features, of_one = learner.coefficients(k)
            coef += share[:, np.newaxis] * of_features
            constant += share * of_one
        return coef, constant

    def _bank(self, what: str) -> Bank:
        learner = getattr(self, "_filter", None)
        if learner is None:
            raise AttributeError(f"{what} is known once a row was learned")
        if not isinstance(learner, Bank):
            raise AttributeError(f'{what} needs the automatic learner: forgetting="auto"')
        return learner

    @property
    def experts_(self) -> list[Expert]:
        """The experts of the automatic learner, and what each is worth now."""
        return experts_of(self._bank("experts_"))

    @property
    def forgetting_(self) -> float:
        """The effective mu: that of the experts that forget, by their weight in the prediction."""
        forgetters = [e for e in experts_of(self._bank("forgetting_")) if e.walk == 0.0]
        weights = np.maximum([expert.weight for expert in forgetters], 0.0)
        mu = np.array([expert.forgetting for expert in forgetters])
        return float(weights @ mu / weights.sum()) if weights.any() else float(mu.mean())

    @property
    def features_(self) -> str:
        """What the experts of the automatic learner see of a row, in words."""
        bank = self._bank("features_")
        return describe_features(self.features, bank)

    @property
    def drift_(self) -> DriftSpectrum:
        """Noise and drift of the stream so far, and the forgetting that suits them."""
        bank = self._bank("drift_")
        experts = linear_forgetters(bank)
        if len(experts) < 2:
            raise AttributeError('drift_ needs linear experts: features="auto" or "linear"')
        errors = bank.errors()
        try:
            return drift_spectrum(
                [bank.experts[k][1] for k in experts],
                errors["history"][:, experts],
                int(errors["piece_length"]),
                weights=bank.features + bank.intercept,
            )
        except ValueError as error:  # too few rows: as if it were not there yet
            raise AttributeError(f"drift_ is not known yet: {error}") from None

    @property
    def alarms_(self) -> list[Alarm]:
        """Sudden changes found so far (the last 1000), and which weights had moved."""
        self._bank("alarms_")
        assert self._watch is not None
        recent = [Alarm(a.row, a.began, self._moved()) for a in self._watch.open]
        return self._watch.alarms + recent

    def _moved(self) -> dict[str, float]:
        """How far weights have moved lately, in standard errors, the farthest first."""
        bank = self._filter
        assert isinstance(bank, Bank)
        if len(linear_forgetters(bank)) < 2:
            return {}
        fast, slow = nearest_forgetter(bank, _FAST), nearest_forgetter(bank, _SLOW)
        errors = bank.errors()
        weights = [np.column_stack(bank.coefficients(k)[::-1]) for k in (fast, slow)]
        variances = bank.variances(fast)
        if not bank.intercept:
            weights = [w[:, 1:] for w in weights]
        z = [
            moved(
                w_fast,
                w_slow,
                variances,
                mu_fast=bank.experts[fast][1],
                mu_slow=bank.experts[slow][1],
                rows=max(errors["rows"], 1.0),
                noise=float(errors["recent"].min()) / bank.outputs,
            )
            for w_fast, w_slow in zip(*weights, strict=True)
        ]
        of_outputs = np.array(z)
        at = np.abs(of_outputs).argmax(axis=0)
        farthest = of_outputs[at, np.arange(of_outputs.shape[1])]
        names = ["constant"] * bank.intercept + [str(name) for name in self._filter_names()]
        order = np.argsort(-np.abs(farthest), kind="stable")[:_MOST_NAMES]
        return {names[j]: float(farthest[j]) for j in order}
