"""Axes to draw on: given ones, or those of a new figure, laid out so that nothing is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from diffclass.exceptions import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


def require_matplotlib() -> None:
    """Raise a `ParameterError` that says how to install matplotlib, if it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ParameterError(
            "drawing needs matplotlib, which is not installed: pip install 'diffclass[plots]'"
        ) from error


def new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure of ``size`` inches that draws without a screen."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Pictures keep their proportions; the "constrained" layout ignores that and clips labels.
    figure = Figure(figsize=size, layout="compressed")
    FigureCanvasAgg(figure)
    return figure


def axes_or_new(
    ax: Axes | None, size: tuple[float, float], *, projection: str | None = None
) -> Axes:
    """Return ``ax``, or the axes of a new figure that draws without a screen."""
    require_matplotlib()
    if ax is not None:
        return ax
    return new_figure(size).add_subplot(projection=projection)


def lay_out(figure: Any) -> None:
    """Lay out a new figure once, so that the next drawing cuts off no label.

    The first pass measures labels before pictures have their proportions; the second is right.
    """
    figure.draw_without_rendering()


def map_size(shape: tuple[int, ...], extra_width: float, n_listed: int = 0) -> tuple[float, float]:
    """Choose a figure size in inches that follows the picture and holds its legend."""
    aspect = shape[0] / shape[1]
    width = float(np.clip(5.0 / np.sqrt(aspect), 2.5, 8.0))
    height = float(np.clip(width * aspect, 2.0, 8.0)) + 0.8
    return width + extra_width, max(height, 0.24 * n_listed + 0.4)


def list_beside(ax: Axes, patches: list[Any], *, own_figure: bool) -> Legend:
    """Put a legend at the right; the layout of an own figure makes room for it."""
    if own_figure:
        return ax.figure.legend(handles=patches, loc="outside right upper", frameon=False)
    return ax.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
    )


def list_above(ax: Axes, handles: list[Any], *, columns: int) -> Legend:
    """Put a legend above the axes, where it cannot hide a curve."""
    return ax.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.01),
        ncols=columns,
        frameon=False,
    )


def label_map_axes(ax: Axes) -> None:
    """Name the pixel axes, in whole pixels."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("column (pixel)")
    ax.set_ylabel("row (pixel)")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
