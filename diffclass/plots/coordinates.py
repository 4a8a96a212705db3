"""Points at their diffusion coordinates, in one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.display import BLUE, Display, class_palette, fitted, uncovered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from diffclass.embedding import DiffusionMap

_UNLABELLED_COLOR = "0.75"
_MANY_POINTS = 20_000  # above which points are small dots and stay pixels in vector formats


class EmbeddingDisplay(Display):
    """Scatter of diffusion coordinates, coloured by a number or by class.

    Parameters
    ----------
    coordinates : array-like of shape (n, n_components), float
        Diffusion coordinates, one row per point; rows with NaN are not drawn.
    values : array-like of shape (n,), float, optional
        A number per point: its colour or, if one coordinate is drawn, its position. Points of
        value NaN are grey, or not drawn if the value is the position.
    values_label : str, optional
        Name of ``values``, with their unit; "value" by default.
    y : array-like of shape (n,), int or str, optional
        Class of each point; -1, None and NaN are unlabelled, drawn in grey behind the others.
    classes : sequence of classes, or mapping of class to name, optional
        Classes in the order of the legend and of the colours; by default those in ``y``, sorted.
    components : sequence of 1 to 3 ints, optional
        Columns to draw, counted from 0: one against the values (or the number of the point), two
        in the plane or three in space with equal units on all axes. By default all columns if
        there are up to three, otherwise the first two.
    cmap : str, default="viridis"
        Colours of the values.

    Attributes
    ----------
    points_, unlabelled_, colorbar_, legend_
        What `plot` drew; ``points_`` and ``unlabelled_`` are collections, ``unlabelled_`` None
        if every point has a colour, ``colorbar_`` None without values as colours, ``legend_``
        None without classes.

    Raises
    ------
    DataError
        If coordinates are not a table of numbers, values or y are not one per point, or y holds
        classes that ``classes`` lacks.
    ParameterError
        If the components are not 1 to 3 different columns, or values and y would both set
        the colour.

    See Also
    --------
    EigenvaluesDisplay : How many coordinates count, and at which time.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import DiffusionMap
    >>> from diffclass.plots import EmbeddingDisplay
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0], [2]], 30, axis=0)
    >>> fitted = DiffusionMap(2, n_neighbors=20).fit(X)
    >>> display = EmbeddingDisplay.from_estimator(fitted, y=np.repeat(["corn", "soy"], 30))
    >>> [text.get_text() for text in display.legend_.get_texts()], display.ax_.get_xlabel()
    (['corn', 'soy'], 'diffusion coordinate 1')
    """

    def __init__(
        self,
        coordinates: ArrayLike,
        *,
        values: ArrayLike | None = None,
        values_label: str | None = None,
        y: ArrayLike | None = None,
        classes: Sequence[Any] | Mapping[Any, str] | None = None,
        components: Sequence[int] | None = None,
        cmap: str = "viridis",
    ) -> None:
        self.coordinates = _numbers(coordinates, "coordinates")
        shape = self.coordinates.shape
        if len(shape) != 2 or 0 in shape:
            raise DataError(
                f"coordinates must have shape (n, n_components), got {shape}; "
                "a single column is coordinates[:, None]"
            )
        self.values = None if values is None else _numbers(values, "values")
        if self.values is not None and self.values.shape != shape[:1]:
            raise DataError(f"values have shape {self.values.shape} for {shape[0]} points")
        self.values_label = "value" if values_label is None else values_label
        self.codes: NDArray[Any] | None = None
        self.class_names: list[str] = []
        if y is not None:
            self.codes, self.class_names = _coded(y, classes, n_points=shape[0])
        self.components = self._columns(components)
        self.projection = "3d" if len(self.components) == 3 else None
        self.cmap = cmap
        if len(self.components) > 1 and values is not None and y is not None:
            raise ParameterError(
                "values and y would both set the points' colour; give one of them, or draw one "
                "component, which takes its position from values and its colour from y"
            )

    @classmethod
    def from_estimator(
        cls, diffusion_map: DiffusionMap, *, ax: Axes | None = None, **options: Any
    ) -> EmbeddingDisplay:
        """Draw the embedding of a diffusion map; `ParameterError` if it is not fitted.

        ``options`` are those of the class.
        """
        return cls(fitted(diffusion_map, "embedding_"), **options).plot(ax)

    def _size(self, legend: bool) -> tuple[float, float]:
        has_key = legend and (self.codes is not None or self.values is not None)
        n_listed = len(self.class_names) + 1 if legend else 0
        return 7.4 if has_key else 6.0, max(5.0, 0.24 * n_listed + 0.4)

    def _draw(self, legend: bool) -> None:
        if (self.ax_.name == "3d") != (self.projection == "3d"):
            raise ParameterError(
                f"ax has projection {self.ax_.name!r} for {len(self.components)} components; "
                "three need add_subplot(projection='3d'), fewer a plain one"
            )
        self._scatter()
        self._label_axes()
        self.colorbar_: Any = None
        self.legend_: Any = None
        if legend:
            self._add_key()

    def _columns(self, components: Sequence[int] | None) -> list[int]:
        n_columns = self.coordinates.shape[1]
        if components is None:
            return list(range(n_columns if n_columns <= 3 else 2))
        chosen = [int(c) for c in components]
        valid = all(0 <= c < n_columns for c in chosen) and len(set(chosen)) == len(chosen)
        if not (valid and 1 <= len(chosen) <= 3):
            raise ParameterError(
                f"components must be 1 to 3 different columns from 0 to {n_columns - 1}, "
                f"got {chosen}"
            )
        return chosen

    def _positions(self) -> NDArray[Any]:
        """Return the positions of the points, of shape (n, 2) or (n, 3)."""
        columns = self.coordinates[:, self.components]
        if columns.shape[1] > 1:
            return columns
        n = len(columns)
        return np.column_stack([np.arange(n) if self.values is None else self.values, columns])

    def _colors(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return a number or colour of each point, and which points have one."""
        n = len(self.coordinates)
        if self.codes is not None:
            palette = class_palette(range(len(self.class_names))) or {0: (0.0, 0.0, 0.0, 0.0)}
            known = self.codes >= 0
            return np.array(list(palette.values()))[np.where(known, self.codes, 0)], known
        if self.values is not None and len(self.components) > 1:
            return self.values, np.isfinite(self.values)
        from matplotlib.colors import to_rgba

        return np.tile(to_rgba(BLUE), (n, 1)), np.ones(n, dtype=bool)

    def _scatter(self) -> None:
        """Draw the points without a colour, then all others as one collection."""
        places = self._positions()
        drawn = np.isfinite(places).all(axis=1)
        colors, known = self._colors()
        look: dict[str, Any] = {"s": _dot_area(len(places)), "linewidths": 0}
        look["rasterized"] = len(places) > _MANY_POINTS
        self.unlabelled_: Any = None
        behind, front = places[drawn & ~known], drawn & known
        if len(behind):
            self.unlabelled_ = self.ax_.scatter(
                *behind.T, color=_UNLABELLED_COLOR, zorder=1, **look
            )
            if self.projection == "3d":
                # by default mplot3d orders collections by depth and ignores zorder
                self.ax_.computed_zorder = False
        look |= {"cmap": self.cmap} if colors.ndim == 1 else {}
        self.points_ = self.ax_.scatter(*places[front].T, c=colors[front], zorder=2, **look)

    def _label_axes(self) -> None:
        """Label the axes; coordinates share one unit, because their distances have a meaning."""
        names = [f"diffusion coordinate {c + 1}" for c in self.components]
        if len(names) == 1:
            names.insert(0, "point number" if self.values is None else self.values_label)
        elif len(names) == 2:
            # the box keeps its shape: the second coordinate may vary much less than the first
            self.ax_.set_aspect("equal", adjustable="datalim")
        else:
            self._set_up_space(names[2])
        self.ax_.set_xlabel(names[0])
        self.ax_.set_ylabel(names[1])

    def _set_up_space(self, name: str) -> None:
        """Give the three axes equal units, and room for labels, which the layout ignores."""
        from matplotlib.ticker import MaxNLocator

        self.ax_.set_aspect("equal", adjustable="datalim")
        self.ax_.set_box_aspect(None, zoom=0.92)
        self.ax_.set_zlabel(name)
        for axis in (self.ax_.xaxis, self.ax_.yaxis, self.ax_.zaxis):
            axis.labelpad = 8
            axis.set_major_locator(MaxNLocator(5))

    def _add_key(self) -> None:
        if self.codes is not None:
            self.legend_ = self._legend_at_right(self._class_marks())
        elif self.points_.get_array() is not None:
            in_space = self.ax_.name == "3d"
            shrink, pad = (0.75, 0.12) if in_space else (1.0, 0.03)
            self.colorbar_ = self.figure_.colorbar(
                self.points_, ax=self.ax_, label=self.values_label, shrink=shrink, pad=pad
            )

    def _class_marks(self) -> list[Any]:
        from matplotlib.lines import Line2D

        colors: list[Any] = list(class_palette(range(len(self.class_names))).values())
        names = list(self.class_names)
        if self.unlabelled_ is not None:
            colors, names = [*colors, _UNLABELLED_COLOR], [*names, "unlabelled"]
        return [
            Line2D([], [], linestyle="none", marker="o", markersize=6, color=color, label=name)
            for color, name in zip(colors, names, strict=True)
        ]


def _numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return real numbers as floats, or raise an error with their type."""
    array = uncovered(values, float)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} must be real numbers, got {array.dtype}; classes are given by y=")
    return array.astype(float)


def _coded(
    y: ArrayLike, classes: Sequence[Any] | Mapping[Any, str] | None, *, n_points: int
) -> tuple[NDArray[Any], list[str]]:
    """Return each point's index in the legend, -1 for unlabelled, and the names in the legend."""
    # imports scikit-learn, which a class map alone does not need
    from diffclass.targets import encode_labels

    found, codes = encode_labels(y)
    if len(codes) != n_points:
        raise DataError(f"y has {len(codes)} labels for {n_points} points")
    if classes is None:
        return codes, [str(c) for c in found]
    places = {c: place for place, c in enumerate(classes)}
    unknown = [c for c in found.tolist() if c not in places]
    if unknown:
        raise DataError(f"y holds classes {unknown} that classes does not list")
    names = classes.values() if isinstance(classes, Mapping) else classes
    # one entry more: the code -1 looks up the last
    lookup = np.array([*(places[c] for c in found.tolist()), -1])
    return lookup[codes], [str(name) for name in names]


def _dot_area(n: int) -> float:
    return 1.0 if n > _MANY_POINTS else float(np.clip(12000.0 / n, 4.0, 24.0))
