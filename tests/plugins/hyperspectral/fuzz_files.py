"""Small files of every format that the commands read, for `tests.plugins.hyperspectral.fuzz`."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import h5py
import numpy as np
import rasterio.shutil
import scipy.io
import spectral.io.envi as envi
import xarray
from PIL import Image

from diffclass import DiffusionClassifier, Warp
from diffclass.kernels import Directed, LocalDiscriminant, SharedNeighbors
from diffclass_hyperspectral import (
    LabelImage,
    SceneFeatures,
    classify_scene,
    open_scene,
    save_model,
    write_raster,
)

from .io.test_band_files import item_of, write_bands
from .io.test_geotiff import write_tiff
from .io.test_vector_labels import COLUMNS, ROWS, SCENE, write
from .products import COLUMNS as PRODUCT_COLUMNS
from .products import ROWS as PRODUCT_ROWS
from .products import write_emit, write_enmap, write_prisma
from .writers import save_envi, save_mat73, write_lan

SHAPE = (ROWS, COLUMNS)
CUBE = np.random.default_rng(0).integers(0, 900, (*SHAPE, 4)).astype(np.int16)
CUBE[:, COLUMNS // 2 :] += 700
FLOATS = (CUBE / 1600).astype(np.float32)
_PRODUCT = (PRODUCT_ROWS, PRODUCT_COLUMNS)
_ENVI_FACTS = {
    "wavelength": [400, 500, 600, 700], "wavelength units": "nm", "bbl": [1, 1, 0, 1],
    "data ignore value": -9999, "reflectance scale factor": 10000,
    "map info": ["UTM", "1", "1", "5e5", "5e6", "30", "30", "33", "North", "WGS-84"],
}  # fmt: skip
Made = tuple[Path, tuple[int, int]]


def label_array(shape: tuple[int, ...]) -> np.ndarray:
    """Two classes, left and right, with unlabelled pixels between."""
    ids = np.zeros(shape, dtype=np.uint8)
    ids[::2, :2], ids[::2, -2:] = 1, 2
    return ids


def make_grid(folder: Path) -> Path:
    """Write the scene that the labels lie on."""
    write_raster(folder / "given_scene.img", FLOATS, map_info=SCENE.map_info)
    return folder / "given_scene.hdr"


def _numpy(folder: Path, cube: np.ndarray) -> Made:
    np.save(folder / "scene.npy", cube)
    return folder / "scene.npy", SHAPE


def _matlab(folder: Path, **options: bool) -> Made:
    scipy.io.savemat(folder / "scene.mat", {"cube": CUBE}, **options)
    return folder / "scene.mat", SHAPE


def _hdf5(folder: Path) -> Made:
    with h5py.File(folder / "scene.h5", "w") as file:
        file.create_dataset("cube", data=FLOATS, chunks=(4, 4, 4), compression="gzip")
    return folder / "scene.h5", SHAPE


def _emit(folder: Path) -> Made:
    write_emit(folder / "scene.nc")
    return folder / "scene.nc", _PRODUCT


def _prisma(folder: Path) -> Made:
    write_prisma(folder / "scene.he5")
    return folder / "scene.he5", _PRODUCT


def _tiff(folder: Path, cube: np.ndarray, **options: object) -> Made:
    return write_tiff(folder / "scene.tif", cube, **options), SHAPE


def _envi(folder: Path, cube: np.ndarray, **options: object) -> Made:
    return save_envi(folder, cube, metadata=_ENVI_FACTS, **options), SHAPE


def _archive(folder: Path) -> Made:
    np.savez(folder / "scene.npz", cube=FLOATS, wavelengths=np.arange(4) * 100 + 450.0)
    return folder / "scene.npz", SHAPE


def _photograph(folder: Path, ending: str) -> Made:
    Image.fromarray((CUBE[..., :3] // 8).astype(np.uint8)).save(folder / f"scene{ending}")
    return folder / f"scene{ending}", SHAPE


_TILES = {"tiled": True, "blockxsize": 16, "blockysize": 16, "compress": "deflate"}
_TAGS = {"tags": [{"wavelength": 500 + i} for i in range(4)], "nodata": -9999}
SCENE_FILES: dict[str, Callable[[Path], Made]] = {
    "ENVI bip": lambda folder: _envi(folder, CUBE, interleave="bip"),
    "ENVI bsq of floats": lambda folder: _envi(folder, FLOATS, interleave="bsq"),
    "LAN": lambda folder: (write_lan(folder / "scene.lan", CUBE, packing=2), SHAPE),
    "GeoTIFF": lambda folder: _tiff(folder, CUBE, **_TAGS),
    "GeoTIFF of floats": lambda folder: _tiff(folder, FLOATS),
    "GeoTIFF in tiles": lambda folder: _tiff(folder, CUBE, **_TILES),
    "MATLAB": _matlab,
    "MATLAB compressed": lambda folder: _matlab(folder, do_compression=True),
    "MATLAB 7.3": lambda folder: (save_mat73(folder / "scene.mat", {"cube": CUBE}), SHAPE),
    "HDF5": _hdf5,
    "NumPy": lambda folder: _numpy(folder, CUBE),
    "NumPy of floats": lambda folder: _numpy(folder, FLOATS),
    "NumPy of doubles": lambda folder: _numpy(folder, FLOATS.astype(np.float64)),
    "NumPy archive": _archive,
    "JPEG": lambda folder: _photograph(folder, ".jpg"),
    "PNG": lambda folder: _photograph(folder, ".png"),
    "EMIT": _emit,
    "PRISMA": _prisma,
    "EnMAP by its XML": lambda folder: (write_enmap(folder)[2], _PRODUCT),
    "EnMAP by its image": lambda folder: (write_enmap(folder)[1], _PRODUCT),
}


def _copy(folder: Path, name: str, driver: str, **options: str) -> Made:
    """A copy by GDAL of a GeoTIFF, which stays where a VRT needs it."""
    first = _tiff(folder, CUBE.astype(np.uint16), **_TAGS | {"nodata": 9999})[0]
    rasterio.shutil.copy(first, folder / name, driver=driver, **options)
    if driver != "VRT":
        first.unlink()
    return folder / name, SHAPE


def _bands(folder: Path) -> Made:
    return write_bands(folder / "scene", cube=CUBE)[0].parent, SHAPE


def _item(folder: Path) -> Made:
    files = write_bands(folder, cube=CUBE)
    files = [file.rename(folder / file.name.replace("T33", "scene")) for file in files]
    item = item_of(files, scale=0.0001, nodata=-9999)
    (folder / "scene.json").write_text(json.dumps(item))
    return folder / "scene.json", SHAPE


def _zarr(folder: Path, version: int) -> Made:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of consolidated metadata
        made = xarray.Dataset({"cube": (("y", "x", "band"), FLOATS)}).chunk({"y": 8})
        made.to_zarr(folder / "scene.zarr", zarr_format=version)
    return folder / "scene.zarr", SHAPE


STORE_FILES: dict[str, Callable[[Path], Made]] = {
    "VRT": lambda folder: _copy(folder, "scene.vrt", "VRT"),
    "ERDAS IMAGINE": lambda folder: _copy(folder, "scene.img", "HFA"),
    "JPEG 2000": lambda folder: _copy(
        folder, "scene.jp2", "JP2OpenJPEG", QUALITY="100", REVERSIBLE="YES"
    ),
    "band files": _bands,
    "STAC item": _item,
    "Zarr 2": lambda folder: _zarr(folder, 2),
    "Zarr 3": lambda folder: _zarr(folder, 3),
}


def _classes(folder: Path) -> Made:
    colors = [(0, 0, 0), (1, 2, 3), (4, 5, 6)]
    ids, names = label_array(SHAPE), ["none", "corn", "soy"]
    envi.save_classification(
        str(folder / "labels.hdr"), ids, class_names=names, class_colors=colors
    )
    return folder / "labels.hdr", SHAPE


def _png(folder: Path, mode: str) -> Made:
    image = Image.fromarray(label_array(SHAPE))
    if mode == "P":
        image.putpalette([0, 0, 0, 200, 0, 0, 0, 200, 0])
    image.save(folder / "labels.png")
    return folder / "labels.png", SHAPE


def _shapes(folder: Path, ending: str, **fields: list[object]) -> Made:
    return write(folder / f"labels{ending}", fields or {"class": ["a", "b"]}), SHAPE


def _kml(folder: Path) -> Made:
    fields: dict[str, list[object]] = {"Name": ["corn", "soy"]}
    return write(folder / "labels.kml", fields, crs="EPSG:4326", driver="KML"), SHAPE


def _label_matrix(folder: Path) -> Made:
    scipy.io.savemat(folder / "labels.mat", {"ids": label_array(SHAPE)})
    return folder / "labels.mat", SHAPE


def _label_numpy(folder: Path) -> Made:
    np.save(folder / "labels.npy", label_array(SHAPE).astype(np.float32))
    return folder / "labels.npy", SHAPE


LABEL_FILES: dict[str, Callable[[Path], Made]] = {
    "ENVI": _classes,
    "grey PNG": lambda folder: _png(folder, "L"),
    "palette PNG": lambda folder: _png(folder, "P"),
    "GeoTIFF": lambda folder: (
        write_tiff(folder / "labels.tif", label_array(SHAPE)[:, :, None]),
        SHAPE,
    ),
    "MATLAB": _label_matrix,
    "NumPy": _label_numpy,
    "GeoJSON": lambda folder: _shapes(folder, ".geojson"),
    "GeoJSON of numbers": lambda folder: _shapes(folder, ".geojson", **{"class": [1, 2]}),
    "shapefile": lambda folder: _shapes(folder, ".shp"),
    "GeoPackage": lambda folder: _shapes(folder, ".gpkg"),
    "FlatGeobuf": lambda folder: _shapes(folder, ".fgb"),
    "KML": _kml,
}


def _csv(folder: Path) -> Made:
    rows = "\n".join(",".join(f"{value:.3f}" for value in row) for row in FLOATS.reshape(-1, 4))
    (folder / "table.csv").write_text(f"a,b,c,d\n{rows}\n")
    return folder / "table.csv", SHAPE


def _table_numpy(folder: Path) -> Made:
    np.save(folder / "table.npy", FLOATS.reshape(-1, 4))
    return folder / "table.npy", SHAPE


def _fitted(**given: object) -> bytes:
    """The bytes of a model of the scene that labels lie on."""
    folder = Path(tempfile.mkdtemp())
    try:
        scene = open_scene(make_grid(folder))
        ids = label_array(SHAPE)
        features = SceneFeatures(2, spatial=bool(given.pop("spatial", False)))
        classifier = DiffusionClassifier(n_neighbors=3, random_state=0, **given)
        labels = LabelImage.from_array(ids)
        found = classify_scene(scene, labels, features=features, classifier=classifier)
        save_model(folder / "model", found.result.model)
        return (folder / "model").read_bytes()
    finally:
        shutil.rmtree(folder)


@cache
def _model_bytes(kind: str) -> bytes:
    return _fitted(**_MODELS[kind]())


_MODELS: dict[str, Callable[[], dict[str, object]]] = {
    "spectral": dict,
    "spatial": lambda: {"spatial": True},
    "warped": lambda: {"warp": Warp()},
    "with features": lambda: {"join_features": True},
    "shaped": lambda: {"kernel": SharedNeighbors(LocalDiscriminant(Directed()))},
}


def _model(folder: Path, kind: str) -> Made:
    (folder / "scene.model").write_bytes(_model_bytes(kind))
    return folder / "scene.model", SHAPE


MODEL_FILES: dict[str, Callable[[Path], Made]] = {
    kind: partial(_model, kind=kind) for kind in _MODELS
}


TABLE_FILES: dict[str, Callable[[Path], Made]] = {"CSV": _csv, "NumPy": _table_numpy}
