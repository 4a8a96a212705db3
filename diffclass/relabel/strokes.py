"""Strokes and classes: what a user paints, as frozen objects."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class ClassInfo:
    """A class that can be painted.

    Attributes
    ----------
    id : int
        1 to 254; 0 is unlabelled.
    name : str
    color : str
        As "#rrggbb".
    hidden : bool
        Whether drawn maps leave it out; its labels diffuse all the same.
    locked : bool
        Whether its labels are protected from being painted over, erased, moved or removed.
    """

    id: int
    name: str
    color: str
    hidden: bool = False
    locked: bool = False


@dataclass(frozen=True, eq=False)
class Stroke:
    """Points of one class, painted together.

    Attributes
    ----------
    number : int
        From 1, in the order of painting.
    class_id : int
    points : ndarray of int32
        Indices of its points that later strokes have left, ascending. Never empty.
    """

    number: int
    class_id: int
    points: np.ndarray

    def without(self, points: np.ndarray) -> Stroke:
        """Return the stroke without some points; it may be empty."""
        taken = np.isin(self.points, points, assume_unique=True)
        return replace(self, points=_frozen(self.points[~taken])) if taken.any() else self

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def fingerprint(self) -> bytes:
        """Hash of the points alone: strokes with the same points share a diffused column."""
        return hashlib.blake2b(self.points.tobytes(), digest_size=16).digest()


def new_stroke(number: int, class_id: int, points: np.ndarray) -> Stroke:
    """Return a stroke of points, given as ascending int32."""
    return Stroke(number, class_id, _frozen(points))


def _frozen(points: np.ndarray) -> np.ndarray:
    points.setflags(write=False)
    return points
