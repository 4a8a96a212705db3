"""Components at several spatial scales, made by windows of rows, and the components themselves.

The points of a picture hold k columns per scale. Its components come in the first k; each scale is
smoothed from there into its own columns, the first one last, and then all are weighed in place.

Directions in which pixels differ within fields count less. What smoothing takes away, R = c -
smooth(c), is noise and all that varies inside a field, such as the light on a slope. With its
covariance W = V diag(l) V', the smoothed components are multiplied by V diag(l)^-p. At p = 1/2 the
variation within fields becomes equal in all directions, as in Fisher's discriminant with fields as
classes; it needs no labels.

Source: A. Bar-Hillel et al., Learning distance functions using equivalence relations, 2003
(relevant component analysis; p = 1/2, small groups of like points for fields).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.features.block_statistics import Moments
from diffclass_hyperspectral.features.components import unit_rows
from diffclass_hyperspectral.features.smoothing import GRID_BYTES, GaussianSmoothing, Smoothing
from diffclass_hyperspectral.features.windows import Window, windows
from diffclass_hyperspectral.io.rasters import PointPicture, Raster

_WINDOW_BYTES = 2**28  # at least
# Share of the largest variance: otherwise directions in which hardly anything varies could be all
# that counts.
_LEAST_VARIANCE = 1e-3


def field_weights(within: np.ndarray, power: float) -> np.ndarray:
    """Return V diag(l)^-p of W (k, k), or the identity where smoothing took nothing away."""
    identity = np.eye(len(within))
    if power == 0:
        return identity
    variances, directions = np.linalg.eigh(within)
    if not variances[-1] > 0:
        return identity
    return directions * np.maximum(variances / variances[-1], _LEAST_VARIANCE) ** -power


def smoothings_of(scales: Sequence[float | Smoothing]) -> tuple[Smoothing, ...]:
    """Return a smoothing for each scale; a number is the standard deviation of a Gaussian."""
    if not len(scales):
        raise ParameterError("scales is empty; give one or more, 0 for the picture as it is")
    return tuple(s if isinstance(s, Smoothing) else GaussianSmoothing(s) for s in scales)


def reach_of(smoothings: Sequence[Smoothing]) -> int:
    """Return the rows and columns beyond which a pixel counts at no scale."""
    return max(s.reach for s in smoothings)


def bytes_per_pixel(k: int) -> int:
    """Return what smoothing holds of a pixel of a window: k components, and the walk over it."""
    return 30 * k + GRID_BYTES


def window_rows(
    shape: tuple[int, ...],
    k: int,
    smoothings: Sequence[Smoothing],
    *,
    window_bytes: int | None = None,
) -> int:
    """Return how many rows of its own a window of k components has, without those around.

    `ParameterError`: ``window_bytes``, by default what is needed, hold less than one row.
    """
    rows, columns, *_ = shape
    of_a_row, around = columns * bytes_per_pixel(k), 2 * reach_of(smoothings)
    if window_bytes is None:  # rows around are worked on twice: there should be fewer of them
        window_bytes = max(_WINDOW_BYTES, 3 * around * of_a_row, of_a_row)
    if window_bytes >= rows * of_a_row:
        return rows
    n_rows = window_bytes // of_a_row - around
    if n_rows < 1:
        raise ParameterError(
            f"window_bytes = {window_bytes}: a window of {columns} columns needs at least "
            f"{min(rows, around + 1) * of_a_row} bytes for these features; give more memory, "
            "or take spectral features"
        )
    return n_rows


def largest_weight_beyond(
    smoothings: Sequence[Smoothing], image: Raster, valid: np.ndarray
) -> np.ndarray:
    """Return how much comes from farther than 0, 1, ... pixels, at the scale where it is most."""
    found = [s.weight_beyond(image, valid) for s in smoothings]
    largest = np.zeros(max(map(len, found)))
    for shares in found:
        largest[: len(shares)] = np.maximum(largest[: len(shares)], shares)
    return largest


@dataclass(frozen=True, eq=False)
class SmoothedMoments:
    """What one scale of a picture says of its weights and its spread."""

    taken: Moments  # of what smoothing took away
    left: Moments  # of the smoothed components, of length 1 if they are to be
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
    """Fill the columns of each scale from the components in the first k of a picture, in place."""
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

    Components of length 1 are made so again instead.
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
