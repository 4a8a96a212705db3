"""A kernel that ends while its page goes on: what it can no longer write it does not refuse."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

# After its last line Python ends the pools of threads, and then runs what atexit was given.
PROGRAM = """
import atexit, json, sys, threading, time
from pathlib import Path
from diffclass_relabel.notebook.pages import SessionThread
from diffclass_relabel.opening import prepared_editor
from diffclass_relabel.session_file import SessionLog

posted = []
log = SessionLog(Path("scene.relabel.jsonl"))
session = SessionThread(
    lambda preparation: prepared_editor(
        [Path("scene.npy")], log, preparation, {"settings": {}}
    ),
    lambda message, _: posted.append(message), scene="scene",
)

def send(number, operation):
    text = json.dumps({"seq": number, "op": operation, "seen": 0})
    session.take({"client": "a", "kind": "text", "text": text})

def answers():
    told = [json.loads(message["text"]) for message in posted if message["kind"] == "text"]
    return [message for message in told if message.get("seq") is not None]

def at_the_end():
    send(2, {"op": "stroke", "class": 1, "pixels": [0, 3]})
    time.sleep(1)
    json.dump(answers(), sys.stdout)

session.editor()
session.take({"client": "a", "kind": "join"})
for _ in range(40):
    session.take({"client": "a", "kind": "heard"})
send(1, {"op": "add_class", "name": "one"})
while not answers():
    time.sleep(0.01)
atexit.register(at_the_end)
"""


def test_a_stroke_that_comes_too_late_is_not_refused(tmp_path, rng, process_environment):
    np.save(tmp_path / "scene.npy", rng.random((20, 20, 4)))
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path, env=process_environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    # without an answer it stays with the page, which sends it to the next kernel
    assert [one["kind"] for one in json.loads(ended.stdout)] == ["done"], ended.stderr
