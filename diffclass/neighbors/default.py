"""The default search for a number of points and features."""

from __future__ import annotations

import numpy as np

from diffclass._validation import RandomState
from diffclass.neighbors.cuda_search import CudaSearch
from diffclass.neighbors.exact import ExactSearch
from diffclass.neighbors.inverted_file import InvertedFileSearch
from diffclass.neighbors.nn_descent import NNDescentSearch
from diffclass.neighbors.search import NeighborSearch, Search

# Up to this size, or with so few features that trees work best, exact search is as fast.
_EXACT_POINTS = 8192
_EXACT_FEATURES = 3
# Above about this size NN-descent is faster, and its lead grows with the number of points.
_INVERTED_FILE_POINTS = 65_536


def default_search(X: np.ndarray, n_neighbors: int, *, random_state: RandomState = None) -> Search:
    """Return an unfitted search that suits the size of ``X``."""
    if len(X) <= _EXACT_POINTS or X.shape[1] <= _EXACT_FEATURES:
        return ExactSearch(n_neighbors)
    if len(X) <= _INVERTED_FILE_POINTS:
        return InvertedFileSearch(n_neighbors, random_state=random_state)
    return NNDescentSearch(n_neighbors, random_state=random_state)


def on_device(search: NeighborSearch) -> NeighborSearch:
    """Return a search of the nearest points as one on the device; any other search as it is."""
    if isinstance(search, ExactSearch | InvertedFileSearch | NNDescentSearch):
        return CudaSearch(search.n_neighbors)
    return search
