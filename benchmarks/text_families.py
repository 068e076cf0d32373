"""Generated streams like hashed text: wide, sparse, with drift.

A vocabulary of 200,000 words has Zipf frequencies, 1/rank^1.05. A row has 110 words: 76 of them
drawn from the whole vocabulary, 17 from each of two of 40 topics, which are chosen at random with
every row. A topic is 2,000 words of the vocabulary in a random order, with frequencies 1/rank.
Words are hashed into d columns by a multiplication; a value is log(1 + count), and rows have
length 1. About 88 columns of a row differ from 0. Labels are two classes:

topics   topics are good or bad, a row is good if its two are together (with noise of .3); at each
         quarter of the stream 30 % of the topics change sides at random
words    30 % of the words have a weight, a row is good if those of its words beyond the 50 most
         frequent ones are positive together (with noise of 2); weights walk: every 100 rows .2 % of
         their variance is drawn anew
events   as topics, but nothing changes sides: 60 times along the stream one topic gets 2,000 other
         words
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

VOCABULARY, TOPICS, TOPIC_WORDS, WORDS = 200_000, 40, 2_000, 110
FAMILIES = ("topics", "words", "events")


def text_stream(family: str, n: int, d: int, seed: int = 0):
    """Return sparse rows (n, d) and labels 0 and 1."""
    labels, rows = zip(*_rows(family, n, d, np.random.default_rng(seed)), strict=True)
    starts = np.cumsum([0, *(len(columns) for columns, _ in rows)], dtype=np.int32)
    X = sparse.csr_array(
        (
            np.concatenate([values for _, values in rows]),
            np.concatenate([columns for columns, _ in rows]).astype(np.int32),
            starts,
        ),
        shape=(n, d),
    )
    return X, np.array(labels)


def _rows(family: str, n: int, d: int, rng: np.random.Generator) -> Iterator[tuple[int, tuple]]:
    of_words = _cumulated(1.0 / np.arange(1, VOCABULARY + 1) ** 1.05)
    of_topics = _cumulated(1.0 / np.arange(1, TOPIC_WORDS + 1))
    topics = [rng.permutation(VOCABULARY)[:TOPIC_WORDS] for _ in range(TOPICS)]
    has_weight = rng.random(VOCABULARY) < 0.3
    weight = rng.normal(size=VOCABULARY) * has_weight
    side = np.where(rng.random(TOPICS) < 0.5, 1.0, -1.0)
    for t in range(n):
        if family == "topics" and t and t % (n // 4) == 0:
            side = np.where(rng.random(TOPICS) < 0.3, -side, side)
        if family == "words" and t % 100 == 0:
            step = rng.normal(size=VOCABULARY) * has_weight
            weight = np.sqrt(0.998) * weight + np.sqrt(0.002) * step
        if family == "events" and t and t % (n // 60) == 0:
            topics[rng.integers(TOPICS)] = rng.permutation(VOCABULARY)[:TOPIC_WORDS]
        two = rng.integers(TOPICS, size=2)
        each = 17
        words = np.concatenate(
            [
                np.searchsorted(of_words, rng.random(WORDS - 2 * each)),
                *(topics[k][np.searchsorted(of_topics, rng.random(each))] for k in two),
            ]
        )
        if family == "words":
            score = weight[words[words >= 50]].sum() + 2.0 * rng.normal()
        else:
            score = side[two].sum() + 0.3 * rng.normal()
        columns, counts = np.unique((words * 2654435761 % 2**32) * d >> 32, return_counts=True)
        values = np.log1p(counts)
        yield int(score > 0), (columns, values / np.sqrt(values @ values))


def _cumulated(frequencies):
    return np.cumsum(frequencies) / frequencies.sum()
