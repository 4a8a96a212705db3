"""A scene, its class maps and the margin in one row, under one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError
from diffclass.plots.class_maps import ClassMapDisplay, MarginMapDisplay, picture
from diffclass.plots.composite import CompositeDisplay
from diffclass.plots.display import lay_out, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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

    Returns
    -------
    matplotlib Figure
        Ready for ``savefig``.

    Raises
    ------
    DataError
        If a map is not a picture, or shapes disagree.
    ParameterError
        If names or colours do not match the ids, or matplotlib is missing.
    """
    arrays = {title: picture(values, title) for title, values in maps.items()}
    ids = _ids_of(picture(labels, "labels"), *arrays.values())
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
    lay_out(figure)
    return figure


def _ids_of(*pictures: NDArray[Any]) -> list[int]:
    """Return the sorted ids above 0 that occur in any of the pictures."""
    found = np.unique(np.concatenate([np.unique(p) for p in pictures]))
    return [int(i) for i in found if i > 0]


def _same_shape(shape: tuple[int, ...], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse maps of another shape than the scene."""
    for title, array in arrays.items():
        if array.shape != shape:
            raise DataError(f"map {title!r} has shape {array.shape}, the scene {shape}")


def _row_of_axes(shape: tuple[int, ...], n: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with ``n`` axes in a row, as high as the pictures need."""
    height = float(np.clip(3.4 * shape[0] / shape[1], 2.0, 8.0))
    figure = new_figure((3.7 * n + 0.6, height + 1.2))
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
