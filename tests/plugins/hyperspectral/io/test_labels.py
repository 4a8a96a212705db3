from __future__ import annotations

import re
import struct
import warnings
import zlib
from functools import partial

import numpy as np
import pytest
import scipy.io
import spectral.io.envi as envi
from PIL import Image

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import ClassTable, LabelImage, Scene, read_labels, write_class_map
from diffclass_hyperspectral.io.labels.class_table import default_color

from ..writers import refuses, save_mat73, write_lan

IDS = np.array([[0, 1, 10], [14, 10, 0]], dtype=np.uint8)


fails = partial(refuses, read_labels)


def test_envi_classification_names_and_colors(tmp_path):
    ids = np.array([[0, 1, 2], [2, 2, 0]], dtype=np.uint8)
    colors = [(1, 2, 3), (200, 100, 50), (9, 8, 7), (5, 5, 5)]
    names = ["none", "corn", "soy", "oats"]
    path = str(tmp_path / "labels.hdr")
    envi.save_classification(path, ids, class_names=names, class_colors=colors)
    labels = read_labels(tmp_path / "labels.hdr")
    np.testing.assert_array_equal(labels.ids, ids)
    assert labels.ids.dtype == np.int32
    declared = list(zip(range(4), names, colors, strict=True))  # also oats, which are absent
    assert [(e.id, e.name, e.color) for e in labels.table.entries] == declared
    assert labels.counts() == {1: 1, 2: 3, 3: 0}
    assert np.count_nonzero(labels.ids) == 4
    assert labels.format == "ENVI"


def test_envi_broken_class_colors_cost_only_the_colors(tmp_path):
    envi.save_classification(str(tmp_path / "labels.hdr"), IDS)
    header = tmp_path / "labels.hdr"
    text = re.sub("class lookup = {[^}]*}", "class lookup = { red }", header.read_text())
    header.write_text(text)
    assert read_labels(header).table[1].color == default_color(1)


def test_envi_ignore_value_is_unlabelled(tmp_path):
    ids = np.array([[1, 255], [2, 0]], dtype=np.uint8)
    envi.save_image(
        str(tmp_path / "labels.hdr"), ids, interleave="bsq", metadata={"data ignore value": 255}
    )
    assert read_labels(tmp_path / "labels.img").ids.tolist() == [[1, 0], [2, 0]]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float64", "bool"])
@pytest.mark.parametrize("kind", ["npy", "mat", "mat73"])
def test_arrays_of_any_type(tmp_path, kind, dtype):
    ids = IDS.astype(dtype)
    path = tmp_path / ("labels.npy" if kind == "npy" else "labels.mat")
    if kind == "npy":
        np.save(path, ids)
    elif kind == "mat":
        scipy.io.savemat(path, {"gt": ids, "n": 3, "row": np.arange(4)})
    else:
        ids = ids.astype("uint8") if dtype == "bool" else ids
        save_mat73(path, {"gt": ids})
    labels = read_labels(path)
    np.testing.assert_array_equal(labels.ids, ids)
    assert labels.table.ids == ((1,) if ids.max() == 1 else (1, 10, 14))


def test_labels_beside_the_cube_in_one_mat_file(tmp_path):
    scipy.io.savemat(tmp_path / "both.mat", {"cube": np.ones((2, 3, 4)), "gt": IDS})
    np.testing.assert_array_equal(read_labels(tmp_path / "both.mat").ids, IDS)
    fails(tmp_path / "both.mat", "(2, 3, 4)", "argmax", variable="cube")


def test_png_grey_values_and_palette_indices(tmp_path):
    Image.fromarray(IDS).save(tmp_path / "grey.png")
    grey = read_labels(tmp_path / "grey.png")
    np.testing.assert_array_equal(grey.ids, IDS)
    assert grey.table[10].color == default_color(10)
    picture = Image.fromarray(IDS)
    picture.putpalette([c for i in range(15) for c in (i, 2 * i, 3 * i)])
    picture.save(tmp_path / "palette.png")
    palette = read_labels(tmp_path / "palette.png")
    np.testing.assert_array_equal(palette.ids, IDS)
    assert palette.table.ids == (1, 10, 14)
    assert palette.table[14].color == (14, 28, 42)


def test_png_sixteen_bits_and_one(tmp_path):
    ids = np.array([[0, 300], [70, 300]], dtype=np.uint16)
    Image.fromarray(ids).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(read_labels(tmp_path / "deep.png").ids, ids)
    Image.fromarray(ids > 100).save(tmp_path / "mask.png")
    np.testing.assert_array_equal(read_labels(tmp_path / "mask.png").ids, ids > 100)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", [0, 3], ids=["grey", "palette"])
def test_png_values_of_few_bits_are_ids(tmp_path, bits, kind):
    """Written byte by byte: pillow writes none of them in grey, and reads them stretched."""
    ids = np.random.default_rng(0).integers(0, 2**bits, (5, 8))
    levels = np.arange(bits)[::-1]
    rows = np.packbits((ids[..., None] >> levels & 1).astype(np.uint8).reshape(5, -1), axis=1)
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", 8, 5, bits, kind, 0, 0, 0),
        b"PLTE": bytes(3 * 2**bits),
        b"IDAT": zlib.compress(np.pad(rows, ((0, 0), (1, 0))).tobytes()),
        b"IEND": b"",
    }
    whole = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts.items()
        if kind or name != b"PLTE"
    )
    (tmp_path / "few.png").write_bytes(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the largest number of a byte
        np.testing.assert_array_equal(read_labels(tmp_path / "few.png").ids, ids)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "u4", "i8", "u8"])
def test_ids_of_any_type_are_read_or_refused(kind):
    """Never another number: the limit, 2^31 - 1, is none of single precision."""
    for number in (1, 2047, 65_504, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**62):
        largest = (np.finfo if kind[0] == "f" else np.iinfo)(kind).max
        if number > float(largest):
            continue
        stored = np.full((1, 2), number).astype(kind)
        if int(stored[0, 0]) < 2**31:
            assert LabelImage.from_array(stored).ids.tolist() == [[int(stored[0, 0])] * 2]
        else:
            with pytest.raises(DataError, match="too large for a class number"):
                LabelImage.from_array(stored)


def test_a_colour_picture_holds_no_labels(tmp_path):
    Image.new("RGB", (4, 3)).save(tmp_path / "rgb.png")
    fails(tmp_path / "rgb.png", "colour picture", "palette")


def test_erdas_gis(tmp_path):
    ids = np.array([[0, 1, 200], [14, 10, 0]], dtype=np.uint8)
    path = write_lan(tmp_path / "labels.GIS", ids[:, :, None], packing=0)
    np.testing.assert_array_equal(read_labels(path).ids, ids)


@pytest.mark.parametrize(
    ("array", "ids"),
    [
        (np.array([[-1, 3], [0, 2]]), [[0, 3], [0, 2]]),
        (np.array([[np.nan, 3.0], [0.0, -1.0]]), [[0, 3], [0, 0]]),
    ],
)
def test_what_is_missing_is_unlabelled(tmp_path, array, ids):
    np.save(tmp_path / "labels.npy", array)
    assert read_labels(tmp_path / "labels.npy").ids.tolist() == ids


def test_what_is_masked_is_unlabelled():
    masked = np.ma.masked_equal(np.array([[4, 3], [9, 2]]), 9)
    assert LabelImage.from_array(masked).ids.tolist() == [[4, 3], [0, 2]]


def test_an_undeclared_largest_number_is_told(tmp_path):
    """Programs write 255 for no data, and for a class of that number."""
    ids = np.array([[1, 255], [2, 255]], dtype=np.uint8)
    np.save(tmp_path / "labels.npy", ids)
    with pytest.warns(UserWarning, match=r"50.0% of the pixels are 255, the largest .* as a class"):
        assert read_labels(tmp_path / "labels.npy").table.ids == (1, 2, 255)
    np.save(tmp_path / "labels.npy", ids.astype(np.uint16))
    read_labels(tmp_path / "labels.npy")
    np.save(tmp_path / "labels.npy", np.array([[254, 255]], dtype=np.uint8))
    read_labels(tmp_path / "labels.npy")
    table = ClassTable.from_ids([255], names={255: "lakes"})
    write_class_map(tmp_path / "map.tif", ids, table)
    read_labels(tmp_path / "map.tif")


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.array([[-1, 3], [-7, 2]]), "class id -7 at row 1, column 0"),
        (np.array([[0.0, 0.5], [1, 2]]), "value 0.5 at row 0, column 1"),
        (np.array([[0.0, np.inf], [1, 2]]), "value inf"),
        (np.array([[1, 2**40]]), "too large"),
        (np.array([[1, 2**63 + 5]], dtype=np.uint64), "too large"),
        (np.zeros((3, 4, 5)), "one-hot"),
        (np.zeros(7), "(7,)"),
        (np.array([["a", "b"]]), "whole numbers"),
    ],
)
def test_values_that_are_no_class_ids(tmp_path, array, word):
    np.save(tmp_path / "labels.npy", array)
    fails(tmp_path / "labels.npy", word)


def test_missing_folder_text(tmp_path):
    fails(tmp_path / "absent.png", "no such file")
    fails(tmp_path, "folder")
    (tmp_path / "labels.mat").write_text("class,row,column\n" * 20)
    fails(tmp_path / "labels.mat", "cannot be read")


def test_several_pictures_need_a_name(tmp_path):
    scipy.io.savemat(tmp_path / "labels.mat", {"train": IDS, "test": IDS * 0})
    fails(tmp_path / "labels.mat", "train 2 x 3", "variable=")
    assert not read_labels(tmp_path / "labels.mat", variable="test").ids.any()


def test_trainable_needs_two_classes():
    LabelImage.from_array(IDS).check_trainable()
    with pytest.raises(DataError, match="no pixel is labelled"):
        LabelImage.from_array(IDS * 0, names={1: "corn"}).check_trainable()
    with pytest.raises(DataError, match=r"only class 3 \(corn\)"):
        LabelImage.from_array(3 * (IDS > 0), names={3: "corn", 4: "soy"}).check_trainable()


def test_size_is_that_of_the_scene():
    labels = LabelImage.from_array(IDS, path="gt.mat")
    labels.on(Scene.from_array(np.ones((2, 3, 4))))
    with pytest.raises(DataError, match=r"2 rows x 3 columns.*5 rows x 6 columns"):
        labels.on(Scene.from_array(np.ones((5, 6, 4)), path="s.hdr"))
    with pytest.raises(DataError, match="transpose"):
        labels.on(Scene.from_array(np.ones((3, 2, 4))))


def test_ids_are_read_only_and_apart_from_the_source():
    source = IDS.copy()
    labels = LabelImage.from_array(source)
    source[:] = 1
    np.testing.assert_array_equal(labels.ids, IDS)
    with pytest.raises(ValueError, match="read-only"):
        labels.ids[0, 0] = 1


def test_table_defaults_are_distinct():
    table = ClassTable.from_ids(range(40))
    assert len({entry.color for entry in table.entries}) == 41 - 1
    assert len(table) == 39
    assert table[0].color == (0, 0, 0)
    assert 39 in table
    assert 40 not in table
    assert table.including([40])[40].name == "class 40"
    with pytest.raises(KeyError):
        table[41]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "ids", "n_labelled"),
    [
        ("salinas_a/SalinasA_gt.mat", (83, 86), (1, 10, 11, 12, 13, 14), 5348),
        ("indian_pines/Indian_pines_gt.mat", (145, 145), tuple(range(1, 17)), 10249),
        ("indian_pines/92AV3GT.GIS", (145, 145), tuple(range(1, 17)), 10366),
        ("ground_truth_only/PaviaU_gt.mat", (610, 340), tuple(range(1, 10)), 42776),
        ("ground_truth_only/Salinas_gt.mat", (512, 217), tuple(range(1, 17)), 54129),
    ],
)
def test_real_label_files(data_folder, name, shape, ids, n_labelled):
    labels = read_labels(data_folder / name)
    found = labels.shape, labels.table.ids, np.count_nonzero(labels.ids)
    assert found == (shape, ids, n_labelled)
    labels.check_trainable()


@pytest.mark.parametrize("color", [(0, 114, 178), "#0072b2", "#0072B2", np.array([0, 114, 178])])
def test_colors_are_numbers_or_texts(color):
    table = ClassTable.from_ids([1, 2], colors={1: color})
    assert table[1].color == (0, 114, 178)


@pytest.mark.parametrize("color", ["blue", "#12", (1, 2), (1, 2, 300), (-1, 0, 0), 5])
def test_what_is_no_color_is_refused(color):
    with pytest.raises(ParameterError, match="is no colour"):
        ClassTable.from_ids([1], colors={1: color})
