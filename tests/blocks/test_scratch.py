"""The scratch folder of a run: what it keeps, what it removes, and full disks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from diffclass.blocks import BlockClassifier, Scratch, ScratchError
from diffclass.exceptions import DataError


def assert_refused(match: str, folder: Path, **options) -> None:
    with pytest.raises(DataError, match=match), Scratch.opened(folder, **options):
        pass


def test_complete_stages_outlive_an_error_and_nothing_outlives_an_interrupt(tmp_path):
    folder, done, scratch = tmp_path / "scratch", [], Scratch(tmp_path)

    def cells() -> dict[str, int]:
        done.append("cells")
        scratch.save("cells/order", np.arange(3))
        return {"n": 3}

    def graph() -> dict[str, int]:
        scratch.save("graph/0", np.arange(3))
        raise OSError("a worker is lost")

    def failing_run() -> None:
        nonlocal scratch
        with Scratch.opened(folder, job={"a": 1}, keep=True) as scratch:
            scratch.completed("cells", cells)
            scratch.completed("graph", graph)

    def interrupted_run() -> None:
        nonlocal scratch
        with Scratch.opened(folder, job={"a": 1}, resume=True, keep=True) as scratch:
            assert scratch.completed("cells", cells) == {"n": 3}
            assert scratch.load("cells/order").tolist() == [0, 1, 2]
            raise KeyboardInterrupt

    with pytest.raises(OSError, match="lost"):
        failing_run()
    assert sorted(part.name for part in folder.iterdir()) == ["cells", "cells.json", "job.json"]
    assert_refused("unfinished run", folder, job={"a": 1})
    assert_refused("other inputs", folder, job={"a": 2}, resume=True)
    with pytest.raises(KeyboardInterrupt):
        interrupted_run()
    assert done == ["cells"]
    assert not folder.exists()


def test_what_killed_writers_left_goes_with_the_stage_and_with_the_next_run(tmp_path):
    folder = tmp_path / "scratch"

    def work() -> dict[str, int]:
        scratch.save("cells/order", np.arange(3))
        (folder / "cells" / ".order.npy.1.part").touch()
        (folder / "cells" / ".dask.1.part").mkdir()
        return {}

    with Scratch.opened(folder, job={}, keep=True) as scratch:
        scratch.completed("cells", work)
        assert [file.name for file in (folder / "cells").iterdir()] == ["order.npy"]
    assert not folder.exists()

    def killed() -> dict[str, int]:
        (folder / ".cells.json.1.part").touch()
        raise OSError("the disk is gone")

    def failing_run() -> None:
        with Scratch.opened(folder, job={}, keep=True) as scratch:
            scratch.completed("labels", dict)
            scratch.completed("cells", killed)

    with pytest.raises(OSError, match="gone"):
        failing_run()
    with Scratch.opened(folder, job={}, resume=True):
        assert sorted(file.name for file in folder.iterdir()) == ["job.json", "labels.json"]


def test_a_run_killed_before_it_said_its_job_leaves_a_folder_for_the_next(tmp_path):
    (tmp_path / ".job.json.1.part").touch()
    with Scratch.opened(tmp_path, job={"a": 1}):
        assert [file.name for file in tmp_path.iterdir()] == ["job.json"]


def test_a_folder_in_use_is_left_alone(tmp_path):
    folder, link = tmp_path / "scratch", tmp_path / "link"
    link.symlink_to(folder)
    with Scratch.opened(folder, job={}) as scratch:
        scratch.save("cells/order", np.arange(3))
        for name in (folder, link):
            assert_refused("in use by another run", name, job={}, resume=True)
        assert scratch.load("cells/order").tolist() == [0, 1, 2]
    assert not folder.exists()


def test_of_a_link_the_folder_goes_and_the_link(tmp_path):
    folder, link = tmp_path / "large disk", tmp_path / "scratch"
    folder.mkdir()
    link.symlink_to(folder)
    with Scratch.opened(link, job={}) as scratch:
        scratch.save("cells/order", np.arange(3))
        assert (folder / "cells" / "order.npy").exists()
    assert not list(tmp_path.iterdir())


def test_whoever_lists_the_folder_meets_no_folder_that_vanishes(tmp_path, monkeypatch):
    made, mkdir = [], Path.mkdir

    def noted(path, *arguments, **options):
        made.append(path)
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", noted)
    with Scratch.opened(tmp_path / "scratch", job={}) as scratch:
        scratch.completed("cells", lambda: scratch.save("cells/order", np.arange(3)) or {})
        scratch.drop("cells/order")
    assert {path.name for path in made} == {"scratch", "cells"}


def test_what_is_dropped_is_not_missed_and_what_is_gone_is(tmp_path):
    scratch = Scratch(tmp_path)

    def work() -> dict[str, int]:
        for name in "abc":
            scratch.save(f"cells/{name}", np.arange(3))
        return {"n": 3}

    scratch.completed("cells", work)
    known = scratch.identity_of("cells")
    scratch.drop("cells/a")
    assert scratch.completed("cells", dict) == {"n": 3}
    assert scratch.identity_of("cells") == known
    scratch.path("cells/b").unlink()
    with pytest.raises(ScratchError, match=r"b\.npy: is missing"):
        scratch.completed("cells", dict)
    with pytest.raises(ScratchError, match=r"b\.npy: cannot be read"):
        scratch.load("cells/b")


def test_a_stage_made_from_something_else_is_told(tmp_path):
    scratch = Scratch(tmp_path)
    scratch.completed("cells", dict, made_from={"points": 64 * "0", "alpha": 0.5})
    scratch.completed("cells", dict, made_from={"points": 64 * "0", "alpha": 0.5})
    with pytest.raises(ScratchError, match=r"\(cells: alpha \(0.5, now 1.0\), points\)"):
        scratch.completed("cells", dict, made_from={"points": 64 * "1", "alpha": 1.0})


@pytest.mark.parametrize(
    "mine",
    [
        "letters.txt",
        "points/x.npy",
        "graph/edges.csv",
        ".map.img.1.part/old",
        ".map.1.part",
        "job.json",
    ],
)
@pytest.mark.parametrize("way", ["new", "resumed", "kept", "fitted"])
def test_a_foreign_folder_is_not_touched(tmp_path, mine, way):
    file = tmp_path / mine
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    ways = {
        "new": lambda: Scratch.opened(tmp_path, job={}).__enter__(),
        "resumed": lambda: Scratch.opened(tmp_path, job={}, resume=True).__enter__(),
        "kept": lambda: Scratch.kept(tmp_path),
        "fitted": lambda: BlockClassifier(scratch=tmp_path).fit(np.eye(4), [0, 1, -1, -1]),
    }
    with pytest.raises(ScratchError, match="name a new folder for scratch files") as said:
        ways[way]()
    assert "remove" not in str(said.value)
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [file]
    assert file.read_text() == "mine"


def test_a_folder_that_is_kept_is_one_of_scratch_files(tmp_path):
    (tmp_path / ".job.json.1.part").touch()  # a process was killed here
    Scratch.kept(tmp_path).save("points/points", np.arange(3))
    assert Scratch.kept(tmp_path).load("points/points").tolist() == [0, 1, 2]


@pytest.mark.parametrize("mib", [1, 64])
def test_a_full_disk_is_an_error_and_no_signal(disk_of, mib):
    scratch = Scratch(disk_of("512k"))
    with pytest.raises(DataError, match=r"no room for .* choose another folder"):
        scratch.create("features/points", (mib * 2**18,), np.float32)[:] = 1
    assert not list(scratch.folder.glob("**/*.npy"))
    scratch.create("features/points", (2**16,), np.float32)[:] = 1
    with pytest.raises(DataError, match="no space is left for scratch files"):
        scratch.save("cells/points", np.ones(2**17, dtype=np.float32))
    assert [file.name for file in scratch.folder.glob("*/*")] == ["points.npy"]
    assert (scratch.load("features/points") == 1).all()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize(
    "write",
    [
        lambda scratch: scratch.save("cells/points", np.ones(3)),
        lambda scratch: scratch.completed("cells", dict),
    ],
    ids=["array", "facts"],
)
def test_a_full_disk_names_the_folder_of_scratch_files(tmp_path, monkeypatch, write, code):
    def full(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "open", full)
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(DataError, match=f"{tmp_path}: no space is left for scratch files"):
        write(Scratch(tmp_path))
    assert not [file for file in tmp_path.glob("**/*") if file.is_file()]


@pytest.mark.parametrize(
    "array",
    [
        np.array(3),
        np.empty((5, 0), dtype=np.float32),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12)[::2],
        np.array([True, False]),
    ],
    ids=["scalar", "empty", "transposed", "strided", "bool"],
)
def test_arrays_come_back_as_they_were(tmp_path, array):
    scratch = Scratch(tmp_path)
    scratch.save("stage/array", array)
    found = scratch.load("stage/array")
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
