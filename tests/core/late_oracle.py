"""The two combinations for labels that come late, in plain NumPy, from their formulas.

Rows come in batches: all of a batch are predicted, then their labels are learned one by one.

*At once* learns from what experts predict of a row just before its label is learned; *as made* from
what they, its mixture and its stacks predicted when the row came (in single precision if it is a
class). In the latter ML-Poly's r_k for a number is (yhat - y)^2 - (f_k - y)^2. They part with the
first row of which something else is predicted when its label comes. The prediction is that of both,
weighted by exp(-eta * loss of what each predicted when the row came), discounted by .9975 a label.
Nothing is judged as made that was predicted before there was a loss to tell.

Numbers have room beyond an end of the range: 2 h g c, three ranges at most, where h is the largest
number of labels between a row and its own (discounted by .999), g how far labels lay outside on
average, c how far the mean of the last labels (1/50 each) is from the middle of the range to that
end, from 0 to 1; as long as the mixture as made was not worse with room than without.
"""

import copy

import numpy as np
from bank_oracle import (
    DISCOUNT,
    ETA,
    EXACT,
    MARGIN,
    REACH,
    STACK_CAP,
    STACK_PRIOR,
    STACKS,
    TIE,
    TRUSTED,
    OracleMlPoly,
)

from dfop.core.oracle import OracleFilter

MIX = {"number": 0.9975, "margin": 0.9998, "one_hot": 0.9998}
"""Of the losses of the two combinations."""
LATE_ETA = {"number": ETA, "margin": 0.1, "one_hot": 0.1}
"""Of these, and of candidates judged by predictions as they were made."""
AS_MADE = {"number": DISCOUNT["number"], "margin": 0.9995, "one_hot": 0.9995}
"""Of the losses of such candidates."""


def power_of_two_above(half):
    return 2.0 ** np.ceil(np.log2(half))


class Range:
    """Of the labels of one output."""

    def __init__(self, coding):
        self.number, self.labels = coding == "number", 0
        self.low, self.high, self.unit = {
            "number": (0.0, 0.0, 0.0), "margin": (-1.0, 1.0, 1.0), "one_hot": (0.0, 1.0, 0.5),
        }[coding]  # fmt: skip

    def clip(self, values, room=(0.0, 0.0)):
        margin = MARGIN * (self.high - self.low) * self.number
        return np.clip(values, self.low - max(margin, room[0]), self.high + max(margin, room[1]))

    def bounded(self, label):
        if not self.number or self.labels < TRUSTED or self.low == self.high:
            return label
        reach = REACH * (self.high - self.low)
        return np.clip(label, self.low - reach, self.high + reach)

    def include(self, label):
        """Return by how much squared errors shrink."""
        if not self.number:
            return 1.0
        self.low = min(self.low, label) if self.labels else label
        self.high = max(self.high, label) if self.labels else label
        self.labels += 1
        half, old = (self.high - self.low) / 2, self.unit
        self.unit = power_of_two_above(half) if half > old else old
        return (old / self.unit) ** 2 if old else 1.0


class Combination:
    """Mixture, stacks and experts, and their losses."""

    def __init__(self, coding, experts, outputs):
        label = coding != "number"
        self.coding, self.by_error, self.single = coding, False, False
        self.mixtures = [OracleMlPoly(experts) for _ in range(outputs)]
        self.stacks = [
            [OracleFilter(experts + label, 1, label, STACK_PRIOR, STACK_CAP) for _ in STACKS]
            for _ in range(outputs)
        ]
        self.losses, self.rows = np.zeros(experts + 1 + len(STACKS)), 0.0
        self.calm = OracleMlPoly(len(self.losses))
        self.eta, self.discount = ETA, DISCOUNT[coding]

    def judged_as_made(self):
        """Return one that goes on from here, judged by predictions as they were made."""
        other = copy.deepcopy(self)
        other.by_error, other.single = self.coding == "number", self.coding != "number"
        other.eta, other.discount = LATE_ETA[self.coding], AS_MADE[self.coding]
        return other

    def rounded(self, value):
        return np.float64(np.float32(value)) if self.single else value

    def seen(self, candidates, range_):
        """What the stacks see of an output."""
        mixed, f = candidates[0], candidates[1 + len(STACKS) :]
        x = (f - mixed) / range_.unit if range_.unit else 0.0 * f
        if self.coding != "number":
            x = np.r_[x, (mixed - (range_.low + range_.high) / 2) / range_.unit]
        return x[np.newaxis]

    def candidates(self, predictions, range_, room):
        """Outputs x candidates."""
        rows = []
        for o, (mixture, stacks) in enumerate(zip(self.mixtures, self.stacks, strict=True)):
            f = self.rounded(range_.clip(predictions[:, o], room))
            mixed = self.rounded(mixture.weights() @ f)
            row = np.r_[mixed, np.zeros(len(STACKS)), f]
            for i, stack in enumerate(stacks):
                out = np.empty((1, 1))
                stack.predict(self.seen(row, range_), out)
                row[1 + i] = self.rounded(range_.clip(mixed + range_.unit * out[0, 0], room))
            rows.append(row)
        return np.array(rows)

    def predict(self, candidates):
        least, number = self.losses.min(), self.coding == "number"
        unit = max(least / max(self.rows, 1.0), EXACT) if number else 1.0
        shares = np.exp(-self.eta * ((self.losses - least) / unit))
        shares /= shares.sum()
        return candidates @ ((shares + self.calm.weights()) / 2 if number else shares)

    def regrets(self, mixture, f, mixed, label, unit):
        r = 2 * (mixed - label) / unit * (mixed - f) / unit
        if self.by_error:
            r = ((mixed - label) ** 2 - (f - label) ** 2) / unit**2
        mixture.regret += r
        mixture.squares += r**2
        mixture.largest = max(mixture.largest, (r**2).max())

    def learn(self, candidates, labels, range_, shrink):
        """Learn from candidates; the range knows the label already."""
        unit = range_.unit
        if self.coding == "number":
            for part in (self.mixtures[0], self.calm):
                part.rescale(shrink)
            self.losses *= shrink
        if unit == 0.0:
            return
        for o, row in enumerate(candidates):
            self.regrets(self.mixtures[o], row[1 + len(STACKS) :], row[0], labels[o], unit)
            target = np.array([[(labels[o] - row[0]) / unit]])
            for stack, mu in zip(self.stacks[o], STACKS, strict=True):
                stack.learn(
                    self.seen(row, range_), target, np.array([1 - mu]), np.ones(1), np.empty((1, 1))
                )
        if self.coding == "number":
            loss = ((candidates[0] - labels[0]) / unit) ** 2
            mixed = self.calm.weights() @ candidates[0]
            self.regrets(self.calm, candidates[0], mixed, labels[0], unit)
        else:
            loss = np.array([wrong(column, labels, self.coding) for column in candidates.T])
        self.losses = self.discount * self.losses + loss
        self.rows = self.discount * self.rows + 1


def wrong(outputs, labels, coding):
    if coding == "margin":
        return (outputs[0] > TIE) != (labels[0] > 0)
    return (outputs >= outputs.max() - TIE).argmax() != labels.argmax()


class OracleLateBank:
    """Linear experts that forget, for one target whose labels come in batches."""

    def __init__(self, features, coding, outputs, forgetting, prior_variance, cap):
        self.coding, self.forgetting = coding, forgetting
        self.experts = [
            OracleFilter(features, outputs, True, prior_variance, cap) for _ in forgetting
        ]
        self.range = Range(coding)
        self.both = [Combination(coding, len(forgetting), outputs)]
        self.losses, self.rows = np.zeros(2), 0.0
        self.labels, self.lateness, self.recent, self.count = 0, 0.0, 0.0, 0.0
        self.outside, self.room_losses = np.zeros(2), np.zeros(2)

    def room(self):
        low, high = self.range.low, self.range.high
        half = (high - low) / 2
        if not self.count or not half:
            return 0.0, 0.0
        near = np.clip(np.array([-1, 1]) * (self.recent - (low + high) / 2) / half, 0, 1)
        return tuple(np.minimum(2 * near * self.lateness * self.outside / self.count, 6 * half))

    def room_in_use(self):
        open_ = self.lateness > 0 and self.room_losses[1] <= self.room_losses[0]
        return self.room() if open_ else (0.0, 0.0)

    def ask_experts(self, x):
        predictions = np.empty((len(self.experts), len(self.both[0].mixtures)))
        for k, expert in enumerate(self.experts):
            expert.predict(x[np.newaxis], predictions[k : k + 1])
        return predictions

    def make(self, x):
        """Predict one row; return all that must be known of it when its label comes."""
        predictions, room = self.ask_experts(x), self.room_in_use()
        candidates = [c.candidates(predictions, self.range, room) for c in self.both]
        finals = [c.predict(some) for c, some in zip(self.both, candidates, strict=True)]
        least = self.losses.min()
        unit = max(least / max(self.rows, 1.0), EXACT) if self.coding == "number" else 1.0
        eta = LATE_ETA[self.coding]
        shares = np.exp(-eta * ((self.losses - least) / unit))[: len(self.both)]
        weights = self.both[-1].mixtures[0].weights()
        mixed = [weights @ self.range.clip(predictions[:, 0], r) for r in ((0, 0), self.room())]
        return {
            "both": shares @ np.array(finals) / shares.sum(),
            "candidates": candidates[-1],
            "finals": [finals[0], finals[-1]],
            "mixed": np.array(mixed),
            "labels": self.labels,
            "told": self.both[0].rows > 0,
        }

    def learn(self, x, labels, made):
        """Learn the label of a row that was predicted."""
        labels = np.array([self.range.bounded(label) for label in labels])
        room = self.room_in_use()
        predictions = self.ask_experts(x)
        now = [c.candidates(predictions, self.range, room) for c in self.both]
        if len(self.both) == 1 and not np.allclose(made["candidates"], now[0], 1e-6, 0.0):
            self.both.append(self.both[0].judged_as_made())
            now.append(self.both[1].candidates(predictions, self.range, room))
        for expert, mu in zip(self.experts, self.forgetting, strict=True):
            out = np.empty((1, len(labels)))
            expert.learn(x[np.newaxis], labels[np.newaxis], np.array([1 - mu]), np.ones(1), out)
        late = len(self.both) == 2
        if self.coding == "number" and late:
            self.see(labels[0], self.labels - made["labels"])
        shrink = self.range.include(labels[0])
        self.both[0].learn(now[0], labels, self.range, shrink)
        if not late:
            return
        told = made["candidates"] if made["told"] else now[1]
        self.both[1].learn(told, labels, self.range, shrink)
        self.losses, self.room_losses = self.losses * shrink, self.room_losses * shrink
        self.labels += 1
        if not made["told"]:
            return
        if self.coding == "number":
            loss = ((np.array(made["finals"])[:, 0] - labels[0]) / self.range.unit) ** 2
            errors = ((made["mixed"] - labels[0]) / self.range.unit) ** 2
            self.room_losses = MIX["number"] * self.room_losses + errors
        else:
            loss = np.array([wrong(f, labels, self.coding) for f in made["finals"]])
        fade = MIX[self.coding]
        self.losses, self.rows = fade * self.losses + loss, fade * self.rows + 1

    def see(self, label, between):
        """Learn how late labels are, and how the range grows."""
        self.lateness = max(0.999 * self.lateness, between)
        discount = 1 - 1 / max(self.lateness, 50)
        known = self.range.labels > 0
        beyond = [max(self.range.low - label, 0.0), max(label - self.range.high, 0.0)]
        self.outside = discount * self.outside + np.array(beyond) * known
        self.count = discount * self.count + 1
        self.recent += (label - self.recent) / (50 if known else 1)
