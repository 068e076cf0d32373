"""dfop on Apache Spark: one stream over many machines, and a model per key of an endless one.

`fit` and `predict_then_learn` learn a stored stream in parts; `transform` predicts with any model;
`learn_per_key` follows a stream of Structured Streaming, and `models` reads what it has learned.
Scheduling, shuffles, retries and state are Spark's. The page on Spark says when not to use it.
"""

from .requirements import check_installed

check_installed()

from .batch import fit, predict_then_learn  # noqa: E402
from .per_key import learn_per_key, models  # noqa: E402
from .scoring import transform  # noqa: E402

__all__ = ["fit", "learn_per_key", "models", "predict_then_learn", "transform"]
