"""Features far from all that was seen, drawn in row by row in plain Python."""

import math

LEAST_ROOM, MOST_ROOM, TRUSTED = 3.0, 2.0**1000, 10


class OracleBounds:
    """Of every feature the range of the values believed, and how far outside one may be."""

    def __init__(self, features):
        self.rows = 0
        self.low = [math.inf] * features
        self.high = [-math.inf] * features
        self.room = [LEAST_ROOM] * features

    def _believes(self, j, x):
        low, high = self.low[j], self.high[j]
        if self.rows < TRUSTED or low == high:
            return True
        reach = self.room[j] * (high - low)
        return low - reach <= x <= high + reach

    def draw_in(self, row):
        """Return the row as experts see it."""
        return [
            x if self._believes(j, x) else min(max(x, self.low[j]), self.high[j])
            for j, x in enumerate(row)
        ]

    def learn(self, row):
        for j, x in enumerate(row):
            if self._believes(j, x):
                self.low[j], self.high[j] = min(self.low[j], x), max(self.high[j], x)
                self.room[j] = max(self.room[j] * 63 / 64, LEAST_ROOM)
            else:
                self.room[j] = min(2 * self.room[j], MOST_ROOM)
        self.rows += 1
