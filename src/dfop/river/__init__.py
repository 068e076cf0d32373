"""The learners for River: rows are dicts, features and classes may come and go.

A feature that a row does not have counts as 0, and one never seen before as having been 0 all
the time; so does a new class. The model is then exactly the one that would have had them from
the start, and the same as `dfop.DFOPRegressor` and `dfop.DFOPClassifier` on the same rows.
"""

try:
    from .classifier import DFOPClassifier
    from .regressor import DFOPRegressor
except ModuleNotFoundError as error:
    if error.name != "river":
        raise
    raise ImportError("dfop.river needs River: pip install 'dfop[river]'") from error

__all__ = ["DFOPClassifier", "DFOPRegressor"]

for _kind in (DFOPClassifier, DFOPRegressor):
    _kind.__module__ = __name__  # where it is found, by pickles and files, too
