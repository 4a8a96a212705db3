from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
import pytest
import scipy.io

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, open_scene

from ..writers import refuses, save_envi, save_mat73, write_lan

ROWS, COLUMNS, BANDS = 5, 7, 4


@pytest.fixture
def cube() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(-300, 3000, (ROWS, COLUMNS, BANDS)).astype(np.int16)


def edit(header, old, new):
    text = header.read_text()
    assert old in text
    header.write_text(text.replace(old, new))


fails = partial(refuses, open_scene)


# --- formats -------------------------------------------------------------------------------------


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32", "float64", "int64"])
def test_envi_every_interleave_order_and_type(tmp_path, cube, interleave, order, dtype):
    cube = np.abs(cube).astype(dtype)
    header = save_envi(tmp_path, cube, interleave=interleave, byteorder=order)
    for path in (header, header.with_suffix(".img")):
        scene = open_scene(path)
        assert scene.format == "ENVI"
        assert type(scene.data) is np.ndarray
        assert not scene.data.flags.writeable
        np.testing.assert_array_equal(scene.data, cube)
        np.testing.assert_array_equal(scene.spectra(), cube.reshape(-1, BANDS))


@pytest.mark.parametrize("ext", ["", ".dat", ".raw", ".bsq", ".IMG"])
def test_envi_data_file_endings(tmp_path, cube, ext):
    header = save_envi(tmp_path, cube, ext=ext, interleave="bsq")
    np.testing.assert_array_equal(open_scene(header).data, cube)
    np.testing.assert_array_equal(open_scene(tmp_path / f"scene{ext}").data, cube)


def test_envi_header_named_after_the_data_file(tmp_path, cube):
    header = save_envi(tmp_path, cube)
    header.rename(tmp_path / "scene.img.hdr")
    for name in ("scene.img", "scene.img.hdr"):
        np.testing.assert_array_equal(open_scene(tmp_path / name).data, cube)


def test_envi_header_facts(tmp_path, cube):
    facts = {
        "wavelength": [0.4, 0.5, 0.6, 2.4], "wavelength units": "Micrometers",
        "bbl": [1, 0, 1, 1], "data ignore value": -9999, "reflectance scale factor": 10000,
        "band names": ["a", "b", "c", "d"],
        "map info": ["UTM", 1, 1, 500000, 4400000, 30, 30, 13, "North"],
    }  # fmt: skip
    scene = open_scene(save_envi(tmp_path, cube, metadata=facts))
    np.testing.assert_allclose(scene.wavelengths, [400, 500, 600, 2400])
    assert scene.band_mask.tolist() == [True, False, True, True]
    assert (scene.ignore_value, scene.scale_factor) == (-9999, 10000)
    assert scene.band_names == ("a", "b", "c", "d")
    assert scene.map_info[:1] + scene.map_info[-1:] == ("UTM", "North")
    expected = cube.reshape(-1, BANDS)[:, [0, 2, 3]] / np.float32(10000)
    np.testing.assert_allclose(scene.spectra(), expected, rtol=1e-6)
    assert scene.spectra().dtype == np.float32


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([400, 2500], "Nanometers", [400, 2500]),
        ([0.4, 2.5], None, [400, 2500]),
        ([400, 2500], None, [400, 2500]),
        ([0.4, 2.5], "Unknown", [400, 2500]),
        ([25000, 4000], "Wavenumber", [400, 2500]),
        ([1, 2], "Index", None),
        *[
            pytest.param(
                values,
                "nm",
                None,
                marks=pytest.mark.filterwarnings(
                    "ignore:.* states wavelength, which the reader of ENVI does not use"
                ),
            )
            for values in ([0, 0], [0, 500], [-1, 500])
        ],
    ],
)
def test_wavelengths_are_nanometres(tmp_path, cube, values, unit, expected):
    metadata = {"wavelength": values} | ({"wavelength units": unit} if unit else {})
    scene = open_scene(save_envi(tmp_path, cube[:, :, :2], metadata=metadata))
    if expected is None:
        assert scene.wavelengths is None
    else:
        np.testing.assert_allclose(scene.wavelengths, expected)


@pytest.mark.parametrize("written", ["Bil", "BIL", "bIl"])
@pytest.mark.parametrize("offset", ["header offset = ", "header offset =0", ""])
@pytest.mark.parametrize("order", ["", "byte order = \n", "Byte Order = 0\n"])
def test_envi_headers_of_other_writers(tmp_path, cube, written, offset, order):
    header = save_envi(tmp_path, cube, interleave="bil")
    text = header.read_text().replace("interleave = bil", f"Interleave = {written}")
    text = text.replace("header offset = 0", offset)
    header.write_text(text.replace("byte order = 0\n", order))
    if "0" in order:
        np.testing.assert_array_equal(open_scene(header).data, cube)
    else:
        with pytest.warns(UserWarning, match="states no byte order; the lowest byte"):
            np.testing.assert_array_equal(open_scene(header).data, cube)


def test_bytes_need_no_order(tmp_path, cube):
    header = save_envi(tmp_path, cube.astype(np.uint8))
    edit(header, "byte order = 0\n", "")
    np.testing.assert_array_equal(open_scene(header).data, cube.astype(np.uint8))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_envi_header_in_other_encodings(tmp_path, cube, encoding):
    header = save_envi(tmp_path, cube, metadata={"band names": ["x", "y", "z", "w"]})
    text = header.read_text().replace("{ x ", "{ 20 °C é ")
    header.write_bytes(text.encode(encoding))
    scene = open_scene(header)
    np.testing.assert_array_equal(scene.data, cube)
    assert scene.band_names[0] == "20 °C é"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("order", [0, 1])
def test_envi_headers_of_other_editors(tmp_path, cube, mark, line_end, order):
    header = save_envi(
        tmp_path, cube, byteorder=order, metadata={"wavelength": [400, 500, 600, 700]}
    )
    header.write_bytes(mark + header.read_text().replace("\n", line_end).encode())
    scene = open_scene(header)
    np.testing.assert_array_equal(scene.data, cube)
    np.testing.assert_array_equal(scene.wavelengths, [400, 500, 600, 700])


def test_what_the_library_says_of_fields_is_not_said_again(tmp_path, cube, caplog):
    header = save_envi(tmp_path, cube, metadata={"wavelength": [400, 500, 600, 700]})
    edit(header, "700 }", "700, }\nbbl = {}")
    np.testing.assert_array_equal(open_scene(header).wavelengths, [400, 500, 600, 700])
    assert not caplog.records
    edit(header, "bbl = {}", "data ignore value = {1, 2, 3, 4}")
    refuses(open_scene, header, "'data ignore value' holds 4 values; write one for all bands")


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("wavelengths", [400, 500, 600, 700], [[400, 500], [400, np.nan, 600, 700], ["a"] * 4, 5]),
        ("widths", (9.5, 10, 10, 12), [(9.5, 10), np.ones((4, 1))]),
        ("band_mask", [1, 0, 1, 1], [[1, 0], ["a"] * 4]),
        ("band_names", ["a", "b", "", "d"], [["a", "b"], [1, 2, 3, 4], "abcd"]),
        ("region", np.ones((ROWS, COLUMNS), dtype=int), [np.ones((2, 2)), [True] * 4]),
        ("scale_factor", 10, [0, -1, np.nan, np.inf]),
    ],
)
def test_facts_of_arrays_are_of_their_bands_and_pixels(cube, name, right, wrong):
    """As lists too, which is what other libraries have of them."""
    scene = Scene.from_array(cube, **{name: right}).select(bands="1-3")
    assert scene.spectra().shape[0] == ROWS * COLUMNS
    assert scene.describe()["bands"] == BANDS
    if name == "wavelengths":
        assert scene.select(bands="390-510nm").band_mask.tolist() == [True, True, False, False]
    for fact in wrong:
        with pytest.raises(DataError, match=f"^array: {name} "):
            Scene.from_array(cube, **{name: fact})


def test_names_of_other_bands_are_left_out(tmp_path, cube):
    header = save_envi(tmp_path, cube, metadata={"band names": ["a", "b", "c", "d"]})
    edit(header, " b ", " b (x, y) ")
    with pytest.warns(UserWarning, match="states band names, which the reader"):
        assert open_scene(header).band_names is None


def test_envi_upper_case_keys_do_not_warn(tmp_path, cube):
    header = save_envi(tmp_path, cube, metadata={"bbl": [1, 1, 1, 0]})
    edit(header, "bbl", "BBL")
    assert open_scene(header).band_mask.sum() == 3


def test_envi_header_offset(tmp_path, cube):
    header = save_envi(tmp_path, cube)
    data = header.with_suffix(".img")
    data.write_bytes(b"x" * 100 + data.read_bytes())
    edit(header, "header offset = 0", "header offset = 100")
    np.testing.assert_array_equal(open_scene(header).data, cube)


@pytest.mark.parametrize(
    ("dtype", "packing", "order"), [("i2", 2, "<"), ("u1", 0, "<"), ("i2", 2, ">")]
)
def test_erdas_lan(tmp_path, dtype, packing, order):
    cube = np.arange(0, 256, 2).reshape(8, 4, 4).astype(dtype)  # bytes are unsigned
    scene = open_scene(write_lan(tmp_path / "scene.lan", cube, packing=packing, order=order))
    assert scene.format == "ERDAS"
    np.testing.assert_array_equal(scene.data, cube)


def test_matlab5(tmp_path, cube):
    scipy.io.savemat(tmp_path / "scene.mat", {"cube": cube, "note": "text", "gt": cube[:, :, 0]})
    scene = open_scene(tmp_path / "scene.mat")
    assert scene.format == "MATLAB"
    np.testing.assert_array_equal(scene.data, cube)


@pytest.mark.parametrize("userblock", [True, False])
def test_matlab73_axes_are_reversed(tmp_path, cube, userblock):
    arrays = {"cube": cube, "gt": cube[:, :, 0], "other": cube.astype(float)}
    path = save_mat73(tmp_path / "scene.mat", arrays, userblock=userblock)
    scene = open_scene(path, variable="cube")
    assert scene.format == "MATLAB 7.3"
    np.testing.assert_array_equal(scene.data, cube)
    fails(path, "cube 5 x 7 x 4", "other", "variable='cube'")


@pytest.mark.parametrize("save", [scipy.io.savemat, save_mat73])
def test_matlab_several_cubes_need_a_name(tmp_path, cube, save):
    path = tmp_path / "scene.mat"
    save(path, {"one": cube, "two": cube + 1})
    fails(path, "one 5 x 7 x 4", "two", "variable=")
    fails(path, "'three'", "one 5 x 7 x 4", variable="three")
    np.testing.assert_array_equal(open_scene(path, variable="two").data, cube + 1)


def test_matlab_pixel_matrix_is_column_major(tmp_path, cube):
    matrix = np.array([cube[j % ROWS, j // ROWS] for j in range(ROWS * COLUMNS)]).T
    scipy.io.savemat(
        tmp_path / "scene.mat", {"Y": matrix, "nRow": ROWS, "nCol": COLUMNS, "M": np.eye(BANDS)}
    )
    np.testing.assert_array_equal(open_scene(tmp_path / "scene.mat").data, cube)
    np.testing.assert_array_equal(open_scene(tmp_path / "scene.mat", variable="Y").data, cube)


def test_numpy_is_mapped_whatever_its_suffix(tmp_path, cube):
    np.save(tmp_path / "scene.npy", cube)
    for name in ("scene.npy", "scene.dat"):
        scene = open_scene((tmp_path / "scene.npy").rename(tmp_path / name))
        assert isinstance(scene.data.base, np.memmap)
        np.testing.assert_array_equal(scene.data, cube)
        (tmp_path / name).rename(tmp_path / "scene.npy")


# --- pixels and bands ----------------------------------------------------------------------------


def test_valid_needs_finite_good_bands_and_data(cube):
    data = cube.astype(np.float32)
    data[0, 0] = np.nan
    data[0, 1, 2] = np.inf
    data[0, 2, 3] = np.nan  # in a bad band: no matter
    data[1, 1, :3] = -9999  # in every good band
    data[1, 2, :2] = -9999  # in some bands only
    data[2, 2] = 0
    scene = Scene.from_array(
        data, band_mask=np.array([True, True, True, False]), ignore_value=-9999.0
    )
    with pytest.warns(UserWarning, match="2 of 33 pixels lack some bands .* band 1 lacks most, 1 "):
        assert np.argwhere(~scene.valid).tolist() == [[0, 0], [0, 1], [1, 1], [1, 2]]
    spectra = scene.spectra()
    assert np.array_equal(np.isnan(spectra).all(axis=1), ~scene.valid.ravel())
    assert not np.isnan(spectra[scene.valid.ravel()]).any()


def test_zero_pixels_are_data_unless_the_file_says_so(cube):
    cube[3, 3] = 0
    assert Scene.from_array(cube).valid.all()
    assert not Scene.from_array(cube, ignore_value=0.0).valid[3, 3]


def test_ignore_value_in_the_precision_of_the_data(cube):
    data = cube.astype(np.float32)
    data[0, 0] = -np.finfo(np.float32).max
    assert not Scene.from_array(data, ignore_value=-3.4028235e38).valid[0, 0]
    assert Scene.from_array(cube, ignore_value=1e300).valid.all()
    assert Scene.from_array(cube.astype(np.uint16), ignore_value=-9999.0).valid.all()


def test_constant_and_empty_bands_are_not_usable(cube):
    data = cube.astype(np.float64)
    data[:, :, 1] = 7
    data[:, :, 2] = np.nan
    data[0, 0] = -1
    scene = Scene.from_array(data, ignore_value=-1.0)
    data[0, 0, 2] = np.nan
    with pytest.warns(UserWarning, match="no pixel has data in band 3, left out"):
        assert not scene.valid[0, 0]
    assert scene.empty_bands.tolist() == [False, False, True, False]
    assert scene.constant_bands.tolist() == [False, True, False, False]
    assert scene.usable_bands().tolist() == [True, False, False, True]
    assert scene.spectra().shape == (ROWS * COLUMNS, 2)


def test_spectra_of_rows_and_of_given_bands(cube):
    scene = Scene.from_array(cube)
    np.testing.assert_array_equal(
        scene.spectra(slice(1, 3)), cube[1:3].reshape(-1, BANDS).astype(np.float32)
    )
    bands = np.array([False, True, False, True])
    np.testing.assert_array_equal(scene.spectra(bands=bands), cube[:, :, bands].reshape(-1, 2))
    with pytest.raises(ParameterError, match="4 bands"):
        scene.spectra(bands=np.ones(3, bool))


def test_blocks_of_rows_join(monkeypatch, cube):
    data = cube.astype(np.float32)
    data[2, 3] = np.nan
    whole = Scene.from_array(data).spectra()
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", 1)
    blocks = Scene.from_array(data)
    np.testing.assert_array_equal(blocks.spectra(), whole)
    np.testing.assert_array_equal(blocks.spectra(slice(1, 4)), whole[COLUMNS : 4 * COLUMNS])
    assert blocks.valid.sum() == ROWS * COLUMNS - 1


def test_describe_is_json(tmp_path, cube):
    header = save_envi(
        tmp_path, cube, byteorder="big", metadata={"bbl": [1, 1, 1, 0], "data ignore value": "nan"}
    )
    facts = json.loads(json.dumps(open_scene(header).describe(), allow_nan=False))
    assert (facts["rows"], facts["columns"], facts["bands"]) == (ROWS, COLUMNS, BANDS)
    assert (facts["dtype"], facts["memory_bytes"]) == ("int16", cube.nbytes)
    assert (facts["bad_bands"], facts["usable_bands"]) == ([3], 3)
    assert facts["valid_share"] == 1.0


def test_scene_without_data_is_described_and_refused(cube):
    scene = Scene.from_array(np.full((3, 3, 2), np.nan))
    assert scene.describe()["valid_share"] == 0
    with pytest.raises(DataError, match="no pixel has data"):
        scene.spectra()
    with pytest.raises(DataError, match="every band is constant"):
        Scene.from_array(np.ones((3, 3, 2))).spectra()


# --- bad input -----------------------------------------------------------------------------------


def test_missing_file_folder_empty_file(tmp_path):
    fails(tmp_path / "absent.hdr", "no such file")
    fails(tmp_path, "folder")
    (tmp_path / "empty.mat").touch()
    fails(tmp_path / "empty.mat", "empty")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("samples = 7", "samples = 8", ["280 bytes", "needs 320"]),
        ("lines = 5", "", ["lacks lines"]),
        ("bands = 4", "bands = four", ["bands = four"]),
        ("bands = 4", "bands = 0", ["bands = 0"]),
        ("data type = 2", "data type = 7", ["data type '7'"]),
        ("data type = 2", "data type = 6", ["data type '6'"]),
        ("interleave = bip", "interleave = tiled", ["interleave 'tiled'"]),
        ("byte order = 0", "byte order = x", []),
        ("ENVI\n", "BIL\n", []),
        ("ENVI Standard", "ENVI Spectral Library", ["library"]),
        ("bands = 4", "bands = 4\nfile compression = 1", ["compressed"]),
        ("bands = 4", "bands = 4\nbbl = {1, 1, 1}", ["3 values of 'bbl'"]),
        ("bands = 4", "bands = 4\nbbl = {0, 0, 0, 0}", ["no band"]),
        ("bands = 4", "bands = 4\nwavelength = {1, 2}", ["2 values of 'wavelength'"]),
        ("bands = 4", "bands = 4\nwavelength = {1, 2, x, 4}", ["'x'"]),
        ("bands = 4", "bands = 4\ndata ignore value = none", ["'none'"]),
        ("bands = 4", "bands = 4\nreflectance scale factor = 0", ["scale factor"]),
        ("bands = 4", "bands = 4\nwavelength = {1, 2,", []),
    ],
)
def test_header_that_disagrees(tmp_path, cube, old, new, words):
    header = save_envi(tmp_path, cube)
    edit(header, old, new)
    fails(header, *words)


@pytest.mark.skipif(sys.byteorder != "little", reason="the header's byte order is the machine's")
def test_header_that_needs_less_than_there_is_warns(tmp_path, cube):
    header = save_envi(tmp_path, cube)
    edit(header, "lines = 5", "lines = 4")
    with pytest.warns(UserWarning, match="56 more"):
        open_scene(header)


def test_half_a_pair(tmp_path, cube):
    header = save_envi(tmp_path, cube)
    header.with_suffix(".img").rename(tmp_path / "other.img")
    fails(header, "no data file beside it")
    fails(tmp_path / "other.img", "its .hdr")


def test_arrays_that_are_no_cube(tmp_path, cube):
    picture = cube[:, :, 0]
    for number, (arrays, *words) in enumerate([
        ({"gt": picture, "note": "x"}, "no numeric array with 3 axes",
         "gt 5 x 7; give a picture of labels"),
        ({"note": "x"}, "no numeric array"),
        ({"cube": cube + 1j}, "complex"),
    ]):  # fmt: skip
        scipy.io.savemat(tmp_path / f"{number}.mat", arrays)
        fails(tmp_path / f"{number}.mat", *words)
    np.save(tmp_path / "scene.npy", picture)
    fails(tmp_path / "scene.npy", "2 axes")
    np.save(tmp_path / "scene.npy", cube.astype("U8"))
    fails(tmp_path / "scene.npy", "real numbers")


def test_variable_is_for_mat_files(tmp_path, cube):
    with pytest.raises(ParameterError, match="variable='x'"):
        open_scene(save_envi(tmp_path, cube), variable="x")


def test_missing_library_names_the_extra(tmp_path, cube, monkeypatch):
    header = save_envi(tmp_path, cube)
    monkeypatch.setitem(sys.modules, "spectral.io.envi", None)
    with pytest.raises(ParameterError, match=r"diffclass\[hyperspectral\]"):
        open_scene(header)


# --- real files ----------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("salinas_a/SalinasA_corrected.mat", (83, 86, 204), "int16"),
        ("indian_pines/IP_200_M.mat", (145, 145, 200), "uint8"),
        ("jasper_ridge/jasperRidge2_R198.mat", (100, 100, 198), "uint16"),
    ],
)
def test_real_scenes(data_folder, name, shape, dtype):
    scene = open_scene(data_folder / name)
    assert scene.shape == shape
    assert scene.describe()["dtype"] == dtype
    assert scene.valid.all()
    spectra = scene.spectra(slice(0, 2))
    assert spectra.shape == (2 * shape[1], scene.usable_bands().sum())


@pytest.mark.data
def test_jasper_ridge_lies_as_its_abundances(data_folder):
    """Neighbours along both axes look alike only if the matrix is unfolded correctly."""
    data = open_scene(data_folder / "jasper_ridge/jasperRidge2_R198.mat").data.astype(float)
    spread = data.std(axis=(0, 1)).mean()
    for axis in (0, 1):
        assert np.abs(np.diff(data, axis=axis)).mean() < 0.5 * spread


@pytest.mark.data
def test_a_plain_matrix_of_pixels_is_no_scene(data_folder):
    fails(data_folder / "jasper_ridge/end4.mat", "no numeric array with 3 axes")
