"""Text as numbers: hashed words, which hold no word of the training data."""

from typing import Any

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

# Number of features of a column of text. Words that share one are not told apart.
WORD_FEATURES = 256


def hashed_words(column: Any) -> Float32[ndarray, "rows features"]:
    """Words and pairs of neighbouring words of each cell, counted by the hash of each.

    Nothing is fitted. Case does not matter, the sign of a count is hashed, too, so that words that
    share a feature cancel on average, and every row has mean square 1; a cell without words is 0.
    The work is done by ``HashingVectorizer`` of scikit-learn.

    Args:
        column: A pandas series of text.

    Example:
        >>> import pandas as pd
        >>> first, same, none = hashed_words(pd.Series(["Mild cough", "mild  COUGH", None]))
        >>> bool((first == same).all()), bool(none.any())
        (True, False)
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(
        n_features=WORD_FEATURES,
        ngram_range=(1, 2),
        token_pattern=r"\w+",  # noqa: S106  # a pattern of words, not a password
        norm="l2",
    )
    cells = column.fillna("").astype(str)
    counts = hashing.transform(cells).toarray() * np.sqrt(WORD_FEATURES)
    return np.asarray(counts, dtype=np.float32)
