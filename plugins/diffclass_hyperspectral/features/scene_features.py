"""Features of a scene's pixels, for neighbours by noise-adjusted components, angle or correlation.

The minimum noise fraction (MNF) transform takes noise from the differences of neighbouring pixels
and orders directions by signal-to-noise ratio: with signal covariance S and noise covariance N it
solves S v = l N v, v' N v = 1, so that noise has variance 1 in every component (A. Green et al.
1988; J. Lee, A. Woodyatt and M. Berman 1990). It is solved as the symmetric problem that it is:
`spectral.mnf` solves a general one, whose vectors become complex where N is nearly singular.

The spectral angle a of two spectra ignores how bright they are, their correlation r an offset too.
Unit spectra u = x / |x|, and u of x minus its mean over the bands, turn both into distances:

    |u(x) - u(y)| = 2 sin(a / 2),    |u(x) - u(y)| = (2 - 2 r)^(1/2)

(F. Kruse et al. 1993; O. de Carvalho and P. Meneses 2000). Their leading directions keep all but
1/10,000 of the spread of the unit spectra, and with it their distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from diffclass.exceptions import DataError, ParameterError
from diffclass.progress import stage
from diffclass_hyperspectral.features.field_weights import field_weights
from diffclass_hyperspectral.features.metrics import METRICS
from diffclass_hyperspectral.features.smoothing import (
    GaussianSmoothing,
    GridDiffusion,
    Smoothing,
    grid_bytes,
)
from diffclass_hyperspectral.io import row_blocks
from diffclass_hyperspectral.io.scenes import Scene

_COMPONENTS = 20
_MOST_PIXELS = 30_000  # for covariances: over a hundred times the bands
_BLOCK_ROWS = 64
_BYTES_PER_VALUE = 56  # of working space for a value of a block
_NOISE_FLOOR = 1e-6  # of the mean noise variance, so that a noiseless band cannot divide by zero
_LOST_SPREAD = 1e-4  # of unit spectra: distances change by a hundredth at most, on average
_ROUNDING = 1e-12  # of squares of unit spectra, which are single
_FLAT = 1e-5  # of a spectrum's length; below it what is left is rounding


class SceneFeatures(TransformerMixin, BaseEstimator):
    """Turn a scene into one row of features per pixel.

    Parameters
    ----------
    n_components : int, optional
        Components kept, at most the number of usable bands. By default 20 of the MNF; for angle
        and correlation as many as keep all but 1/10,000 of the spread of the unit spectra.
    metric : {"euclidean", "angle", "correlation"}, default="euclidean"
        What the features' Euclidean distance is: that of MNF components, or one that grows with
        the spectral angle or as the correlation falls; brightness does not count there. They
        use all usable bands equally, noisy ones too. A spectrum of zeros, and for correlation any
        that is flat, has no direction: such a pixel counts as one without data.
    spatial : bool, default=False
        Whether the components are taken at several spatial scales.
    scales : sequence of float or Smoothing, default=(0, GridDiffusion())
        How the components of each spatial scale are smoothed (smoothing and projection commute:
        20 components are smoothed, not 200 bands). A number is the standard deviation of a
        Gaussian in pixels, 0 none; an object is one of `features.smoothing` or has
        its methods. For angle and correlation spectra are smoothed first and
        then scaled to length 1.
    field_power : float, default=1.0
        How much less those directions of smoothed MNF components count in which pixels differ
        within fields; at 0 all count equally. See `diffclass_hyperspectral.features.field_weights`.
    position_weight : float, default=0.0
        Units of feature per pixel of row and column, which join the components if spatial and
        not 0; the components of each scale have mean square 1 (for angle and correlation about
        their mean). About 0.01 helps a little where
        each class lies in one place, and means nothing in another scene.

    Attributes
    ----------
    bands_ : ndarray of bool of shape (bands,)
        Bands in use.
    mean_ : ndarray of shape (n_used_bands,)
        Only of MNF components.
    directions_ : ndarray of shape (n_used_bands, n_components_)
        The vectors v; for angle and correlation orthonormal ones.
    signal_to_noise_ : ndarray of shape (n_components_,)
        l - 1; only of MNF components.
    n_components_ : int
    weights_ : ndarray of float32 of shape (n_scales, n_components_, n_components_)
        What the smoothed components of each scale are multiplied by; only of MNF components, and
        if spatial.
    scales_ : ndarray of shape (n_scales,)
        What the components of each spatial scale are divided by; only if spatial.

    Notes
    -----
    The covariances take up to 30,000 pixels in double precision, the scene itself is read in
    blocks of rows: memory is that of the result, 4 bytes x pixels x features, and while
    smoothing three to four times 4 bytes x pixels x components more.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import SceneFeatures
    >>> cube = make_tissue_scene(48, 48, random_state=0).cube
    >>> SceneFeatures(spatial=True).fit_transform(cube).shape
    (2304, 40)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        metric: str = "euclidean",
        spatial: bool = False,
        scales: Sequence[float | Smoothing] = (0, GridDiffusion()),
        field_power: float = 1.0,
        position_weight: float = 0.0,
    ):
        self.n_components = n_components
        self.metric = metric
        self.spatial = spatial
        self.scales = scales
        self.field_power = field_power
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
            Where no pixel has data, all bands are constant, no two valid pixels touch, or no
            spectrum has a direction.
        ParameterError
            For fewer than one component, an unknown metric, or a scale or a weight below 0.
        """
        scene = _as_scene(X)
        self._fit_components(scene)
        if self.spatial:
            self._scaled(scene, fit=True)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the features of the same scene, as `transform`."""
        scene = _as_scene(X)
        self._fit_components(scene)
        return self._features(scene, fit=True)

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of a scene with the same bands.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)

        Returns
        -------
        ndarray of float32 of shape (rows * columns, p)
            Row-major; missing pixels are rows of NaN. p = n_components_, or if spatial
            len(scales) x n_components_, plus 2 for the position.
        """
        check_is_fitted(self)
        scene = _as_scene(X)
        if scene.n_bands != len(self.bands_):
            raise DataError(
                f"{scene.path}: has {scene.n_bands} bands; the features were fitted to "
                f"{len(self.bands_)}"
            )
        return self._features(scene, fit=False)

    def weight_beyond(self, X: Any) -> np.ndarray:
        """Return how much of a pixel's features other pixels make, by their distance.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)
            The scene that they were fitted to, or one with the same bands.

        Returns
        -------
        ndarray of shape (n,)
            For r = 0, 1, ..., n - 1 the share of the weight that comes from farther than r rows or
            columns, at the spatial scale where it is largest; 0 beyond. [0] unless spatial.

        Notes
        -----
        The scene is projected once more. Positions, and what is learnt from the whole scene (bands,
        directions, weights), are not counted.

        Examples
        --------
        >>> from diffclass.datasets import make_tissue_scene
        >>> from diffclass_hyperspectral import SceneFeatures
        >>> cube = make_tissue_scene(48, 48, random_state=0).cube
        >>> features = SceneFeatures(spatial=True, scales=(0, 2.0)).fit(cube)
        >>> features.weight_beyond(cube)[:7].round(2)
        array([0.96, 0.7 , 0.37, 0.15, 0.05, 0.01, 0.  ])
        """
        check_is_fitted(self)
        if not self.spatial:
            return np.zeros(1)
        scene = _as_scene(X)
        image = self._components(scene).reshape(*scene.shape[:2], self.n_components_)
        valid = np.isfinite(image[..., 0])
        with stage("features: reach"):
            found = [s.weight_beyond(image, valid) for s in self._smoothings()]
        largest = np.zeros(max(map(len, found)))
        for shares in found:
            largest[: len(shares)] = np.maximum(largest[: len(shares)], shares)
        return largest

    def n_features(self, n_bands: int) -> int:
        """Return the largest number of features of a pixel with that many usable bands."""
        default = _COMPONENTS if self.metric == "euclidean" else n_bands
        k = min(default if self.n_components is None else self.n_components, n_bands)
        positions = 2 if self.position_weight else 0
        return len(self.scales) * k + positions if self.spatial else k

    def working_bytes(self, shape: tuple[int, int, int], n_bands: int) -> int:
        """Return the most bytes that making the features holds: blocks of the scene, or the result.

        Parameters
        ----------
        shape : tuple of int
            Rows, columns and bands of the scene.
        n_bands : int
            Usable ones.
        """
        rows, columns, bands = shape
        n, p = rows * columns, self.n_features(n_bands)
        most = max(2 * columns * bands, row_blocks.BLOCK_VALUES)
        block = _BYTES_PER_VALUE * min(n * bands, most)
        result = 4 * n * p
        if self.spatial:  # the components and three terms of the series that smooths them
            result += 16 * n * (p // len(self.scales)) + grid_bytes(n)
        return max(block, result) + 8 * n

    def check_parameters(self) -> None:
        """Raise `ParameterError` for parameters that no scene can be fitted with."""
        k = self.n_components
        if k is not None and not (isinstance(k, int | np.integer) and k >= 1):
            raise ParameterError(f"n_components = {k!r}; at least 1 is needed")
        if self.metric not in METRICS:
            raise ParameterError(f"metric = {self.metric!r}; possible: {', '.join(METRICS)}")
        if self.spatial:
            self._smoothings()
        for name in ("field_power", "position_weight"):
            if not getattr(self, name) >= 0:
                raise ParameterError(f"{name} = {getattr(self, name)!r} is below 0")

    def _fit_components(self, scene: Scene) -> None:
        self.check_parameters()
        with stage("features: bands"):
            self.bands_ = scene.usable_bands()
        if self.metric == "euclidean":
            self._fit_noise_adjusted(scene)
        else:
            self._fit_unit_spectra(scene)

    def _fit_noise_adjusted(self, scene: Scene) -> None:
        from scipy.linalg import eigh

        with stage("features: covariances"):
            self.mean_, signal, noise = _covariances(scene, self.bands_)
        n_bands = len(signal)
        noise += _NOISE_FLOOR * np.trace(noise) / n_bands * np.eye(n_bands)
        wanted = _COMPONENTS if self.n_components is None else self.n_components
        self.n_components_ = min(wanted, n_bands)
        least = n_bands - self.n_components_
        with stage("features: directions"):
            ratios, vectors = eigh(signal, noise, subset_by_index=[least, n_bands - 1])
        self.signal_to_noise_ = ratios[::-1] - 1
        self.directions_ = vectors[:, ::-1]

    def _fit_unit_spectra(self, scene: Scene) -> None:
        from scipy.linalg import eigh

        with stage("features: covariances"):
            mean, moments = self._unit_moments(scene)
        with stage("features: directions"):
            squares, vectors = eigh(moments)
        spread = np.trace(moments) - mean @ mean
        lost = np.cumsum(squares)  # ascending: without the first j directions, lost[j - 1] is
        n_left_out = int(np.searchsorted(lost, max(_LOST_SPREAD * spread, _ROUNDING)))
        n_kept = max(1, len(squares) - n_left_out)
        self.n_components_ = n_kept if self.n_components is None else min(self.n_components, n_kept)
        self.directions_ = vectors[:, : -self.n_components_ - 1 : -1]

    def _unit_moments(self, scene: Scene) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of u and of u u' over a sample of rows."""
        n_bands = int(self.bands_.sum())
        total, products, n_pixels = np.zeros(n_bands), np.zeros((n_bands, n_bands)), 0
        for rows in _sampled_rows(scene.shape):
            spectra = [scene.spectra(slice(r, r + 1), bands=self.bands_) for r in rows]
            units = _unit_rows(_finite_rows(self._with_direction(np.concatenate(spectra))))
            units = units.astype(np.float64)
            total += units.sum(axis=0)
            products += units.T @ units
            n_pixels += len(units)
        if n_pixels == 0:
            raise DataError(
                f"{scene.path}: every spectrum is {'flat' if self._is_centered else 'zero'}, none "
                f"has a direction for metric={self.metric!r}; use metric='euclidean'"
            )
        return total / n_pixels, products / n_pixels

    @property
    def _is_centered(self) -> bool:
        return self.metric == "correlation"

    def _with_direction(self, spectra: np.ndarray) -> np.ndarray:
        """Make what the directions are applied to, in place; NaN where there is no direction."""
        if self.metric == "euclidean":
            return spectra
        length = _lengths(spectra)
        if self._is_centered:
            spectra -= spectra.mean(axis=1, keepdims=True)
        spectra[_lengths(spectra) <= _FLAT * length] = np.nan
        return spectra

    def _features(self, scene: Scene, *, fit: bool) -> np.ndarray:
        if self.spatial:
            return self._scaled(scene, fit=fit)
        components = self._components(scene)
        return components if self.metric == "euclidean" else _unit_rows(components)

    def _components(self, scene: Scene) -> np.ndarray:
        rows, columns, bands = scene.shape
        out = np.empty((rows * columns, self.n_components_), dtype=np.float32)
        directions = self.directions_.astype(np.float32)
        with stage("features: projection"):
            for block in row_blocks.row_blocks(rows, columns * bands, most_rows=_BLOCK_ROWS):
                pixels = slice(block.start * columns, block.stop * columns)
                spectra = self._with_direction(scene.spectra(block, bands=self.bands_))
                np.matmul(spectra, directions, out=out[pixels])
            if self.metric == "euclidean":
                out -= (self.mean_ @ self.directions_).astype(np.float32)
        return out

    def _scaled(self, scene: Scene, *, fit: bool) -> np.ndarray:
        rows, columns, _ = scene.shape
        k = self.n_components_
        image = self._components(scene).reshape(rows, columns, k)
        with stage("features: smoothing"):
            valid = np.isfinite(image[..., 0])
            smoothings = self._smoothings()
            n_scales = len(smoothings)
            positions = 2 if self.position_weight else 0
            out = np.full((rows * columns, n_scales * k + positions), np.nan, dtype=np.float32)
            if fit:
                self.scales_ = np.ones(n_scales)
                self.weights_ = np.zeros((n_scales, k, k), dtype=np.float32)
            for j, smoothing in enumerate(smoothings):
                smooth = smoothing.smooth(image, valid)
                if self.metric != "euclidean":
                    found = _unit_rows(smooth[valid])
                else:
                    if fit:
                        self.weights_[j] = field_weights(image, smooth, valid, self.field_power)
                    found = smooth[valid] @ self.weights_[j]
                if fit:
                    self.scales_[j] = self._spread(found) or 1
                out[valid.ravel(), j * k : (j + 1) * k] = found / np.float32(self.scales_[j])
            if positions:
                out[valid.ravel(), -2:] = np.argwhere(valid) * np.float32(self.position_weight)
        return out

    def _smoothings(self) -> list[Smoothing]:
        if not len(self.scales):
            raise ParameterError("scales is empty; give one or more, 0 for the picture as it is")
        return [s if isinstance(s, Smoothing) else GaussianSmoothing(s) for s in self.scales]

    def _spread(self, found: np.ndarray) -> float:
        square = np.mean(np.square(found), dtype=np.float64)
        if self.metric != "euclidean":  # unit spectra lie around their mean, not around 0
            square -= np.mean(np.square(found.mean(axis=0, dtype=np.float64)))
        return float(np.sqrt(max(square, 0)))


def _as_scene(X: Any) -> Scene:
    return X if isinstance(X, Scene) else Scene.from_array(np.asarray(X))


def _sampled_rows(shape: tuple[int, int, int]) -> Iterator[range]:
    """Yield evenly spaced rows, as many at a time as make a block."""
    rows, columns, bands = shape
    step = -(-rows * columns // _MOST_PIXELS)
    reach = step * min(_BLOCK_ROWS, row_blocks.rows_of_a_block(columns * bands))
    return (range(r, min(r + reach, rows), step) for r in range(0, rows, reach))


def _lengths(spectra: np.ndarray) -> np.ndarray:
    # in double precision: squares of digital numbers soon pass what single can tell apart
    return np.sqrt(np.einsum("ij,ij->i", spectra, spectra, dtype=np.float64))


def _unit_rows(spectra: np.ndarray) -> np.ndarray:
    """Scale the rows to length 1, in place; rows of zeros stay."""
    lengths = _lengths(spectra)
    spectra /= np.where(lengths > 0, lengths, 1).astype(spectra.dtype)[:, None]
    return spectra


def _covariances(scene: Scene, bands: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, signal and noise covariance: noise from differences to the right and below."""
    columns, n_bands = scene.shape[1], int(bands.sum())
    mean = np.zeros(n_bands)
    products, differences = np.zeros((2, n_bands, n_bands))
    n_pixels = n_differences = 0
    shift = np.zeros(n_bands)
    for rows in _sampled_rows(scene.shape):
        lines = [slice(r, r + 2) for r in rows]
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
        raise DataError(
            f"{scene.path}: pixels that touch are all equal; there is no noise to estimate"
        )
    mean /= n_pixels
    signal = products / n_pixels - np.outer(mean, mean)
    return mean + shift, signal, differences / n_differences


def _finite_rows(values: np.ndarray) -> np.ndarray:
    table = values.reshape(-1, values.shape[-1])
    return table[np.isfinite(table).all(axis=1)]
