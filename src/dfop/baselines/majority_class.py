"""The most frequent class so far."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from dfop.baselines.base import Codes, Floats, StreamClassifier


class MajorityClass(StreamClassifier):
    """Predict the most frequent label so far; among equals the first in ``classes_``.

    It reads no feature: what any learner must beat.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    counts_ : ndarray of shape (n_classes,)
        Rows of each class so far.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Bifet, Read, Žliobaitė, Pfahringer, Holmes (2013). Pitfalls in benchmarking data stream
    classification and how to avoid them. ECML PKDD.

    Examples
    --------
    >>> from dfop.baselines import MajorityClass
    >>> MajorityClass().predict_then_learn([[0], [1], [2], [3]], [7, 8, 8, 7])
    array([7, 7, 7, 8])
    """

    @classmethod
    def over(cls, classes: NDArray[Any]) -> Self:
        """Make one that has learned nothing yet and knows its classes: a method's opening."""
        model = cls()
        model.classes_ = classes
        model._start()
        return model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _start(self) -> None:
        self.counts_ = np.zeros(len(self.classes_), dtype=np.int64)

    def _predict(self, X: Floats) -> Codes:
        return np.full(len(X), self.counts_.argmax(), dtype=np.intp)

    def _predict_then_learn(self, X: Floats, y: Codes) -> Codes:
        is_class = y[:, None] == np.arange(len(self.classes_))
        counts = np.cumsum(np.vstack([self.counts_, is_class]), axis=0)
        self.counts_ = counts[-1]
        predicted: Codes = counts[:-1].argmax(axis=1)
        return predicted
