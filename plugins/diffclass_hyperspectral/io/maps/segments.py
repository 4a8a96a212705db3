"""Segments of a class map: sets of pixels of one class, connected by their edges."""

from __future__ import annotations

import numpy as np


def segments_of(class_map: np.ndarray) -> np.ndarray:
    """Return the number of each pixel's segment, from 0, (rows, columns); so has class 0."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    left, right = neighboring(np.arange(class_map.size).reshape(class_map.shape))
    equal = class_map.ravel()[left] == class_map.ravel()[right]
    edges = (np.ones(int(equal.sum()), dtype=np.int8), (left[equal], right[equal]))
    graph = sp.coo_array(edges, shape=(class_map.size, class_map.size)).tocsr()
    return connected_components(graph, directed=False)[1].reshape(class_map.shape)


def neighboring(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values on both sides of every edge between two pixels."""
    one = np.concatenate([values[:, :-1].ravel(), values[:-1].ravel()])
    other = np.concatenate([values[:, 1:].ravel(), values[1:].ravel()])
    return one, other
