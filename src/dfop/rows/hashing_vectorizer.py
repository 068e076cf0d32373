"""scikit-learn's hashing of texts, which says what it was given in place of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer

from .cells import is_missing, shown


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
    >>> TextHasher(n_features=16).transform(["a word", None])
    Traceback (most recent call last):
    ...
    TypeError: X has None at row 1, which is no text: give an empty text, "", in its place
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
        texts = _texts(X)
        for first in texts:
            return super().transform(chain([first], texts))
        return csr_matrix((0, self.n_features), dtype=self.dtype)


def _texts(X: Iterable[Any]) -> Iterator[Any]:
    """Give texts, or lists of tokens, one after the other; refuse what is neither."""
    for row, text in enumerate(X):
        if not isinstance(text, str | bytes):
            _refuse_no_tokens(text, row)
        yield text


def _refuse_no_tokens(text: Any, row: int) -> None:
    where = f"X has {shown(text)} at row {row}, which is no text"
    if isinstance(text, Mapping):
        raise TypeError(
            f"{where}: its values would be ignored; give a text or a list of tokens, such as "
            'f"{key}={value}" for each item'
        )
    if is_missing(text):
        raise TypeError(f'{where}: give an empty text, "", in its place')
    if not isinstance(text, Iterable):
        raise TypeError(f"{where}: give a str, or a list of tokens")
    if isinstance(text, Iterator):
        return  # looked at, it would be gone
    for token in text:
        if not isinstance(token, str):
            raise TypeError(f"X has the token {shown(token)} at row {row}: tokens must be texts")
