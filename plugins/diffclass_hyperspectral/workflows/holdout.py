"""Which labels to fit on and which to hold out: at random, or in blocks of the picture.

Neighbouring pixels are alike, and spatial features even overlap: a random split lets a classifier
see the surroundings of what it is tested on. With *blocks* the picture is cut into squares; of
each class, half of the squares it lies in are for fitting, the others for testing, and test pixels
nearer to a fitted one than a gap are left out. Where that leaves less than a quarter of the class
on one side, as for a class that lies in a single field, in one square or mostly in one, its own
extent is cut in two across its longer side, so that each half holds half of its pixels. A field
too small for the gap leaves nothing to test its class on: `Holdout.untested` names it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from diffclass.evaluation import draw_per_class
from diffclass.exceptions import DataError

GAP = 6  # pixels: three standard deviations of the widest default smoothing
_BLOCKS_ACROSS = 8


@dataclass(frozen=True)
class Holdout:
    """A split of the labelled pixels.

    Attributes
    ----------
    fit, test : ndarray of bool of shape (rows, columns)
        Labelled pixels to fit on and to test on.
    kind : {"random", "blocks"}
    gap : int
        Least number of pixels between the two (0: no gap).
    """

    fit: np.ndarray
    test: np.ndarray
    kind: str
    gap: int = 0

    def untested(self, ids: np.ndarray) -> list[int]:
        """Return the classes of ``ids`` of which no pixel is left to test on."""
        classes = np.unique(ids[ids > 0])
        return classes[~np.isin(classes, ids[self.test])].tolist()


def hold_out(
    ids: np.ndarray, *, kind: str = "random", labels_per_class: int | None = None, seed: int = 0
) -> Holdout:
    """Split labelled pixels into those to fit on and those to test on.

    Parameters
    ----------
    ids : ndarray of int of shape (rows, columns)
        Class of each pixel, 0 for unlabelled.
    kind : {"random", "blocks"}, default="random"
        How pixels are chosen.
    labels_per_class : int, optional
        Pixels of each class to fit on (half of its pixels, for a class with fewer than twice as
        many); by default half of all.
    seed : int, default=0
        Seeds the choice.

    Returns
    -------
    Holdout
        Both parts hold every class that has enough pixels.

    Raises
    ------
    DataError
        Where nothing is left to test on.
    """
    random = check_random_state(seed)
    candidates = ids if kind == "random" else np.where(_fitting_blocks(ids, random), ids, 0)
    fit = _drawn(candidates, labels_per_class, random, halve=kind == "random")
    test = (ids > 0) & ~fit
    if kind == "blocks":
        test &= (candidates == 0) & ~_within(fit, GAP)
    if not test.any():
        raise DataError(
            f"no labelled pixel is left to be held out ({kind}); give more labels or fit on fewer"
        )
    return Holdout(fit, test, kind, GAP if kind == "blocks" else 0)


def squares(shape: tuple[int, int]) -> np.ndarray:
    """Return the number of the square of the picture that each pixel lies in.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.

    Returns
    -------
    ndarray of int of shape (rows, columns)
        Eight squares along the longer side, as in holding out in blocks.
    """
    side = max(2, -(-max(shape) // _BLOCKS_ACROSS))
    rows, columns = np.indices(shape)
    return (rows // side) * (shape[1] // side + 1) + columns // side


def _drawn(
    ids: np.ndarray, labels_per_class: int | None, random: np.random.RandomState, *, halve: bool
) -> np.ndarray:
    if labels_per_class is None and not halve:
        return ids > 0
    # a size beyond every class draws half of each
    size = ids.size if labels_per_class is None else labels_per_class
    chosen = np.zeros(ids.size, dtype=bool)
    codes = ids.ravel().astype(np.int64) - 1  # with unsigned ids, 0 - 1 would become a class
    chosen[draw_per_class(codes, size, random_state=random)] = True
    return chosen.reshape(ids.shape)


def _fitting_blocks(ids: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Pixels in the squares (of each class's own choice) that are for fitting."""
    square = squares(ids.shape)
    fitting = np.zeros(ids.shape, dtype=bool)
    for class_id in np.unique(ids[ids > 0]):
        member = ids == class_id
        own = np.unique(square[member])
        chosen = random.permutation(own)[: len(own) // 2]
        half = member & np.isin(square, chosen)
        uneven = not 0.25 <= half.sum() / member.sum() <= 0.75
        fitting |= member & _first_half(member) if uneven else half
    return fitting


def _first_half(member: np.ndarray) -> np.ndarray:
    """Pixels on one side of the middle of a class, along its longer extent."""
    places = np.argwhere(member)
    axis = int(np.ptp(places, axis=0).argmax())
    middle = np.median(places[:, axis])
    along = np.indices(member.shape)[axis]
    before = along < middle
    return before if (member & before).any() else along <= middle


def _within(fit: np.ndarray, gap: int) -> np.ndarray:
    """Pixels nearer than ``gap`` rows and columns to a fitted one."""
    from scipy.ndimage import distance_transform_cdt

    if not fit.any():
        return np.zeros_like(fit)
    return distance_transform_cdt(~fit, metric="chessboard") < gap
