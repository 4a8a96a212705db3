"""The page when things go wrong: reloads, other tabs, lost connections, a server that is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from experiments.relabel.driver.browser import PREPARED

from ..browser import engine_map
from ..proxies import Tunnel, free_port

PATIENCE = 120  # seconds until a process answers: it compiles first
CODE = "from diffclass_relabel.commands.relabel import relabel; relabel()"


@pytest.fixture
def begun(editor, serve, open_tab, tissue):
    """A tab on a session with three classes, a stroke each."""
    for class_id, name in enumerate(("nuclei", "cytoplasm", "stroma"), start=1):
        editor.apply({"op": "add_class", "name": name})
        first = int(np.flatnonzero(tissue.truth.ravel() == class_id)[40])
        editor.apply({"op": "stroke", "class": class_id, "pixels": [first, 2]})
    tab = open_tab(serve(editor).url)
    tab.idle()
    return tab


def test_reload_finds_everything(begun):
    tab = begun
    tab.paint(2, (30, 10), (34, 20))
    before = (tab.state, tab.labels, tab.map)
    tab.page.reload()
    tab.wait("window.diffclass?.connection === 'open' && diffclass.state")
    tab.idle()
    assert tab.state == before[0]
    np.testing.assert_array_equal(tab.labels, before[1])
    np.testing.assert_array_equal(tab.map, before[2])
    tab.key("Control+z")  # the history is there too
    tab.idle()
    assert (tab.labels != before[1]).any()


def test_two_tabs_see_the_same(begun, open_tab, editor):
    first = begun
    second = open_tab(first.url)
    for k, tab in enumerate((first, second, first, second)):
        tab.key(str(k % 3 + 1))
        tab.stroke((10 + 6 * k, 10), (10 + 6 * k, 40))
    for tab in (first, second):
        # idle() knows only what this tab has heard
        tab.wait("diffclass.state.strokes.length === 7")
        tab.idle()
        np.testing.assert_array_equal(tab.map, engine_map(editor))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert len(editor.session.strokes) == 7
    second.key("Control+z")
    second.idle()
    first.wait("diffclass.state.strokes.length === 6")


def test_strokes_of_a_lost_connection_and_of_a_lost_answer_are_done_once(begun, editor):
    tab = begun
    tab.key("1")
    tab.js("diffclass.drop()")
    tab.stroke((20, 10), (20, 20))
    tab.stroke((26, 10), (26, 20))
    assert tab.labels[20, 15] == tab.labels[26, 15] == 1  # still seen at once
    tab.wait("diffclass.connection === 'open' && diffclass.pending === 0")
    tab.idle()
    assert len(editor.session.strokes) == 5  # each of them once
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.key("1")
    tab.press((32, 10), (32, 20))
    tab.js(
        """() => {  // the message goes out, the answer finds nobody
            const send = WebSocket.prototype.send;
            WebSocket.prototype.send = function (text) {
                send.call(this, text);
                if (text.includes("stroke")) { WebSocket.prototype.send = send; this.close(); }
            };
        }"""
    )
    tab.release()
    tab.wait("diffclass.connection === 'open' && diffclass.pending === 0")
    tab.idle()
    assert len(editor.session.strokes) == 6


def test_another_session_at_the_same_address_gets_nothing(new_editor, serve, open_tab):
    """As after a command on the same port: the tab keeps its strokes until its own is back."""
    tunnel = Tunnel()
    address = f"localhost:{tunnel.port}"
    own, other = new_editor("own.jsonl"), new_editor("other.jsonl")
    gates = [
        serve(editor, allowed_hosts=frozenset({address}), token="same") for editor in (own, other)
    ]
    tunnel.lead_to(gates[0].port)
    try:
        tab = open_tab(f"http://{address}/?token=same")
        tab.add_class("one")
        tunnel.lead_to(free_port())
        tab.js("diffclass.drop()")
        tab.key("1")
        tab.stroke((20, 10), (20, 20))
        tab.wait("diffclass.pending === 1")
        tunnel.lead_to(gates[1].port)
        tab.wait("diffclass.connection === 'refused'")
        notice = tab.find(".connection").inner_text()
        assert "another session is open there now, of scene.hdr" in notice
        assert "1 change is kept here" in notice
        assert other.version == 0
        tunnel.lead_to(gates[0].port)
        tab.js("diffclass.drop()")
        tab.wait("diffclass.connection === 'open' && diffclass.pending === 0")
        assert (own.version, other.version) == (3, 0)  # the class, its name, the stroke
    finally:
        tunnel.close()


def test_a_stranger_is_told_why(gate, browser):
    stranger = browser.new_context().new_page()
    answer = stranger.goto(gate.url.split("?")[0])
    assert answer.status == 403
    assert "token" in stranger.inner_text("body")
    stranger.context.close()


@pytest.fixture
def start(scene_folder, tmp_path, process_environment):
    """Start ``diffclass relabel`` in its own process; returns it and its page's address."""
    running = []

    def started():
        out = tmp_path / f"out{len(running)}.txt"
        scene, session = str(scene_folder / "scene.hdr"), str(tmp_path / "session.jsonl")
        command = [sys.executable, "-c", CODE, scene, "--session", session, "--no-browser"]
        command += ["--components", "6"]
        with out.open("w") as stream:
            process = subprocess.Popen(command, stderr=stream, env=process_environment)
        running.append(process)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            found = re.search(r"http://\S+", out.read_text())
            if found:
                return process, found.group(0)
            time.sleep(0.05)
        raise AssertionError(out.read_text())

    yield started
    for process in running:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
def test_killed_in_the_middle_of_a_stroke(start, open_tab):
    process, url = start()
    tab = open_tab(url)
    for name in ("one", "two"):
        tab.add_class(name)
    tab.paint(1, (5, 5), (5, 15))
    tab.paint(2, (40, 5), (40, 15))
    labels = tab.labels
    tab.press((20, 10), (20, 14))
    process.send_signal(signal.SIGKILL)
    process.wait()
    tab.move(20, 20)
    tab.release()
    tab.wait("diffclass.connection === 'lost'")
    notice = tab.find(".connection")
    notice.wait_for()
    assert "1 change is kept here" in notice.inner_text()

    _, again_url = start()
    assert again_url == url  # where the old tab looks for it, with the token that it knows
    tab.wait("diffclass.connection === 'open' && diffclass.pending === 0", PREPARED)
    tab.idle()
    again = open_tab(again_url)
    again.idle()
    assert len(again.state["strokes"]) == 3
    np.testing.assert_array_equal(again.labels[labels > 0], labels[labels > 0])
    assert (again.labels[20, 10:21] == 2).all()
