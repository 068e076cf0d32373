"""A sum of one curve per column in plain Python, from the formulas of src/core/additive.hpp."""

import numpy as np
from forest_oracle import OracleBins

PARTS, PRIOR, PRIOR_OF_CONSTANT, LEAST = 8, 1.0, 1000.0, 0.01


class OracleAdditive:
    """Tables are dicts: of the bin or the part of a column, to its weights and variance."""

    def __init__(self, features, outputs):
        self.bins = OracleBins(features)
        self.outputs = outputs
        self.constant = {None: self.fresh(PRIOR_OF_CONSTANT)}
        self.fine = [{} for _ in range(features)]
        self.coarse = [{} for _ in range(features)]

    def fresh(self, variance=PRIOR):
        return [np.zeros(self.outputs), variance]

    def counts(self):
        """How many bins each column has."""
        return [len(edges) + 1 for edges in self.bins.edges]

    @staticmethod
    def part(b, count):
        return b if count <= PARTS else b * PARTS // count

    def cells(self, x):
        found = [self.constant[None]]
        for j, (b, count) in enumerate(zip(self.bins.find(x), self.counts(), strict=True)):
            if count > 1:
                found.append(self.fine[j].setdefault(b, self.fresh()))
                found.append(self.coarse[j].setdefault(self.part(b, count), self.fresh()))
        return found

    def predict(self, x):
        return sum(weights for weights, _ in self.cells(x))

    def learn(self, x, y, gain=1.0):
        cells = self.cells(x)
        s = 1 / gain + sum(variance for _, variance in cells)
        error = y - sum(weights for weights, _ in cells)
        for cell in cells:
            p = cell[1]
            cell[0] = cell[0] + p * error / s
            cell[1] = max(p - p * p / s, LEAST)

    def see(self, x):
        """Show a row to the bins, after it was predicted and perhaps learned."""
        before = self.counts()
        moves = self.bins.learn(x)
        if moves is not None:
            for j, to in enumerate(moves):
                self.move(j, to[: before[j]], before[j], self.counts()[j])

    def move(self, j, to, before, now):
        """Give every new bin what the middle of the old ones had that are in it now."""
        source = []
        for b in range(now):
            inside = [old for old in range(before) if to[old] == b]
            below = [old for old in range(before) if to[old] < b]
            middle = inside[(len(inside) - 1) // 2] if inside else max(below, default=0)
            source.append(middle)
        fine, coarse = self.fine[j], self.coarse[j]
        copy = lambda cells, k: list(cells.get(k, self.fresh()))  # noqa: E731
        self.fine[j] = {b: copy(fine, source[b]) for b in range(now)}
        parts = range(min(now, PARTS))
        inside = [[b for b in range(now) if self.part(b, now) == c] for c in parts]
        middles = [max((2 * c + 1) * now // (2 * PARTS), bins[0]) for c, bins in enumerate(inside)]
        middles = parts if now <= PARTS else middles
        self.coarse[j] = {
            c: copy(coarse, self.part(source[b], before))
            for c, b in zip(parts, middles, strict=True)
        }
