"""EMIT's lookup table between the sensor's grid and a map.

A scene of EMIT is classified in the sensor's grid, pixel by pixel as measured, and has no map
coordinates there. The product's table says for every cell of a map grid which pixel is nearest:
``glt_x`` and ``glt_y`` count crosstrack and downtrack from 1, 0 means none. Maps are carried over
without a new value being made, labels are carried back.

Source: EMIT L2A Algorithm and Product User Guide (LP DAAC, EMITL2ARFL.001), group ``location``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    crs_text,
    map_info_of,
    parsed_crs,
)
from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.readers.failures import reading, require_file
from diffclass_hyperspectral.io.readers.hdf5_blocks import numbers


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
    """

    rows: np.ndarray
    columns: np.ndarray
    sensor_shape: tuple[int, int]
    map_info: MapInfo
    path: Path

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns of the map."""
        return self.rows.shape

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


def read_lookup_table(path: str | os.PathLike[str]) -> LookupTable:
    """Read the lookup table of an EMIT file.

    Raises
    ------
    DataError
        Where the file has none, or it points outside the scene.
    """
    place = Path(path)
    require_file(place)
    h5py = require("h5py")
    with reading(place, "an EMIT file"), h5py.File(place, "r") as file:
        needed = ("location/glt_x", "location/glt_y", "reflectance")
        lacking = [name for name in needed if name not in file]
        lacking += [name for name in ("geotransform", "spatial_ref") if name not in file.attrs]
        if lacking:
            raise DataError(f"{place}: lacks {', '.join(lacking)}; name an EMIT L2A file")
        columns, rows = (np.asarray(file[name][()]) for name in needed[:2])
        shape = file["reflectance"].shape[:2]
        _check_table(place, rows, columns, shape)
        none = (rows <= 0) | (columns <= 0)
        return LookupTable(
            np.where(none, -1, rows - 1),
            np.where(none, -1, columns - 1),
            shape,
            _map_info(place, file.attrs),
            place,
        )


def _check_table(path: Path, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> None:
    whole = rows.dtype.kind in "iu" and columns.dtype.kind in "iu"
    if rows.ndim != 2 or rows.shape != columns.shape or rows.size == 0 or not whole:
        raise DataError(f"{path}: glt_x and glt_y are no two tables of one size; fetch it again")
    if rows.max() > shape[0] or columns.max() > shape[1]:
        raise DataError(f"{path}: the lookup table points outside the scene; fetch it again")


def _map_info(path: Path, attributes: Any) -> MapInfo:
    # GDAL's order: x of the corner, width, shear, y of the corner, shear, height
    c, a, b, f, d, e = numbers(path, attributes["geotransform"], "geotransform", length=6).tolist()
    text = attributes["spatial_ref"]
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return map_info_of(Georeference((a, b, c, d, e, f), crs_text(parsed_crs(text))))
