"""Files of a session: every format, names and colours kept."""

from __future__ import annotations

import json

import numpy as np
import pyogrio.raw
import pytest
from PIL import Image

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import LookupTable, classify_scene, open_scene, read_labels
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.io.readers import read_library
from diffclass_hyperspectral.jobs.library_labels import labels_of_library
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.queries import exports
from diffclass_relabel.queries.exports import Downloads, export, file_name

from ..strokes import three_classes

NAME = "W\u00e4lder \u68ee\u6797"  # letters of any script stay


@pytest.fixture
def painted(labelled):
    labelled.apply({"op": "rename_class", "id": 2, "name": NAME})
    labelled.apply({"op": "recolor_class", "id": 2, "color": "#0a0b0c"})
    return labelled


@pytest.mark.parametrize("ending", [".img", ".hdr", ".dat", ".tif", ".png"])
@pytest.mark.parametrize("what", ["labels", "map"])
def test_classes_come_back(painted, tmp_path, what, ending):
    files = export(painted, what, tmp_path / f"out{ending}")
    read = read_labels(files[0])
    shown = painted.labels.ids if what == "labels" else painted.update().ids
    assert np.array_equal(read.ids, np.where(shown == NO_DATA, 0, shown))
    assert read.table[2].name == NAME
    assert read.table[2].color == (10, 11, 12)
    if ending not in (".png",):
        assert read.map_info is not None


@pytest.mark.parametrize("ending", [".gpkg", ".geojson"])
def test_the_map_comes_back_from_polygons(painted, tmp_path, workspace, ending):
    files = export(painted, "polygons", tmp_path / f"out{ending}")
    labels = read_labels(files[0], grid=workspace.scene)
    shown = painted.update().ids
    assert np.array_equal(labels.ids, np.where(shown == NO_DATA, 0, shown))
    assert labels.table[2].name == NAME


def test_small_polygons_join_their_neighbours(painted, tmp_path):
    def counts(**options):
        path = tmp_path / f"{len(options)}.gpkg"
        export(painted, "polygons", path, **options)
        _, _, _, columns = pyogrio.raw.read(path, read_geometry=False)
        named = dict(zip(pyogrio.read_info(path)["fields"], columns, strict=True))
        assert ((named["probability"] > 0) & (named["probability"] <= 1)).all()
        return named["pixels"]

    every, large = counts(), counts(min_area=20)
    assert every.min() < 20 <= large.min()
    assert every.sum() == large.sum()


def test_the_map_is_brought_up_to_date(painted, tmp_path):
    assert painted.is_stale
    export(painted, "map", tmp_path / "map.npy")
    found = np.load(tmp_path / "map.npy")
    assert not painted.is_stale
    assert set(np.unique(found)) == {0, 1, 2, 3}


@pytest.mark.parametrize("ending", [".img", ".tif", ".npy"])
def test_numbers_come_back(painted, tmp_path, ending, workspace):
    painted.update()
    margin = workspace.raster(painted.session.margin, fill=np.nan)
    export(painted, "margin", tmp_path / f"margin{ending}")
    export(painted, "probability", tmp_path / f"probability{ending}")
    np.testing.assert_array_equal(
        open_array(tmp_path / f"margin{ending}").reshape(workspace.shape), margin
    )
    probability = open_array(tmp_path / f"probability{ending}")
    assert probability.shape == (*workspace.shape, 3)
    np.testing.assert_allclose(np.nansum(probability, axis=2)[workspace.scene.valid], 1, rtol=1e-5)


def open_array(path):
    if path.suffix == ".npy":
        return np.load(path)
    return np.array(open_scene(path).data)


@pytest.mark.parametrize("ending", [".sli", ".csv"])
def test_the_spectra_of_the_classes_label_pixels_again(painted, tmp_path, workspace, ending):
    files = export(painted, "spectra", tmp_path / f"spectra{ending}")
    library = read_library(files[0])
    assert library.names == ("nuclei", NAME, "stroma")
    np.testing.assert_allclose(library.wavelengths, workspace.scene.wavelengths, rtol=1e-6)
    inside = painted.labels.ids == 2
    mean = workspace.scene.spectra()[inside.ravel()].mean(axis=0)
    drawn = np.isfinite(library.spectra[1])
    np.testing.assert_allclose(library.spectra[1][drawn], mean, rtol=1e-4)
    labels = labels_of_library(workspace.scene, files[0])
    assert {entry.name for entry in labels.table if entry.id} == {"nuclei", NAME, "stroma"}
    assert np.count_nonzero(labels.ids) > 20


def test_report(painted, tmp_path):
    export(painted, "report", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["strokes"] == 3
    assert report["labelled_pixels"] == 36
    assert report["missing"] == 2
    assert sum(entry["pixels"] for entry in report["classes"]) + report["unclassified"] == 2398
    assert report["accuracy"] is None  # labels that were painted measure none
    assert report["classes"][1]["name"] == NAME


def test_refused(painted, tmp_path):
    with pytest.raises(ParameterError, match="nothing called"):
        export(painted, "all", tmp_path / "a.img")
    with pytest.raises(ParameterError, match="no format"):
        export(painted, "map", tmp_path / "a.doc")
    with pytest.raises(ParameterError, match=r"written as \.json"):
        export(painted, "report", tmp_path / "a.img")
    with pytest.raises(ParameterError, match=r"polygons is written as \.gpkg or \.geojson"):
        export(painted, "polygons", tmp_path / "a.tif")
    with pytest.raises(ParameterError, match="not numbers"):
        export(painted, "margin", tmp_path / "a.gpkg")
    with pytest.raises(ParameterError, match=r"written as \.png"):
        export(painted, "picture", tmp_path / "a.tif")
    (tmp_path / "a.npy").write_text("")
    with pytest.raises(ParameterError, match="exists"):
        export(painted, "map", tmp_path / "a.npy")


def test_a_picture_has_colours_legend_and_scale_bar(painted, tmp_path):
    (file,) = export(painted, "picture", tmp_path / "picture.png")
    with Image.open(file) as image:
        dots = np.asarray(image.convert("RGB"))
    ids = painted.map.ids
    step = 10  # dots of a pixel: the longer side, 50 pixels, has 480 at least
    first = 12  # dots of white around
    drawn = dots[first + step // 2 :: step, first + step // 2 :: step][: len(ids), : ids.shape[1]]
    assert (drawn[ids == 2] == (10, 11, 12)).all()
    legend = dots[: len(ids) * step, first + ids.shape[1] * step + 2 :]
    assert (legend == (10, 11, 12)).all(axis=2).any()
    bar = dots[first + len(ids) * step + 1 :]
    # pixels of 2 m: 20 m are the longest round length within a third of 100 m
    black = (bar == 0).all(axis=2).sum(axis=1).max()
    assert black >= 20 / 2 * step


def test_the_page_saves_a_picture(painted, serve, open_tab):
    tab = open_tab(serve(painted).url)
    tab.idle()
    tab.page.click("text=Export")
    saved = tab.download("Picture as PNG with legend (.png)")
    assert saved.suggested_filename == "scene_picture.png"
    with Image.open(saved.path()) as image:
        assert image.width > image.height > 500  # the legend is beside, the bar below


def test_nothing_labelled(editor, tmp_path):
    with pytest.raises(DataError, match="paint"):
        export(editor, "map", tmp_path / "a.img")


def test_a_scene_in_its_sensors_geometry(painted, tmp_path, workspace, monkeypatch):
    """Labels stay on the scene's pixels, to be read again; results go to the map."""
    rows, columns = np.indices(workspace.shape)
    place = Georeference((0.001, 0.0, 10.0, 0.0, -0.001, 45.0), "EPSG:4326")
    table = LookupTable(
        rows=np.pad(rows, (0, 2), constant_values=-1),
        columns=np.pad(columns, (0, 2), constant_values=-1),
        sensor_shape=workspace.shape,
        map_info=map_info_of(place),
        path=workspace.scene.path,
    )
    monkeypatch.setitem(vars(workspace.scene), "lookup_table", table)
    for ending in (".npy", ".tif"):
        for what in ("labels", "map", "margin"):
            export(painted, what, tmp_path / f"{what}{ending}")
    for what, empty in (("map", 0), ("margin", np.nan)):
        sensor = np.load(tmp_path / f"{what}.npy")
        found = open_scene(tmp_path / f"{what}.tif")
        assert found.georeference == place
        shown = np.asarray(found.data)[..., 0]
        np.testing.assert_array_equal(shown, table.to_map(sensor, fill=empty))
    labels = read_labels(tmp_path / "labels.tif")
    np.testing.assert_array_equal(labels.ids, np.load(tmp_path / "labels.npy"))


@pytest.mark.parametrize(
    ("session", "begins"),
    [
        ("\u68ee\u6797.relabel.jsonl", "\u68ee\u6797"),
        ("a\u0308rger.relabel.jsonl", "\u00e4rger"),  # composed
        ("two words.tif.relabel.jsonl", "two words.tif"),
        ("mine.jsonl", "scene"),  # that somebody has named
    ],
)
@pytest.mark.parametrize(("what", "ending"), [("labels", ".png"), ("model", ".model")])
def test_files_say_of_which_scene_they_are(new_editor, tissue, session, begins, what, ending):
    editor = new_editor(session)
    for operation in three_classes(tissue):
        editor.apply(operation)
    assert file_name(editor, what, ending) == f"{begins}_{what}{ending}"
    downloads = Downloads()
    (name, *_) = downloads.export(editor, what, f"{begins}_{what}{ending}")
    assert downloads.files[name].name == f"{begins}_{what}{ending}"
    long = "x" * 300
    for wrong in ("../x.png", "a/b.png", ".hidden.png", "nul.png", "a\u0308.png", long, ""):
        with pytest.raises(ParameterError, match="no name of a file on every system"):
            downloads.export(editor, what, wrong)
    downloads.close()


def test_a_full_temporary_folder_is_one_clear_error(labelled, monkeypatch):
    def full(stem):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exports, "TemporaryFolder", full)
    files = Downloads()  # the server starts all the same
    with pytest.raises(DataError, match=r"No space left on device\); make room"):
        files.export(labelled, "labels")
    files.close()


def test_no_class_is_no_data_in_exported_maps(labelled, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    for what in ("map", "labels"):
        export(labelled, what, tmp_path / f"{what}.tif")
        export(labelled, what, tmp_path / f"{what}.img")
        with rasterio.open(tmp_path / f"{what}.tif") as raster:
            assert raster.nodata == 0
        assert "data ignore value = 0" in (tmp_path / f"{what}.hdr").read_text()


def test_labels_of_one_class_alone_are_told(editor, tissue, tmp_path):
    """`classify` refuses them; what is exported says so before."""
    first = next(one for one in three_classes(tissue) if one["op"] == "stroke")
    for operation in three_classes(tissue):
        if operation["op"] != "stroke" or operation == first:
            editor.apply(operation)
    says = "one class alone is labelled, .*classify refuses"
    with pytest.warns(UserWarning, match=says):
        export(editor, "labels", tmp_path / "labels.tif")
    with pytest.raises(DataError, match="is labelled; label pixels of at least one more class"):
        classify_scene(
            open_scene(editor.workspace.scene.path), read_labels(tmp_path / "labels.tif")
        )
    with pytest.warns(UserWarning, match=says):
        export(editor, "report", tmp_path / "report.json")
    note = json.loads((tmp_path / "report.json").read_text())["map_note"]
    assert note.startswith("one class alone is labelled")
