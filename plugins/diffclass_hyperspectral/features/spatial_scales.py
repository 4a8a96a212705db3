"""Components at several spatial scales, made by windows of rows, and the components themselves.

The points of a picture hold k columns per scale. Its components come in the first k; each scale is
smoothed from there into its own columns, the first one last, and then all columns are weighed and
divided in place. So nothing else is as large as the picture, and as a window sees all rows that
count, it does not matter how many rows it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diffclass_hyperspectral.features.field_weights import field_weights
from diffclass_hyperspectral.features.moments import Moments
from diffclass_hyperspectral.features.smoothing import Smoothing
from diffclass_hyperspectral.features.unit_spectra import unit_rows
from diffclass_hyperspectral.features.windows import Window, windows
from diffclass_hyperspectral.io.rasters import PointPicture


@dataclass(frozen=True, eq=False)
class SmoothedMoments:
    """What one scale of a picture says of its weights and its spread.

    Attributes
    ----------
    taken : Moments
        Of what smoothing took away.
    left : Moments
        Of the smoothed components, of length 1 if they are to be.
    is_unit : bool
        Whether they are.
    """

    taken: Moments
    left: Moments
    is_unit: bool

    def weights(self, power: float) -> np.ndarray:
        """Return the matrix that the smoothed components are multiplied by, of shape (k, k)."""
        if self.is_unit:
            return np.zeros_like(self.left.mean_products)
        return field_weights(self.taken.covariance, power)

    def spread(self, weights: np.ndarray) -> float:
        """Return the root of the mean square of the weighed components, 1 where it is 0."""
        k = len(weights)
        if self.is_unit:  # they lie around their mean, not around 0
            square = np.trace(self.left.covariance) / k
        else:
            square = np.trace(weights.T @ self.left.mean_products @ weights) / k
        return float(np.sqrt(max(square, 0))) or 1.0


def smooth_scales(
    picture: PointPicture, smoothings: Sequence[Smoothing], k: int, *, is_unit: bool, n_rows: int
) -> list[SmoothedMoments]:
    """Fill the columns of each scale from the components in the first k.

    Parameters
    ----------
    picture : PointPicture
        With k columns per scale or more; changed in place.
    smoothings : sequence of Smoothing
    k : int
    is_unit : bool
        Whether the smoothed components are to have length 1.
    n_rows : int
        Rows of a window.

    Returns
    -------
    list of SmoothedMoments
        One for each scale.
    """
    found = []
    for j in reversed(range(len(smoothings))):
        fitted = _fitted(smoothings[j], picture, k, n_rows)
        found.append(_smooth(picture, fitted, j, k, is_unit=is_unit, n_rows=n_rows))
    return found[::-1]


def _fitted(smoothing: Smoothing, picture: PointPicture, k: int, n_rows: int) -> Smoothing:
    components = picture.leading(k)

    def parts() -> Iterator[Window]:
        reach = smoothing.fitting_reach
        shown = "features: bandwidth"
        return windows(components, picture.valid, n_rows=n_rows, reach=reach, shown=shown)

    return smoothing.fitted(parts)


def _smooth(
    picture: PointPicture, smoothing: Smoothing, j: int, k: int, *, is_unit: bool, n_rows: int
) -> SmoothedMoments:
    """Fill the columns of scale j."""
    columns, shown = slice(j * k, (j + 1) * k), f"features: scale {j + 1}"
    moments = SmoothedMoments(Moments(k), Moments(k), is_unit)
    components, reach = picture.leading(k), smoothing.reach
    for window in windows(components, picture.valid, n_rows=n_rows, reach=reach, shown=shown):
        smooth = smoothing.smooth(window.image, window.valid)
        valid = window.valid[window.inner]
        _add_rows(moments, window.image[window.inner], smooth[window.inner], valid)
        picture.points[picture.numbers(window.rows), columns] = smooth[window.inner][valid]
    return moments


def _add_rows(
    moments: SmoothedMoments, image: np.ndarray, smooth: np.ndarray, valid: np.ndarray
) -> None:
    """Add one row of the picture at a time, so that sums do not depend on the window."""
    for before, after, has_data in zip(image, smooth, valid, strict=True):
        left = after[has_data]
        moments.taken.add(before[has_data].astype(np.float64) - left)
        moments.left.add(unit_rows(left) if moments.is_unit else left)


def scale_features(
    picture: PointPicture, weights: np.ndarray, scales: np.ndarray, *, is_unit: bool
) -> None:
    """Multiply the columns of each scale by its weights and divide them by its spread, in place.

    Parameters
    ----------
    picture : PointPicture
    weights : ndarray of float32 of shape (n_scales, k, k)
        Not used for components of length 1, which they are given instead.
    scales : ndarray of shape (n_scales,)
    is_unit : bool
    """
    k = weights.shape[1]
    for rows in picture.row_blocks(shown="features: weights"):
        block = picture.points[picture.numbers(rows)]
        for j, scale in enumerate(scales):
            smooth = block[:, j * k : (j + 1) * k]
            found = unit_rows(smooth) if is_unit else smooth @ weights[j]
            smooth[:] = found / np.float32(scale)


def add_positions(picture: PointPicture, weight: float) -> None:
    """Write row and column times a weight to the last two columns."""
    for rows in picture.row_blocks(shown="features: positions"):
        places = np.argwhere(picture.valid[rows]) + np.array([rows.start, 0])
        picture.points[picture.numbers(rows), -2:] = places * np.float32(weight)
