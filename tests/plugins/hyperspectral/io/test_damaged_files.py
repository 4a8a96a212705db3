"""Damaged headers: a reader either reads the file or says what is wrong with it."""

from __future__ import annotations

import io
import re
import tracemalloc
import warnings
import zipfile
import zlib
from functools import partial

import numpy as np
import pytest
import scipy.io

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import open_scene, read_labels

from ..fuzz_files import LABEL_FILES, SCENE_FILES
from ..writers import refuses
from .test_geotiff import write_tiff
from .test_vector_labels import SCENE

CUBE = np.random.default_rng(0).integers(0, 900, (6, 5, 4)).astype(np.int16)
IDS = CUBE[:, :, 0].astype(np.uint8) % 3
ATTEMPTS = 25
HEADER_BYTES = 2500


def scene_of(path):
    scene = open_scene(path)
    scene.describe()
    scene.spectra(slice(0, 2))


SCENES = {
    kind: SCENE_FILES[kind]
    for kind in ("ENVI bip", "LAN", "GeoTIFF of floats", "GeoTIFF in tiles", "MATLAB", "MATLAB 7.3",
                 "NumPy", "EMIT", "PRISMA", "EnMAP by its XML", "EnMAP by its image")
}  # fmt: skip
LABELS = {
    kind: LABEL_FILES[kind]
    for kind in ("ENVI", "grey PNG", "GeoTIFF", "GeoJSON", "shapefile", "GeoPackage")
}


def mutated(raw, rng):
    """Change one place of the header: a number, some bytes, a piece removed or doubled."""
    head, tail = bytearray(raw[:HEADER_BYTES]), raw[HEADER_BYTES:]
    place, length = int(rng.integers(len(head))), int(rng.integers(1, 9))
    kind = rng.integers(5)
    numbers = list(re.finditer(rb"\d+", bytes(head)))
    if kind == 0 and numbers:
        found = numbers[rng.integers(len(numbers))]
        new = (b"0", b"-1", b"99999999999", b"nan", b"1e9", b"x")[rng.integers(6)]
        head[found.start() : found.end()] = new
    elif kind == 1:
        del head[place : place + length]
    elif kind == 2:
        head[place:place] = head[place : place + length]
    elif kind == 3:
        head[place : place + length] = head[place : place + length][::-1]
    else:
        head[place : place + length] = rng.bytes(length)
    return bytes(head) + tail


def refusal(read, path):
    """Read, and return the error that says why not, or None; any other exception passes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            read(path)
    except (DataError, ParameterError) as error:
        return str(error)
    return None


def damage_many(path, read, *, seed, attempts=ATTEMPTS):
    """Return what was said about damaged copies; the file itself has to be readable."""
    raw = path.read_bytes()
    assert refusal(read, path) is None
    rng = np.random.default_rng(seed)
    said = []
    for _ in range(attempts):
        path.write_bytes(mutated(raw, rng))
        said.append(refusal(read, path))
    return [message for message in said if message is not None]


@pytest.mark.parametrize("kind", SCENES)
def test_damaged_scenes(tmp_path, kind):
    for message in damage_many(SCENES[kind](tmp_path)[0], scene_of, seed=1):
        assert "\n" not in message
        assert str(tmp_path) in message


@pytest.mark.parametrize("kind", LABELS)
def test_damaged_labels(tmp_path, kind):
    path = LABELS[kind](tmp_path)[0]
    for message in damage_many(path, lambda place: read_labels(place, grid=SCENE), seed=2):
        assert "\n" not in message
        assert str(tmp_path) in message


@pytest.mark.parametrize(
    "suffix",
    [".mat", ".npy", ".hdr", ".lan", ".png", ".img", ".txt", ".tif", ".nc", ".he5", ".h5", ".xml",
     ".geojson", ".gpkg", ".shp"],
)  # fmt: skip
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"\xff\xfe\x80\n", b"just some text\n" * 40, b"\x89HDF\r\n\x1a\n"],
)
def test_other_content_under_a_known_name(tmp_path, suffix, content):
    path = tmp_path / f"METADATA{suffix}"
    path.write_bytes(content)
    refuses(partial(read_labels, grid=SCENE), path)
    if suffix not in {".geojson", ".gpkg", ".shp"}:
        refuses(open_scene, path)


def test_a_tiff_under_the_name_of_another_format(tmp_path):
    path = write_tiff(tmp_path / "scene.tif", CUBE)
    for name in ("scene.nc", "scene.img", "scene.png"):
        path = path.rename(tmp_path / name)
        np.testing.assert_array_equal(open_scene(path).data, CUBE)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_matlab_type_that_would_end_the_process(tmp_path, compressed):
    path = tmp_path / "scene.mat"
    scipy.io.savemat(path, {"cube": CUBE}, do_compression=compressed)
    raw = path.read_bytes()
    body = raw[128:] if not compressed else zlib.decompress(raw[136:])
    place = body.index(b"cube") + 4
    for kind in (0, 8, 10, 11, 14, 15, 19, 200, 2**31):
        new = body[:place] + kind.to_bytes(4, "little") + body[place + 4 :]
        if compressed:
            packed = zlib.compress(new)
            new = (15).to_bytes(4, "little") + len(packed).to_bytes(4, "little") + packed
        path.write_bytes(raw[:128] + new)
        with pytest.raises(DataError, match=r"scene\.mat"):
            open_scene(path)
    path.write_bytes(raw)
    np.testing.assert_array_equal(open_scene(path).data, CUBE)


def test_damaged_tags_of_a_tiff_print_nothing(tmp_path, capfd):
    """GDAL repeats the damaged bytes in a message that rasterio cannot decode."""
    path, shape = SCENE_FILES["GeoTIFF"](tmp_path)
    data = path.read_bytes()
    damaged = data.replace(b'sample="1">', b"sample=\xff\xff\xff\xff")
    assert damaged != data
    path.write_bytes(damaged)
    assert open_scene(path).shape[:2] == shape
    assert capfd.readouterr() == ("", "")


def entry(data, *, deflated):
    """A .npz archive of one entry of these bytes."""
    made = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", how) as file:
        file.writestr("cube.npy", data)
    return made.getvalue()


@pytest.mark.parametrize("deflated", [False, True])
def test_an_archive_that_claims_more_than_it_holds(tmp_path, deflated):
    """Refused before so much is allocated; of another one only the array asked for is read."""
    made = io.BytesIO()
    np.lib.format.write_array(made, CUBE)
    header = made.getvalue()[: -CUBE.nbytes]
    shape = str(CUBE.shape).encode()
    large = header.replace(shape, b"(60000, 50000, 40)".ljust(len(shape)), 1)
    large = large.replace(b" " * (len(large) - len(header)) + b"\n", b"\n", 1)
    path = tmp_path / "scene.npz"
    path.write_bytes(entry(large + CUBE.tobytes(), deflated=deflated))
    tracemalloc.start()
    message = refusal(scene_of, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "its header" in message
    assert peak < 10_000_000
    np.savez(path, cube=CUBE, other=np.zeros((3000, 3000)), text=np.array(["a"]))
    tracemalloc.start()
    np.testing.assert_array_equal(open_scene(path, variable="cube").data, CUBE)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
@pytest.mark.parametrize("content", ["text", "objects"])
def test_no_advice_to_load_python_objects(tmp_path, name, content):
    """NumPy advises to trust the file, which may run any code."""
    path, objects = tmp_path / name, np.array([{}, 1], dtype=object)
    if content == "text":
        path.write_text("rows and columns of a table\n")
    elif name == "a.npy":
        np.save(path, objects, allow_pickle=True)
    else:
        np.savez(path, scene=objects)
    for read in (open_scene, read_labels):
        with pytest.raises(DataError, match=rf"{name}: .*(never loaded|no numeric array)") as error:
            read(path)
        assert "pickle" not in str(error.value)
