"""Files that are cut, swapped, renamed or of another kind, and numbers out of range.

What a file or an option claims is either used or refused in one line, before anything is computed.
`test_damaged_files` changes headers byte by byte; here whole files are wrong.
"""

from __future__ import annotations

import shutil
import warnings

import h5py
import numpy as np
import pytest
import rasterio
import scipy.io

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import LabelImage, Scene, open_scene, read_labels

from ..fuzz_files import LABEL_FILES, SCENE_FILES
from ..products import write_aviris3, write_neon, write_pace, write_tanager
from ..writers import save_envi
from .test_damaged_files import CUBE, IDS, LABELS, SCENES, refusal, scene_of
from .test_geotiff import write_tiff
from .test_vector_labels import SCENE, write

SUFFIXES = (".hdr", ".img", ".lan", ".tif", ".mat", ".npy", ".nc", ".he5", ".png", ".shp", ".txt")
SIDE = 12


def labels_of(path):
    labels = read_labels(path, grid=SCENE)
    labels.counts()


def pixels(path):
    scene_of(path)
    np.asarray(open_scene(path).data)


def refused(read, path):
    """A refusal of one line that names the file."""
    message = refusal(read, path)
    assert message is None or ("\n" not in message and path.name.split(".")[0] in message), message
    return message


# Whole files


def in_scene_file(write):
    return lambda folder: (folder / "scene.h5", write(folder / "scene.h5"))


TILED = {"tiled": True, "blockxsize": 16, "blockysize": 16}
LARGE = np.random.default_rng(1).integers(0, 3000, (20, 20, 10)).astype(np.int16)
CUT = SCENES | {
    "MATLAB compressed": SCENE_FILES["MATLAB compressed"],
    "large GeoTIFF": lambda folder: (write_tiff(folder / "scene.tif", LARGE), None),
    "large GeoTIFF in tiles": lambda folder: (write_tiff(folder / "scene.tif", LARGE, **TILED), 0),
    **{write.__name__: in_scene_file(write) for write in (write_pace, write_neon, write_tanager,
                                                          write_aviris3)},
}  # fmt: skip


@pytest.mark.parametrize("kind", CUT)
def test_scenes_cut_anywhere(tmp_path, kind):
    path = CUT[kind](tmp_path)[0]
    cut = path.with_suffix(".img") if kind == "ENVI bip" else path
    raw = cut.read_bytes()
    lengths = np.random.default_rng(3).integers(2, len(raw) - 1, 8)
    for length in [0, 1, *lengths, *(int(k * len(raw)) for k in (0.001, 0.02, 0.5, 0.7, 0.95))]:
        cut.write_bytes(raw[:length])
        message = refused(pixels, path)
        # XML is only a list of facts, and a small GeoTIFF may lack its coordinates alone
        may_lack = 0.5 if kind.startswith("GeoTIFF") else 0.04
        assert message or kind == "EnMAP by its XML" or length > (1 - may_lack) * len(raw)


@pytest.mark.parametrize("kind", [*LABELS, "palette PNG"])
def test_labels_cut_anywhere(tmp_path, kind):
    path = LABEL_FILES[kind](tmp_path)[0]
    raw = path.read_bytes()
    of_shapes = kind in ("GeoJSON", "shapefile", "GeoPackage")
    lengths = np.random.default_rng(4).integers(2, len(raw) - 1, 8)
    for length in [0, 1, *lengths, *(int(k * len(raw)) for k in (0.01, 0.1, 0.5, 0.9))]:
        path.write_bytes(raw[:length])
        message = refused(labels_of, path)
        assert message or not (of_shapes or length <= 8)


@pytest.mark.parametrize(
    "kind", sorted(SCENES.keys() - {"ENVI bip", "PRISMA", "MATLAB 7.3", "EnMAP by its XML"})
)
def test_bytes_in_the_other_order(tmp_path, kind):
    """The mark of the byte order, or every pair of bytes, is swapped."""
    path = SCENES[kind](tmp_path)[0]
    raw = path.read_bytes()
    even = raw[: len(raw) // 2 * 2]
    swapped = np.frombuffer(even, dtype="u2").byteswap().tobytes()
    halves = [swapped, raw[:512] + swapped[512:], swapped[:512] + raw[512:]]
    if raw[:2] in (b"II", b"MM"):
        halves.append((b"MM" if raw[:2] == b"II" else b"II") + raw[2:])
    if kind == "MATLAB":
        halves.append(raw[:126] + raw[126:128][::-1] + raw[128:])
    for content in halves:
        path.write_bytes(content)
        refused(scene_of, path)


@pytest.mark.parametrize("kind", [*SCENES])
def test_every_file_under_every_name(tmp_path, kind):
    path = SCENES[kind](tmp_path)[0]
    expected = np.asarray(open_scene(path).data)
    for i, suffix in enumerate(SUFFIXES):
        other = tmp_path / f"renamed{i}{suffix}"
        shutil.copyfile(path, other)
        if refused(scene_of, other) is None and not kind.startswith("EnMAP"):
            np.testing.assert_array_equal(np.asarray(open_scene(other).data), expected)
        refused(labels_of, other)
        other.unlink()


# Types that a scene cannot have

NOT_NUMBERS = {
    "complex": CUBE.astype(np.complex64),
    "text": CUBE.astype("U4"),
    "bytes": CUBE.astype("S4"),
    "times": CUBE.astype("datetime64[s]"),
    "records": np.zeros(CUBE.shape, dtype=[("a", "i2"), ("b", "f4")]),
    "objects": CUBE.astype(object),
}


@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_arrays_of_other_types(tmp_path, kind):
    np.save(tmp_path / "array.npy", NOT_NUMBERS[kind], allow_pickle=True)
    assert refused(scene_of, tmp_path / "array.npy")
    np.save(tmp_path / "array.npy", NOT_NUMBERS[kind][..., 0], allow_pickle=True)
    assert refused(labels_of, tmp_path / "array.npy")


@pytest.mark.parametrize("kind", ["complex", "bytes", "records"])
def test_hdf5_of_other_types(tmp_path, kind):
    with h5py.File(tmp_path / "array.h5", "w") as file:
        file["cube"] = NOT_NUMBERS[kind]
    assert refused(scene_of, tmp_path / "array.h5")


@pytest.mark.parametrize("value", [{"a": CUBE}, CUBE.astype(complex), "text", [[1], "two"], []])
def test_matlab_of_other_types(tmp_path, value):
    scipy.io.savemat(tmp_path / "array.mat", {"cube": value})
    assert refused(scene_of, tmp_path / "array.mat")


def test_tiff_of_complex_numbers(tmp_path):
    facts = {"driver": "GTiff", "height": 4, "width": 5, "count": 2, "dtype": "complex64"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        with rasterio.open(tmp_path / "array.tif", "w", **facts) as file:
            file.write(np.ones((2, 4, 5), dtype=np.complex64))
    assert refused(scene_of, tmp_path / "array.tif")


@pytest.mark.parametrize("code", ["0", "6", "7", "9", "99", "-1", "two", "{4}", ""])
def test_envi_types_that_are_none(tmp_path, code):
    path = save_envi(tmp_path, CUBE)
    text = path.read_text()
    assert "data type = 2" in text
    path.write_text(text.replace("data type = 2", f"data type = {code}"))
    assert refused(scene_of, path)


@pytest.mark.parametrize("shape", [(0, 5, 4), (6, 0, 4), (6, 5, 0), (30,), (6, 5, 4, 2), ()])
def test_arrays_of_other_shapes(tmp_path, shape):
    np.save(tmp_path / "array.npy", np.ones(shape))
    assert refused(scene_of, tmp_path / "array.npy")
    assert refused(labels_of, tmp_path / "array.npy")


# Labels that do not belong to the scene


def test_more_classes_than_a_map_has_colours():
    ids = np.arange(400).reshape(20, 20)
    with pytest.raises(DataError, match=r"399 classes are labelled, more than 254"):
        LabelImage.from_array(ids).check_trainable()
    LabelImage.from_array(np.where(ids < 255, ids, 0)).check_trainable()


def test_shapes_elsewhere_and_a_field_that_is_missing(tmp_path):
    path = write(tmp_path / "labels.geojson", {"height": ["a", "b"], "width": ["c", "d"]})
    assert "field" in refused(labels_of, path)
    with pytest.raises(DataError, match="nowhere"):
        read_labels(path, grid=SCENE, variable="nowhere")
    path = write(tmp_path / "labels.geojson", {"class": ["a", "b"]}, crs="EPSG:32733")
    assert "overlap" in refused(labels_of, path)


# Options, refused before the scene is read


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "scene.npy", rng.random((SIDE, SIDE, 6)))
    np.save(tmp_path / "ids.npy", 1 + np.arange(SIDE * SIDE).reshape(SIDE, SIDE) // 80)

    def read(*_):
        raise AssertionError("the scene is read before the options are checked")

    monkeypatch.setattr(Scene, "spectra", read)
    monkeypatch.setattr(Scene, "usable_bands", read)
    return tmp_path


OUT_OF_RANGE = [
    ("--tau", "0"), ("--tau", "-4"), ("--tau", "1.5"), ("--tau", "99999999999"),
    ("--max-time", "0"), ("--max-time", "-1"),
    ("--neighbors", "0"), ("--neighbors", "-3"), ("--neighbors", str(SIDE * SIDE)),
    ("--neighbors", str(2**70)), ("--components", "0"), ("--components", "-2"),
    ("--metric", "cosine"), ("--features", "x"), ("--rounds", "-1"), ("--kernel", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("option", "value"), OUT_OF_RANGE)
@pytest.mark.parametrize("command", ["classify", "suggest"])
def test_options_out_of_range(files, capsys, command, option, value):
    out = files / ("map.npy" if command == "classify" else "out.csv")
    words = [command, str(files / "scene.npy"), "--labels", str(files / "ids.npy")]
    assert run([*words, "-o", str(out), "-q", option, value]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    name = option.strip("-").replace("-", "_")
    assert name in said or name in said.replace("-", "_")
    assert "Traceback" not in said
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--neighbors", "0"), ("--components", "0"), ("--components", str(SIDE * SIDE)),
        ("--alpha", "-1"), ("--alpha", "nan"), ("--time", "-1"), ("--time", "inf"),
        ("--bandwidth", "0"), ("--bandwidth", "-2"), ("--bandwidth", "nan"), ("--metric", "x"),
    ],
)  # fmt: skip
def test_options_of_embed_out_of_range(files, capsys, option, value):
    words = ["embed", str(files / "scene.npy"), "-o", str(files / "out.npy"), "-q"]
    assert run([*words, option, value]) == 2
    assert option.strip("-") in capsys.readouterr().err.strip().splitlines()[-1]
    assert not (files / "out.npy").exists()


@pytest.mark.parametrize("option", [("--labels-per-class", "0"), ("--holdout", "x")])
def test_holdouts_out_of_range(files, option):
    words = ["classify", str(files / "scene.npy"), "--labels", str(files / "ids.npy")]
    assert run([*words, "-o", str(files / "map.npy"), "-q", *option]) == 2


def test_labels_that_are_a_measurement(files, capsys):
    cube = np.arange(400.0).reshape(20, 20, 1) + np.zeros(3)
    np.save(files / "cube.npy", cube)
    np.save(files / "band.npy", cube[..., 0])
    words = ["classify", str(files / "cube.npy"), "--labels", str(files / "band.npy")]
    assert run([*words, "-o", str(files / "map.npy"), "-q"]) == 3
    assert "399 classes" in capsys.readouterr().err


def test_parameters_by_name():
    from diffclass import DiffusionClassifier, StoppingRule
    from diffclass_hyperspectral.jobs.classification import classify_scene

    scene = Scene.from_array(np.random.default_rng(0).random((6, 5, 4)))
    labels = LabelImage.from_array(IDS)
    for value in (0, -1, 2.5, True):
        for name, given in (
            ("n_neighbors", value), ("tau", value), ("tau", StoppingRule(max_time=value))
        ):  # fmt: skip
            with pytest.raises(ParameterError, match=name):
                classify_scene(scene, labels, classifier=DiffusionClassifier(**{name: given}))
    for name in ("n_neighbors", "tau"):
        with pytest.raises(ParameterError, match=name):
            classify_scene(scene, labels, classifier=DiffusionClassifier(**{name: None}))
