"""The display of mean spectra: what it draws, where it breaks, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from diffclass import DataError
from diffclass.plots import MeanSpectraDisplay


def test_lines_have_names_units_and_the_colours_of_the_map():
    shown = MeanSpectraDisplay(
        [[1, 2, 3], [3, 2, 1]],
        wavelengths=[450, 550, 650],
        class_ids=[1, 4],
        class_names={4: "corn"},
        class_colors={1: "#ff0000"},
    ).plot(title="means")
    assert [line.get_label() for line in shown.lines_] == ["class 1", "corn"]
    assert shown.lines_[0].get_color() == (1, 0, 0, 1)
    assert shown.ax_.get_xlabel() == "wavelength (nm)"
    assert "units of the scene" in shown.ax_.get_ylabel()
    assert [text.get_text() for text in shown.legend_.get_texts()] == ["class 1", "corn"]


def test_lines_break_where_bands_are_left_out():
    shown = MeanSpectraDisplay(np.ones((1, 4)), bands=[2, 3, 7, 8]).plot(legend=False)
    x = shown.lines_[0].get_xdata()
    np.testing.assert_array_equal(np.isnan(x), [False, False, True, False, False])
    assert shown.ax_.get_xlabel() == "band (number, from 0)"
    assert shown.legend_ is None


@pytest.mark.parametrize(("n", "drawn"), [(2, 2), (7, 0)])
def test_spreads_are_drawn_for_few_classes(n, drawn):
    shown = MeanSpectraDisplay(np.ones((n, 5)), deviations=np.ones((n, 5))).plot()
    assert len(shown.ax_.collections) == drawn


def test_a_single_band_is_a_point():
    assert MeanSpectraDisplay([[2.0]]).plot().lines_[0].get_marker() == "o"


@pytest.mark.parametrize(
    "given",
    [{"wavelengths": [1, 2]}, {"bands": [1]}, {"deviations": [[1, 2]]}, {"class_ids": [1]}],
    ids=lambda given: next(iter(given)),
)
def test_refusals(given):
    with pytest.raises(DataError):
        MeanSpectraDisplay(np.ones((2, 3)), **given)
    with pytest.raises(DataError):
        MeanSpectraDisplay(np.ones(3))
