"""Pictures of a scene: its class map, its margin, three of its bands, and all of them in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.display import (
    Display,
    by_id,
    class_palette,
    label_map_axes,
    lay_out,
    map_size,
    new_figure,
    uncovered,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MISSING_GREY = 0.85
_STRETCH_PERCENTILES = (2, 98)


def picture(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return ``values`` as a two-dimensional array, or raise a `DataError` with its shape.

    Masked pixels are missing: NaN, or 0 among whole numbers.
    """
    array = uncovered(values)
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

    See Also
    --------
    MarginMapDisplay : How sure the map is.
    CompositeDisplay : The scene, with strokes.
    plot_side_by_side : Scene, maps and margin in one figure.

    Examples
    --------
    ``display.figure_.savefig("map.png")`` writes the picture:

    >>> from diffclass.plots import ClassMapDisplay
    >>> display = ClassMapDisplay([[1, 1], [2, 0]], class_names={1: "corn", 2: "soy"}).plot()
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['corn (2 px)', 'soy (1 px)', 'no class (1 px)']
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
        """Replace each id by its index in ``class_ids``; others are masked."""
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
        """Return a coloured patch per class, and one without a colour for pixels without a class.

        ``counts``: whether labels include the number of pixels; ``empty``: whether pixels without a
        class are listed, last.
        """
        from matplotlib.patches import Patch

        def patch(color: Any, name: str, number: int) -> Patch:
            label = f"{name} ({number:,} px)" if counts else name
            return Patch(facecolor=color, edgecolor="0.3", linewidth=0.5, label=label)

        patches = [
            patch(self.class_colors[i], self.class_names[i], self.counts.get(i, 0))
            for i in self.class_ids
        ]
        without = self.class_map.size - sum(self.counts.get(i, 0) for i in self.class_ids)
        if empty and without:
            patches.append(patch("none", "no class", without))
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

    See Also
    --------
    ClassMapDisplay : The classes.
    MarginCurveDisplay : The mean margin over time, by which the time was chosen.

    Examples
    --------
    >>> from diffclass.plots import MarginMapDisplay
    >>> display = MarginMapDisplay([[0.9, 0.8], [0.1, float("nan")]]).plot(title="margin")
    >>> display.colorbar_.ax.get_ylabel()
    'margin (probability, 0 to 1)'
    """

    def __init__(self, margin: ArrayLike) -> None:
        self.margin = picture(margin, "margin")
        known = self.margin[np.isfinite(self.margin)]
        if known.size and (known.min() < -1e-6 or known.max() > 1 + 1e-6):
            raise DataError(
                f"margin must be from 0 to 1, got {known.min():.3g} to {known.max():.3g}"
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

    See Also
    --------
    ClassMapDisplay : A class map alone.
    plot_side_by_side : Scene, maps and margin in one figure.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.plots import CompositeDisplay
    >>> scene = make_tissue_scene(48, 48, n_bands=12)
    >>> display = CompositeDisplay(scene.cube, scene.labels, class_names=scene.class_names).plot()
    >>> display.bands
    [9, 5, 2]
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['nuclei (100 px)', 'cytoplasm (102 px)', 'stroma (21 px)']
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
        cube = uncovered(image, float)
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

    A value x becomes ::

        (x - q_2) / (q_98 - q_2), clipped to 0 and 1; 0.5 in a channel without contrast

    Parameters
    ----------
    channels : ndarray of shape (n,) or (n, n_channels)
        Finite numbers in any unit.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.plots import stretch_contrast
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


def plot_side_by_side(
    image: ArrayLike,
    labels: ArrayLike,
    *,
    maps: Mapping[str, ArrayLike],
    margin: ArrayLike | None = None,
    accuracies: Mapping[str, float] | None = None,
    class_names: Mapping[int, str] | Sequence[str] | None = None,
    class_colors: Mapping[int, str] | Sequence[Any] | None = None,
    bands: Sequence[int] | None = None,
) -> Figure:
    """Draw a scene with its strokes, several class maps and a margin in one row.

    This is figure 5 of Coifman et al. (2005) for any scene; all pictures share one legend.

    Parameters
    ----------
    image : array-like of shape (rows, columns, bands)
        The scene.
    labels : array-like of shape (rows, columns), int
        Strokes, 0 = none.
    maps : mapping of title to array-like of shape (rows, columns), int
        Class maps, such as those of 1-NN and of diffusion, in the order to draw them.
    margin : array-like of shape (rows, columns), 0 to 1, optional
        Margin of the last map.
    accuracies : mapping of title to float, 0 to 1, optional
        Overall accuracy of the maps, written under their titles in percent.
    class_names, class_colors
        As in `ClassMapDisplay`; sequences follow the sorted ids of all maps and strokes.
    bands : sequence of 3 ints, optional
        As in `CompositeDisplay`.

    Raises
    ------
    DataError
        If a map is not a picture, or shapes disagree.
    ParameterError
        If names or colours do not match the ids, or matplotlib is missing.

    See Also
    --------
    ClassMapDisplay : One map, on axes of your own.
    plot_evaluation : The scores of a map.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.plots import plot_side_by_side
    >>> scene = make_tissue_scene(48, 48, n_bands=12)
    >>> figure = plot_side_by_side(scene.cube, scene.labels, maps={"truth": scene.truth})
    >>> [ax.get_title() for ax in figure.axes]
    ['scene and labels', 'truth']
    """
    arrays = {title: picture(values, title) for title, values in maps.items()}
    ids = _ids_of(picture(labels, "labels"), *arrays.values())
    look: dict[str, Any] = {"class_ids": ids, "class_names": class_names}
    look["class_colors"] = class_colors
    scene = CompositeDisplay(image, labels, bands=bands, **look)
    displays = {title: ClassMapDisplay(values, **look) for title, values in arrays.items()}
    for title, array in arrays.items():
        if array.shape != scene.composite.shape[:2]:
            raise DataError(
                f"map {title!r} has shape {array.shape}, the scene {scene.composite.shape[:2]}"
            )
    figure, axes = _row_of_axes(scene.composite.shape, 1 + len(displays) + (margin is not None))
    scene.plot(ax=axes[0], legend=False, title="scene and labels")
    for ax, (title, display) in zip(axes[1:], displays.items(), strict=False):
        share = (accuracies or {}).get(title)
        heading = title if share is None else f"{title}: {100 * share:.1f} % correct"
        display.plot(ax=ax, legend=False, title=heading)
    if margin is not None:
        MarginMapDisplay(margin).plot(ax=axes[-1], title="margin")
    for ax in axes[1:]:
        ax.set_ylabel("")
    patches = [p for d in displays.values() for p in d.legend_patches(counts=False)]
    _shared_legend(figure, {p.get_label(): p for p in patches})
    lay_out(figure)
    return figure


def _ids_of(*pictures: NDArray[Any]) -> list[int]:
    """Return the sorted ids above 0 that occur in any of the pictures."""
    found = np.unique(np.concatenate([np.unique(p) for p in pictures]))
    return [int(i) for i in found if i > 0]


def _row_of_axes(shape: tuple[int, ...], n: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with ``n`` axes in a row, as high as the pictures need."""
    height = float(np.clip(3.4 * shape[0] / shape[1], 2.0, 8.0))
    figure = new_figure((3.7 * n + 0.6, height + 1.2))
    return figure, list(figure.subplots(1, n, squeeze=False)[0])


def _shared_legend(figure: Figure, patches: Mapping[str, Any]) -> None:
    if patches:
        handles, ncols = list(patches.values()), min(len(patches), 8)
        look: dict[str, Any] = {"loc": "outside lower center", "frameon": False}
        figure.legend(handles=handles, ncols=ncols, fontsize="large", **look)
