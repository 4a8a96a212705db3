"""Which labels to fit on and which to hold out: at random, or in blocks of the picture.

Neighbouring pixels are alike, so that a random split is optimistic. With *blocks* the picture is
cut into squares; of each class, half of the squares it lies in are for fitting, the others for
testing, and test pixels nearer to a fitted one than a gap are left out. Where one half has less
than a quarter of the class, as for a single field, its own extent is cut in two across its longer
side. A field too small for the gap leaves nothing to test its class on: `Split.untested`.

The *gap* follows the features: the mixture at a tested pixel should hold next to nothing of a
fitted one. `full_gap` is where 99 % of the weight ends; it is cut to what leaves enough to test,
and reports say which share of the weight remains beyond it. Without smoothing it is six pixels, a
convention.

What is tested in blocks is calibrated for it: labels of a class in one square are then held out
together (`groups_in_squares`), so that they are not judged by labels near them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import distance_transform_cdt
from sklearn.utils import check_random_state

from diffclass.exceptions import DataError
from diffclass.jobs import AT_RANDOM, Holdout, none_left
from diffclass_hyperspectral.jobs.evaluation.squares import squares

LEAST_GAP = 6  # pixels, also for features of a pixel's own spectrum
_FULL_SHARE = 0.99  # of the weight of a pixel's features, within the full gap
_TESTED_PIXELS, _TESTED_CLASSES = 0.1, 0.75  # least shares that a gap above the least has to leave


@dataclass(frozen=True)
class Split:
    """A split of the labelled pixels, bool (rows, columns), at random or in blocks.

    From each tested pixel to the nearest fitted one there are at least ``gap`` rows or columns.
    """

    fit: np.ndarray
    test: np.ndarray
    kind: str
    gap: int = 0

    def untested(self, ids: np.ndarray) -> list[int]:
        """Return the classes of ``ids`` of which no pixel is left to test on."""
        classes = np.unique(ids[ids > 0])
        return classes[~np.isin(classes, ids[self.test])].tolist()

    def outside(self, segments: np.ndarray) -> Split:
        """Return the split without tested pixels in segments (0: none) that hold a fitted one."""
        test = self.test & ((segments == 0) | ~np.isin(segments, segments[self.fit]))
        if not test.any():
            raise DataError(
                "every segment with held-out labels has labels that are fitted on; label more "
                "segments, or hold out at random"
            )
        return replace(self, test=test)


def full_gap(weight_beyond: np.ndarray) -> int:
    """Return the gap, at least 6 pixels, beyond which less than a hundredth of a feature is made.

    ``weight_beyond`` is that of `SceneFeatures.weight_beyond`.
    """
    within = np.append(weight_beyond, 0) <= 1 - _FULL_SHARE
    return max(LEAST_GAP, int(within.argmax()) + 1)


def hold_out(
    ids: np.ndarray, holdout: Holdout, *, kind: str | None = None, gap: int = LEAST_GAP
) -> Split:
    """Split labelled pixels into those to fit on and those to test on.

    Parameters
    ----------
    ids : ndarray of int of shape (rows, columns)
        Class of each pixel, 0 for unlabelled.
    holdout : Holdout
        Labels per class are pixels to fit on (half of the pixels of a class with fewer than twice
        as many); by default half at random, and in blocks all of those for fitting.
    kind : {"random", "blocks"}, optional
        By default the first of the holdout's.
    gap : int, default=6
        Between blocks, in pixels. Where one above 6 leaves too little to test (less than a tenth of
        the pixels outside the blocks for fitting, or than three quarters of their classes), the
        largest that leaves enough is taken, or 6.

    Returns
    -------
    Split
        Both parts hold every class that has enough pixels.

    Raises
    ------
    DataError
        Where nothing is left to test on.
    """
    kind = kind or holdout.kinds[0]
    codes = ids.ravel().astype(np.int64) - 1  # with unsigned ids, 0 - 1 would become a class
    if kind == AT_RANDOM:
        fit = holdout.drawn(codes).reshape(ids.shape)
        test, gap = (ids > 0) & ~fit, 0
    else:
        random = check_random_state(holdout.random_state)
        fit = _fitting_blocks(ids, random)
        test = (ids > 0) & ~fit
        if holdout.labels_per_class is not None:
            codes[~fit.ravel()] = -1
            fit = holdout.drawn(codes, random).reshape(ids.shape)
        distances = pixels_from(fit)
        gap = _possible_gap(np.where(test, ids, 0), distances, gap)
        test &= distances >= gap
    if not test.any():
        raise none_left("pixels", kind)
    return Split(fit, test, kind, gap)


def pixels_from(member: np.ndarray) -> np.ndarray:
    """Return each pixel's distance, in rows or columns, to a set; rows + columns if it is empty."""
    if not member.any():
        return np.full(member.shape, sum(member.shape))
    return distance_transform_cdt(~member, metric="chessboard")


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


def _possible_gap(ids: np.ndarray, distances: np.ndarray, wanted: int) -> int:
    """Largest gap up to the wanted one that leaves enough of ``ids`` to test."""
    member = ids > 0
    ids, distances = ids[member], distances[member]
    least_pixels, least_classes = _TESTED_PIXELS * len(ids), _TESTED_CLASSES * len(np.unique(ids))
    for gap in range(wanted, LEAST_GAP, -1):
        left = ids[distances >= gap]
        if len(left) >= least_pixels and len(np.unique(left)) >= least_classes:
            return gap
    return min(wanted, LEAST_GAP)
