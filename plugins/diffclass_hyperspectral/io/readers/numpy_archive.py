"""NumPy ``.npz`` archives: one array of them, never unpickled, and its wavelengths beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.failures import reading
from diffclass_hyperspectral.io.readers.matlab import Listing, pick
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_WAVELENGTHS = ("wavelengths", "wavelength", "wavelengths_nm")


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Read the named or only array of so many axes into memory.

    Raises
    ------
    DataError
        Where the file is damaged, or no array or several arrays fit.
    """
    with reading(path, "a NumPy .npz archive"), np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
        numeric = {name: a.shape for name, a in arrays.items() if a.dtype.kind in "biuf"}
        data = pick(Listing(path, numeric, arrays.__getitem__), variable, n_axes=n_axes)
        return Contents(data, "NumPy", wavelengths=_wavelengths(arrays, data.shape))


def _wavelengths(arrays: dict[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray | None:
    for name in _WAVELENGTHS:
        found = arrays.get(name)
        if found is not None and found.shape == shape[2:] and found.dtype.kind in "iuf":
            values = found.astype(np.float64)
            return in_nanometres(values, None) if np.isfinite(values).all() else None
    return None
