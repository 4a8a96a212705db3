"""Pictures of scenes, class maps and margin curves, as display objects in scikit-learn's manner.

A display keeps what it shows and draws it with ``plot(ax=None)``, which returns the display with
``ax_`` and ``figure_`` set. Nothing here calls ``show``; a new figure belongs to no window and to
no global state, so it works without a screen and needs no closing:

    ClassMapDisplay(class_map).plot().figure_.savefig("map.png", dpi=150)

matplotlib is imported inside the functions, for the core runs without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "DEFAULT_PALETTE",
    "ClassMapDisplay",
    "CompositeDisplay",
    "MarginCurveDisplay",
    "MarginMapDisplay",
    "class_palette",
    "plot_side_by_side",
]

# The first seven are Okabe and Ito's; the others were added one by one, each as far as possible
# in CIELAB from all before, from black and from white, in the worst of normal, protanopic and
# deuteranopic vision (Machado, Oliveira and Fernandes 2009).
DEFAULT_PALETTE = (
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#0000FF",
    "#781E00", "#A5F096", "#6969FF", "#4B3C5A", "#3C1EA5", "#E10F4B", "#FFA5B4", "#6996FF",
    "#FF965A", "#A5E1FF", "#003C78", "#780F2D", "#2D3CE1", "#A53C00", "#F0F078", "#3C5AC3",
    "#007878", "#1E783C", "#5A5A87", "#E1F0C3", "#96C387", "#FFA5D2", "#1E3C96", "#5AD269",
)  # fmt: skip


def _require_matplotlib() -> None:
    """Raise with the remedy where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ParameterError(
            "drawing needs matplotlib, which is not installed: pip install 'diffclass[plots]'"
        ) from error


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return ``ax``, or the axes of a new figure that draws without a screen."""
    _require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Pictures keep their proportions, which "constrained" alone does not reckon with: labels clip.
    figure = Figure(figsize=size, layout="compressed")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def _settle(figure: Any) -> None:
    """Lay out a figure of our own once, so that the next drawing cuts off no label.

    The layout measures labels before pictures have their proportions; the second pass is right.
    """
    figure.draw_without_rendering()


def _map_size(shape: tuple[int, ...], extra_width: float, n_listed: int = 0) -> tuple[float, float]:
    """Choose a figure size in inches that follows the picture and holds its legend."""
    aspect = shape[0] / shape[1]
    width = float(np.clip(5.0 / np.sqrt(aspect), 2.5, 8.0))
    height = float(np.clip(width * aspect, 2.0, 8.0)) + 0.8
    return width + extra_width, max(height, 0.24 * n_listed + 0.4)


def _list_beside(ax: Axes, patches: list[Any], *, own_figure: bool) -> Any:
    """Put a legend at the right: the figure's, for which the layout makes room, if it is ours."""
    if own_figure:
        return ax.figure.legend(handles=patches, loc="outside right upper", frameon=False)
    return ax.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
    )


def _label_map_axes(ax: Axes) -> None:
    """Name the pixel axes, in whole pixels."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("column (pixel)")
    ax.set_ylabel("row (pixel)")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def _picture(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return ``values`` as a two-dimensional array or say what it is instead."""
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0:
        raise DataError(
            f"{name} must be a picture of shape (rows, columns), got shape {array.shape}; "
            "reshape the classifier's flat result to the scene's rows and columns"
        )
    return array


def class_palette(
    class_ids: Sequence[int], *, class_colors: Mapping[int, str] | Sequence[Any] | None = None
) -> dict[int, tuple[float, float, float, float]]:
    """Give every class id a colour.

    The file's own colours win; ids without one take the colour-blind-safe default palette
    (Okabe and Ito first) by their place in ``class_ids``.

    Parameters
    ----------
    class_ids : sequence of int, shape (n_classes,)
        Ids as they stand in the map.
    class_colors : mapping of id to colour, or sequence of n_classes colours, optional
        Any colour that matplotlib reads.

    Returns
    -------
    dict
        Id to (red, green, blue, alpha), each 0 to 1.

    Raises
    ------
    ParameterError
        Where a sequence of colours has another length than ``class_ids``, or matplotlib is
        missing.
    """
    _require_matplotlib()
    from matplotlib.colors import to_rgba

    given = _by_id(class_ids, class_colors, "class_colors")
    return {
        i: to_rgba(given.get(i, DEFAULT_PALETTE[place % len(DEFAULT_PALETTE)]))
        for place, i in enumerate(class_ids)
    }


def _by_id(class_ids: Sequence[int], values: Any, name: str) -> dict[int, Any]:
    """Turn a sequence along ``class_ids``, a mapping, or None into a mapping by id."""
    if values is None:
        return {}
    if isinstance(values, Mapping):
        return dict(values)
    if len(values) != len(class_ids):
        raise ParameterError(
            f"{name} has {len(values)} entries for {len(class_ids)} class ids; give one for "
            "each id, or a mapping from id to value"
        )
    return dict(zip(class_ids, values, strict=True))


class ClassMapDisplay:
    """Picture of a class map with its legend.

    Parameters
    ----------
    class_map : array-like of shape (rows, columns), int
        Class ids; 0 and negative ids are pixels without data or without an answer.
    class_ids : sequence of int, optional
        Ids to draw and to list, in the legend's order; by default those above 0 in the map.
    class_names : mapping of id to str, or sequence along ``class_ids``, optional
        Names for the legend; ``class 3`` by default.
    class_colors : mapping of id to colour, or sequence along ``class_ids``, optional
        The file's own colours; the default palette for ids without one.

    Attributes
    ----------
    ax_, figure_, im_, legend_
        What `plot` drew; ``legend_`` is None without a legend.

    Raises
    ------
    DataError
        Where the map is not a picture of whole numbers, or holds ids above 0 that
        ``class_ids`` lacks.
    ParameterError
        Where names or colours do not go with the ids, or matplotlib is missing.
    """

    def __init__(
        self,
        class_map: ArrayLike,
        *,
        class_ids: Sequence[int] | None = None,
        class_names: Mapping[int, str] | Sequence[str] | None = None,
        class_colors: Mapping[int, str] | Sequence[Any] | None = None,
    ) -> None:
        self.class_map = _picture(class_map, "class_map")
        if self.class_map.dtype.kind not in "iub":
            raise DataError(f"class_map must hold whole numbers, got {self.class_map.dtype}")
        present, counts = np.unique(self.class_map, return_counts=True)
        self.counts = {int(i): int(n) for i, n in zip(present, counts, strict=True)}
        drawn = [i for i in self.counts if i > 0]
        self.class_ids = drawn if class_ids is None else [int(i) for i in class_ids]
        unknown = sorted(set(drawn) - set(self.class_ids))
        if unknown:
            raise DataError(f"class_map holds ids {unknown} that class_ids does not list")
        names = _by_id(self.class_ids, class_names, "class_names")
        self.class_names = {i: str(names.get(i, f"class {i}")) for i in self.class_ids}
        self.class_colors = class_palette(self.class_ids, class_colors=class_colors)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        legend: bool = True,
        counts: bool = True,
        title: str | None = None,
    ) -> ClassMapDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Whether to list the classes beside the picture.
        counts : bool, default=True
            Whether the legend tells the number of pixels.
        title : str, optional
            Title of the axes.

        Returns
        -------
        ClassMapDisplay
            This object.
        """
        patches = self.legend_patches(counts=counts) if legend else []
        width = 2.6 if legend else 0.6
        self.ax_ = _axes(ax, _map_size(self.class_map.shape, width, len(patches)))
        self.figure_ = self.ax_.figure
        places = self._places()
        cmap, norm = self._colormap()
        self.im_ = self.ax_.imshow(places, cmap=cmap, norm=norm, interpolation="nearest")
        _label_map_axes(self.ax_)
        if title is not None:
            self.ax_.set_title(title)
        self.legend_ = _list_beside(self.ax_, patches, own_figure=ax is None) if legend else None
        if ax is None:
            _settle(self.figure_)
        return self

    def _places(self) -> np.ma.MaskedArray:
        """Replace each id by its place in ``class_ids``, pixels without a class masked."""
        order = np.argsort(self.class_ids)
        ids = np.asarray(self.class_ids)[order]
        if not len(ids):
            return np.ma.masked_all(self.class_map.shape, dtype=int)
        found = np.clip(np.searchsorted(ids, self.class_map), 0, len(ids) - 1)
        return np.ma.array(order[found], mask=ids[found] != self.class_map)

    def _colormap(self) -> tuple[Any, Any]:
        """Make one colour per class, with bounds halfway between places."""
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


class MarginMapDisplay:
    """Picture of how far the best class leads the second best at each pixel.

    Parameters
    ----------
    margin : array-like of shape (rows, columns), float, 0 to 1
        Difference of the two largest probabilities; NaN where there are no data.

    Attributes
    ----------
    ax_, figure_, im_, colorbar_
        What `plot` drew; ``colorbar_`` is None without one.

    Raises
    ------
    DataError
        Where the margin is not a picture or leaves 0 to 1.
    """

    def __init__(self, margin: ArrayLike) -> None:
        self.margin = _picture(margin, "margin")
        known = self.margin[np.isfinite(self.margin)]
        if known.size and (known.min() < -1e-6 or known.max() > 1 + 1e-6):
            raise DataError(
                f"margin must lie in 0 to 1, got {known.min():.3g} to {known.max():.3g}"
            )

    def plot(
        self,
        *,
        ax: Axes | None = None,
        colorbar: bool = True,
        cmap: str = "cividis",
        title: str | None = None,
    ) -> MarginMapDisplay:
        """Draw the map of margins.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        colorbar : bool, default=True
            Whether to add the scale.
        cmap : str, default="cividis"
            Name of a matplotlib colour map, dark for doubt.
        title : str, optional
            Title of the axes.

        Returns
        -------
        MarginMapDisplay
            This object.
        """
        self.ax_ = _axes(ax, _map_size(self.margin.shape, 1.4))
        self.figure_ = self.ax_.figure
        self.im_ = self.ax_.imshow(
            np.ma.masked_invalid(self.margin), cmap=cmap, vmin=0, vmax=1, interpolation="nearest"
        )
        _label_map_axes(self.ax_)
        if title is not None:
            self.ax_.set_title(title)
        self.colorbar_ = None
        if colorbar:
            # An inset keeps the scale as high as the picture, whatever its proportions.
            self.colorbar_ = self.figure_.colorbar(
                self.im_,
                cax=self.ax_.inset_axes((1.03, 0.0, 0.05, 1.0)),
                label="margin (probability, 0 to 1)",
            )
        if ax is None:
            _settle(self.figure_)
        return self


class MarginCurveDisplay:
    """Mean margin and coverage against diffusion time, with the chosen time.

    Parameters
    ----------
    times : array-like of shape (n_times,), int, at least 1
        Diffusion times in steps, rising.
    margin : array-like of shape (n_times,), 0 to 1
        Mean margin over the points at each time.
    coverage : array-like of shape (n_times,), 0 to 1, optional
        Share of the pairs of point and class that labels have reached.
    tau : int, optional
        The chosen time.

    Attributes
    ----------
    ax_, coverage_ax_, figure_, line_, coverage_line_, tau_line_
        What `plot` drew; None where there was nothing to draw.

    Raises
    ------
    DataError
        Where the arrays differ in length.
    """

    def __init__(
        self,
        times: ArrayLike,
        margin: ArrayLike,
        coverage: ArrayLike | None = None,
        tau: float | None = None,
    ) -> None:
        self.times = np.asarray(times)
        self.margin = np.asarray(margin)
        self.coverage = None if coverage is None else np.asarray(coverage)
        self.tau = tau
        curves = [self.margin] + ([] if self.coverage is None else [self.coverage])
        if self.times.ndim != 1 or any(c.shape != self.times.shape for c in curves):
            raise DataError(
                f"times, margin and coverage must have one shape (n_times,), got "
                f"{self.times.shape} and {[c.shape for c in curves]}"
            )

    @classmethod
    def from_estimator(cls, clf: Any, *, ax: Axes | None = None) -> MarginCurveDisplay:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        clf : DiffusionClassifier
            Fitted; ``margin_curve_`` with ``times``, ``margin``, ``coverage``, and ``tau_``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginCurveDisplay
            The display, drawn.

        Raises
        ------
        ParameterError
            Where the classifier has no ``margin_curve_``.
        """
        curve = getattr(clf, "margin_curve_", None)
        if curve is None:
            raise ParameterError(
                f"{type(clf).__name__} has no margin_curve_: fit it first, with tau='margin'"
            )
        return cls(curve.times, curve.margin, curve.coverage, clf.tau_).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None, legend: bool = True) -> MarginCurveDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Whether to name the lines.

        Returns
        -------
        MarginCurveDisplay
            This object.
        """
        self.ax_ = _axes(ax, (6.4, 4.4))
        self.figure_ = self.ax_.figure
        (self.line_,) = self.ax_.plot(
            self.times, self.margin, color="#0072B2", marker="o", markersize=4, label="mean margin"
        )
        self.ax_.set_xscale("log", base=2)
        self.ax_.set_xlabel("diffusion time t (steps)")
        self.ax_.set_ylabel("mean margin (probability, 0 to 1)")
        self.ax_.set_ylim(0, None)
        self.ax_.xaxis.set_major_formatter("{x:g}")
        self._plot_coverage()
        self.tau_line_ = None
        if self.tau is not None:
            self.tau_line_ = self.ax_.axvline(
                self.tau, color="0.25", linestyle="--", label=f"chosen time tau = {self.tau:g}"
            )
        self.legend_ = self._legend() if legend else None
        return self

    def _plot_coverage(self) -> None:
        """Draw the coverage on an axis of its own at the right."""
        self.coverage_ax_ = self.coverage_line_ = None
        if self.coverage is None:
            return
        self.coverage_ax_ = self.ax_.twinx()
        (self.coverage_line_,) = self.coverage_ax_.plot(
            self.times, self.coverage, color="#D55E00", marker="s", markersize=3, label="coverage"
        )
        self.coverage_ax_.set_ylabel("coverage (share reached, 0 to 1)")
        self.coverage_ax_.set_ylim(0, 1.05)

    def _legend(self) -> Any:
        """List all lines above the axes, where they cannot hide a curve."""
        lines = [self.line_, self.coverage_line_, self.tau_line_]
        handles = [line for line in lines if line is not None]
        return self.ax_.legend(
            handles=handles,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.01),
            ncols=len(handles),
            frameon=False,
        )


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
        spectrum, the last third as red (wavelengths rise with the index).
    class_ids, class_names, class_colors
        As in `ClassMapDisplay`, for the strokes.

    Attributes
    ----------
    ax_, figure_, im_, legend_, strokes_
        What `plot` drew; ``strokes_`` is the `ClassMapDisplay` of the strokes, None without.

    Raises
    ------
    DataError
        Where the shapes of image and labels disagree.
    ParameterError
        Where ``bands`` are not three indices of bands.
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
        self.composite = _stretched(cube[..., self.bands])
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
        self.ax_ = _axes(ax, _map_size(self.composite.shape, width, len(patches)))
        self.figure_ = self.ax_.figure
        self.im_ = self.ax_.imshow(self.composite, interpolation="nearest")
        if self.strokes_ is not None:
            self._outline(self.strokes_)
            self.strokes_.plot(ax=self.ax_, legend=False)
        self.legend_ = _list_beside(self.ax_, patches, own_figure=ax is None) if patches else None
        _label_map_axes(self.ax_)
        if title is not None:
            self.ax_.set_title(title)
        if ax is None:
            _settle(self.figure_)
        return self

    def _outline(self, strokes: ClassMapDisplay) -> None:
        """Put a white halo under the strokes, so that they show on any ground."""
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


def _stretched(composite: NDArray[Any]) -> NDArray[np.float32]:
    """Stretch each channel from its 2nd to its 98th percentile; missing pixels go neutral."""
    values = composite.astype(np.float32)
    missing = ~np.isfinite(values).all(axis=-1)
    if missing.all():
        return np.full(values.shape, 0.85, dtype=np.float32)
    low, high = np.percentile(values[~missing], (2, 98), axis=0)
    # A constant channel has no contrast to stretch and is drawn dark.
    stretched = np.clip((values - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)
    stretched[missing] = 0.85
    return stretched.astype(np.float32)


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

    Figure 5 of Coifman et al. (2005) for any scene: one legend serves all pictures.

    Parameters
    ----------
    image : array-like of shape (rows, columns, bands)
        The scene.
    labels : array-like of shape (rows, columns), int
        Strokes, 0 = none.
    maps : mapping of title to array-like of shape (rows, columns), int
        Class maps, such as those of 1-NN and of diffusion, in the order drawn.
    margin : array-like of shape (rows, columns), 0 to 1, optional
        Margin of the last map.
    accuracies : mapping of title to float, 0 to 1, optional
        Overall accuracy of the maps, written under their titles in percent.
    class_names, class_colors
        As in `ClassMapDisplay`; sequences go along the sorted ids of all maps and strokes.
    bands : sequence of 3 ints, optional
        As in `CompositeDisplay`.

    Returns
    -------
    matplotlib Figure
        Ready for ``savefig``.

    Raises
    ------
    DataError
        Where a picture is no picture, or shapes disagree.
    ParameterError
        Where names or colours do not go with the ids, or matplotlib is missing.
    """
    arrays = {title: _picture(values, title) for title, values in maps.items()}
    ids = _ids_of(_picture(labels, "labels"), *arrays.values())
    look: dict[str, Any] = {
        "class_ids": ids, "class_names": class_names, "class_colors": class_colors
    }  # fmt: skip
    scene = CompositeDisplay(image, labels, bands=bands, **look)
    displays = {title: ClassMapDisplay(values, **look) for title, values in arrays.items()}
    _same_shape(scene.composite.shape[:2], arrays)
    figure, axes = _row_of_axes(scene.composite.shape, 1 + len(displays) + (margin is not None))
    scene.plot(ax=axes[0], legend=False, title="scene and labels")
    for ax, (title, display) in zip(axes[1:], displays.items(), strict=False):
        display.plot(ax=ax, legend=False, title=_with_accuracy(title, accuracies))
    if margin is not None:
        MarginMapDisplay(margin).plot(ax=axes[-1], title="margin")
    for ax in axes[1:]:
        ax.set_ylabel("")
    patches = [p for d in displays.values() for p in d.legend_patches(counts=False)]
    _shared_legend(figure, {p.get_label(): p for p in patches})
    _settle(figure)
    return figure


def _ids_of(*pictures: NDArray[Any]) -> list[int]:
    """Return the sorted ids above 0 that occur in any of the pictures."""
    found = np.unique(np.concatenate([np.unique(p) for p in pictures]))
    return [int(i) for i in found if i > 0]


def _same_shape(shape: tuple[int, ...], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse maps that are not the scene's."""
    for title, array in arrays.items():
        if array.shape != shape:
            raise DataError(f"map {title!r} has shape {array.shape}, the scene {shape}")


def _row_of_axes(shape: tuple[int, ...], n: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with ``n`` axes in a row, as high as the pictures need."""
    _require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = float(np.clip(3.4 * shape[0] / shape[1], 2.0, 8.0))
    figure = Figure(figsize=(3.7 * n + 0.6, height + 1.2), layout="compressed")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, n, squeeze=False)[0])


def _with_accuracy(title: str, accuracies: Mapping[str, float] | None) -> str:
    """Write the accuracy after the title."""
    if accuracies is None or title not in accuracies:
        return title
    return f"{title}: {100 * accuracies[title]:.1f} % correct"


def _shared_legend(figure: Figure, patches: Mapping[str, Any]) -> None:
    """Put one legend below all pictures, where the layout makes room for it."""
    if patches:
        figure.legend(
            handles=list(patches.values()), loc="outside lower center",
            ncols=min(len(patches), 8), frameon=False, fontsize="large",
        )  # fmt: skip
