"""What the faces show of their model, the same on each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dfop.core import Filter, FrequentDirections
from dfop.model.model import Model
from dfop.model.monitor import Alarm, NumberMonitor
from dfop.model.movement import linear_forgetters, moved_weights_of

from .covariance import Array, covariance_of
from .drift import DriftSpectrum, drift_spectrum
from .experts import Expert, bank_of, describe_features, experts_of
from .looks import effective_forgetting
from .plots import draw_alarms, draw_all, draw_weights
from .uncertainty import monitor_of

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
    def limited_rows_(self) -> int | None:
        """On how many rows a limit acted, so that more was kept than forgetting would leave.

        Of a single filter; `experts_` tells it of each expert. None after loading a file of before
        it was counted.
        """
        model: Model | None = self.__dict__.get("_model")
        if model is None or model.engine is None:
            raise AttributeError("limited_rows_ is known once a row was learned")
        if not isinstance(model.engine, Filter):
            where = "experts_ tell theirs"
            if model.settings.storage is not None:
                where = "a sketch does not count them: leave out storage= to have them counted"
            raise AttributeError(f"limited_rows_ is of a single exact filter; {where}")
        return model.engine.limited_rows

    @property
    def storage_error_(self) -> float:
        """With `guarantee=True`: what the directions leave out, in any direction, at most.

        With ``R = sum lam^age x x'`` over the learned rows, the constant a column of ones in
        front, and ``B'B`` the part of it that is kept, ``0 <= R - B'B <= storage_error_``: no
        eigenvalue of the difference is larger. It is at most the trace of ``R`` over
        ``storage + 1``.

        Examples
        --------
        >>> import numpy as np
        >>> from dfop import DFOPRegressor
        >>> X = np.random.default_rng(0).normal(size=(1000, 3)) @ np.eye(3, 50)
        >>> y = X[:, 0]
        >>> model = DFOPRegressor(forgetting=0.01, storage=4, guarantee=True).fit(X, y)
        >>> bool(model.storage_error_ < 1e-9)  # four directions hold all: rows vary along four
        True
        """
        model: Model | None = self.__dict__.get("_model")
        if model is None or model.engine is None:
            raise AttributeError("storage_error_ is known once a row was learned")
        if not isinstance(model.engine, FrequentDirections):
            raise AttributeError(
                "storage_error_ is of a model with storage= and guarantee=True, such as "
                "forgetting=0.001, storage=20, guarantee=True"
            )
        return model.engine.error

    @property
    def covariance_(self) -> Array:
        """Of a single filter: ``P = R^-1``, how unsure the weights are, given the noise.

        In the order of `coef_`, the constant last where there is one, and in the units of the
        columns. Times the variance of the noise it is the covariance of the weights given the rows
        if nothing is forgotten and nothing drifts; with a forgetting ``mu``, after many rows,
        ``P / (2 - mu)`` takes its place.

        Examples
        --------
        >>> from dfop import DFOPRegressor
        >>> model = DFOPRegressor(forgetting=0, fit_intercept=False)
        >>> model.fit([[1.0], [2.0]], [1.0, 2.0]).covariance_  # 1 / (1 + 4), but for the prior
        array([[0.1996008]])
        """
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            return covariance_of(None)
        with model.lock:
            return covariance_of(model)

    @property
    def experts_(self) -> list[Expert]:
        """The experts of the automatic learner, and what each is worth now."""
        model = self._bank_model("experts_")
        with model.lock:
            return experts_of(model)

    @property
    def forgetting_(self) -> float:
        """The effective mu: that of the experts that forget, by their weight in the prediction.

        It says what this model does now; `drift_.mu` is the one mu that suits the whole stream.
        """
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
            own = model.own.names if model.own is not None else ()
            return describe_features(self.features, bank_of(model, "features_"), own)

    @property
    def drift_(self) -> DriftSpectrum:
        """Noise and drift of the stream so far, the forgetting that suits them, and a verdict.

        `drift_.mu` is the one mu that is recommended, `drift_.verdict` says whether and why;
        `drift_.in_use` is `forgetting_`, what this model does now.

        Examples
        --------
        >>> import numpy as np
        >>> from dfop import DFOPRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(20_000, 4))
        >>> weights = np.cumsum(0.01 * rng.normal(size=X.shape), axis=0)  # they walk: mu* is .01
        >>> y = (X * weights).sum(axis=1) + rng.normal(size=20_000)
        >>> drift = DFOPRegressor(features="linear").fit(X, y).drift_
        >>> drift.verdict.believed
        True
        >>> print(drift.verdict.short)
        steady drift, a memory of ... rows suits
        """
        model = self._bank_model("drift_")
        bank = bank_of(model, "drift_")
        experts = linear_forgetters(bank)
        if len(experts) < 2:
            raise AttributeError('drift_ needs linear experts: features="auto" or "linear"')
        with model.lock:
            errors, weights = bank.errors(), bank.features + bank.intercept
            in_use = effective_forgetting(model)
        try:
            found = drift_spectrum(
                [bank.experts[k][1] for k in experts],
                errors["history"][:, experts],
                int(errors["piece_length"]),
                weights=weights,
            )
        except ValueError as error:  # too few rows: as if it were not there yet
            raise AttributeError(f"drift_ is not known yet: {error}") from None
        return replace(found, in_use=in_use, alarms=len(self.alarms_))

    @property
    def outliers_(self) -> int:
        """Rows far out of the others after which all was as before: no alarm rang for them."""
        monitor = monitor_of(self.__dict__.get("_model"), "outliers_")
        if not isinstance(monitor, NumberMonitor):
            raise AttributeError("outliers_ are counted of numbers; a label is just wrong or not")
        return monitor.watch.outliers

    @property
    def alarms_(self) -> list[Alarm]:
        """Sudden changes found so far (the last 1000), and which weights had moved."""
        model: Model | None = self.__dict__.get("_model")
        monitor = monitor_of(model, "alarms_")
        assert model is not None
        with model.lock:
            moved = moved_weights_of(model) if monitor.open else {}
            return monitor.alarms + [replace(alarm, moved=moved) for alarm in monitor.open]

    def plot(self) -> Figure:
        """Draw what happened, in one figure: errors, forgetting, weights, and alarms with names.

        It shows what the model keeps: the error of its best expert against no-change, how far back
        the expert looked that erred least, and the weights from the long past to now, as experts
        know them that look back so far. `evaluate(...).report(path)` keeps more.

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
        'Errors along the stream: 100% less than no-change, no sudden change found'
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
        >>> import numpy as np
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
        """Draw the alarms along the stream, over the weights that moved and columns that changed.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import numpy as np
        >>> from dfop import DFOPRegressor
        >>> X = np.random.default_rng(0).normal(size=(2000, 2))
        >>> y = X[:, 0] + 0.1 * X[:, 1]
        >>> y[1000:] += 3 * X[1000:, 1]
        >>> ax = DFOPRegressor().fit(X, y).plot_alarms()
        >>> [label.get_text() for label in ax.get_yticklabels()][-1]
        'x1'
        """
        model: Model | None = self.__dict__.get("_model")
        monitor_of(model, "plot_alarms")
        assert model is not None
        alarms = self.alarms_
        with model.lock:
            return draw_alarms(ax, model, alarms)
