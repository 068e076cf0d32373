"""SVM-ada: a linear support vector machine that chooses its window after every batch."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier
from dfop.baselines.batches import BatchLearner
from dfop.baselines.majority_class import MajorityClass
from dfop.baselines.svm import Machine


class AdaptiveSVM(BatchLearner, StreamClassifier):
    """Train linear support vector machines on 1, 2, ... of the latest batches and keep the best.

    After batch t a machine is trained on the batches t-h, ..., t for each h. Its error on the
    newest batch is estimated without holding rows out: the share of that batch's rows with

        rho alpha_i R^2 + xi_i >= 1,

    where alpha_i is the row's dual coefficient, xi_i = max(0, 1 - y_i f(x_i)) its slack and
    R^2 = max ||x||^2 over the machine's rows. The machine with the least estimate predicts until
    the next batch is complete; among equals the one with the longest window. Until the first
    batch is complete, the most frequent label so far is predicted.

    Parameters
    ----------
    batch_size : int, default=100
        Rows from one training to the next.
    max_batches : int, default=5
        The longest window, in batches.
    rho : float, default=1.0
        Factor on alpha: 2 in the theory of the estimate, 1 in practice.
    C : float, default=1.0
        Price of a row inside the margin.
    max_iter : int, default=100000
        Steps of the solver for one training; -1 for as many as it takes.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    window_ : int
        Batches the present machine was trained on.
    n_batches_ : int
        Batches learned.
    n_iter_ : int
        Steps the solver took for the present machine.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Klinkenberg (2004). Learning drifting concepts: example selection vs. example weighting.
    Intelligent Data Analysis 8(3), 281-300.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import AdaptiveSVM
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = X.sum(axis=1) > 0
    >>> y[500:] = ~y[500:]
    >>> model = AdaptiveSVM()
    >>> windows = [model.partial_fit(X[i:i+100], y[i:i+100]).window_ for i in range(0, 600, 100)]
    >>> windows[-1]
    1
    """

    def __init__(
        self,
        batch_size: int = 100,
        max_batches: int = 5,
        rho: float = 1.0,
        C: float = 1.0,
        max_iter: int = 100_000,
    ) -> None:
        self.batch_size = batch_size
        self.max_batches = max_batches
        self.rho = rho
        self.C = C
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_scalar(self.batch_size, "batch_size", Integral, min_val=1)
        check_scalar(self.max_batches, "max_batches", Integral, min_val=1)
        check_scalar(self.rho, "rho", Real, min_val=0.0)
        check_scalar(self.C, "C", Real, min_val=0.0, include_boundaries="neither")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=-1)

    def _start(self) -> None:
        super()._start()
        self.opening_ = MajorityClass.over(self.classes_)
        self.rows_ = np.empty((0, self.n_features_in_))
        self.codes_ = np.empty(0, dtype=np.intp)

    def _train(self, X: Floats, y: Codes) -> None:
        longest = self.max_batches * self.batch_size
        self.rows_ = np.concatenate([self.rows_, X])[-longest:]
        self.codes_ = np.concatenate([self.codes_, y])[-longest:]
        least = self.batch_size
        for batches in range(1, len(self.rows_) // self.batch_size + 1):
            n = batches * self.batch_size
            rows, codes = self.rows_[-n:], self.codes_[-n:]
            machine = Machine(
                rows, codes, kernel="linear", gamma=0.0, C=self.C, max_iter=self.max_iter
            )
            marked = machine.leave_one_out_errors(rows, self.rho)
            errors = int(np.count_nonzero(marked >= n - self.batch_size))
            if errors <= least:  # equal: the longer window, which comes later
                least, self.machine_, self.window_ = errors, machine, batches
        self.n_iter_ = self.machine_.n_iter

    def _predict_trained(self, X: Floats) -> Codes:
        return self.machine_.predict(X)
