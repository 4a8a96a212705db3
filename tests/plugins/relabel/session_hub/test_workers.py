"""The map goes first: questions are answered beside it, and given up for newer ones."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time

import numpy as np
import pytest

from diffclass.exceptions import CancelledError
from diffclass.system.progress import checkpoint
from diffclass_relabel.queries import answers
from diffclass_relabel.session_hub.workers import Workers

from ..strokes import truth_stroke


class Slow:
    """An answer that takes until it is let go, or given up."""

    def __init__(self, answer):
        self.begun, self.let_go, self.given_up = (threading.Event() for _ in range(3))
        self._answer = answer

    def __call__(self, *arguments, **fields):
        self.begun.set()
        try:
            while not self.let_go.is_set():
                checkpoint()
                time.sleep(0.005)
        except CancelledError:
            self.given_up.set()
            raise
        return self._answer(*arguments, **fields)


@pytest.mark.parametrize(
    ("ask", "name"),
    [("suggest", "suggestions"), ("curve", "curve"), ("audit", "audit")],
)
def test_the_map_does_not_wait_for_an_answer(painter, tissue, monkeypatch, ask, name):
    slow = Slow(getattr(answers, name))
    monkeypatch.setattr(answers, name, slow)
    question = painter.send({"ask": ask})
    assert slow.begun.wait(30)
    before = painter.state["version"]
    assert painter.do(truth_stroke(tissue, 1, start=20))["kind"] == "done"
    painter.settled()
    assert painter.frames["map"][0]["version"] == before + 1
    assert painter.ask("spectrum", pixel=100)["kind"] == "answer"
    slow.let_go.set()
    assert painter.reply(question)["kind"] == "answer"


def test_a_newer_question_takes_the_place_of_an_older_one(painter, monkeypatch):
    slow = Slow(answers.suggestions)
    monkeypatch.setattr(answers, "suggestions", slow)
    first = painter.send({"ask": "suggest"})
    assert slow.begun.wait(30)
    second = painter.send({"ask": "suggest", "n": 3})
    assert slow.given_up.wait(30)
    assert painter.reply(first)["kind"] == "superseded"
    slow.let_go.set()
    assert len(painter.reply(second)["pixels"]) == 3


def test_who_leaves_needs_no_answer(painter, connect, gate, monkeypatch):
    slow = Slow(answers.suggestions)
    monkeypatch.setattr(answers, "suggestions", slow)
    other = connect(gate)
    other.hello()
    other.send({"ask": "suggest"})
    assert slow.begun.wait(30)
    other.close()
    assert slow.given_up.wait(30)


def test_the_server_ends_without_waiting_for_answers(editor):
    begun = threading.Event()

    def endless():
        begun.set()
        while True:
            checkpoint()
            time.sleep(0.005)

    async def end():
        workers = Workers()
        asked = asyncio.create_task(workers.answer_slow("suggest", endless))
        await asyncio.to_thread(begun.wait, 30)
        await asyncio.wait_for(workers.close(), 30)
        with pytest.raises(CancelledError):
            await asked

    asyncio.run(end())


def test_a_session_opened_with_its_map_is_refined_without_a_stroke(labelled, serve):
    labelled.apply({"op": "tau", "tau": "auto"})
    labelled.update()
    serve(labelled)
    end = time.monotonic() + 30
    while not labelled.session.is_refined:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_map_of_a_time_that_was_left_is_given_up(labelled, monkeypatch):
    labelled.update()
    engine = labelled.session._maps
    computed, map_of = [], engine.map_of

    def slow_map_of(state):
        if state.tau == 500:  # the user goes on at once
            labelled.apply({"op": "tau", "tau": 20})
        found = map_of(state)
        computed.append(state.tau)
        return found

    monkeypatch.setattr(engine, "map_of", slow_map_of)
    labelled.apply({"op": "tau", "tau": 500})
    shown = labelled.update()
    assert computed == [20]
    assert shown.version == labelled.version
    assert labelled.session.tau == 20


def test_questions_while_the_map_is_made(painter, editor, tissue):
    """The answers are those of the session as it stands; nothing deadlocks."""
    sent = []
    for step in range(12):
        stroke = truth_stroke(tissue, 1 + step % 3, 6, start=6 + step)
        sent.append(painter.send({"op": stroke}))
        sent.append(painter.send({"ask": "why", "pixel": 700 + step}))
        sent.append(painter.send({"ask": ("audit", "curve", "suggest")[step % 3]}))
    kinds = {}
    while kinds.keys() < set(sent):  # they come in any order
        content = painter.hear()
        if isinstance(content, dict) and "seq" in content:
            kinds[content["seq"]] = content["kind"]
    assert set(kinds.values()) <= {"done", "answer", "superseded"}
    ids = painter.settled()[0]
    assert np.array_equal(ids, editor.map.ids.ravel())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives threads priorities")
def test_what_runs_beside_the_map_gives_way_to_it():
    def niceness():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def asked():
        workers = Workers()
        map_first = await workers.compute_map(niceness)
        beside = await workers.answer_slow("n", niceness), await workers.refine("n", niceness)
        await workers.close()
        return map_first, *beside

    compute_map, *beside = asyncio.run(asked())
    assert compute_map == niceness() < min(beside)
