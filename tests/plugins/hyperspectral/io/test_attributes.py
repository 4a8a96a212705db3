"""Each reader honours what it declares, tells what it leaves out, and is quiet about the rest.

Files are written by the tools of their formats, once with an attribute and once without.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import rasterio
import scipy.io
import spectral.io.envi
import xarray as xr
import zarr
from PIL import Image
from rasterio.control import GroundControlPoint
from rasterio.rpc import RPC

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io import readers
from diffclass_hyperspectral.io.readers import DECLARED, envi, read_image, read_library

ROWS, COLUMNS, BANDS = 4, 5, 3
CUBE = np.arange(1, 61, dtype=np.int16).reshape(ROWS, COLUMNS, BANDS)
IDS = CUBE[..., 0] % 4
NM = [450.0, 550.0, 650.0]
WKT = rasterio.crs.CRS.from_epsg(25833).to_wkt()
UTM = "UTM, 1, 1, 500000, 5400000, 30, 30, 33, North, WGS-84"
PLACED = {"map info": UTM.split(", ")}
TRANSFORM = rasterio.Affine(30, 0, 500_000, 0, -30, 5_400_000)
HARMLESS = {
    "title": "a scene", "history": "made", "sensor_type": "x", "acquisition_time": "2020-01-01",
    "AREA_OR_POINT": "Area", "cloud_cover": 3, "source": "y",
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")


# --- writers: from what is stated to a file ------------------------------------------------------


def of_envi(folder, stated, data=CUBE, **kwargs):
    path = folder / "scene.hdr"
    spectral.io.envi.save_image(str(path), data, metadata=dict(stated), force=True, **kwargs)
    return path


def of_library(folder, stated):
    header = {"wavelength units": "nm"} | dict(stated)
    made = spectral.io.envi.SpectralLibrary(CUBE[0].astype(np.float32), header, None)
    made.save(str(folder / "spectra"))
    path = folder / "spectra.hdr"
    ignored = stated.get("data ignore value", "NaN")  # spectral writes NaN
    path.write_text(path.read_text().replace("value = NaN", f"value = {ignored}"))
    return folder / "spectra.sli"


def of_gdal(folder, stated, data=CUBE):
    path, own = folder / "scene.tif", dict(stated)
    data = own.pop("data", data)
    placed = own.pop("grid", {})
    with rasterio.open(
        path, "w", driver="GTiff", height=ROWS, width=COLUMNS, count=data.shape[2],
        dtype=data.dtype, nodata=own.pop("nodata", None), **placed, **own.pop("profile", {}),
    ) as raster:  # fmt: skip
        raster.write(data.transpose(2, 0, 1))
        for name, value in own.pop("set", {}).items():
            setattr(raster, name, value)
        if "mask" in own:
            raster.write_mask(own.pop("mask"))
        if "colormap" in own:
            raster.write_colormap(1, own.pop("colormap"))
        for k, value in enumerate(own.pop("band", ())):
            raster.update_tags(k + 1, **value)
        for domain, tags in own.pop("domains", {}).items():
            raster.update_tags(ns=domain, **tags)
        raster.update_tags(**own)
    return path


def of_netcdf(folder, stated):
    return (
        of_xarray(folder, stated, lambda made: made.to_netcdf(folder / "s.nc")) or folder / "s.nc"
    )


def of_zarr(folder, stated):
    path = folder / "s.zarr"
    return of_xarray(folder, stated, lambda made: made.to_zarr(path, consolidated=False)) or path


def of_xarray(folder, stated, write):
    own = dict(stated)
    coords, more = own.pop("coords", {}), own.pop("more", {})
    data = own.pop("data", CUBE)
    dims = ("y", "x", "band")[: data.ndim]
    write(xr.Dataset({"cube": xr.DataArray(data, coords, dims, attrs=own), **more}))


def of_arrays(folder, stated):
    scipy.io.savemat(folder / "s.mat", {"cube": CUBE, **stated})
    return folder / "s.mat"


def of_archive(folder, stated):
    np.savez(folder / "s.npz", cube=CUBE, **stated)
    return folder / "s.npz"


def of_hdf5(folder, stated):
    with h5py.File(folder / "s.h5", "w") as file:
        cube = file.create_dataset("scene/cube", data=CUBE)
        for name, value in stated.items():
            if np.ndim(value):
                file[f"scene/{name}"] = value
            else:
                cube.attrs[name] = value
    return folder / "s.h5"


def of_zarr_arrays(folder, stated):
    array = zarr.create_array(folder / "a.zarr", data=CUBE)
    array.attrs.update(stated)
    return folder / "a.zarr"


def of_stac(folder, stated):
    own = dict(stated)
    of_gdal(folder, {"grid": {"transform": TRANSFORM, "crs": "EPSG:32633"}})
    asset = ASSET | own.pop("asset", {})
    item = {
        "type": "Feature", "stac_version": "1.1.0", "id": "a", "geometry": None, "links": [],
        "properties": {"datetime": "2020-01-01T00:00:00Z", **own.pop("properties", {})},
        "assets": {"image": asset, **own.pop("others", {})},
    }  # fmt: skip
    (folder / "item.json").write_text(json.dumps(item))
    return folder / "item.json"


def of_erdas(folder, stated):
    path = of_gdal(folder, {"grid": dict(stated)}, data=CUBE.astype(np.uint8))
    with rasterio.open(path) as raster:
        profile = raster.profile | {"driver": "LAN"}
        bands = raster.read()
    with rasterio.open(folder / "scene.lan", "w", **{k: profile[k] for k in
                       ("driver", "width", "height", "count", "dtype")}) as made:  # fmt: skip
        made.write(bands)
    head = bytearray((folder / "scene.lan").read_bytes())
    head[120:128] = np.array([30, 30] if stated else [0, 0], "<f4").tobytes()
    (folder / "scene.lan").write_bytes(head)
    return folder / "scene.lan"


def of_photograph(folder, stated):
    own, path = dict(stated), folder / "photo.png"
    exif = Image.Exif()
    exif[0x0112] = own.pop("orientation", 1)
    Image.fromarray(CUBE.astype(np.uint8), "RGB").save(path, exif=exif, **own)
    return path


def of_png(folder, stated):
    own, path = dict(stated), folder / "ids.png"
    made = Image.fromarray(IDS.astype(np.uint8), "L")
    if "palette" in own:
        made = made.convert("P")
        made.putpalette(own.pop("palette"))
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    for name, value in own.pop("text", {}).items():
        text.add_text(name, value)
    made.save(path, pnginfo=text, **own)
    return path


# --- what is stated of each attribute: with it, and besides --------------------------------------

WAVES = {"wavelength": NM}
ENVI = {
    "wavelength": (WAVES, {}),
    "wavelength units": ({"wavelength units": "Micrometers"}, WAVES),
    "fwhm": ({"fwhm": [5.0, 6.0, 7.0]}, WAVES),
    "bbl": ({"bbl": [1, 0, 1]}, {}),
    "data ignore value": ({"data ignore value": 7}, {}),
    "band names": ({"band names": ["a", "b", "c"]}, {}),
    "map info": (PLACED, {}),
    "coordinate system string": ({"coordinate system string": WKT.split(",")}, PLACED),
    "geo points": ({"geo points": ["1", "1", "50", "10"]}, {}),
    "rpc info": ({"rpc info": ["1", "2"]}, {}),
    "projection info": ({"projection info": ["3", "6378137"]}, {}),
    "read procedures": ({"read procedures": ["a", "b"]}, {}),
} | {
    f"data {kind}{what} values": ({f"data {kind}{what} values": [2, 3, 4]}, {})
    for kind in ("", "reflectance ")
    for what in ("gain", "offset")
} | {"reflectance scale factor": ({"reflectance scale factor": 5000}, {})}  # fmt: skip
CLASSES = {
    "class names": ({"class names": ["-", "a", "b", "c"]}, {"classes": 4}),
    "class lookup": ({"class lookup": list(range(12))}, {"classes": 4}),
}
LIBRARY = {
    "wavelength": (WAVES, {}),
    "wavelength units": ({"wavelength units": "Micrometers"}, WAVES),
    "spectra names": ({"spectra names": list("abcde")}, {}),
    "bbl": ({"bbl": [1, 0, 1]}, {}),
    "data ignore value": ({"data ignore value": 7}, {}),
    "reflectance scale factor": ({"reflectance scale factor": 5000}, {}),
    "data gain values": ({"data gain values": [2, 3, 4]}, {}),
    "data offset values": ({"data offset values": [2, 3, 4]}, {}),
    "fwhm": ({"fwhm": [5, 6, 7]}, {}),
}


def per_band(name, values):
    return {"band": [{name: value} for value in values]}


ALPHA = {"set": {"colorinterp": [rasterio.enums.ColorInterp(i) for i in (3, 4, 6)]}}
GRID = {"grid": {"transform": TRANSFORM}}
POINTS = [GroundControlPoint(r, c, 10 + c, 50 - r) for r, c in ((0, 0), (0, 5), (4, 0), (4, 5))]
RPCS = RPC(
    **dict.fromkeys(("height_off", "lat_off", "line_off", "long_off", "samp_off"), 0.0),
    **dict.fromkeys(("height_scale", "lat_scale", "line_scale", "long_scale", "samp_scale"), 1.0),
    **dict.fromkeys(("line_den_coeff", "line_num_coeff", "samp_den_coeff", "samp_num_coeff"),
                    [1.0] * 20),
)  # fmt: skip
GDAL = {
    "transform": (GRID, {}),
    "coordinate system": ({"grid": {"transform": TRANSFORM, "crs": "EPSG:32633"}}, GRID),
    "GDAL's scale": ({"set": {"scales": (0.5, 0.5, 0.5)}}, {}),
    "GDAL's offset": ({"set": {"offsets": (0.5, 0, 0)}}, {}),
    "GDAL's no-data value": ({"nodata": 7}, {}),
    "mask": ({"mask": IDS > 0}, {}),
    "alpha band": (ALPHA, {"data": (CUBE % 2 * 255).astype(np.uint8)}),
    "description": ({"set": {"descriptions": ("a", "b", "c")}}, {}),
    "wavelength": (per_band("wavelength", NM), {}),
    "wavelengths": ({"wavelengths": "{450, 550, 650}"}, {}),
    "wavelength units": ({"wavelength_units": "Micrometers"}, {"wavelength": "{450, 550, 650}"}),
    "central wavelength um": ({"band": [{"CENTRAL_WAVELENGTH_UM": v / 1e3} for v in NM]}, {}),
    "fwhm": ({"fwhm": "{5, 6, 7}"}, {"wavelength": "{450, 550, 650}"}),
    "fwhm um": ({"band": [{"FWHM_UM": 0.005}] * 3}, {"wavelength": "{450, 550, 650}"}),
    "bbl": (per_band("bbl", [1, 0, 1]), {}),
    "band names": ({"domains": {"ENVI": {"band_names": "{a, b, c}"}}}, {}),
    "ground control points": ({"set": {"gcps": (POINTS, rasterio.CRS.from_epsg(4326))}}, {}),
    "RPC": ({"set": {"rpcs": RPCS}}, {}),
    "GEOLOCATION": ({"domains": {"GEOLOCATION": {"X_DATASET": "x.tif", "LINE_STEP": "1"}}}, {}),
} | {
    name: ({"domains": {"ENVI": {name.replace(" ", "_"): f"{{{values}}}"}}}, {})
    for name, values in {
        "data gain values": "2, 3, 4", "data offset values": "2, 3, 4",
        "data reflectance gain values": "2, 3, 4", "data reflectance offset values": "2, 3, 4",
        "reflectance scale factor": "5000", "data ignore value": "7",
    }.items()
}  # fmt: skip
FLAGS = {
    "flag values": ({"flag_values": "1 2", "flag_meanings": "a b"}, {"flag_meanings": "a b"}),
    "flag meanings": ({"flag_meanings": "a b", "flag_values": "1 2"}, {"flag_values": "1 2"}),
    "flag colors": ({"flag_colors": "#ff0000 #00ff00", "flag_values": "1 2"},
                    {"flag_values": "1 2"}),
    "class names": ({"class_names": '{"1": "a"}'}, {}),
    "color table": ({"colormap": {1: (255, 0, 0, 255)}}, {}),
}  # fmt: skip
CENTRES = {"coords": {"wavelength": ("band", NM)}}
LON, LAT = (("y", "x"), CUBE[..., 0] / 10.0), (("y", "x"), -CUBE[..., 1] / 10.0)
X, Y = 500_015.0 + 30 * np.arange(COLUMNS), 5_400_000.0 - 30 * np.arange(ROWS)
PIXELS = {"coords": {"x": X, "y": Y}}
CRS = {"spatial_ref": xr.DataArray(0, attrs={"crs_wkt": WKT, "spatial_ref": WKT})}
XARRAY = {
    "x": (PIXELS, {"coords": {"y": Y}}),
    "y": (PIXELS, {"coords": {"x": X}}),
    "grid_mapping": ({"grid_mapping": "spatial_ref", "more": CRS}, PIXELS),
    "crs": ({"crs": "EPSG:32633"}, PIXELS),
    "_FillValue": ({"_FillValue": np.int16(7)}, {}),
    "missing_value": ({"missing_value": np.int16(7)}, {}),
    "nodata": ({"nodata": 7.0}, {}),
    "valid_range": ({"valid_range": np.array([3, 50], np.int16)}, {}),
    "valid_min": ({"valid_min": np.int16(3)}, {}),
    "valid_max": ({"valid_max": np.int16(50)}, {}),
    "scale_factor": ({"scale_factor": 0.5}, {}),
    "scales": ({"scales": [0.5, 0.25, 0.5]}, {}),
    "add_offset": ({"add_offset": 2.0}, {}),
    "offsets": ({"offsets": [1.0, 2.0, 3.0]}, {}),
    "wavelength_units": ({"wavelength_units": "um", "wavelength": NM}, {"wavelength": NM}),
    "wavelength_unit": ({"wavelength_unit": "um", "wavelength": NM}, {"wavelength": NM}),
    "_Unsigned": ({"_Unsigned": "true"}, {"data": -CUBE}),
    "long_name": ({"long_name": ["a", "b", "c"]}, {}),
    "coordinates of each pixel": ({"coords": {"lon": LON, "lat": LAT}}, {}),
}  # fmt: skip
OF_BANDS = {"wavelengths": NM, "widths": [5.0, 6.0, 7.0], "bad bands": [1, 0, 1]}
for name, meaning in readers.xarray_cubes.ATTRIBUTES.honoured.items():
    if meaning in OF_BANDS and name not in XARRAY:
        besides = CENTRES["coords"] if meaning == "widths" else {}
        with_it = {"coords": {**besides, name: ("band", OF_BANDS[meaning])}}
        XARRAY[name] = (with_it, {"coords": besides})
XARRAY_IDS = {
    "flag_values": ({"flag_values": [1, 2], "flag_meanings": "a b"}, {"flag_meanings": "a b"}),
    "flag_meanings": ({"flag_values": [1, 2], "flag_meanings": "a b"}, {"flag_values": [1, 2]}),
    "flag_colors": ({"flag_values": [1, 2], "flag_colors": "#ff0000 #00ff00"},
                    {"flag_values": [1, 2]}),
    "class_names": ({"class_names": '{"1": "a"}'}, {}),
    "flag_masks": ({"flag_masks": [1, 2]}, {}),
}  # fmt: skip
XARRAY_IDS = {name: (w, {"data": IDS} | o) for name, (w, o) in XARRAY_IDS.items()}
ARRAYS = {
    "wavelengths": ({"wavelengths": NM}, {}), "wavelength": ({"wavelength": NM}, {}),
    "wavelengths_nm": ({"wavelengths_nm": NM}, {}), "fwhm": ({"fwhm": NM}, {}),
    "bbl": ({"bbl": [1.0, 0, 1]}, {}),
}  # fmt: skip
ARRAY_ATTRIBUTES = {
    name: ({name: 7}, {}) for name in ("scale_factor", "add_offset", "_FillValue", "missing_value")
}
BANDS_OF = {"asset": {"bands": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}


def of_each(**fields):
    return {"asset": {"bands": [{"name": name, **fields} for name in "abc"]}}


ASSET = {"href": "scene.tif", "type": "image/tiff"}
STAC = {
    "name": (BANDS_OF, {}),
    "center_wavelength": (of_each(**{"eo:center_wavelength": 0.5}), BANDS_OF),
    "full_width_half_max": (
        of_each(**{"eo:center_wavelength": 0.5, "eo:full_width_half_max": 0.01}),
        of_each(**{"eo:center_wavelength": 0.5}),
    ),
    "scale": (of_each(**{"raster:scale": 0.5}), BANDS_OF),
    "offset": (of_each(**{"raster:offset": 0.5}), BANDS_OF),
    "nodata": (of_each(nodata=7), BANDS_OF),
    "roles": ({"asset": {"roles": ["data"]}}, {"others": {"b": ASSET}}),
}  # fmt: skip
PHOTOGRAPHS = {
    "transparency": ({"transparency": (1, 2, 3)}, {}), "orientation": ({"orientation": 6}, {}),
}  # fmt: skip
PNG = {
    "palette": ({"palette": list(range(12))}, {}),
    readers.NAMES_KEY: ({"text": {readers.NAMES_KEY: '{"1": "a"}'}}, {}),
    "transparency": ({"transparency": 2}, {}),
}


# --- the tests -----------------------------------------------------------------------------------


def ids_of(write):
    return lambda folder, stated: write(folder, stated, data=IDS[..., None].astype(np.uint8))


TRIED = [
    (envi.ATTRIBUTES, of_envi, 3, ENVI),
    (envi.ATTRIBUTES, ids_of(of_envi), 2, CLASSES),
    (readers.band_tags.ATTRIBUTES, of_gdal, 3, GDAL),
    (readers.band_tags.ATTRIBUTES, ids_of(of_gdal), 2, FLAGS),
    (readers.xarray_cubes.ATTRIBUTES, of_netcdf, 3, XARRAY),
    (readers.xarray_cubes.ATTRIBUTES, of_zarr, 3, XARRAY),
    (readers.xarray_cubes.ATTRIBUTES, of_netcdf, 2, XARRAY_IDS),
    (readers.matlab.ATTRIBUTES, of_arrays, 3, ARRAYS),
    (readers.matlab.ATTRIBUTES, of_archive, 3, ARRAYS),
    (readers.matlab.ATTRIBUTES, of_hdf5, 3, ARRAYS | ARRAY_ATTRIBUTES),
    (readers.matlab.ATTRIBUTES, of_zarr_arrays, 3, ARRAY_ATTRIBUTES),
    (readers.stac.ATTRIBUTES, of_stac, 3, STAC),
    (readers.erdas.ATTRIBUTES, of_erdas, 3, {"map coordinates": (GRID["grid"], {})}),
    (readers.pictures.PHOTOGRAPHS, of_photograph, 3, PHOTOGRAPHS),
    (readers.pictures.LABELS, of_png, 2, PNG),
    (envi.LIBRARY, of_library, 0, LIBRARY),
]
# what no file is without, and what other tests write
TRIED_ELSEWHERE = {
    *envi.LAYOUT, "major frame offsets", "minor frame offsets", "nRow, nCol", "category names",
    "raster attribute table",
}  # fmt: skip
EACH = [
    pytest.param(declared, write, n_axes, *stated, name, id=f"{declared.format[:12]}-{k}-{name}")
    for k, (declared, write, n_axes, table) in enumerate(TRIED)
    for name, stated in table.items()
]


def said(path, n_axes):
    """Return what is read of a file, comparable, and what is said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_image(path, n_axes=n_axes) if n_axes else read_library(path)
    facts = {name: fact for name, fact in vars(found).items() if name not in ("unused", "data")}
    place = facts.get("map_info")
    facts["place"] = None if place is None else (place.georeference, place.uneven)
    if n_axes:
        facts["data"] = np.asarray(found.data).tolist()
    words = [str(one.message) for one in caught if "does not use" in str(one.message)]
    return repr(facts), words


@pytest.mark.parametrize(("declared", "write", "n_axes", "stated", "besides", "name"), EACH)
def test_what_is_declared(tmp_path, declared, write, n_axes, stated, besides, name):
    folders = [tmp_path / "without", tmp_path / "with"]
    for folder in folders:
        folder.mkdir()
    without, quiet = said(write(folders[0], besides), n_axes)
    path = write(folders[1], {**besides, **stated})
    found, words = said(path, n_axes)
    if name in declared.honoured:
        assert found != without
        assert words == []
    else:
        assert found == without
        (line,) = words
        assert name in line.partition("states")[2]
        assert Path(path).stem in line.partition("states")[0]
    assert quiet == []


def test_all_that_is_declared_is_tried():
    for declared in DECLARED:
        tried = {name for one, _, _, table in TRIED if one is declared for name in table}
        assert tried | TRIED_ELSEWHERE >= {*declared.honoured, *declared.left_out}
        assert tried <= {*declared.honoured, *declared.left_out}


UNKNOWN = {"calibration_scale_factor": 0.01, "fill_value": -1, "badBands": "3", "gain": 2}


@pytest.mark.parametrize("write", [of_envi, of_gdal, of_netcdf, of_zarr, of_hdf5, of_zarr_arrays])
def test_what_is_unknown_is_told_where_it_speaks_of_values(tmp_path, write):
    assert said(write(tmp_path, HARMLESS), 3)[1] == []
    for name, value in UNKNOWN.items():
        (tmp_path / name).mkdir()
        (line,) = said(write(tmp_path / name, HARMLESS | {name: value}), 3)[1]
        assert name.lower().replace("_", " ") in line.lower().replace("_", " ")


@pytest.mark.data
def test_files_of_others_say_nothing_but_what_is_lost(data_folder):
    """Their titles, dates, resamplings and statistics are no attributes of values."""
    lost = {"gcp": "ground control points", "compdcs": "ground control points",
            "white-gemini": "ground control points", "rpc": "RPC"}  # fmt: skip
    refused = ("corrupt", "cint16", "POINT", "PLANET")
    paths = [path for ending in ("tif", "vrt", "nc")
             for path in sorted((data_folder / "others").glob(f"*/*.{ending}"))]  # fmt: skip
    assert len(paths) > 30
    for path in paths:
        if any(word in path.name for word in refused):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read_image(path)
        words = [str(one.message) for one in caught]
        expected = [what for word, what in lost.items() if word in path.name]
        assert len(words) == len(expected), words
        assert all(
            f"states {what}, which" in line for what, line in zip(expected, words, strict=True)
        )


def test_frames_of_envi_are_refused(tmp_path):
    path = of_envi(tmp_path, {"major frame offsets": [0, 0]})
    assert read_image(path).data.shape == CUBE.shape
    text = path.read_text()
    path.write_text(text.replace("major frame offsets = { 0", "major frame offsets = { 4"))
    with pytest.raises(DataError, match="frame offsets are not supported"):
        read_image(path)


def row(declared):
    """Return the line of the guide's table."""
    by_meaning: dict[str, list[str]] = {}
    for name, meaning in declared.honoured.items():
        by_meaning.setdefault(meaning, []).append(f"`{name}`")
    honoured = "; ".join(f"{what}: {', '.join(names)}" for what, names in by_meaning.items())
    left_out = ", ".join(f"`{name}`" for name in declared.left_out)
    return f"| {declared.format} | {honoured} | {left_out} |"


def test_the_guide_has_the_declarations():
    guide = (Path(__file__).resolve().parents[4] / "plugins" / "README.md").read_text("utf-8")
    rows = [row(declared) for declared in DECLARED]
    assert [line for line in rows if line not in guide] == []
