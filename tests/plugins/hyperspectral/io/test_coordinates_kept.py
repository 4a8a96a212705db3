"""From a GeoTIFF scene and labels to maps: class table and coordinates arrive as they were."""

from __future__ import annotations

import numpy as np
import rasterio
from PIL import Image

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import ClassTable, open_scene, read_labels, write_class_map
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    georeference_of,
    map_info_of,
)

from .test_geotiff import write_tiff

PLACE = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")


def test_classify_keeps_the_class_table_and_the_place(tmp_path, capsys):
    tissue = make_tissue_scene(48, 48, n_bands=12)
    tags = [{"wavelength": w, "wavelength_units": "nm"} for w in tissue.wavelengths]
    scene = write_tiff(tmp_path / "scene.tif", tissue.cube.astype(np.float32), tags=tags)
    table = ClassTable.from_ids(
        [1, 2, 3], names={1: "nuclei", 2: "cytoplasm", 3: "stroma, loose"}, colors={2: (9, 8, 7)}
    )
    labels = tmp_path / "labels.tif"
    write_class_map(labels, tissue.labels, table, map_info=map_info_of(PLACE))
    for name in ("map.tif", "map.img"):
        words = ["classify", str(scene), "--labels", str(labels), "-o", str(tmp_path / name),
                 "--probability", str(tmp_path / "p.tif"), "--margin", str(tmp_path / "m.png"),
                 "--components", "8", "--overwrite"]  # fmt: skip
        assert run(words) == 0, capsys.readouterr().err
        found = read_labels(tmp_path / name)
        assert georeference_of(found.map_info).transform == PLACE.transform
        assert {entry.id: entry.name for entry in found.table} == {e.id: e.name for e in table}
        assert found.table[2].color == (9, 8, 7)
    probability = open_scene(tmp_path / "p.tif")
    assert probability.band_names == ("nuclei", "cytoplasm", "stroma, loose")
    np.testing.assert_allclose(np.asarray(probability.data).sum(axis=2), 1, atol=1e-5)
    with rasterio.open(tmp_path / "p.tif") as raster:
        assert raster.crs.to_epsg() == 32633
    picture = np.array(Image.open(tmp_path / "m.png").convert("RGB"))
    assert (picture[-26:-21, 12:40] == 0).all()  # the scale bar
