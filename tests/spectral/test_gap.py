"""The number of coordinates: short spectra, and those without anything but the constant."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.spectral.gap import significant_coordinates, spectral_gap


@pytest.mark.parametrize(
    ("eigenvalues", "m", "reason"),
    [
        ([1, 0.5], 1, "there is one coordinate"),
        ([1, 0.9, 0.1], 1, "coordinate 2 decays 21.9 times as fast as coordinate 1"),
        ([1, -0.99, 0.98, 0.3], 2, "coordinate 3 decays"),
    ],
)
def test_a_short_spectrum_has_a_gap(eigenvalues, m, reason):
    found = spectral_gap(np.array(eigenvalues))
    assert found[0] == m
    assert reason in found[1]


@pytest.mark.parametrize(
    ("eigenvalues", "time", "m"),
    [
        ([1, 0.9, -0.85, 0.2], 10, 2),
        ([1, 0.9, -0.85, 0.2], 0, 3),
        ([1, 0, 0, 0], 1, 1),  # points that are all alike: nothing is left of any
    ],
)
def test_coordinates_count_as_long_as_a_tenth_of_the_first_is_left(eigenvalues, time, m):
    assert significant_coordinates(np.array(eigenvalues, dtype=float), time)[0] == m
