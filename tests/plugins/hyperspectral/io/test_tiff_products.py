"""EnMAP, DESIS, Sentinel-2 and Wyvern: small files laid out as the products are."""

from __future__ import annotations

import re
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest

from diffclass_hyperspectral import open_scene
from diffclass_hyperspectral.io.georeference import Georeference

from ..products import write_desis, write_enmap, write_sentinel2, write_wyvern
from ..writers import pixels_of, refuses

fails = partial(refuses, pixels_of, named="")  # another file of the product may be named


@pytest.mark.parametrize(
    ("write", "facts"),
    [
        (write_enmap, ("EnMAP", "EPSG:32633", [418.4, 902, 2445.3], [6, 6, 6])),
        (write_desis, ("DESIS", "EPSG:32650", [401.9, 650.25, 999.5], [3.5, 3.5, 3.6])),
    ],
)
def test_what_a_product_states(tmp_path, write, facts):
    cube, image, metadata = write(tmp_path)
    for path in (image, metadata):
        scene = open_scene(path)
        found = scene.format, scene.georeference.crs, *map(list, (scene.wavelengths, scene.widths))
        assert found == facts
        assert (scene.ignore_value, scene.scale_factor) == (-32768, pytest.approx(10000))
        np.testing.assert_array_equal(scene.data, cube)
        assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
        np.testing.assert_allclose(scene.spectra()[1:], cube.reshape(-1, 3)[1:] / 1e4, atol=1e-6)


# --- EnMAP ---------------------------------------------------------------------------------------


def test_enmap_gains_that_differ(tmp_path):
    gains = (1e-4, 2e-4, 1e-4)
    cube, image, _ = write_enmap(tmp_path, gains=gains)
    scene = open_scene(image)
    expected = cube * np.array(gains)
    expected[0, 0] = np.nan
    np.testing.assert_allclose(scene.data, expected, rtol=1e-6)
    assert np.argwhere(~scene.valid).tolist() == [[0, 0]]


def test_enmap_and_desis_without_widths(tmp_path):
    _, image, metadata = write_enmap(tmp_path)
    metadata.write_text(metadata.read_text().replace("<FWHMOfBand>6.0</FWHMOfBand>", "", 1))
    assert open_scene(image).widths is None
    _, image, _ = write_desis(tmp_path)
    header = image.with_suffix(".hdr")
    for fwhm in ("", "fwhm = {3.5, 3.5}\n", "fwhm = {3.5, 3.5, -1}\n"):
        text = re.sub(r"(fwhm = .*)?\n(data gain)", rf"{fwhm}\n\2", header.read_text(), count=1)
        header.write_text(text)
        scene = open_scene(image)
        assert (scene.widths, scene.wavelengths[0]) == (None, 401.9)


def test_enmap_metadata_of_another_product(tmp_path):
    _, image, metadata = write_enmap(tmp_path)
    text = metadata.read_text()
    metadata.write_text(text.replace('number="3"', 'number="x"'))
    fails(image, "METADATA")
    metadata.write_text(text.replace("<wavelengthCenterOfBand>902.0</wavelengthCenterOfBand>", ""))
    fails(image, "lacks wavelengthCenterOfBand")
    root = ElementTree.fromstring(text)
    bands = root.find("specific/bandCharacterisation")
    bands.remove(bands[0])
    metadata.write_bytes(ElementTree.tostring(root))
    fails(image, "describes 2 bands", "has 3")
    metadata.write_text(text[:200])
    fails(metadata, "METADATA")
    metadata.write_text("")
    fails(image, "empty")
    image.unlink()
    metadata.write_text(text)
    fails(metadata, "no SPECTRAL_IMAGE.TIF")
    (tmp_path / "other.xml").write_text(text)
    fails(tmp_path / "other.xml", "no METADATA.XML of EnMAP")


# --- DESIS ---------------------------------------------------------------------------------------


def test_desis_without_its_files(tmp_path):
    _, image, metadata = write_desis(tmp_path)
    header = image.with_suffix(".hdr")
    text = header.read_text()
    header.write_text(text.replace("401.9,  ", ""))
    fails(image, "3 bands", "2 values of 'wavelength'")
    header.unlink()
    fails(image, "lacks its header")
    header.write_text(text)
    image.unlink()
    fails(metadata, "no SPECTRAL_IMAGE.TIF")


# --- Sentinel-2 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-1000, 0])
def test_sentinel2(tmp_path, offset):
    cube, safe = write_sentinel2(tmp_path, offset=offset)
    for path in (safe, safe / "MTD_MSIL2A.xml"):
        scene = open_scene(path)
        assert (scene.format, scene.band_names) == ("Sentinel-2", ("B02", "B04", "B8A", "B12"))
        assert scene.wavelengths.tolist() == [492.1, 664.6, 864.0, 2202.4]
        expected = (cube + float(offset)) / 10000
        expected[0, 0] = np.nan
        np.testing.assert_allclose(np.asarray(scene.data), expected, atol=1e-6)
        assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
        assert scene.georeference == Georeference((20, 0, 6e5, 0, -20, 4.2e6), "EPSG:32610")
    fine = open_scene(safe, variable="R10m")
    assert fine.band_names == ("B02", "B04")
    assert fine.georeference.transform[0] == 10


def test_sentinel2_that_cannot_be_read(tmp_path):
    _, safe = write_sentinel2(tmp_path)
    fails(safe, "R10m, R20m, R60m", variable="R5m")
    fails(safe, "0 folders", variable="R60m")
    metadata = safe / "MTD_MSIL2A.xml"
    text = metadata.read_text()
    metadata.write_text(text.replace(">10000<", ">none<"))
    fails(safe, "BOA_QUANTIFICATION_VALUE")
    metadata.write_text(text[:300])
    fails(safe, "Sentinel-2 metadata")
    metadata.write_text(text)
    image = next(safe.glob("GRANULE/*/IMG_DATA/R20m/*_B04_20m.jp2"))
    image.write_bytes(image.read_bytes()[:90])
    fails(safe, "B04_20m.jp2")
    metadata.rename(safe / "MTD_MSIL1C.xml")
    fails(safe / "MTD_MSIL1C.xml", "only products of level 2A")
    fails(safe, "this is a folder")


# --- Wyvern --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", [True, False])
def test_wyvern(tmp_path, tags):
    path = tmp_path / "wyvern_dragonette-001_20240729T203112_3a5d0a9c.tiff"
    cube = write_wyvern(path, tags=tags)
    scene = open_scene(path)
    assert (scene.format, scene.ignore_value) == ("GeoTIFF", -9999)
    assert scene.wavelengths.tolist() == [503, 600, 799]
    assert scene.widths is None if not tags else scene.widths.tolist() == [17, 17, 17]
    assert np.argwhere(~scene.valid).tolist() == [[3, 3]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)
    assert scene.georeference.crs == "EPSG:4326"
