"""Spectral libraries: read, written, and as labels of the pixels most like their spectra."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pyogrio
import pytest
import spectral.io.envi as envi

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, open_scene, read_labels
from diffclass_hyperspectral.io.readers import (
    SpectralLibrary,
    is_library,
    read_library,
    resampled,
    write_library,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres, widths_in_nanometres
from diffclass_hyperspectral.jobs.library_labels import labels_of_library

from ..writers import save_envi
from .test_vector_labels import write

WAVELENGTHS = np.linspace(450.0, 900.0, 7)
SPECTRA = np.random.default_rng(0).random((3, 7))
LIBRARY = SpectralLibrary(("oak", "wet, {clay}", "ch\u00eane"), SPECTRA, WAVELENGTHS)


@pytest.mark.parametrize("name", ["lib.sli", "lib.csv"])
def test_a_library_reads_back(tmp_path, name):
    files = write_library(tmp_path / name, LIBRARY)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    found = read_library(tmp_path / name)
    np.testing.assert_allclose(found.spectra, SPECTRA, rtol=1e-6)
    np.testing.assert_allclose(found.wavelengths, WAVELENGTHS, rtol=1e-6)
    assert found.names == LIBRARY.names


def test_other_programs_read_what_is_written(tmp_path):
    write_library(tmp_path / "lib.sli", LIBRARY)
    opened = envi.open(str(tmp_path / "lib.hdr"))
    assert isinstance(opened, envi.SpectralLibrary)
    np.testing.assert_allclose(opened.spectra, SPECTRA, rtol=1e-6)


@pytest.mark.parametrize("header", ["wavelength (um)", "wavelength", "micrometers"])
def test_micrometres_become_nanometres(tmp_path, header):
    rows = np.column_stack([WAVELENGTHS / 1000, SPECTRA[0]])
    np.savetxt(tmp_path / "lib.csv", rows, delimiter=",", header=f"{header},a", comments="")
    np.testing.assert_allclose(read_library(tmp_path / "lib.csv").wavelengths, WAVELENGTHS)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("one.csv", b"wavelength\n400\n500\n", "one column"),
        ("hole.csv", b"wavelength,a\n,1\n500,2\n", "wavelengths are missing"),
        ("alone.sli", bytes(100), "no ENVI header"),
        ("short.sli", bytes(10), "cut short"),
        ("a.txt", b"", r"a\.txt"),
        ("a.txt", b"no spectrum", r"a\.txt"),
        ("a.txt", b"Name: a\n", r"a\.txt"),
        ("a.txt", b"Measurement: x\n\n", r"a\.txt"),
        ("a.txt", b"a Record=1", r"a\.txt"),
    ],
)
def test_damaged_libraries_are_refused(tmp_path, name, content, says):
    if name == "short.sli":
        write_library(tmp_path / name, LIBRARY)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=says):
        read_library(tmp_path / name)
    with pytest.raises(ParameterError, match=r"\.sli or \.csv"):
        write_library(tmp_path / "lib.txt", LIBRARY)


@pytest.fixture(scope="module")
def tissue():
    return make_tissue_scene(48, 50, n_bands=20)


def scene_of(tissue):
    return Scene.from_array(tissue.cube, wavelengths=tissue.wavelengths, path="scene.hdr")


def naive_nearest(cube, spectrum, n):
    """The pixels of the smallest angle, one by one."""
    angles = [
        np.arccos(np.clip(p @ spectrum / np.linalg.norm(p) / np.linalg.norm(spectrum), -1, 1))
        for p in cube.reshape(-1, cube.shape[-1]).astype(float)
    ]
    return set(np.argsort(angles)[:n].tolist())


def test_each_spectrum_labels_the_pixels_most_like_it(tissue, tmp_path):
    picked = [(5, 5), (20, 12)]
    spectra = np.array([3 * tissue.cube[place] for place in picked], dtype=float)
    library = SpectralLibrary(("one", "two"), spectra, np.asarray(tissue.wavelengths))
    write_library(tmp_path / "lib.csv", library)
    labels = labels_of_library(scene_of(tissue), tmp_path / "lib.csv", n_pixels=4)
    for class_id, (place, spectrum) in enumerate(zip(picked, spectra, strict=True), start=1):
        found = set(np.flatnonzero(labels.ids.ravel() == class_id).tolist())
        assert found == naive_nearest(tissue.cube, spectrum, 4)
        assert place[0] * 50 + place[1] in found
    assert [entry.name for entry in labels.table if entry.id] == ["one", "two"]


def test_spectra_of_one_name_are_one_class_and_finer_wavelengths_are_interpolated(tissue, tmp_path):
    fine = np.linspace(tissue.wavelengths[0], tissue.wavelengths[-1], 500)
    places = (3, 3), (9, 9)
    spectra = np.array([np.interp(fine, tissue.wavelengths, tissue.cube[p]) for p in places])
    write_library(tmp_path / "lib.csv", SpectralLibrary(("a", "a"), spectra, fine))
    labels = labels_of_library(scene_of(tissue), tmp_path / "lib.csv", n_pixels=1)
    assert labels.n_classes == 1
    assert labels.ids[3, 3] == labels.ids[9, 9] == 1
    assert np.count_nonzero(labels.ids) == 2


def test_bands_that_are_not_in_common(tissue, tmp_path):
    far = SpectralLibrary(("a",), np.ones((1, 5)), np.linspace(5000.0, 6000.0, 5))
    write_library(tmp_path / "far.csv", far)
    with pytest.raises(DataError, match="0 bands in common"):
        labels_of_library(scene_of(tissue), tmp_path / "far.csv")
    without = Scene.from_array(tissue.cube, path="plain.npy")
    with pytest.raises(ParameterError, match="no wavelengths"):
        labels_of_library(without, tmp_path / "far.csv")
    same = SpectralLibrary(("a",), tissue.cube[4, 4][None].astype(float), None)
    write_library(tmp_path / "same.sli", same)
    labels = labels_of_library(without, tmp_path / "same.sli", n_pixels=1)
    assert labels.ids[4, 4] == 1


# --- text files and vector files of others


def write_ecostress(path, name="Acer Rubrum", unit="micrometers", values="Reflectance (percent)"):
    """As `read_ecostress_file` of spectral expects it, wavelengths falling."""
    centres = WAVELENGTHS / (1000 if unit == "micrometers" else 1)
    pairs = "\n".join(f"{w:.4f}\t{100 * v:.4f}" for w, v in zip(centres[::-1], SPECTRA[0][::-1],
                                                            strict=True))  # fmt: skip
    path.write_text(
        f"Name: {name}\nType: vegetation\nClass: tree\nGenus: Acer\nSpecies: rubrum\n"
        f"Sample No.: 1\nOwner: x\nWavelength Range: VSWIR\nOrigin: x\nDescription: a tree\n"
        f"Measurement: x\nFirst Column: X\nSecond Column: Y\nX Units: Wavelength ({unit})\n"
        f"Y Units: {values}\nFirst X Value: 0.9\nLast X Value: 0.45\nNumber of X Values: 7\n"
        f"Additional Information: none\n\n{pairs}\n",
        encoding="iso-8859-1",
    )
    return path


@pytest.mark.parametrize("unit", ["micrometers", "nanometers"])
def test_a_spectrum_of_ecostress(tmp_path, unit):
    found = read_library(write_ecostress(tmp_path / "tree.txt", unit=unit))
    assert found.names == ("Acer Rubrum",)
    np.testing.assert_allclose(found.wavelengths, WAVELENGTHS, rtol=1e-3)
    np.testing.assert_allclose(found.spectra[0], SPECTRA[0], atol=1e-5)


def write_usgs(folder, names=("Acmite NMNH133746", "Oak Oak-Leaf-1")):
    """A folder as the USGS has them: wavelengths above, spectra below, deleted channels."""
    (folder / "minerals").mkdir(parents=True)
    head = "splib07a Record={}: "
    waves = "\n".join(f" {w / 1000:.5f}" for w in WAVELENGTHS)
    (folder / "splib07a_Wavelengths_ASD.txt").write_text(
        head.format(1) + f"Wavelengths ASD 0.35-2.5 microns 7 ch\n{waves}\n"
    )
    (folder / "splib07a_Bandpass_ASD.txt").write_text(head.format(9) + "Bandpass ASD\n0.01\n")
    for k, name in enumerate(names):
        values = [*SPECTRA[k][:-1], -1.23e34]
        rows = "\n".join(f" {value:.6e}" for value in values)
        (folder / "minerals" / f"splib07a_{k}.txt").write_text(
            head.format(k + 2) + f"{name} ASDFRa AREF\n{rows}\n"
        )
    return folder / "minerals"


def test_a_folder_of_ecostress_with_other_texts(tmp_path):
    for name in ("oak", "ash"):
        write_ecostress(tmp_path / f"{name}.spectrum.txt", name=name)
        (tmp_path / f"{name}.ancillary.txt").write_text("Leaves of a tree\n")
    assert is_library(tmp_path)
    assert read_library(tmp_path).names == ("ash", "oak")


def test_spectra_of_the_usgs(tmp_path):
    folder = write_usgs(tmp_path / "usgs")
    found = read_library(folder)
    assert found.names == ("Acmite NMNH133746", "Oak Oak-Leaf-1")
    np.testing.assert_allclose(found.wavelengths, WAVELENGTHS, rtol=1e-4)
    np.testing.assert_allclose(found.spectra[:, :-1], SPECTRA[:2, :-1], rtol=1e-5)
    assert np.isnan(found.spectra[:, -1]).all()
    (tmp_path / "usgs" / "splib07a_Wavelengths_ASD.txt").unlink()
    with pytest.raises(DataError, match="no file of 7 wavelengths"):
        read_library(folder / "splib07a_0.txt")


@pytest.mark.parametrize("name", ["lib.geojson", "lib.gpkg"])
def test_spectra_of_the_enmap_box(tmp_path, name):
    x = {"x": (WAVELENGTHS / 1000).tolist(), "xUnit": "Micrometers"}
    profiles = [json.dumps(x | {"y": one.tolist(), "bbl": [1] * 6 + [k]})
                for k, one in enumerate(SPECTRA[:2])]  # fmt: skip
    place = write(tmp_path / name, {"name": ["oak", "ash"], "profiles": profiles}, crs="EPSG:4326")
    assert is_library(place)
    found = read_library(place)
    assert found.names == ("oak", "ash")
    np.testing.assert_allclose(found.wavelengths, WAVELENGTHS)
    np.testing.assert_allclose(found.spectra[1], SPECTRA[1])
    assert np.isnan(found.spectra[0, -1])


def test_layers_of_labels_are_asked_silently(tmp_path):
    for layer in ("one", "two"):
        pyogrio.raw.write(
            tmp_path / "labels.gpkg", np.array([None], dtype=object),
            [np.array(["oak"], dtype=object)], ["class"], geometry_type="Point", layer=layer,
            crs="EPSG:4326", append=layer == "two",
        )  # fmt: skip
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert not is_library(tmp_path / "labels.gpkg")
    assert said == []


def test_labels_are_no_library(tmp_path):
    place = write(tmp_path / "labels.gpkg", {"class": ["oak", "ash"]})
    assert not is_library(place)
    (tmp_path / "readme.txt").write_text("Labels of 2026.\n\nNothing else.")
    assert not is_library(tmp_path)
    with pytest.raises(DataError, match=r"no \.txt file with a spectrum"):
        read_library(tmp_path)
    assert not is_library(tmp_path / "nothing.geojson")
    with pytest.raises(DataError, match="no field with spectra"):
        read_library(place)


@pytest.mark.parametrize("name", ["lib.sli", "lib.csv", "tree.txt", "lib.geojson"])
@pytest.mark.parametrize("fill", [-9999.0, -999.0, -32768.0, -1.23e34])
def test_values_that_no_spectrum_has_are_missing(tmp_path, name, fill):
    path, values = tmp_path / name, SPECTRA.copy()
    values[0, 2] = fill
    if name == "tree.txt":
        text = write_ecostress(path).read_text("iso-8859-1")
        lines = text.rstrip().split("\n")
        lines[-3] = f"{lines[-3].split()[0]}\t{fill:g}"
        path.write_text("\n".join(lines) + "\n", encoding="iso-8859-1")
    elif name == "lib.geojson":
        profiles = [json.dumps({"x": WAVELENGTHS.tolist(), "y": one.tolist()}) for one in values]
        write(path, {"name": ["a", "b"], "profiles": profiles[:2]}, crs="EPSG:4326")
    else:
        write_library(path, SpectralLibrary(("a", "b", "c"), values, WAVELENGTHS))
    with pytest.warns(UserWarning, match=f"{name}: 1 values such as -.* are no measurements"):
        found = read_library(path)
    assert np.isnan(found.spectra[0]).sum() == 1
    assert np.isfinite(found.spectra[1:]).all()


def test_what_a_library_states_counts(tmp_path):
    path = tmp_path / "lib.sli"
    values = np.where(SPECTRA[0, 2] == SPECTRA, 7, SPECTRA)
    write_library(path, SpectralLibrary(("a", "b", "c"), values, WAVELENGTHS))
    header = path.with_suffix(".hdr")
    bad = ["1"] * len(WAVELENGTHS)
    bad[4] = "0"
    header.write_text(header.read_text() + f"data ignore value = 7\nbbl = {{{','.join(bad)}}}\n")
    found = np.isnan(read_library(path).spectra)
    assert found[0].tolist() == [k in (2, 4) for k in range(len(WAVELENGTHS))]
    assert np.flatnonzero(found[1]).tolist() == [4]


@pytest.mark.parametrize("step", [0.5, 7.0, 40.0])
@pytest.mark.parametrize("width", [3.0, 10.0, 60.0])
def test_a_band_sees_the_mean_over_its_response(step, width):
    """Against an integral in small steps, for libraries finer and coarser than the bands."""
    given = np.arange(380.0, 960.0, step)
    values = 0.3 + 0.2 * np.sin(given / 50) + 0.001 * (given - 600)
    centres = np.array([450.0, 601.0, 777.0])
    found = resampled(values[::-1], given[::-1], centres, np.full(3, width))
    fine = np.arange(given[0], given[-1], 0.05)
    added = np.sqrt(max(width**2 - step**2, 1e-9))  # a library has its own resolution
    response = np.exp(-4 * np.log(2) * ((fine - centres[:, None]) / added) ** 2)
    response[:, np.abs(fine - centres[:, None]).argmin(axis=1)] += 1e-9
    expected = (response * np.interp(fine, given, values)).sum(axis=1) / response.sum(axis=1)
    np.testing.assert_allclose(found, expected, atol=3e-4)


def test_bands_beyond_a_spectrum_or_in_its_gaps_are_missing():
    given, values = np.arange(400.0, 500.0, 5), np.linspace(0, 1, 20)
    values[8:12] = np.nan
    centres = np.array([390.0, 400.0, 430.0, 450.0, 495.0, 500.0])
    found = resampled(values, given, centres, np.full(6, 10.0))
    assert np.isnan(found).tolist() == [True, False, False, True, False, True]


def test_a_scene_with_widths_sees_a_library_by_them(tmp_path):
    """A narrow peak is seen by a band that is wide enough, and by its neighbours less."""
    given = np.arange(400.0, 700.0, 1.0)
    peak = np.exp(-(((given - 550) / 3) ** 2))
    write_library(tmp_path / "a.csv", SpectralLibrary(("peak",), peak[None] + 0.1, given))
    centres = np.arange(450.0, 651.0, 50.0)
    cube = np.zeros((1, 2, 5)) + 0.1
    cube[0, 0] = resampled(peak + 0.1, given, centres, np.full(5, 60.0))
    scene = Scene.from_array(cube, wavelengths=centres, widths=np.full(5, 60.0))
    labels = labels_of_library(scene, tmp_path / "a.csv", n_pixels=1)
    assert labels.ids.tolist() == [[1, 0]]


def test_widths_of_an_envi_file(tmp_path):
    facts = {"wavelength": [0.4, 0.5], "wavelength units": "Micrometers", "fwhm": [0.01, 0.02]}
    scene = open_scene(save_envi(tmp_path, np.ones((3, 4, 2), np.float32), metadata=facts))
    np.testing.assert_allclose(scene.widths, [10, 20])


@pytest.mark.parametrize("fwhm", [[0.01], [0.01, "nan"], [0.01, 0], ["wide", 0.01]])
def test_damaged_widths_of_an_envi_file_are_none(tmp_path, fwhm):
    facts = {"wavelength": [0.4, 0.5], "fwhm": fwhm}
    with pytest.warns(UserWarning, match="states fwhm, which the reader of ENVI does not use"):
        scene = open_scene(save_envi(tmp_path, np.ones((3, 4, 2), np.float32), metadata=facts))
    np.testing.assert_allclose(scene.wavelengths, [400, 500])
    assert scene.widths is None


def test_widths_in_wavenumbers():
    """By 1e7 / k the width of a narrow band is 1e7 / k^2 times that in wavenumbers."""
    stated = np.array([10_000.0, 5000.0])
    found = widths_in_nanometres([10, 10], stated, in_nanometres(stated, "wavenumber"))
    low, high = (in_nanometres(stated + side, "wavenumber") for side in (-5, 5))
    np.testing.assert_allclose(found, low - high, rtol=1e-5)


def test_a_library_are_labels_of_the_command(tmp_path, tissue):
    scene = Scene.from_array(tissue.cube)
    means = np.array([scene.spectra()[tissue.truth.ravel() == k].mean(axis=0) for k in (1, 2, 3)])
    centres = np.linspace(450, 900, 20)
    write_library(tmp_path / "lib.csv", SpectralLibrary(("a", "b", "c"), means, centres))
    facts = {"wavelength": centres.tolist(), "wavelength units": "nm"}
    place = save_envi(tmp_path, tissue.cube.astype(np.float32), metadata=facts)
    words = ["classify", str(place), "--labels", str(tmp_path / "lib.csv")]
    assert run([*words, "-o", str(tmp_path / "map.tif"), "--quiet"]) == 0
    found = read_labels(tmp_path / "map.tif")
    assert [entry.name for entry in found.table if entry.id] == ["a", "b", "c"]
    assert (found.ids == tissue.truth)[tissue.truth > 0].mean() > 0.6


@pytest.mark.filterwarnings("ignore:.*(separated by|decimal commas)")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_columns_as_spreadsheets_write_them(tmp_path, encoding):
    text = "wavelength (nm);gras;bläck\n450,5;0,1;0,2\n550,5;0,3;0,4\n"
    (tmp_path / "s.csv").write_text(text, encoding=encoding)
    library = read_library(tmp_path / "s.csv")
    assert library.names == ("gras", "bläck")
    np.testing.assert_allclose(library.wavelengths, [450.5, 550.5])
    np.testing.assert_allclose(library.spectra, [[0.1, 0.3], [0.2, 0.4]])
