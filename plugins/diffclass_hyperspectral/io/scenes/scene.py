"""Scenes: a cube of spectra with what its file says about bands, units and missing pixels.

A scene is opened, not loaded: every method goes through its memory map or its compressed file in
blocks of rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError, option_name, warn_user
from diffclass.system.mapped_files import release_pages
from diffclass.system.progress import in_parts
from diffclass.system.remote_paths import place_of
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    LookupTable,
    Turn,
    georeference_of,
    map_info_of,
)
from diffclass_hyperspectral.io.rasters import BlockArray, row_blocks, unmasked
from diffclass_hyperspectral.io.records import FileStamp
from diffclass_hyperspectral.io.scenes.band_survey import LARGEST, BandSurvey, largest_of, of_bands
from diffclass_hyperspectral.io.scenes.selection import chosen_bands, pixels_in

_FACTS = {"band_mask": bool, "wavelengths": float, "widths": float, "band_names": str,
          "region": bool}  # fmt: skip
_LEAST_SPREAD = 2.0**-16  # of values, of which single precision has 24 bits
_FEW_PARTIAL = 0.01  # of the pixels with data may lack some bands without a word: edges of bands


@dataclass(frozen=True, eq=False)
class Scene:
    """A cube of spectra and the facts of its file, by `open_scene` or `Scene.from_array`.

    Attributes
    ----------
    data : ndarray or BlockArray of shape (rows, columns, bands)
        Stored values, unscaled: read when asked for, or read-only where it lies on a memory map,
        and then in the file's byte order.
    path : Path
    format : str
    wavelengths, widths : ndarray of shape (bands,) or None
        Band centres, and full widths of the bands' responses at half of their maximum, in
        nanometres.
    band_mask : ndarray of shape (bands,), bool
        True for the bands that the file calls good.
    ignore_value : float or None
        The stored value that means "no data".
    scale_factor : float
        Stored values divided by it are reflectances.
    band_names, map_info : tuple of str or None
        As the ENVI header has them.
    georeference : Georeference or None
        Affine transform and coordinate system, where the file states them.
    lookup_table, read_lookup_table : LookupTable or None, callable or None
        The table between the sensor's grid, in which such a scene is, and a map; what reads it.
    region : ndarray of bool of shape (rows, columns) or None
        Pixels to work with; None: all.
    stamp : FileStamp or None
        Of the file when it was opened; reading raises `DataError` where it has changed since.

    See Also
    --------
    open_scene : Opens a file.
    open_tiles : Opens several files as one.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene
    >>> cube = np.random.default_rng(0).random((4, 5, 3))
    >>> cube[0, 0] = np.nan
    >>> scene = Scene.from_array(cube, wavelengths=np.array([480.0, 560.0, 655.0]))
    >>> scene.shape, int(scene.valid.sum()), scene.select(bands="500-700nm").band_mask.tolist()
    ((4, 5, 3), 19, [False, True, True])
    """

    data: Any  # BlockArray reads like an array, but is no ndarray
    path: Path
    format: str
    band_mask: np.ndarray
    wavelengths: np.ndarray | None = None
    widths: np.ndarray | None = None
    ignore_value: float | None = None
    scale_factor: float = 1.0
    band_names: tuple[str, ...] | None = None
    map_info: tuple[str, ...] | None = None
    read_lookup_table: Callable[[], LookupTable] | None = None
    region: np.ndarray | None = None
    stamp: FileStamp | None = None

    @classmethod
    def from_array(
        cls,
        data: np.ndarray | BlockArray,
        *,
        path: str | os.PathLike[str] = "array",
        format: str = "array",
        band_mask: np.ndarray | None = None,
        **facts: Any,
    ) -> Scene:
        """Make a scene from an array (rows, columns, bands); facts are other attributes of `Scene`.

        What is masked has no data. ``path`` is what messages call it. `DataError`: it is no cube of
        real numbers, no band is good, or a fact is none of this many bands or pixels.
        """
        place = place_of(path)
        cube = data if isinstance(data, BlockArray) else unmasked(data)
        _check_cube(cube, place)
        facts["band_mask"] = np.ones(cube.shape[2], bool) if band_mask is None else band_mask
        for name in _FACTS:
            if facts.get(name) is not None:
                shape = cube.shape[:2] if name == "region" else cube.shape[2:]
                facts[name] = _one_each(name, facts[name], shape, place)
        scale = facts.get("scale_factor", 1.0)
        if not (np.isfinite(scale) and scale > 0):
            raise DataError(
                f"{place}: scale_factor = {scale}; values are divided by a number above 0"
            )
        if not facts["band_mask"].any():
            raise DataError(f"{place}: its bad band list (bbl) leaves no band; correct the header")
        stamp = FileStamp.of_data(cube)
        return cls(data=cube, path=place, format=format, stamp=stamp, **facts)

    def select(
        self,
        *,
        bands: str | Sequence[int] | np.ndarray | None = None,
        mask: Any = None,
        roi: Any = None,
    ) -> Scene:
        """Return the scene with fewer bands or pixels to work with; its size stays.

        Parameters
        ----------
        bands : str or array-like, optional
            As in ``"1-50,60"`` (from 1) or ``"450-1300,1500-1750nm"``; or bool of shape (bands,),
            or numbers from 0. The other bands count as bad ones.
        mask : path-like or array-like of shape (rows, columns), optional
            Pixels that are *not* 0, or in the shapes of a vector file, are left out.
        roi : path-like, array-like, or left, bottom, right, top, optional
            Only such pixels, or those with their centre in a box of map coordinates, are kept.

        Raises
        ------
        ParameterError
            For bands that do not exist.
        DataError
            Where a file cannot be read or does not lie on the scene, or nothing is left.

        Examples
        --------
        >>> scene = Scene.from_array(np.arange(24.0).reshape(2, 3, 4))
        >>> part = scene.select(bands="2-3", mask=[[1, 0, 0], [0, 0, 0]])
        >>> part.spectra().shape, int(part.valid.sum())
        ((6, 2), 5)
        """
        if bands is None and mask is None and roi is None:
            return self
        good = self.band_mask.copy()
        if bands is not None:
            good &= chosen_bands(bands, self)
            if not good.any():
                raise DataError(f"{self.path}: the bands {bands} are all bad ones; choose others")
        region = np.ones(self.shape[:2], bool) if self.region is None else self.region.copy()
        if roi is not None:
            region &= pixels_in(roi, self)
        if mask is not None:
            region &= ~pixels_in(mask, self)
        if not region.any():
            raise DataError(
                f"{self.path}: mask and roi leave no pixel; a mask is left out where it is not 0, "
                "a roi is what is kept"
            )
        return replace(self, band_mask=good, region=region)

    def turned(self, turn: Turn) -> Scene:
        """Return a scene with map coordinates with rows or columns reversed (a step of -1)."""
        if all(part.step == 1 for part in turn):
            return self
        place = self.georeference
        assert place is not None
        return replace(
            self,
            data=self.data.turned(turn) if isinstance(self.data, BlockArray) else self.data[turn],
            map_info=map_info_of(place.reversed(self.shape, turn)),
            region=None if self.region is None else self.region[turn],
        )

    def scaled(self, factor: float) -> Scene:
        """Return the scene with reflectances that are larger by a factor above 0; nothing is read.

        Examples
        --------
        >>> scene = Scene.from_array(np.array([[[5000, 2000]]])).scaled(1e-4)
        >>> scene.spectra(bands=[True, True]).tolist()
        [[0.5, 0.20000000298023224]]
        """
        if not (np.isfinite(factor) and factor > 0):
            raise ParameterError(f"scale = {factor!r}; values are multiplied by a number above 0")
        return replace(self, scale_factor=self.scale_factor / factor)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and bands."""
        rows, columns, bands = self.data.shape
        return rows, columns, bands

    @property
    def n_bands(self) -> int:
        """Number of bands, bad ones included."""
        return self.data.shape[2]

    @property
    def georeference(self) -> Georeference | None:
        """Where the pixels lie on the map, or None."""
        return georeference_of(self.map_info)

    @cached_property
    def lookup_table(self) -> LookupTable | None:
        """Table between the sensor's grid and a map, or None for a scene without one."""
        return None if self.read_lookup_table is None else self.read_lookup_table()

    @property
    def map_georeference(self) -> Georeference | None:
        """Where maps of the scene lie: as the scene itself, or on its lookup table's grid."""
        table = self.lookup_table
        return self.georeference if table is None else georeference_of(table.map_info)

    def centre(self, row: int, column: int) -> tuple[float, float] | None:
        """Return x and y of a pixel's centre by `map_georeference`, or None where it has none."""
        if self.lookup_table is not None:
            return self.lookup_table.centre(row, column)
        return None if self.georeference is None else self.georeference.centre(row, column)

    @cached_property
    def valid(self) -> np.ndarray:
        """Pixels with data, bool of shape (rows, columns).

        A pixel is valid where no good band is NaN, infinite or the ignore value. A band that is so
        in all pixels does not count, with a warning, as many pixels do that lack some bands alone.
        Reflectances beyond 1e18 count as missing, with a warning: they are fill values that the
        file does not state. Outside the region no pixel is valid.
        """
        if self._has_gaps:
            mask = self._survey.valid
        else:
            mask = np.ones(self.shape[:2], bool) if self.region is None else self.region.copy()
        mask.flags.writeable = False
        return mask

    @cached_property
    def empty_bands(self) -> np.ndarray:
        """Bands without data in any pixel, bool of shape (bands,)."""
        if not self._has_gaps:
            return np.zeros(self.n_bands, dtype=bool)
        return ~self._survey.filled

    @cached_property
    def constant_bands(self) -> np.ndarray:
        """Good bands with the same value in all valid pixels, bool of shape (bands,)."""
        lowest, highest = self._survey.lowest, self._survey.highest
        if lowest is None:  # without data no band is known to be constant
            return np.zeros(self.n_bands, dtype=bool)
        return (lowest == highest) & self.band_mask & ~self.empty_bands

    @cached_property
    def _survey(self) -> BandSurvey:
        """What one pass over the file says of pixels and bands."""
        survey = BandSurvey(
            self.shape, self.band_mask, self.ignore_value, self.region, limit=self._limit
        )
        for rows in self._row_blocks():
            survey.add(rows, self.data[rows])
        for said in self._assumptions(survey):
            warn_user(f"{self.path}: {said}")
        return survey

    def _assumptions(self, survey: BandSurvey) -> Iterator[str]:
        """Yield what is taken for no data beyond the pixels that have none in any band."""
        if survey.first_extreme is not None:
            row, column, band, value = survey.first_extreme
            yield (
                f"{survey.n_extreme} pixels hold values that no measurement has, the first "
                f"{value:.4g} in band {band} at row {row}, column {column} (counted from 0); they "
                "are taken for no data"
            )
        for fill, n_pixels in survey.unstated.items():
            if n_pixels:
                yield (
                    f"{n_pixels:,} pixels are {fill:g} in all bands, which the file does not call "
                    "no data, and count as measurements; state it as the file's no-data value, or "
                    "write NaN"
                )
        rounded = np.flatnonzero(self._rounded(survey)) + 1
        if len(rounded):
            yield (
                f"the values of {_numbered(rounded)} differ by less than a "
                f"{1 / _LEAST_SPREAD:,.0f}th of what they are, and single precision rounds them; "
                "take off what they have in common"
            )
        empty = np.flatnonzero(self.band_mask & ~survey.filled) + 1
        if len(empty) and survey.filled.any():
            yield f"no pixel has data in {_numbered(empty)}, left out as bad ones"
        n_touched = survey.n_partial + int(survey.valid.sum())
        if survey.n_partial > _FEW_PARTIAL * n_touched:
            worst = int(survey.lacking.argmax())
            yield (
                f"{survey.n_partial:,} of {n_touched:,} pixels lack some bands and are taken for "
                f"no data; band {worst + 1} lacks most, {survey.lacking[worst]:,} "
                f"({option_name('bands')} leaves bands out)"
            )

    def _rounded(self, survey: BandSurvey) -> np.ndarray:
        """Return which bands single precision cannot tell apart well, bool (bands,)."""
        low, high = survey.lowest, survey.highest
        if low is None or high is None or np.can_cast(self.data.dtype, np.float32):
            return np.zeros(self.n_bands, dtype=bool)
        with np.errstate(all="ignore"):  # of bands that are not asked for
            low, high = low.astype(float), high.astype(float)
            spread = (high - low) / np.maximum(np.abs(low), np.abs(high))
        return self.band_mask & survey.filled & (spread > 0) & (spread < _LEAST_SPREAD)

    @property
    def _limit(self) -> float:
        """Stored values farther from 0 count as missing."""
        return LARGEST * self.scale_factor

    @property
    def _has_gaps(self) -> bool:
        """Whether values may be missing."""
        may_be_extreme = largest_of(self.data.dtype) > self._limit
        return self.data.dtype.kind == "f" or may_be_extreme or self.ignore_value is not None

    def check_unchanged(self) -> None:
        """Raise `DataError` if the scene's file is another one than when it was opened."""
        if self.stamp is not None:
            self.stamp.check()

    def usable_bands(self) -> np.ndarray:
        """Return the bands to work with, bool (bands,): good, not empty and not constant.

        `DataError`: no pixel is valid or no band is left.
        """
        if not self.valid.any():
            raise DataError(
                f"{self.path}: no pixel has data in all bands (NaN and the ignore value "
                f"{self.ignore_value} are none); check the ignore value and the bad band list"
            )
        usable = self.band_mask & ~self.empty_bands & ~self.constant_bands
        if not usable.any():
            raise DataError(f"{self.path}: every band is constant; the pixels cannot be told apart")
        return usable

    def spectra(self, rows: slice | None = None, *, bands: np.ndarray | None = None) -> np.ndarray:
        """Return reflectances float32 (n_rows * columns, n_chosen), invalid pixels as NaN.

        Parameters
        ----------
        rows : slice, optional
            Rows of the picture; all by default.
        bands : ndarray of shape (bands,), bool, optional
            Which bands; `usable_bands` by default. Give those of another scene to apply a model
            that was fitted there.
        """
        chosen = self.usable_bands() if bands is None else np.asarray(bands, dtype=bool)
        if chosen.shape != (self.n_bands,):
            raise ParameterError(
                f"bands has shape {chosen.shape}, but {self.path} has {self.n_bands} bands"
            )
        rows = slice(None) if rows is None else rows
        valid = self.valid[rows]
        out = np.empty((*valid.shape, int(chosen.sum())), dtype=np.float32)
        numbers = range(self.shape[0])[rows]
        for block in row_blocks(len(numbers), self._values_per_row):
            self.check_unchanged()
            part = numbers[block]
            self._fill(out[block], self.data[part.start : part.stop : part.step], chosen)
            release_pages(self.data)
        self.check_unchanged()
        out[~valid] = np.nan
        return out.reshape(-1, out.shape[2])

    def describe(self) -> dict[str, Any]:
        """Return what ``diffclass info`` prints, in values that JSON can hold.

        Band numbers count from 0. ``memory_bytes`` is the size of the whole cube as stored.
        """
        rows, columns, bands = self.shape
        share = float(self.valid.mean())
        constant = self.constant_bands
        usable = self.band_mask & ~self.empty_bands & ~constant
        return {
            "path": str(self.path),
            "format": self.format,
            "rows": rows,
            "columns": columns,
            "bands": bands,
            "dtype": self.data.dtype.newbyteorder("=").name,
            "wavelengths_nm": _range(self.wavelengths),
            "usable_bands": int(usable.sum()) if share else 0,
            "bad_bands": np.flatnonzero(~self.band_mask).tolist(),
            "empty_bands": np.flatnonzero(self.empty_bands).tolist(),
            "constant_bands": np.flatnonzero(constant).tolist(),
            "ignore_value": _jsonable(self.ignore_value),
            "scale_factor": self.scale_factor,
            "valid_share": share,
            "memory_bytes": int(self.data.size) * self.data.dtype.itemsize,
            "map_info": list(self.map_info) if self.map_info else None,
            "crs": None if self.georeference is None else self.georeference.crs,
        }

    @property
    def _values_per_row(self) -> int:
        return self.shape[1] * self.shape[2]

    def _row_blocks(self) -> Iterator[slice]:
        for rows in in_parts("reading", row_blocks(self.shape[0], self._values_per_row)):
            self.check_unchanged()
            yield rows
            release_pages(self.data)
        self.check_unchanged()

    def _fill(self, out: np.ndarray, stored: np.ndarray, bands: np.ndarray) -> None:
        # Cast before dividing: int16 / float would make a float64 copy of the block.
        with np.errstate(over="ignore", invalid="ignore"):
            out[...] = of_bands(stored, bands)
            if self.scale_factor != 1.0:
                out /= np.float32(self.scale_factor)


def _check_cube(cube: np.ndarray | BlockArray, path: Path) -> None:
    if cube.dtype.kind not in "iuf":
        raise DataError(f"{path}: holds {cube.dtype} values; a scene needs real numbers")
    if cube.ndim != 3:
        raise DataError(
            f"{path}: an array of {cube.ndim} axes {cube.shape}; a scene has three: "
            "rows, columns and bands"
        )
    if cube.size == 0:
        raise DataError(f"{path}: an empty cube {cube.shape}; check how it was written")


def _one_each(name: str, values: Any, shape: tuple[int, ...], path: Path) -> Any:
    """Return a fact with an entry for each band or pixel as a scene holds it."""
    found, kind = np.asarray(values), _FACTS[name]
    is_text = found.dtype.kind == "U"
    usable = found.shape == shape and (is_text if kind is str else found.dtype.kind in "biuf")
    if not usable or (kind is float and not np.isfinite(found).all()):
        raise DataError(
            f"{path}: {name} has shape {found.shape} and type {found.dtype}; give "
            f"{'a text' if kind is str else 'a finite number'} for each of {shape}, or leave it out"
        )
    return tuple(found.tolist()) if kind is str else found.astype(kind)


def _numbered(bands: np.ndarray, *, most: int = 8) -> str:
    """Return bands, from 1, to read."""
    more = f" and {len(bands) - most} more" if len(bands) > most else ""
    return f"band{'s' * (len(bands) > 1)} {', '.join(map(str, bands[:most]))}{more}"


def _range(values: np.ndarray | None) -> list[float] | None:
    return None if values is None else [float(values.min()), float(values.max())]


def _jsonable(value: float | None) -> float | str | None:
    return value if value is None or np.isfinite(value) else str(value)
