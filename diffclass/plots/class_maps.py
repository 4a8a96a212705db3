"""Pictures of a scene's pixels: which class each has, and by what margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError
from diffclass.plots.display import Display, label_map_axes, map_size
from diffclass.plots.palette import by_id, class_palette


def picture(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return ``values`` as a two-dimensional array, or raise a `DataError` with its shape."""
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0:
        raise DataError(
            f"{name} must be a picture of shape (rows, columns), got shape {array.shape}; "
            "reshape the classifier's flat result to the scene's rows and columns"
        )
    return array


class ClassMapDisplay(Display):
    """Picture of a class map with its legend.

    Parameters
    ----------
    class_map : array-like of shape (rows, columns), int
        Class ids; 0 and negative ids are pixels without data or without an answer.
    class_ids : sequence of int, optional
        Ids to draw and to list, in the order of the legend; by default those above 0 in the map.
    class_names : mapping of id to str, or sequence along ``class_ids``, optional
        Names for the legend; ``class 3`` by default.
    class_colors : mapping of id to colour, or sequence along ``class_ids``, optional
        Colours such as those of the file; the default palette for ids without one.

    Attributes
    ----------
    im_, legend_
        What `plot` drew; ``legend_`` is None without a legend.

    Raises
    ------
    DataError
        If the map is not a picture of whole numbers, or holds ids above 0 that ``class_ids``
        lacks.
    ParameterError
        If names or colours do not match the ids, or matplotlib is missing.
    """

    def __init__(
        self,
        class_map: ArrayLike,
        *,
        class_ids: Sequence[int] | None = None,
        class_names: Mapping[int, str] | Sequence[str] | None = None,
        class_colors: Mapping[int, str] | Sequence[Any] | None = None,
    ) -> None:
        self.class_map = picture(class_map, "class_map")
        if self.class_map.dtype.kind not in "iub":
            raise DataError(f"class_map must hold whole numbers, got {self.class_map.dtype}")
        present, counts = np.unique(self.class_map, return_counts=True)
        self.counts = {int(i): int(n) for i, n in zip(present, counts, strict=True)}
        drawn = [i for i in self.counts if i > 0]
        self.class_ids = drawn if class_ids is None else [int(i) for i in class_ids]
        unknown = sorted(set(drawn) - set(self.class_ids))
        if unknown:
            raise DataError(f"class_map holds ids {unknown} that class_ids does not list")
        names = by_id(self.class_ids, class_names, "class_names")
        self.class_names = {i: str(names.get(i, f"class {i}")) for i in self.class_ids}
        self.class_colors = class_palette(self.class_ids, class_colors=class_colors)

    def _size(self, legend: bool) -> tuple[float, float]:
        n_listed = len(self.legend_patches()) if legend else 0
        return map_size(self.class_map.shape, 2.6 if legend else 0.6, n_listed)

    def _draw(self, legend: bool) -> None:
        places = self._places()
        cmap, norm = self._colormap()
        self.im_ = self.ax_.imshow(places, cmap=cmap, norm=norm, interpolation="nearest")
        label_map_axes(self.ax_)
        self.legend_ = self._legend_at_right(self.legend_patches()) if legend else None

    def _places(self) -> np.ma.MaskedArray:
        """Replace each id by its index in ``class_ids``; pixels without a class are masked."""
        order = np.argsort(self.class_ids)
        ids = np.asarray(self.class_ids)[order]
        if not len(ids):
            return np.ma.masked_all(self.class_map.shape, dtype=int)
        found = np.clip(np.searchsorted(ids, self.class_map), 0, len(ids) - 1)
        return np.ma.array(order[found], mask=ids[found] != self.class_map)

    def _colormap(self) -> tuple[Any, Any]:
        """Make one colour per class, with bounds halfway between the indices."""
        from matplotlib.colors import BoundaryNorm, ListedColormap

        n = max(len(self.class_ids), 1)
        colors = [self.class_colors[i] for i in self.class_ids] or [(0.0, 0.0, 0.0, 0.0)]
        cmap = ListedColormap(colors).with_extremes(bad=(0.0, 0.0, 0.0, 0.0))
        return cmap, BoundaryNorm(np.arange(n + 1) - 0.5, n)

    def legend_patches(self, *, counts: bool = True, empty: bool = True) -> list[Any]:
        """Return one coloured patch per class, and one for pixels without a class if any.

        Parameters
        ----------
        counts : bool, default=True
            Whether the labels tell the number of pixels.
        empty : bool, default=True
            Whether pixels without a class are listed too, last and without a colour.

        Returns
        -------
        list of matplotlib Patch
            In the order of ``class_ids``.
        """
        from matplotlib.patches import Patch

        def text(name: str, number: int) -> str:
            return f"{name} ({number:,} px)" if counts else name

        patches = [
            Patch(facecolor=self.class_colors[i], edgecolor="0.3", linewidth=0.5,
                  label=text(self.class_names[i], self.counts.get(i, 0)))
            for i in self.class_ids
        ]  # fmt: skip
        without = self.class_map.size - sum(self.counts.get(i, 0) for i in self.class_ids)
        if empty and without:
            blank = text("no class", without)
            patches.append(Patch(facecolor="none", edgecolor="0.3", linewidth=0.5, label=blank))
        return patches


class MarginMapDisplay(Display):
    """Picture of the lead of the best class over the second best at each pixel.

    Parameters
    ----------
    margin : array-like of shape (rows, columns), float, 0 to 1
        Difference of the two largest probabilities; NaN where there are no data.

    Attributes
    ----------
    im_, colorbar_
        What `plot` drew; ``colorbar_`` is None without one.

    Raises
    ------
    DataError
        If the margin is not a picture, or not within 0 to 1.
    """

    def __init__(self, margin: ArrayLike) -> None:
        self.margin = picture(margin, "margin")
        known = self.margin[np.isfinite(self.margin)]
        if known.size and (known.min() < -1e-6 or known.max() > 1 + 1e-6):
            raise DataError(
                f"margin must lie in 0 to 1, got {known.min():.3g} to {known.max():.3g}"
            )

    def _size(self, legend: bool) -> tuple[float, float]:
        return map_size(self.margin.shape, 1.4)

    def _draw(self, legend: bool) -> None:
        self.im_ = self.ax_.imshow(
            np.ma.masked_invalid(self.margin),
            cmap="cividis",
            vmin=0,
            vmax=1,
            interpolation="nearest",
        )
        label_map_axes(self.ax_)
        self.colorbar_ = None
        if legend:
            # An inset keeps the scale as high as the picture.
            self.colorbar_ = self.figure_.colorbar(
                self.im_,
                cax=self.ax_.inset_axes((1.03, 0.0, 0.05, 1.0)),
                label="margin (probability, 0 to 1)",
            )
