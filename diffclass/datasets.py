"""A synthetic scene whose true class map is known.

Its values ::

    cube[r, c, :] = shading(r, c) * exp(-concentrations(r, c, :) @ absorptions) + noise

follow the law of Beer and Lambert for a stained slice. ``concentrations`` (rows, columns, stains)
mixes those of the classes and drifts slowly over the picture, so that each class is a continuous
curve in spectral space, as in Coifman et al. 2005, section 3 and figure 5: nearest neighbours and
Gaussian classifiers fail there, diffusion does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from diffclass.exceptions import ParameterError

__all__ = ["TissueScene", "make_tissue_scene"]

FloatArray = NDArray[np.float32]
Seed = int | np.random.Generator | None

TISSUE_CLASSES = ("nuclei", "cytoplasm", "stroma")
# Blue, bluish green and reddish purple of Okabe and Ito: the paper's blue, green and pink.
TISSUE_COLORS = ("#0072B2", "#009E73", "#CC79A7")

# Gaussian absorption bands (centre nm, width nm, height) of each chromophore.
STAINS = {
    "hematoxylin": ((598.0, 42.0, 1.0), (555.0, 38.0, 0.65), (440.0, 35.0, 0.25)),
    "eosin": ((528.0, 16.0, 1.0), (496.0, 20.0, 0.55)),
    "haemoglobin": ((415.0, 24.0, 1.3), (542.0, 11.0, 0.4), (577.0, 9.0, 0.45)),
    "ground": ((380.0, 150.0, 1.0),),
}
# Optical depths of the stains. In the plane of hematoxylin and eosin the three classes are on an
# ellipse about MEAN_DEPTHS, a third of a turn apart. From the top row to the bottom row the
# ellipse turns by TURN (tissues take up other stains) and moves by RISE (the section thickens).
# At the bottom a class has nearly the composition that the next one has at the top.
MEAN_DEPTHS = np.array([0.65, 0.60, 0.30, 0.25])
HALF_AXES = np.array([0.16, 0.19])
TURN = np.deg2rad(150.0)
RISE = np.array([0.03, 0.0, 0.05, 0.06])
SHADING = (1.08, 0.92)  # illumination at the top and at the bottom
POINT_SPREAD = 0.55  # standard deviation of the microscope's blur, pixels
DEBRIS_DEPTHS = np.array([0.30, 0.36, 0.18, 0.18])  # spread of a speck's own optical depths


@dataclass(frozen=True)
class TissueScene:
    """A synthetic hyperspectral slice of tissue with strokes and truth.

    Attributes
    ----------
    cube : ndarray of shape (n_rows, n_columns, n_bands), float32
        Transmitted light relative to the lamp, about 0 to 1.2; noise may leave that range.
    wavelengths : ndarray of shape (n_bands,), float64
        Centre of each band, nm, increasing.
    truth : ndarray of shape (n_rows, n_columns), uint8
        Class of the tissue that fills most of each pixel, 1 to 3.
    labels : ndarray of shape (n_rows, n_columns), uint8
        The user's strokes: class ids 1 to 3, 0 = unlabelled.
    class_names : tuple of str
        Names of the classes 1, 2 and 3.
    class_colors : tuple of str
        Their colours, ``#rrggbb``.
    """

    cube: FloatArray
    wavelengths: NDArray[np.float64]
    truth: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    class_names: tuple[str, ...] = TISSUE_CLASSES
    class_colors: tuple[str, ...] = TISSUE_COLORS


def make_tissue_scene(
    n_rows: int = 128,
    n_columns: int = 128,
    *,
    n_bands: int = 60,
    noise: float = 0.02,
    debris: float = 0.04,
    random_state: Seed = 0,
) -> TissueScene:
    """Make a stained slice of tissue whose spectra drift from top to bottom.

    Glands (cytoplasm) with rims of nuclei are in stroma with clumps of nuclei. Each class at the
    bottom resembles *another* class at the top. The strokes are all in the upper part. On spectra
    alone, classifiers by distance (1-NN) or by Gaussians are right on about two pixels in three,
    label diffusion on a graph of 12 neighbours on more than nine in ten.

    Parameters
    ----------
    n_rows, n_columns : int, default=128
        Size of the picture, pixels, at least 48 each.
    n_bands : int, default=60
        Number of bands from 430 to 700 nm, at least 8.
    noise : float, default=0.02
        Standard deviation of the shot noise at full light, relative to it, at least 0; reading
        noise is 0.3 of it.
    debris : float, default=0.04
        Share of single pixels under specks that add their own absorption, 0 to 1.
    random_state : int, Generator or None, default=0
        Seed.

    Raises
    ------
    ParameterError
        Where a size, ``noise`` or ``debris`` is out of range.

    Examples
    --------
    >>> scene = make_tissue_scene(random_state=0)
    >>> scene.cube.shape, scene.cube.dtype
    ((128, 128, 60), dtype('float32'))
    >>> scene.class_names
    ('nuclei', 'cytoplasm', 'stroma')
    >>> import numpy as np
    >>> np.unique(scene.labels).tolist()
    [0, 1, 2, 3]
    >>> bool((scene.labels[scene.labels > 0] == scene.truth[scene.labels > 0]).all())
    True
    """
    _require_scene(n_rows, n_columns, n_bands=n_bands, noise=noise, debris=debris)
    rng = np.random.default_rng(random_state)
    truth = _tissue_map((n_rows, n_columns), rng)
    labels = _strokes(truth, rng)
    wavelengths = np.linspace(430.0, 700.0, n_bands)
    depths = _drifting_depths(truth, rng)
    _add_debris(depths, debris, rng)
    light = np.exp(-depths @ _absorptions(wavelengths))
    light *= _shading(truth.shape, rng)[..., None]
    return TissueScene(
        cube=_photographed(light, noise, rng), wavelengths=wavelengths, truth=truth, labels=labels
    )


def _require_scene(
    n_rows: int, n_columns: int, *, n_bands: int, noise: float, debris: float
) -> None:
    """Refuse pictures too small to hold glands and strokes, and impossible noise."""
    if min(n_rows, n_columns) < 48 or n_bands < 8:
        raise ParameterError(
            f"a tissue scene needs at least 48 x 48 pixels and 8 bands, "
            f"got {n_rows} x {n_columns} pixels and {n_bands} bands"
        )
    if not (np.isfinite(noise) and noise >= 0):
        raise ParameterError(f"noise must be a number of at least 0, got {noise}")
    if not 0 <= debris <= 1:
        raise ParameterError(f"debris is a share from 0 to 1, got {debris}")


def smooth_field(shape: tuple[int, ...], scale: float, rng: np.random.Generator) -> FloatArray:
    """Draw a Gaussian random field of mean 0, variance 1 and correlation length ``scale``."""
    white = rng.standard_normal(shape, dtype=np.float32)
    field = ndimage.gaussian_filter(white, scale, mode="reflect")
    field -= field.mean()
    # A field much smaller than its scale is flat: it stays so, without a division by zero.
    return field / max(float(field.std()), 1e-12)


def _tissue_map(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Draw glands (cytoplasm) with rims of nuclei, in stroma that holds clumps of nuclei."""
    gland = smooth_field(shape, 9.0, rng)
    clump = smooth_field(shape, 5.0, rng)
    inside = gland > np.quantile(gland, 0.46)
    outside = ~ndimage.binary_dilation(inside, iterations=3)
    truth = np.full(shape, 3, dtype=np.uint8)
    truth[outside & (clump > np.quantile(clump[outside], 0.70))] = 1
    truth[inside] = 1
    truth[ndimage.distance_transform_edt(inside) > 5.0] = 2
    return ndimage.median_filter(truth, 5)


def _absorptions(wavelengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum each stain's Gaussian bands; (n_stains, n_bands)."""
    spectra = np.zeros((len(STAINS), len(wavelengths)))
    for spectrum, bands in zip(spectra, STAINS.values(), strict=True):
        for centre, width, height in bands:
            spectrum += height * np.exp(-0.5 * ((wavelengths - centre) / width) ** 2)
    return spectra


def _drifting_depths(truth: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.float64]:
    """Mix the classes' drifting depths by their blurred abundance; (rows, columns, n_stains)."""
    way = np.linspace(0.0, 1.0, truth.shape[0])[:, None] + 0.03 * smooth_field(
        truth.shape, 12.0, rng
    )
    depths = MEAN_DEPTHS + way[..., None] * RISE
    for k in range(3):
        abundance = ndimage.gaussian_filter((truth == k + 1).astype(float), POINT_SPREAD)
        angle = 2.0 * np.pi * k / 3.0 + TURN * way
        depths[..., 0] += abundance * HALF_AXES[0] * np.cos(angle)
        depths[..., 1] += abundance * HALF_AXES[1] * np.sin(angle)
    thickness = 1.0 + 0.015 * smooth_field(truth.shape, 4.0, rng)
    return depths * thickness[..., None]


def _add_debris(depths: NDArray[np.float64], share: float, rng: np.random.Generator) -> None:
    """Change the depths of random single pixels in place; depths stay at least 0."""
    hit = rng.random(depths.shape[:2]) < share
    specks = rng.standard_normal((int(hit.sum()), depths.shape[2])) * DEBRIS_DEPTHS
    depths[hit] = np.maximum(depths[hit] + specks, 0.0)


def _shading(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.floating]:
    """Draw an illumination that falls from top to bottom and is slightly uneven."""
    fall = np.linspace(*SHADING, shape[0])[:, None]
    return fall * (1.0 + 0.01 * smooth_field(shape, 20.0, rng))


def _photographed(light: NDArray[np.float64], noise: float, rng: np.random.Generator) -> FloatArray:
    """Add shot noise, which grows with the root of the light, and reading noise."""
    spread = noise * np.sqrt(light + 0.09)
    return (light + spread * rng.standard_normal(light.shape)).astype(np.float32)


def _strokes(truth: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Draw three short curved strokes per class in the upper part, as if by hand."""
    labels = np.zeros_like(truth)
    upper = slice(int(0.06 * len(truth)), int(0.30 * len(truth)))
    for k in (1, 2, 3):
        room = np.zeros(truth.shape)
        room[upper] = ndimage.distance_transform_edt(truth == k)[upper]
        for _ in range(3):
            # A person picks a place where the stroke fits: the longest of a few tries.
            path = max((_curved_path(room, rng) for _ in range(12)), key=len)
            stroke = np.zeros(truth.shape, dtype=bool)
            stroke[tuple(np.transpose(path))] = True
            stroke = ndimage.binary_dilation(stroke) & (truth == k)
            labels[stroke] = k
            room[ndimage.binary_dilation(stroke, iterations=2)] = 0.0
    return labels


def _curved_path(
    room: NDArray[np.float64], rng: np.random.Generator, *, length: int = 11
) -> list[tuple[int, int]]:
    """Walk from a random pixel with a slowly turning heading, as long as there is room."""
    starts = np.argwhere(room >= min(2.0, room.max()))
    place = starts[rng.integers(len(starts))].astype(float)
    heading = rng.uniform(0.0, 2.0 * np.pi)
    bend = rng.uniform(-0.15, 0.15)
    path = [_cell(place)]
    for _ in range(length):
        for swerve in (0.0, 0.5, -0.5, 1.0, -1.0):
            angle = heading + bend + swerve
            ahead = place + np.array([np.sin(angle), np.cos(angle)])
            row, column = _cell(ahead)
            inside = 0 <= row < room.shape[0] and 0 <= column < room.shape[1]
            if inside and room[row, column] >= 2.0:
                heading, place = angle, ahead
                path.append((row, column))
                break
        else:
            return path
    return path


def _cell(place: NDArray[np.float64]) -> tuple[int, int]:
    """Return the pixel that holds a place."""
    return int(np.rint(place[0])), int(np.rint(place[1]))
