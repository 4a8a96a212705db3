"""Scenes of many pixels: first maps by groups, maps in pieces, and what the page says of both."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffclass import diffuse_labels
from diffclass_relabel import map_frames, workspace
from diffclass_relabel.editor import SessionEditor, session_header
from diffclass_relabel.frames import unpack_frame
from diffclass_relabel.held_out import held_out
from diffclass_relabel.map_frames import pieces
from diffclass_relabel.outbox import Outbox
from diffclass_relabel.session_log import SessionLog
from diffclass_relabel.shown import NO_DATA, ShownMap
from diffclass_relabel.workspace import SessionSettings, Workspace

from .strokes import three_classes
from .test_auto_time import chosen, classified

ENDS = st.integers(0, 1500)


@pytest.fixture(scope="module")
def grouped_workspace(scene_folder):
    """The small scene, as if it were a big one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "MOST_SINGLE", 1000)
        return Workspace.open(scene_folder / "scene.hdr", SessionSettings(components=6))


@pytest.fixture
def editor(grouped_workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(map_frames, "MOST_WHOLE", 1000)
    log = SessionLog(tmp_path / "big.jsonl")
    log.begin(session_header(grouped_workspace))
    yield SessionEditor(grouped_workspace, log)
    log.close()


def first_map(editor):
    """The map of the groups by the labels so far; 255 where the scene has no data."""
    space, ids = editor.workspace, editor.labels.ids
    y = ids.ravel()[space.pixels].astype(int)
    found = diffuse_labels(
        space.groups.operator,
        space.groups.labels(np.where(y > 0, y, -1)),
        label_mode="summed",
        tau=12,
    )
    classes = np.append(found.classes, 0)[found.codes]
    return space.raster(classes[space.groups.of_point].astype(np.uint8), fill=NO_DATA)


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
    frames = map_frames.map_frames(shown, (300, 200, 500, 300))
    for k, frame in enumerate(frames):
        header, part = unpack_frame(frame, 700 * 600)
        top, left, bottom, right = header["window"]
        whole[:, top:bottom, left:right] = part.reshape(3, bottom - top, right - left)
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


def test_a_first_map_by_groups_then_the_one_of_classify(page, editor, tissue):
    assert page.hello()["scene"]["n_groups"] == len(editor.workspace.groups)
    for operation in three_classes(tissue):
        page.do(operation)
    page.do("stroke", **{"class": 1, "pixels": [700, 3]})
    first = page.settled()[0]
    if not page.state["settled"]:
        np.testing.assert_array_equal(first, first_map(editor).ravel())
    found = chosen(page)
    expected, tau = classified(editor, found.shape)
    np.testing.assert_array_equal(found, expected)
    assert page.state["tau"] == tau
    assert len(editor.workspace.groups) < len(editor.workspace.pixels) / 4


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


def test_labels_are_held_out_by_groups(grouped_workspace, tissue):
    ids = np.zeros(grouped_workspace.shape, dtype=np.uint8)
    for operation in three_classes(tissue):
        if operation["op"] == "stroke":
            runs = np.array(operation["pixels"]).reshape(-1, 2)
            for start, length in runs:
                ids.ravel()[start : start + length] = operation["class"]
    found = held_out(grouped_workspace, ids, label_mode="summed", tau=12)
    single = held_out(replace(grouped_workspace, groups=None), ids, label_mode="summed", tau=12)
    assert found.truth.tolist() == single.truth.tolist()
    assert (found.found == found.truth).mean() > 0.6


def test_the_page_says_that_a_first_map_is_shown(editor, serve, open_tab, tissue, monkeypatch):
    for operation in three_classes(tissue):
        editor.apply(operation)
    monkeypatch.setattr(editor.session, "settle", lambda: None)  # as if it took for ever
    tab = open_tab(serve(editor).url)
    tab.idle()
    np.testing.assert_array_equal(list(tab.js("[...diffclass.map]")), first_map(editor).ravel())
    badge = tab.find(".badges .badge >> nth=0")
    assert badge.inner_text() == "first map"
    assert f"{len(editor.workspace.groups)} groups" in badge.get_attribute("title")
