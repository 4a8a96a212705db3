"""How large a scene's values are, band by band, and whether another has its values in other units.

The level of a band is the median and the 95 % quantile of its values without their sign. Between
scenes it changes by what lies in them and by the light; where units differ, by one factor in all
bands. A band's factor is that of the two quantiles which is nearer to 1, and 1 where they disagree
on which scene is brighter. The units differ where

    the factor is above 4 in nine bands of ten, or below 1/4 in nine of ten.
"""

from __future__ import annotations

import numpy as np

from diffclass_hyperspectral.io.scenes.scene import Scene

_SHARES = (0.5, 0.95)
_LEAST = 4.0
_FEW_BANDS = 0.1  # of them may have smaller factors
_SAMPLED = 4_000  # pixels: little compared with a window of rows
_NEAR_TEN = 0.25  # decades to a power of ten, which is then what is meant


def value_levels(spectra: np.ndarray) -> np.ndarray | None:
    """Return the levels (2, n_bands) of spectra (n, n_bands), NaN: no data; None without any."""
    found = spectra[np.isfinite(spectra).all(axis=1)]
    return np.quantile(np.abs(found), _SHARES, axis=0) if len(found) else None


def sampled_levels(scene: Scene, bands: np.ndarray) -> np.ndarray | None:
    """Return the levels of some bands of a scene, from evenly spaced rows that have data."""
    rows = np.flatnonzero(scene.valid.any(axis=1))
    step = -(-len(rows) * scene.shape[1] // _SAMPLED) or 1
    spectra = [scene.spectra(slice(row, row + 1), bands=bands) for row in rows[::step]]
    return value_levels(np.concatenate(spectra)) if spectra else None


def unit_factor(levels: np.ndarray | None, reference: np.ndarray | None) -> float | None:
    """Return by what factor levels are larger than a reference, where that is one of units.

    It is the median over the bands, or the power of ten that is near.

    >>> import numpy as np
    >>> levels = value_levels(np.random.default_rng(0).uniform(0.1, 0.5, size=(50, 20)))
    >>> unit_factor(9000 * levels, levels), unit_factor(1.5 * levels, levels)
    (10000.0, None)
    """
    if levels is None or reference is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        decades = np.log10(levels / reference)
    decades = decades[:, ~np.isnan(decades).any(axis=0) & np.isfinite(decades).any(axis=0)]
    if not decades.size:
        return None
    agree = np.sign(decades[0]) == np.sign(decades[1])
    nearer = np.where(agree, np.sign(decades[0]) * np.abs(decades).min(axis=0), 0)
    least, most = np.quantile(nearer, [_FEW_BANDS, 1 - _FEW_BANDS])
    if max(least, -most) <= np.log10(_LEAST):
        return None
    between = decades.mean(axis=0)  # of the two quantiles; infinite where one is 0
    median = float(np.median(np.where(np.isfinite(between), between, nearer)))
    whole = round(median)
    return float(10.0 ** (whole if abs(median - whole) <= _NEAR_TEN else median))


def factor_text(factor: float) -> str:
    """Return a factor with its direction to read: "10,000 times smaller"."""
    return f"about {round_factor(max(factor, 1 / factor))} times " + (
        "larger" if factor > 1 else "smaller"
    )


def round_factor(factor: float) -> str:
    """Return a factor in two digits: "10,000", "250", "0.0001"."""
    text = f"{float(f'{factor:.2g}'):,.10f}".rstrip("0").rstrip(".")
    return text if factor < 1e15 and text not in ("", "0") else f"{factor:.2g}"
