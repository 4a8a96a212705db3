"""Pictures of a scene to paint on: three bands, or three components, as a PNG.

Each channel is stretched by hand, or from its 2nd to its 98th percentile over the pixels with data
(`diffclass.plots.stretch_contrast`). Channels that are stretched one by one may make a lurid
picture, whose colours are calmed by default. Pixels without data are transparent.
"""

from __future__ import annotations

import functools
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.plots import stretch_contrast
from diffclass.system.libraries import require
from diffclass_hyperspectral import Scene
from diffclass_hyperspectral.io.scenes import COLOR_WAVELENGTHS, bands_by_name, color_bands
from diffclass_relabel.protocol import ChannelHistogram
from diffclass_relabel.workspace import TableWorkspace, Workspace

_COLORFUL = 33.0  # on the scale of Hasler and Suesstrunk: "moderately colourful"
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601
_N_BINS = 64
_DRAWN = (0.2, 99.8)  # percentiles that a histogram reaches from and to

Limits = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Contrast:
    """How three channels become colours."""

    # values that become 0 and 1 in red, green and blue; None for the percentiles
    limits: Limits | None = None
    is_calm: bool = True  # whether colours are calmed, see `calmed`

    @classmethod
    def parsed(cls, limits: str | None, calm: str | None) -> Contrast:
        """Return the contrast of the query "limits=0.1:0.4,0:1,-2:3&calm=0"."""
        is_calm = calm != "0"
        if limits is None:
            return cls(None, is_calm)
        try:
            pairs = [tuple(map(float, pair.split(":"))) for pair in limits.split(",")]
            red, green, blue = ((low, high) for low, high in pairs)
        except ValueError:
            raise ParameterError(
                f"limits = {limits[:60]!r}; give three pairs, as in limits=0.1:0.4,0:1,-2:3"
            ) from None
        for low, high in (red, green, blue):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ParameterError(
                    f"limits {low:g} to {high:g}; the upper one has to lie above the lower one"
                )
        return cls((red, green, blue), is_calm)

    def colors(self, channels: np.ndarray) -> np.ndarray:
        """Return red, green and blue, 0 to 1, of the finite channels (n, 3) of pixels."""
        if self.limits is None:
            shades = stretch_contrast(channels)
        else:
            low, high = np.array(self.limits).T
            shades = np.clip((channels - low) / (high - low), 0, 1)
        return calmed(shades) if self.is_calm else shades


def calmed(colors: np.ndarray) -> np.ndarray:
    """Return colours (n, 3), 0 to 1, drawn towards grey until they are moderately colourful.

    M = |sigma| + 0.3 |mu| of the opponent axes (R - G, (R + G) / 2 - B) is then at most 33 of 255
    (D. Hasler and S. Suesstrunk, Measuring colourfulness in natural images, Proc. SPIE 5007, 2003).
    """
    if not len(colors):
        return colors
    red, green, blue = colors.T
    axes = np.stack([red - green, (red + green) / 2 - blue])
    colorful = 255 * (np.linalg.norm(axes.std(axis=1)) + 0.3 * np.linalg.norm(axes.mean(axis=1)))
    if colorful <= _COLORFUL:
        return colors
    # M shrinks in step with every colour's distance from the grey of the same luma
    gray = (colors @ _LUMA)[:, None]
    return gray + (colors - gray) * (_COLORFUL / colorful)


def channel_histogram(values: np.ndarray) -> ChannelHistogram:
    """Return the histogram and the percentiles of the finite values of a channel."""
    if not len(values):
        values = np.zeros(1)
    low, high = (float(end) for end in np.percentile(values, _DRAWN))
    if low == high:
        low, high = low - 0.5, high + 0.5
    counts, _ = np.histogram(values, bins=_N_BINS, range=(low, high))
    percentiles = np.percentile(values, np.arange(101))
    return {
        "low": low,
        "high": high,
        "counts": counts.tolist(),
        "percentiles": [float(value) for value in percentiles],
    }


_KEPT = 8  # pictures
_KEPT_THUMBNAILS = 5000
_LONGEST_NUMBER = 20  # digits
_KEPT_CHANNELS = 2  # of them the numbers too, so that a stretch by hand reads no band again
PRESETS = ("true", "false", "mnf")
ROW_PRESETS = {"diffusion": "Three diffusion coordinates", "features": "Three features"}
_LABELS = {"true": "True colour", "false": "False colour, near infrared"}
DEFAULT_CONTRAST = Contrast()
_NEAR = 50.0  # nanometres within which a band shows what the wavelength would


class Pictures:
    """The pictures of a scene; those asked for last are kept."""

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._kept = functools.lru_cache(_KEPT)(self._made)
        self._channels = functools.lru_cache(_KEPT_CHANNELS)(self._read)
        if isinstance(workspace, TableWorkspace):
            self._thumbnails = functools.lru_cache(_KEPT_THUMBNAILS)(workspace.contents.thumbnail)

    def png(
        self, preset: str, bands: str | None = None, contrast: Contrast = DEFAULT_CONTRAST
    ) -> bytes:
        """Return the PNG of three bands, as in "30,20,10", or else of a preset."""
        return self._kept(preset, bands, contrast)

    def thumbnail(self, pixel: str) -> bytes:
        """Return the image of the row of a table at a pixel; `DiffclassError` if it has none."""
        workspace = self._workspace
        is_number = len(pixel) < _LONGEST_NUMBER and pixel.isascii() and pixel.isdecimal()
        if not isinstance(workspace, TableWorkspace) or not is_number:
            raise ParameterError(f"row = {pixel[:40]!r}; there is no such row of a table")
        return self._thumbnails(int(workspace.row_numbers[workspace.point_of(int(pixel))]))

    def histograms(self, preset: str = "true", bands: str | None = None) -> list[ChannelHistogram]:
        """Return the histograms of red, green and blue of a picture."""
        channels = self._channels(preset, bands)
        values = channels[np.isfinite(channels).all(axis=2)]
        return [channel_histogram(column) for column in values.T]

    def _made(self, preset: str, bands: str | None, contrast: Contrast) -> bytes:
        return _png(self._channels(preset, bands), contrast)

    def _read(self, preset: str, bands: str | None) -> np.ndarray:
        if bands is None:
            return preset_channels(self._workspace, preset)
        return band_channels(self._workspace, parsed_bands(bands))


def presets_of(workspace: Workspace) -> dict[str, str]:
    """Return what to call each preset; see `preset_labels`."""
    if isinstance(workspace, TableWorkspace):
        return dict(ROW_PRESETS)
    return preset_labels(workspace.scene)


def preset_labels(scene: Scene) -> dict[str, str]:
    """Return what to call each preset of a scene; without three bands for it, no false colour."""
    labels = {"true": _bands_label(scene, "true")}
    if len(set(color_bands(scene, "false"))) == len(COLOR_WAVELENGTHS["false"]):
        labels["false"] = _bands_label(scene, "false")
    return labels | {"mnf": "First MNF components"}


def _bands_label(scene: Scene, preset: str) -> str:
    """Return the label of a preset; bands that are guessed go by their numbers, from 1."""
    bands = list(color_bands(scene, preset))
    if preset == "true" and bands == bands_by_name(scene):
        return _LABELS[preset]
    if scene.wavelengths is not None:
        away = np.abs(scene.wavelengths[bands] - COLOR_WAVELENGTHS[preset])
        if (away <= _NEAR).all():
            return _LABELS[preset]
    return f"Bands {', '.join(str(band + 1) for band in bands)}"


def preset_channels(workspace: Workspace, preset: str) -> np.ndarray:
    """Return the numbers behind the picture of a preset, shape (rows, columns, 3)."""
    presets = ROW_PRESETS if isinstance(workspace, TableWorkspace) else PRESETS
    if preset not in presets:
        raise ParameterError(f"there is no preset {preset[:40]!r}; there are {', '.join(presets)}")
    if isinstance(workspace, TableWorkspace):
        three = _three(workspace.directions if preset == "diffusion" else workspace.features)
        # by rank: a small cluster far away would leave the others no colours
        ranks = np.argsort(np.argsort(three, axis=0, kind="stable"), axis=0)
        return workspace.raster((ranks / len(ranks)).astype(np.float32), fill=np.nan)
    if preset == "mnf":
        return workspace.raster(_three(workspace.features), fill=np.nan)
    return band_channels(workspace, color_bands(workspace.scene, preset))


def band_channels(workspace: Workspace, bands: Sequence[int]) -> np.ndarray:
    """Return the numbers of any three bands, shape (rows, columns, 3)."""
    scene = workspace.scene
    if len(bands) != 3 or not all(0 <= band < scene.n_bands for band in bands):
        raise ParameterError(
            f"bands = {list(bands)[:5]}; give three numbers from 0 to {scene.n_bands - 1}"
        )
    wanted = np.zeros(scene.n_bands, dtype=bool)
    wanted[list(bands)] = True
    spectra = scene.spectra(bands=wanted)
    columns = np.cumsum(wanted)[list(bands)] - 1
    return spectra[:, columns].reshape(*workspace.shape, 3)


def parsed_bands(text: str) -> list[int]:
    """Return the numbers in "10,20,30"."""
    parts = text.split(",")
    if not all(part.isascii() and part.isdecimal() and len(part) < 7 for part in parts):
        raise ParameterError(f"bands = {text[:40]!r}; give three numbers, as in bands=30,20,10")
    return [int(part) for part in parts]


def _three(features: np.ndarray) -> np.ndarray:
    """Return three features per point, the last one repeated if there are fewer."""
    return features[:, [min(i, features.shape[1] - 1) for i in range(3)]]


def _png(values: np.ndarray, contrast: Contrast) -> bytes:
    """Return a picture (rows, columns, 3) as PNG; NaN is transparent."""
    valid = np.isfinite(values).all(axis=2)
    colors = np.zeros((*valid.shape, 4), dtype=np.uint8)
    colors[..., 3] = np.where(valid, 255, 0)
    colors[valid, :3] = np.rint(255 * contrast.colors(values[valid]))
    stream = io.BytesIO()
    image: Any = require("PIL.Image").fromarray(colors)
    image.save(stream, format="PNG", compress_level=1)
    return stream.getvalue()
