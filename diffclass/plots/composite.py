"""A scene as three of its bands, with the strokes drawn over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.class_maps import ClassMapDisplay
from diffclass.plots.display import Display, label_map_axes, map_size

_MISSING_GREY = 0.85
_STRETCH_PERCENTILES = (2, 98)


class CompositeDisplay(Display):
    """Colour composite of three bands, with strokes drawn over it.

    Parameters
    ----------
    image : array-like of shape (rows, columns, bands) or (rows, columns)
        The scene; one band is drawn in grey.
    labels : array-like of shape (rows, columns), int, optional
        Strokes, 0 = none.
    bands : sequence of 3 ints, optional
        Indices of the bands shown as red, green and blue; by default three spread over the
        spectrum, red from its last third (wavelengths increase with the index).
    class_ids, class_names, class_colors
        As in `ClassMapDisplay`, for the strokes.

    Attributes
    ----------
    im_, legend_, strokes_
        What `plot` drew; ``strokes_`` is the `ClassMapDisplay` of the strokes, None without
        labels.

    Raises
    ------
    DataError
        If the shapes of image and labels disagree.
    ParameterError
        If ``bands`` are not three indices of bands.
    """

    def __init__(
        self,
        image: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        bands: Sequence[int] | None = None,
        class_ids: Sequence[int] | None = None,
        class_names: Mapping[int, str] | Sequence[str] | None = None,
        class_colors: Mapping[int, str] | Sequence[Any] | None = None,
    ) -> None:
        cube = np.asarray(image)
        if cube.ndim == 2:
            cube = cube[..., None]
        if cube.ndim != 3 or cube.size == 0:
            raise DataError(f"image must have shape (rows, columns, bands), got {cube.shape}")
        self.bands = _composite_bands(cube.shape[2], bands)
        self.composite = _shades(cube[..., self.bands])
        self.strokes_ = None
        if labels is not None:
            self.strokes_ = ClassMapDisplay(
                labels, class_ids=class_ids, class_names=class_names, class_colors=class_colors
            )
            if self.strokes_.class_map.shape != cube.shape[:2]:
                raise DataError(
                    f"labels have shape {self.strokes_.class_map.shape}, the image's pixels "
                    f"{cube.shape[:2]}"
                )

    def _patches(self, legend: bool) -> list[Any]:
        if not legend or self.strokes_ is None:
            return []
        return self.strokes_.legend_patches(empty=False)

    def _size(self, legend: bool) -> tuple[float, float]:
        patches = self._patches(legend)
        return map_size(self.composite.shape, 2.6 if patches else 0.6, len(patches))

    def _draw(self, legend: bool) -> None:
        self.im_ = self.ax_.imshow(self.composite, interpolation="nearest")
        if self.strokes_ is not None:
            self._outline(self.strokes_)
            self.strokes_.plot(ax=self.ax_, legend=False)
        patches = self._patches(legend)
        self.legend_ = self._legend_at_right(patches) if patches else None
        label_map_axes(self.ax_)

    def _outline(self, strokes: ClassMapDisplay) -> None:
        """Put a white halo under the strokes, so that they show on any background."""
        drawn = np.isin(strokes.class_map, strokes.class_ids)
        if drawn.any() and min(drawn.shape) >= 2:
            self.ax_.contour(drawn, levels=[0.5], colors="white", linewidths=1.6)


def _composite_bands(n_bands: int, bands: Sequence[int] | None) -> list[int]:
    """Return the indices shown as red, green and blue."""
    if bands is None:
        return [round(share * (n_bands - 1)) for share in (0.8, 0.45, 0.15)]
    chosen = [int(b) for b in bands]
    if len(chosen) != 3 or not all(-n_bands <= b < n_bands for b in chosen):
        raise ParameterError(
            f"bands must be three indices from 0 to {n_bands - 1} (red, green, blue), got {chosen}"
        )
    return chosen


def _shades(composite: NDArray[Any]) -> NDArray[np.float32]:
    """Stretch the contrast of each channel; missing pixels go neutral."""
    values = composite.astype(np.float32)
    known = np.isfinite(values).all(axis=-1)
    shown = np.full(values.shape, _MISSING_GREY, dtype=np.float32)
    shown[known] = stretch_contrast(values[known])
    return shown


def stretch_contrast(channels: NDArray[Any]) -> NDArray[Any]:
    """Stretch each channel linearly from its 2nd to its 98th percentile.

        (x - q_2) / (q_98 - q_2), clipped to 0 and 1

    A few bright or dark pixels then do not take the contrast of all others.

    Parameters
    ----------
    channels : ndarray of shape (n,) or (n, n_channels)
        Finite numbers in any unit.

    Returns
    -------
    ndarray of the same shape
        0 to 1; 0.5 in a channel without contrast, which would show blown-up noise otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> stretch_contrast(np.arange(101.0))[[0, 2, 50, 98, 100]].tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    if not len(channels):
        return channels
    low, high = np.percentile(channels, _STRETCH_PERCENTILES, axis=0)
    has_contrast = high > low
    span = np.where(has_contrast, high - low, 1)
    offset = np.where(has_contrast, 0, 0.5)
    return np.clip((channels - low) / span + offset, 0, 1)
