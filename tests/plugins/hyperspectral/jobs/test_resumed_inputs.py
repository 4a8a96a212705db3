"""A killed run goes on with the same inputs alone: what has changed in between is named."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import rasterio
import scipy.io
from rasterio.transform import from_origin

from diffclass.blocks import block_classifier
from diffclass.command_line.main import run
from diffclass_hyperspectral import Scene

ROWS, COLUMNS, BANDS = 30, 24, 12
# as (options, files that are scenes)
CALL = ["--labels", "labels.npy", "-o", "map.npy", "--memory", "580MB", "--scratch", "kept", "-q"]


@pytest.fixture(autouse=True)
def small_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 400)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 200)
    monkeypatch.setattr("diffclass.system.costs._TO_LOAD", 10**9)
    np.save("labels.npy", labels(0))


def cube(seed: int = 0) -> np.ndarray:
    rows, columns = np.indices((ROWS, COLUMNS))
    means = np.random.default_rng(7).uniform(1000, 4000, size=(4, BANDS))
    noise = np.random.default_rng(seed).normal(scale=100, size=(ROWS, COLUMNS, BANDS))
    return (means[(rows // 15) * 2 + columns // 12] + noise).astype(np.int16)


def labels(first: int) -> np.ndarray:
    rows, columns = np.indices((ROWS, COLUMNS))
    truth = 1 + (rows // 15) * 2 + columns // 12
    return np.where((rows + 3 * columns) % 41 == first, truth, 0).astype(np.uint8)


def geotiff(path: str, values: np.ndarray, column: int = 0) -> None:
    place = {"crs": "EPSG:32632", "transform": from_origin(500_000 + 10 * column, 5e6, 10, 10)}
    shape = {"height": values.shape[0], "width": values.shape[1], "count": values.shape[2]}
    with rasterio.open(path, "w", driver="GTiff", dtype=values.dtype, **shape, **place) as file:
        file.write(np.moveaxis(values, 2, 0))


def tiles(first: int, second: int, name: str = "right.tif") -> None:
    geotiff("left.tif", cube(first)[:, :12])
    geotiff(name, cube(second)[:, 12:], column=12)


def envi(seed: int = 0, **changed: str) -> None:
    Path("scene.img").write_bytes(cube(seed).tobytes())
    facts = {
        "samples": COLUMNS, "lines": ROWS, "bands": BANDS, "header offset": 0, "data type": 2,
        "interleave": "bip", "byte order": 0, "reflectance scale factor": 10000,
        "data ignore value": -9999, "bbl": f"{{{','.join(['1'] * BANDS)}}}",
    } | {key.replace("_", " "): value for key, value in changed.items()}  # fmt: skip
    lines = [f"{key} = {value}" for key, value in facts.items()]
    Path("scene.hdr").write_text("\n".join(["ENVI", *lines]) + "\n")


def hdf5(path: str, **arrays: np.ndarray) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values.T


def zarr(seed: int) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    found = xarray.DataArray(np.moveaxis(cube(seed), 2, 0), dims=("band", "y", "x"), name="cube")
    found.to_zarr("scene.zarr", mode="w")


def region(first: int) -> None:
    mask = np.zeros((ROWS, COLUMNS), np.uint8)
    mask[first : first + 3] = 1
    np.save("mask.npy", mask)
    np.save("scene.npy", cube())


BADBAND = f"{{{','.join(['0'] + ['1'] * (BANDS - 1))}}}"
# made before and after the kill, scenes with options before and after, what is named
CHANGES = {
    "npy": (
        lambda: np.save("scene.npy", cube()), lambda: np.save("scene.npy", cube(1)),
        ["scene.npy"], None, "values",
    ),
    "npy, one value": (
        lambda: np.save("scene.npy", cube()),
        lambda: np.lib.format.open_memmap("scene.npy", mode="r+").__setitem__((3, 4, 5), 1),
        ["scene.npy"], None, "values",
    ),
    "mat": (
        lambda: scipy.io.savemat("s.mat", {"cube": cube()}),
        lambda: scipy.io.savemat("s.mat", {"cube": cube(1)}), ["s.mat"], None, "values",
    ),
    "mat 7.3": (
        lambda: hdf5("s.mat", cube=cube()), lambda: hdf5("s.mat", cube=cube(1)),
        ["s.mat"], None, "values",
    ),
    "npz": (
        lambda: np.savez("s.npz", cube=cube()), lambda: np.savez("s.npz", cube=cube(1)),
        ["s.npz"], None, "values",
    ),
    "GeoTIFF": (
        lambda: geotiff("s.tif", cube()), lambda: geotiff("s.tif", cube(1)),
        ["s.tif"], None, "values",
    ),
    "first tile": (
        lambda: tiles(0, 0), lambda: tiles(1, 0), ["left.tif", "right.tif"], None, "values",
    ),
    "second tile": (
        lambda: tiles(0, 0), lambda: tiles(0, 1), ["left.tif", "right.tif"], None, "values",
    ),
    "another second tile": (
        lambda: tiles(0, 0), lambda: tiles(0, 1, "other.tif"),
        ["left.tif", "right.tif"], ["left.tif", "other.tif"], "values",
    ),
    "Zarr": (lambda: zarr(0), lambda: zarr(1), ["scene.zarr"], None, "values"),
    "variable": (
        lambda: np.savez("s.npz", a=cube(), b=cube(1)), lambda: None,
        ["s.npz", "--variable", "a"], ["s.npz", "--variable", "b"], "values",
    ),
    "interleave": (envi, lambda: envi(interleave="bil"), ["scene.hdr"], None, "values"),
    "byte order": (envi, lambda: envi(byte_order="1"), ["scene.hdr"], None, "values"),
    "scale": (
        envi, lambda: envi(reflectance_scale_factor="1000"), ["scene.hdr"], None,
        "scale (10000.0, now 1000.0)",
    ),
    "no data": (
        envi, lambda: envi(data_ignore_value="0"), ["scene.hdr"], None, "no data (-9999.0, now 0.0",
    ),
    "bad bands": (envi, lambda: envi(bbl=BADBAND), ["scene.hdr"], None, "bands in use"),
    "type": (envi, lambda: envi(data_type="12"), ["scene.hdr"], None, "type (int16, now uint16"),
    "mask": (
        lambda: region(0), lambda: region(9), ["scene.npy", "--mask", "mask.npy"], None,
        "pixels in use",
    ),
    "bands": (
        lambda: np.save("scene.npy", cube()), lambda: None,
        ["scene.npy"], ["scene.npy", "--bands", "2-12"], "bands in use",
    ),
    "neighbors": (
        lambda: np.save("scene.npy", cube()), lambda: None,
        ["scene.npy"], ["scene.npy", "--neighbors", "9"], "n_neighbors (12, now 9)",
    ),
    "seed": (
        lambda: np.save("scene.npy", cube()), lambda: None,
        ["scene.npy"], ["scene.npy", "--seed", "5"], "random_state (0, now 5)",
    ),
    "kernel": (
        lambda: np.save("scene.npy", cube()), lambda: None,
        ["scene.npy"], ["scene.npy", "--kernel", "gaussian"], "kernel (",
    ),
    "components": (
        lambda: np.save("scene.npy", cube()), lambda: None,
        ["scene.npy"], ["scene.npy", "--components", "4"], "n_components (None, now 4)",
    ),
}  # fmt: skip


NOT_OF_THE_MAP = {
    "path", "format", "stamp",  # where the values are
    "wavelengths", "widths", "band_names", "map_info", "read_lookup_table",  # what they are called
}  # fmt: skip


def test_each_fact_of_a_scene_counts_or_does_not_change_the_map():
    counted = {"data", "band_mask", "ignore_value", "scale_factor", "region"}  # above
    assert counted | NOT_OF_THE_MAP == {field.name for field in fields(Scene)}


def killed(arguments: list[str], monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(block_classifier, "diffuse_in_blocks", None)
        assert run(["classify", *arguments, *CALL]) == 1
    assert Path("kept/operator.json").exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_named(change, monkeypatch, capsys):
    make, make_again, before, after, named = CHANGES[change]
    make()
    killed(before, monkeypatch)
    make_again()
    capsys.readouterr()
    assert run(["classify", *(after or before), *CALL, "--resume"]) == 3
    said = capsys.readouterr().err
    assert named in said
    assert re.search(r"kept holds a run with other inputs or parameters .* --resume out", said)
    assert "go on with --resume" not in said
    assert not Path("map.npy").exists()


@pytest.mark.filterwarnings("ignore")
def test_the_same_values_elsewhere_and_other_labels_go_on(monkeypatch):
    np.save("scene.npy", cube())
    killed(["scene.npy"], monkeypatch)
    np.save("moved.npy", cube())
    np.save("labels.npy", labels(1))
    call = [*CALL, "--overwrite"]
    with monkeypatch.context() as patched:
        patched.setattr("diffclass.blocks.build.make_blocks", None)  # it is taken over
        assert run(["classify", "moved.npy", *call, "--resume", "--memory", "600MB"]) == 0
    resumed = np.load("map.npy")
    assert run(["classify", "moved.npy", *call]) == 0
    np.testing.assert_array_equal(np.load("map.npy"), resumed)


@pytest.mark.filterwarnings("ignore")
def test_files_damaged_between_kill_and_resume_are_named_or_made_again(monkeypatch, capsys):
    np.save("scene.npy", cube())
    call = ["classify", "scene.npy", *CALL, "--overwrite"]
    assert run(call) == 0
    known = np.load("map.npy")
    killed(["scene.npy", "--overwrite"], monkeypatch)
    whole = {path: path.read_bytes() for path in Path("kept").rglob("*") if path.is_file()}
    random, refused = np.random.default_rng(0), 0
    for path, content in whole.items():
        for other in whole:
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_bytes(whole[other])
        kind = random.choice(["bits", "cut", "gone"])
        changed = bytearray(content if kind == "bits" else content[: len(content) // 2])
        for k in random.integers(len(changed), size=20 if kind == "bits" else 0):
            changed[k] ^= 4
        os.remove(path) if kind == "gone" else path.write_bytes(changed)
        capsys.readouterr()
        code = run([*call, "--resume"])
        if code == 0:
            np.testing.assert_array_equal(np.load("map.npy"), known)
        else:
            assert code == 3
            assert "kept" in capsys.readouterr().err
            refused += 1
    assert refused > len(whole) / 2
