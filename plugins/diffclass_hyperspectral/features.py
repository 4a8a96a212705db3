"""Features of a scene's pixels: noise-adjusted components, alone or at several spatial scales.

The minimum noise fraction (MNF) transform takes noise from the differences of neighbouring pixels
and orders directions by signal-to-noise ratio: with signal covariance S and noise covariance N it
solves S v = l N v, v' N v = 1, so that noise has variance 1 in every component (A. Green et al.
1988; J. Lee, A. Woodyatt and M. Berman 1990). The problem is solved as the symmetric one that it
is: `spectral.mnf` solves a general one, whose vectors turn complex where N is nearly singular.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral.scenes import Scene

_MOST_PIXELS = 30_000  # for covariances: over a hundred times the bands
_BLOCK_ROWS = 64
_NOISE_FLOOR = 1e-6  # of the mean noise variance, so that a noiseless band cannot divide by zero


class SceneFeatures(TransformerMixin, BaseEstimator):
    """Turn a scene into one row of features per pixel.

    Parameters
    ----------
    n_components : int, default=20
        MNF components kept; at most the number of usable bands.
    spatial : bool, default=False
        Whether the components are taken at several spatial scales.
    sigmas : sequence of float, default=(0, 1, 2)
        Standard deviations, in pixels, of the Gaussians that smooth the components (smoothing
        and projection commute: 20 components are smoothed, not 200 bands).
    position_weight : float, default=0.0
        Units of feature per pixel of row and column, which join the components if spatial and
        not 0; the components of each scale have mean square 1. About 0.01 helps a little where
        each class lies in one place, and means nothing in another scene.

    Attributes
    ----------
    bands_ : ndarray of bool of shape (bands,)
        Bands in use.
    mean_ : ndarray of shape (n_used_bands,)
    directions_ : ndarray of shape (n_used_bands, n_components_)
        The vectors v.
    signal_to_noise_ : ndarray of shape (n_components_,)
        l - 1.
    n_components_ : int
    scales_ : ndarray of shape (n_sigmas,)
        What the components of each spatial scale are divided by; only if spatial.

    Notes
    -----
    The covariances take up to 30,000 pixels in double precision, the scene itself is gone through
    in blocks of rows: memory is that of the result, 4 bytes x pixels x features, and twice that
    while smoothing.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import SceneFeatures
    >>> cube = make_tissue_scene(48, 48, random_state=0).cube
    >>> SceneFeatures(spatial=True).fit_transform(cube).shape
    (2304, 60)
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        spatial: bool = False,
        sigmas: Sequence[float] = (0, 1, 2),
        position_weight: float = 0.0,
    ):
        self.n_components = n_components
        self.spatial = spatial
        self.sigmas = sigmas
        self.position_weight = position_weight

    def fit(self, X: Any, y: Any = None) -> SceneFeatures:
        """Find the components of a scene.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)
            NaN marks missing pixels.

        Raises
        ------
        DataError
            Where no pixel has data, all bands are constant, or no two valid pixels touch.
        ParameterError
            For fewer than one component, or sigmas or a weight below 0.
        """
        self._fit_components(_as_scene(X))
        if self.spatial:
            self._scaled(X, fit=True)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the features of the same scene, as `transform`."""
        scene = _as_scene(X)
        self._fit_components(scene)
        return self._scaled(scene, fit=True) if self.spatial else self._components(scene)

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of a scene with the same bands.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)

        Returns
        -------
        ndarray of float32 of shape (rows * columns, p)
            Row-major; missing pixels are rows of NaN. p = n_components_, or if spatial
            len(sigmas) x n_components_, plus 2 for the position.
        """
        check_is_fitted(self)
        scene = _as_scene(X)
        if scene.n_bands != len(self.bands_):
            raise DataError(
                f"{scene.path}: has {scene.n_bands} bands; the features were fitted to "
                f"{len(self.bands_)}"
            )
        return self._scaled(scene, fit=False) if self.spatial else self._components(scene)

    def _fit_components(self, scene: Scene) -> None:
        from scipy.linalg import eigh

        self._check_parameters()
        self.bands_ = scene.usable_bands()
        self.mean_, signal, noise = _covariances(scene, self.bands_)
        n_bands = len(signal)
        noise += _NOISE_FLOOR * np.trace(noise) / n_bands * np.eye(n_bands)
        self.n_components_ = min(self.n_components, n_bands)
        least = n_bands - self.n_components_
        ratios, vectors = eigh(signal, noise, subset_by_index=[least, n_bands - 1])
        self.signal_to_noise_ = ratios[::-1] - 1
        self.directions_ = vectors[:, ::-1]

    def _check_parameters(self) -> None:
        if not (isinstance(self.n_components, int | np.integer) and self.n_components >= 1):
            raise ParameterError(f"n_components = {self.n_components!r}; at least 1 is needed")
        if self.spatial and (not len(self.sigmas) or min(self.sigmas) < 0):
            raise ParameterError(f"sigmas = {self.sigmas!r}; give one or more, none below 0")
        if self.position_weight < 0:
            raise ParameterError(f"position_weight = {self.position_weight!r} is below 0")

    def _components(self, scene: Scene) -> np.ndarray:
        rows, columns, _ = scene.shape
        out = np.empty((rows * columns, self.n_components_), dtype=np.float32)
        directions = self.directions_.astype(np.float32)
        offset = (self.mean_ @ self.directions_).astype(np.float32)
        for block in _row_blocks(rows):
            pixels = slice(block.start * columns, block.stop * columns)
            spectra = scene.spectra(block, bands=self.bands_)
            np.matmul(spectra, directions, out=out[pixels])
        out -= offset
        return out

    def _scaled(self, X: Any, *, fit: bool) -> np.ndarray:
        scene = _as_scene(X)
        rows, columns, _ = scene.shape
        k = self.n_components_
        image = self._components(scene).reshape(rows, columns, k)
        valid = scene.valid
        n_scales = len(self.sigmas)
        positions = 2 if self.position_weight else 0
        out = np.full((rows * columns, n_scales * k + positions), np.nan, dtype=np.float32)
        if fit:
            self.scales_ = np.ones(n_scales)
        for j, smooth in enumerate(_smoothed(image, valid, self.sigmas)):
            found = smooth[valid]
            if fit:
                self.scales_[j] = np.sqrt(np.mean(np.square(found), dtype=np.float64)) or 1
            out[valid.ravel(), j * k : (j + 1) * k] = found / np.float32(self.scales_[j])
        if positions:
            out[valid.ravel(), -2:] = np.argwhere(valid) * np.float32(self.position_weight)
        return out


def _as_scene(X: Any) -> Scene:
    return X if isinstance(X, Scene) else Scene.from_array(np.asarray(X))


def _row_blocks(rows: int) -> Iterator[slice]:
    return (slice(r, min(r + _BLOCK_ROWS, rows)) for r in range(0, rows, _BLOCK_ROWS))


def _covariances(scene: Scene, bands: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, signal and noise covariance: noise from differences to the right and below."""
    rows, columns, _ = scene.shape
    n_bands = int(bands.sum())
    step = -(-rows * columns // _MOST_PIXELS)
    mean = np.zeros(n_bands)
    products, differences = np.zeros((2, n_bands, n_bands))
    n_pixels = n_differences = 0
    shift = np.zeros(n_bands)
    for top in range(0, rows, step * _BLOCK_ROWS):
        lines = [slice(r, r + 2) for r in range(top, min(top + step * _BLOCK_ROWS, rows), step)]
        pairs = [scene.spectra(line, bands=bands).reshape(-1, columns, n_bands) for line in lines]
        block = np.stack([pair[0] for pair in pairs]).astype(np.float64)
        pixels = _finite_rows(block)
        if n_pixels == 0 and len(pixels):
            shift = pixels.mean(axis=0)  # what is squared below should be small
        pixels -= shift
        mean += pixels.sum(axis=0)
        products += pixels.T @ pixels
        n_pixels += len(pixels)
        below = [pair[1] - pair[0] for pair in pairs if len(pair) > 1]
        for difference in [np.diff(block, axis=1), *([np.stack(below)] if below else [])]:
            found = _finite_rows(difference)
            differences += found.T @ found
            n_differences += 2 * len(found)
    if n_differences == 0:
        raise DataError(f"{scene.path}: no two pixels with data touch; noise cannot be estimated")
    if not differences.any():
        raise DataError(f"{scene.path}: pixels that touch are all alike; there is no noise to find")
    mean /= n_pixels
    signal = products / n_pixels - np.outer(mean, mean)
    return mean + shift, signal, differences / n_differences


def _finite_rows(values: np.ndarray) -> np.ndarray:
    table = values.reshape(-1, values.shape[-1])
    return table[np.isfinite(table).all(axis=1)]


def _smoothed(
    image: np.ndarray, valid: np.ndarray, sigmas: Sequence[float]
) -> Iterator[np.ndarray]:
    """Yield the image smoothed by each Gaussian; missing pixels give and take nothing."""
    from scipy.ndimage import gaussian_filter

    whole = bool(valid.all())
    filled = image if whole else np.where(valid[..., None], image, np.float32(0))
    for sigma in sigmas:
        if sigma == 0:
            yield image
            continue
        smooth = gaussian_filter(filled, (sigma, sigma, 0), mode="nearest")
        if not whole:
            share = gaussian_filter(valid.astype(np.float32), sigma, mode="nearest")
            smooth /= np.maximum(share, np.finfo(np.float32).tiny)[..., None]
        yield smooth
