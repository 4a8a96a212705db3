"""What a reader hands over: an array and what its file says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from diffclass_hyperspectral.io.lookup_table import LookupTable

Color: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Contents:
    """An image array with the facts that its file states; absent facts are None.

    Attributes
    ----------
    data : ndarray or BlockArray of shape (rows, columns, bands), or ndarray (rows, columns)
        Plain array, possibly on a memory map, or one that reads its rows when asked.
    format : str
        Name of the format, for people.
    wavelengths : ndarray of shape (bands,), in nanometres
    band_mask : ndarray of shape (bands,), bool
        True for bands that the file calls good.
    ignore_value : float
        The value that stands for "no data".
    scale_factor : float
        Stored values divided by it are reflectances.
    band_names : tuple of str
    map_info : tuple of str
        As ENVI has it; a `MapInfo` where the file states coordinates.
    read_lookup_table : callable
        Without arguments to the `LookupTable` between the sensor's grid and a map.
    class_names : dict of int to str
    class_colors : dict of int to (red, green, blue), each 0 to 255
    """

    data: Any  # BlockArray reads like an array, but is no ndarray
    format: str
    wavelengths: np.ndarray | None = None
    band_mask: np.ndarray | None = None
    ignore_value: float | None = None
    scale_factor: float = 1.0
    band_names: tuple[str, ...] | None = None
    map_info: tuple[str, ...] | None = None
    read_lookup_table: Callable[[], LookupTable] | None = None
    class_names: dict[int, str] | None = None
    class_colors: dict[int, Color] | None = None
