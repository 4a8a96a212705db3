"""Bands of a scene that make a picture: true colour, or with the near infrared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.scenes.scene import Scene

# nanometres of red, green, blue, and of near infrared, red, green
COLOR_WAVELENGTHS = {"true": (640.0, 550.0, 460.0), "false": (860.0, 650.0, 550.0)}
_NAMES = ("red", "green", "blue")
# without wavelengths: places among the good bands, from 0 to 1
_PLACES = {"true": (0.3, 0.2, 0.1), "false": (0.6, 0.3, 0.2)}


def color_bands(scene: Scene, preset: str = "true") -> tuple[int, int, int]:
    """Return the good bands, from 0, for red, green and blue, or for near infrared, red and green.

    Those of these names, nearest by wavelength, or guessed: three bands are taken for red, green
    and blue, a few more for blue to infrared.
    """
    good = np.flatnonzero(scene.usable_bands())
    named = bands_by_name(scene)
    if preset == "true" and set(named) <= set(good.tolist()) and named:
        chosen = named
    elif scene.wavelengths is not None:
        wavelengths = scene.wavelengths[good]
        chosen = [good[np.abs(wavelengths - w).argmin()] for w in COLOR_WAVELENGTHS[preset]]
    else:
        chosen = [good[place] for place in _guessed(len(good), preset)]
    return int(chosen[0]), int(chosen[1]), int(chosen[2])


def bands_by_name(scene: Scene) -> list[int]:
    """Return the bands called red, green and blue, as in a photograph; none without all three."""
    names = [name.strip().lower() for name in scene.band_names or ()]
    return [names.index(name) for name in _NAMES] if set(_NAMES) <= set(names) else []


def _guessed(n: int, preset: str) -> list[int]:
    """Return places among n bands of which nothing is known."""
    places = [round(place * (n - 1)) for place in _PLACES[preset]]
    if n < len(places) or len(set(places)) == len(places):
        return places
    if preset == "true":
        return [0, 1, 2] if n == len(_NAMES) else [2, 1, 0]
    return places if n == len(_NAMES) else [n - 1, 2, 1]
