"""``diffclass replay``, and what ``diffclass relabel`` refuses, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import numpy as np
import pytest
import spectral.io.envi as envi

from diffclass.command_line.main import run
from diffclass.exceptions import ParameterError
from diffclass_hyperspectral import open_scene, read_labels
from diffclass_relabel.commands.relabel_scene import relabel
from diffclass_relabel.commands.relabel_table import relabel as relabel_table
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.session_hub.states import session_state
from experiments.relabel.driver.operations import random_operation

from ..strokes import three_classes
from ..typed import serve_typed


@pytest.fixture
def session(labelled, tissue, rng):
    """A session of three classes and forty operations more, some of them refused."""
    for number in range(40):
        operation = random_operation(rng, session_state(labelled), tissue.truth.size)
        with suppress(ParameterError):
            labelled.apply(operation, client="a page", number=number)
    assert len(labelled.log.entries) > labelled.log.n_operations
    return labelled


def test_replay_gives_the_same_bits(session, scene_folder, tmp_path, capsys):
    shown = session.update()
    names = {"-o": "map.img", "--margin": "margin.npy", "--probability": "p.npy",
             "--labels": "labels.png", "--report": "r.json"}  # fmt: skip
    outputs = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    scene = str(scene_folder / "scene.hdr")
    # the session is still open: replay only reads
    assert run(["replay", str(session.log.path), "--scene", scene, *outputs, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    ids = read_labels(tmp_path / "map.img").ids
    assert np.array_equal(ids, np.where(shown.ids == NO_DATA, 0, shown.ids))
    raster = session.workspace.raster
    margin = raster(session.session.margin, fill=np.nan)
    assert np.load(tmp_path / "margin.npy").tobytes() == margin.tobytes()
    posteriors = raster(session.session.posteriors, fill=np.nan)
    assert np.load(tmp_path / "p.npy").tobytes() == posteriors.tobytes()
    assert np.array_equal(read_labels(tmp_path / "labels.png").ids, session.labels.ids)
    assert facts["operations"] == session.version
    assert json.loads((tmp_path / "r.json").read_text())["strokes"] == facts["strokes"]


def test_what_was_refused_is_no_part_of_a_replay(editor, scene_folder, tissue, tmp_path):
    """Each kind of refusal, before, among and after what was done."""
    refused = [
        {"op": "erase", "pixels": [700, 3]},
        {"op": "undo", "steps": 100},
        {"op": "redo"},
        {"op": "move", "stroke": 99, "class": 1},
        {"op": "batch", "operations": [{"op": "add_class"}, {"op": "unwarp"}]},
        {"op": "nonsense"},
        "no operation",
    ]
    number = 0
    for operation in [None, *three_classes(tissue)]:
        taken = []
        if operation is not None:
            editor.apply(operation)
            taken = [{"op": "add_class", "name": "nuclei"}]
        for impossible in [*refused, *taken]:
            number += 1
            with pytest.raises(ParameterError):
                editor.apply(impossible, client="a page", number=number)
    assert len(editor.log.entries) == editor.log.n_operations + number
    shown = editor.update()
    words = ["--scene", str(scene_folder / "scene.hdr"), "-o", str(tmp_path / "map.npy"), "-q"]
    assert run(["replay", str(editor.log.path), *words]) == 0
    expected = np.where(shown.ids == NO_DATA, 0, shown.ids)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), expected)


def test_the_same_scene_in_another_file(session, scene_folder, tmp_path, capsys):
    scene = open_scene(scene_folder / "scene.hdr")
    metadata = {"bbl": scene.band_mask.astype(int).tolist(), "data ignore value": -1}
    envi.save_image(
        str(tmp_path / "moved.hdr"), np.array(scene.data), interleave="bil", metadata=metadata
    )
    arguments = ["--scene", str(tmp_path / "moved.hdr"), "-o", str(tmp_path / "m.npy")]
    assert run(["replay", str(session.log.path), *arguments]) == 0
    shown = session.update()
    assert np.array_equal(np.load(tmp_path / "m.npy"), np.where(shown.ids == NO_DATA, 0, shown.ids))
    said = capsys.readouterr()
    assert "operations" in said.out
    assert "m.npy: holds ids alone" in said.err


@pytest.fixture
def fails(capsys, tmp_path):
    """Run a command that has to fail with a code and one line that says why."""

    def failed(*arguments, code, says):
        before = sorted(tmp_path.iterdir())
        assert run([*map(str, arguments), "-q"]) == code
        said = capsys.readouterr()
        assert says in said.err.splitlines()[-1]
        assert said.out == ""
        assert sorted(tmp_path.iterdir()) == before

    return failed


def test_replay_refuses_another_scene(session, tissue, tmp_path, fails):
    np.save(tmp_path / "other.npy", tissue.cube)
    arguments = ["--scene", tmp_path / "other.npy", "-o", tmp_path / "m.npy"]
    fails("replay", session.log.path, *arguments, code=3, says="another scene")


def test_replay_refuses(session, editor, scene_folder, tmp_path, fails):
    scene = scene_folder / "scene.hdr"
    out = ["--scene", scene, "-o", tmp_path / "m.npy"]
    fails("replay", tmp_path / "none.jsonl", *out, code=3, says="no such session")
    (tmp_path / "b.jsonl").write_text("{}\n")
    fails("replay", tmp_path / "b.jsonl", *out, code=3, says="no session file")
    (tmp_path / "m.npy").write_text("")
    fails("replay", session.log.path, *out, code=2, says="exists")
    over = ["--scene", scene, "-o", session.log.path.with_suffix(".doc")]
    fails("replay", session.log.path, *over, code=2, says="no format")


def test_replay_of_nothing_painted(editor, scene_folder, tmp_path, fails):
    arguments = ["--scene", scene_folder / "scene.hdr", "-o", tmp_path / "m.npy"]
    fails("replay", editor.log.path, *arguments, code=3, says="nothing is labelled")


def test_relabel_refuses(scene_folder, tmp_path, fails):
    scene, session = scene_folder / "scene.hdr", ["--session", tmp_path / "s.jsonl"]
    fails("relabel", scene, *session, "--host", "0.0.0.0", code=2, says="--public")
    fails("relabel", scene, *session, "--tau", "soon", code=2, says="margin")
    fails("relabel", scene, *session, "--base-url", "/relabel/", code=2, says="no address")
    fails("relabel", scene, *session, "--allow-host", "*", code=2, says="no host")
    fails("relabel", scene, "--session", tmp_path, code=2, says="is a folder")


def test_relabel_says_what_public_means(capsys):
    assert run(["relabel", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not encrypted" in said
    assert "other machines" in said


def test_options_of_scenes_and_tables_are_declared_once():
    of_scenes, of_tables = (
        {one.name: one.help for one in kind.params if isinstance(one, click.Option)}
        for kind in (relabel, relabel_table)
    )
    shared = of_scenes.keys() & of_tables.keys()
    assert {"reference", "session", "label_variable", "host", "tau"} < shared
    differing = {name for name in shared if of_scenes[name] != of_tables[name]}
    assert differing == {"labels"}  # images and shapes, or files and columns of rows


def test_a_session_in_use_is_refused(editor, scene_folder, fails):
    scene = scene_folder / "scene.hdr"
    fails("relabel", scene, "--session", editor.log.path, code=3, says="another process")


def test_help_is_instant():
    code = (
        "import sys; from diffclass.command_line.main import run; run(['relabel', '--help']);"
        "run(['replay', '--help']);"
        "heavy = {'numpy', 'starlette', 'uvicorn', 'diffclass_hyperspectral.io.scenes'};"
        "assert not heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("option", [None, "--labels", "--reference"])
def test_relabel_gives_no_address_for_files_that_are_missing(
    scene_folder, tmp_path, capsys, option
):
    words = [] if option is None else [str(scene_folder / "scene.hdr"), option]
    session = ["--session", str(tmp_path / "s.jsonl"), "--no-browser"]
    assert run(["relabel", *words, "none.tif", *session]) == 3
    said = "".join(capsys.readouterr())
    assert said.count("\n") == 1
    assert "none.tif: no such file" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    ["", "sub/", "./scene.npy --labels sub/strokes.npy", "sub/../scene.npy", "scene.npy sub/b.npy",
     "'sub/a b #1.npy' --session ../s.jsonl", "sub/../t.csv --images sub/ --labels sub/labels.csv"],
)  # fmt: skip
def test_the_page_opens_for_every_name_as_it_is_typed(words, rng, tissue, tmp_path, monkeypatch):
    here = tmp_path / "here"
    (here / "sub").mkdir(parents=True)
    monkeypatch.chdir(here)
    for name in ("scene.npy", "sub/b.npy", "sub/a b #1.npy"):
        np.save(name, tissue.cube[:20, :20])
    np.save("sub/strokes.npy", tissue.truth[:20, :20])
    lines = [
        f"{a},{b},{'no' if i % 9 else 'ab'[i % 2]}" for i, (a, b) in enumerate(rng.random((60, 2)))
    ]
    Path("t.csv").write_text("\n".join(["x,y,class", *lines]))
    Path("sub/labels.csv").write_text("row,class\n0,a\n1,b\n")
    seen = []
    assert serve_typed(f"diffclass relabel {words}", on_page=seen.append) == 130
    assert len(seen) == 1
    assert [str(path) for path in tmp_path.rglob("relabel-opening*")] == []
