"""Where the pixels of a picture lie: an affine transform and a coordinate reference system.

Pixel (row, column) has its upper left corner at x = a column + b row + c and
y = d column + e row + f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.exceptions import DiffclassError
from diffclass_hyperspectral.io.georeference.coordinate_systems import parsed_crs, with_projections
from diffclass_hyperspectral.io.libraries import require

# Indexes rows and columns of a picture; the step -1 reverses them.
Turn = tuple[slice, slice]


@dataclass(frozen=True)
class Georeference:
    """Map coordinates of a raster.

    Attributes
    ----------
    transform : tuple of six float
        (a, b, c, d, e, f) as in rasterio's ``Affine``: x = a column + b row + c,
        y = d column + e row + f, of a pixel's upper left corner.
    crs : str or None
        ``"EPSG:32633"`` or well-known text; None where the file does not say.

    Examples
    --------
    >>> place = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")
    >>> place.bounds((10, 20))
    (500000.0, 5399700.0, 500600.0, 5400000.0)
    """

    transform: tuple[float, float, float, float, float, float]
    crs: str | None = None

    def bounds(self, shape: Sequence[int]) -> tuple[float, float, float, float]:
        """Return (left, bottom, right, top) of a raster of ``shape`` (rows, columns)."""
        a, b, c, d, e, f = self.transform
        corners = [(i, j) for i in (0, shape[0]) for j in (0, shape[1])]
        xs = [a * j + b * i + c for i, j in corners]
        ys = [d * j + e * i + f for i, j in corners]
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def pixel_area(self) -> float | None:
        """Square metres of a pixel, or None where the system is none of lengths or unknown."""
        a, b, _, d, e, _ = self.transform
        try:
            crs = parsed_crs(self.crs)
            if crs is None or not crs.is_projected:
                return None
            with with_projections():
                metres = float(crs.linear_units_factor[1])
        except (DiffclassError, ValueError):  # no rasterio, or a system that it does not know
            return None
        return abs(a * e - b * d) * metres**2

    @property
    def affine(self) -> Any:
        """The transform as rasterio takes it."""
        return require("rasterio.transform", extra="maps").Affine(*self.transform)

    def centre(self, row: float, column: float) -> tuple[float, float]:
        """Return x and y of the centre of a pixel, counted from 0."""
        a, b, c, d, e, f = self.transform
        right, down = column + 0.5, row + 0.5
        return a * right + b * down + c, d * right + e * down + f

    def reversed(self, shape: Sequence[int], turn: Turn) -> Georeference:
        """Return where a picture of ``shape`` lies once its rows or columns are reversed.

        Examples
        --------
        >>> place = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6))
        >>> place.reversed((10, 20), (slice(None, None, -1), slice(None))).transform
        (30.0, -0.0, 500000.0, 0.0, 30.0, 5399700.0)
        """
        a, b, c, d, e, f = self.transform
        if turn[0].step == -1:
            b, c, e, f = -b, c + b * shape[0], -e, f + e * shape[0]
        if turn[1].step == -1:
            a, c, d, f = -a, c + a * shape[1], -d, f + d * shape[1]
        return Georeference((a, b, c, d, e, f), self.crs)


@dataclass(frozen=True, eq=False)
class UnevenCentres:
    """Centres of rows and columns that lie on no even grid, as after a choice of rows.

    Attributes
    ----------
    y, x : ndarray of float of shape (rows,) and (columns,)
        Where one has none, pixels are counted.
    reason : str
        What is uneven, for messages.
    """

    y: np.ndarray
    x: np.ndarray
    reason: str

    def is_as(self, other: UnevenCentres) -> bool:
        """Tell whether two pictures have the same centres."""
        pairs = ((self.y, other.y), (self.x, other.x))
        return all(np.array_equal(one, another) for one, another in pairs)
