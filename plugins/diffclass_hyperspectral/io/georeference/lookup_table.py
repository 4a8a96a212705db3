"""Lookup tables between a sensor's grid and a map: orthorectification.

A scene in its sensor's geometry, such as EMIT's, is classified pixel by pixel as measured, and has
no map coordinates there. A table says for every cell of a map grid which pixel is nearest. Maps are
carried over by nearest neighbour, so that no new value arises; labels are carried back.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.io.georeference.georeference import MapInfo, georeference_of


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
        """Return an array of the sensor's grid on the map, ``fill`` where there is no pixel.

        Parameters
        ----------
        array : ndarray of shape (rows, columns) or (rows, columns, bands)
        fill : float, default=0
            0 for class maps, NaN for probabilities and margins.

        Returns
        -------
        ndarray of shape (map rows, map columns) or (map rows, map columns, bands)

        Raises
        ------
        ParameterError
            Where ``array`` is not as large as the scene.

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
        """Return x and y of a pixel: the mean of the cells' centres that it is nearest to.

        Parameters
        ----------
        row, column : int
            Of the sensor's grid, from 0.

        Returns
        -------
        tuple of float or None
            None for a pixel that is nearest to no cell.
        """
        place = georeference_of(self.map_info)
        cells = np.argwhere((self.rows == row) & (self.columns == column))
        if place is None or not len(cells):
            return None
        down, right = cells.mean(axis=0)
        return place.centre(float(down), float(right))

    def to_sensor(self, ids: np.ndarray) -> np.ndarray:
        """Return labels of the map on the sensor's grid.

        A pixel that is nearest to several cells gets the greatest id among them; one that is
        nearest to none gets 0.

        Parameters
        ----------
        ids : ndarray of int of shape (map rows, map columns)

        Returns
        -------
        ndarray of int of shape (rows, columns)

        Raises
        ------
        ParameterError
            Where ``ids`` is not as large as the map.
        """
        if ids.shape != self.shape:
            raise ParameterError(f"ids has shape {ids.shape}, the map of {self.path} {self.shape}")
        there = self.rows >= 0
        out = np.zeros(self.sensor_shape, dtype=ids.dtype)
        np.maximum.at(out, (self.rows[there], self.columns[there]), ids[there])
        return out
