"""Three kinds of model, one way to ask them.

* ``predict_then_learn(X, y)``: the model walks through the rows itself and gives the
  one-step-ahead prediction of each; the fast path.
* ``partial_fit`` and ``predict``, the scikit-learn way: one row at a time.
* ``predict_one`` and ``learn_one``, the River way: one row at a time, as dicts.

Rows come as a `dfop.rows.Batch`. Each adapter gives them in the form its model takes. A model
with an attribute ``takes_batches = True`` gets the Batch itself.

Before a model has learned its first row it may have no prediction to give. Then the first
class counts as predicted (regression: 0), every class being equally probable.
"""

from typing import Any

from dfop.evaluation.sources import Stream

from .base import Learner, Prediction
from .one_pass import OnePassLearner
from .river import RiverLearner
from .sklearn import SklearnLearner

__all__ = ["Learner", "OnePassLearner", "Prediction", "RiverLearner", "SklearnLearner", "adapt"]


def adapt(model: Any, stream: Stream, proba: bool = False) -> Learner:
    """Choose the way to ask this model.

    Parameters
    ----------
    model : object
        Anything of the three kinds above; what it can do decides, not its class.
    stream : Stream
        The stream it will see.
    proba : bool
        Whether probabilities are wanted.

    Returns
    -------
    Learner

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from dfop.evaluation.sources import as_stream
    >>> stream = as_stream(([[0.0], [1.0]], ["no", "yes"]))
    >>> type(adapt(GaussianNB(), stream)).__name__
    'SklearnLearner'
    >>> adapt("a word", stream)
    Traceback (most recent call last):
    TypeError: str is no stream learner: it needs predict_then_learn, or partial_fit and
    predict (scikit-learn), or learn_one and predict_one (River)
    """
    if isinstance(model, type):
        raise TypeError(f"got the class {model.__name__}; pass an instance, {model.__name__}()")
    if proba and stream.task == "regression":
        raise ValueError("proba=True needs a classification stream")
    if hasattr(model, "predict_then_learn"):
        return OnePassLearner(model, stream, proba)
    if hasattr(model, "partial_fit") and hasattr(model, "predict"):
        return SklearnLearner(model, stream, proba)
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        return RiverLearner(model, stream, proba)
    raise TypeError(
        f"{type(model).__name__} is no stream learner: it needs predict_then_learn, or "
        "partial_fit and predict (scikit-learn), or learn_one and predict_one (River)"
    )
