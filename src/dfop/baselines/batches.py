"""Methods that learn a batch at a time, read row by row."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dfop.baselines.base import Floats, StreamEstimator


class BatchLearner(StreamEstimator):
    """Rows wait until `batch_size` of them are there; then ``_train`` sees them together.

    The model changes only between batches, so where a call's rows begin and end does not matter.
    Until the first batch is complete ``opening_`` predicts, a baseline that reads no feature.
    """

    batch_size: int
    opening_: Any

    @abstractmethod
    def _train(self, X: Floats, y: NDArray[Any]) -> None:
        """Learn one complete batch."""

    @abstractmethod
    def _predict_trained(self, X: Floats) -> NDArray[Any]:
        """Predict after at least one batch."""

    def _start(self) -> None:
        self.waiting_: list[tuple[Floats, NDArray[Any]]] = []
        self.n_waiting_ = 0
        self.n_batches_ = 0

    def _predict(self, X: Floats) -> NDArray[Any]:
        if self.n_batches_:
            return self._predict_trained(X)
        predicted: NDArray[Any] = self.opening_._predict(X)
        return predicted

    def _predict_then_learn(self, X: Floats, y: NDArray[Any]) -> NDArray[Any]:
        return self._advance(X, y, predict=True)

    def _learn(self, X: Floats, y: NDArray[Any]) -> None:
        self._advance(X, y, predict=False)

    def _advance(self, X: Floats, y: NDArray[Any], *, predict: bool) -> NDArray[Any]:
        predicted = np.empty_like(y)
        begin = 0
        while begin < len(X):
            end = begin + self.batch_size - self.n_waiting_
            rows, targets = X[begin:end], y[begin:end]
            if self.n_batches_ == 0:
                predicted[begin:end] = self.opening_._predict_then_learn(rows, targets)
            elif predict:
                predicted[begin:end] = self._predict_trained(rows)
            self.waiting_.append((rows.copy(), targets.copy()))
            self.n_waiting_ += len(rows)
            if self.n_waiting_ == self.batch_size:
                self._train(*(np.concatenate(part) for part in zip(*self.waiting_, strict=True)))
                self.waiting_, self.n_waiting_ = [], 0
                self.n_batches_ += 1
            begin = end
        return predicted
