"""Lookup tables between a sensor's grid and a map: orthorectification.

A table says for every cell of a map grid which pixel of the sensor is nearest. Maps are carried
over by nearest neighbour, so that no new value arises; labels are carried back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.io.georeference.georeference import MapInfo, georeference_of
from diffclass_hyperspectral.io.georeference.votes import Votes


@dataclass(frozen=True, eq=False)
class LookupTable:
    """Which pixel of the sensor is nearest to each cell of a map; a grid for `read_labels`.

    Attributes
    ----------
    rows, columns : ndarray of int of shape (map rows, map columns)
        Of the sensor's grid, from 0; -1 where there is none.
    sensor_shape : tuple of int
        Rows and columns of the scene.
    map_info : MapInfo
        Coordinates of the map grid.
    path : Path

    Examples
    --------
    A sensor that flew from right to left:

    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_hyperspectral import LookupTable
    >>> from diffclass_hyperspectral.io.georeference import MapInfo
    >>> rows, columns = np.array([[0, 0], [1, -1]]), np.array([[1, 0], [1, -1]])
    >>> table = LookupTable(rows, columns, (2, 2), MapInfo(()), Path("emit.nc"))
    >>> table.to_map(np.array([[5, 6], [7, 8]])).tolist()
    [[6, 5], [8, 0]]
    """

    rows: np.ndarray
    columns: np.ndarray
    sensor_shape: tuple[int, int]
    map_info: MapInfo
    path: Path

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        rows, columns = self.rows.shape
        return rows, columns

    def to_map(self, array: np.ndarray, *, fill: float = 0) -> np.ndarray:
        """Return an array (rows, columns) or with bands of the sensor's grid on the map.

        ``fill`` stands where there is no pixel. `ParameterError`: it is not as large as the scene.

        Examples
        --------
        >>> corner = np.array([[1, 0], [-1, 0]])
        >>> table = LookupTable(corner, corner, (2, 2), MapInfo(()), Path("emit.nc"))
        >>> table.to_map(np.array([[7, 0], [0, 9]])).tolist()
        [[9, 7], [0, 7]]
        """
        if array.shape[:2] != self.sensor_shape:
            raise ParameterError(
                f"array has {array.shape[:2]} rows and columns, the scene of {self.path} "
                f"{self.sensor_shape}"
            )
        there = self.rows >= 0
        out = np.full((*self.shape, *array.shape[2:]), fill, dtype=array.dtype)
        out[there] = array[self.rows[there], self.columns[there]]
        return out

    def centre(self, row: int, column: int) -> tuple[float, float] | None:
        """Return the mean x and y of the cells that a pixel is nearest to, None without any."""
        place = georeference_of(self.map_info)
        cells = np.argwhere((self.rows == row) & (self.columns == column))
        if place is None or not len(cells):
            return None
        down, right = cells.mean(axis=0)
        return place.centre(float(down), float(right))

    def to_sensor(self, ids: np.ndarray) -> np.ndarray:
        """Return labels (map rows, map columns) on the sensor's grid (rows, columns).

        A pixel that is nearest to several cells gets the most frequent id among them, cells of 0
        aside; one that is nearest to none, or has several that are as frequent, gets 0.
        `ParameterError`: ``ids`` is not as large as the map.
        """
        if ids.shape != self.shape:
            raise ParameterError(f"ids has shape {ids.shape}, the map of {self.path} {self.shape}")
        there = (self.rows >= 0) & (ids > 0)
        votes = Votes(math.prod(self.sensor_shape))
        pixels = self.rows[there].astype(np.int64) * self.sensor_shape[1] + self.columns[there]
        votes.add(pixels, ids[there])
        return votes.winners()[0].reshape(self.sensor_shape).astype(ids.dtype)
