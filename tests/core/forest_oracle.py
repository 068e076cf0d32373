"""Bins, trees and forests in plain Python, one row and one cell at a time, from their formulas.

Everything is as src/core/bins.hpp, leaf_statistics.hpp, tree.hpp and forest.hpp say it, but for
what only saves time or digits: no units, no places of nodes, sums of squares worked out anew.
"""

import math
from bisect import bisect_left, bisect_right
from itertools import pairwise

import numpy as np

BINS, VALUES = 32, 64
FEW_COLUMNS, EQUALITY_BINS, LEAST_ROWS = 20, 16, 3
CELLS, LEAST_LEAVES, MOST_LEAVES, DEEPEST = 65536, 16, 128, 20
LEAN, RATE, TRIAL = 2.0, 0.002, 200
FORESTS = {  # number of the kind, trees, threshold, patience, chance of a row not or twice taken
    "quick_forest": (0, 8, 0.0, 20, 0.25),
    "careful_forest": (1, 6, 8.0, 40, 0.1),
    "residual_forest": (2, 4, 8.0, 40, 0.1),
}
_MASK = 2**64 - 1


def mix_bits(x):
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def hash_bits(a, b):
    return mix_bits(mix_bits((a + 0x9E3779B97F4A7C15) & _MASK) + b)


def hash_uniform(a, b):
    return ((hash_bits(a, b) >> 11) + 0.5) * 2.0**-53


class OracleBins:
    def __init__(self, features):
        self.rows = 0
        self.sketches = [([], []) for _ in range(features)]  # values and weights
        self.edges = [[] for _ in range(features)]

    def find(self, x):
        return [bisect_right(edges, value) for edges, value in zip(self.edges, x, strict=True)]

    def learn(self, x):
        """Learn a row; return where bins move if the edges are drawn anew."""
        self.rows += 1
        if self.rows <= 1000 or self.rows % 8 == 0:
            for (values, weights), value in zip(self.sketches, x, strict=True):
                self.add(values, weights, value)
        if self.rows < 16 or self.rows & (self.rows - 1):
            return None
        old, self.edges = self.edges, [self.draw(*sketch) for sketch in self.sketches]
        return [self.moves(j, old[j]) for j in range(len(old))]

    @staticmethod
    def add(values, weights, value):
        at = bisect_left(values, value)
        if at < len(values) and values[at] == value:
            weights[at] += 1
            return
        values.insert(at, value)
        weights.insert(at, 1)
        if len(values) > VALUES:
            pairs = [a + b for a, b in pairwise(weights)]
            i = pairs.index(min(pairs))
            values[i] += (values[i + 1] - values[i]) * (weights[i + 1] / pairs[i])
            weights[i] = pairs[i]
            del values[i + 1], weights[i + 1]

    @staticmethod
    def draw(values, weights):
        middles = [a / 2 + b / 2 for a, b in pairwise(values)]
        if len(values) <= BINS:
            return middles
        edges, below, due = [], 0, sum(weights) / BINS
        for weight, middle in zip(weights[:-1], middles, strict=True):
            below += weight
            if below >= due and len(edges) < BINS - 1:
                edges.append(middle)
                due = below + (sum(weights) - below) / (BINS - len(edges))
        return edges

    def moves(self, column, old):
        values, weights = map(np.array, self.sketches[column])
        bins = np.searchsorted(old, values, side="right")
        to = []
        for b in range(len(old) + 1):
            inside = bins == b
            if inside.any():
                centre = np.average(values[inside], weights=weights[inside])
            elif b == 0:
                centre = np.nextafter(old[0], -np.inf)
            else:
                centre = old[b - 1] if b == len(old) else (old[b - 1] + old[b]) / 2
            to.append(bisect_right(self.edges[column], centre))
        return to


class OracleNode:
    def __init__(self, outputs, depth):
        self.column, self.depth = None, depth
        self.rows, self.sums = 0.0, np.zeros(outputs)
        self.own = self.below = self.visits = 0

    def mean(self):
        return self.sums / self.rows if self.rows > 0 else np.zeros_like(self.sums)


class OracleTree:
    def __init__(self, classes, outputs, features, threshold, patience, seed):
        self.classes, self.outputs, self.features = classes, outputs, features
        self.threshold, self.patience, self.seed = threshold, patience, seed
        self.opened = self.cuts = 0
        self.root = OracleNode(outputs, 0)
        self.open(self.root)

    # -- what a leaf keeps: cells of (rows, sums), by column and bin -------------------------------

    @property
    def coded(self):
        return self.classes and self.outputs > 4

    def taught(self, label, reference):
        """What a row adds to sums, and its square."""
        if not self.classes:
            y = label - reference
            return y, float(y @ y)
        if self.coded:
            bits = hash_bits(self.seed * 2, label)
            return np.array([1.0 if bits >> k & 1 else -1.0 for k in range(4)]), 4.0
        return np.eye(self.outputs)[label], 1.0

    def width(self):
        d = self.features
        return d if d <= FEW_COLUMNS else min(max(12, round(2 * math.sqrt(d))), 64)

    def open(self, leaf):
        leaf.column = None
        place = hash_bits(self.seed * 2 + 1, self.opened)
        self.opened += 1
        order = sorted(range(self.features), key=lambda j: hash_bits(place, j))
        leaf.columns = sorted(order[: self.width()])
        sums = 4 if self.coded else self.outputs
        leaf.cells = np.zeros((self.width(), BINS, 1 + sums), np.float32)
        leaf.all = np.zeros(1 + sums, np.float32)
        leaf.squares, leaf.wait, leaf.reference = 0.0, 0, leaf.mean()

    def most_leaves(self):
        cell = 1 + (4 if self.coded else self.outputs)
        if self.classes and not self.coded:
            cell = max(self.outputs, 2)
        numbers = cell * (1 + BINS * self.width()) + 4 * self.outputs
        return min(max(CELLS // numbers, LEAST_LEAVES), MOST_LEAVES)

    def count_leaves(self, node=None):
        node = node or self.root
        if node.column is None:
            return 1
        return self.count_leaves(node.left) + self.count_leaves(node.right)

    # -- rows ------------------------------------------------------------------------------------

    def path(self, x):
        path = [self.root]
        while path[-1].column is not None:
            node = path[-1]
            path.append(node.left if node.low <= x[node.column] < node.high else node.right)
        return path

    def predict(self, x):
        last = self.path(x)[-4:]
        p = last[0].mean()
        for node in last[1:]:
            p = (node.sums + LEAN * p) / (node.rows + LEAN)
        return p

    def learn(self, x, bins, weight, label, edges):
        self.grow_outputs(label)
        path = self.compare(self.path(x), label)
        if weight == 0:
            return
        leaf = path[-1]
        if leaf.rows == 0 and not self.classes:
            leaf.reference = np.array(label)
        for node in path:
            node.rows += weight
            node.sums += weight * self.coding(label)
        taught, square = self.taught(label, leaf.reference)
        amounts = np.array([weight, *(weight * taught)], np.float32)
        leaf.all += amounts
        for i, j in enumerate(leaf.columns):
            leaf.cells[i, bins[j]] += amounts
        leaf.squares += weight * square
        leaf.wait += 1
        if (
            leaf.wait >= self.patience
            and leaf.depth < DEEPEST
            and self.count_leaves() < self.most_leaves()
        ):
            leaf.wait = 0
            self.split(leaf, edges)

    def coding(self, label):
        return np.eye(self.outputs)[label] if self.classes else label

    def compare(self, path, label):
        errors = [((self.coding(label) - node.mean()) ** 2).sum() for node in path]
        for i, node in enumerate(path[:-1]):
            node.own += RATE * (errors[i] - node.own)
            node.below += RATE * (errors[-1] - node.below)
            node.visits += 1
            if node.visits > TRIAL and node.own < node.below:
                node.own = node.below = node.visits = 0
                self.cuts += 1
                self.open(node)
                return path[: i + 1]
        return path

    def split(self, leaf, edges):
        n, T = float(leaf.all[0]), leaf.all[1:].astype(float)
        sse = leaf.squares - T @ T / n
        if sse <= 1e-9 * leaf.squares:
            return
        best, candidates = (0.0,), 0
        for i, j in enumerate(leaf.columns):
            cells, last = leaf.cells[i].astype(float), len(edges[j])
            sides = [(cells[: b + 1].sum(axis=0), b, False) for b in range(last)]
            if last < EQUALITY_BINS:
                sides += [(cells[b], b, True) for b in range(1, last)]
            for side, b, equals in sides:
                a = side[0]
                if a < LEAST_ROWS or n - a < LEAST_ROWS:
                    continue
                candidates += 1
                gain = n / (a * (n - a)) * ((side[1:] - T * a / n) ** 2).sum()
                if gain > best[0] * (1 + 1e-9):
                    best = (gain, side, j, b, equals)
        if best[0] == 0.0:
            return
        gain, side, j, b, equals = best
        evidence = n * gain / max(sse - gain, 1e-12 * sse)
        if evidence <= self.threshold + 2 * math.log(1 + candidates):
            return
        leaf.low, leaf.high = edges[j][b - 1] if equals else -math.inf, edges[j][b]
        leaf.own, leaf.below, leaf.visits = sse / n, (sse - gain) / n, 0
        leaf.left, leaf.right = (OracleNode(self.outputs, leaf.depth + 1) for _ in range(2))
        leaf.column = j
        for child, part in ((leaf.left, side), (leaf.right, leaf.all.astype(float) - side)):
            if not self.coded:
                child.rows, child.sums = part[0], part[1:].copy()
                if not self.classes:
                    child.sums += leaf.reference * part[0]
            self.open(child)

    # -- what comes later ------------------------------------------------------------------------

    def nodes(self, node=None):
        node = node or self.root
        yield node
        if node.column is not None:
            yield from self.nodes(node.left)
            yield from self.nodes(node.right)

    def rebin(self, moves):
        for node in self.nodes():
            if node.column is not None:
                continue
            for i, j in enumerate(node.columns):
                moved = np.zeros_like(node.cells[i])
                for b, to in enumerate(moves[j]):
                    moved[to] += node.cells[i, b]
                node.cells[i] = moved

    def grow_outputs(self, label):
        """Know the class of a row, or as many numbers as there are."""
        before, outputs = self.outputs, label + 1 if self.classes else len(label)
        if outputs <= before:
            return
        was_coded, self.outputs = self.coded, outputs
        for node in self.nodes():
            node.sums = np.append(node.sums, np.zeros(outputs - before))
            if node.column is not None or was_coded:
                continue
            node.cells, node.all = (self.more_sums(part, before) for part in (node.cells, node.all))
            if self.coded:
                node.squares *= 4
            elif not self.classes:
                node.reference = np.append(node.reference, np.zeros(outputs - before))

    def more_sums(self, cells, before):
        """Return cells with sums for more outputs; what counts of classes are in codes."""
        if not self.coded:
            none = np.zeros((*cells.shape[:-1], self.outputs - before), np.float32)
            return np.concatenate([cells, none], axis=-1)
        codes = [self.taught(label, None)[0] for label in range(before)]
        sums = cells[..., 1:] @ np.reshape(codes, (before, 4))
        return np.concatenate([cells[..., :1], sums], axis=-1, dtype=np.float32)


class OracleForest:
    """Of one target: a number, two classes as a margin, or classes one-hot."""

    def __init__(self, kind, coding, features):
        number, trees, threshold, patience, self.luck = FORESTS[kind]
        self.residual = kind == "residual_forest"
        self.coding = coding
        self.classes = coding != "number" and not self.residual
        self.seeds = [16 * number + k for k in range(trees)]
        self.fresh = lambda seed: OracleTree(self.classes, 0, features, threshold, patience, seed)
        self.trees = [self.fresh(seed) for seed in self.seeds]
        self.bins = OracleBins(features)
        self.rows = self.known = 0
        self.low = self.high = None

    def start(self, base):
        """Where residual trees begin: the linear prediction, within the labels so far."""
        if not self.residual:
            return np.zeros_like(base)
        if self.coding != "number":
            return np.clip(base, -1.0 if self.coding == "margin" else 0.0, 1.0)
        if self.low is None:
            return np.zeros_like(base)
        beyond = 0.1 * (self.high - self.low)
        return np.clip(base, self.low - beyond, self.high + beyond)

    def active(self):
        one_hot = self.residual and self.coding == "one_hot"
        return not one_hot or 3 <= self.known <= 4

    def predict(self, x, base):
        out = self.start(np.array(base, float))
        if not self.active():
            return out
        p = np.mean([tree.predict(x) for tree in self.trees], axis=0)
        if self.classes and self.coding == "margin":
            p = np.append(p, np.zeros(2))
            return np.array([p[1] - p[0]])
        out[: len(p)] += p
        return out

    def learn(self, x, label, base, weight=1.0):
        bins = self.bins.find(x)
        if self.coding == "number":
            self.low = label[0] if self.low is None else min(self.low, label[0])
            self.high = label[0] if self.high is None else max(self.high, label[0])
        start = self.start(np.array(base, float))
        if self.coding == "one_hot":
            self.known = max(self.known, int(np.argmax(label)) + 1)
        if self.classes:
            taught = int(np.argmax(label)) if self.coding == "one_hot" else int(label[0] > 0)
        else:
            taught = label - start
        if self.residual and self.coding == "one_hot":
            taught = taught[: self.known]
            if self.known > 4:
                self.trees = [self.fresh(seed) for seed in self.seeds]
        if self.active():
            for seed, tree in zip(self.seeds, self.trees, strict=True):
                chance = hash_uniform(2**40 + seed, self.rows)
                taken = 0 if chance < self.luck else 1 if chance < 1 - self.luck else 2
                tree.learn(x, bins, weight * taken, taught, self.bins.edges)
        self.rows += 1
        moves = self.bins.learn(x)
        if moves is not None:
            for tree in self.trees:
                tree.rebin(moves)
