"""Which search suits how many points."""

from __future__ import annotations

import numpy as np

from diffclass._validation import RandomState
from diffclass.neighbors.exact import ExactSearch
from diffclass.neighbors.inverted_file import InvertedFileSearch
from diffclass.neighbors.nn_descent import NNDescentSearch
from diffclass.neighbors.search import Search

# Below this size, or in so few dimensions that a tree is at its best, exact search is as fast.
_EXACT_POINTS = 8192
_EXACT_FEATURES = 3
# From about here on NN-descent is faster, the more so the more points there are.
_INVERTED_FILE_POINTS = 65_536


def default_search(X: np.ndarray, n_neighbors: int, *, random_state: RandomState = None) -> Search:
    """Return the search that suits the size of ``X``, not yet fitted."""
    if len(X) <= _EXACT_POINTS or X.shape[1] <= _EXACT_FEATURES:
        return ExactSearch(n_neighbors)
    if len(X) <= _INVERTED_FILE_POINTS:
        return InvertedFileSearch(n_neighbors, random_state=random_state)
    return NNDescentSearch(n_neighbors, random_state=random_state)
