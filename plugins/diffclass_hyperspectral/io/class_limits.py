"""How large class ids may be, and how many classes are possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diffclass.exceptions import ParameterError
from diffclass.targets import MOST_CLASSES

__all__ = ["LARGEST_BYTE", "MOST_CLASSES", "largest_id"]

LARGEST_BYTE = 255
# By format. ENVI lists a name for every id and the one after the largest has to fit into 16 bits.
_LARGEST_IDS = {"a PNG": LARGEST_BYTE, "an ENVI": 65534, "a GeoTIFF": 65535}


def largest_id(ids: Any, more: Iterable[int], format: str) -> int:
    """Return the largest id of a class map and its table, at least 0, if the format can hold it.

    Parameters
    ----------
    ids : ndarray of int
    more : iterable of int
        Ids of the table.
    format : {"a PNG", "an ENVI", "a GeoTIFF"}

    Raises
    ------
    ParameterError
        Where it is too large for the format.
    """
    largest, limit = max(int(ids.max()), *more, 0), _LARGEST_IDS[format]
    if largest > limit:
        instead = ".img or .npy" if format == "a PNG" else ".npy"
        raise ParameterError(
            f"class id {largest} is too large for {format} class map ({limit}); write {instead}"
        )
    return largest
