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


def calibrate(leads, chosen, right):
    """The curves' P(right) of each row before it was known, of a prediction with that lead."""
    shared = Curve(3, 1.0, 2.0, 0.0025)
    own = [Curve(2, 5.0, 0.0, 0.005) for _ in range(max(chosen) + 1)]
    told = []
    for lead, top, was_right in zip(leads, chosen, right, strict=True):
        x, z = np.array([lead, 1.0, lead * lead]), np.array([lead, 1.0])
        p = logistic(shared.w @ x + own[top].w @ z)
        told.append(p)
        own[top].update(z, p, was_right)
        shared.update(x, logistic(shared.w @ x), was_right)
    return np.array(told)
