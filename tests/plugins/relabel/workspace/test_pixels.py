"""Scenes of many pixels: first maps by groups, maps in pieces, and what the page says of both."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import diffuse_labels
from diffclass.command_line import main as cli
from diffclass_hyperspectral import SceneFeatures, read_labels
from diffclass_relabel import maps
from diffclass_relabel.access.clients import Outbox
from diffclass_relabel.maps import NO_DATA, ShownMap, pieces, unpack_frame
from diffclass_relabel.queries.exports import describe_session, export
from diffclass_relabel.queries.numbers import held_out
from diffclass_relabel.session.session_files import replayed
from diffclass_relabel.workspace import SceneSettings, SceneWorkspace, pixels, workspace
from diffclass_relabel.workspace.pixels import block_means, block_side, blocks_of
from experiments.relabel.driver.clients import PLANES

from ..session.test_refinement import begun, chosen, classified
from ..strokes import three_classes

ENDS = st.integers(0, 1500)


@pytest.fixture(scope="module")
def coarse_workspace(scene_folder):
    """The small scene, as if it were a big one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "MOST_DIRECT", 500)
        patch.setattr(workspace, "MOST_ANSWERED", 1000)
        return SceneWorkspace.open(scene_folder / "scene.hdr", SceneSettings(components=6))


@pytest.fixture
def editor(coarse_workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(maps, "MOST_WHOLE", 1000)
    with begun(coarse_workspace, tmp_path / "big.jsonl") as editor:
        yield editor


def first_map(editor):
    """The map of the groups by the labels so far; 255 where the scene has no data."""
    space, ids = editor.workspace, editor.labels.ids
    y = ids.ravel()[space.pixels].astype(int)
    found = diffuse_labels(
        space.coarse.operator,
        space.coarse.restrict_labels(np.where(y > 0, y, -1)),
        label_mode="summed",
        tau=12,
    )
    classes = np.append(found.classes, 0)[found.codes]
    return space.raster(space.coarse.lift(classes).astype(np.uint8), fill=NO_DATA)


@settings(deadline=None)
@given(rows=st.integers(1, 1500), columns=st.integers(1, 1500), seen=st.tuples(*[ENDS] * 4))
def test_pieces_cover_every_pixel_once_and_what_is_in_view_first(rows, columns, seen):
    windows = pieces((rows, columns), seen)
    covered = np.zeros((rows, columns), dtype=np.uint8)
    for top, left, bottom, right in windows:
        assert top < bottom
        assert left < right
        covered[top:bottom, left:right] += 1
    assert (covered == 1).all()
    top, left, bottom, right = windows[0]
    inside = seen[0] < min(seen[2], rows) and seen[1] < min(seen[3], columns)
    if len(windows) > 1 and inside:
        assert top <= seen[0]
        assert left <= seen[1]
        assert bottom >= min(seen[2], rows)
        assert right >= min(seen[3], columns)


def test_pieces_make_the_map_and_say_how_many_are_left():
    planes = np.random.default_rng(0).integers(0, 255, (4, 700, 600)).astype(np.uint8)
    shown = ShownMap(3, *planes, n_changed=0, milliseconds=1.0)
    whole = np.zeros((3, 700, 600), dtype=np.uint8)
    frames = maps.map_frames(shown, (300, 200, 500, 300))
    for k, frame in enumerate(frames):
        header, part = unpack_frame(frame, 700 * 600)
        top, left, bottom, right = header["window"]
        which = [PLANES["map"].index(name) for name in header["names"]]
        whole[which, top:bottom, left:right] = part.reshape(-1, bottom - top, right - left)
        assert header["left"] == len(frames) - 1 - k
    np.testing.assert_array_equal(whole, planes[:3])


def test_all_pieces_of_a_map_give_way_to_a_newer_one():
    outbox = Outbox()
    outbox.put_all([b"a", b"b", b"c"], kind="map")
    outbox.put("answer")
    assert asyncio.run(outbox.take()) == b"a"
    outbox.put_all([b"d", b"e"], kind="map")
    assert outbox.holds("map")
    assert [asyncio.run(outbox.take()) for _ in range(len(outbox))] == ["answer", b"d", b"e"]
    assert not outbox.holds("map")


def test_a_provisional_map_of_aggregates_then_the_one_of_classify(page, editor, tissue):
    assert page.hello()["state"]["n_aggregates"] == len(editor.workspace.coarse)
    for operation in three_classes(tissue):
        page.do(operation)
    page.do("stroke", **{"class": 1, "pixels": [700, 3]})
    first = page.settled()[0]
    if not page.state["refined"]:
        np.testing.assert_array_equal(first, first_map(editor).ravel())
    found = chosen(page)
    expected, tau = classified(editor, found.shape)
    np.testing.assert_array_equal(found, expected)
    assert page.state["tau"] == tau
    assert len(editor.workspace.coarse) < len(editor.workspace.pixels) / 4


@pytest.mark.parametrize("tau", ["auto", "margin", 5])
def test_an_export_is_the_map_of_every_pixel_that_classify_makes(labelled, tmp_path, tau):
    labelled.apply({"op": "tau", "tau": tau})
    first = labelled.update() and labelled.session.map_ids.copy()
    for what in ("labels", "map"):
        export(labelled, what, tmp_path / f"{what}.img")
    assert labelled.session.is_refined
    assert (labelled.session.map_ids != first).any()
    report = describe_session(labelled)
    assert report["map_note"] is None
    labels = ["--labels", tmp_path / "labels.hdr"]
    words = ["classify", labelled.workspace.scene.path, *labels, *report["classify_options"]]
    assert cli.run([*map(str, words), "-q", "-o", str(tmp_path / "found.img")]) in (0, 4)
    maps = [read_labels(tmp_path / f"{name}.hdr").ids for name in ("map", "found")]
    np.testing.assert_array_equal(*maps)


def test_a_warped_map_is_said_to_be_one_of_groups(labelled, serve, open_tab):
    labelled.apply({"op": "warp"})
    labelled.refine()
    coarse = labelled.workspace.coarse
    report, ids = describe_session(labelled), labelled.session.map_ids
    np.testing.assert_array_equal(ids, coarse.lift(ids[coarse.first_points]))
    assert report["map_note"].startswith(f"the walk is warped, so the map is one of {len(coarse)} ")
    assert report["classify_options"] is None
    tab = open_tab(serve(labelled).url)
    tab.idle()
    tab.find("button[popovertarget=export-menu]").click()
    assert f"of {len(coarse)} groups of similar pixels" in tab.find("#export-menu").inner_text()
    labelled.apply({"op": "unwarp"})
    assert describe_session(labelled)["map_note"] is None


def test_with_a_given_time_too_the_map_of_all_pixels_follows(page, editor, tissue):
    for operation in three_classes(tissue):
        page.do(operation)
    page.do("tau", tau=5)
    found = chosen(page)
    y = editor.labels.ids.ravel()[editor.workspace.pixels].astype(int)
    expected = diffuse_labels(
        editor.workspace.operator, np.where(y > 0, y, -1), label_mode="summed", tau=5
    )
    ids = editor.workspace.raster(expected.classes[expected.codes].astype(np.uint8), fill=NO_DATA)
    np.testing.assert_array_equal(found, ids.ravel())


def test_a_map_on_its_way_is_sent_anew_when_the_view_moves(page, editor):
    seen = {"top": 10, "left": 0, "bottom": 20, "right": 50}
    page.hello()
    page.settled()
    assert page.ask("view", **seen)["sent_anew"] is False  # all of it is there
    page.do("add_class")
    page.do("stroke", **{"class": 1, "pixels": [700, 30]})
    ids = page.settled()[0]
    assert page.frames["map"][0]["left"] == 0
    np.testing.assert_array_equal(ids, editor.map.ids.ravel())
    refused = page.ask("view", **seen | {"top": -1})
    assert refused["message"].startswith("view: top = -1")


def test_labels_are_held_out_on_aggregates(coarse_workspace, tissue):
    ids = np.zeros(coarse_workspace.shape, dtype=np.uint8)
    for operation in three_classes(tissue):
        if operation["op"] == "stroke":
            runs = np.array(operation["pixels"]).reshape(-1, 2)
            for start, length in runs:
                ids.ravel()[start : start + length] = operation["class"]
    given = {"label_mode": "summed", "tau": 12}
    found = held_out(coarse_workspace.new_session(), coarse_workspace, ids, **given)
    graph = Future()
    graph.set_result((coarse_workspace.operator, None))
    plain = replace(coarse_workspace, graph=graph)
    single = held_out(plain.new_session(), plain, ids, **given)
    assert found.truth.tolist() == single.truth.tolist()
    assert (found.found == found.truth).mean() > 0.6


def test_the_page_says_that_a_first_map_is_shown(labelled, serve, open_tab, monkeypatch):
    monkeypatch.setattr(labelled.session, "refine", lambda: None)  # as if it took for ever
    tab = open_tab(serve(labelled).url)
    tab.idle()
    np.testing.assert_array_equal(list(tab.js("[...diffclass.map]")), first_map(labelled).ravel())
    badge = tab.find(".badges .badge >> nth=0")
    assert badge.inner_text() == "first map"
    assert f"{len(labelled.workspace.coarse)} groups" in badge.get_attribute("title")


@pytest.fixture(scope="module")
def block_workspace(scene_folder):
    """The small scene by blocks of 2 x 2 pixels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixels, "MOST_POINTS", 600)
        return SceneWorkspace.open(scene_folder / "scene.hdr", SceneSettings(components=6))


@pytest.fixture
def by_blocks(block_workspace, tmp_path):
    with begun(block_workspace, tmp_path / "blocks.jsonl") as editor:
        yield editor


@settings(deadline=None)
@given(rows=st.integers(1, 5000), columns=st.integers(1, 5000))
def test_blocks_are_as_small_as_they_can_be(rows, columns):
    def n_blocks(side):
        return -(-rows // side) * -(-columns // side)

    side = block_side(rows, columns)
    assert n_blocks(side) <= pixels.MOST_POINTS
    assert side == 1 or n_blocks(side - 1) > pixels.MOST_POINTS


@settings(deadline=None)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 30)),
    side=st.integers(1, 7),
    seed=st.integers(0, 99),
)
def test_means_are_those_of_the_pixels_of_each_block(shape, side, seed):
    rng = np.random.default_rng(seed)
    valid = rng.random(shape) < 0.7
    features = rng.normal(size=(valid.sum(), 3)).astype(np.float32)
    blocks = blocks_of(valid, side).reshape(shape)
    assert ((blocks >= 0) == valid).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixels, "_ROWS", 2)
        means = block_means(features, valid, side)
    picture = np.zeros((*shape, 3))
    picture[valid] = features
    number = 0
    for top in range(0, shape[0], side):
        for left in range(0, shape[1], side):
            window = slice(top, top + side), slice(left, left + side)
            if valid[window].any():
                assert (blocks[window][valid[window]] == number).all()
                mean = picture[window][valid[window]].mean(axis=0)
                np.testing.assert_allclose(means[number], mean, atol=1e-5)
                number += 1
    assert number == len(means)


def test_a_scene_of_blocks(block_workspace):
    space = block_workspace
    assert space.block == 2
    assert len(space.operator) == len(space.pixels) == 600
    valid = space.scene.valid
    features = SceneFeatures(6).fit_transform_points(space.scene)[0]
    np.testing.assert_allclose(space.features, block_means(features, valid, 2))
    assert (space.points[space.pixels] == np.arange(600)).all()
    numbers = space.raster(np.arange(600), fill=-1)
    assert (numbers == space.points.reshape(numbers.shape)).all()
    assert (numbers >= 0).sum() == valid.sum()


def test_a_stroke_counts_for_its_blocks(by_blocks):
    by_blocks.apply({"op": "add_class", "name": "a"})
    done = by_blocks.apply({"op": "stroke", "class": 1, "pixels": [10 * 50 + 11, 2]})
    assert done["pixels"] == [511, 2]  # the file has what was painted
    rows, columns = np.nonzero(by_blocks.labels.ids)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (10, 11, 10, 13)
    by_blocks.apply({"op": "erase", "pixels": [11 * 50 + 10, 1]})
    assert (by_blocks.labels.ids > 0).sum() == 4


def test_the_map_of_blocks_is_exported_for_every_pixel_and_replayed(by_blocks, tissue, tmp_path):
    for operation in three_classes(tissue):
        by_blocks.apply(operation)
    labels = export(by_blocks, "labels", tmp_path / "labels.npy")[0]
    maps = export(by_blocks, "map", tmp_path / "map.npy")[0]
    found = read_labels(maps).ids
    assert found.shape == tissue.truth.shape
    blocks = found.reshape(24, 2, 25, 2)
    assert (np.ptp(blocks, axis=(1, 3)) == 0).sum() >= 600 - 2  # but for two holes
    assert (found == tissue.truth).mean() > 0.6
    assert read_labels(labels).ids.astype(bool).sum() == by_blocks.labels.counts[1:].sum()
    report = describe_session(by_blocks)
    assert report["block"] == 2
    assert "2 x 2 pixels" in report["map_note"]
    counted = sum(entry["pixels"] for entry in report["classes"])
    assert counted + report["unclassified"] + report["missing"] == tissue.truth.size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixels, "MOST_POINTS", 600)
        again = replayed(by_blocks.log.path, by_blocks.workspace.scene.path)
    np.testing.assert_array_equal(again.map.ids, by_blocks.map.ids)


def test_the_page_says_that_pixels_are_classified_by_blocks(by_blocks, serve, open_tab, tissue):
    for operation in three_classes(tissue):
        by_blocks.apply(operation)
    tab = open_tab(serve(by_blocks).url)
    tab.idle()
    said = tab.find(".status .blocks")
    assert said.is_visible()
    assert said.inner_text() == "labels and map by blocks of 2 \u00d7 2 pixels"
    tab.find("button[popovertarget=export-menu]").click()
    assert "diffclass classify" in tab.find("#export-menu").inner_text()
    tab.key("Escape")
    before = tab.js("diffclass.labels.filter(Boolean).length")
    tab.stroke((30, 30), (30, 30))
    tab.idle()
    assert (tab.js("diffclass.labels.filter(Boolean).length") - before) % 4 == 0
