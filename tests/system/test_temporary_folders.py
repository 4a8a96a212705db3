"""Folders of killed processes go, those of living ones stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from diffclass.system.temporary_folders import TemporaryFolder, lock, sweep

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")

HOLDING = """
import sys, time
from pathlib import Path
from diffclass.system.temporary_folders import TemporaryFolder
folder = TemporaryFolder(".map", parent=Path("."))
(folder.path / "half").write_text("of a map")
print(folder.path.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process with a folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        yield process, tmp_path / process.stdout.readline().strip()
        process.kill()


def names(folder):
    return sorted(os.listdir(folder))


def test_it_is_the_owners_and_goes_at_the_end(tmp_path):
    with TemporaryFolder(".map", parent=tmp_path) as folder:
        assert folder.path.stat().st_mode & 0o777 == 0o700
        (folder.path / "half").write_text("of a map")
    assert names(tmp_path) == []
    folder.remove()  # which changes nothing


def test_it_goes_from_where_it_was_made(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with TemporaryFolder("map", parent=Path(".")) as folder:
        assert folder.path.is_absolute()
        monkeypatch.chdir("other")
    assert names(tmp_path) == ["other"]


def test_a_living_process_keeps_its_folder(tmp_path, holder):
    process, path = holder
    for _ in range(3):
        with TemporaryFolder(".map", parent=tmp_path) as folder:
            assert folder.path != path
    assert (path / "half").read_text() == "of a map"
    process.communicate()  # ends it
    assert names(tmp_path) == []


def test_that_of_a_killed_process_is_shown_and_removed(tmp_path, holder):
    process, path = holder
    with TemporaryFolder(".map", parent=tmp_path):  # a number apart from that of the other
        process.kill()
        process.wait()
        assert path.exists()
    shown = []
    with TemporaryFolder(
        ".map", parent=tmp_path, left=lambda left: shown.append((left, names(left)))
    ) as folder:
        assert shown == [(path, ["half"])]
        assert names(tmp_path) == [folder.path.name]
        assert names(folder.path) == []
    assert names(tmp_path) == []


def test_nothing_else_is_touched(tmp_path):
    others = [".map.scratch", ".map.1", ".map.tif.1.part", "map.1.part", ".map.one.part"]
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".map.1.part").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".map.2.part").write_text("a file")
    before = names(tmp_path)
    with TemporaryFolder(".map", parent=tmp_path) as folder:
        assert folder.path.name == ".map.3.part"
    assert names(tmp_path) == before


def test_two_in_one_process(tmp_path):
    with (
        TemporaryFolder(".map", parent=tmp_path) as one,
        TemporaryFolder(".map", parent=tmp_path) as other,
    ):
        sweep(".map", parent=tmp_path)
        assert names(tmp_path) == sorted([one.path.name, other.path.name])
        assert lock(one.path) is None


def test_a_forked_process_leaves_it_to_its_owner(tmp_path):
    with TemporaryFolder(".map", parent=tmp_path) as folder:
        child = os.fork()
        if not child:
            folder.remove()
            os._exit(0)
        os.waitpid(child, 0)
        assert folder.path.exists()
    assert names(tmp_path) == []


def test_where_folders_cannot_be_locked_they_stay(tmp_path, monkeypatch):
    import fcntl

    def refuse(*_):
        raise OSError("no locks here")

    (tmp_path / ".map.1.part").mkdir()
    monkeypatch.setattr(fcntl, "flock", refuse)
    with TemporaryFolder(".map", parent=tmp_path) as folder:
        assert folder.path.exists()
    assert names(tmp_path) == [".map.1.part"]
