"""The formats of scenes and of images of classes: which reader a file needs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

NUMPY_ENDINGS = (".npy", ".npz")  # tables have them too
SHAPE_ENDINGS = (".geojson", ".json", ".shp", ".gpkg", ".fgb", ".kml")
ENVI_ENDINGS = (".img", ".dat", ".bsq", ".bil", ".bip", ".raw", ".bin")  # of data files
# What files begin with that other drivers of GDAL than that of GeoTIFF open.
DRIVERS = {
    "HFA": (b"EHFA_HEADER_TAG",),
    "JP2OpenJPEG": (b"\0\0\0\x0cjP", b"\xff\x4f\xff\x51"),
    "VRT": (b"<VRTDataset",),
}


@dataclass(frozen=True)
class Format:
    """Which module and function read a format, and what its files begin and end with."""

    module: str
    function: str = "read"
    starts: tuple[bytes, ...] = ()
    suffixes: tuple[str, ...] = ()
    has_variables: bool = False  # arrays with names


FORMATS = {
    "envi": Format("envi", starts=(b"ENVI", b"\xef\xbb\xbfENVI"), suffixes=(".hdr",)),
    "erdas": Format("erdas", starts=(b"HEAD74", b"HEADER"), suffixes=(".lan", ".gis")),
    "geotiff": Format("geotiff", "read", (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
                       (".tif", ".tiff")),
    "imagine": Format("geotiff", "read", DRIVERS["HFA"]),
    "jpeg 2000": Format("geotiff", "read", DRIVERS["JP2OpenJPEG"], (".jp2",)),
    "vrt": Format("geotiff", "read", DRIVERS["VRT"], (".vrt",)),
    "hdf5": Format("hdf5", "read", (b"\x89HDF\r\n\x1a\n",), (".nc", ".he5", ".h5", ".hdf5"),
                    has_variables=True),
    "matlab": Format("matlab", "read", (b"MATLAB 5.0",), (".mat",), has_variables=True),
    "matlab73": Format("hdf5", "read_matlab", (b"MATLAB 7.3",), has_variables=True),
    "netcdf": Format("hdf5", "read_netcdf", (b"CDF\x01", b"CDF\x02"), has_variables=True),
    "npy": Format("numpy_files", "read_array", (b"\x93NUMPY",), (".npy",)),
    "npz": Format("numpy_files", "read_archive", (b"PK\x03\x04",), (".npz",), has_variables=True),
    "photograph": Format("pictures", "read_photograph", (b"\xff\xd8\xff",), (".jpg", ".jpeg")),
    "png": Format("pictures", "read_labels", (b"\x89PNG\r\n\x1a\n",), (".png",)),
    "sentinel2": Format("sentinel2", has_variables=True),
    "stac": Format("stac", suffixes=(".json",), has_variables=True),
    "tiff product": Format("geotiff", "read_by_metadata"),
}  # fmt: skip
HINT = (
    "ENVI (its .hdr in the same folder), ERDAS LAN/GIS and IMAGINE, GeoTIFF, VRT, JPEG 2000, EMIT, "
    "PACE and AVIRIS-3 .nc, PRISMA .he5, NEON and Tanager .h5, EnMAP, DESIS, Sentinel-2, other "
    "HDF5 and NetCDF, MATLAB .mat, NumPy .npy and .npz, JPEG and PNG"
)
SUFFIXES = {suffix for one in FORMATS.values() for suffix in one.suffixes}
OWN_ENDINGS = {*SUFFIXES, *ENVI_ENDINGS, ".xml", ".zarr", ".safe"}


def header_beside(data: Path) -> Path | None:
    """Return the header of a data file, ``x.img.hdr`` or ``x.hdr``, or None."""
    for stem in (os.fspath(data), os.path.splitext(data)[0]):
        for ending in (".hdr", ".HDR"):
            if os.path.isfile(stem + ending):
                return Path(stem + ending)
    return None


def format_of(path: Path) -> str | None:
    """Return the format: by the first bytes, the suffix, then a header beside it; None for none."""
    with path.open("rb") as stream:
        head = stream.read(128)
    suffix = path.suffix.lower()
    found = next((name for name, one in FORMATS.items() if head.startswith(one.starts)), None)
    if found == "hdf5":
        return "matlab73" if suffix == ".mat" else found
    if suffix == ".xml":
        return "sentinel2" if path.name.startswith("MTD_MSI") else "tiff product"
    if found is not None:
        return found
    named = next((name for name, one in FORMATS.items() if suffix in one.suffixes), None)
    return "envi" if named is None and header_beside(path) is not None else named
