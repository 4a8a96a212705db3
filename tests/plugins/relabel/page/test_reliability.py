"""The page when things go wrong: reloads, other tabs, lost connections, a server that is killed."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from experiments.relabel.driver.browser import PREPARED

from ..browser import engine_map
from ..proxies import Tunnel, free_port


def test_strokes_of_a_lost_connection_and_of_a_lost_answer_are_done_once(labelled, serve, open_tab):
    tab = open_tab(serve(labelled).url)
    tab.idle()
    tab.key("1")
    tab.js("diffclass.drop()")
    tab.stroke((20, 10), (20, 20))
    tab.stroke((26, 10), (26, 20))
    assert tab.labels[20, 15] == tab.labels[26, 15] == 1  # still seen at once
    tab.wait("diffclass.connection === 'open' && diffclass.pending === 0")
    tab.idle()
    assert len(labelled.session.strokes) == 5  # each of them once
    np.testing.assert_array_equal(tab.map, engine_map(labelled))
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
    assert len(labelled.session.strokes) == 6


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


@pytest.mark.slow
def test_killed_in_the_middle_of_a_stroke(relabel_in, scene_folder, tmp_path, open_tab):
    words = scene_folder / "scene.hdr", "--session", tmp_path / "s.jsonl", "--components", "6"
    process = relabel_in(tmp_path, *words)
    tab = open_tab(process.url)
    for name in ("one", "two"):
        tab.add_class(name)
    tab.paint(1, (5, 5), (5, 15))
    tab.paint(2, (40, 5), (40, 15))
    labels = tab.labels
    tab.press((20, 10), (20, 14))
    process.end(signal.SIGKILL)
    tab.move(20, 20)
    tab.release()
    tab.wait("diffclass.connection === 'lost'")
    notice = tab.find(".connection")
    notice.wait_for()
    assert "1 change is kept here" in notice.inner_text()

    url = relabel_in(tmp_path, *words).url
    assert url == process.url  # where the old tab looks for it, with the token that it knows
    tab.wait("diffclass.connection === 'open' && diffclass.pending === 0", PREPARED)
    tab.idle()
    again = open_tab(url)
    again.idle()
    assert len(again.state["strokes"]) == 3
    np.testing.assert_array_equal(again.labels[labels > 0], labels[labels > 0])
    assert (again.labels[20, 10:21] == 2).all()
