"""Strokes and classes: what a user paints, frozen."""

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
        Whether maps leave it out when they are drawn; it diffuses all the same.
    locked : bool
        Whether what is painted in it stays: neither painted over nor erased, moved or removed.
    """

    id: int
    name: str
    color: str
    hidden: bool = False
    locked: bool = False


@dataclass(frozen=True, eq=False)
class Stroke:
    """Points painted at once in one class.

    Attributes
    ----------
    number : int
        From 1, in the order of painting.
    class_id : int
    points : ndarray of int32
        Numbers of its points, rising; what later strokes have left of it. Never empty.
    """

    number: int
    class_id: int
    points: np.ndarray

    def without(self, is_taken: np.ndarray) -> Stroke:
        """Return what is left after some of n points are taken away; maybe no point."""
        taken = is_taken[self.points]
        return replace(self, points=_frozen(self.points[~taken])) if taken.any() else self

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def fingerprint(self) -> bytes:
        """Hash of the points alone: strokes of one shape share a diffused column."""
        return hashlib.blake2b(self.points.tobytes(), digest_size=16).digest()


def new_stroke(number: int, class_id: int, points: np.ndarray) -> Stroke:
    """Return a stroke of some points, given as rising int32."""
    return Stroke(number, class_id, _frozen(points))


def _frozen(points: np.ndarray) -> np.ndarray:
    points.setflags(write=False)
    return points
