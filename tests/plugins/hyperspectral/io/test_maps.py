from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import warnings
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
import rasterio
import rasterio.shutil
import spectral.io.envi as envi
from PIL import Image

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import ClassTable, open_scene, read_labels
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.maps import write_class_map, write_raster
from diffclass_hyperspectral.io.maps.map_files import output_files, require_outputs
from diffclass_hyperspectral.io.readers import NAMES_KEY

IDS = np.array([[0, 1, 10, 10], [14, 10, 0, 1], [14, 14, 1, 1]])
TABLE = ClassTable.from_ids(
    [0, 1, 10, 14, 16],
    names={0: "nothing", 1: "corn & <oats>", 10: "lettuce, romaine 4wk", 14: "weeds {all}",
           16: "vineyard"},
    colors={0: (255, 255, 255), 10: (1, 2, 3)},
)  # fmt: skip


def same_table(left, right):
    one, other = ([(e.id, e.name, e.color) for e in table.entries] for table in (left, right))
    assert one == other


ENVI = ["map.img", "map.hdr", "map.dat", "map.bsq", "map.bil", "map.bip", "map.raw"]


@pytest.mark.parametrize("name", [*ENVI, "map.tif", "map.tiff", "map.TIF", "map.png"])
def test_a_class_map_reads_back(tmp_path, name):
    place = ("UTM", "1", "1", "5e5") if name in ENVI else None
    files = write_class_map(tmp_path / name, IDS, TABLE, map_info=place, legend=False)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert files == output_files(tmp_path / name)
    for path in (tmp_path / name, *(files if name in ENVI else ())):
        labels = read_labels(path)
        np.testing.assert_array_equal(labels.ids, IDS)
        assert labels.map_info == place
        same_table(labels.table, TABLE)
    if ".tif" in name.lower():
        _, beside = files
        beside.unlink()  # the names are in the TIFF too
        same_table(read_labels(tmp_path / name).table, TABLE)


def test_other_programs_read_what_an_envi_list_can_hold(tmp_path):
    header = tmp_path / "map.hdr"
    write_class_map(header, IDS, TABLE)
    image = envi.open(str(header))
    np.testing.assert_array_equal(np.asarray(image.open_memmap())[:, :, 0], IDS)
    facts = {"file type": "ENVI Classification", "classes": "17", "data type": "1"}
    assert {name: image.metadata[name] for name in facts} == facts
    assert len(image.metadata["class lookup"]) == 17 * 3
    names = image.metadata["class names"]
    assert (len(names), names[2], names[10], names[14]) == (
        17, "", "lettuce; romaine 4wk", "weeds (all)"
    )  # fmt: skip
    header.write_text(header.read_text("utf-8").replace("weeds (all)", "herbs"), "utf-8")
    table = read_labels(header).table  # a name that somebody has changed since counts
    assert (table[10].name, table[14].name) == ("lettuce, romaine 4wk", "herbs")


@pytest.mark.parametrize("lost", ["GDALRasterAttributeTable", "CategoryNames", ""])
@pytest.mark.parametrize("driver", ["GTiff", "HFA", "VRT"])
def test_names_are_read_from_attribute_tables_and_categories(tmp_path, driver, lost):
    """As programs that copy a map keep them, with colours but without our tag."""
    path = tmp_path / "map.tif"
    write_class_map(path, IDS, TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        with rasterio.open(path, "r+") as raster:
            raster.update_tags(1, **{NAMES_KEY: "{}"})
        beside = tmp_path / "map.tif.aux.xml"
        if lost:
            text = re.sub(f"<{lost}.*</{lost}>", "", beside.read_text("utf-8"), flags=re.DOTALL)
            beside.write_text(text, "utf-8")
        if driver != "GTiff":
            copy = path.with_suffix(".vrt" if driver == "VRT" else ".img")
            rasterio.shutil.copy(path, copy, driver=driver)
            path = copy
    same_table(read_labels(path).table, TABLE)


def test_a_name_changed_in_the_attribute_table_counts(tmp_path):
    write_class_map(tmp_path / "map.tif", IDS, TABLE)
    beside = tmp_path / "map.tif.aux.xml"
    beside.write_text(beside.read_text("utf-8").replace("<F>vineyard<", "<F>vines<"), "utf-8")
    assert read_labels(tmp_path / "map.tif").table[16].name == "vines"


def test_gdal_sees_palette_and_categories(tmp_path):
    write_class_map(tmp_path / "map.tif", IDS, TABLE)
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning):
        raster = rasterio.open(tmp_path / "map.tif")
    with raster:
        np.testing.assert_array_equal(raster.read(1), IDS)
        assert raster.dtypes == ("uint8",)
        assert raster.colormap(1)[10] == (1, 2, 3, 255)
        rasterio.shutil.copy(raster, tmp_path / "map.vrt", driver="VRT")
    text = (tmp_path / "map.vrt").read_text("utf-8")
    assert "<Category>corn &amp; &lt;oats&gt;</Category>" in text
    assert text.count("<Category>") == 17


def test_the_attribute_table_has_names_and_colours(tmp_path):
    """As GDAL's schema of PAM has it; QGIS and ArcGIS read it there."""
    write_class_map(tmp_path / "map.tif", np.array([[0, 2], [5, 2]]), TABLE)
    root = ElementTree.parse(tmp_path / "map.tif.aux.xml").getroot()
    table = root.find("PAMRasterBand/GDALRasterAttributeTable")
    fields = {field.findtext("Name"): field.findtext("Usage") for field in table.iter("FieldDefn")}
    assert fields == {"Value": "5", "Class": "2", "Red": "6", "Green": "7", "Blue": "8"}
    rows = [[cell.text for cell in row] for row in table.iter("Row")]
    full = TABLE.including([0, 2, 5])
    assert rows == [[str(e.id), e.name, *map(str, e.color)] for e in full.entries]


@pytest.mark.parametrize("shape", [(2049, 30), (40, 2100)])
def test_large_geotiffs_are_cloud_optimised(tmp_path, rng, shape):
    ids = rng.integers(0, 4, shape)
    place = ("UTM", "1", "1", "4e5", "5e6", "10", "10", "33", "North", "WGS-84")
    write_class_map(tmp_path / "map.tif", ids, map_info=place)
    values = rng.random((*shape, 2)).astype(np.float32)
    values[0, 0] = np.nan
    write_raster(tmp_path / "p.tif", values, band_names=["a", "b"], map_info=place)
    for name in ("map.tif", "p.tif"):
        with rasterio.open(tmp_path / name) as raster:
            assert raster.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
            assert raster.overviews(1)
            assert raster.crs == "EPSG:32633"
    found = read_labels(tmp_path / "map.tif")
    np.testing.assert_array_equal(found.ids, ids)
    assert [entry.name for entry in found.table if entry.id] == ["class 1", "class 2", "class 3"]
    scene = open_scene(tmp_path / "p.tif")
    assert scene.band_names == ("a", "b")
    np.testing.assert_array_equal(scene.data, values)
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["map.tif", "map.tif.aux.xml", "p.tif"]


@pytest.mark.parametrize("name", ["map.tif", "map.img"])
def test_other_programs_see_no_class_in_gaps_and_none_in_0(tmp_path, name):
    ids = np.array([[0, 1, 5], [9, 5, 0]])
    write_class_map(tmp_path / name, ids)
    with quiet(), rasterio.open(tmp_path / name) as raster:
        assert raster.nodata == 0
        np.testing.assert_array_equal(raster.read(1), ids)
        colors = raster.colormap(1)
    if shutil.which("gdalinfo"):
        words = ["gdalinfo", "-json", tmp_path / name]
        done = subprocess.run(words, capture_output=True, check=True)
        band = json.loads(done.stdout)["bands"][0]
        named = {i: text for i, text in enumerate(band["categories"]) if text}
        assert named == {0: "Unclassified", 1: "class 1", 5: "class 5", 9: "class 9"}
        assert band["noDataValue"] == 0
    assert len({colors[i][:3] for i in (1, 5, 9)}) == 3
    assert all(colors[i][:3] == (0, 0, 0) for i in (0, 2, 3, 4, 6, 7, 8))
    assert [entry.id for entry in read_labels(tmp_path / name).table] == [1, 5, 9]


@pytest.mark.parametrize(
    ("name", "greatest"),
    [("map.img", greatest) for greatest in (254, 255, 256, 1000, 65534)]
    + [("map.tif", greatest) for greatest in (255, 256, 1000, 65535)],
)
def test_maps_widen_where_bytes_do_not_hold(tmp_path, name, greatest):
    ids = np.array([[0, 1], [greatest, 2]])
    write_class_map(tmp_path / name, ids, ClassTable.from_ids([greatest]))
    labels = read_labels(tmp_path / name)
    np.testing.assert_array_equal(labels.ids, ids)
    assert labels.table.ids == (1, 2, greatest)
    if name == "map.img":
        assert (tmp_path / name).stat().st_size == 4 * (1 if greatest < 255 else 2)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.uint8, bool])
def test_ids_of_any_type_and_unreached_pixels(tmp_path, dtype):
    ids = (IDS % 2).astype(dtype)
    write_class_map(tmp_path / "map.img", ids)
    np.testing.assert_array_equal(read_labels(tmp_path / "map.img").ids, ids)
    write_class_map(tmp_path / "map.npy", np.array([[-1, 2]]))
    assert read_labels(tmp_path / "map.npy").ids.tolist() == [[0, 2]]


def test_names_with_other_letters(tmp_path):
    table = ClassTable.from_ids([1], names={1: "Bäume 森"})
    write_class_map(tmp_path / "map.img", np.array([[0, 1]]), table)
    assert read_labels(tmp_path / "map.img").table[1].name == "Bäume 森"
    assert "Bäume 森" in (tmp_path / "map.hdr").read_text("utf-8")


def test_legend_png_shows_every_pixel_in_its_colour(tmp_path):
    table = ClassTable.from_ids(TABLE.ids, names={1: "_$x_2$ 森", 10: "long " * 12})
    write_class_map(tmp_path / "map.png", IDS, table)
    picture = np.array(Image.open(tmp_path / "map.png").convert("RGB"))
    side, gap = 480 // 4, 12
    for (row, column), class_id in np.ndenumerate(IDS):
        top, left = gap + side * row, gap + side * column
        square = picture[top : top + side, left : left + side].reshape(-1, 3)
        assert (square == table[int(class_id)].color).all()
    right = picture[:, gap + 4 * side + gap :]
    assert (right < 128).any()  # text of the legend
    assert (picture[:, -gap + 2 :] == 255).all()  # which ends inside the picture
    with pytest.raises(DataError, match="colour picture"):
        read_labels(tmp_path / "map.png")


@pytest.mark.parametrize("name", ["p.img", "p.hdr", "p.bip", "p.npy", "p.tif", "p.TIFF"])
def test_raster_reads_back(tmp_path, name):
    array = np.random.default_rng(0).random((4, 5, 3))
    array[1, 2] = np.nan
    files = write_raster(tmp_path / name, array, band_names=["corn, sweet", "soy", "森"])
    assert sorted(tmp_path.iterdir()) == sorted(files)
    scene = open_scene(tmp_path / name)
    np.testing.assert_array_equal(scene.data, array.astype(np.float32))
    assert np.argwhere(~scene.valid).tolist() == [[1, 2]]
    if name != "p.npy":
        assert scene.band_names == ("corn, sweet", "soy", "森")


@pytest.mark.parametrize("name", ["s.img", "s.hdr", "s.bip", "s.tif", "large.tif"])
def test_wavelengths_read_back(tmp_path, name):
    rows = 2049 if name == "large.tif" else 3  # written cloud-optimised
    centres = [39.5, 450.125, 1000 / 3]  # of no order, below 100 too
    write_raster(tmp_path / name, np.ones((rows, 2, 3)), wavelengths=centres)
    assert open_scene(tmp_path / name).wavelengths.tolist() == centres
    write_raster(tmp_path / "one.tif", np.ones((3, 2)), wavelengths=[700])
    assert open_scene(tmp_path / "one.tif").wavelengths.tolist() == [700]


@pytest.mark.parametrize("wrong", [[400, 500], [[400, 500, 600]], [400, 0, 500], [400, np.nan, 1]])
def test_wrong_wavelengths(tmp_path, wrong):
    with pytest.raises(ParameterError, match="in nanometres"):
        write_raster(tmp_path / "s.tif", np.ones((3, 2, 3)), wavelengths=wrong)
    assert not list(tmp_path.iterdir())


def test_a_raster_takes_old_names_away(tmp_path):
    write_class_map(tmp_path / "p.tif", IDS, TABLE)
    with pytest.raises(ValueError, match="exists"):
        write_raster(tmp_path / "p.tif", IDS / 7)
    write_raster(tmp_path / "p.tif", IDS / 7, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["p.tif"]


def test_margin_of_two_axes(tmp_path):
    margin = np.linspace(0, 1, 20).reshape(4, 5)
    margin[0, 0] = np.nan
    write_raster(tmp_path / "m.img", margin)
    assert open_scene(tmp_path / "m.img").shape == (4, 5, 1)
    write_raster(tmp_path / "m.npy", margin)
    np.testing.assert_array_equal(np.load(tmp_path / "m.npy"), margin.astype(np.float32))
    write_raster(tmp_path / "m.png", margin, band_names=["margin"])
    picture = np.array(Image.open(tmp_path / "m.png").convert("RGB"))
    assert picture[60, 60].tolist() == [255, 255, 255]
    assert picture[60, 150].tolist() != [255, 255, 255]


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 600)])
def test_pictures_of_odd_shapes(tmp_path, shape):
    write_class_map(tmp_path / "map.png", np.ones(shape, int))
    write_raster(tmp_path / "m.png", np.full(shape, np.nan))
    write_raster(tmp_path / "n.png", np.ones(shape))
    for name in ("map.png", "m.png", "n.png"):
        with Image.open(tmp_path / name) as picture:
            assert min(picture.size) > 20


@pytest.mark.parametrize("name", ["map.img", "map.png", "map.npy"])
@pytest.mark.parametrize("there", [0, -1])
def test_existing_files_are_kept_unless_told(tmp_path, name, there):
    files = output_files(tmp_path / name)
    files[there].write_text("precious")
    with pytest.raises(ParameterError, match="exists"):
        write_class_map(tmp_path / name, IDS, TABLE)
    with pytest.raises(ParameterError, match="exists"):
        require_outputs(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [files[there].name]
    assert files[there].read_text() == "precious"
    write_class_map(tmp_path / name, IDS, TABLE, overwrite=True, legend=False)
    np.testing.assert_array_equal(read_labels(tmp_path / name).ids, IDS)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    write_class_map(tmp_path / "map.img", IDS, TABLE)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(envi, "write_envi_header", fail)
    with pytest.raises(OSError, match="disk full"):
        write_class_map(tmp_path / "map.img", IDS * 0, TABLE, overwrite=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("write", "name", "array", "says"),
    [
        (write_class_map, "", IDS, r"is a folder; name a file in it, as .*map\.tif"),
        (write_class_map, "map.gif", IDS, r"ending '.gif'"),
        (write_class_map, "map", IDS, r"ending '\(none\)'"),
        (write_class_map, "absent/map.img", IDS, "no folder"),
        (write_class_map, "map.img", np.array([[0.5]]), "class_ids"),
        (write_class_map, "map.img", np.array([[70000]]), "too large"),
        (write_class_map, "map.tif", IDS + 65535, "too large for a GeoTIFF"),
        (write_raster, "p.png", np.ones((3, 4, 2)), "one band"),
        (write_raster, "wide.png", np.ones((1, 70_000)), "too many for a picture"),
        (
            partial(write_raster, band_names=["a", "b"]),
            "p.img",
            np.ones((3, 4, 3)),
            "2 band names for 3",
        ),
        (write_raster, "p.img", np.ones(3), "shape"),
        (partial(write_class_map, legend=False), "m.png", IDS + 300, "too large for a PNG"),
    ],
)
def test_what_cannot_be_written(tmp_path, write, name, array, says):
    with pytest.raises((ParameterError, DataError), match=says):
        write(tmp_path / name, array)
    assert list(tmp_path.iterdir()) == []


def test_missing_matplotlib_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ParameterError, match=r"diffclass\[plots\]"):
        write_class_map(tmp_path / "map.png", IDS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.data
def test_real_labels_through_every_format(data_folder, tmp_path):
    labels = read_labels(data_folder / "salinas_a/SalinasA_gt.mat")
    for name in ("map.img", "map.png", "map.npy"):
        write_class_map(tmp_path / name, labels.ids, labels.table, legend=False)
        again = read_labels(tmp_path / name)
        np.testing.assert_array_equal(again.ids, labels.ids)
        same_table(again.table, labels.table)
