"""What the faces show of their model, the same on each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dfop.model.model import Model
from dfop.model.monitor import Alarm
from dfop.model.movement import linear_forgetters, moved_weights_of

from .drift import DriftSpectrum, drift_spectrum
from .experts import Expert, bank_of, describe_features, experts_of
from .looks import effective_forgetting
from .plots import draw_alarms, draw_all, draw_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Insight:
    """Properties of a face that look into its model, `_model`."""

    features: Any

    def _bank_model(self, what: str) -> Model:
        model: Model | None = self.__dict__.get("_model")
        bank_of(model, what)
        assert model is not None
        return model

    @property
    def experts_(self) -> list[Expert]:
        """The experts of the automatic learner, and what each is worth now."""
        model = self._bank_model("experts_")
        with model.lock:
            return experts_of(model)

    @property
    def forgetting_(self) -> float:
        """The effective mu: that of the experts that forget, by their weight in the prediction."""
        model = self._bank_model("forgetting_")
        with model.lock:
            mu = effective_forgetting(model)
        assert mu is not None
        return mu

    @property
    def features_(self) -> str:
        """What the experts of the automatic learner see of a row, in words."""
        model = self._bank_model("features_")
        with model.lock:
            return describe_features(self.features, bank_of(model, "features_"))

    @property
    def drift_(self) -> DriftSpectrum:
        """Noise and drift of the stream so far, and the forgetting that suits them."""
        model = self._bank_model("drift_")
        bank = bank_of(model, "drift_")
        experts = linear_forgetters(bank)
        if len(experts) < 2:
            raise AttributeError('drift_ needs linear experts: features="auto" or "linear"')
        with model.lock:
            errors, weights = bank.errors(), bank.features + bank.intercept
        try:
            return drift_spectrum(
                [bank.experts[k][1] for k in experts],
                errors["history"][:, experts],
                int(errors["piece_length"]),
                weights=weights,
            )
        except ValueError as error:  # too few rows: as if it were not there yet
            raise AttributeError(f"drift_ is not known yet: {error}") from None

    @property
    def alarms_(self) -> list[Alarm]:
        """Sudden changes found so far (the last 1000), and which weights had moved."""
        model = self._bank_model("alarms_")
        with model.lock:
            monitor = model.monitor
            assert monitor is not None
            moved = moved_weights_of(model) if monitor.open else {}
            return monitor.alarms + [Alarm(a.row, a.began, moved) for a in monitor.open]

    def plot(self) -> Figure:
        """Draw what happened, in one figure: errors, drift, weights, and alarms with names.

        It shows what the model keeps: the error of its best expert against one that never forgets,
        the forgetting that suited the stream over time, the weights now against the longer past.
        `evaluate(...).report(path)` keeps more.

        Returns
        -------
        matplotlib Figure

        Examples
        --------
        >>> import numpy as np
        >>> from dfop import DFOPRegressor
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> figure = DFOPRegressor().fit(X, X[:, 0]).plot()
        >>> figure.axes[0].get_title(loc="left")
        'Errors of experts along the stream: no sudden change found'
        """
        model = self._bank_model("plot")
        alarms, drift = self.alarms_, getattr(self, "drift_", None)
        with model.lock:
            return draw_all(model, drift, alarms)

    def plot_weights(self, ax: Axes | None = None) -> Axes:
        """Draw the weights: of the automatic learner, now and over the longer past.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import matplotlib
        >>> import numpy as np
        >>> matplotlib.use("agg")
        >>> from dfop import DFOPRegressor
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> ax = DFOPRegressor().fit(X, X[:, 0] - 2 * X[:, 1]).plot_weights()
        >>> [label.get_text() for label in ax.get_yticklabels()]  # from below: the largest last
        ['x0', 'x1']
        """
        model: Model | None = self.__dict__.get("_model")
        if model is None or model.engine is None:
            raise AttributeError("plot_weights: the weights are known once a row was learned")
        with model.lock:
            return draw_weights(ax, model)

    def plot_alarms(self, ax: Axes | None = None) -> Axes:
        """Draw the alarms along the stream, over the features whose weights moved.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import matplotlib
        >>> import numpy as np
        >>> matplotlib.use("agg")
        >>> from dfop import DFOPRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 2))
        >>> y = X[:, 0] + 0.1 * X[:, 1]
        >>> y[1000:] += 3 * X[1000:, 1]
        >>> ax = DFOPRegressor().fit(X, y).plot_alarms()
        >>> [label.get_text() for label in ax.get_yticklabels()][-1]
        'x1'
        """
        model = self._bank_model("plot_alarms")
        alarms = self.alarms_
        with model.lock:
            return draw_alarms(ax, model, alarms)
