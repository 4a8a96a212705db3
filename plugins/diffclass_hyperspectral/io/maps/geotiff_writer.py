"""GeoTIFFs written by ``rasterio``: class maps with palette and names, rasters with band names.

GDAL reads category names from an ``.aux.xml`` beside the TIFF. They are written there, with a
raster attribute table, and into a tag of the band, so that the TIFF alone keeps every letter.

A raster with more than 2,048 rows or columns becomes a cloud-optimised GeoTIFF.

GDAL writes the last blocks when it closes a file, and tells nobody where the disk is full then. So
each file is read again and compared with the sums of what was written.
"""

from __future__ import annotations

import errno
import os
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from diffclass.system.libraries import require
from diffclass.system.output import replacing_pair
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.georeference import georeference_of, writable_crs
from diffclass_hyperspectral.io.labels import LARGEST_BYTE, ClassTable, largest_id
from diffclass_hyperspectral.io.rasters import Raster, blocks_of, cast
from diffclass_hyperspectral.io.readers import NAMES_KEY, names_as_json, xml_text

ENDINGS = (".tif", ".tiff")
_CHUNK = 2**20  # bytes
LARGEST_PLAIN = 2048  # rows or columns; viewers draw such a raster whole


def pair(path: Path) -> tuple[Path, Path]:
    """Return the TIFF and the file of category names beside it."""
    return path, path.with_name(f"{path.name}.aux.xml")


def write_classification(
    path: Path,
    ids: Raster,
    table: ClassTable,
    *,
    overwrite: bool,
    map_info: Sequence[str] | None,
) -> None:
    """Write class ids (rows, columns), 0 as "no data", with palette, names and coordinates."""
    is_small = largest_id(table.ids, "a GeoTIFF") <= LARGEST_BYTE
    dtype = np.uint8 if is_small else np.uint16
    names = {entry.id: entry.name for entry in table.entries}
    with replacing_pair(*pair(path), overwrite=overwrite) as (temporary, beside):
        values = cast(ids, dtype, with_bands=True)
        with _written(temporary, values, map_info, overviews="mode") as raster:
            raster.nodata = 0  # unclassified: shown as nothing, and no class in statistics
            raster.write_colormap(1, {entry.id: (*entry.color, 255) for entry in table.entries})
            raster.update_tags(1, **{NAMES_KEY: names_as_json(names)})
        _write_categories(beside, table)


def write_standard(
    path: Path,
    raster: Raster,
    *,
    band_names: Sequence[str],
    wavelengths: Sequence[float] | None,
    overwrite: bool,
    map_info: Sequence[str] | None,
) -> None:
    """Write a float32 raster (rows, columns, bands) with coordinates; NaN is "no data"."""
    with (
        replacing_pair(*pair(path), overwrite=overwrite) as (temporary, _),
        _written(temporary, raster, map_info, overviews="average") as written,
    ):
        written.descriptions = tuple(band_names)
        for band, centre in enumerate(wavelengths or (), start=1):
            written.update_tags(band, wavelength=centre, wavelength_units="Nanometers")


@contextmanager
def _written(
    path: Path, values: Raster, map_info: Sequence[str] | None, *, overviews: str
) -> Iterator[Any]:
    """Yield the dataset of a new TIFF that holds ``values``, and is whole when the block ends."""
    errors = require("rasterio.errors", extra="maps")
    of_gdal = require("rasterio._err", extra="maps").CPLE_BaseError
    sums: dict[tuple[int, int], int] = {}
    try:
        with _created(path, values, map_info, sums) as raster:
            yield raster
        _optimise(path, values.shape, overviews=overviews)
        _check_whole(path, values.shape[1], sums)
    except (errors.RasterioError, of_gdal) as error:
        n_values = int(np.prod(values.shape, dtype=np.int64))
        _check_room(path.parent, n_values * values.dtype.itemsize + _CHUNK)
        raise OSError(errno.EIO, f"GDAL did not write it whole ({error})", str(path)) from error


def _check_whole(path: Path, columns: int, sums: dict[tuple[int, int], int]) -> None:
    rasterio = require("rasterio", extra="maps")
    with quiet(), rasterio.open(path) as raster:
        for rows, expected in sums.items():
            if zlib.crc32(raster.read(window=(rows, (0, columns)))) != expected:
                raise rasterio.errors.RasterioIOError(f"rows {rows[0]} to {rows[1] - 1} differ")


def _check_room(folder: Path, n_bytes: int) -> None:
    """Raise the system's own error where there is no room for so many bytes."""
    with tempfile.TemporaryFile(dir=folder) as file:
        for start in range(0, n_bytes, _CHUNK):
            file.write(bytes(min(_CHUNK, n_bytes - start)))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _created(
    path: Path,
    values: Raster,
    map_info: Sequence[str] | None,
    sums: dict[tuple[int, int], int],
) -> Iterator[Any]:
    """Yield rasterio's dataset of a new TIFF that holds ``values`` (rows, columns, bands).

    ``sums`` takes the sum of each block of rows.
    """
    rasterio = require("rasterio", extra="maps")
    rows, columns, bands = values.shape
    with (
        quiet(),
        rasterio.open(
            path, "w", driver="GTiff", height=rows, width=columns, count=bands,
            dtype=values.dtype, compress="deflate", bigtiff="if_safer", **_coordinates(map_info),
        ) as raster,
    ):  # fmt: skip
        # whole strips: one that is compressed twice leaves a hole in the file
        for part, block in blocks_of(values, step=raster.block_shapes[0][0]):
            lines, layers = (part.start, part.stop), np.ascontiguousarray(block.transpose(2, 0, 1))
            raster.write(layers, window=(lines, (0, columns)))
            sums[lines] = zlib.crc32(layers.data)
            if block.dtype.kind == "f" and raster.nodata is None and np.isnan(block).any():
                raster.nodata = float("nan")
        yield raster


def _optimise(path: Path, shape: tuple[int, ...], *, overviews: str) -> None:
    """Turn a large raster into a cloud-optimised one; ``overviews`` are made by this method."""
    if max(shape[:2]) <= LARGEST_PLAIN:
        return
    plain = path.with_name(f"plain{path.suffix}")
    path.rename(plain)
    with quiet():
        require("rasterio.shutil", extra="maps").copy(
            plain, path, driver="COG", compress="deflate", bigtiff="if_safer",
            overview_resampling=overviews,
        )  # fmt: skip
    plain.unlink()


def _coordinates(map_info: Sequence[str] | None) -> dict[str, Any]:
    place = georeference_of(map_info)
    if place is None:
        return {}
    crs = writable_crs(place)
    return {"transform": place.affine} | ({} if crs is None else {"crs": crs})


# Name, type (0 integer, 2 text) and usage of the columns of a raster attribute table, as GDAL
# numbers them.
_COLUMNS = (("Value", 0, 5), ("Class", 2, 2), ("Red", 0, 6), ("Green", 0, 7), ("Blue", 0, 8))


def _write_categories(path: Path, table: ClassTable) -> None:
    """Write names by number, and the attribute table that QGIS and ArcGIS read.

    Source: GDAL, PAM schema gdaldataset (GDALRasterAttributeTable) and GDALRATFieldUsage.
    """
    entries = {entry.id: entry for entry in table.entries}
    names = [entries[i].name if i in entries else "" for i in range(max(entries) + 1)]
    root = ElementTree.Element("PAMDataset")
    band = ElementTree.SubElement(root, "PAMRasterBand", band="1")
    categories = ElementTree.SubElement(band, "CategoryNames")
    for name in names:
        ElementTree.SubElement(categories, "Category").text = xml_text(name)
    attributes = ElementTree.SubElement(band, "GDALRasterAttributeTable", tableType="thematic")
    for k, (name, kind, usage) in enumerate(_COLUMNS):
        column = ElementTree.SubElement(attributes, "FieldDefn", index=str(k))
        for tag, text in (("Name", name), ("Type", str(kind)), ("Usage", str(usage))):
            ElementTree.SubElement(column, tag).text = text
    for k, entry in enumerate(table.entries):
        row = ElementTree.SubElement(attributes, "Row", index=str(k))
        for value in (entry.id, entry.name, *entry.color):
            ElementTree.SubElement(row, "F").text = xml_text(str(value))
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=False)
