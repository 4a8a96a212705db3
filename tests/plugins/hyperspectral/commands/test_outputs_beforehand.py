"""Outputs that cannot work are refused before anything is computed."""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile

import numpy as np
import pytest

from diffclass import DiffusionMap
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import check_map
from diffclass.system.output import replacing, require_writable
from diffclass_hyperspectral.io.maps import map_files


def refused(path, says, **options):
    with pytest.raises(ParameterError, match=says):
        require_writable(path, **options)


def test_links_that_lead_nowhere_exist(tmp_path):
    (tmp_path / "map.npy").symlink_to(tmp_path / "gone.npy")
    refused(tmp_path / "map.npy", "exists")
    require_writable(tmp_path / "map.npy", overwrite=True)


def test_loops_of_links(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refused(tmp_path / "a" / "map.npy", "levels of symbolic links")


@pytest.mark.parametrize("length", [240, 255, 400])
def test_names_that_are_too_long(tmp_path, length):
    refused(tmp_path / ("m" * (length - 4) + ".npy"), "shorter|too long")


def test_the_longest_name_can_be_written(tmp_path):
    longest = os.pathconf(tmp_path, "PC_NAME_MAX") - 24
    path = tmp_path / ("m" * (longest - 4) + ".npy")
    with replacing(path) as temporary:
        temporary.write_text("x")
    assert path.read_text() == "x"


def failing(code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EDQUOT])
def test_folders_that_cannot_be_written(tmp_path, monkeypatch, code):
    monkeypatch.setattr(tempfile, "TemporaryFile", failing(code))
    refused(tmp_path / "map.npy", f"no file can be made in .*{os.strerror(code)}")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a system without /proc")
def test_folders_that_take_no_file_whatever_the_rights_say():
    refused("/proc/map.npy", "no file can be made in /proc")


def test_trying_leaves_nothing(tmp_path):
    require_writable(tmp_path / "map.npy")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_names_the_file(tmp_path, code):
    with pytest.raises(DataError, match=r"map\.npy: no room left"), replacing(tmp_path / "map.npy"):
        failing(code)()
    assert not list(tmp_path.iterdir())


def test_a_disk_without_room_for_another_name(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "mkdir", failing(errno.ENOSPC))
    with pytest.raises(DataError, match=r"map\.npy: no room left"), replacing(tmp_path / "map.npy"):
        raise AssertionError("nothing can be written")


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("map.tif", "rasterio", "maps"),
        ("map.png", "matplotlib.figure", "plots"),
        ("map.img", "spectral.io.envi", "hyperspectral"),
    ],
)
def test_missing_extras_of_outputs(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ParameterError, match=rf"diffclass\[{extra}\]"):
        map_files.check_outputs([tmp_path / name], [], [])
    if name.endswith(".png"):
        with pytest.raises(ParameterError, match="plots"):
            map_files.check_outputs([], [tmp_path / name], [])


def test_ranges_of_an_embedding(monkeypatch):
    points = np.random.default_rng(0).random((60, 3))
    with monkeypatch.context() as before:
        before.setattr("diffclass.embedding.PointGraph.from_points", lambda *_, **__: 1 / 0)
        with pytest.raises(ParameterError) as found:
            DiffusionMap(2, n_neighbors=8, bandwidth=1e-30).fit(points)
    assert "reaches no neighbour of 100% of the points" in str(found.value)
    low, high = re.search(r"take (\S+) to (\S+), in squared units", str(found.value)).groups()
    assert 0 < float(low) < 0.1 < 1 < float(high) < 3
    DiffusionMap(2, n_neighbors=8, bandwidth=float(low)).fit(points)
    with pytest.raises(ParameterError, match="alpha"):
        check_map(DiffusionMap(2, alpha=1e308), 60)
    DiffusionMap(2, n_neighbors=8, bandwidth=0.1).fit(points)


def test_a_time_at_which_all_coordinates_are_zero():
    points = np.random.default_rng(0).random((60, 3))
    with pytest.raises(ParameterError, match=r"time = 1e\+308: .* all coordinates are 0") as found:
        DiffusionMap(2, n_neighbors=8, time=1e308).fit(points)
    latest = float(re.search(r"take at most (\S+)", str(found.value))[1])
    model = DiffusionMap(2, n_neighbors=8, time=0.99 * latest).fit(points)
    assert np.abs(model.embedding_).max() > 0
