"""Equal points are one node with a mass, the number of points at it.

The nearest neighbours of a point with many equal ones would be these alone, and the graph would
fall apart. So graphs are made of *nodes*, the distinct points; what is found for a node holds for
all points there. See `diffclass.operators.markov` for what the mass does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_COMPARED = 65_536  # rows at once
_AT_ONCE = 4096  # rows that are hashed together: they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of n points, in the order of the first point at each.

    Attributes
    ----------
    of_points : ndarray of int of shape (n,)
        Node of each point.
    first : ndarray of int of shape (n_nodes,)
        The first point at each node.
    mass : ndarray of float64 of shape (n_nodes,)
        Number of points at each node.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.neighbors import Nodes
    >>> nodes = Nodes.of(np.array([[2.0], [1.0], [2.0], [2.0]]))
    >>> nodes.of_points, nodes.first, nodes.mass
    (array([0, 1, 0, 0]), array([0, 1]), array([3., 1.]))
    >>> Nodes.of(np.array([[2.0], [1.0]])) is None
    True
    """

    of_points: np.ndarray
    first: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Nodes | None:
        """Return the nodes of points (n, d); None where no two are equal."""
        # sorted without numbers first, which is faster: mostly no two points are equal
        hashes = row_hashes(X)
        ascending = np.sort(hashes)
        if (ascending[1:] != ascending[:-1]).all():
            return None
        order = np.argsort(hashes, kind="stable")
        differs = np.ones(len(X), dtype=bool)
        # points of one hash are equal only if their values are
        same_hash = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]]) + 1
        for some in np.array_split(same_hash, 1 + len(same_hash) // _COMPARED):
            differs[some] = (X[order[some]] != X[order[some - 1]]).any(axis=1)
        if differs.all():
            return None
        first = order[differs]  # of each node: the sort is stable
        by_first = np.argsort(first)  # nodes are numbered as their first points come
        number = np.empty(len(first), dtype=np.intp)
        number[by_first] = np.arange(len(first))
        of_points = np.empty(len(X), dtype=np.intp)
        of_points[order] = number[np.cumsum(differs) - 1]
        return cls(of_points, first[by_first], np.bincount(of_points).astype(np.float64))

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.of_points)

    def __len__(self) -> int:
        return len(self.first)

    def first_of(self, which: np.ndarray) -> np.ndarray:
        """Return the first marked point at each node, the first of all where none is marked."""
        first, marked = self.first.copy(), np.flatnonzero(which)
        nodes, places = np.unique(self.of_points[marked], return_index=True)
        first[nodes] = marked[places]
        return first

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of values (n, ...) over the points at each node."""
        sums = np.zeros((len(self), *values.shape[1:]))
        np.add.at(sums, self.of_points, values)
        return sums / self.mass.reshape(-1, *[1] * (values.ndim - 1))

    def renumbered(self, order: np.ndarray) -> Nodes:
        """Return the same nodes; the one at place i is that of number order[i]."""
        places = np.empty_like(order)
        places[order] = np.arange(len(order), dtype=order.dtype)
        return replace(
            self, of_points=places[self.of_points], first=self.first[order], mass=self.mass[order]
        )


def row_hashes(X: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of the bits of each row, the same for equal rows."""
    found, factors = np.zeros(len(X), dtype=np.uint64), None
    for start in range(0, len(X), _AT_ONCE):
        rows = np.ascontiguousarray(X[start : start + _AT_ONCE]) + 0.0  # -0.0 and 0.0 are equal
        words = rows.view(np.uint32).reshape(len(rows), -1)
        if factors is None:
            random = np.random.RandomState(0)
            factors = random.randint(1, 2**32, size=words.shape[1], dtype=np.uint64) | 1
        hashes = found[start : start + _AT_ONCE]
        for word, factor in zip(words.T, factors, strict=True):
            hashes ^= word
            hashes *= factor
            hashes ^= hashes >> np.uint64(29)
    return found
