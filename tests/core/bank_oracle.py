"""The combination of experts in plain NumPy, one row at a time, from its formulas.

1. ML-Poly: with r_k = 2 (yhat - y)(yhat - f_k), weights proportional to max(sum r_k, 0) over
   (largest r^2 + sum r_k^2), equal while no sum is positive.
2. Three filters learn what the mixture leaves over, from how the experts differ from it; of a label
   also from the mixture itself, and with a constant.
3. Mixture, filters and experts, weighted by exp(-eta * discounted loss), squared errors in units
   of the best candidate's mean, wrong labels as they are. Of numbers, half of the prediction is a
   second ML-Poly over all of them.

The class is the first of the outputs within 1e-9 of the largest, the second of two if the margin is
above 1e-9. Mean squared errors below 1e-24 (of half the range) count as that: they are rounding.
ML-Poly needs no such rule: where rounding decides over a regret, the experts predict the same.

Everything is measured in half the range of the labels, rounded up to a power of two. Predictions of
numbers may leave the range by a tenth of it; once ten have come, a number counts as at most three
ranges out.
"""

import math

import numpy as np

from dfop.core.oracle import OracleFilter

STACKS = (1e-2, 1e-3, 1e-4)
STACK_PRIOR, STACK_CAP = 0.1, 1e6
ETA = 0.5
MARGIN, REACH, TRUSTED = 0.1, 3.0, 10
TIE, EXACT = 1e-9, 1e-24
DISCOUNT = {"number": 0.99, "margin": 0.999, "one_hot": 0.999}


class OracleMlPoly:
    def __init__(self, experts):
        self.regret, self.squares, self.largest = np.zeros(experts), np.zeros(experts), 0.0

    def weights(self):
        w = np.maximum(self.regret, 0.0)
        w = np.divide(w, self.largest + self.squares, out=np.zeros_like(w), where=w > 0)
        return w / w.sum() if w.any() else np.full(len(w), 1 / len(w))

    def learn(self, f, label, unit):
        mixed = self.weights() @ f
        r = 2 * (mixed - label) / unit * (mixed - f) / unit
        self.regret += r
        self.squares += r**2
        self.largest = max(self.largest, (r**2).max())

    def rescale(self, shrink):
        self.regret *= shrink
        self.squares *= shrink**2
        self.largest *= shrink**2


class OracleOutput:
    def __init__(self, coding, experts):
        self.coding = coding
        self.labels = 0
        self.low, self.high, self.unit = {
            "number": (None, None, 0.0),
            "margin": (-1.0, 1.0, 1.0),
            "one_hot": (0.0, 1.0, 0.5),
        }[coding]
        self.mixture = OracleMlPoly(experts)
        label = coding != "number"
        self.stacks = [
            OracleFilter(experts + label, 1, label, STACK_PRIOR, STACK_CAP) for _ in STACKS
        ]

    def clip(self, values, low, high):
        low, high = low or 0.0, high or 0.0
        margin = MARGIN * (high - low) if self.coding == "number" else 0.0
        return np.clip(values, low - margin, high + margin)

    def bounded(self, label):
        if self.coding != "number" or self.labels < TRUSTED or self.low == self.high:
            return label
        reach = REACH * (self.high - self.low)
        return min(max(label, self.low - reach), self.high + reach)

    def step(self, experts, label):
        """Candidates before the label, and how much squared errors shrink with the new unit."""
        before = self.low, self.high
        f = self.clip(experts, *before)
        mixed = self.mixture.weights() @ f
        shrink = self.include(label) if self.coding == "number" else 1.0
        if self.unit == 0.0:
            return np.r_[mixed, [mixed] * len(STACKS), f], shrink
        u = self.unit
        x = (f - mixed) / u
        if self.coding != "number":
            x = np.r_[x, (mixed - (self.low + self.high) / 2) / u]
        stacked = []
        for filter_, mu in zip(self.stacks, STACKS, strict=True):
            out = np.empty((1, 1))
            target = np.array([[(label - mixed) / u]])
            filter_.learn(x[np.newaxis], target, np.array([1 - mu]), np.ones(1), out)
            stacked.append(float(self.clip(mixed + u * out[0, 0], *before)))
        self.mixture.learn(f, label, u)
        return np.r_[mixed, stacked, f], shrink

    def include(self, label):
        self.labels += 1
        self.low = label if self.low is None else min(self.low, label)
        self.high = label if self.high is None else max(self.high, label)
        half, old = (self.high - self.low) / 2, self.unit
        if half > old:
            self.unit = 2.0 ** math.ceil(math.log2(half))
        if old == 0.0 or self.unit == old:
            return 1.0
        shrink = (old / self.unit) ** 2
        self.mixture.rescale(shrink)
        return shrink


class OracleBank:
    """Linear experts that forget, for one target."""

    def __init__(self, features, coding, outputs, forgetting, intercept, prior_variance, cap):
        self.coding, self.forgetting = coding, forgetting
        self.experts = [
            OracleFilter(features, outputs, intercept, prior_variance, cap) for _ in forgetting
        ]
        self.outputs = [OracleOutput(coding, len(forgetting)) for _ in range(outputs)]
        self.losses = np.zeros(len(forgetting) + 1 + len(STACKS))
        self.loss_rows = 0.0
        self.calm = OracleMlPoly(len(self.losses))

    def step(self, x, y):
        """Predict one row before its target is read, then learn it."""
        m = len(self.outputs)
        y = np.array([o.bounded(label) for o, label in zip(self.outputs, y, strict=True)])
        predictions = np.empty((len(self.experts), m))
        for k, mu in enumerate(self.forgetting):
            lam = np.array([1 - mu])
            self.experts[k].learn(
                x[np.newaxis], y[np.newaxis], lam, np.ones(1), predictions[k : k + 1]
            )
        shares = self.shares()
        steps = [o.step(predictions[:, i], y[i]) for i, o in enumerate(self.outputs)]
        candidates = np.array([candidate for candidate, _ in steps])  # outputs x candidates
        self.of_experts = candidates[:, 1 + len(STACKS) :]
        if self.coding == "number":
            shares = (shares + self.calm.weights()) / 2
        ahead = candidates @ shares
        if self.coding == "number":
            self.losses *= steps[0][1]
            self.calm.rescale(steps[0][1])
            if self.outputs[0].unit == 0.0:
                return ahead
            loss = ((candidates[0] - y[0]) / self.outputs[0].unit) ** 2
            self.calm.learn(candidates[0], y[0], self.outputs[0].unit)
        elif self.coding == "margin":
            loss = (candidates[0] > TIE) != (y[0] > 0)
        else:
            largest = candidates.max(axis=0)
            loss = (candidates >= largest - TIE).argmax(axis=0) != y.argmax()
        self.losses = DISCOUNT[self.coding] * self.losses + loss
        self.loss_rows = DISCOUNT[self.coding] * self.loss_rows + 1
        return ahead

    def shares(self):
        least = self.losses.min()
        number = self.coding == "number"
        unit = max(least / max(self.loss_rows, 1.0), EXACT) if number else 1.0
        weights = np.exp(-ETA * ((self.losses - least) / unit))
        return weights / weights.sum()

    def weights(self):
        """What each expert counts in the prediction of a number that comes now.

        With the mixture's weights w, a stack with the weights c says w'f + c'(f - w'f).
        """
        (output,) = self.outputs
        shares = (self.shares() + self.calm.weights()) / 2
        w = output.mixture.weights()
        parts = [w]
        for stack in output.stacks:
            c = stack.coefficients()[0][0]
            parts.append(w + c - c.sum() * w)
        return shares[: len(parts)] @ np.array(parts) + shares[len(parts) :]


class OracleWalk:
    """An expert whose weights walk: D <- D / (1 - mu) + q of P = U diag(D) U', then the row.

    The constant comes first. A feature begins to walk behind the first row: until then it was 0.
    """

    def __init__(self, features, q, prior_variance):
        self.q, self.P = q, prior_variance * np.eye(features + 1)
        self.w = np.zeros(features + 1)
        self.walks = np.eye(features + 1)[0]

    def learn(self, X, Y, discounts, gains, out):
        x = np.r_[1.0, X[0]]
        U, D = factors(self.P)
        P = U @ np.diag(D / discounts[0] + self.q * self.walks) @ U.T
        self.walks = np.ones_like(self.w)
        out[0, 0] = self.w @ x
        gain = P @ x / (1 + x @ P @ x)
        self.w = self.w + gain * (Y[0, 0] - self.w @ x)
        self.P = P - np.outer(gain, P @ x)


def factors(P):
    """P = U diag(D) U' with U unit upper triangular."""
    P, d = P.copy(), len(P)
    U, D = np.eye(d), np.empty(d)
    for j in reversed(range(d)):
        D[j] = P[j, j]
        U[:j, j] = P[:j, j] / D[j]
        P[:j, :j] -= D[j] * np.outer(U[:j, j], U[:j, j])
    return U, D
