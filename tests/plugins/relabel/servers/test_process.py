"""The server as a process of its own: started, killed at any moment, started again, ended."""

from __future__ import annotations

import signal
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from diffclass_relabel.session_file.session_log import read_session
from experiments.relabel.driver.clients import PageClient

from ..session.test_refinement import chosen
from ..strokes import three_classes, truth_stroke

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there"),
]


@pytest.fixture
def start(relabel_in, scene_folder, tmp_path):
    """Start the server on one session file."""
    words = scene_folder / "scene.hdr", "--session", tmp_path / "s.jsonl", "--components", "6"
    return partial(relabel_in, tmp_path, *words)


def paint_until_killed(process, client, tissue, *, after):
    """Send strokes without waiting and kill the server meanwhile; returns what was done."""
    strokes = [truth_stroke(tissue, 1 + i % 3, 5, start=3 + i % 30) for i in range(120)]
    killer = threading.Timer(after, process.end)
    killer.start()
    done = []
    try:
        for stroke in strokes:
            client.send({"op": stroke})
            time.sleep(0.002)
        while True:
            answer = client.hear()
            if isinstance(answer, dict) and answer["kind"] == "done":
                done.append(answer["seq"])
    except (ConnectionClosed, OSError, TimeoutError):
        killer.join()
    return strokes, done


def test_killed_in_the_midst_of_strokes(start, tissue, tmp_path):
    process = start()
    client = PageClient(process.gate, name="tab")
    client.hello()
    operations = three_classes(tissue)
    for operation in operations:
        assert client.do(operation)["kind"] == "done"
    strokes, done = paint_until_killed(process, client, tissue, after=0.15)
    client.close()
    written = [entry["op"] for entry in read_session(tmp_path / "s.jsonl")[1]]
    sent = operations + strokes
    assert [op["op"] for op in written] == [op["op"] for op in sent[: len(written)]]
    assert len(written) >= len(operations) + len(done)  # what was answered is on disk

    with (tmp_path / "s.jsonl").open("ab") as stream:  # and half a line, as if killed in a write
        stream.write(b'{"n":999,"op":{"op":"str')
    process = start()
    client = PageClient(process.gate, name="tab")
    client.hello()
    assert client.state["version"] == len(written)
    # the page sends again what was not answered: all is done, nothing twice
    for number, operation in enumerate(sent, start=1):
        assert client.reply(client.send({"op": operation}, number=number))["kind"] == "done"
    client.settled()
    assert client.state["version"] == len(sent)
    labels, shown = client.labels.copy(), chosen(client).copy()
    client.close()
    assert process.end(signal.SIGINT) == 130, process.said
    assert "torn" in process.said
    assert "Traceback" not in process.said
    assert (tmp_path / "s.jsonl.torn").read_bytes() == b'{"n":999,"op":{"op":"str\n'

    client = PageClient(start().gate)
    client.hello()
    assert np.array_equal(chosen(client), shown)
    assert np.array_equal(client.labels, labels)
    client.close()


def test_one_session_one_process(start, tmp_path):
    first = start()
    second = start()
    assert second.process.wait(timeout=30) == 3
    second.end()
    assert "open in another process" in second.said
    client = PageClient(first.gate)
    assert client.do("add_class")["kind"] == "done"
    client.close()
    first.end(signal.SIGTERM)
    assert "Traceback" not in first.said
    assert len(read_session(tmp_path / "s.jsonl")[1]) == 1


@pytest.mark.parametrize("prepared", [False, True])
def test_ctrl_c_once_or_twice_leaves_no_traceback(start, prepared):
    process = start()
    client = PageClient(process.gate)
    client.hear()
    if prepared:
        client.hello()
    for _ in range(2):
        process.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    process.process.wait(timeout=30)
    process.end()
    assert "Traceback" not in process.said
    assert "ended; 0 operations" in process.said
    client.close()
