"""Sessions on some bands and pixels, and what is said and refused before a scene is computed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass.system import costs
from diffclass_hyperspectral import open_scene, read_labels
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.queries.exports import export
from diffclass_relabel.session.session_files import open_editor

from ..strokes import three_classes


@pytest.fixture
def part(scene_folder, tmp_path):
    """Options of a session: eight bands, a mask with a hole, a box."""
    left_out = np.zeros((48, 50), dtype=np.uint8)
    left_out[10:14, 10:40] = 1
    np.save(tmp_path / "mask.npy", left_out)
    box = "500000,4469904,500090,4470000"  # but for the last five columns
    return {"bands": "2-9", "mask": str(tmp_path / "mask.npy"), "roi": box}


@pytest.fixture
def session(scene_folder, tissue, tmp_path, part):
    """The file of a session on that part, and the classes that its page shows."""
    path = tmp_path / "s.jsonl"
    editor = open_editor(scene_folder / "scene.hdr", path, settings={"components": 6, **part})
    try:
        for operation in three_classes(tissue):
            editor.apply(operation)
        editor.refine()
        shown = editor.map.ids
        export(editor, "labels", tmp_path / "labels.img")
        export(editor, "report", tmp_path / "report.json")
    finally:
        editor.close()
    return path, np.where(shown == NO_DATA, 0, shown)


def test_page_replay_and_classify_take_the_same_part(session, scene_folder, tmp_path, part):
    path, shown = session
    outside = ~open_scene(scene_folder / "scene.hdr").select(**part).valid
    assert (shown[outside] == 0).all()
    assert (shown[~outside] > 0).all()
    scene = str(scene_folder / "scene.hdr")
    assert run(["replay", str(path), "--scene", scene, "-o", str(tmp_path / "replayed.img")]) == 0
    options = json.loads((tmp_path / "report.json").read_text())["classify_options"]
    labels = ["--labels", str(tmp_path / "labels.hdr")]
    found = ["-o", str(tmp_path / "found.img"), "-q"]
    assert run(["classify", scene, *labels, *options, *found]) == 0
    for name in ("replayed", "found"):
        np.testing.assert_array_equal(read_labels(tmp_path / f"{name}.hdr").ids, shown)


def test_a_mask_that_has_moved_is_named(session, scene_folder, tmp_path, capsys):
    path, shown = session
    (tmp_path / "mask.npy").rename(tmp_path / "moved.npy")
    words = ["replay", str(path), "--scene", str(scene_folder / "scene.hdr")]
    words += ["-o", str(tmp_path / "map.npy")]
    assert run(words) == 3
    assert "mask.npy" in capsys.readouterr().err
    assert run([*words, "--mask", str(tmp_path / "moved.npy")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), shown)


@pytest.mark.parametrize("option", ["bands", "mask", "roi"])
def test_another_part_is_refused(session, scene_folder, tmp_path, capsys, option):
    path, _ = session
    np.save(tmp_path / "other.npy", np.eye(48, 50, dtype=np.uint8))
    other = {"bands": "2-8", "mask": str(tmp_path / "other.npy"), "roi": str(tmp_path / "o.npy")}
    np.save(tmp_path / "o.npy", np.ones((48, 50), dtype=np.uint8))
    scene = str(scene_folder / "scene.hdr")
    words = ["replay", str(path), "--scene", scene, "-o", str(tmp_path / "map.npy")]
    assert run([*words, f"--{option}", other[option]]) == 3
    assert "another part of it" in capsys.readouterr().err
    words = ["relabel", scene, "--session", str(path), "--no-browser", f"--{option}"]
    assert run([*words, other[option]]) == 2
    assert f"begun with {option}" in capsys.readouterr().err
    assert not (tmp_path / "map.npy").exists()


def test_what_cannot_fit_is_refused(session, scene_folder, tmp_path, monkeypatch, capsys):
    path, _ = session
    monkeypatch.setattr(costs, "available_memory_bytes", lambda: 2**20)
    scene = str(scene_folder / "scene.hdr")
    replay = ["replay", str(path), "--scene", scene, "-o", str(tmp_path / "map.npy")]
    new = ["relabel", scene, "--session", str(tmp_path / "new.jsonl"), "--no-browser"]
    for words in (replay, new):
        assert run(words) == 2, words
        said = capsys.readouterr().err
        assert "memory: about" in said
        assert "time:" not in said  # less than a minute
        assert "only 1 MiB are free" in said
        assert "--force" in said
    assert not (tmp_path / "new.jsonl").exists()
    assert run([*replay, "--force"]) == 0
