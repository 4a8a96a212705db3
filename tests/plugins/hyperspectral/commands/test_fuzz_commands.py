"""Mutated files through the commands; a failing case has a number."""

from __future__ import annotations

import os

import pytest

from diffclass_hyperspectral import load_model, open_scene, read_labels
from diffclass_hyperspectral.jobs.classification.classifying import apply_model

from .. import fuzz
from ..fuzz_files import LABEL_FILES, MODEL_FILES, SCENE_FILES, STORE_FILES

N_CASES = int(os.environ.get("DIFFCLASS_FUZZ_CASES", "100"))
GDAL_SPEAKS = 27602  # a directory beyond the end of the file: what GDAL prints is not the command's


@pytest.mark.parametrize("kind", [*SCENE_FILES, *STORE_FILES])
def test_scenes_are_good_before_they_are_damaged(tmp_path, kind):
    path, shape = (SCENE_FILES | STORE_FILES)[kind](tmp_path)
    scene = open_scene(path)
    assert scene.shape[:2] == shape
    assert scene.describe()["valid_share"] > 0.8


@pytest.mark.parametrize("kind", LABEL_FILES)
def test_labels_are_good_before_they_are_damaged(tmp_path, kind):
    grid = open_scene(fuzz.make_grid(tmp_path))
    path, shape = LABEL_FILES[kind](tmp_path)
    labels = read_labels(path, grid=grid)
    assert labels.shape == shape
    labels.check_trainable()


@pytest.mark.parametrize("kind", MODEL_FILES)
def test_models_are_good_before_they_are_damaged(tmp_path, kind):
    path, shape = MODEL_FILES[kind](tmp_path)
    found = apply_model(open_scene(fuzz.make_grid(tmp_path)), load_model(path))
    assert found.class_map.shape == shape
    assert (found.class_map > 0).all()


@pytest.mark.slow
def test_no_file_ends_in_a_traceback_a_hang_or_a_mess():
    counts, wrong = fuzz.fuzz([*range(N_CASES), GDAL_SPEAKS])
    assert not wrong, [(case.number, case.kind, outcome) for case, outcome in wrong]
    assert counts["exit 0"] > 0
    assert counts["exit 3"] > 0


def test_a_case_can_be_made_again(tmp_path):
    first, second = (fuzz.make_case(7, tmp_path / name) for name in ("a", "b"))
    assert first.kind == second.kind
    files = [
        {p.name: p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
        for name in ("a", "b")
    ]
    assert files[0] == files[1]


def test_what_is_wrong_is_found(tmp_path):
    judge = fuzz._wrong
    folder, fine = tmp_path / "case", "error: x.npy: no such file; check the name\n"
    folder.mkdir()
    assert judge(3, "", fine, {}, folder) is None
    assert judge(3, "", "error: ValueError: x (--traceback shows where)", {}, folder)
    assert judge(3, "", f"DLASCL: parameter 4\n{fine}", {}, folder)
    assert judge(1, "", fine, {}, folder)
    assert judge(0, "{}", "", {}, folder) is None
    assert judge(0, '{"a": Infinity}', "", {}, folder)
    (folder / ".map.npy.part").touch()
    assert judge(3, "", fine, {}, folder)
