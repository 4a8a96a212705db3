"""Without a scene: the page offers some, and opens the one that is chosen."""

from __future__ import annotations

import json
import os
import shutil
import signal
from functools import partial

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.opening.scene_folder import SceneFolder, holds_scenes
from diffclass_relabel.servers.web_servers import ChooserServer
from diffclass_relabel.session_file import read_session, remember

from ..browser import lacking
from ..conftest import running
from ..page.test_access import AXE


@pytest.fixture
def folder(tmp_path, scene_folder):
    """A folder with scenes at two levels, things that are none, and links out of it."""
    shutil.copytree(scene_folder, tmp_path / "outside")
    root = tmp_path / "root"
    shutil.copytree(scene_folder, root / "north" / "field one")
    for name in ("scene.hdr", "scene.img"):
        shutil.copy(scene_folder / name, root / name)
    np.save(root / "cube.npy", np.ones((3, 3, 3)))
    (root / "notes.doc").write_text("ENV")
    (root / "broken.tif").write_bytes(b"II*\0" + bytes(40))
    (root / "other.xml").write_text("<a/>")
    (root / ".hidden.npy").write_bytes(b"\x93NUMPY")
    os.mkfifo(root / "pipe.npy")
    (root / "inside.npy").symlink_to(root / "cube.npy")
    (root / "out.npy").symlink_to(tmp_path / "outside" / "scene.img")
    (root / "away").symlink_to(tmp_path / "outside")
    (root / "round").symlink_to(root / "round")
    return root


def names(listing):
    return [place.name for place in listing.scenes]


def test_only_what_can_be_opened_is_listed(folder):
    listing = SceneFolder(folder).listing("")
    assert listing.folders == ["north"]
    assert names(listing) == ["broken.tif", "cube.npy", "inside.npy", "scene.img"]
    assert listing.is_whole
    below = SceneFolder(folder).listing("north/field one")
    assert below.path == "north/field one"
    assert names(below) == ["scene.img", "strokes.img"]


@pytest.mark.parametrize("path", [
    "..", "../outside", "north/../../outside", "north/..", "/etc", "away", "away/scene.img",
    "out.npy", "none", "round", "scene.img/x", "\0", 300 * "x", None, 3, ["north"],
])  # fmt: skip
def test_nothing_outside_can_be_reached(folder, path):
    scenes = SceneFolder(folder)
    for reach in (scenes.listing, scenes.scene):
        with pytest.raises(ParameterError, match="no folder or scene below"):
            reach(path)


@pytest.mark.parametrize("path", ["", ".", "north", "notes.doc", ".hidden.npy/x", "pipe.npy"])
def test_what_is_no_scene_is_not_opened(folder, path):
    with pytest.raises(ParameterError, match="no folder or scene below"):
        SceneFolder(folder).scene(path)


def test_a_product_that_is_a_folder_is_a_scene(tmp_path):
    product = tmp_path / "S2.SAFE"
    product.mkdir()
    assert holds_scenes(product)
    (product / "MTD_MSIL2A.xml").write_text("<a/>")
    assert not holds_scenes(product)
    listing = SceneFolder(tmp_path).listing("")
    assert (names(listing), listing.folders) == (["S2.SAFE"], [])


def test_tables_are_listed_as_the_command_takes_them(tmp_path):
    found = ["a.csv", "b.tsv", "c.parquet", "d.feather", "e.h5ad", "f.npz"]
    for name in (*found, "session.relabel.jsonl", "readme.md"):
        (tmp_path / name).write_text("1,2")
    np.savez(tmp_path / "f.npz", X=np.zeros((3, 2)))
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    chooser = SceneFolder(tmp_path)
    listing = chooser.listing("")
    assert (names(listing), listing.folders) == (found, ["folder.csv"])
    assert chooser.scene("a.csv") == tmp_path.resolve() / "a.csv"


def test_a_crowded_folder_is_said_to_hold_more(tmp_path):
    for number in range(1001):
        (tmp_path / f"{number}.npy").write_bytes(b"\x93NUMPY")
    listing = SceneFolder(tmp_path).listing("")
    assert len(listing.scenes) == 1000
    assert not listing.is_whole


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Began:
    """What the start page was told to begin with; the first time it is refused."""

    def __init__(self):
        self.scenes = []

    def __call__(self, scenes, session, options):
        self.scenes.append((*(scene.name for scene in scenes), session.name))
        self.options = options
        if len(self.scenes) == 1:
            raise DataError("is open in another process")
        return {"kind": "moved", "port": 4711, "token": "t"}


@pytest.fixture
def start_page(folder, state):
    """A start page in a thread of this process: its gate, and what was begun."""
    remember([folder / "scene.img"], folder / "notes.doc", (48, 50, 12))
    began = Began()
    with running(lambda gate: ChooserServer(folder, began, gate)) as (_, gate, thread):
        yield gate, began, thread


@pytest.fixture
def answers(connect):
    """Open a WebSocket that hears everything but what a look at scenes has found."""

    def connected(gate, **options):
        page = connect(gate, **options)
        hear = page.hear

        def heard():
            while (message := hear())["kind"] == "checked":
                pass
            return message

        page.hear = heard
        return page

    return connected


def test_what_cannot_be_opened_is_said_before_it_is_chosen(start_page, connect, folder):
    fcntl = pytest.importorskip("fcntl")
    gate, *_ = start_page
    with (folder / "notes.doc").open("rb") as session:
        fcntl.flock(session, fcntl.LOCK_EX)
        page = connect(gate)
        assert [known["held"] for known in page.hear()["recent"]] == [True]
    checked = page.hear()
    assert (checked["kind"], checked["path"]) == ("checked", "")
    (found,) = checked["problems"]
    assert found["name"] == "broken.tif"
    assert found["problem"]
    again = connect(gate)
    assert [known["held"] for known in again.hear()["recent"]] == [False]


def test_strangers_are_told_nothing(start_page, connect):
    gate, _, _ = start_page
    for options in ({"token": "wrong"}, {"origin": "http://evil.example"}):
        stranger = connect(gate, **options)
        assert stranger.end() == 1008
        assert stranger.heard == []


@pytest.mark.parametrize("wish", [
    "x", "[]", "{}", '{"open": 3}', '{"recent": true}', '{"recent": 1}', '{"recent": -1}',
    '{"recent": "0"}', '{"seq": 1, "ask": "curve"}', '{"look": "a", "open": "b"}', "[" * 100_000,
    '{"open": "../outside/scene.img"}', '{"open": "/etc/passwd"}', '{"open": "out.npy"}',
    '{"open": "scene.img", "features": "all"}', '{"open": "scene.img", "mask": "out.npy"}',
    '{"open": "scene.img", "reference": "../outside/scene.img"}', '{"open": "scene.img", "x": "y"}',
    '{"open": "scene.img", "mask": "north"}',
    '{"open": "scene.img", "further": ["../scene.img"]}', '{"recent": 0, "mask": "cube.npy"}',
    '{"look": "away"}', '{"open": "no\\u0000such"}', '{"open": "notes.doc"}',
])  # fmt: skip
def test_other_wishes_are_refused(start_page, answers, wish):
    gate, began, _ = start_page
    page = answers(gate)
    assert page.hear()["problem"] is None
    page.socket.send(wish)
    answer = page.hear()
    assert answer["kind"] == "start"
    assert answer["problem"]
    assert answer["path"] == ""
    assert began.scenes == []


def test_all_tabs_go_to_what_one_of_them_has_chosen(start_page, answers, folder):
    gate, began, thread = start_page
    page, other = answers(gate), answers(gate)
    assert other.hear()["kind"] == "start"
    start = page.hear()
    assert start["root"] == str(folder)
    assert [(known["name"], known["shape"]) for known in start["recent"]] == [
        ("scene.img", [48, 50, 12])
    ]
    assert start["scenes"][1]["bytes"] == (folder / "cube.npy").stat().st_size
    page.socket.send(json.dumps({"look": "north/field one"}))
    assert [scene["name"] for scene in page.hear()["scenes"]] == ["scene.img", "strokes.img"]
    page.socket.send(json.dumps({"open": "north/field one/scene.img"}))
    refused = page.hear()
    assert refused["problem"] == "is open in another process"
    assert refused["path"] == "north/field one"  # where the user was
    page.socket.send(json.dumps({"recent": 0}))
    assert page.hear() == other.hear() == {"kind": "moved", "port": 4711, "token": "t"}
    assert began.scenes == [("scene.img", "scene.relabel.jsonl"), ("scene.img", "notes.doc")]
    thread.join(20)
    assert not thread.is_alive()


def test_what_a_new_session_begins_with_is_passed_on(start_page, answers, folder):
    gate, began, _ = start_page
    page = answers(gate)
    page.hear()
    wish = {"open": "scene.img", "features": "spatial", "mask": "north/field one/strokes.img"}
    page.socket.send(json.dumps(wish | {"reference": "notes.doc"}))
    assert page.hear()["problem"] == "is open in another process"
    mask = str(folder / "north" / "field one" / "strokes.img")
    assert began.options == {
        "settings": {"features": "spatial", "mask": mask},
        "reference": str(folder / "notes.doc"),
    }
    page.socket.send(json.dumps({"open": "scene.img", "further": ["north/field one/scene.img"]}))
    assert page.hear()["kind"] == "moved"
    assert began.options == {"settings": {}, "reference": None}
    assert began.scenes[1] == ("scene.img", "scene.img", "scene_and_1_more.relabel.jsonl")


def test_further_scenes_are_named_on_the_page(start_page, browser):
    gate, began, _ = start_page
    tab = Choosing(browser.new_context(), gate.url)
    tab.wait("document.querySelectorAll('.start button').length > 4")
    tab.page.click("text=More scenes")
    tab.page.fill("[aria-label='Further scenes']", "cube.npy, north/field one/scene.img,")
    tab.page.click(".start button:has-text('scene.img') >> nth=0")
    tab.wait("document.querySelector('.start .problem').textContent.includes('another process')")
    name = "scene_and_2_more.relabel.jsonl"
    assert began.scenes == [("scene.img", "cube.npy", "scene.img", name)]


def test_scene_and_files_belong_together(tmp_path, capsys):
    from diffclass.command_line.main import run

    assert run(["relabel", str(tmp_path), "--labels", "a.tif", "-q"]) == 2
    assert "belong to a SCENE" in capsys.readouterr().err


class Choosing:
    """A tab on the start page, used with the keyboard alone."""

    def __init__(self, context, url):
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.goto(url)

    def wait(self, condition):
        self.page.wait_for_function(f"() => {condition}", timeout=300_000)

    def go(self, name):
        """Move from entry to entry until the focus is on one, and press it."""
        self.page.keyboard.press("Home")
        for _ in range(20):
            if self.page.evaluate("document.activeElement.textContent").startswith(name):
                self.page.keyboard.press("Enter")
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"no entry {name}")

    def opened(self):
        self.wait("window.diffclass?.connection === 'open' && diffclass.state")
        return self.page.evaluate("diffclass.scene.name")


def grave_findings(page):
    """Return what axe-core calls serious or worse, in light and in dark."""
    if not AXE.is_file():
        lacking(f"no axe-core; run npm install in {AXE.parents[2]}")
    page.evaluate(AXE.read_text(encoding="utf-8") + "; 0")
    grave = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run().then(({ violations }) => violations)")
        grave += [item["id"] for item in found if item["impact"] in ("serious", "critical")]
    return grave


@pytest.fixture
def command(folder, relabel_in):
    """Run ``diffclass relabel`` in the folder."""
    return partial(relabel_in, folder)


@pytest.mark.slow
def test_from_nothing_to_a_session_with_keys_alone(command, folder, browser):
    process = command("--components", "6")
    context = browser.new_context()
    tab = Choosing(context, process.url)
    tab.wait("document.querySelectorAll('.start button').length === 5")
    assert grave_findings(tab.page) == []
    tab.page.locator(".start .fails").wait_for()
    broken = tab.page.locator(".start button", has_text="broken.tif")
    assert "cannot be read" in broken.inner_text()
    broken.click(force=True)  # it is known to fail
    assert not (folder / "broken.relabel.jsonl").exists()
    assert grave_findings(tab.page) == []
    tab.go("north/")
    tab.wait("document.querySelector('.start h2').textContent.endsWith('root/north')")
    tab.go("field one/")
    tab.wait("document.querySelector('.start h2').textContent.endsWith('field one')")
    tab.page.click("text=Features, reference, mask")
    tab.page.select_option("[aria-label=Features]", "spatial")
    tab.page.fill("[aria-label=Reference]", "strokes.img")
    assert grave_findings(tab.page) == []
    tab.page.locator(".start ul button").first.focus()
    tab.go("scene.img")
    assert tab.opened() == "scene.img"
    assert "token" not in tab.page.url
    assert tab.page.locator(".start").is_hidden()
    assert tab.page.evaluate("diffclass.state.has_reference")
    tab.page.evaluate("diffclass.apply({ op: 'add_class', name: 'one' })")
    tab.wait("diffclass.pending === 0 && diffclass.state.classes.length === 1")
    place = tab.page.url
    assert process.end(signal.SIGINT) == 130
    session = folder / "north" / "field one" / "scene.relabel.jsonl"
    header, entries = read_session(session)[:2]
    assert len(entries) == 1
    assert header["settings"]["features"] == "spatial"
    assert "Traceback" not in process.said

    # the next time it is the first of the recent ones, and its old tab finds it again
    second = Choosing(context, command("--components", "6").url)
    second.wait("document.querySelectorAll('.start h2')[1]?.textContent === 'Recent sessions'")
    second.page.locator("h2:has-text('Recent') + ul button").first.focus()
    second.page.keyboard.press("Enter")
    assert second.opened() == "scene.img"
    assert second.page.url == place
    assert tab.opened() == "scene.img"
    assert second.page.evaluate("diffclass.state.version") == 1
    context.close()
