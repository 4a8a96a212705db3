"""What all displays share: axes, layout, legends, pixel axes, and the colours of classes."""

from __future__ import annotations

import colorsys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


def require_matplotlib() -> None:
    """Raise a `ParameterError` that says how to install matplotlib, if it is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ParameterError(
            "drawing needs matplotlib, which is not installed: pip install 'diffclass[plots]'"
        ) from error


def uncovered(values: ArrayLike, dtype: type | None = None) -> NDArray[Any]:
    """Return an array, of a type if one is given to masked ones; masked entries are missing.

    They are NaN, or 0, no class, among whole numbers.
    """
    if not np.ma.isMaskedArray(values):
        return np.asarray(values)
    array = np.ma.asarray(values) if dtype is None else np.ma.asarray(values).astype(dtype)
    return np.ma.filled(array, np.nan if array.dtype.kind == "f" else 0)


def new_figure(size: tuple[float, float] = (6.4, 4.8), *, layout: Any = "compressed") -> Figure:
    """Make a white figure of ``size`` inches, 100 dots each, that draws without a screen.

    The default layout suits pictures, which keep their proportions: "constrained" ignores that and
    clips labels.

    Examples
    --------
    >>> from diffclass.plots import new_figure
    >>> figure = new_figure((4, 3))
    >>> axes = figure.subplots()
    >>> figure.get_size_inches() * figure.dpi
    array([400., 300.])
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout=layout, dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


class Display(ABC):
    """Data and how to draw them.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by `plot`.
    """

    ax_: Any
    figure_: Any
    projection: str | None = None  # of the axes
    size = (6.4, 4.4)  # of a new figure, in inches

    def plot(
        self, ax: Axes | None = None, *, legend: bool = True, title: str | None = None
    ) -> Self:
        """Draw on given axes, or on those of a new figure, which belongs to no window.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        legend : bool, default=True
            Whether to draw the legend or the colour bar, if the display has one.
        title : str, optional

        Raises
        ------
        ParameterError
            If matplotlib is missing, or ``ax`` has another projection than the display.
        """
        require_matplotlib()
        self.figure_is_own = ax is None
        if ax is None:
            ax = new_figure(self._size(legend)).add_subplot(projection=self.projection)
        self.ax_ = ax
        self.figure_ = ax.figure
        self._draw(legend)
        if title is not None:
            self._set_title(title)
        if self.figure_is_own:
            lay_out(self.figure_)
        return self

    @abstractmethod
    def _draw(self, legend: bool) -> None:
        """Draw on ``ax_``."""

    def _size(self, legend: bool) -> tuple[float, float]:
        """Return the size of a new figure in inches."""
        return self.size

    def _set_title(self, title: str) -> None:
        self.ax_.set_title(title)

    def _legend_at_right(self, handles: list[Any]) -> Legend:
        """List the handles at the right; an own figure makes room for them."""
        if self.figure_is_own:
            return self.figure_.legend(handles=handles, loc="outside right upper", frameon=False)
        return self.ax_.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            borderaxespad=0.0,
            frameon=False,
        )

    def _legend_above(self, handles: list[Any], *, columns: int) -> Legend:
        """List the handles that are not None above the axes, where they hide no curve."""
        return self.ax_.legend(
            handles=[handle for handle in handles if handle is not None],
            loc="lower center",
            bbox_to_anchor=(0.5, 1.01),
            ncols=columns,
            frameon=False,
        )


def fitted(estimator: Any, name: str, *, how: str = "") -> Any:
    """Return what an estimator has found, or raise a `ParameterError` that it is not fitted."""
    found = getattr(estimator, name, None)
    if found is None:
        raise ParameterError(f"{type(estimator).__name__} has no {name}: fit it first{how}")
    return found


def lay_out(figure: Any) -> None:
    """Lay out a new figure once: labels are measured before pictures have their proportions."""
    figure.draw_without_rendering()


def map_size(shape: tuple[int, ...], extra_width: float, n_listed: int = 0) -> tuple[float, float]:
    """Choose a figure size in inches that follows the picture and holds its legend."""
    aspect = shape[0] / shape[1]
    width = float(np.clip(5.0 / np.sqrt(aspect), 2.5, 8.0))
    height = float(np.clip(width * aspect, 2.0, 8.0)) + 0.8
    return width + extra_width, max(height, 0.24 * n_listed + 0.4)


def label_map_axes(ax: Axes) -> None:
    """Name the pixel axes, in whole pixels.

    Examples
    --------
    >>> from diffclass.plots import label_map_axes, new_figure
    >>> axes = new_figure().subplots()
    >>> label_map_axes(axes)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('column (pixel)', 'row (pixel)')
    """
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("column (pixel)")
    ax.set_ylabel("row (pixel)")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))


# The first seven are those of Okabe and Ito. The others were added one by one, each as far as
# possible from all before, from black and from white, in the worst of normal, protanopic and
# deuteranopic vision (Machado, Oliveira and Fernandes 2009). Any two differ by 10 or more by
# CIEDE2000.
DEFAULT_PALETTE = (
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#0000FF",
    "#781E00", "#A5F096", "#6969FF", "#4B3C5A", "#3C1EA5", "#E10F4B", "#FFA5B4", "#6996FF",
    "#FF965A", "#A5E1FF", "#003C78", "#780F2D", "#A53C00", "#3C5AC3", "#007878", "#1E783C",
    "#5A5A87", "#E1F0C3", "#96C387", "#1EE1D2", "#00003C", "#96695A", "#2D001E", "#C30096",
    "#9687C3", "#004B3C", "#F0695A", "#694B2D", "#874B69", "#3C1E00", "#00A5A5", "#5A005A",
    "#2D9600", "#B4C3FF", "#87965A", "#FF2D87", "#F0C3A5", "#B4FFE1", "#C34BD2", "#D2B4E1",
    "#E1C378", "#3C0F0F", "#5A691E", "#004B0F", "#960FFF", "#A5873C", "#5AC3D2", "#B44B3C",
    "#87C3B4", "#FF4BD2", "#5AC33C", "#B4D23C", "#F0FF96", "#96FFFF", "#3CC396", "#F07887",
)  # fmt: skip
SKY_BLUE, BLUE, VERMILION = DEFAULT_PALETTE[1], DEFAULT_PALETTE[4], DEFAULT_PALETTE[5]


def default_color(place: int) -> str:
    """Return the colour of the class at a place of a list, in which no two are alike.

    After the palette come more than can be told apart: hues by the golden ratio, in three
    lightnesses.

    Parameters
    ----------
    place : int
        From 0.

    Returns
    -------
    str
        As "#E69F00".

    Examples
    --------
    >>> from diffclass.plots import default_color
    >>> default_color(1), default_color(99)
    ('#56B4E9', '#B52DD2')
    """
    if place < len(DEFAULT_PALETTE):
        return DEFAULT_PALETTE[place]
    hue = ((place + 1) * 0.6180339887) % 1.0
    channels = colorsys.hls_to_rgb(hue, (0.35, 0.5, 0.65)[(place + 1) % 3], 0.65)
    return "#{:02X}{:02X}{:02X}".format(*(round(255 * value) for value in channels))


def class_palette(
    class_ids: Sequence[int], *, class_colors: Mapping[int, str] | Sequence[Any] | None = None
) -> dict[int, tuple[float, float, float, float]]:
    """Give every class id a colour.

    Ids without a given one take the default palette, which is safe for the colour-blind, by their
    index.

    Parameters
    ----------
    class_ids : sequence of int, shape (n_classes,)
    class_colors : mapping of id to colour, or sequence of n_classes colours, optional
        Any colour that matplotlib reads.

    Returns
    -------
    dict
        Id to (red, green, blue, alpha), each 0 to 1.

    Raises
    ------
    ParameterError
        If a sequence of colours has another length than ``class_ids``, or matplotlib is missing.

    Examples
    --------
    >>> from diffclass.plots import class_palette
    >>> class_palette([3, 7], class_colors={7: "black"})
    {3: (0.9019607843137255, 0.6235294117647059, 0.0, 1.0), 7: (0.0, 0.0, 0.0, 1.0)}
    """
    require_matplotlib()
    from matplotlib.colors import to_rgba

    given = by_id(class_ids, class_colors, "class_colors")
    return {i: to_rgba(given.get(i, default_color(place))) for place, i in enumerate(class_ids)}


def by_id(class_ids: Sequence[int], values: Any, name: str) -> dict[int, Any]:
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
