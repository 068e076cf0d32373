"""The curves of calibration in NumPy, for one class or many; see `src/core/calibration.hpp`."""

import numpy as np


class Curve:
    """Newton's step on the logistic loss, row by row."""

    def __init__(self, size, prior, first, forget):
        self.w = np.eye(size)[0] * first
        self.H = self.start = prior * np.eye(size)  # one, or one each
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


def calibrate_standard(leads, chosen, labels):
    """The curves' P(right) of each row before it was known, of a prediction with that lead."""
    count = max(*chosen, *labels) + 1
    shared = Curve(3, 1.0, 1.0, 0.0025)
    shared.w = np.array([1.0, 1.0, 0.0])
    own = [Curve(2, np.array([50.0, 5.0]), 0.0, 0.005) for _ in range(count)]
    mean, variance, seen = 0.5, 0.25, np.zeros(count)
    correction, told = Correction(), []
    for lead, top, label in zip(leads, chosen, labels, strict=True):
        z = np.clip((lead - mean) / np.sqrt(variance), -8.0, 8.0)
        seen = 0.999 * seen + (np.arange(count) == label)
        share = 1 / (20 + seen.sum())
        fade = min(1.0, (1 + seen.sum() - seen.max()) / (1 + seen.sum()) / 0.2)
        aim = (lead, (lead - mean) ** 2) if fade < 1 else (0.5, 0.25)
        variance = max(variance + share * (aim[1] - variance), 1e-8)
        mean += share * (aim[0] - mean)
        shared.forget, own[top].forget = 0.0025 * fade, 0.005 * fade
        all_rows, of_class = np.array([z, 1.0, z * z / (1 + abs(z))]), np.array([z, 1.0])
        told.append(learn(shared, own[top], correction, all_rows, of_class, top == label))
    return np.array(told)


def calibrate_leads(leads, chosen, labels):
    """The same of models of before leads were standardised."""
    shared = Curve(3, 1.0, 2.0, 0.0025)
    own = [Curve(2, 5.0, 0.0, 0.005) for _ in range(max(chosen) + 1)]
    correction, told = Correction(), []
    for lead, top, label in zip(leads, chosen, labels, strict=True):
        all_rows, of_class = np.array([lead, 1.0, lead * lead]), np.array([lead, 1.0])
        told.append(learn(shared, own[top], correction, all_rows, of_class, top == label))
    return np.array(told)


CALIBRATIONS = {"standard": calibrate_standard, "of leads": calibrate_leads}


def learn(shared, own, correction, all_rows, of_class, right):
    """Learn one row; return the P(right) told before."""
    log_odds = shared.w @ all_rows + own.w @ of_class
    told = correction.of(log_odds)
    correction.update(log_odds, right)
    own.update(of_class, logistic(log_odds), right)
    shared.update(all_rows, logistic(shared.w @ all_rows), right)
    return told
