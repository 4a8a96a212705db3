"""Search on an NVIDIA device, by the distance to every other point."""

from __future__ import annotations

import numpy as np

from diffclass._cuda import device
from diffclass.exceptions import DataError
from diffclass.neighbors.search import Search, SinglePrecision
from diffclass.progress import checkpoint

_QUERIES, _POINTS = 524_288, 524_288  # of one launch, so that none takes long


class CudaSearch(Search):
    """Nearest neighbours by brute force on an NVIDIA device, exact but for rounding.

    Distances are compared in single precision, after points are centred and scaled.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found; always 1.

    Notes
    -----
    Costs n^2 distances, a million points of ten features take seconds. The device holds the points
    and half a million lists.
    """

    def __init__(self, n_neighbors: int = 12):
        self.n_neighbors = n_neighbors

    def _index(self, X: np.ndarray) -> None:
        device.check_device()
        self._scaled = SinglePrecision(X)
        self._indexed = self._scaled(X)
        self.recall_ = 1.0

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        from diffclass._cuda.nearest import (
            THREADS,
            empty_lists,
            nearest_kernel,
            points_per_thread,
        )

        points, queries = device.to_device(self._indexed), self._scaled(X)
        kernel, n = nearest_kernel(queries.shape[1], k), len(self._indexed)
        per_block = THREADS * points_per_thread(queries.shape[1])
        out = np.empty((len(X), k), dtype=np.int32)
        for first in range(0, len(X), _QUERIES):
            some = device.to_device(queries[first : first + _QUERIES])
            n_some = some.shape[0]
            distances, found = map(device.to_device, empty_lists(n_some, k))
            for start in range(0, n, _POINTS):
                checkpoint()
                stop = min(start + _POINTS, n)
                blocks = -(-n_some // per_block)
                kernel[blocks, THREADS](points, some, start, stop, distances, found)
            device.to_host(found, out[first : first + n_some])
        if out.min(initial=0) < 0:
            raise DataError(
                f"{np.count_nonzero((out < 0).any(axis=1))} points have distances that are no "
                "numbers in single precision; rescale the points, or search on the processor"
            )
        return out
