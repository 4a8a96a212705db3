"""Cubes and label images that are held by xarray: a ``DataArray``, or a ``Dataset`` with one.

Rows, columns and bands are found by their usual names, by what ``rioxarray`` was told, or by the
coordinate of wavelengths. Values are asked for in blocks of rows, so that arrays of dask, and those
that stay in their file, are never read whole.

``x`` and ``y`` are centres of pixels, which count before a transform that is stated; uneven ones
give no place on a map. The coordinate that ``grid_mapping`` names (by default ``spatial_ref``)
holds the coordinate system. ``scale_factor``, ``add_offset`` and ``_FillValue`` count where they
are attributes; where xarray has applied them they are part of the encoding. So they do for
coordinates, which may be packed too. A coordinate of the bands called ``fwhm`` or ``bandwidth`` is
their widths.

Source: CF conventions 1.11, sections 2.5.1, 4, 5.6 and 8.1; rioxarray, "CRS management".
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, option_name, warn_user
from diffclass.system.attributes import Attributes
from diffclass.system.remote_paths import place_of
from diffclass_hyperspectral.io.file_names import joint_name
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    UnevenCentres,
    crs_text,
    even_steps,
    map_info_of,
    with_projections,
)
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import (
    BandScales,
    Contents,
    classes_of_flags,
    is_ignored,
)
from diffclass_hyperspectral.io.readers.wavelengths import (
    in_nanometres,
    one_unit,
    unit_in_name,
    widths_in_nanometres,
)

_ROWS = {"y", "row", "rows", "lat", "latitude", "northing", "downtrack", "line", "lines",
         "number_of_lines"}  # fmt: skip
_COLUMNS = {"x", "column", "columns", "col", "lon", "longitude", "easting", "crosstrack",
            "sample", "samples", "pixels_per_line"}  # fmt: skip
_WAVELENGTHS = {"wavelength", "wavelengths", "wl", "wavelength_nm", "center_wavelength",
                "centre_wavelength", "central_wavelength", "band_wavelength", "wavelength_3d",
                "wavelength_bands", "lambda"}  # fmt: skip
_STANDARD_NAMES = {"radiation_wavelength", "sensor_band_central_radiation_wavelength"}
_BANDS = {"band", "bands", "channel", "channels", "spectral"} | _WAVELENGTHS
_Transform = tuple[float, float, float, float, float, float]
_NO_NAME = re.compile(r"(phony_)?dim_?\d+\Z")  # of writers that know none
_WIDTHS = {"fwhm", "bandwidth", "full_width_half_max"}
_GOOD = {"good_wavelengths", "good_bands", "bbl", "band_mask"}
_OF_BANDS = _WAVELENGTHS | _WIDTHS | _GOOD
_FILLS = ("_FillValue", "missing_value", "nodata")
_LIMITS = ("valid_range", "valid_min", "valid_max")
_PLACE = "coordinates of each pixel"
ATTRIBUTES = Attributes(
    "xarray, NetCDF and Zarr",
    honoured=dict.fromkeys(("x", "y", "grid_mapping", "crs"), "place")
    | dict.fromkeys((*_FILLS, *_LIMITS), "missing values")
    | dict.fromkeys(("scale_factor", "scales"), "scale")
    | dict.fromkeys(("add_offset", "offsets"), "offset")
    | dict.fromkeys((*sorted(_WAVELENGTHS), "wavelength_units", "wavelength_unit"), "wavelengths")
    | dict.fromkeys(sorted(_WIDTHS), "widths")
    | dict.fromkeys(sorted(_GOOD), "bad bands")
    | dict.fromkeys(("flag_values", "flag_meanings", "flag_colors", "class_names"),
                    "names and colours of classes")
    | {"_Unsigned": "type of the values", "long_name": "names of bands"},
    left_out={"flag_masks": "classes as bits", _PLACE: "place"},
)  # fmt: skip


def is_xarray(source: object) -> bool:
    """Tell whether something is a ``DataArray`` or ``Dataset``, without importing xarray."""
    return all(hasattr(source, name) for name in ("dims", "coords", "isel", "attrs"))


def name_of(source: Any) -> Path:
    """Return what messages call a path, an array, an item of STAC, or a list of files."""
    if isinstance(source, list | tuple):
        return Path(joint_name([place_of(path) for path in source]))
    if not is_xarray(source):
        return Path(source.id) if hasattr(source, "assets") else place_of(source)
    named = getattr(source, "name", None) or source.encoding.get("source")
    return Path(str(named or type(source).__name__))


def read(source: Any, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open a cube, or with two axes a picture of class ids; values are read when needed."""
    array = picked(source, variable=variable, n_axes=n_axes)
    path = name_of(array)
    if n_axes == 3 and array.ndim == 2:  # as a GeoTIFF of one band
        array = array.expand_dims("band", axis=-1)
    axes = picture_axes(array, n_axes=n_axes)
    _warn_of_other_bands(array, axes[2:])
    facts: dict[str, Any] = {"format": "xarray", "map_info": _map_info(array, axes)}
    facts["unused"] = _unused(array, axes, is_placed=facts["map_info"] is not None)
    if n_axes == 2:
        names, colors = classes_of_flags(array.attrs)
        stored = np.asarray(_squeezed(array, axes).transpose(*axes).to_numpy())
        picture = stored.view(_stored_type(array))
        return Contents(
            picture, ignore_value=_nodata(array), class_names=names or None,
            class_colors=colors or None, **facts,
        )  # fmt: skip
    band = axes[2]
    array = _with_lists(array, band)
    wavelengths = _wavelengths(array, band)
    widths = _widths(array, band, wavelengths)
    facts["unused"] += _damaged(array, band, wavelengths, widths)
    data, ignored, scale = _values(path, array, axes)
    return Contents(
        data,
        ignore_value=ignored,
        scale_factor=scale,
        wavelengths=wavelengths,
        widths=widths,
        band_mask=_good(array, band),
        band_names=_names(array, band),
        **facts,
    )


def _with_lists(array: Any, band: Hashable) -> Any:
    """Return the array with coordinates for those of its attributes that have one of each band."""
    lists = {}
    for name, values in array.attrs.items():
        numbers = np.asarray(values)
        if str(name).lower() not in _OF_BANDS or name in array.coords:
            continue
        if numbers.shape == (array.sizes[band],) and numbers.dtype.kind in "biuf":
            unit = array.attrs.get("wavelength_units", array.attrs.get("wavelength_unit"))
            is_good = str(name).lower() in _GOOD
            lists[name] = (band, numbers, {} if is_good or unit is None else {"units": unit})
    return array.assign_coords(lists)


def _unused(array: Any, axes: tuple[Hashable, ...], *, is_placed: bool) -> tuple[str, ...]:
    """Return what is stated of values and place that does not count."""
    stated = dict(array.attrs)
    for name, coordinate in array.coords.items():
        if coordinate.dims == axes[2:]:
            stated.setdefault(str(name), "stated")
        is_of_pixels = coordinate.ndim == 2 and set(coordinate.dims) == set(axes[:2])
        if is_of_pixels and not is_placed and str(name).lower() in _ROWS | _COLUMNS:
            stated[_PLACE] = "stated"
    counted = _nodata(array)
    fills = {name: _fill(array, name) for name in _FILLS}
    others = [name for name, value in fills.items() if counted is not None and value is not None
              and not np.isnan(value) and not np.isclose(value, counted)]  # fmt: skip
    if _limits(array) is not None and (len(axes) == 2 or not _limits_count(array)):
        others += [name for name in _LIMITS if name in array.attrs]
    of_bands = {name for name in stated if name.lower() in _OF_BANDS}  # see `_damaged`
    return (*others, *ATTRIBUTES.unused({n: v for n, v in stated.items() if n not in of_bands}))


def _damaged(
    array: Any, band: Hashable, wavelengths: np.ndarray | None, widths: np.ndarray | None
) -> tuple[str, ...]:
    """Return what is stated of bands but not as a usable number for each."""
    names = {str(name): coordinate.dims for name, coordinate in array.coords.items()}
    lists = [str(name) for name in array.attrs if str(name).lower() in _OF_BANDS]
    lost = [name for name in lists if names.get(name) != (band,)]
    for known, values in ((_WAVELENGTHS, wavelengths), (_WIDTHS, widths)):
        lost += [name for name, dims in names.items()
                 if name.lower() in known and dims == (band,) and values is None]  # fmt: skip
    return tuple(dict.fromkeys(lost))


def picture_axes(array: Any, *, n_axes: int = 3) -> tuple[Hashable, ...]:
    """Return the dimensions of rows, columns and, of a cube, bands, or raise `DataError`."""
    found: dict[str, Hashable] = {}
    dims = list(array.dims)
    told = _dimensions_by_rioxarray(array)
    for role, names in (("columns", _COLUMNS), ("rows", _ROWS), ("bands", _BANDS)):
        fitting = [told[role]] if role in told else [d for d in dims if str(d).lower() in names]
        if role == "bands" and not fitting:
            fitting = [d for d in dims if _wavelength_coordinate(array, d) is not None]
        if fitting:
            found[role] = fitting[0]
    left = [d for d in dims if d not in found.values()]
    if len(dims) > n_axes:
        left = [d for d in left if array.sizes[d] > 1]  # a single time
    roles = ["rows", "columns", "bands"][:n_axes]
    found |= dict(zip([role for role in roles if role not in found], left, strict=False))
    rest = [d for d in dims if d not in found.values() and array.sizes[d] > 1]
    extra = array.sizes[found["bands"]] > 1 if n_axes == 2 and "bands" in found else False
    if any(role not in found for role in roles) or rest or extra:
        raise DataError(
            f"{name_of(array)}: dimensions {dict(array.sizes)} are not rows, columns"
            f"{' and bands' if n_axes == 3 else ''} as far as their names tell; select one of each "
            "further dimension, and rename the others to y, x and band"
        )
    return tuple(found[role] for role in roles)


def _warn_of_other_bands(array: Any, bands: tuple[Hashable, ...]) -> None:
    """Warn where the only dimension that is left, such as time, is taken for bands."""
    for band in bands:
        is_known = str(band).lower() in _BANDS or _wavelength_coordinate(array, band) is not None
        if array.sizes[band] > 1 and not is_known and not _NO_NAME.match(str(band)):
            warn_user(
                f"{name_of(array)}: its dimension {str(band)!r} ({array.sizes[band]}) is taken for "
                "bands, as no other is left"
            )


def _dimensions_by_rioxarray(array: Any) -> dict[str, Hashable]:
    """Return the dimensions that rioxarray was told, or finds."""
    try:
        import rioxarray

        return {"columns": array.rio.x_dim, "rows": array.rio.y_dim}
    except ImportError:
        return {}
    except rioxarray.exceptions.RioXarrayError:
        return {}


def picked(source: Any, *, variable: str | None = None, n_axes: int = 3) -> Any:
    """Return the array that a ``Dataset`` is opened for; `DataError` where none or several fit."""
    if not hasattr(source, "data_vars"):
        return source
    array = _chosen(source, variable, n_axes)
    mapping = _mapping_name(array)
    if mapping in source.data_vars:  # where the file was not opened with decode_coords="all"
        array = array.assign_coords({mapping: source[mapping]})
    lists = [
        name
        for name, one in source.data_vars.items()
        if str(name).lower() in _OF_BANDS and one.ndim == 1 and one.dims[0] in array.dims
    ]
    return array.assign_coords({name: source[name] for name in lists})


def _chosen(dataset: Any, variable: str | None, n_axes: int) -> Any:
    place = name_of(dataset)
    arrays = {str(name): array for name, array in dataset.data_vars.items()}
    if variable is not None:
        return _named(dataset, arrays, variable)
    numbers = {name: a for name, a in arrays.items() if a.dtype.kind in "biuf"}
    fitting = {name: a for name, a in numbers.items() if a.squeeze().ndim == n_axes}
    for usual in ("reflectance", "class_map"):
        if usual in fitting:
            return fitting[usual]
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    bands = [a for a in numbers.values() if a.squeeze().ndim == 2]
    if n_axes == 3 and not fitting and len({a.dims for a in bands}) == 1:
        return _stacked(dataset, bands) if len(bands) > 1 else bands[0]
    lines = [a for name, a in numbers.items() if a.ndim == n_axes and name.lower() not in _OF_BANDS]
    if not fitting and len(lines) == 1:  # a picture of a single row or column
        return lines[0]
    listed = ", ".join(f"{name} {dict(a.sizes)}" for name, a in arrays.items()) or "none"
    raise DataError(
        f"{place}: which variable is the {'scene' if n_axes == 3 else 'picture'}? It has {listed}; "
        f"name one with {option_name('variable' if n_axes == 3 else 'label_variable')}"
        + (", or several pictures as its bands, with commas between" if n_axes == 3 else "")
    )


def _named(dataset: Any, arrays: dict[str, Any], variable: str) -> Any:
    """Return a variable, or several, which names or patterns with commas between say, as bands."""
    if variable in arrays:
        return arrays[variable]
    words = [word.strip() for word in variable.split(",")]
    for word in words:
        if not any(fnmatchcase(name, word) for name in arrays):
            raise DataError(f"{name_of(dataset)}: no variable {word!r}; it has {', '.join(arrays)}")
    names = dict.fromkeys(name for word in words for name in arrays if fnmatchcase(name, word))
    chosen = [arrays[name] for name in names]
    if len({array.dims for array in chosen}) > 1:
        sizes = ", ".join(f"{array.name} {dict(array.sizes)}" for array in chosen)
        raise DataError(
            f"{name_of(dataset)}: {sizes} cannot be bands of one scene; name those of one size"
        )
    return _stacked(dataset, chosen) if len(chosen) > 1 else chosen[0]


def _stacked(dataset: Any, bands: list[Any]) -> Any:
    """Return a dataset of one picture per band as a cube."""
    cube = dataset[[band.name for band in bands]].to_dataarray("band")
    cube.attrs = {
        name: value for name, value in bands[0].attrs.items() if str(name).lower() not in _OF_BANDS
    }
    cube.attrs |= _of_each(bands)
    found = [_one_wavelength(band) for band in bands]
    known = [value for value in found if value is not None]
    centres = one_unit(known) if len(known) == len(found) else None
    if centres is not None:
        cube = cube.assign_coords(wavelength=("band", centres, {"units": "nm"}))
    return cube


def _of_each(bands: list[Any]) -> dict[str, Any]:
    """Return scales, offsets and missing values of pictures, where they differ."""
    each = {
        "scales": [float(_per_band(band, _SCALES, 1.0, 1)[0]) for band in bands],
        "offsets": [float(_per_band(band, _OFFSETS, 0.0, 1)[0]) for band in bands],
    }
    found = {name: values for name, values in each.items() if len(set(values)) > 1}
    fills = [_nodata(band) for band in bands]
    if len({repr(value) for value in fills}) > 1:
        values = [np.nan if value is None else value for value in fills]
        return found | {"_FillValue": None, "missing_value": None, "nodata": np.array(values)}
    return found


def _one_wavelength(band: Any) -> tuple[float, str | None] | None:
    for name in sorted(_WAVELENGTHS & set(band.attrs)):
        unit = band.attrs.get(f"{name}_units", band.attrs.get("wavelength_unit"))
        try:
            return float(band.attrs[name]), unit
        except (TypeError, ValueError):
            continue
    return unit_in_name(str(band.attrs.get("long_name") or band.name))


def _squeezed(array: Any, axes: tuple[Hashable, ...]) -> Any:
    return array.isel({dim: 0 for dim in array.dims if dim not in axes})


def _values(
    path: Path, array: Any, axes: tuple[Hashable, ...]
) -> tuple[BlockArray, float | None, float]:
    """Return the cube, its no-data value and what stored values are divided by."""
    cube = _squeezed(array, axes).transpose(*axes)
    n_bands, stored = cube.shape[2], _stored_type(array)
    gains, offsets = (
        _per_band(array, names, d, n_bands) for names, d in ((_SCALES, 1.0), (_OFFSETS, 0.0))
    )
    scales = BandScales(gains, offsets, _nodata(array))
    scales.check(path)
    of_each = array.attrs.get("nodata") if np.ndim(array.attrs.get("nodata")) else None
    limits = _limits(array) if _limits_count(array) else None
    factor = scales.scale_factor if of_each is None and limits is None else None

    def read_rows(start: int, stop: int) -> np.ndarray:
        block = np.asarray(cube.isel({axes[0]: slice(start, stop)}).to_numpy()).view(stored)
        if factor is not None:
            return block
        values = scales.apply(block)
        if of_each is not None:
            values[is_ignored(block, of_each)] = np.nan
        if limits is not None:
            values[(block < limits[0]) | (block > limits[1])] = np.nan
        return values

    source = Path(str(array.encoding.get("source", "")))
    chunks = None if cube.chunks is None else cube.chunks[0]
    data = BlockArray(
        cube.shape,
        np.float32 if factor is None else stored,
        read_rows=read_rows,
        path=source if source.is_file() else path,
        step=1 if chunks is None else max(chunks),
    )
    return (data, None, 1.0) if factor is None else (data, scales.ignored, factor)


_SCALES, _OFFSETS = ("scales", "scale_factor"), ("offsets", "add_offset")


def _per_band(array: Any, names: tuple[str, str], default: float, n_bands: int) -> np.ndarray:
    """Return a number for each band (n_bands,): listed, as rioxarray does, or that of all."""
    stated = next((array.attrs[name] for name in names if name in array.attrs), default)
    values = np.asarray(stated, dtype=float).ravel()
    if len(values) != n_bands and len(set(values.tolist())) != 1:
        raise DataError(
            f"{name_of(array)}: {len(values)} values of {names[0]} for {n_bands} bands; open it "
            "with xarray and mask_and_scale=True"
        )
    return values if len(values) == n_bands else np.full(n_bands, values[0])


def _nodata(array: Any) -> float | None:
    """Return the value for no data; NaN, which is so in every file, only if no other is stated."""
    found = [value for name in _FILLS if (value := _fill(array, name)) is not None]
    return next((value for value in found if not np.isnan(value)), next(iter(found), None))


def _fill(array: Any, name: str) -> float | None:
    value = array.attrs.get(name)
    if value is None or np.ndim(value):
        return None
    return _stored_number(array, value)


def _stored_number(array: Any, value: Any) -> float:
    """Return a number of an attribute, unsigned where the values are."""
    same = np.asarray(value).dtype == array.dtype
    return float(np.asarray(value).view(_stored_type(array)) if same else value)


def _limits(array: Any) -> tuple[float, float] | None:
    """Return the least and the largest stored value that is a measurement, where some are not."""
    stated = array.attrs.get("valid_range")
    if stated is None or np.shape(stated) != (2,):
        stated = [array.attrs.get("valid_min", -np.inf), array.attrs.get("valid_max", np.inf)]
    low, high = (_stored_number(array, value) for value in stated)
    kind = np.asarray(stated[0]).dtype
    bounds = np.iinfo(kind) if kind.kind in "iu" else None
    is_whole = bounds is not None and low <= bounds.min + 1 and high >= bounds.max
    return None if is_whole or (low, high) == (-np.inf, np.inf) else (low, high)


def _limits_count(array: Any) -> bool:
    """Tell whether limits are of stored values: whole numbers are not where xarray has scaled."""
    stated = [np.asarray(array.attrs[name]).dtype for name in _LIMITS if name in array.attrs]
    return all((one.kind == "f") == (array.dtype.kind == "f") for one in stated)


def _stored_type(array: Any) -> np.dtype[Any]:
    """Return the type of the values, unsigned where NetCDF-3 could only say so in an attribute."""
    is_unsigned = str(array.attrs.get("_Unsigned", "")).lower() == "true"
    signed = np.dtype(array.dtype)
    if not (is_unsigned and signed.kind == "i"):
        return signed
    return np.dtype(f"u{signed.itemsize}").newbyteorder(signed.byteorder)


def _wavelength_coordinate(array: Any, band: Hashable) -> Any:
    for name, coordinate in array.coords.items():
        known = str(name).lower() in _WAVELENGTHS or (
            coordinate.attrs.get("standard_name") in _STANDARD_NAMES
        )
        if known and coordinate.dims == (band,) and coordinate.dtype.kind in "iuf":
            return coordinate
    return None


def _wavelengths(array: Any, band: Hashable) -> np.ndarray | None:
    coordinate = _wavelength_coordinate(array, band)
    if coordinate is None:
        named = [unit_in_name(text) for text in _names(array, band) or ()]
        found = [one for one in named if one is not None]
        return one_unit(found) if found and len(found) == len(named) else None
    values = _unpacked(coordinate)
    if not np.isfinite(values).all() or values.min() <= 0:
        raise DataError(
            f"{name_of(array)}: the coordinate {coordinate.name!r} holds values that are no "
            "wavelengths; correct or drop it"
        )
    return in_nanometres(values, coordinate.attrs.get("units"))


def _widths(array: Any, band: Hashable, wavelengths: np.ndarray | None) -> np.ndarray | None:
    stated = _wavelength_coordinate(array, band)
    for name, coordinate in array.coords.items():
        if str(name).lower() in _WIDTHS and coordinate.dims == (band,) and stated is not None:
            return widths_in_nanometres(
                _unpacked(coordinate) if coordinate.dtype.kind in "iuf" else None,
                _unpacked(stated),
                wavelengths,
                unit=coordinate.attrs.get("units"),
            )
    return None


def _unpacked(coordinate: Any) -> np.ndarray:
    """Return the numbers of a coordinate in double precision, NaN where it has none."""
    stored = coordinate.to_numpy().view(_stored_type(coordinate))
    (gain,), (offset,) = (
        _per_band(coordinate, names, d, 1) for names, d in ((_SCALES, 1.0), (_OFFSETS, 0.0))
    )
    values = stored.astype(np.float64) * gain + offset
    return np.where(is_ignored(stored, _nodata(coordinate)), np.nan, values)


def _good(array: Any, band: Hashable) -> np.ndarray | None:
    for name, coordinate in array.coords.items():
        if str(name).lower() in _GOOD and coordinate.dims == (band,):
            return np.asarray(coordinate.to_numpy().astype(float) != 0)
    return None


def _names(array: Any, band: Hashable) -> tuple[str, ...] | None:
    """Return the names of bands: of rioxarray, or of the bands' own coordinate."""
    long_name, size = array.attrs.get("long_name"), array.sizes[band]
    if isinstance(long_name, tuple | list) and len(long_name) == size:
        return tuple(map(str, long_name))
    if band in array.coords and array.coords[band].dtype.kind in "UOT":
        return tuple(map(str, array.coords[band].to_numpy()))
    return None


def _map_info(array: Any, axes: tuple[Hashable, ...]) -> MapInfo | None:
    """Return where the pixels lie.

    Coordinates rule: after a choice of rows the transform of the grid mapping is a stale one. It
    counts for dimensions without coordinates, and for the size of a single row or column.
    """
    mapping = _grid_mapping(array)
    stated = _stated_transform(mapping)
    centres = [_centres(array, dim) for dim in axes[:2]]
    reasons = [_unevenness(dim, values) for dim, values in zip(axes, centres, strict=False)]
    if any(reasons):
        y, x = (
            np.arange(array.sizes[dim], dtype=float) if values is None else values
            for dim, values in zip(axes, centres, strict=False)
        )
        return MapInfo((), uneven=UnevenCentres(y, x, "; ".join(filter(None, reasons))))
    transform = _transform(centres, stated)
    return None if transform is None else map_info_of(Georeference(transform, _crs(array, mapping)))


def _mapping_name(array: Any) -> str:
    return array.encoding.get("grid_mapping", array.attrs.get("grid_mapping", "spatial_ref"))


def _grid_mapping(array: Any) -> dict[str, Any]:
    name = _mapping_name(array)
    return dict(array.coords[name].attrs) if name in array.coords else {}


def _stated_transform(mapping: dict[str, Any]) -> _Transform | None:
    try:
        c, a, b, f, d, e = (float(text) for text in str(mapping["GeoTransform"]).split())
    except (KeyError, ValueError):
        return None
    return a, b, c, d, e, f  # GDAL's order is another


def _centres(array: Any, dim: Hashable) -> np.ndarray | None:
    """Return the coordinates of a dimension, or None where it has no numbers."""
    if dim not in array.coords or array.coords[dim].dtype.kind not in "iuf":
        return None
    return _unpacked(array.coords[dim])


def _unevenness(dim: Hashable, values: np.ndarray | None) -> str | None:
    if values is None or (len(values) == 1 and np.isfinite(values[0])):
        return None
    if not np.isfinite(values).all():
        return f"its coordinates {dim} are not all finite"
    if even_steps(values) is not None:
        return None
    steps = np.diff(values)
    return f"its coordinates {dim} are uneven (steps from {steps.min():.6g} to {steps.max():.6g})"


def _transform(centres: list[np.ndarray | None], stated: _Transform | None) -> _Transform | None:
    """Return the transform of even coordinates, completed by the one that is stated."""
    if all(values is None for values in centres):
        return stated
    lines: list[tuple[float, float] | None] = [None, None]
    if stated is not None and not (stated[1] or stated[3]):
        a, _, c, _, e, f = stated
        lines = [(f + e / 2, e), (c + a / 2, a)]
    for axis, values in enumerate(centres):
        line = lines[axis]
        if values is not None and len(values) > 1:
            lines[axis] = even_steps(values)
        elif values is not None and line is not None:
            lines[axis] = (float(values[0]), line[1])
    rows, columns = lines
    if rows is None or columns is None:
        return None
    (top, down), (left, right) = rows, columns
    return right, 0.0, left - right / 2, 0.0, down, top - down / 2


def _crs(array: Any, mapping: dict[str, Any]) -> str | None:
    """Return the coordinate system; a text that names none is refused where it is needed."""
    try:
        import rioxarray  # noqa: F401

        with with_projections():
            return crs_text(array.rio.crs)
    except Exception:  # of several libraries, for texts of any kind; or there is no rioxarray
        return mapping.get("crs_wkt") or mapping.get("spatial_ref")
