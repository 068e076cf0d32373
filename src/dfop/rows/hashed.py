"""Text to sparse rows by hashing: no vocabulary is kept, so nothing grows with the stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_WORD = re.compile(r"\b\w\w+\b")


def hashed(bits: int = 18) -> Any:
    """Make a transformer from texts, or lists of tokens, to sparse rows of 2**bits columns.

    It is scikit-learn's `HashingVectorizer` on words in lower case: a row holds how often each
    word came, with a sign by its hash, divided by the row's length. It learns nothing, so rows can
    come one by one, in any order, on any machine.

    A data frame is refused: give it one of its columns. A missing text is refused: give an empty
    one. So is a dict, of which only the keys would count. No texts are no rows.

    Parameters
    ----------
    bits : int, default=18
        Two words share a column now and then; with one bit more, half as often.

    Returns
    -------
    sklearn.feature_extraction.text.HashingVectorizer

    Examples
    --------
    >>> from dfop import DFOPClassifier
    >>> from dfop.rows import hashed
    >>> hasher = hashed(bits=16)
    >>> X = hasher.transform(["cheap watches, cheap!", "see you at lunch", ["cheap", "lunch"]])
    >>> X.shape, X.nnz
    ((3, 65536), 8)
    >>> model = DFOPClassifier(forgetting=0.001, storage=10)
    >>> model.fit(X, ["spam", "ham", "spam"]).predict(hasher.transform(["cheap lunch"]))
    array(['spam'], dtype='<U4')
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 30:
        raise ValueError(f"bits={bits!r} must be a whole number from 1 to 30: 2**bits columns")
    from .hashing_vectorizer import TextHasher  # slow to load

    return TextHasher(n_features=2**bits, analyzer=tokens)


def tokens(text: str | Iterable[str]) -> list[str]:
    """Return the words of a text in lower case; tokens that are given stay as they are.

    Examples
    --------
    >>> tokens("A red, red car")
    ['red', 'red', 'car']
    >>> tokens(["New York", "x"])
    ['New York', 'x']
    """
    if isinstance(text, str):
        return _WORD.findall(text.lower())
    return list(text)
