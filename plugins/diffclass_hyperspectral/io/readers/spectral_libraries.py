"""Spectral libraries: ENVI's ``.sli`` with its header, and CSV with a column of wavelengths."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.output import replacing_pair, require_writable
from diffclass_hyperspectral.io.libraries import require, require_file
from diffclass_hyperspectral.io.readers import envi
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres
from diffclass_hyperspectral.io.tables import read_table, write_table

ENDINGS = (".sli", ".csv")


@dataclass(frozen=True, eq=False)
class SpectralLibrary:
    """Spectra with names.

    Attributes
    ----------
    names : tuple of str
        Of each spectrum; several may have one name.
    spectra : ndarray of float64 of shape (n, bands)
    wavelengths : ndarray of float64 of shape (bands,), or None
        In nanometres; None where the file states none.
    """

    names: tuple[str, ...]
    spectra: np.ndarray
    wavelengths: np.ndarray | None = None


def is_library(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file's ending is that of a spectral library."""
    return Path(path).suffix.lower() in ENDINGS


def read_library(path: str | os.PathLike[str]) -> SpectralLibrary:
    """Read a spectral library.

    Parameters
    ----------
    path : path-like
        ``.sli`` with its ``.hdr`` beside, or ``.csv``: a line of names, then a line for each band
        with its wavelength and a value of each spectrum. Without a unit in the name of the first
        column, as in "wavelength (nm)", wavelengths below 100 are micrometres.

    Raises
    ------
    DataError
        Where the file cannot be read, or holds no spectrum.
    """
    place = Path(path)
    require_file(place)
    centers: Sequence[float] | np.ndarray | None
    if place.suffix.lower() == ".sli":
        names, spectra, centers, unit = envi.read_library(place)
    else:
        table, columns = read_table(place)
        if table.shape[1] < 2:
            raise DataError(f"{place}: one column; give wavelengths first, then the spectra")
        names, spectra, centers, unit = columns[1:], table[:, 1:].T, table[:, 0], _unit(columns[0])
    if not len(spectra):
        raise DataError(f"{place}: holds no spectrum")
    wavelengths = None if centers is None else in_nanometres(np.asarray(centers, float), unit)
    if wavelengths is not None and not np.isfinite(wavelengths).all():
        raise DataError(f"{place}: wavelengths are missing; fill in the first column")
    return SpectralLibrary(
        tuple(name.strip() for name in names), np.asarray(spectra, dtype=np.float64), wavelengths
    )


def write_library(
    path: str | os.PathLike[str], library: SpectralLibrary, *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a spectral library, whole or not at all.

    Parameters
    ----------
    path : path-like
        ``.sli`` (a ``.hdr`` comes beside it) or ``.csv``; see `read_library`.
    library : SpectralLibrary
        NaN = no value.
    overwrite : bool, default=False
        Whether files that exist may be replaced.

    Returns
    -------
    tuple of Path
        The files written, the one to read first.

    Raises
    ------
    ParameterError
        For another ending, or where nothing can be written there.
    """
    place = Path(path)
    if place.suffix.lower() == ".csv":
        n_bands = library.spectra.shape[1]
        known = library.wavelengths is not None
        centers = library.wavelengths if known else np.arange(1.0, n_bands + 1)
        columns = np.column_stack([np.asarray(centers), library.spectra.T])
        first = "wavelength (nm)" if known else "band"
        write_table(place, columns, [first, *library.names], overwrite=overwrite)
        return (place,)
    if place.suffix.lower() != ".sli":
        raise ParameterError(f"{place}: a spectral library is written as .sli or .csv")
    header = place.with_suffix(".hdr")
    for file in (place, header):
        require_writable(file, overwrite=overwrite)
    known_fields = {
        "spectra names": [re.sub(r"[,{}]", ";", name) for name in library.names],
        **(
            {}
            if library.wavelengths is None
            else {"wavelength": library.wavelengths.tolist(), "wavelength units": "Nanometers"}
        ),
    }
    with replacing_pair(place, header, overwrite=overwrite) as (data, beside):
        made = require("spectral.io.envi").SpectralLibrary(library.spectra, known_fields)
        made.save(os.fspath(data.with_suffix("")))
        data.with_suffix(".hdr").rename(beside)
    return place, header


def _unit(name: str) -> str | None:
    """Return the unit in the name of a column, if there is one."""
    words: Sequence[str] = re.findall(r"[^\W\d_]+", name.lower())
    known = [word for word in words if in_nanometres(np.ones(1), word) is not None]
    return next((word for word in known if word not in ("unknown", "none")), None)
