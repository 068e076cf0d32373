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


RUN, TOGETHER, WILD, QUIET, GROWTH, WIDER = 12, 9, 30.0, 16, 4.0, 10.0


class OracleTarget:
    """What the labels of one target count as, and after which of them learning begins anew."""

    def __init__(self, *, alone=True):
        self.settled, self.alone = False, alone
        self.low = self.high = 0.0
        self.room = self.least_room = LEAST_ROOM
        self.quiet = QUIET
        self.run = []
        self.instead = self.home = self.state = None
        self.back = 0

    def take(self, label):
        """Return what a label counts as, None for nothing, and whether all is to be given up."""
        if self.settled and self._believes(label):
            self.low, self.high = min(self.low, label), max(self.high, label)
            self.room = max(self.room * 63 / 64, self.least_room)
            self.quiet = min(self.quiet + 1, QUIET)
            self.run, self.instead = [], None
            return label, self._is_back(label)
        self.back = 0
        if self.settled and label == self.state:
            self.run, self.instead = [], label
            return (None if self.alone else self._nearest(label)), False
        self.run.append(label)
        if not self.settled:
            return self._take_first(label)
        self.room = min(self.room * (1 + self.quiet / QUIET), MOST_ROOM)
        self.quiet = 0
        if self.instead is not None:
            self.instead = label
        if len(self.run) == RUN:
            run, self.run = self.run, []
            if len(set(run)) > 1:
                self._move(sorted(run))
                return self._nearest(label), self.alone
            self.instead = self.state = label
        return (None if self.alone else self._nearest(label)), False

    def _take_first(self, label):
        if len(self.run) < RUN:
            return label, False
        run, self.run, self.settled = sorted(self.run), [], True
        near, width = _together(run)
        wild = width > 0 and len(near) < RUN
        self.low, self.high = (near[0], near[-1]) if wild else (run[0], run[-1])
        return (self._nearest(label), True) if wild else (label, False)

    def _move(self, run):
        near, _ = _together(run)
        self.instead = None
        before, width = [] if self.alone else [self.low, self.high], self.high - self.low
        if self.alone and near[-1] - near[0] > WIDER * width and self.least_room < 64:
            self.home = self.low, self.high
        self.low, self.high = min(near[0], *before, near[-1]), max(near[-1], *before, near[0])
        self.least_room = min(GROWTH * self.least_room, MOST_ROOM)
        self.room = max(self.room, self.least_room)

    def _is_back(self, label):
        if self.home is None:
            return False
        low, high = self.home
        reach = LEAST_ROOM * (high - low)
        self.back = self.back + 1 if low - reach <= label <= high + reach else 0
        if self.back < RUN:
            return False
        self.low, self.high = min(low, label), max(high, label)
        self.back, self.home = 0, None
        return True

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
