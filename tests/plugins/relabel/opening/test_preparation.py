"""Before the first stroke: the address at once, what is told meanwhile, nothing left to compile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from diffclass.exceptions import DataError
from diffclass.system.progress import listening, stage
from diffclass_hyperspectral import Scene
from diffclass_relabel.access.security import Gate
from diffclass_relabel.opening import STEPS, Preparation, default_session
from diffclass_relabel.servers.web_servers import SessionServer
from diffclass_relabel.session import SessionEditor, open_editor
from diffclass_relabel.session_file import ReadOnlyLog, read_session
from diffclass_relabel.workspace import preparing
from experiments.relabel.driver.clients import PageClient

from ..conftest import running
from ..strokes import three_classes


def by_name(message):
    return {step["name"]: step for step in message["steps"]}


def test_two_scenes_never_have_one_session(tmp_path, monkeypatch):
    def begun(*scenes):
        path = default_session(scenes)
        assert not path.exists()
        path.write_text(json.dumps({"scenes": [str(scene) for scene in scenes]}) + "\n")
        return path

    here = tmp_path / "\u68ee\u6797"
    here.mkdir()
    a, b, c = (here / f"{letter}.tif" for letter in "abc")
    sets = [(a,), (here / "a.npy",), (a, b), (a, c), (a, b, c), (here / "A a.tif",), (b,)]
    paths = [begun(*scenes) for scenes in sets]
    assert len(set(paths)) == len(sets)
    assert [path.name for path in paths[:3]] == [
        "a.relabel.jsonl", "a.npy.relabel.jsonl", "a_and_1_more.relabel.jsonl",
    ]  # fmt: skip
    moved = here.rename(tmp_path / "moved")  # scenes and sessions together
    for scenes, path in zip(sets, paths, strict=True):
        found = default_session([moved / scene.name for scene in scenes])
        assert found == moved / path.name
    # where the folders of two scenes of one name are read only, both sessions lie here
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert begun(moved / "a.tif") == tmp_path / "a.relabel.jsonl"
    assert begun(tmp_path / "other" / "a.tif") != default_session([moved / "a.tif"])


def test_steps_as_they_are_done():
    told = []
    preparation = Preparation("a.npy", lambda: told.append(preparation.message()))
    assert preparation.message()["left"] is None
    preparation.expect(dict.fromkeys(STEPS, 2.0))
    # the map is within another step, and so no step of its own
    with listening(preparation), stage("graph", parts=4) as part_done, stage("map"):
        part_done()
    found = by_name(told[-1])
    assert found[STEPS["graph"]]["is"] == "done"
    assert found[STEPS["map"]]["is"] == "waiting"
    # the graph took far less than its two seconds, so that the others will too
    assert told[-1]["left"] == pytest.approx(2.0 * 0.5 * (len(STEPS) - 1))
    json.dumps(told, allow_nan=False)


def test_a_step_that_takes_longer_than_expected(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("diffclass_relabel.opening.preparation.time.monotonic", lambda: now[0])
    preparation = Preparation("a.npy")
    preparation.expect(dict.fromkeys(STEPS, 0.0) | {"graph": 10.0})
    preparation.begins("graph")
    for seconds, left in ((4.0, 6.0), (9.5, 0.95), (40.0, 4.0)):
        now[0] = seconds
        assert preparation.message()["left"] == pytest.approx(left, abs=0.06)
        assert by_name(preparation.message())[STEPS["graph"]]["share"] < 1


class SlowOpening:
    """Opens an editor once it is told to; `fail` makes it fail."""

    def __init__(self, editor):
        self.editor, self.error = editor, None
        self.go_on = threading.Event()

    def __call__(self, preparation):
        preparation.expect(dict.fromkeys(STEPS, 10.0))
        with listening(preparation), stage("opening"):
            pass
        with listening(preparation), stage("graph"):
            assert self.go_on.wait(60)
        if self.error:
            raise self.error
        return self.editor


@pytest.fixture
def slow(editor):
    """A server whose session is not open yet: (opening, server, gate)."""
    opening = SlowOpening(editor)
    with running(lambda gate: SessionServer(opening, gate, scene="scene.hdr")) as (server, gate, _):
        yield opening, server, gate
        opening.go_on.set()


def test_clients_hear_of_the_steps_and_are_then_greeted(slow, connect):
    opening, _, gate = slow
    client = connect(gate)
    assert client.hear()["kind"] == "preparing"
    while by_name(client.seen["preparing"])[STEPS["graph"]]["is"] != "running":
        client.hear()
    assert client.seen["preparing"]["scene"] == "scene.hdr"
    assert client.seen["preparing"]["left"] > 10
    opening.go_on.set()
    assert client.hello()["scene"]["rows"] == 48
    assert client.do("add_class")["kind"] == "done"


def test_a_failure_is_told_and_ends_the_server(slow, connect):
    opening, server, gate = slow
    client = connect(gate)
    client.hear()
    opening.error = DataError("the scene is damaged")
    opening.go_on.set()
    client.end()
    assert client.seen["failed"]["message"] == "the scene is damaged"
    assert server.failure is opening.error


class PaintableOpening:
    """Opens a session that can be painted in; its graph is built once it is told to."""

    def __init__(self, scene, path):
        self.scene, self.path, self.error = scene, path, None
        self.go_on = threading.Event()

    def __call__(self, preparation):
        preparation.expect(dict.fromkeys(STEPS, 10.0))
        settings = {"components": 6, "label_mode": "summed", "tau": 12}
        with listening(preparation):
            editor = open_editor(self.scene, self.path, settings=settings, build=False)
            self.editor = editor
            preparation.on_editor(editor)
            with stage("graph"):
                assert self.go_on.wait(60)
            if self.error:
                editor.workspace.graph.set_exception(self.error)
                raise self.error
            editor.workspace.build()
        return editor


@pytest.fixture
def paintable(scene_folder, tmp_path):
    """A server whose session has no graph yet: (opening, gate)."""
    opening = PaintableOpening(scene_folder / "scene.hdr", tmp_path / "paintable.jsonl")
    with running(lambda gate: SessionServer(opening, gate, scene="scene.hdr")) as (_, gate, _):
        yield opening, gate  # it ends whether there is a graph or not
    opening.go_on.set()


@pytest.fixture
def painting(paintable, connect, tissue):
    """That server's opening, and a client that has painted three classes."""
    opening, gate = paintable
    client = connect(gate)
    assert client.hello()["state"]["preparing"] > 0
    for operation in three_classes(tissue):
        assert client.do(operation)["kind"] == "done"
    return opening, client


def test_what_waits_for_the_graph_holds_up_no_import(painting):
    opening, client = painting
    waiting = client.send({"ask": "audit"})
    assert client.ask("read_labels", path="strokes.hdr")["classes"]
    opening.go_on.set()
    assert client.reply(waiting)["kind"] == "answer"


def test_labels_are_painted_before_there_is_a_graph(painting, workspace):
    opening, client = painting
    assert len(read_session(opening.path)[1]) == 6  # on disk
    assert client.ask("segment", pixel=5)["kind"] == "refused"  # there is no map
    while client.seen["state"]["version"] < 6:
        client.hear()
    assert client.seen["state"]["stale"]
    opening.go_on.set()
    while client.seen["state"]["preparing"] is not None or client.seen["state"]["stale"]:
        client.hear()
    fresh = SessionEditor(workspace, ReadOnlyLog(opening.path))
    expected = fresh.update().ids
    while "map" not in client.frames or client.frames["map"][0]["left"]:
        client.hear()
    np.testing.assert_array_equal(client.frames["map"][1][0], expected.ravel())


def test_without_a_graph_labels_are_safe_and_the_reason_is_told(painting):
    opening, client = painting
    opening.error = DataError("no memory for the graph")
    opening.go_on.set()
    while not client.seen["state"]["problem"]:
        client.hear()
    assert client.seen["state"]["problem"] == "no memory for the graph"
    answer = client.ask("export", what="labels", name="labels.npy")
    assert answer["files"] == ["labels.npy"]


def test_a_server_ends_while_strokes_wait_for_the_graph(painting):
    _, client = painting
    while not client.seen["state"]["computing"]:
        client.hear()


def test_the_page_shows_the_steps(slow, browser):
    opening, _, gate = slow
    page = browser.new_context().new_page()
    page.goto(gate.url)
    panel = page.locator(".preparation")
    panel.wait_for()
    assert "Preparing scene.hdr" in panel.inner_text()
    for name in STEPS.values():
        assert name in panel.inner_text()
    page.wait_for_function(
        "() => document.querySelector('.preparation').innerText.includes('s left')"
    )
    assert panel.locator("li.running progress").count() == 1
    others = [page.locator(name) for name in (".toolbar button", ".left button", ".zoom")]
    assert not any(other.first.is_visible() for other in others)  # they would be of nothing
    opening.go_on.set()
    page.wait_for_function("() => window.diffclass.state")
    assert not panel.is_visible()
    assert all(other.first.is_visible() for other in others)
    page.context.close()


def test_the_page_shows_why_it_failed(slow, browser):
    opening, _, gate = slow
    page = browser.new_context().new_page()
    page.goto(gate.url)
    page.locator(".preparation").wait_for()
    opening.error = DataError("the scene is damaged")
    opening.go_on.set()
    page.wait_for_function(
        "() => document.querySelector('.preparation').innerText.includes('the scene is damaged')"
    )
    page.wait_for_function("() => window.diffclass.connection === 'lost'")
    page.wait_for_timeout(100)
    assert page.locator(".connection").is_hidden()  # it has said why it ends
    page.context.close()


NOTHING_LEFT_TO_COMPILE = """
import sys
from numba.core import event
from diffclass_relabel.session.session_files import open_editor
from diffclass_relabel.queries.answers import audit, curve, preview_frame, suggestions, why
from diffclass_relabel.workspace.preparing import warm_up
def use(label_mode):
    settings = {"components": 6, "label_mode": label_mode}
    editor = open_editor(sys.argv[1], sys.argv[2] + label_mode, settings=settings)
    warm_up(editor.workspace)
    editor.session.prepare()
    editor.update()
    with event.install_recorder("numba:compile") as compiled:
        strokes_and_questions(editor)
    late = [one for _, one in compiled.buffer if one.is_start]
    assert not late, (label_mode, [one.data["dispatcher"] for one in late])
def strokes_and_questions(editor):
    def do(name, **fields):
        editor.apply({"op": name} | fields)
        editor.update()
    for class_id, pixels in ((1, [100, 20]), (2, [900, 20]), (1, [1500, 9])):
        if class_id == 2 or not editor.session.classes:
            do("add_class")
        do("stroke", **{"class": class_id, "pixels": pixels})
    do("erase", pixels=[105, 5])
    why(editor, 200), audit(editor), curve(editor), preview_frame(editor, 5)
    for rule in ("coverage", "margin"):
        suggestions(editor, 3, rule)
    do("tau", tau=100)
    do("tau", tau="margin")
    do("warp")
    do("undo")
for label_mode in ("free", "absorbing", "summed"):
    use(label_mode)
"""


@pytest.mark.slow
def test_nothing_is_compiled_after_the_preparation(scene_folder, tmp_path, process_environment):
    arguments = [str(scene_folder / "scene.hdr"), str(tmp_path / "s.jsonl")]
    command = [sys.executable, "-c", NOTHING_LEFT_TO_COMPILE, *arguments]
    subprocess.run(command, check=True, env=process_environment | {"DIFFCLASS_NUMBA_CACHE": "0"})


@pytest.mark.slow
def test_the_address_comes_before_anything_is_loaded(scene_folder, tmp_path, process_environment):
    code = "from diffclass.command_line.start import main; main()"
    scene, session = str(scene_folder / "scene.hdr"), str(tmp_path / "s.jsonl")
    command = [sys.executable, "-X", "importtime", "-c", code, "relabel", scene, "--json"]
    with (tmp_path / "said.txt").open("w") as said:
        process = subprocess.Popen(
            [*command, "--session", session, "--no-browser"],
            stdout=subprocess.PIPE, stderr=said, text=True, env=process_environment,
        )  # fmt: skip
        try:
            url = json.loads(process.stdout.readline())["url"]
            port, token = url.split(":")[2].split("/")[0], url.split("token=")[1]
            client = PageClient(Gate("127.0.0.1", int(port), token=token))
            client.hello()
            client.close()
        finally:
            process.kill()
            process.communicate()
    before = (tmp_path / "said.txt").read_text().split("http://")[0]
    loaded = {line.rpartition("|")[2].strip() for line in before.splitlines()}
    assert "diffclass_relabel.session_file.sidecar" in loaded
    assert not loaded & {"numpy", "numba", "scipy"}


@pytest.mark.parametrize("n_kept", [0, 23, 47, 99])
def test_loops_that_are_not_on_disk_are_expected_to_be_compiled(n_kept, monkeypatch):
    monkeypatch.setattr(preparing, "n_kept_loops", lambda: n_kept)
    scene = Scene.from_array(np.zeros((50, 50, 4), dtype=np.uint8))
    seconds = preparing.forecast_session(scene, preparing.SceneSettings(), 0).seconds
    assert "libraries" not in seconds  # they are loaded by then
    compiling = seconds["graph"] + seconds["loops"]
    assert compiling > 25 if n_kept == 0 else compiling < 20
    assert compiling < 1 if n_kept >= 47 else compiling > 10
