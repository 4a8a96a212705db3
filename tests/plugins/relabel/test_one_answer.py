"""The law of one answer: page, replay and classify make the same map of the same labels."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
import spectral.io.envi as envi
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from diffclass import DiffusionClassifier, RelabelSession, Warp, markov_operator
from diffclass.command_line import main as cli
from diffclass.exceptions import CancelledError, ParameterError
from diffclass.kernels import SharedNeighbors
from diffclass.relabel import background
from diffclass_hyperspectral import open_scene, open_tiles, read_labels, write_raster
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.jobs.library_labels import read_scene_labels
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.queries.exports import export
from diffclass_relabel.session.session_files import open_editor
from diffclass_relabel.workspace import SceneSettings, SceneWorkspace

MODES = ["summed", "free", "absorbing"]


def clouds(rng, n_clouds, dtype):
    """Clouds of 40 points, some close and some far away: graphs of several components."""
    places = rng.choice([0, 3, 6, 100, 103, 200], (n_clouds, 2))
    return (np.repeat(places, 40, axis=0) + rng.normal(size=(40 * n_clouds, 2))).astype(dtype)


@pytest.mark.filterwarnings(
    "ignore:no label reaches", "ignore:by max_time", "ignore:no point of the map is of the class"
)
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    label_mode=st.sampled_from(MODES),
    tau=st.sampled_from(["margin", 1, 7, 16, 60, 700]),
    dtype=st.sampled_from([np.float32, np.float64]),
    warped=st.booleans(),
)
def test_strokes_give_the_map_of_their_labels(seed, label_mode, tau, dtype, warped):
    """Of every mode, with and without a chosen tau, of graphs of several components."""
    rng = np.random.default_rng(seed)
    X = clouds(rng, int(rng.integers(2, 6)), dtype)
    n_classes = int(rng.integers(2, 5))
    operator = markov_operator(X, kernel=SharedNeighbors())
    names = [f"class {i}" for i in range(n_classes)]
    session = RelabelSession(operator, names, label_mode=label_mode, tau=16)
    for i in range(n_classes + int(rng.integers(0, 9))):
        points = rng.choice(len(X), int(rng.integers(1, 6)), replace=False).tolist()
        session.apply({"op": "stroke", "class": 1 + i % n_classes, "points": points})
        if rng.random() < 0.5:
            session.update()
    session.apply({"op": "tau", "tau": tau})
    if warped and label_mode != "summed":
        session.apply({"op": "warp"})
    session.update()
    y = np.where(session.label_ids > 0, session.label_ids.astype(int), -1)
    clf = DiffusionClassifier(
        label_mode=label_mode, tau=session.tau, warp=Warp() if session.is_warped else None
    ).fit(X, y)
    np.testing.assert_array_equal(
        session.map_ids, np.where(clf.diffusion_.reached, clf.transduction_, 0)
    )
    np.testing.assert_allclose(session.margin, clf.margin_, atol=1e-5)
    np.testing.assert_allclose(session.probability, clf.diffusion_.probability, atol=1e-5)
    if tau == "margin" and len(np.unique(y)) > 2 and not session.is_warped:
        again = DiffusionClassifier(label_mode=label_mode, tau="margin").fit(X, y)
        assert again.tau_ == session.tau


@pytest.mark.filterwarnings("ignore:no label reaches", "ignore:by max_time")
@pytest.mark.parametrize("label_mode", ["auto", *MODES])
def test_auto_refines_as_the_classifier_chooses(rng, label_mode):
    """Whatever was shown before, and again after undo and redo; one given up changes nothing."""
    X = clouds(rng, 4, np.float32)
    operator = markov_operator(X, kernel=SharedNeighbors())
    session = RelabelSession(operator, ["one", "two", "three"], label_mode=label_mode)
    strokes = [(1, [0, 1]), (2, [45]), (1, [90, 91, 3]), (3, [130, 131])]
    for class_id, points in strokes:
        session.apply({"op": "stroke", "class": class_id, "points": points})
        session.update()
        assert (session.tau, session.tau_mode, session.is_refined) == (12, "auto", False)
        first = session.map_ids.copy()
        with pytest.raises(CancelledError), background(lambda: False):
            session.refine()
        assert not session.is_refined
        assert not session.is_stale
        session.refine()
        assert (session.map_ids == first).all()  # until it is updated
        session.update()
        assert session.is_refined
        assert not session.is_stale
    y = np.where(session.label_ids > 0, session.label_ids.astype(int), -1)
    clf = DiffusionClassifier(label_mode=label_mode, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        session.map_ids, np.where(clf.diffusion_.reached, clf.transduction_, 0)
    )
    np.testing.assert_allclose(session.margin, clf.margin_, atol=1e-6)
    assert (session.tau, session.label_mode) == (clf.tau_, clf.diffusion_.label_mode)
    refined = session.map_ids.copy()
    session.apply({"op": "undo"})
    session.apply({"op": "redo"})
    assert session.update().n_changed == 0
    np.testing.assert_array_equal(session.map_ids, refined)
    session.apply({"op": "tau", "tau": 12})  # taken over: the first map of the same labels
    session.update()
    np.testing.assert_array_equal(session.map_ids, first)
    session.apply({"op": "tau", "tau": "auto"})  # and given back
    session.update()
    np.testing.assert_array_equal(session.map_ids, refined)


@pytest.fixture
def painted(scene_folder, tmp_path, rng, tissue):
    """Open a session with strokes of the true classes: one wrong, one painted over, one undone."""
    opened = []

    def made(**options):
        given = {"components": 6} | options
        chosen = {name: value for name, value in given.items() if value is not None}
        editor = open_editor(scene_folder / "scene.hdr", tmp_path / "s.jsonl", settings=chosen)
        opened.append(editor)
        rows, columns = tissue.truth.shape
        for name in ("fat", "muscle", "bone"):
            editor.apply({"op": "add_class", "name": name})
        for i in range(9):
            row, column = rng.integers(rows - 3), rng.integers(columns - 6)
            start = int(row * columns + column)
            class_id = 1 + (i % 3 if i < 3 else int(tissue.truth[row, column] - 1) % 3)
            pixels = [start, 5, start + columns, 5]
            editor.apply({"op": "stroke", "class": class_id, "pixels": pixels})
        editor.apply({"op": "undo"})
        return editor

    yield made
    for editor in opened:
        editor.close()


def run(*words):
    assert cli.run([*map(str, words), "-q"]) in (0, 4)


def assert_one_map(editor, folder, suffix=".img", *, margins=False, report=()):
    """Page, replay and classify make one map, through files and real commands.

    Returns the page's report; ``report`` are words for that of classify.
    """

    def outputs(name):
        more = ["--margin", folder / f"{name}_margin{suffix}"] if margins else []
        return ["-o", folder / f"{name}{suffix}", *more]

    for name, what in (("labels", "labels"), ("page", "map"), ("page_margin", "margin")):
        if what != "margin" or margins:
            export(editor, what, folder / f"{name}{suffix}")
    export(editor, "report", folder / "page.json")
    shown = np.where(editor.map.ids == NO_DATA, 0, editor.map.ids)
    editor.close()
    said, scene = json.loads((folder / "page.json").read_text()), editor.workspace.scene.path
    run("replay", editor.log.path, "--scene", scene, *outputs("replayed"))
    words = ["--labels", folder / f"labels{suffix}", *said["classify_options"], *report]
    run("classify", scene, *words, *outputs("found"))
    for name in ("page", "replayed", "found"):
        np.testing.assert_array_equal(read_labels(folder / f"{name}{suffix}").ids, shown)
    if margins:
        page, replayed, found = (
            np.asarray(open_scene(folder / f"{name}_margin{suffix}").data[..., 0])
            for name in ("page", "replayed", "found")
        )
        np.testing.assert_array_equal(page, replayed)
        np.testing.assert_allclose(page, found, atol=1e-5)
    return said


@pytest.mark.parametrize(
    ("label_mode", "tau", "features"),
    [  # each two of them meet
        (label_mode, tau, ("spectral", "spatial")[(i + j) % 2])
        for i, label_mode in enumerate(["auto", *MODES])
        for j, tau in enumerate([None, 12, "margin"])
    ],
)
def test_page_replay_and_classify_agree(painted, tmp_path, label_mode, tau, features):
    editor = painted(label_mode=label_mode, features=features, tau=tau)
    editor.refine()
    assert len(np.unique(editor.session.map_ids)) >= 2
    assert_one_map(editor, tmp_path, margins=True)


@pytest.mark.parametrize("tau", ["auto", 12])
def test_they_agree_also_where_labels_came_to_count_in_another_way(painted, tmp_path, tau):
    editor = painted(label_mode="summed", tau=tau)
    editor.apply({"op": "label_mode", "mode": "absorbing"})
    editor.refine()
    assert_one_map(editor, tmp_path)


@pytest.mark.parametrize(
    ("tau", "sizes", "label_mode"),
    [
        (None, "uniform", "auto"),
        (None, "fat=10-30%,muscle=0.2ha", "auto"),  # of 0.96
        (12, "bone=1000px", "summed"),
        ("margin", "fat=30-60%", "free"),
        (None, "fat=1%,muscle=1%,bone=1%", "auto"),  # cannot be met: they do not count
    ],
)
def test_they_agree_with_sizes_of_classes(painted, tmp_path, tau, sizes, label_mode):
    """Also by the names of later, and where the session is opened again."""
    editor = painted(label_mode=label_mode, tau=tau)
    editor.refine()
    before = editor.map.ids
    editor.apply({"op": "class_sizes", "sizes": sizes})
    editor.update()
    editor.refine()
    is_met = editor.session.sizes_met
    assert is_met in ("met", "unused", "waiting")
    assert (is_met == "waiting") == (sizes.count("1%") == 3)
    if is_met != "met":  # a wish that the map fulfils already leaves it, too
        np.testing.assert_array_equal(before, editor.map.ids)
    editor.apply({"op": "rename_class", "id": 1, "name": "grease, fat"})
    report = assert_one_map(editor, tmp_path)
    assert report["class_sizes"] == sizes.replace("fat", '"grease, fat"')
    assert report["sizes_met"] == is_met
    assert ("--class-sizes" in report["classify_options"]) == (is_met != "waiting")


def picture_of(rng, n_bands, side, *, constant, dtype):
    """Three fields with noise; one band may be constant."""
    fields = np.arange(side)[:, None] * 3 // side + np.zeros((1, side), dtype=int)
    cube = rng.normal(size=(3, n_bands))[fields] + 0.4 * rng.normal(size=(side, side, n_bands))
    if constant and n_bands > 1:
        cube[..., int(rng.integers(n_bands))] = 1
    if dtype is np.uint8:
        cube = np.clip(40 * cube + 120, 0, 255)
    return cube.astype(dtype), fields


def written(path, cube):
    """Write a cube in the format of the file's ending."""
    if path.suffix == ".npy":
        np.save(path, cube)
    elif path.suffix == ".hdr":
        envi.save_image(str(path), cube)
    else:
        Image.fromarray(cube[..., 0] if cube.shape[2] == 1 else cube).save(path)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_bands=st.integers(1, 30) | st.just(200),
    side=st.sampled_from([4, 5, 9, 16]),
    suffix=st.sampled_from([".npy", ".hdr", ".png", ".tif"]),
    features=st.sampled_from(["spectral", "spatial"]),
    asked=st.sampled_from([None, 1, 3, 30]),
    constant=st.booleans(),
    masked=st.booleans(),
    tau=st.sampled_from([None, 12, "margin"]),
)
@example(0, 3, 16, ".png", "spectral", None, False, False, None)  # a photograph
@example(1, 1, 16, ".png", "spatial", None, False, False, 12)
@example(2, 8, 16, ".npy", "spatial", None, True, False, None)
@example(3, 13, 16, ".hdr", "spectral", None, True, True, "margin")  # bands of Sentinel-2
@example(4, 20, 9, ".npy", "spectral", 30, False, False, None)
@example(5, 200, 16, ".hdr", "spatial", None, True, True, None)
@example(0, 1, 4, ".png", "spectral", None, False, False, None)  # equal pixels
@example(98, 1, 4, ".png", "spectral", None, False, False, 12)  # with labels of two classes
@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_named_options_are_those_of_the_scene(
    seed, n_bands, side, suffix, features, asked, constant, masked, tau
):
    """What the session leaves to the scene is named as the scene resolved it; classify takes it."""
    rng = np.random.default_rng(seed)
    if suffix in (".png", ".tif"):
        n_bands = 3 if n_bands > 1 else 1
    dtype = np.float32 if suffix in (".npy", ".hdr") else np.uint8
    cube, fields = picture_of(rng, n_bands, side, constant=constant, dtype=dtype)
    chosen = {"features": features, "components": asked, "tau": tau}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene, log = folder / f"scene{suffix}", folder / "s.jsonl"
        written(scene, cube)
        if masked and side > 5:
            np.save(folder / "mask.npy", rng.random((side, side)) < 0.1)
            chosen["mask"] = str(folder / "mask.npy")
        if asked is not None and asked > n_bands:  # as classify does
            with pytest.raises(ParameterError, match=f"has {n_bands} good"):
                open_editor(scene, log, settings=chosen)
            assert not log.exists()
            return
        editor = open_editor(scene, log, settings=chosen)
        try:
            for class_id in (1, 2, 3):
                editor.apply({"op": "add_class"})
                pixels = np.flatnonzero(fields.ravel() == class_id - 1)
                pixels = pixels[editor.workspace.points[pixels] >= 0][:: max(side // 4, 1)][:4]
                runs = [number for pixel in pixels.tolist() for number in (pixel, 1)]
                editor.apply({"op": "stroke", "class": class_id, "pixels": runs})
            assert_one_map(editor, folder, ".npy", report=["--report", folder / "classified.json"])
        finally:
            editor.close()
        run("rerun", folder / "classified.json", "--into", folder / "again")
        open_editor(scene, log, settings=chosen).close()
        again, found = (np.load(folder / name / "found.npy") for name in ("again", "."))
        np.testing.assert_array_equal(again, found)


def test_a_part_of_the_bands_too(painted, tmp_path):
    """Bands left out and bad ones do not count among those that components are taken of."""
    editor = painted(bands="1-5,9,12", components=None)  # the last one is bad
    options = assert_one_map(editor, tmp_path)["classify_options"]
    assert options[options.index("--components") + 1] == "6"


GRID = (30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6)
CUTS = {"left": (0, 48, 0, 20), "upper": (0, 30, 20, 50), "lower": (30, 48, 20, 50)}


def cut(folder, tissue, *, on_one_grid):
    """Cut the scene in three, on one map grid or each without a place."""
    for name, (top, bottom, left, right) in CUTS.items():
        a, _, x, _, e, y = GRID
        corner = Georeference((a, 0.0, x + a * left, 0.0, e, y + e * top), "EPSG:32633")
        info = map_info_of(corner) if on_one_grid else None
        write_raster(folder / f"{name}.tif", tissue.cube[top:bottom, left:right], map_info=info)
    return [folder / f"{name}.tif" for name in CUTS]


@pytest.mark.parametrize(
    ("on_one_grid", "tau", "features"),  # each two of them meet
    [(True, None, "spatial"), (True, 12, "spectral"), (False, None, "spectral"),
     (False, 12, "spatial")],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_several_scenes_have_one_map(tmp_path, tissue, rng, on_one_grid, tau, features):
    """Page, replay and classify agree on every scene, and labels of one of them come back."""
    scenes = cut(tmp_path, tissue, on_one_grid=on_one_grid)
    log, chosen = tmp_path / "s.jsonl", {"features": features, "tau": tau}
    for kind in ("labels", "page", "replayed", "found"):
        (tmp_path / kind).mkdir()
    editor = open_editor(scenes, log, settings=chosen)
    try:
        picture, tiles = editor.workspace.raster(np.ones(1)[[0] * 2400]), editor.workspace.tiles
        assert tiles.is_mosaic == on_one_grid
        assert np.count_nonzero(picture) == tissue.truth.size
        truth = np.zeros(picture.shape, dtype=int)
        for tile, (top, bottom, left, right) in zip(tiles.tiles, CUTS.values(), strict=True):
            truth[tile.rows, tile.columns] = tissue.truth[top:bottom, left:right]
        for class_id in (1, 2, 3):
            editor.apply({"op": "add_class"})
            pixels = rng.choice(np.flatnonzero(truth == class_id), 6, replace=False)
            runs = [number for pixel in sorted(pixels.tolist()) for number in (pixel, 1)]
            editor.apply({"op": "stroke", "class": class_id, "pixels": runs})
        export(editor, "labels", tmp_path / "labels" / "{}.tif")
        export(editor, "map", tmp_path / "page" / "{}.tif")
        options = editor.workspace.settings.classify_options(editor.session)
        upper = tmp_path / "labels" / "upper.tif"
        lone = read_scene_labels(tiles, upper)
        kept = np.zeros_like(truth)
        place = tiles.tiles[1].rows, tiles.tiles[1].columns
        kept[place] = editor.labels.ids[place]
        np.testing.assert_array_equal(lone.ids, kept)
        if not on_one_grid:
            with pytest.raises(ParameterError, match="file for each"):
                export(editor, "map", tmp_path / "page.tif")
    finally:
        editor.close()
    again = [word for scene in scenes for word in ("--scene", scene)]
    run("replay", log, *again, "-o", tmp_path / "replayed" / "{}.tif")
    labels = ["--labels", tmp_path / "labels"]
    run("classify", *scenes, *labels, *options, "-o", tmp_path / "found" / "{}.tif")
    for name in CUTS:
        shown, replayed, found = (
            read_labels(tmp_path / kind / f"{name}.tif").ids
            for kind in ("page", "replayed", "found")
        )
        np.testing.assert_array_equal(shown, replayed)
        np.testing.assert_array_equal(shown, found)
    if not on_one_grid:
        words = ["replay", log, *again, "-o", tmp_path / "one.tif", "-q"]
        assert cli.run(list(map(str, words))) == 2
        assert not (tmp_path / "one.tif").exists()


@pytest.mark.data
@pytest.mark.parametrize(
    ("label_mode", "tau"), [("summed", "margin"), ("free", 16), ("absorbing", "margin")]
)
def test_a_real_scene_has_one_map(data_folder, rng, label_mode, tau):
    """Salinas-A, spatial features, eighteen strokes of the true classes."""
    folder = data_folder / "salinas_a"
    scene = open_tiles([folder / "SalinasA_corrected.mat"])
    settings = SceneSettings(features="spatial", label_mode=label_mode)
    workspace = SceneWorkspace.from_scene(scene, settings)
    truth = read_labels(folder / "SalinasA_gt.mat").ids.ravel()[workspace.pixels].astype(int)
    session = workspace.new_session()
    for class_id in np.unique(truth[truth > 0]).tolist():
        session.apply({"op": "add_class", "id": class_id})
        for start in rng.choice(np.flatnonzero(truth == class_id), 3):
            near = np.arange(start, min(start + 8, len(truth)))
            stroke = {"class": class_id, "points": near[truth[near] == class_id].tolist()}
            session.apply({"op": "stroke", **stroke})
            session.update()
    session.apply({"op": "tau", "tau": tau})
    session.update()
    y = np.where(session.label_ids > 0, session.label_ids.astype(int), -1)
    clf = DiffusionClassifier(label_mode=label_mode, tau=tau, random_state=0)
    clf.fit(workspace.features, y)
    np.testing.assert_array_equal(session.map_ids, clf.transduction_)
    np.testing.assert_allclose(session.margin, clf.margin_, atol=1e-5)
    assert (session.map_ids == truth)[truth > 0].mean() > 0.98
