"""What an ENVI header says of bands and values counts in every file that GDAL keeps it in."""

from __future__ import annotations

import numpy as np
import pytest
import rasterio
import rasterio.shutil

from diffclass_hyperspectral import open_scene

from .test_geotiff import CUBE, NM, write_tiff
from .test_scenes import save_envi

FIELDS = {
    "wavelength": list(NM),
    "wavelength units": "Nanometers",
    "fwhm": [6.5, 7, 8, 9.25],
    "bbl": [1, 1, 0, 1],
    "data ignore value": -7,
    "reflectance scale factor": 5000,
    "band names": ["a", "b", "c", "d"],
}
GAINS = {"data gain values": [0.1, 0.2, 0.3, 0.4], "data offset values": [0, 1, 2, 3]}
HEADERS = [
    *({name: FIELDS[name]} for name in ("bbl", "data ignore value", "reflectance scale factor")),
    {name: FIELDS[name] for name in ("wavelength", "wavelength units", "fwhm", "bbl")},
    {"wavelength": [0.4, 0.5, 0.6, 2.4], "wavelength units": "Micrometers"},
    GAINS,
    {f"{name.replace('data', 'data reflectance')}": GAINS[name] for name in GAINS},
    FIELDS,
    FIELDS | GAINS,
]


@pytest.mark.filterwarnings("ignore:.* states data gain values")
@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
@pytest.mark.parametrize("ending", ["tif", "vrt", "band tags"])
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: ",".join(header)[:60])
def test_a_raster_with_the_domain_of_a_header_reads_as_it(tmp_path, header, ending):
    cube = CUBE.copy()
    cube[3, 4] = cube[5, 6, 1] = -7
    path = save_envi(tmp_path, cube, metadata=header)
    expected = open_scene(path)
    with rasterio.open(path.with_suffix(".img")) as raster:
        domain, scales, offsets = raster.tags(ns="ENVI"), raster.scales, raster.offsets
    if ending == "band tags":
        lists = {name: domain.pop(name).strip("{}").split(",") for name in
                 ("wavelength", "fwhm", "bbl") if name in domain}  # fmt: skip
        tags = [{name: values[k].strip() for name, values in lists.items()} for k in range(4)]
        unit = {"wavelength_units": domain.get("wavelength_units", "")}
        given = {"tags": [one | unit for one in tags], "domain": "ENVI"}
        domain.pop("band_names", None)
    copy = write_tiff(tmp_path / "copy.tif", cube, envi=domain,
                      **(given if ending == "band tags" else {}))  # fmt: skip
    with rasterio.open(copy, "r+") as raster:
        raster.scales, raster.offsets = scales, offsets  # as gdal_translate copies them
    if ending == "vrt":
        rasterio.shutil.copy(copy, tmp_path / "copy.vrt", driver="VRT")
        copy = tmp_path / "copy.vrt"
        with rasterio.open(copy, "r+") as raster:
            raster.update_tags(ns="ENVI", **domain)
    found = open_scene(copy)
    for name in ("wavelengths", "widths"):
        np.testing.assert_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.band_mask, expected.band_mask)
    np.testing.assert_array_equal(found.valid, expected.valid)
    np.testing.assert_allclose(found.spectra(), expected.spectra(), rtol=1e-6)
    assert found.ignore_value == expected.ignore_value
    assert ending == "band tags" or (found.band_names or None) == expected.band_names


def test_lists_may_count_the_alpha_band(tmp_path):
    cube = np.full((4, 5, 4), 255, dtype=np.uint8)
    for values in ("{1, 0, 1}", "{1, 0, 1, 1}"):
        path = write_tiff(tmp_path / "scene.tif", cube, envi={"bbl": values}, alpha="yes")
        assert open_scene(path).band_mask.tolist() == [True, False, True]


def test_lists_of_another_length_are_told(tmp_path):
    path = write_tiff(tmp_path / "scene.tif", envi={"bbl": "{1, 0}", "fwhm": "{wide}"})
    with pytest.warns(UserWarning, match="scene.tif: states fwhm, bbl, which .* GeoTIFF does not"):
        assert open_scene(path).band_mask.all()


def test_the_scale_and_value_of_gdal_go_first(tmp_path):
    fields = {"reflectance_scale_factor": "5000", "data_ignore_value": "-3"}
    path = write_tiff(tmp_path / "scene.tif", envi=fields, nodata=-7)
    with rasterio.open(path, "r+") as raster:
        raster.scales = [0.5] * 4
    with pytest.warns(UserWarning, match="states data ignore value, reflectance scale factor"):
        scene = open_scene(path)
    assert (scene.scale_factor, scene.ignore_value) == (2, -7)
