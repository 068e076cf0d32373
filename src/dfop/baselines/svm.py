"""A support vector machine on few rows, without the cost of an estimator around it.

`SVC` spends about a millisecond on checks for each fit and prediction, the solver behind it a
tenth of that on fifty rows. This calls the same solver as `SVC` does; a test holds the two equal.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import _libsvm

from dfop.baselines.base import Codes, Floats


class Machine:
    """C-SVC on the rows `X` with class codes `y`; with one class only, that class.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), y : ndarray of shape (n_rows,)
        What to learn.
    kernel : {"linear", "rbf"}
        Kernel.
    gamma : float
        Width of the RBF kernel.
    C : float
        Price of a row inside the margin.
    max_iter : int
        Steps of the solver; -1 for as many as it takes.
    """

    def __init__(
        self, X: Floats, y: Codes, *, kernel: str, gamma: float, C: float, max_iter: int = -1
    ) -> None:
        # The solver numbers the classes that are present 0, 1, ...
        self.present, self.inner = np.unique(y, return_inverse=True)
        self._kernel = {"kernel": kernel, "gamma": gamma}
        self.n_iter = 1
        if len(self.present) == 1:
            return
        _libsvm.set_verbosity_wrap(0)
        fitted = _libsvm.fit(
            X, self.inner.astype(np.float64), C=C, max_iter=max_iter, **self._kernel
        )
        self._model = fitted[:7]
        self.n_iter = int(np.max(fitted[8]))
        if fitted[7] != 0:
            warnings.warn(
                f"The SVM stopped after {max_iter} steps, short of its optimum. "
                "Scale the features, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )

    def predict(self, X: Floats) -> Codes:
        """Predict class codes."""
        if len(self.present) == 1:
            return np.full(len(X), self.present[0], dtype=np.intp)
        inner = _libsvm.predict(X, *self._model, **self._kernel)
        codes: Codes = self.present[inner.astype(np.intp)]
        return codes

    @property
    def support(self) -> Codes:
        """Indices of the training rows that are support vectors."""
        if len(self.present) == 1:
            return np.empty(0, dtype=np.intp)
        indices: Codes = self._model[0].astype(np.intp)
        return indices

    def leave_one_out_errors(self, X: Floats, rho: float) -> Codes:
        """Mark the training rows `X` that might be wrong if they were left out.

        The xi-alpha condition of Joachims (2000): rho alpha_i R^2 + xi_i >= 1, with the dual
        coefficient alpha_i, the slack xi_i = max(0, 1 - y_i f(x_i)) and, for a linear kernel,
        R^2 = max ||x||^2. Of more than two classes each pair has its machine; a row is marked
        if one of the machines it takes part in marks it.
        """
        marked = np.zeros(len(X), dtype=bool)
        if len(self.present) == 1:
            return np.flatnonzero(marked)
        R2 = np.square(X).sum(axis=1).max()
        signed_alpha = np.zeros((len(self.present) - 1, len(X)))
        signed_alpha[:, self._model[0]] = self._model[3]
        values = _libsvm.decision_function(X, *self._model, **self._kernel)
        pair = 0
        for a in range(len(self.present)):
            for b in range(a + 1, len(self.present)):
                # Row b - 1 holds class a's coefficients against b, row a class b's against a.
                for own, sign, row in ((a, 1.0, b - 1), (b, -1.0, a)):
                    alpha = np.abs(signed_alpha[row])
                    xi = np.maximum(0.0, 1.0 - sign * values[:, pair])
                    marked |= (self.inner == own) & (rho * alpha * R2 + xi >= 1.0)
                pair += 1
        return np.flatnonzero(marked)
