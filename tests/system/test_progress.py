"""Stages and those who listen to them."""

from __future__ import annotations

import pytest

from diffclass.command_line import console as consoles
from diffclass.command_line.console import Console
from diffclass.system.progress import duration, in_parts, listening, stage, stage_seconds


class Heard:
    def __init__(self):
        self.events = []

    def begins(self, name):
        self.events.append(name)

    def advances(self, name, done, parts):
        self.events.append((name, done, parts))

    def ends(self, name, seconds):
        assert seconds >= 0
        self.events.append(f"{name} ended")


def test_a_listener_hears_stages_and_their_parts():
    heard = Heard()
    with listening(heard), stage("graph"), stage("graph: blocks", parts=2) as part_done:
        part_done()
        part_done()
    blocks = "graph: blocks"
    parts = [(blocks, 1, 2), (blocks, 2, 2)]
    assert heard.events == ["graph", blocks, *parts, f"{blocks} ended", "graph ended"]


def test_a_stage_ends_though_it_fails_and_nobody_needs_to_listen():
    heard = Heard()
    with pytest.raises(KeyError), listening(heard), stage("graph"):
        raise KeyError
    assert heard.events == ["graph", "graph ended"]
    with stage("graph", parts=1) as part_done:
        part_done()
    with stage_seconds() as seconds:
        for _ in range(2):
            with stage("graph", parts=1) as part_done:
                part_done()
    assert list(seconds) == ["graph"]


def test_the_console_says_how_long_the_rest_will_take(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(consoles.time, "perf_counter", lambda: now[0])
    console = Console()
    with console.timing(), stage("neighbors", parts=4) as part_done:
        for _ in range(4):
            now[0] += 60.0
            part_done()
    said = capsys.readouterr().err
    assert "neighbors ... 1 of 4, about 3 min left" in said
    assert "3 of 4, about 60 s left" in said
    assert console.seconds == {"neighbors": 240.0}


def test_a_part_of_a_stage_does_not_hide_the_time_of_the_stage(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(consoles.time, "perf_counter", lambda: now[0])
    console = Console()
    with console.timing(), stage("calibration", parts=3) as part_done:
        for _ in range(3):
            with stage("calibration: fold"):
                now[0] += 60.0
            part_done()
    said = capsys.readouterr().err
    assert "calibration ... 1 of 3, about 2 min left" in said
    assert said.count("calibration: fold ...") == 1


def test_items_are_parts():
    heard = Heard()
    with listening(heard):
        assert list(in_parts("rows", iter("ab"))) == ["a", "b"]
    assert heard.events == ["rows", ("rows", 1, 2), ("rows", 2, 2), "rows ended"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (100, "2 min"), (7800, "2 h 10 min")]
)
def test_durations_are_read_at_a_glance(seconds, text):
    assert duration(seconds) == text
