"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from diffclass.exceptions import ParameterError
from diffclass.system.output import replacing, require_writable


def test_writes_and_leaves_nothing_beside(tmp_path):
    with replacing(tmp_path / "map.npy") as temporary:
        assert temporary.parent.parent == tmp_path
        assert temporary.suffix == ".npy"
        assert not temporary.exists()
        temporary.write_text("new")
    assert (tmp_path / "map.npy").read_text() == "new"
    assert os.listdir(tmp_path) == ["map.npy"]


def test_a_failure_leaves_the_old_file(tmp_path):
    target = tmp_path / "map"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="halfway"), replacing(target, overwrite=True) as name:  # noqa: PT012
        name.write_text("half of the n")
        raise RuntimeError("halfway")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["map"]


def test_overwrites_only_when_asked(tmp_path):
    target = tmp_path / "map"
    target.write_text("old")
    with pytest.raises(ParameterError, match="exists"):
        require_writable(target)
    with replacing(target, overwrite=True, suffix=".json") as temporary:
        assert temporary.suffix == ".json"
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_says_why_a_place_cannot_be_written_to(tmp_path):
    with pytest.raises(ParameterError, match="no folder"):
        require_writable(tmp_path / "missing" / "map")
    with pytest.raises(ParameterError, match="is a folder"):
        require_writable(tmp_path, overwrite=True)
    assert require_writable(str(tmp_path / "map")) == tmp_path / "map"


def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "map") as temporary:
            temporary.write_text("new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "map").stat().st_mode) == 0o640
