"""The mean of all targets so far."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Tags

from dfop.baselines.base import Floats, StreamRegressor


class RunningMean(StreamRegressor):
    """Predict the mean of all targets so far.

    It reads no feature: what any learner must beat.

    Attributes
    ----------
    count_ : int
        Rows so far.
    total_ : float
        Sum of their targets.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Bifet, Read, Žliobaitė, Pfahringer, Holmes (2013). Pitfalls in benchmarking data stream
    classification and how to avoid them. ECML PKDD.

    Examples
    --------
    >>> from dfop.baselines import RunningMean
    >>> RunningMean().predict_then_learn([[0], [1], [2]], [2.0, 4.0, 9.0])
    array([0., 2., 3.])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _start(self) -> None:
        self.count_ = 0
        self.total_ = 0.0

    def _predict(self, X: Floats) -> Floats:
        return np.full(len(X), self.total_ / max(self.count_, 1))

    def _predict_then_learn(self, X: Floats, y: Floats) -> Floats:
        # cumsum adds one after the other, so any division into batches gives the same bits.
        totals = np.cumsum(np.concatenate([[self.total_], y]))
        counts = self.count_ + np.arange(len(y) + 1)
        self.count_, self.total_ = int(counts[-1]), float(totals[-1])
        means: Floats = totals[:-1] / np.maximum(counts[:-1], 1)
        return means
