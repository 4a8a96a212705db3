"""The file behind a raster layer."""

from __future__ import annotations

import re

# GDAL's names for an array within a file: NETCDF:"scene.nc":reflectance, HDF5:"scene.h5"://cube
_WITHIN = re.compile(
    r'\A(?:NETCDF|HDF5|HDF4_SDS|GTIFF_DIR:\d+):"?(?P<file>[^"]+?)"?(?::[^:\\/].*|://.*)?\Z'
)


def file_of(source: str) -> str:
    """Return the path of the file that a raster layer shows.

    Parameters
    ----------
    source : str
        As the layer states it.

    Raises
    ------
    ValueError
        Where it is none: a layer of a server, of an archive or of a database.
    """
    within = _WITHIN.match(source)
    path = within["file"] if within else source.partition("|")[0]
    if not path or path.startswith("/vsi") or "url=" in path or "dbname=" in path:
        raise ValueError(f"{source}: no file on this computer; export the layer to a GeoTIFF first")
    return path
