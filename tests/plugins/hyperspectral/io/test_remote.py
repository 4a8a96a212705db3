"""Scenes and labels that lie elsewhere: on servers, in archives, as virtual rasters."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import rasterio.shutil

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass.system.output import require_writable
from diffclass_hyperspectral import open_scene, read_labels
from diffclass_hyperspectral.io.readers.fetched import FetchedRows

from ..range_server import served
from .test_geotiff import CUBE, NM, write_tiff

IDS = (CUBE[..., :1] > 1000).astype(np.uint8) + 1
TAGS = [{"wavelength": str(value), "wavelength_units": "nm"} for value in NM]
SOON = {"GDAL_HTTP_LOW_SPEED_TIME": "2", "GDAL_HTTP_RETRY_DELAY": "0.1"}


@pytest.fixture
def folder(tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    tiled = {"tiled": True, "blockxsize": 16, "blockysize": 16, "compress": "deflate"}
    write_tiff(there / "scene.tif", tags=TAGS, nodata=7, **tiled)
    write_tiff(there / "labels.tif", IDS)
    rasterio.shutil.copy(there / "scene.tif", there / "scene.vrt", driver="VRT")
    rasterio.shutil.copy(there / "scene.tif", there / "cube.bsq", driver="ENVI")
    rasterio.shutil.copy(there / "scene.tif", there / "imagine.img", driver="HFA")
    with zipfile.ZipFile(there / "scene.zip", "w") as archive:
        archive.write(there / "scene.tif", "inside/scene.tif")
    return there


@pytest.fixture
def server(folder, monkeypatch):
    for name, text in SOON.items():
        monkeypatch.setenv(name, text)
    with served(folder) as server:
        yield server


def is_the_scene(place, name):
    scene = open_scene(place)
    assert (scene.format, scene.ignore_value) == (name, 7)
    assert str(scene.path) == str(place)
    np.testing.assert_allclose(scene.wavelengths, NM)
    assert scene.georeference.crs == "EPSG:32633"
    np.testing.assert_array_equal(scene.data, CUBE)
    np.testing.assert_array_equal(scene.data[11:23], CUBE[11:23])


@pytest.mark.parametrize(("file", "name"), [("scene.vrt", "VRT"), ("imagine.img", "ERDAS IMAGINE")])
def test_other_rasters_in_files(folder, file, name):
    is_the_scene(folder / file, name)


def test_a_lossless_jpeg_2000(tmp_path):
    cube = np.abs(CUBE).astype(np.uint16)
    with rasterio.open(
        tmp_path / "scene.jp2", "w", driver="JP2OpenJPEG", height=40, width=30, count=4,
        dtype="uint16", crs="EPSG:32633", transform=rasterio.Affine(30, 0, 5e5, 0, -30, 5.4e6),
        QUALITY="100", REVERSIBLE="YES",
    ) as raster:  # fmt: skip
        raster.write(cube.transpose(2, 0, 1))
    scene = open_scene(tmp_path / "scene.jp2")
    assert scene.format == "JPEG 2000"
    np.testing.assert_array_equal(scene.data, cube)


@pytest.mark.parametrize(
    ("file", "name"), [("scene.tif", "GeoTIFF"), ("scene.vrt", "VRT"), ("cube.bsq", "ENVI")]
)
@pytest.mark.parametrize("fault", [None, "slow", "no ranges"])
def test_addresses(server, file, name, fault):
    server.fault = fault
    is_the_scene(f"{server.address}/{file}", name)


@pytest.mark.parametrize("prefix", ["/vsizip//vsicurl/", "zip+"])
def test_archives_on_servers(server, prefix):
    between = "/" if prefix.startswith("/") else "!"
    is_the_scene(f"{prefix}{server.address}/scene.zip{between}inside/scene.tif", "GeoTIFF")


def test_archives_in_files(folder):
    is_the_scene(f"/vsizip/{folder}/scene.zip/inside/scene.tif", "GeoTIFF")


def test_labels(server, folder):
    found = read_labels(f"{server.address}/labels.tif")
    np.testing.assert_array_equal(found.ids, IDS[..., 0])
    shape = {"type": "Polygon", "coordinates": [[[0, 0], [60, 0], [60, -60], [0, -60], [0, 0]]]}
    shape["coordinates"] = [[[x + 5e5, y + 5.4e6] for x, y in shape["coordinates"][0]]]
    crs = {"type": "name", "properties": {"name": "EPSG:32633"}}
    feature = {"type": "Feature", "properties": {"class": "water"}, "geometry": shape}
    everything = {"type": "FeatureCollection", "crs": crs, "features": [feature]}
    (folder / "labels.geojson").write_text(json.dumps(everything))
    scene = open_scene(f"{server.address}/scene.tif")
    drawn = read_labels(f"{server.address}/labels.geojson", grid=scene)
    assert (drawn.ids > 0).sum() == 4
    assert [entry.name for entry in drawn.table if entry.id] == ["water"]


@pytest.mark.parametrize("fault", ["stall", "early", "error", "gone"])
def test_servers_that_fail(server, fault):
    server.fault = fault
    with pytest.raises(DataError, match=r"^http://127.*: cannot be read as .*connection"):
        np.asarray(open_scene(f"{server.address}/scene.tif").data)


@pytest.mark.parametrize("fault", ["stall", "early", "error"])
def test_servers_that_fail_later(server, fault):
    # GDAL keeps what it has read: what comes afterwards fails
    large = server.folder / "large.tif"
    noise = np.random.default_rng(0).integers(0, 2**16, (400, 300, 4)).astype(np.uint16)
    write_tiff(large, noise)
    scene = open_scene(f"{server.address}/large.tif")
    server.fault = fault
    with pytest.raises(DataError, match=r"^http://127.*large\.tif: cannot be read as an image"):
        np.asarray(scene.data)


def test_rows_are_fetched_once():
    asked = []

    def read_rows(start, stop):
        asked.append((start, stop))
        return CUBE[start:stop]

    fetched = FetchedRows(read_rows, CUBE.shape, CUBE.dtype, Path("scene"))
    for start, stop in ((10, 20), (10, 20), (12, 18), (0, 10), (0, 20), (15, 25), (20, 25)):
        np.testing.assert_array_equal(fetched(start, stop), CUBE[start:stop])
    assert asked == [(10, 20), (0, 10), (15, 25)]


def test_a_length_that_is_a_lie(server):
    server.fault = "long"
    with suppress(DataError):  # never other numbers
        is_the_scene(f"{server.address}/scene.tif", "GeoTIFF")


def test_what_is_no_address(server, tmp_path):
    with pytest.raises(DataError, match="connection"):
        open_scene(f"{server.address}/nothing.tif")
    with pytest.raises(DataError, match="connection"):
        open_scene(f"/vsizip/{tmp_path}/nothing.zip/scene.tif")
    with pytest.raises(DataError, match="no such file"):
        open_scene("http:scene.tif")
    with pytest.raises(ParameterError, match="fetch the file"):
        open_scene(f"{server.address}/scene.tif", variable="cube")
    with pytest.raises(ParameterError, match="only read"):
        require_writable(f"{server.address}/map.tif")


def test_a_command_reads_and_writes_nothing_there(server, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [
        "classify", f"{server.address}/scene.tif", "--labels", f"{server.address}/labels.tif",
        "--labels-per-class", "20", "--tau", "16",
    ]  # fmt: skip
    assert run([*words, "-o", "map.tif", "--report", "report.json"]) == 0
    assert run(["rerun", "report.json", "--into", "again"]) == 0
    assert "the same result, point for point" in capsys.readouterr().out
    assert run([*words, "-o", f"{server.address}/map.tif"]) == 2
    assert "only read" in capsys.readouterr().err
    server.fault = "early"  # in a process that has read nothing there yet
    main = "from diffclass.command_line.start import main; main()"
    broken = subprocess.run(
        [sys.executable, "-c", main, *words, "-o", "other.tif"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert broken.returncode == 3
    assert "Traceback" not in broken.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "again", "map.tif", "map.tif.aux.xml", "report.json", "there",
    ]  # fmt: skip
