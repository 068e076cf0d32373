"""The alarm of inputs in NumPy, block by block, from its formulas; no gaps."""

import numpy as np

LOGARITHMS = (2, 3)


class Statistic:
    """One number of a block against those of the blocks before."""

    def __init__(self):
        self.mean = self.deviation = self.record = self.last = 0.0
        self.is_odd = False

    def update(self, f, least, share, limit, recorded, watched):
        unit = 1.25 * max(self.deviation, least)
        z = np.clip((f - self.mean) / unit, -1e6, 1e6)
        most = max(limit, 1.5 * self.record)
        self.is_odd = watched and abs(z) > most
        goes_on = self.is_odd and self.last * z > 0
        rings = goes_on and abs(self.last) > most
        stands_out = watched and abs(z) > most / 2
        if recorded and not rings:
            before = 0.0 if goes_on else abs(self.last)
            now = 0.0 if stands_out else abs(z)
            self.record = max(self.record * (1 - 1 / 256), before, now)
        self.last = z if stands_out else 0.0
        if not self.is_odd:
            step = np.clip(z, -3, 3) * unit if watched else f - self.mean
            self.mean += share * step
            self.deviation += share * (abs(step) - self.deviation)
        return rings


class Column:
    """A column, and what is left of it given the others."""

    def __init__(self):
        self.f = [Statistic() for _ in range(6)]
        self.known = self.pause = self.rings = 0
        self.change = 0.0

    @property
    def spread(self):
        return np.exp(self.f[3].mean)

    def log(self, value, i):
        if self.known == 0:
            return np.log(value) if value > 0 else 0.0
        if value == 0 and self.change < 0.45:
            return self.f[i].mean
        return max(np.log(value) if value > 0 else -np.inf, self.f[i].mean - 7)

    def taken(self, x):
        """A row counts as at most so far."""
        if self.known < 4 or self.change < 0.1:
            return x
        reach = 20 * self.spread
        return np.clip(x, self.level - reach, self.level + reach)

    def close(self, whole, given, limit):
        x = self.taken(whole)
        if self.known == 0:
            self.level, self.given, self.last_given = x.mean(), given, given
            self.last_mean, self.last, away = x.mean(), x[0], np.abs(x - x[0]).mean()
        else:
            away = np.abs(x - self.level).mean()
        steps = np.abs(np.diff(x, prepend=self.last))
        share = max(1 / 64, 1 / (self.known + 1))
        self.change += share * ((steps > 0).mean() - self.change)
        self.pause = max(self.pause - 1, 0)
        recorded = self.known >= 20 and self.pause == 0
        least = max(0.01 * (min(away, self.spread) if self.known else away), 1e-300)
        values = [
            x.mean() - self.level,
            x.mean() - self.last_mean,
            self.log(steps.mean(), 2),
            self.log(away, 3),
            given - self.given,
            given - self.last_given,
        ]
        rang = False
        for i, (f, value) in enumerate(zip(self.f, values, strict=True)):
            smallest = 0.05 if i in LOGARITHMS else least
            watched = recorded and self.change >= 0.1
            rang |= f.update(value, smallest, share, limit, recorded, watched)
        if self.pause > 0:
            self.given = self.last_given = given
        if rang:
            for i, f in enumerate(self.f):
                f.record = min(max(f.record, abs(f.last)), 2 * limit * 2.0**self.rings)
                f.mean, f.last = (values[i] if i in LOGARITHMS else 0.0), 0.0
                f.is_odd = False
            self.level, self.given, self.pause = whole.mean(), given, 4
            self.rings = min(self.rings + 1, 20)
        if not any(f.is_odd for f in self.f):
            self.level += share * (x.mean() - self.level)
            self.given += share * (given - self.given)
        self.last_mean = self.level if rang else x.mean()
        self.last = self.level if rang else x[-1]
        self.last_given = given
        self.known += 1
        return rang


def watched(X):
    """Return (row, columns) of each alarm."""
    n, d = X.shape
    limit = 6 + 1.3 * np.log(max(d, 5) / 5)
    columns, found, quiet = [Column() for _ in range(d)], [], 0
    products = 1e-9 * np.eye(d + 1)  # of rows, the constant among them, each in its own unit
    unit = np.abs(X).max(axis=0)
    for block in range(n // 16):
        rows = X[16 * block : 16 * block + 16]
        P = np.linalg.inv(products)
        taken = np.column_stack([c.taken(x) for c, x in zip(columns, rows.T, strict=True)])
        mean = np.append(1.0, taken.mean(axis=0) / unit)
        taught = 16 * block >= min(4 * (d + 1), 240)
        given = (P @ mean / np.diag(P))[1:] * unit * taught
        for row in taken:
            one = np.append(1.0, row / unit)
            products = 0.999 * products + np.outer(one, one)
        rang = [j for j in range(d) if columns[j].close(rows[:, j], given[j], limit)]
        quiet = max(quiet - 1, 0)
        if rang and quiet == 0 and block + 1 >= 40:
            found.append((16 * block + 15, rang))
            quiet = 40
    return found
