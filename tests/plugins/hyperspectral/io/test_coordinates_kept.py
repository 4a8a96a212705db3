"""From a GeoTIFF scene and labels to maps: class table and coordinates arrive as they were."""

from __future__ import annotations

import numpy as np
import rasterio
from PIL import Image

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import ClassTable, open_scene, read_labels, write_class_map
from diffclass_hyperspectral.io.georeference import georeference_of

from ..writers import PLACE, UTM
from .test_geotiff import write_tiff


def test_classify_keeps_the_class_table_and_the_place(folder, works):
    tissue = make_tissue_scene(48, 48, n_bands=12)
    tags = [{"wavelength": w, "wavelength_units": "nm"} for w in tissue.wavelengths]
    write_tiff("scene.tif", tissue.cube.astype(np.float32), tags=tags)
    names = {1: "nuclei", 2: "cytoplasm", 3: "stroma, loose"}
    table = ClassTable.from_ids([1, 2, 3], names=names, colors={2: (9, 8, 7)})
    write_class_map("labels.tif", tissue.labels, table, map_info=PLACE)
    for name in ("map.tif", "map.img"):
        works("classify", "scene.tif", "--labels", "labels.tif", "-o", name, "--probability",
              "p.tif", "--margin", "m.png", "--components", "8", "--overwrite")  # fmt: skip
        found = read_labels(name)
        assert georeference_of(found.map_info).transform == UTM.transform
        assert {entry.id: entry.name for entry in found.table} == names
        assert found.table[2].color == (9, 8, 7)
    probability = open_scene("p.tif")
    assert probability.band_names == tuple(names.values())
    np.testing.assert_allclose(np.asarray(probability.data).sum(axis=2), 1, atol=1e-5)
    with rasterio.open("p.tif") as raster:
        assert raster.crs.to_epsg() == 32633
    picture = np.array(Image.open("m.png").convert("RGB"))
    assert (picture[-26:-21, 12:40] == 0).all()  # the scale bar
