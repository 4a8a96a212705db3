"""A killed run goes on with the same inputs alone: what has changed in between is named."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
import rasterio
import scipy.io
import xarray
from rasterio.transform import from_origin

from diffclass.blocks import block_classifier
from diffclass.command_line.main import run
from diffclass_hyperspectral import Scene

ROWS, COLUMNS, BANDS = 30, 24, 12
# as (options, files that are scenes)
CALL = ["--labels", "labels.npy", "-o", "map.npy", "--memory", "580MB", "--scratch", "kept", "-q"]
CALL += ["--tau", "16"]  # no time is searched for


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
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values.T


def zarr(seed: int) -> None:
    found = xarray.DataArray(np.moveaxis(cube(seed), 2, 0), dims=("band", "y", "x"), name="cube")
    found.to_zarr("scene.zarr", mode="w")


def region(first: int) -> None:
    mask = np.zeros((ROWS, COLUMNS), np.uint8)
    mask[first : first + 3] = 1
    np.save("mask.npy", mask)
    np.save("scene.npy", cube())


def npy(seed: int = 0) -> None:
    np.save("scene.npy", cube(seed))


def one_value() -> None:
    np.lib.format.open_memmap("scene.npy", mode="r+")[3, 4, 5] = 1


def nothing() -> None:
    pass


BADBAND = f"{{{','.join(['0'] + ['1'] * (BANDS - 1))}}}"
BOTH_TILES = ["left.tif", "right.tif"]
# made before and after the kill, scenes with options before and after, what is named
CHANGES = {
    "npy": (npy, lambda: npy(1), ["scene.npy"], None, "values"),
    "npy, one value": (npy, one_value, ["scene.npy"], None, "values"),
    **{
        f"{kind}": (partial(save, 0), partial(save, 1), [path], None, "values")
        for kind, path, save in (
            ("mat", "s.mat", lambda seed: scipy.io.savemat("s.mat", {"cube": cube(seed)})),
            ("mat 7.3", "s.mat", lambda seed: hdf5("s.mat", cube=cube(seed))),
            ("npz", "s.npz", lambda seed: np.savez("s.npz", cube=cube(seed))),
            ("GeoTIFF", "s.tif", lambda seed: geotiff("s.tif", cube(seed))),
            ("Zarr", "scene.zarr", zarr),
        )
    },
    "first tile": (lambda: tiles(0, 0), lambda: tiles(1, 0), BOTH_TILES, None, "values"),
    "second tile": (lambda: tiles(0, 0), lambda: tiles(0, 1), BOTH_TILES, None, "values"),
    "another second tile": (
        lambda: tiles(0, 0), lambda: tiles(0, 1, "other.tif"), BOTH_TILES,
        ["left.tif", "other.tif"], "values",
    ),
    "variable": (
        lambda: np.savez("s.npz", a=cube(), b=cube(1)), nothing,
        ["s.npz", "--variable", "a"], ["s.npz", "--variable", "b"], "values",
    ),
    **{
        f"ENVI, {name}": (envi, partial(envi, **changed), ["scene.hdr"], None, named)
        for name, changed, named in (
            ("interleave", {"interleave": "bil"}, "values"),
            ("byte order", {"byte_order": "1"}, "values"),
            ("scale", {"reflectance_scale_factor": "1000"}, "scale (10000.0, now 1000.0)"),
            ("no data", {"data_ignore_value": "0"}, "no data (-9999.0, now 0.0"),
            ("bad bands", {"bbl": BADBAND}, "bands in use"),
            ("type", {"data_type": "12"}, "type (int16, now uint16"),
        )
    },
    "mask": (
        lambda: region(0), lambda: region(9), ["scene.npy", "--mask", "mask.npy"], None,
        "pixels in use",
    ),
    **{
        option: (npy, nothing, ["scene.npy"], ["scene.npy", f"--{option}", value], named)
        for option, value, named in (
            ("bands", "2-12", "bands in use"),
            ("neighbors", "9", "n_neighbors (12, now 9)"),
            ("seed", "5", "random_state (0, now 5)"),
            ("kernel", "gaussian", "kernel ("),
            ("components", "4", "n_components (None, now 4)"),
        )
    },
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
