"""Streams as tables of Spark, cut into partitions as a test wants them."""

import itertools

import numpy as np
import pandas as pd

NAMES = ["a", "b", "c"]


def stream(n, seed=0, centre=0.0):
    """Return a frame of a stream whose truth moves."""
    rng = np.random.default_rng(seed)
    X = centre + rng.normal(size=(n, 3))
    w = np.array([1.0, -2.0, 0.5]) + np.linspace(0.0, 1.0, n)[:, np.newaxis]
    frame = pd.DataFrame(X, columns=NAMES)
    frame["y"] = ((X - centre) * w).sum(axis=1) + rng.normal(size=n)
    frame["t"] = np.arange(n)
    return frame


def cut(spark, frame, edges):
    """Return the frame as a table with a partition from each edge to the next."""
    schema = spark.createDataFrame(frame.iloc[:2]).schema
    edges = [0, *edges, len(frame)]
    rows = [list(row) for row in frame.astype(object).itertuples(index=False)]
    parts = [rows[i:j] for i, j in itertools.pairwise(edges)]
    cells = spark.sparkContext.parallelize(parts, len(parts)).flatMap(lambda part: part)
    return spark.createDataFrame(cells, schema, verifySchema=False)
