"""What a job has to know of its points, whether they are pixels of a scene or rows of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from diffclass.system.costs import Cost, Size


@dataclass(frozen=True, eq=False)
class MadePoints:
    """Points, and where they come from.

    Attributes
    ----------
    points : ndarray of float32 of shape (n, n_features), or csr_array of shape (n, n)
        Of a graph its affinities.
    valid : ndarray of bool
        True n times, in the order of the points: which of all rows (n_rows,) or pixels (rows,
        columns) these are. Values of points are put back in this shape.
    facts : mapping of str to values that JSON can hold
        For reports: "named_by" (ids, rows and columns), and how they were made: "features" (where
        they come from), "metric", ...
    """

    points: Any
    valid: np.ndarray
    facts: Mapping[str, Any]


class PointSet(ABC):
    """Points of one input. They are made when they are first asked for, and kept.

    A kind of input is a subclass: it says what its points are called and cost, and makes them.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.jobs import MadePoints, PointSet
    >>> from diffclass.system.costs import Cost, Size
    >>> class Readings(PointSet):
    ...     noun, path = "readings", "an array"
    ...     def __init__(self, values):
    ...         self.values = np.asarray(values, dtype=np.float32)
    ...     def size(self, n_neighbors=0, n_classes=0):
    ...         return Size(*self.values.shape, n_neighbors, n_classes)
    ...     def costs(self):
    ...         return {"reading": Cost(self.values.nbytes, self.values.nbytes)}
    ...     def make(self):
    ...         valid = np.isfinite(self.values).all(axis=1)
    ...         return MadePoints(self.values[valid], valid, {"metric": "euclidean"})
    ...     def name(self, number):
    ...         return {"id": number}
    ...     def in_words(self, name):
    ...         return f"reading {name['id']}"
    >>> readings = Readings([[1.0, 2], [np.nan, 3], [4, 5]])
    >>> len(readings.points), readings.names([1]), readings.placed(np.array([7, 8]), -1)
    (2, [{'id': 2}], array([ 7, -1,  8]))
    """

    noun: ClassVar[str] = "points"  # what reports and messages call them
    has_grid: ClassVar[bool] = False  # whether points have places, known before they are made
    scales_are_meant: ClassVar[bool] = False  # of features, as those of components

    @property
    @abstractmethod
    def path(self) -> Any:
        """What messages call the input."""

    @abstractmethod
    def size(self, n_neighbors: int = 0, n_classes: int = 0) -> Size:
        """Return what the costs of a job depend on; points without data may be counted in."""

    @abstractmethod
    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the points, by stage."""

    @abstractmethod
    def make(self) -> MadePoints:
        """Make the points, within stages of their own."""

    @abstractmethod
    def name(self, number: int) -> dict[str, Any]:
        """Return what a point is called, by its number among all: an id, or row and column."""

    @abstractmethod
    def in_words(self, name: Mapping[str, Any]) -> str:
        """Return a point's name as a line says it."""

    @cached_property
    def _made(self) -> MadePoints:
        return self.make()

    @property
    def points(self) -> Any:
        """Points (n, n_features), or a graph (n, n); see `MadePoints`."""
        return self._made.points

    @property
    def valid(self) -> np.ndarray:
        """Which of all rows or pixels are points, bool."""
        return self._made.valid

    @property
    def facts(self) -> dict[str, Any]:
        """What reports tell of the points: what they are called, how many, how they were made."""
        n_points = len(self.numbers)
        counts = {"n_points": n_points, "n_without_data": self.valid.size - n_points}
        return {"points": self.noun, **counts, **self._made.facts}

    @property
    def affinity(self) -> str | None:
        """The parameter of estimators: "precomputed" for a graph."""
        return "precomputed" if sp.issparse(self.points) else None

    @cached_property
    def numbers(self) -> np.ndarray:
        """Number of each point among all rows or pixels, int64 (n,)."""
        return np.flatnonzero(self.valid)

    @property
    def places(self) -> np.ndarray | None:
        """Row and column of each point on a grid, int64 (n, 2); None where there is no grid."""
        return None

    def names(self, points: Any) -> list[dict[str, Any]]:
        """Return what points are called."""
        return [self.name(int(number)) for number in self.numbers[np.asarray(points, dtype=int)]]

    def placed(self, values: np.ndarray, empty: Any) -> np.ndarray:
        """Return values of the points (n, ...) at their places, ``empty`` at all others."""
        found = np.full((*self.valid.shape, *values.shape[1:]), empty, dtype=values.dtype)
        found[self.valid] = values
        return found
