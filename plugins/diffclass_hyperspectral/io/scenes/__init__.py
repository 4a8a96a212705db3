"""Scenes: cubes of spectra, opened from files, with the bands and pixels to work with."""

from diffclass_hyperspectral.io.scenes.band_survey import LARGEST
from diffclass_hyperspectral.io.scenes.color_bands import (
    COLOR_WAVELENGTHS,
    bands_by_name,
    color_bands,
)
from diffclass_hyperspectral.io.scenes.identity import scene_identity
from diffclass_hyperspectral.io.scenes.opening import open_scene
from diffclass_hyperspectral.io.scenes.scene import Scene
from diffclass_hyperspectral.io.scenes.selection import pixels_in
from diffclass_hyperspectral.io.scenes.value_levels import (
    factor_text,
    round_factor,
    sampled_levels,
    unit_factor,
    value_levels,
)
