"""The alarm of errors in plain Python, row by row, from its formulas; numbers with one output."""

import math

import numpy as np

SIZES = {"squared": False, "cap": 6.0, "threshold": 20.0, "square": math.pi / 2, "largest": 10.0}
SQUARES = {"squared": True, "cap": 10.0, "threshold": 35.0, "square": 3.0, "largest": 100.0}


class Rise:
    """One CUSUM, over |e| or e^2."""

    def __init__(self, rule, suspected, variance=1.0):
        self.rule, self.suspected = rule, suspected
        self.rows = self.sum = self.rising = self.f = 0.0
        self.V = self.V_trusted = variance
        self.trusted = self.latest = (0.0, rule["square"])  # level, E a^2 / (E a)^2

    def update(self, size, may_ring):
        rule, settled = self.rule, self.rows >= 100
        power = 2 if rule["squared"] else 1
        if settled:
            level, square = self.trusted
            ratio = min(size / max(level, 1e-305), 1e3) ** power
            z = min((ratio - 1) / math.sqrt(max(square - 1, 0.25)), rule["cap"])
            V = self.V_trusted + self.suspected * (self.V - self.V_trusted)
            by_chance = 1.6 if self.suspected == 0.15 else 1.0
            if by_chance + 1 > V:
                V = 1 + by_chance * max(V - by_chance, 0.0)
            if may_ring:
                self.sum = max(0.0, self.sum + z / math.sqrt(V) - 0.7)
            self.rising = self.rising + 1 if self.sum > 0 else 0
            if level > 1e-305:
                self.f += (z - self.f) / 16
            if self.rows >= 150 and level > 1e-305:
                self.V = min(max(self.V + (min(31 * self.f**2, 90) - self.V) / 500, 1.0), 30.0)
        level, square = self.latest
        share = max(1 / 500, 3 / (self.rows + 3))
        ratio = min(min(size / max(level, 1e-305), 1e3) ** power, rule["largest"])
        most = level * rule["largest"] ** (1 / power)
        taken = min(size, most) if settled and level > 1e-305 else size
        after = ((1 - share) * level**power + share * taken**power) ** (1 / power)
        if level > 1e-305:
            square = ((1 - share) * square + share * ratio**2) * (level / after) ** (2 * power)
        else:
            square = rule["square"]
        self.latest = max(after, 1e-305), square
        if self.sum == 0:
            self.trusted, self.V_trusted = self.latest, self.V
        self.rows += 1

    @property
    def rings(self):
        return self.sum > self.rule["threshold"]


class Tail:
    """How rare an error is."""

    def __init__(self):
        self.rows, self.m, self.m2, self.q = 0, 0.0, 0.0, 2.5
        self.exceeded, self.M1, self.M2 = 0, 0.175, 0.0525

    @property
    def usual(self):
        return max(self.m, 0.3 * self.m2, 1e-305)

    def law(self):
        first, second = max(self.M1, 0.02), max(self.M2, 0.02**2)
        xm = 1 - 0.5 / max(1 - first**2 / second, 0.1)
        return max(0.0, first + xm), self.q * first * (1 - min(xm, 0.0))

    def update(self, size):
        r, p = min(size / self.usual, 1e12), 1.0
        self.rows += 1
        if self.rows > 100:
            above = r > self.q
            if above:
                xi, sigma = self.law()
                x = (r - self.q) / sigma
                p = 0.05 * (math.exp(-x) if xi < 1e-6 else (1 + xi * x) ** (-1 / xi))
                reach = math.log(500) if xi < 1e-6 else (500**xi - 1) / xi
                log = math.log(min(r, self.q + sigma * reach) / self.q)
                share = max(1 / 300, 1 / (31 + self.exceeded))
                self.exceeded += 1
                self.M1 += share * (log - self.M1)
                self.M2 += share * (log**2 - self.M2)
            self.q *= math.exp(0.01 * (above - 0.05))
        for name, share in (("m", 0.03), ("m2", 0.0015)):
            mean = getattr(self, name)
            taken = size if self.rows <= 100 or mean <= 1e-305 else min(size, 10 * mean)
            setattr(self, name, mean + max(share, 1 / self.rows) * (taken - mean))
        return p


class Alarm:
    """Both CUSUMs, and shocks that last."""

    def __init__(self, shocks=True):
        self.shocks, self.suspected = shocks, 0.15 if shocks else 0.3
        self.of_sizes = SIZES if shocks else {**SIZES, "threshold": 22.0}  # of labels
        self.sizes, self.squares = (
            Rise(self.of_sizes, self.suspected),
            Rise(SQUARES, self.suspected),
        )
        self.tail, self.rows, self.quiet, self.outliers = Tail(), 0, 0, 0
        self.met, self.c, self.pending = 0, 0.5, None

    def update(self, size, after):
        """Return the kind and the rows since the change, or None; and whether to freeze."""
        self.rows, self.quiet = self.rows + 1, max(self.quiet - 1, 0)
        may_ring = self.rows > 300 and self.quiet == 0
        usual = self.tail.usual
        p = self.tail.update(size) if self.shocks else 1.0
        found, freeze = None, False
        if self.pending:
            self.pending["after"].append(after)
            if len(self.pending["after"]) == 8:
                found = self.verdict()
        known = self.pending["p"] if self.pending else math.inf
        if may_ring and not found and p < 1e-2 and (not self.pending or p < min(1e-3, known / 10)):
            severe = known < 1e-5
            before = self.pending["before"] if severe else (copy(self.sizes), copy(self.squares))
            self.pending = {"p": p, "size": size, "usual": usual, "after": [], "before": before}
            freeze = True
        for rise in (self.sizes, self.squares):
            rise.update(size, may_ring)
        if not found and not (self.pending and self.pending["p"] < 1e-5):
            rising = [rise.rising for rise in (self.sizes, self.squares) if rise.rings]
            found = ("errors", max(rising)) if rising else None
        if found:
            self.sizes = Rise(self.of_sizes, self.suspected, self.sizes.V)
            self.squares = Rise(SQUARES, self.suspected, self.squares.V)
            self.pending, self.quiet, freeze = None, 100, False
        return found, freeze

    def verdict(self):
        shock, self.pending = self.pending, None
        after, often = np.array(shock["after"]), self.c > 0.1
        lasts = np.median(after) >= 0.5 * shock["size"]
        self.met += 1
        self.c += max(1 / 200, 1 / (self.met + 2)) * (lasts - self.c)
        if shock["p"] < 1e-5 and not lasts and self.calm(shock, after):
            self.outliers += 1
            self.sizes, self.squares = shock["before"]
        clear = np.median(after) >= 3 * shock["usual"]
        if lasts and clear and shock["p"] < (1e-5 if often else 1e-3):
            return "jump", 9
        return None

    def calm(self, shock, after):
        if self.c > 0.1:
            steps = np.abs(np.diff(after))
            return np.median(np.append(steps, steps[-1])) < 2 * shock["usual"]
        return np.sort(np.abs(after))[6] < max(3 * shock["usual"], shock["size"] / 6)


def copy(rise):
    other = Rise(rise.rule, rise.suspected)
    other.__dict__.update(rise.__dict__)
    return other


def watched(predicted, targets, shocks=True, order=None):
    """Return (label, rows since the change, kind) of each alarm of a model of no columns; outliers.

    `order` says which row comes, or whose label does (~row): by default at once. Alarms
    count labels as they come. The line that is frozen is then the mean of the predictions of late.
    """
    if order is None:
        order = [step for t in range(len(targets)) for step in (t, ~t)]
    alarm, found = Alarm(shocks), []
    mean, frozen, sign = None, 0.0, 0.0
    made, y = predicted.tolist(), targets.tolist()
    for t in order:
        if t >= 0:
            if alarm.rows:
                mean = made[t] if mean is None else mean + 0.5 * (made[t] - mean)
            continue
        rang, freeze = alarm.update(abs(y[~t] - made[~t]), sign * (y[~t] - frozen))
        if freeze:
            frozen, sign = mean, math.copysign(1.0, y[~t] - made[~t])
        if rang:
            found.append((alarm.rows - 1, int(rang[1]), rang[0]))
    return found, alarm.outliers
