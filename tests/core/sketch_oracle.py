"""The sketch in NumPy, with dense matrices and double precision: what src/core/sketch.hpp says.

Directions are an orthonormal basis by QR here and by Cholesky there, so they differ by a rotation;
no prediction depends on that.
"""

import numpy as np

JOIN, ROOM = 8, 8.0


class SketchOracle:
    def __init__(self, features, outputs, rank, prior_variance):
        d, m = features, rank
        self.rank, self.p0 = rank, prior_variance
        self.order, self.joined = [], []
        self.met = np.zeros(d)
        self.scale, self.T = np.ones(d), np.zeros(d)
        self.V, self.Y = np.zeros((d, m)), np.zeros((d, m))
        self.w = np.zeros((d, outputs))
        self.P = np.eye(m + 1)
        self.P[0, 0] = prior_variance
        self.a = np.zeros((m + 1, outputs))
        self.faded, self.rows, self.nonzeros, self.refreshes = 1.0, 0, 0, 0

    def predict(self, x):
        x = x / self.scale
        return np.concatenate([[1.0], self.V.T @ x]) @ self.a + x @ self.w

    def learn(self, row, y, discount=1.0, gain=1.0):
        predicted = self.predict(row)
        self.faded *= discount
        self.P, self.T, self.Y = self.P / discount, self.T * discount, self.Y * discount
        held = np.flatnonzero(row)
        for j in held:
            self.meet(j, abs(row[j]))
        x, z = (row / self.scale)[held], np.concatenate([[1.0], self.V.T @ (row / self.scale)])
        V = self.V[held]
        r = x - V @ z[1:]
        q = r / (self.ridge[held] + 0.5 * self.T[held])  # one thing told, counted for every column
        Pz = self.P @ z
        along, aside = z @ Pz, r @ q
        change = (y - predicted) / (1.0 / gain + along + aside)
        self.a += np.outer(Pz - np.concatenate([[0.0], V.T @ q]), change)
        self.w[held] += np.outer(q, change)
        self.P -= np.outer(Pz, Pz) / (1.0 / gain + along)
        self.T[held] += gain * r * r
        mine = [j for j in held if j in self.joined]
        self.Y[mine] += gain * np.outer((row / self.scale)[mine], z[1:])
        self.rows, self.nonzeros = self.rows + 1, self.nonzeros + len(mine)
        m, n = self.rank, len(self.joined)
        if n > m and self.rows >= 2 * m and self.nonzeros >= 0.5 * m * n:
            self.refresh()
        return predicted

    @property
    def ridge(self):
        return 1.0 / (self.p0 * self.scale**2)

    def meet(self, j, magnitude):
        if j not in self.order:
            k = len(self.order)
            self.order.append(j)
            self.scale[j] = ROOM * 2.0 ** np.ceil(np.log2(magnitude))
            if k < self.rank and not self.refreshes:
                self.joined.append(j)
                self.V[j, k] = 1.0
                self.P[k + 1, k + 1] = self.p0 * self.scale[j] ** 2 / self.faded
        assert magnitude <= self.scale[j], "this oracle does not let scales grow"
        if j not in self.joined:
            self.met[j] += 1
            if self.met[j] == JOIN:
                self.joined.append(j)

    def refresh(self):
        at = np.array(self.joined)
        V, T, (Q, _) = self.V[at], self.T[at], np.linalg.qr(self.Y[at])
        S = np.linalg.inv(self.P)
        R = V @ S[1:, 1:] @ V.T + np.diag(T)
        B = np.eye(self.rank + 1)
        B[1:, 1:] = Q.T @ V
        now = B @ S @ B.T
        now[1:, 1:] += Q.T @ np.diag(T) @ Q
        aside = np.eye(len(at)) - Q @ Q.T
        weights = V @ self.a[1:] + self.w[at]
        self.P = np.linalg.inv(now)
        self.T[at] = np.diag(aside @ R @ aside)
        self.a[1:] = Q.T @ weights
        self.V[at], self.w[at], self.Y[at] = Q, aside @ weights, Q @ now[1:, 1:]
        self.rows = self.nonzeros = 0
        self.refreshes += 1
