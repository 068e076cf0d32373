"""The curves of calibration in NumPy, for one class or many; see `src/core/calibration.hpp`."""

import numpy as np


class Curve:
    """Newton's step on the logistic loss, row by row."""

    def __init__(self, size, prior, first, forget):
        self.w = np.eye(size)[0] * first
        self.H = self.start = prior * np.eye(size)
        self.forget = forget

    def update(self, x, p, right):
        self.H = self.H + self.forget * (self.start - self.H)
        self.H = self.H + max(p * (1 - p), 1e-3) * np.outer(x, x)
        self.w = np.clip(self.w + (right - p) * np.linalg.solve(self.H, x), -20.0, 20.0)


def logistic(log_odds):
    return 1 / (1 + np.exp(-np.clip(log_odds, -15.0, 15.0)))


class Correction:
    """What is added to log odds, a line between knots of p; see `src/core/reliability.hpp`."""

    def __init__(self):
        self.knots = np.linspace(0.0, 1.0, 21)
        self.offsets, self.weights = np.zeros(21), np.zeros(21)

    def of(self, log_odds):
        return logistic(log_odds + np.interp(logistic(log_odds), self.knots, self.offsets))

    def update(self, log_odds, right):
        q = self.of(log_odds)
        shares = np.maximum(1 - 20 * np.abs(self.knots - logistic(log_odds)), 0)
        self.weights = 0.9995 * self.weights + max(q * (1 - q), 0.02) * shares
        self.offsets += (right - q) * shares / (30 + self.weights)


def calibrate(leads, chosen, right):
    """The curves' P(right) of each row before it was known, of a prediction with that lead."""
    shared = Curve(3, 1.0, 2.0, 0.0025)
    own = [Curve(2, 5.0, 0.0, 0.005) for _ in range(max(chosen) + 1)]
    correction, told = Correction(), []
    for lead, top, was_right in zip(leads, chosen, right, strict=True):
        x, z = np.array([lead, 1.0, lead * lead]), np.array([lead, 1.0])
        log_odds = shared.w @ x + own[top].w @ z
        told.append(correction.of(log_odds))
        correction.update(log_odds, was_right)
        own[top].update(z, logistic(log_odds), was_right)
        shared.update(x, logistic(shared.w @ x), was_right)
    return np.array(told)
