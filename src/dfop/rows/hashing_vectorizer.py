"""scikit-learn's hashing of texts, which says what it was given in place of texts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer


class TextHasher(HashingVectorizer):
    """A `HashingVectorizer` that takes no texts for no rows, and no table for texts.

    Examples
    --------
    >>> TextHasher(n_features=16).transform([]).shape
    (0, 16)
    >>> TextHasher(n_features=16).transform({"title": ["a word"]})
    Traceback (most recent call last):
    ...
    ValueError: these are columns, not texts: give one of them, such as X['title']
    """

    def transform(self, X: Any) -> Any:
        """Return a sparse row of each text.

        Parameters
        ----------
        X : iterable of str, or of lists of tokens
            The texts.

        Returns
        -------
        csr_matrix of shape (n, n_features)
        """
        columns = X if isinstance(X, Mapping) else getattr(X, "columns", None)
        if columns is not None:
            names = [getattr(column, "name", None) or column for column in columns]
            such = f", such as X[{names[0]!r}]" if names and isinstance(names[0], str) else ""
            raise ValueError(f"these are columns, not texts: give one of them{such}")
        if isinstance(X, str):
            return super().transform(X)  # which refuses it
        texts = iter(X)
        for first in texts:
            return super().transform(chain([first], texts))
        return csr_matrix((0, self.n_features), dtype=self.dtype)
