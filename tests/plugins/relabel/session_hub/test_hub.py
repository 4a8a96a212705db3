"""Thousands of operations in a row, from two tabs: engine, clients and file agree in the end."""

from __future__ import annotations

import os
import re
import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diffclass import diffuse_labels
from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.session.editor import Sent
from diffclass_relabel.session_file import session_log
from diffclass_relabel.session_hub import hub
from diffclass_relabel.session_hub.states import session_state
from experiments.relabel.driver.clients import PATIENCE
from experiments.relabel.driver.operations import random_operation

from ..strokes import three_classes


def test_all_agree(editor, new_editor, serve, connect, tissue, workspace, rng, monkeypatch):
    # other tests check that each line is on disk; waiting for it would take most of this one
    monkeypatch.setattr(session_log.os, "fsync", lambda descriptor: None)
    gate = serve(editor)
    tabs = [connect(gate, name=name) for name in ("one", "two")]
    for operation in three_classes(tissue):
        tabs[0].do(operation)
    refused = 0
    for _ in range(100):  # ten at a time, from both tabs at once
        state = tabs[0].state
        chosen = [random_operation(rng, state, tissue.truth.size) for _ in range(10)]
        sent = [(tabs[i % 2], tabs[i % 2].send({"op": op})) for i, op in enumerate(chosen)]
        refused += sum(tab.reply(number)["kind"] == "refused" for tab, number in sent)
    assert 50 < refused < 500  # careless, not blind
    tabs[0].do("class_sizes")  # with sizes another map would follow in the background
    for tab in tabs:
        tab.ask("update")
        tab.version = editor.version
    first, second = (tab.settled() for tab in tabs)

    # the tabs show what the engine has
    assert np.array_equal(first, second)
    shown = editor.map
    for plane, kept in zip(first, (shown.ids, shown.margin, shown.probability), strict=True):
        assert np.array_equal(plane, kept.ravel())
    assert all(np.array_equal(tab.labels, editor.labels.ids.ravel()) for tab in tabs)
    assert tabs[0].state["classes"] == tabs[1].state["classes"]
    assert editor.version == editor.log.n_operations == 1000 + 7 - refused
    assert len(editor.log.entries) == 1000 + 7

    # the map depends on the labels alone, not on what was done and undone before
    ids = editor.labels.ids.ravel()[workspace.pixels].astype(int)
    y = np.where(ids > 0, ids, -1)
    session = editor.session
    fresh = diffuse_labels(workspace.operator, y, label_mode=session.label_mode, tau=session.tau)
    reached = fresh.codes >= 0
    found = shown.ids.ravel()[workspace.pixels]
    np.testing.assert_array_equal(found, np.where(reached, fresh.classes[fresh.codes], 0))

    # and the file holds all of it
    editor.close()
    again = new_editor()
    assert np.array_equal(again.labels.ids, editor.labels.ids)
    assert np.array_equal(again.update().ids, shown.ids)
    assert again.session.posteriors.tobytes() == editor.session.posteriors.tobytes()


class Disk:
    """A disk that writes when it is let to: `let` it once, or for good."""

    def __init__(self, monkeypatch, *, seconds=0.0):
        self.n_writes = 0
        self.may_write = threading.Event()
        self.may_write.set()
        sync = os.fsync

        def fsync(descriptor):
            self.n_writes += 1
            time.sleep(seconds)
            assert self.may_write.wait(PATIENCE)
            sync(descriptor)

        monkeypatch.setattr(session_log.os, "fsync", fsync)


def test_a_flood_of_strokes_is_answered_stroke_by_stroke(
    editor, new_editor, serve, connect, tissue, monkeypatch
):
    """On a disk that takes 50 ms: one after the other, they would take longer than pings wait."""
    disk = Disk(monkeypatch, seconds=0.05)
    page = connect(serve(editor), name="one")
    for operation in three_classes(tissue):
        page.do(operation)
    n_before, n_pixels = disk.n_writes, tissue.truth.size
    operations = [
        {"op": "stroke", "class": 1 + k % 4, "pixels": [(37 * k) % (n_pixels - 9), 2 + k % 8]}
        for k in range(2000)
    ]  # a quarter of them in a class that there is not
    sent = [page.send({"op": operation}) for operation in operations]
    answers = [page.reply(number) for number in sent]
    kinds = ["done" if operation["class"] < 4 else "refused" for operation in operations]
    assert [answer["kind"] for answer in answers] == kinds
    done = [answer for answer in answers if answer["kind"] == "done"]
    assert [answer["version"] for answer in done] == list(range(7, 7 + len(done)))
    assert [answer["stroke"] for answer in done] == list(range(4, 4 + len(done)))
    assert all("no class 4" in a["message"] for a in answers if a["kind"] == "refused")
    assert disk.n_writes - n_before < 500  # together: the law that no clock has to measure
    # the same connection goes on, and all have the same labels and map
    page.ask("update")
    shown = page.settled()[0]
    assert np.array_equal(page.labels, editor.labels.ids.ravel())
    assert [entry["seq"] for entry in editor.log.entries[6:]] == sent
    assert editor.log.n_operations == editor.version == 6 + len(done)
    editor.close()
    again = new_editor()
    assert np.array_equal(again.labels.ids.ravel(), page.labels)
    assert np.array_equal(again.update().ids.ravel(), shown)


def test_while_operations_wait_for_the_disk_the_client_is_heard(
    editor, serve, connect, monkeypatch
):
    disk = Disk(monkeypatch)
    page = connect(serve(editor), name="one")
    page.hello()
    disk.may_write.clear()
    many = [number for pixel in range(1, 1000, 2) for number in (pixel, 1)]  # 3 kB
    sent = [page.send({"op": {"op": "erase", "pixels": many}}) for _ in range(500)]
    assert page.socket.ping().wait(PATIENCE)  # else the server would think that it has gone
    disk.may_write.set()
    assert {page.reply(number)["kind"] for number in sent} == {"refused"}  # nothing is labelled


def test_more_than_can_wait_is_refused_at_once(editor, serve, connect, monkeypatch):
    monkeypatch.setattr(hub, "_MOST_WAITING", 100)
    disk = Disk(monkeypatch)
    page = connect(serve(editor), name="one")
    page.do("add_class")
    disk.may_write.clear()
    operation = {"op": {"op": "recolor_class", "id": 1, "color": "#12ab9f"}}
    sent = [page.send(operation) for _ in range(400)]
    refused = []
    while len(refused) < 400 - 100 - hub._MOST_TOGETHER:  # while the disk still does nothing
        message = page.hear()
        if isinstance(message, dict) and message["kind"] == "refused":
            assert message["message"].startswith("100 operations wait already; do this again when")
            refused.append(message["seq"])
    disk.may_write.set()
    answers = {}
    while len(answers) + len(refused) < len(sent):
        message = page.hear()
        if isinstance(message, dict) and message["kind"] in ("done", "refused"):
            answers[message["seq"]] = message["kind"]
    done = [number for number, kind in answers.items() if kind == "done"]
    assert len(done) >= 100
    assert [entry["seq"] for entry in editor.log.entries[1:]] == sorted(done)
    # what was refused stays so: the client was told, and has gone on
    again = page.reply(page.send(operation, number=refused[0]))
    assert (again["kind"], again["message"][:14]) == ("refused", "100 operations")
    assert page.do(operation["op"])["kind"] == "done"


def same(left, right):
    """Tell whether two sessions show and know the same."""
    assert session_state(left) | {"session": ""} == session_state(right) | {"session": ""}
    assert np.array_equal(left.labels.ids, right.labels.ids)
    titles = [[step["title"] for step in each.history()["steps"]] for each in (left, right)]
    assert titles[0] == titles[1]
    return True


def without_time(entries):
    return [{k: v for k, v in entry.items() if k != "at"} for entry in entries]


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    failing=st.integers(0, 3),
)
def test_together_or_one_by_one_the_session_is_the_same(
    new_editor, tissue, full_disk, seed, sizes, failing
):
    """Also where the disk is full for one group: nothing of it is left, but what was refused."""
    rng, name = np.random.default_rng(seed), f"{seed}-{failing}-{sizes}"[:80]
    together, single = new_editor(f"{name} a.jsonl"), new_editor(f"{name} b.jsonl")
    number = 0
    for group, size in enumerate(sizes):
        state = session_state(together)
        some = [random_operation(rng, state, tissue.truth.size) for _ in range(size)]
        sent = [Sent(op, "a page", number + i) for i, op in enumerate(some)]
        sent += [sent[0]]  # the same once more, from a connection that was thought lost
        number += size
        if group == failing:
            lines = len(together.log.entries)
            with full_disk():
                found = together.apply_all(sent)
            assert all(isinstance(each, DataError | ParameterError) for each in found)
            assert len(together.log.entries) == lines
            assert same(together, single)
            continue
        found = together.apply_all(sent)
        for each, outcome in zip(sent, found, strict=True):
            sender = {"client": each.client, "number": each.number}
            if isinstance(outcome, Exception):
                with pytest.raises(type(outcome), match=re.escape(str(outcome))):
                    single.apply(each.operation, **sender)
            else:
                done = single.apply(each.operation, **sender)
                assert (outcome.operation, outcome.version) == (done, single.version)
        assert same(together, single)
        assert without_time(together.log.entries) == without_time(single.log.entries)
    together.close()
    assert same(new_editor(f"{name} a.jsonl"), single)
    for each in (together, single):
        each.close()
        each.log.path.unlink()


@pytest.mark.parametrize("is_done_before", [False, True])
def test_what_was_taken_back_is_not_said_to_be_done_before(editor, full_disk, is_done_before):
    sent = [Sent({"op": "add_class"}, "a page", number) for number in (1, 2, 2)]
    if is_done_before:
        editor.apply_all(sent[:1])
    with full_disk():
        first, second, again = editor.apply_all(sent)
    assert isinstance(second, DataError)
    assert isinstance(again, DataError)
    if is_done_before:
        assert first.operation == {}
    else:
        assert isinstance(first, DataError)
    assert editor.version == editor.log.n_operations == is_done_before
    editor.apply_all(sent)
    assert editor.version == 2


def test_an_error_in_the_program_is_that_of_one_operation(editor, serve, connect, monkeypatch):
    apply = editor.session.apply

    def wrong(operation):
        if operation.name == "wrong":
            raise RuntimeError("no such thing")
        apply(operation)

    monkeypatch.setattr(editor.session, "apply", wrong)
    page = connect(serve(editor), name="one")
    names = ["one", "wrong", "two"]
    sent = [page.send({"op": {"op": "add_class", "name": name}}) for name in names]
    answers = [page.reply(number) for number in sent]
    assert [answer["kind"] for answer in answers] == ["done", "refused", "done"]
    assert "RuntimeError: no such thing" in answers[1]["message"]
    assert [entry.name for entry in editor.session.classes] == ["one", "two"]


def test_who_painted_gets_labels_also_where_another_took_the_stroke_back_at_once(
    editor, serve, connect
):
    gate = serve(editor)
    one, other = connect(gate, name="one"), connect(gate, name="other")
    for page in (one, other):
        page.hello()
    with editor.lock:  # the first keeps the writer, the next two are written together
        one.send({"op": {"op": "add_class"}})
        time.sleep(0.2)
        painted = one.send({"op": {"op": "stroke", "class": 1, "pixels": [100, 5]}})
        time.sleep(0.2)
        undone = other.send({"op": {"op": "undo"}})
        time.sleep(0.2)
    answers = one.reply(painted), other.reply(undone)
    assert [answer["kind"] for answer in answers] == ["done", "done"], answers
    one.heard.clear()
    while "labels" not in one.heard:
        one.hear()
    assert not one.frames["labels"][1].any()
    # what is sent again after a lost connection is answered, and followed by the labels
    again = connect(gate, name="one")
    again.hello()
    number = again.send({"op": {"op": "stroke", "class": 1, "pixels": [100, 5]}}, number=painted)
    assert again.reply(number)["again"]
    again.heard.clear()
    while "labels" not in again.heard:
        again.hear()
