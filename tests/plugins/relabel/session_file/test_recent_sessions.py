"""The list of the sessions that were opened last."""

from __future__ import annotations

import os
import stat

import pytest

from diffclass_relabel.session_file import recent_sessions, remember, state_folder


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_recent_sessions_are_the_owners_own(tmp_path, state):
    for name in ("old.tif", "old.jsonl", "new.tif", "new.jsonl", "gone.tif", "gone.jsonl"):
        (tmp_path / name).write_bytes(b"")
    for name in ("gone", "old", "new", "old"):  # each once in the list
        remember([tmp_path / f"{name}.tif"], tmp_path / f"{name}.jsonl", (2, 3, 4))
    for at, name in enumerate(("old", "new")):
        os.utime(tmp_path / f"{name}.jsonl", (at, at))
    kept = state_folder() / "recent.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert os.listdir(kept.parent) == ["recent.json"]
    (tmp_path / "gone.jsonl").unlink()
    assert [known.scenes[0].name for known in recent_sessions()] == ["new.tif", "old.tif"]
    assert recent_sessions()[0].shape == (2, 3, 4)


@pytest.mark.parametrize(
    "text", ['{"not": ["a", "list"]', "[1]", '[{"scenes": [3]}]', '[{"scenes": []}]', "\xff"]
)
def test_a_damaged_list_is_as_none(state, text):
    (state_folder() / "recent.json").write_text(text, encoding="latin-1")
    assert recent_sessions() == []
