"""Writing class maps, probabilities and margins, each file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.exceptions import ParameterError
from diffclass.options import check_options
from diffclass.system.libraries import require
from diffclass.system.mapped_files import create_mapped
from diffclass.system.output import check_apart, replacing, require_writable
from diffclass_hyperspectral.io.georeference import LookupTable
from diffclass_hyperspectral.io.labels import ClassTable, class_id_raster, largest_id
from diffclass_hyperspectral.io.maps import envi_writer, geotiff_writer, png_maps, polygon_writer
from diffclass_hyperspectral.io.rasters import ComputedRaster, Raster, as_raster, blocks_of, cast
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.options import OPTIONS


def output_files(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files that writing a class map to ``path`` makes, the one to read first."""
    place = Path(path)
    suffix = place.suffix.lower()
    if suffix in {".png", ".npy", *polygon_writer.ENDINGS}:
        return (place,)
    if suffix in envi_writer.ENDINGS:
        return envi_writer.pair(place)
    if suffix in geotiff_writer.ENDINGS:
        return geotiff_writer.pair(place)
    if place.is_dir():
        raise ParameterError(f"{place} is a folder; name a file in it, as {place / 'map.tif'}")
    raise ParameterError(
        f"{place}: no format for the ending {suffix or '(none)'!r}; use .img, .dat or .hdr (ENVI), "
        ".tif, .png, .npy, or for polygons of classes .gpkg or .geojson"
    )


def carries_coordinates(path: str | os.PathLike[str]) -> bool:
    """Tell whether maps of this ending are written with coordinates: ENVI, GeoTIFF, polygons."""
    writers = (envi_writer, geotiff_writer, polygon_writer)
    return any(Path(path).suffix.lower() in writer.ENDINGS for writer in writers)


def check_places(scene: Scene, paths: Sequence[str | os.PathLike[str]]) -> None:
    """Raise `ParameterError` for polygons of a scene that has no map coordinates."""
    for path in map(Path, paths):
        if holds_polygons(path):
            table = scene.lookup_table
            polygon_writer.require_place(path, scene.map_info if table is None else table.map_info)


def place_of(scene: Scene, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return where a map of a scene lies, as the writers here take it."""
    table = scene.lookup_table if carries_coordinates(path) else None
    return {"map_info": scene.map_info, "lookup_table": table}


def orthorectification_line(scene: Scene, paths: Sequence[str | os.PathLike[str]]) -> str | None:
    """Return a line that says which maps a scene's lookup table carries to its grid, or None."""
    carried = [Path(path).name for path in paths if carries_coordinates(path)]
    if not carried or scene.lookup_table is None:
        return None
    rows, columns = scene.lookup_table.shape
    return (
        f"{', '.join(carried)}: orthorectified by the lookup table of {scene.path.name} to "
        f"{rows} rows x {columns} columns; .npy and .png keep the sensor's grid"
    )


def require_outputs(path: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Path, ...]:
    """Return the files that writing to ``path`` makes, or say why they cannot be written."""
    return tuple(require_writable(file, overwrite=overwrite) for file in output_files(path))


def check_outputs(
    maps: Sequence[Path],
    others: Sequence[Path],
    inputs: Sequence[Path],
    *,
    numbers: Sequence[Path] = (),
    overwrite: bool = False,
) -> None:
    """Refuse outputs that cannot be written, share a file, or would replace an input.

    ``numbers`` are those of the maps that hold no classes and cannot be written as polygons; each
    of ``others`` is a single file. An ENVI input stands for its header too.
    """
    for path in numbers:
        _refuse_polygons(path)
    files = [file for path in maps for file in require_outputs(path, overwrite=overwrite)]
    for path in (*maps, *others):
        _require_library(path)
    files += [require_writable(path, overwrite=overwrite) for path in others]
    check_apart(files, [file for path in inputs for file in _files_of(path)])


def check_ids(path: str | os.PathLike[str], ids: Iterable[int]) -> None:
    """Raise `ParameterError` where a class map of this ending cannot hold some ids."""
    suffix = Path(path).suffix.lower()
    if suffix in geotiff_writer.ENDINGS:
        largest_id(ids, "a GeoTIFF")
    elif suffix in envi_writer.ENDINGS:
        largest_id(ids, "an ENVI")


def holds_polygons(path: str | os.PathLike[str]) -> bool:
    """Tell whether the file of a map is one of polygons, by its ending."""
    return Path(path).suffix.lower() in polygon_writer.ENDINGS


def _refuse_polygons(path: Path) -> None:
    if holds_polygons(path):
        raise ParameterError(
            f"{path}: polygons hold the classes of a map, not numbers; write .img, .tif or .npy"
        )


def _require_library(path: Path) -> None:
    """Raise `ParameterError` where what writes files of this ending is not installed."""
    suffix = path.suffix.lower()
    if suffix in geotiff_writer.ENDINGS:
        require("rasterio", extra="maps")
    elif suffix in polygon_writer.ENDINGS:
        for library in ("rasterio", "pyogrio", "shapely"):
            require(library, extra="maps")
    elif suffix == ".png":
        require("matplotlib.figure", extra="plots")
        require("PIL.Image")
    elif suffix in envi_writer.ENDINGS:
        require("spectral.io.envi")


def _files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that an input is read from, as far as its name tells."""
    try:
        return (path, *output_files(path))
    except ParameterError:
        return (path,)


def write_class_map(
    path: str | os.PathLike[str],
    class_ids: np.ndarray | Raster,
    table: ClassTable | None = None,
    *,
    overwrite: bool = False,
    map_info: Sequence[str] | None = None,
    lookup_table: LookupTable | None = None,
    legend: bool = True,
    probability: np.ndarray | Raster | None = None,
    simplify: float = 0.0,
) -> tuple[Path, ...]:
    """Write a class map; `read_labels` of it gives the same ids, names and colours.

    Parameters
    ----------
    path : path-like
        The ending chooses the format: ``.img .dat .bsq .bil .bip .raw .bin`` (ENVI data with a
        ``.hdr`` beside), ``.hdr`` (with an ``.img`` beside), ``.tif`` (palette, names and
        coordinates), ``.png``, ``.npy`` (ids alone, without names), ``.gpkg`` or ``.geojson``
        (a polygon for each connected piece, with its ``class``, ``class_name``, ``color``,
        ``pixels``, ``area`` in square metres and mean ``probability``; GeoJSON in WGS 84).
    class_ids : array or Raster of shape (rows, columns)
        Whole numbers; 0 or -1 = unclassified. Read twice, a block of rows at a time, but whole for
        an orthorectified map and for polygons.
    table : ClassTable, optional
        Names and colours; classes that it lacks get defaults. Commas and braces in names become
        semicolons and brackets in ENVI's list, which cannot hold them.
    overwrite : bool, default=False
        Whether files that exist may be replaced.
    map_info : sequence of str, optional
        The scene's, written as coordinates; a PNG with a legend gets a scale bar.
    lookup_table : LookupTable, optional
        Of a scene in its sensor's geometry: maps with coordinates (ENVI, GeoTIFF, polygons) are
        orthorectified by it.
    legend : bool, default=True
        For PNG: a picture with a legend, thinned out above four million pixels; without it a
        palette image of the map's size, which `read_labels` can read.
    probability : array or Raster of shape (rows, columns), optional
        Of each pixel's class; polygons get its mean.
    simplify : float, default=0
        Tolerance in pixels by which outlines of polygons are simplified; neighbours keep their
        common borders. 0: `read_labels` gives the map again.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    ParameterError
        Where nothing can be written there, ids are too large for the format, a name is no text, or
        the map has no coordinates, which polygons need.
    DataError
        Where ``class_ids`` is not a picture of whole numbers.

    See Also
    --------
    write_maps : The map of a classification, with probabilities and margins.
    write_raster : Numbers other than classes.

    Examples
    --------
    >>> import tempfile
    >>> from diffclass_hyperspectral import read_labels
    >>> name = tempfile.mkdtemp() + "/map.img"
    >>> files = write_class_map(name, np.array([[0, 2], [1, 2]]))
    >>> [file.name for file in files], read_labels(name).ids.tolist()
    (['map.img', 'map.hdr'], [[0, 2], [1, 2]])
    """
    given = {"map_info": map_info, "legend": legend, "simplify": simplify, "overwrite": overwrite}
    check_options(OPTIONS, **given)
    files = require_outputs(path, overwrite=overwrite)
    ids: Raster = class_id_raster(as_raster(class_ids), Path("class_ids"))
    if lookup_table is not None and carries_coordinates(path):
        ids, map_info = lookup_table.to_map(ids[:]), lookup_table.map_info
        if probability is not None:
            probability = lookup_table.to_map(probability[:], fill=np.nan)
    full = (table or ClassTable.from_ids([])).including(_present(ids))
    full.check_names()
    suffix = files[0].suffix.lower()
    if suffix == ".npy":
        _save_npy(files[0], ids, overwrite=overwrite)
    elif suffix == ".png":
        with replacing(files[0], overwrite=overwrite) as temporary:
            if legend:
                png_maps.save_class_png(temporary, ids, full)
                png_maps.add_scale_bar(temporary, map_info, ids.shape)
            else:
                png_maps.save_palette_png(temporary, ids, full)
    elif suffix in polygon_writer.ENDINGS:
        polygon_writer.write_classification(
            files[0], ids[:], full, overwrite=overwrite, map_info=map_info,
            probability=None if probability is None else probability[:], simplify=simplify,
        )  # fmt: skip
    else:
        writer = geotiff_writer if suffix in geotiff_writer.ENDINGS else envi_writer
        writer.write_classification(Path(path), ids, full, overwrite=overwrite, map_info=map_info)
    return files


def _present(ids: Raster) -> list[int]:
    found: set[int] = set()
    for _, block in blocks_of(ids):
        found.update(np.unique(block).tolist())
    return sorted(found)


def write_raster(
    path: str | os.PathLike[str],
    array: np.ndarray | Raster,
    *,
    band_names: Sequence[str] | None = None,
    overwrite: bool = False,
    map_info: Sequence[str] | None = None,
    lookup_table: LookupTable | None = None,
    wavelengths: ArrayLike | None = None,
) -> tuple[Path, ...]:
    """Write numbers per pixel: probabilities of all classes, the margin, or a scene.

    Parameters
    ----------
    path : path-like
        As for `write_class_map`, but no polygons; ``.png`` only for one band.
    array : array or Raster of shape (rows, columns, bands) or (rows, columns)
        Real numbers, written as float32; NaN = no data. Read a block of rows at a time, but whole
        for an orthorectified map.
    band_names : sequence of str, optional
        ``"band 1"`` and so on by default.
    overwrite : bool, default=False
        Whether files that exist may be replaced.
    map_info : sequence of str, optional
        The scene's, written to ENVI headers and GeoTIFFs as coordinates; a PNG gets a scale bar.
    lookup_table : LookupTable, optional
        As for `write_class_map`; NaN where the map has no pixel.
    wavelengths : array-like of shape (bands,), optional
        In nanometres, written to ENVI headers and GeoTIFFs.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    ParameterError
        Where nothing can be written there, the shapes do not fit, or a wavelength is not above 0.

    See Also
    --------
    write_class_map : Classes, with names and colours.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_hyperspectral import open_scene, write_raster
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     values = np.random.default_rng(0).random((4, 5, 2))
    ...     files = write_raster(Path(folder) / "p.img", values, band_names=["corn", "soy"])
    ...     [file.name for file in files], open_scene(files[0]).band_names
    (['p.img', 'p.hdr'], ('corn', 'soy'))
    """
    check_options(OPTIONS, band_names=band_names, map_info=map_info, overwrite=overwrite)
    _refuse_polygons(Path(path))
    files = require_outputs(path, overwrite=overwrite)
    values = as_raster(array)
    if len(values.shape) not in (2, 3) or 0 in values.shape or values.dtype.kind not in "biuf":
        raise ParameterError(
            f"array has shape {values.shape} and type {values.dtype}; a raster is "
            "(rows, columns) or (rows, columns, bands) of real numbers"
        )
    names = _band_names(values, band_names)
    centres = None if wavelengths is None else _centres(wavelengths, len(names))
    values = cast(values, np.float32)
    if lookup_table is not None and carries_coordinates(path):
        values = lookup_table.to_map(values[:], fill=np.nan)
        map_info = lookup_table.map_info
    suffix = files[0].suffix.lower()
    if suffix == ".npy":
        _save_npy(files[0], values, overwrite=overwrite)
    elif suffix == ".png":
        _save_raster_png(files[0], values, names, overwrite=overwrite, map_info=map_info)
    else:
        is_tiff = suffix in geotiff_writer.ENDINGS
        (geotiff_writer if is_tiff else envi_writer).write_standard(
            Path(path),
            cast(values, np.float32, with_bands=True),
            band_names=names,
            wavelengths=centres,
            overwrite=overwrite,
            map_info=map_info,
        )
        files = files[:1] if is_tiff else files
    return files


def _band_names(values: Raster, names: Sequence[str] | None) -> list[str]:
    n_bands = values.shape[2] if len(values.shape) == 3 else 1
    if names is None:
        return [f"band {i + 1}" for i in range(n_bands)]
    if len(names) != n_bands:
        raise ParameterError(f"{len(names)} band names for {n_bands} bands; give one for each")
    return [str(name) for name in names]


def _centres(wavelengths: ArrayLike, n_bands: int) -> list[float]:
    """Return wavelengths as they are written, or raise `ParameterError`."""
    centres = np.asarray(wavelengths, dtype=np.float64)
    if centres.shape != (n_bands,) or not ((centres > 0) & np.isfinite(centres)).all():
        raise ParameterError(
            f"wavelengths of shape {centres.shape} for {n_bands} bands; give one above 0 for each, "
            "in nanometres"
        )
    return centres.tolist()


def _save_npy(path: Path, raster: Raster, *, overwrite: bool) -> None:
    """Save a raster as `numpy.save` does, a block of rows at a time."""
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(raster.dtype)),
        "fortran_order": False,
        "shape": tuple(int(size) for size in raster.shape),
    }
    with replacing(path, overwrite=overwrite) as temporary, temporary.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for _, block in blocks_of(raster):
            stream.write(np.ascontiguousarray(block, dtype=raster.dtype).data)


def _save_raster_png(
    path: Path,
    values: Raster,
    names: list[str],
    *,
    overwrite: bool,
    map_info: Sequence[str] | None,
) -> None:
    if len(names) != 1:
        raise ParameterError(
            f"{path}: a PNG shows one band, not {len(names)}; write .img, .tif or .npy"
        )
    shape = values.shape[:2]
    plane = ComputedRaster(shape, values.dtype, lambda rows: values[rows].reshape(-1, shape[1]))
    with replacing(path, overwrite=overwrite) as temporary:
        png_maps.save_raster_png(temporary, plane, label=names[0])
        png_maps.add_scale_bar(temporary, map_info, plane.shape)


def mapped_file(path: str | os.PathLike[str]) -> Callable[[tuple[int, int]], np.ndarray]:
    """Return what `SceneFeatures.fit_transform_points` takes to fill a ``.npy`` file.

    It raises `DataError` where the disk has too little room: the system would end a process that
    finds out later.

    >>> import tempfile
    >>> create = mapped_file(tempfile.mkdtemp() + "/points.npy")
    >>> create((5, 2)).shape
    (5, 2)
    """

    def create(shape: tuple[int, int]) -> np.ndarray:
        if 0 in shape:
            return np.empty(shape, dtype=np.float32)
        return create_mapped(path, shape, np.float32)

    return create
