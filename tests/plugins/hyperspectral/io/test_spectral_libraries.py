"""Spectral libraries: read, written, and as labels of the pixels most like their spectra."""

from __future__ import annotations

import numpy as np
import pytest
import spectral.io.envi as envi

from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene
from diffclass_hyperspectral.io.readers import SpectralLibrary, read_library, write_library
from diffclass_hyperspectral.workflows.library_labels import labels_of_library

WAVELENGTHS = np.linspace(450.0, 900.0, 7)
SPECTRA = np.random.default_rng(0).random((3, 7))
LIBRARY = SpectralLibrary(("oak", "wet, {clay}", "oak"), SPECTRA, WAVELENGTHS)


@pytest.mark.parametrize("name", ["lib.sli", "lib.csv"])
def test_a_library_reads_back(tmp_path, name):
    files = write_library(tmp_path / name, LIBRARY)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    found = read_library(tmp_path / name)
    np.testing.assert_allclose(found.spectra, SPECTRA, rtol=1e-6)
    np.testing.assert_allclose(found.wavelengths, WAVELENGTHS, rtol=1e-6)
    # ENVI's lists cannot hold commas and braces
    second = "wet, {clay}" if name.endswith("csv") else "wet; ;clay;"
    assert found.names == ("oak", second, "oak")


def test_other_programs_read_what_is_written(tmp_path):
    write_library(tmp_path / "lib.sli", LIBRARY)
    opened = envi.open(str(tmp_path / "lib.hdr"))
    assert isinstance(opened, envi.SpectralLibrary)
    np.testing.assert_allclose(opened.spectra, SPECTRA, rtol=1e-6)


@pytest.mark.parametrize("header", ["wavelength (um)", "wavelength", "micrometers"])
def test_micrometres_become_nanometres(tmp_path, header):
    lines = [
        f"{header},a",
        *(f"{w / 1000},{v}" for w, v in zip(WAVELENGTHS, SPECTRA[0], strict=True)),
    ]
    (tmp_path / "lib.csv").write_text("\n".join(lines))
    np.testing.assert_allclose(read_library(tmp_path / "lib.csv").wavelengths, WAVELENGTHS)


def test_damaged_libraries_are_refused(tmp_path):
    (tmp_path / "one.csv").write_text("wavelength\n400\n500\n")
    with pytest.raises(DataError, match="one column"):
        read_library(tmp_path / "one.csv")
    (tmp_path / "hole.csv").write_text("wavelength,a\n,1\n500,2\n")
    with pytest.raises(DataError, match="wavelengths are missing"):
        read_library(tmp_path / "hole.csv")
    (tmp_path / "alone.sli").write_bytes(bytes(100))
    with pytest.raises(DataError, match="no ENVI header"):
        read_library(tmp_path / "alone.sli")
    write_library(tmp_path / "short.sli", LIBRARY)
    (tmp_path / "short.sli").write_bytes(bytes(10))
    with pytest.raises(DataError, match="cut short"):
        read_library(tmp_path / "short.sli")
    with pytest.raises(ParameterError, match=r"\.sli or \.csv"):
        write_library(tmp_path / "lib.txt", LIBRARY)


@pytest.fixture(scope="module")
def tissue():
    return make_tissue_scene(48, 50, n_bands=20)


def scene_of(tissue, **options):
    return Scene.from_array(
        tissue.cube, wavelengths=tissue.wavelengths, path="scene.hdr", **options
    )


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
    spectra = np.array(
        [np.interp(fine, tissue.wavelengths, tissue.cube[p]) for p in ((3, 3), (9, 9))]
    )
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
