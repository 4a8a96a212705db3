"""How large class ids may be, and how many classes are possible."""

from __future__ import annotations

from collections.abc import Iterable

from diffclass.exceptions import ParameterError
from diffclass.targets import MOST_CLASSES

__all__ = ["LARGEST_BYTE", "MOST_CLASSES", "largest_id"]

LARGEST_BYTE = 255
# By format. ENVI lists a name for every id and the one after the largest has to fit into 16 bits.
_LARGEST_IDS = {"a PNG": LARGEST_BYTE, "an ENVI": 65534, "a GeoTIFF": 65535}


def largest_id(ids: Iterable[int], format: str) -> int:
    """Return the largest of a class map's ids, at least 0, if the format can hold it.

    Parameters
    ----------
    ids : iterable of int
        Of the map's table, which has those of all pixels.
    format : {"a PNG", "an ENVI", "a GeoTIFF"}

    Raises
    ------
    ParameterError
        Where it is too large for the format.
    """
    largest, limit = max(ids, default=0), _LARGEST_IDS[format]
    if largest > limit:
        instead = ".img or .npy" if format == "a PNG" else ".npy"
        raise ParameterError(
            f"class id {largest} is too large for {format} class map ({limit}); write {instead}"
        )
    return largest
