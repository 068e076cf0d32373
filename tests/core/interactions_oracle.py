"""Columns that count together in plain Python, from the formulas of src/core/interactions.hpp."""

import math

import numpy as np
from forest_oracle import hash_bits

SLOTS, GROUPS, GATED, FIRST_ROWS, PATIENCE, TOGETHER = 24, 4, 32, 32, 8, 3
NUMBER_PRIOR, LABEL_PRIOR, FARTHEST, MOST_ERROR, MOST_SURPRISE = 100.0, 3.0, 4.0, 3.0, 25.0
STRONGER = 2.0


def candidates(d):
    """All products in their order: pairs of elements, ("z", j) or ("gate", j)."""
    found = []
    for j in range(d):
        found += [(None, ("gate", j)), (("z", j), ("z", j))]
        kinds = [("z", "z"), ("z", "gate"), ("gate", "z"), ("gate", "gate")]
        for left, right in kinds if j < GATED else kinds[:1]:
            found += [((left, i), (right, j)) for i in range(j)]
    return found


class OracleScale:
    """Columns in standard deviations from their mean, as far as the rows before tell."""

    def __init__(self, d):
        self.rows = []
        self.d = d

    def standardise(self, x):
        if not self.rows:
            return np.zeros(self.d)
        past = np.array(self.rows)
        spread = past.std(axis=0)
        z = np.divide(x - past.mean(axis=0), spread, out=np.zeros(self.d), where=spread > 1e-12)
        return np.clip(z, -FARTHEST, FARTHEST)


class OracleInteractions:
    """The interactions of one target, by the covariance form of recursive least squares."""

    def __init__(self, d, outputs, mu, *, number):
        self.d, self.mu, self.outputs = d, mu, outputs
        self.prior = NUMBER_PRIOR if number else LABEL_PRIOR
        self.candidates = candidates(d)
        self.P = self.prior * np.eye(1 + SLOTS + d)  # the constant, slots, columns
        self.W = np.zeros((1 + SLOTS + d, outputs))
        self.chosen = [None] * SLOTS
        self.rows = 0
        self.spread = np.zeros(outputs)
        self.S = np.zeros((min(outputs, GROUPS), len(self.candidates)))
        self.Q = np.zeros_like(self.S)
        self.renewed = 0

    def products(self, z):
        element = {("z", j): z[j] for j in range(self.d)}
        element |= {("gate", j): float(z[j] > 0) for j in range(self.d)}
        element[None] = 1.0
        return np.array([element[left] * element[right] for left, right in self.candidates])

    def features(self, z):
        products = self.products(z)
        slots = [0.0 if c is None else products[c] for c in self.chosen]
        return np.concatenate([[1.0], slots, z])

    def predict(self, z):
        return self.features(z) @ self.W

    def pass_time(self, elapsed):
        self.P /= (1 - self.mu) ** elapsed

    def learn(self, z, y, elapsed=1.0):
        x, error = self.features(z), y - self.predict(z)
        self.pass_time(elapsed)
        gain = (1 - (1 - self.mu) ** elapsed) / self.mu  # what a row that stands for several counts
        Px = self.P @ x
        s = 1 / gain + x @ Px
        self.W += np.outer(Px / s, error)
        self.P -= np.outer(Px, Px) / s
        self.judge(z, error)

    def judge(self, z, error):
        self.rows += 1
        groups = np.zeros(len(self.S))
        for o, (e, usual) in enumerate(zip(error, np.sqrt(self.spread), strict=True)):
            if usual > 0:
                sign = 1 if o < GROUPS or hash_bits(o, 0) % 2 == 0 else -1
                groups[o % GROUPS] += sign * np.clip(e / usual, -MOST_ERROR, MOST_ERROR)
        most = MOST_SURPRISE * self.spread if self.rows > FIRST_ROWS else np.inf
        rate = max(1 / self.rows, self.mu)
        self.spread += rate * (np.minimum(error**2, most) - self.spread)
        if self.rows <= FIRST_ROWS:
            return
        vx = np.outer(groups, self.products(z))
        self.S += vx
        self.Q += vx**2
        if self.rows % PATIENCE == 0:
            self.choose()

    def choose(self):
        told = self.Q > 0
        evidence = np.divide(self.S**2, self.Q, out=np.zeros_like(self.Q), where=told).sum(axis=0)
        freedom = told.sum(axis=0)
        self.S *= (1 - self.mu) ** PATIENCE
        self.Q *= (1 - self.mu) ** PATIENCE
        free = [c for c in np.flatnonzero(freedom) if c not in self.chosen]
        free.sort(key=lambda c: freedom[c] - evidence[c])
        for c in free[:TOGETHER]:
            if evidence[c] - (freedom[c] - 1) <= 2 * math.log(np.count_nonzero(freedom)):
                return
            slot = self.chosen.index(None) if None in self.chosen else None
            if slot is None:
                worth = self.worth()
                slot = int(np.argmin(worth))
                if evidence[c] / freedom[c] <= STRONGER * worth[slot]:
                    return
                self.renewed += 1
            self.place(c, slot)

    def worth(self):
        told = self.spread > 0
        squares = self.W[1 : 1 + SLOTS, told] ** 2 / self.spread[told]
        return squares.mean(axis=1) / np.diag(self.P)[1 : 1 + SLOTS]

    def place(self, c, slot):
        for cleared in {c, self.chosen[slot]} - {None}:
            self.S[:, cleared] = self.Q[:, cleared] = 0
        self.chosen[slot] = c
        # The others go on as if the weight had been known: in P = U D U', its row and column of U
        # are 0.
        U, D = factor(self.P)
        U[1 + slot, :] = U[:, 1 + slot] = 0
        U[1 + slot, 1 + slot] = 1
        D[1 + slot] = self.prior
        self.P = U @ np.diag(D) @ U.T
        self.W[1 + slot] = 0


def factor(P):
    """P = U D U', U unit upper triangular."""
    n = len(P)
    P, U, D = P.copy(), np.eye(n), np.zeros(n)
    for j in reversed(range(n)):
        D[j] = P[j, j]
        U[:j, j] = P[:j, j] / D[j]
        P[:j, :j] -= np.outer(U[:j, j], U[:j, j]) * D[j]
    return U, D
