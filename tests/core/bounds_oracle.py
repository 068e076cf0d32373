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


RUN, TOGETHER, WILD, QUIET, GROWTH = 12, 9, 30.0, 16, 4.0


class OracleTarget:
    """What the labels of one target count as, and after which of them learning begins anew."""

    def __init__(self):
        self.settled = False
        self.low = self.high = 0.0
        self.room = self.least_room = LEAST_ROOM
        self.quiet = QUIET
        self.run = []

    def take(self, label):
        """Return what the label counts as, and whether all before it is to be given up."""
        if self.settled and self._believes(label):
            self.low, self.high = min(self.low, label), max(self.high, label)
            self.room = max(self.room * 63 / 64, self.least_room)
            self.quiet = min(self.quiet + 1, QUIET)
            self.run = []
            return label, False
        first = not self.settled
        if not first:
            self.room = min(self.room * (1 + self.quiet / QUIET), MOST_ROOM)
            self.quiet = 0
        self.run.append(label)
        if len(self.run) < RUN:
            return (label if first else self._nearest(label)), False
        run, self.run, self.settled = sorted(self.run), [], True
        return self._judge_first(run, label) if first else self._judge_far(run, label)

    def _judge_first(self, run, label):
        near, width = _together(run)
        wild = width > 0 and len(near) < RUN
        self.low, self.high = (near[0], near[-1]) if wild else (run[0], run[-1])
        return (self._nearest(label), True) if wild else (label, False)

    def _judge_far(self, run, label):
        half = self.high / 2 - self.low / 2
        near, _ = _together(run)
        middle = near[0] / 2 + near[-1] / 2
        self.low, self.high = min(near[0], middle - half), max(near[-1], middle + half)
        self.least_room = min(GROWTH * self.least_room, MOST_ROOM)
        self.room = max(self.room, self.least_room)
        return self._nearest(label), True

    def _nearest(self, label):
        return min(max(label, self.low), self.high)

    def _believes(self, label):
        reach = self.room * (self.high - self.low)
        return self.low == self.high or self.low - reach <= label <= self.high + reach


def _together(run):
    """Return the labels about the shortest interval that holds most of a run, and its length."""
    pieces = [run[i : i + TOGETHER] for i in range(RUN - TOGETHER + 1)]
    piece = min(pieces, key=lambda labels: labels[-1] - labels[0])
    width = piece[-1] - piece[0]
    least, most = piece[0] - WILD * width, piece[-1] + WILD * width
    return [label for label in run if least <= label <= most], width
