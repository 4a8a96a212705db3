"""A scene as three of its bands, with the strokes drawn over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.axes import axes_or_new, label_map_axes, lay_out, list_beside, map_size
from diffclass.plots.class_maps import ClassMapDisplay
from diffclass.plots.stretch import stretched

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MISSING_GREY = 0.85


class CompositeDisplay:
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
    ax_, figure_, im_, legend_, strokes_
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

    def plot(
        self, *, ax: Axes | None = None, legend: bool = True, title: str | None = None
    ) -> CompositeDisplay:
        """Draw the composite and the strokes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Whether to list the strokes' classes.
        title : str, optional
            Title of the axes.

        Returns
        -------
        CompositeDisplay
            This object.
        """
        patches = []
        if legend and self.strokes_ is not None:
            patches = self.strokes_.legend_patches(empty=False)
        width = 2.6 if patches else 0.6
        self.ax_ = axes_or_new(ax, map_size(self.composite.shape, width, len(patches)))
        self.figure_ = self.ax_.figure
        self.im_ = self.ax_.imshow(self.composite, interpolation="nearest")
        if self.strokes_ is not None:
            self._outline(self.strokes_)
            self.strokes_.plot(ax=self.ax_, legend=False)
        self.legend_ = list_beside(self.ax_, patches, own_figure=ax is None) if patches else None
        label_map_axes(self.ax_)
        if title is not None:
            self.ax_.set_title(title)
        if ax is None:
            lay_out(self.figure_)
        return self

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
    shown[known] = stretched(values[known])
    return shown
