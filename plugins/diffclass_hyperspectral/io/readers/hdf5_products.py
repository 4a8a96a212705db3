"""Products in HDF5 and NetCDF-4 files, known by their layout; none masks clouds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import reading, require
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    LookupTable,
    MapInfo,
    from_envi,
    map_info_of,
)
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    BANDS_FIRST,
    attribute_numbers,
    cube_of,
    dataset_numbers,
    good_wavelengths,
    member,
    number_of,
    placed,
    placed_by_gdal,
    stored_blocks,
    text_of,
    without_fill,
)
from diffclass_hyperspectral.io.readers.prisma import read_prisma
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres, widths_in_nanometres

_FILL = -9999.0


def read_product(path: Path, file: Any) -> Contents | None:
    """Open the product that a file is laid out as, or return None for any other file."""
    for read in (read_emit, read_prisma, read_tanager, read_pace, read_aviris3, read_neon):
        contents = read(path, file)
        if contents is not None:
            return contents
    return None


def read_emit(path: Path, file: Any) -> Contents | None:
    """Open EMIT L2A reflectances (NetCDF4).

    ``reflectance`` has the axes (downtrack, crosstrack, bands) of the sensor, and a lookup table
    from a map grid. ``sensor_band_parameters`` has ``wavelengths``, ``fwhm`` and
    ``good_wavelengths`` (0: bad); -9999 is no data.

    Source: EMIT L2A Algorithm and Product User Guide (LP DAAC, EMITL2ARFL.001).
    """
    bands = "sensor_band_parameters"
    if "reflectance" not in file or bands not in file:
        return None
    stored = cube_of(path, file, "reflectance")
    n_bands = stored.shape[2]
    stated = dataset_numbers(path, file, f"{bands}/wavelengths", length=n_bands)
    centres = in_nanometres(stated, None)
    has_table = all(name in file for name in _EMIT_TABLE) and all(
        name in file.attrs for name in ("geotransform", "spatial_ref")
    )
    return Contents(
        stored_blocks(path, stored),
        "EMIT",
        wavelengths=centres,
        widths=widths_in_nanometres(file[bands].get("fwhm"), stated, centres),
        band_mask=good_wavelengths(path, file[bands], length=n_bands),
        ignore_value=number_of(path, stored.attrs, "_FillValue", _FILL),
        read_lookup_table=partial(read_emit_table, path) if has_table else None,
    )


_EMIT_TABLE = ("location/glt_x", "location/glt_y")


def read_emit_table(path: Path) -> LookupTable:
    """Read the lookup table; ``glt_x`` counts crosstrack, ``glt_y`` downtrack, from 1; 0: none."""
    with reading(path, "an EMIT file"), require("h5py").File(path, "r") as file:
        columns, rows = (np.asarray(member(path, file, name)[()]) for name in _EMIT_TABLE)
        shape = file["reflectance"].shape[:2]
        _check_table(path, rows, columns, shape)
        none = (rows <= 0) | (columns <= 0)
        transform, crs = (file.attrs[name] for name in ("geotransform", "spatial_ref"))
        return LookupTable(
            rows=np.where(none, -1, rows - 1),
            columns=np.where(none, -1, columns - 1),
            sensor_shape=shape,
            map_info=placed_by_gdal(path, transform, "geotransform", text_of(crs)),
            path=path,
        )


def _check_table(path: Path, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> None:
    whole = rows.dtype.kind in "iu" and columns.dtype.kind in "iu"
    if rows.ndim != 2 or rows.shape != columns.shape or rows.size == 0 or not whole:
        raise DataError(
            f"{path}: glt_x and glt_y are not two tables of the same size; fetch it again"
        )
    if rows.max() > shape[0] or columns.max() > shape[1]:
        raise DataError(f"{path}: the lookup table points outside the scene; fetch it again")


def read_tanager(path: Path, file: Any) -> Contents | None:
    """Open a Planet Tanager product (HDF-EOS5): basic in a swath, ortho on a grid.

    ``Data Fields/surface_reflectance``, or ``toa_radiance``, has the axes (bands, rows, columns)
    with the attributes ``wavelengths``, ``fwhm`` (nm), ``good_wavelengths`` (0: bad) and
    ``_FillValue``. Pixels where ``nodata_pixels`` is not 0 have no data.

    Source: Planet, Tanager Product Specification (September 2025), names and axes as public readers
    have them (HyTools; opengeos/HyperCoast, tanager.py); radiances were not checked on a product.
    """
    cubes = [
        (kind, f"HDFEOS/{kind}/HYP/Data Fields", name)
        for name in ("surface_reflectance", "toa_radiance")
        for kind in ("GRIDS", "SWATHS")
        if f"HDFEOS/{kind}/HYP/Data Fields/{name}" in file
    ]
    if not cubes:
        return None
    kind, fields, name = cubes[0]
    stored = cube_of(path, file, f"{fields}/{name}")
    n_bands, *picture = stored.shape
    centres = attribute_numbers(path, stored.attrs, "wavelengths", length=n_bands)
    missing = f"{fields}/nodata_pixels"
    if missing in file and file[missing].shape != tuple(picture):
        raise DataError(f"{path}: {missing} and {name} differ in size; fetch the file again")
    return Contents(
        without_fill(
            path,
            stored_blocks(path, stored, BANDS_FIRST),
            number_of(path, stored.attrs, "_FillValue", _FILL),
            missing=missing if missing in file else None,
        ),
        "Tanager",
        wavelengths=centres,
        widths=widths_in_nanometres(stored.attrs.get("fwhm"), centres, centres),
        band_mask=good_wavelengths(path, stored.attrs, length=n_bands),
        map_info=_tanager_map_info(path, file, tuple(picture)) if kind == "GRIDS" else None,
    )


def _tanager_map_info(path: Path, file: Any, shape: tuple[int, int]) -> MapInfo:
    """Return the UTM grid, whose corners and zone ``StructMetadata.0`` states; ``epsg_code`` rules.

    A zone below 0 lies in the south. Source: HDF-EOS5's GCTP projections; sphere 12 is WGS 84.
    """
    text = text_of(member(path, file, "HDFEOS INFORMATION/StructMetadata.0")[()])
    (left, top), (right, bottom) = (
        _pair(path, text, name) for name in ("UpperLeftPointMtrs", "LowerRightMtrs")
    )
    rows, columns = shape
    place = ((right - left) / columns, 0.0, left, 0.0, (bottom - top) / rows, top)
    code = number_of(path, file["HDFEOS/GRIDS/HYP"].attrs, "epsg_code", None)
    if code is not None:
        return placed(path, place, f"EPSG:{code:.0f}")
    zone = re.search(r"\bZoneCode=(-?\d+)", text)
    sphere = re.search(r"\bSphereCode=(\d+)", text)
    is_known = "HE5_GCTP_UTM" in text and sphere is not None and int(sphere[1]) == 12
    if zone is None or not is_known:
        raise DataError(f"{path}: its grid is not UTM on WGS 84, which alone is known of Tanager")
    number = int(zone[1])
    return placed(path, place, f"EPSG:{(32600 if number > 0 else 32700) + abs(number)}")


def _pair(path: Path, text: str, name: str) -> tuple[float, float]:
    found = re.search(rf"\b{name}=\(\s*([-\d.eE+]+)\s*,\s*([-\d.eE+]+)\s*\)", text)
    if found is None:
        raise DataError(f"{path}: StructMetadata.0 lacks {name}; fetch the file again")
    return float(found[1]), float(found[2])


def read_pace(path: Path, file: Any) -> Contents | None:
    """Open PACE OCI L2 surface reflectances (NetCDF4).

    ``geophysical_data/rhos`` has the axes (lines, pixels, bands) of the sensor, without a map grid;
    centres in nanometres are ``sensor_band_parameters/wavelength_3d``. Flags (``l2_flags``: clouds,
    glint) are not applied; give a mask.

    Source: NASA OBPG, "File Structure at Three Processing Levels for the Ocean Color Instrument",
    version 3.1 of PACE_OCI_L2_SFREFL; fill values in single bands were not checked on a product.
    """
    name = "geophysical_data/rhos"
    if name not in file:
        return None
    stored = cube_of(path, file, name)
    bands = "sensor_band_parameters/wavelength_3d"
    centres = dataset_numbers(path, file, bands, length=stored.shape[2])
    gain = number_of(path, stored.attrs, "scale_factor", 1.0)
    if not gain:
        raise DataError(f"{path}: scale_factor of {name} is 0; fetch the file again")
    data = without_fill(
        path,
        stored_blocks(path, stored),
        number_of(path, stored.attrs, "_FillValue", None),
        gain=gain,
        offset=number_of(path, stored.attrs, "add_offset", 0.0) or 0.0,
    )
    return Contents(data, "PACE", wavelengths=in_nanometres(centres, "nm"))


def read_aviris3(path: Path, file: Any) -> Contents | None:
    """Open AVIRIS-3 (and AVIRIS-5, AVIRIS-NG) L2A orthocorrected reflectances (NetCDF4).

    ``reflectance/reflectance`` has the axes (bands, northing, easting); ``wavelength`` and ``fwhm``
    are in nanometres. The file names no bad bands.

    Source: AVIRIS-3 Distribution Document (Eastwood et al., JPL); names and axes as a public reader
    of AV3_L2A_RFL has them (opengeos/HyperCoast, aviris.py), not checked against a user guide.
    """
    name, bands = "reflectance/reflectance", "reflectance/wavelength"
    if name not in file or bands not in file:
        return None
    stored = cube_of(path, file, name)
    stated = dataset_numbers(path, file, bands, length=stored.shape[0])
    centres = in_nanometres(stated, None)
    return Contents(
        stored_blocks(path, stored, BANDS_FIRST),
        "AVIRIS-3",
        wavelengths=centres,
        widths=widths_in_nanometres(file["reflectance"].get("fwhm"), stated, centres),
        ignore_value=number_of(path, stored.attrs, "_FillValue", _FILL),
        map_info=_aviris3_map_info(path, file, stored),
    )


def _aviris3_map_info(path: Path, file: Any, stored: Any) -> MapInfo | None:
    """Return GDAL's ``GeoTransform``, or that of ``easting`` and ``northing``, pixel centres."""
    shape = stored.shape[1:]
    attributes = _grid_mapping(file, stored)
    system = attributes.get("crs_wkt", attributes.get("spatial_ref"))
    if system is None:
        return None
    if "GeoTransform" in attributes:
        texts = text_of(attributes["GeoTransform"]).split()
        values = np.array(texts, dtype=float)
        return placed_by_gdal(path, values, "GeoTransform", text_of(system))
    if "easting" not in file or "northing" not in file or min(shape) < 2:
        return None
    north = dataset_numbers(path, file, "northing", length=shape[0])
    east = dataset_numbers(path, file, "easting", length=shape[1])
    down, right = (np.ptp(v) * np.sign(v[-1] - v[0]) / (len(v) - 1) for v in (north, east))
    place = (right, 0.0, east[0] - right / 2, 0.0, down, north[0] - down / 2)
    return placed(path, place, text_of(system))


def _grid_mapping(file: Any, stored: Any) -> Mapping[str, Any]:
    """Return the attributes of the variable, in the group or the file, that says where it lies."""
    stated = text_of(stored.attrs["grid_mapping"]) if "grid_mapping" in stored.attrs else ""
    for name in (stated, "transverse_mercator", "spatial_ref", "crs"):
        for place in (name, f"reflectance/{name}"):
            if name and place in file and isinstance(file[place], type(stored)):
                return file[place].attrs
    return {}


def read_neon(path: Path, file: Any) -> Contents | None:
    """Open NEON AOP reflectances (DP1.30006, DP3.30006).

    In a group named after the site, ``Reflectance/Reflectance_Data`` has the axes (rows, columns,
    bands), to be divided by its ``Scale_Factor``. ``Metadata/Spectral_Data`` has ``Wavelength`` and
    ``FWHM`` (nm), ``Metadata/Coordinate_System`` ENVI's ``Map_Info`` and the ``EPSG Code``. Bands
    in ``Band_Window_1_Nanometers`` and ``Band_Window_2_Nanometers`` (water vapour) are bad.

    Source: NEON Data Skills, "NEON AOP Hyperspectral Data in HDF5 format with Python" (Hass).
    """
    sites = [name for name in file if f"{name}/Reflectance/Reflectance_Data" in file]
    if len(sites) != 1:
        return None
    group = file[sites[0]]["Reflectance"]
    stored = cube_of(path, group, "Reflectance_Data")
    bands = "Metadata/Spectral_Data"
    centres = dataset_numbers(path, group, f"{bands}/Wavelength", length=stored.shape[2])
    good = np.ones(len(centres), dtype=bool)
    for name in ("Band_Window_1_Nanometers", "Band_Window_2_Nanometers"):
        if name in group.attrs:
            low, high = attribute_numbers(path, group.attrs, name, length=2)
            good &= (centres < low) | (centres > high)
    return Contents(
        stored_blocks(path, stored),
        "NEON AOP",
        wavelengths=centres,
        widths=widths_in_nanometres(group.get(f"{bands}/FWHM"), centres, centres),
        band_mask=good,
        ignore_value=number_of(path, stored.attrs, "Data_Ignore_Value", _FILL),
        scale_factor=number_of(path, stored.attrs, "Scale_Factor", None) or 10_000.0,
        map_info=_neon_map_info(group["Metadata"]),
    )


def _neon_map_info(metadata: Any) -> MapInfo | None:
    place = "Coordinate_System"
    if f"{place}/Map_Info" not in metadata:
        return None
    texts = [text.strip() for text in text_of(metadata[f"{place}/Map_Info"][()]).split(",")]
    info = from_envi(texts)
    code = text_of(metadata[f"{place}/EPSG Code"][()]) if f"{place}/EPSG Code" in metadata else ""
    if info.georeference is None or not code.strip().isdecimal():
        return info
    return map_info_of(Georeference(info.georeference.transform, f"EPSG:{int(code)}"))
