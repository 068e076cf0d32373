"""SVM-fix: a linear support vector machine retrained on a window of fixed size, batch by batch."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar

from dfop.baselines.base import Codes, Floats, StreamClassifier
from dfop.baselines.batches import BatchLearner
from dfop.baselines.majority_class import MajorityClass
from dfop.baselines.svm import Machine


class FixedSVM(BatchLearner, StreamClassifier):
    """Train a linear support vector machine on the last `window` rows after every batch.

    The machine predicts until the next batch is complete. Until the first one is, the most
    frequent label so far is predicted. Features in large units make the solver slow: scale them.

    Parameters
    ----------
    batch_size : int, default=100
        Rows from one training to the next.
    window : int, default=100
        Rows the machine is trained on. The paper's table uses 500 for SEA.
    carry_support_vectors : bool, default=False
        Train on the support vectors of the previous machine as well (Syed, Liu, Sung). Where
        classes overlap their number grows with the stream.
    C : float, default=1.0
        Price of a row inside the margin.
    max_iter : int, default=100000
        Steps of the solver for one training; -1 for as many as it takes.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    rows_ : ndarray, codes_ : ndarray
        The rows of the present machine, oldest first, and their labels as indices into
        ``classes_``.
    n_batches_ : int
        Batches learned.
    n_iter_ : int
        Steps the solver took for the present machine.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Syed, Liu, Sung (1999). Handling concept drifts in incremental learning with support vector
    machines. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from dfop.baselines import FixedSVM
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> y = np.where(X.sum(axis=1) > 0, "in", "out")
    >>> right = FixedSVM().predict_then_learn(X, y) == y
    >>> bool(right[100:].mean() > 0.95)
    True
    """

    def __init__(
        self,
        batch_size: int = 100,
        window: int = 100,
        carry_support_vectors: bool = False,
        C: float = 1.0,
        max_iter: int = 100_000,
    ) -> None:
        self.batch_size = batch_size
        self.window = window
        self.carry_support_vectors = carry_support_vectors
        self.C = C
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_scalar(self.batch_size, "batch_size", Integral, min_val=1)
        check_scalar(self.window, "window", Integral, min_val=1)
        check_scalar(self.C, "C", Real, min_val=0.0, include_boundaries="neither")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=-1)

    def _start(self) -> None:
        super()._start()
        self.opening_ = MajorityClass.over(self.classes_)
        self.rows_ = np.empty((0, self.n_features_in_))
        self.codes_ = np.empty(0, dtype=np.intp)
        self._is_support_ = np.empty(0, dtype=bool)

    def _train(self, X: Floats, y: Codes) -> None:
        rows, codes = np.concatenate([self.rows_, X]), np.concatenate([self.codes_, y])
        stay = np.arange(len(rows)) >= len(rows) - self.window
        if self.carry_support_vectors:
            stay[: len(self._is_support_)] |= self._is_support_
        self.rows_, self.codes_ = rows[stay], codes[stay]
        self.machine_ = Machine(
            self.rows_,
            self.codes_,
            kernel="linear",
            gamma=0.0,
            C=self.C,
            max_iter=self.max_iter,
        )
        self._is_support_ = np.zeros(len(self.rows_), dtype=bool)
        self._is_support_[self.machine_.support] = True
        self.n_iter_ = self.machine_.n_iter

    def _predict_trained(self, X: Floats) -> Codes:
        return self.machine_.predict(X)
