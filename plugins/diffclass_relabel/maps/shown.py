"""What clients are shown: pictures of labels and map, frozen, to be read from any thread."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

NO_DATA = 255


@dataclass(frozen=True, eq=False)
class _ShownIds:
    version: int
    ids: np.ndarray

    @cached_property
    def counts(self) -> np.ndarray:
        """Pixels of each class id, int of shape (256,)."""
        return np.bincount(self.ids.ravel(), minlength=256)


class ShownLabels(_ShownIds):
    """The labels after an operation.

    Attributes
    ----------
    version : int
        Operations applied so far.
    ids : ndarray of uint8 of shape (rows, columns)
        Class ids; 0 = unlabelled.
    """


@dataclass(frozen=True, eq=False)
class ShownMap(_ShownIds):
    """The map of an update.

    Attributes
    ----------
    version : int
        Operations that it reflects.
    ids : ndarray of uint8 of shape (rows, columns)
        Class ids; 0 = nothing arrived, 255 = no data.
    margin, probability : ndarray of uint8 of shape (rows, columns)
        0 to 255 for 0 to 1.
    changed : ndarray of uint8 of shape (rows, columns)
        1 where the class differs from that in the map before.
    n_changed : int
    milliseconds : float
        What the engine took.
    """

    margin: np.ndarray
    probability: np.ndarray
    changed: np.ndarray
    n_changed: int
    milliseconds: float
