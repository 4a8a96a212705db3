"""A profile of QGIS with the plugin, and a scene with labels in another CRS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import write_class_map, write_raster
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from experiments.potsdam.qgis_profile import Profile

SIDE = 48
LEFT, TOP, PIXEL = 500_000.0, 5_400_000.0, 30.0
CRS = "EPSG:32633"
NAMES = {1: "water", 2: "woods", 3: "yard"}  # alphabetical, as texts are numbered


@pytest.fixture(scope="session")
def profile(tmp_path_factory) -> Profile:
    return Profile(tmp_path_factory.mktemp("qgis"))


@pytest.fixture(scope="session")
def scene(tmp_path_factory) -> Path:
    """A folder with a scene in UTM, the same as two tiles, and its labels as squares in degrees."""
    folder = tmp_path_factory.mktemp("scene")
    tissue = make_tissue_scene(SIDE, SIDE)
    write_raster(folder / "tissue.tif", tissue.cube, map_info=place_of(row=0))
    (folder / "tiles").mkdir()
    for row in (0, SIDE // 2):
        part = tissue.cube[row : row + SIDE // 2]
        write_raster(folder / "tiles" / f"{row}.tif", part, map_info=place_of(row=row))
    for name, part in (("clouds", np.s_[3:9, 30:]), ("region", np.s_[4:40, 4:44])):
        there = np.zeros((SIDE, SIDE), dtype=np.uint8)
        there[part] = 1
        write_class_map(folder / f"{name}.tif", there, map_info=place_of(row=0))
    write_class_map(folder / "truth.tif", tissue.truth, map_info=place_of(row=0))
    write_squares(folder / "labels.gpkg", tissue.labels)
    return folder


def place_of(*, row: int) -> object:
    """Return the map info of a raster that begins in this row of the scene."""
    transform = (PIXEL, 0.0, LEFT, 0.0, -PIXEL, TOP - PIXEL * row)
    return map_info_of(Georeference(transform, CRS))


def write_squares(path: Path, labels: np.ndarray) -> None:
    """Write a square in degrees well inside each labelled pixel, with its class's name."""
    import pyogrio.raw
    import shapely
    from rasterio.warp import transform_geom

    squares, names = [], []
    for row, column in np.argwhere(labels > 0):
        x, y = LEFT + PIXEL * column, TOP - PIXEL * row
        square = shapely.box(x + 5, y - 25, x + 25, y - 5)
        degrees = transform_geom(CRS, "EPSG:4326", shapely.geometry.mapping(square))
        squares.append(shapely.to_wkb(shapely.geometry.shape(degrees)))
        names.append(NAMES[int(labels[row, column])])
    pyogrio.raw.write(
        path, np.array(squares, dtype=object), [np.array(names, dtype=object)], ["class"],
        geometry_type="Polygon", crs="EPSG:4326",
    )  # fmt: skip
