"""Commands without a place that they need: a folder that was removed, a scheduler that is gone."""

from __future__ import annotations

import pytest

from diffclass.command_line.main import diffclass, run
from diffclass.exceptions import ClusterError


@pytest.mark.parametrize("name", sorted(diffclass.list_commands(None)))
def test_a_removed_folder_is_said_by_every_command(name, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert run([name, str(tmp_path / "scene.npy")]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "error: the folder of this shell was removed; change into another one"


def test_no_scheduler_is_no_fault_of_the_program(monkeypatch, capsys):
    def fail(*_, **__):
        raise ClusterError("no dask scheduler answers at tcp://127.0.0.1:9")

    monkeypatch.setattr(diffclass, "main", fail)
    assert run(["classify"]) == 3
    assert capsys.readouterr().err.count("\n") == 1
