"""Several scenes as one: tiles of a flight line, or scenes of different places and sizes.

Scenes on one map grid (one coordinate system and pixel size, corners whole pixels apart) make a
*mosaic*: each lies where its coordinates say, gaps have no data, and where scenes overlap the first
that lacks the fewest bands counts. Spatial features reach across borders: there is no seam.

Other scenes are *stacked*: below one another, with rows without data between, so that they share
features and graph, but no pixel of one is smoothed with another's.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError, kept_warnings, warn_user
from diffclass.options import check_options
from diffclass.system.mapped_files import release_pages
from diffclass_hyperspectral.io.file_names import files_of, is_for_each, joint_name, names_of
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    NoOverlapError,
    Turn,
    georeference_of,
    map_info_of,
    placement,
)
from diffclass_hyperspectral.io.labels import Grid
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import is_ignored, items_of
from diffclass_hyperspectral.io.scenes import (
    LARGEST,
    Scene,
    factor_text,
    open_scene,
    pixels_in,
    unit_factor,
    value_levels,
)
from diffclass_hyperspectral.options import OPTIONS

_ROWS_BETWEEN = 16  # of a stack: more than the guide of smoothing reaches
_MOST_GAPS = 64  # pixels of a mosaic for each pixel with a tile; emptier ones are stacked
_SAME_BAND = 0.5  # nm
_SAMPLED_ROWS = 8  # of each scene, whose units are compared
_LEAST_BANDS = 3  # a class map has one
_MOST_NAMED = 3  # scenes in a sentence


@dataclass(frozen=True, eq=False)
class Tile:
    """One of several scenes, and where its upper left pixel lies in their joint picture."""

    scene: Scene
    row: int
    column: int

    @property
    def rows(self) -> slice:
        """Rows of the joint picture."""
        return slice(self.row, self.row + self.scene.shape[0])

    @property
    def columns(self) -> slice:
        """Columns of the joint picture."""
        return slice(self.column, self.column + self.scene.shape[1])


@dataclass(frozen=True, eq=False)
class TiledScene:
    """Several scenes as one; made by `open_tiles`.

    Attributes
    ----------
    scene : Scene
        The joint picture, as reflectances; read by blocks. Of a mosaic it has map coordinates. One
        scene alone is itself.
    tiles : tuple of Tile
    is_mosaic : bool
        Whether the scenes lie on one map grid, as one alone does.
    """

    scene: Scene
    tiles: tuple[Tile, ...]
    is_mosaic: bool

    def scaled(self, factor: float) -> TiledScene:
        """Return the scenes with reflectances that are larger by a factor; see `Scene.scaled`."""
        return replace(self, scene=self.scene.scaled(factor))

    def files(
        self, output: str | os.PathLike[str]
    ) -> Iterator[tuple[Path, Scene, tuple[slice, slice]]]:
        """Yield each file that an output stands for, its scene, and where in the picture it is.

        With "{}" in the output's name one for each scene. `ParameterError`: a scene is there twice.
        """
        if len(self.tiles) > 1 and is_for_each(output):
            files = files_of(output, [tile.scene.path for tile in self.tiles])
            twice = next((k for k, file in enumerate(files) if file in files[:k]), None)
            if twice is not None:
                path = self.tiles[twice].scene.path
                raise ParameterError(
                    f"{path}: two of the scenes are this one, and would have one file; give it once"
                )
            for tile, file in zip(self.tiles, files, strict=True):
                yield file, tile.scene, (tile.rows, tile.columns)
            return
        rows, columns, _ = self.scene.shape
        place = slice(0, rows), slice(0, columns)
        yield files_of(output, [self.scene.path])[0], self.scene, place

    @property
    def names(self) -> list[str]:
        """What the scenes are called, each by a name of its own."""
        return names_of([tile.scene.path for tile in self.tiles])

    def unreached_note(self, is_reached: np.ndarray, has_data: np.ndarray) -> str | None:
        """Return a remark on scenes, of several, of which labels reach no pixel with data.

        Both are pictures of the joint picture's shape (rows, columns).
        """
        if len(self.tiles) == 1 or not (has_data & ~is_reached).any():
            return None
        places = [(tile.rows, tile.columns) for tile in self.tiles]
        names = [
            name
            for name, place in zip(self.names, places, strict=True)
            if has_data[place].any() and not is_reached[place].any()
        ]
        if not names:
            return None
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return (
            f"no label reaches {', '.join(names[:_MOST_NAMED])}{more}: nothing there is linked to "
            "the labelled scenes; label some of it too"
        )


def open_tiles(
    sources: Sequence[str | os.PathLike[str] | Scene | Any],
    *,
    variable: str | None = None,
    bands: str | Sequence[int] | np.ndarray | None = None,
    mask: Any = None,
    roi: Any = None,
) -> TiledScene:
    """Open several scenes as one.

    Parameters
    ----------
    sources : sequence of path-like, DataArray, pystac.Item or Scene
        With the same bands; a STAC collection stands for its items. Where they overlap on one grid
        the earlier one counts.
    variable, bands : optional
        As for `open_scene`.
    mask, roi : optional
        As for `open_scene`, on the grid of the mosaic. Of a stack shapes, and a box for the scenes
        that have map coordinates.

    Returns
    -------
    TiledScene

    Raises
    ------
    DataError
        Where a scene cannot be read, bands differ, or no pixel is left.
    ParameterError
        Without scenes.

    Warns
    -----
    UserWarning
        Where the values of one are larger than those of another as if units were different.

    See Also
    --------
    open_scene : One scene alone.

    Examples
    --------
    >>> from diffclass_hyperspectral import Scene
    >>> left, right = (Scene.from_array(np.full((4, 3, 2), float(i))) for i in (1, 2))
    >>> joint = open_tiles([left, right])
    >>> joint.is_mosaic, joint.scene.shape, int(joint.scene.valid.sum())
    (False, (24, 3, 2), 24)
    """
    check_options(OPTIONS, variable=variable)
    with warnings_joined():
        scenes = [
            source if isinstance(source, Scene) else open_scene(source, variable=variable)
            for given in sources
            for source in items_of(given)
        ]
    if not scenes:
        raise ParameterError("no scene is given; name one or more files")
    if len(scenes) == 1:
        scene = scenes[0].select(bands=bands, mask=mask, roi=roi)
        return TiledScene(scene, (Tile(scene, 0, 0),), is_mosaic=True)
    _check_bands(scenes)
    _check_units(scenes)
    tiles = _mosaic(scenes)
    is_mosaic = tiles is not None
    if tiles is None:
        tiles = _stack(scenes)
    joint = _joint(tiles, is_mosaic=is_mosaic).select(bands=bands)
    if is_mosaic:
        joint = joint.select(mask=mask, roi=roi)
    elif mask is not None or roi is not None:
        joint = replace(joint, region=_stack_region(joint, tiles, mask, roi))
    return TiledScene(joint, tiles, is_mosaic)


def _check_bands(scenes: list[Scene]) -> None:
    first = scenes[0]
    for other in scenes[1:]:
        if other.n_bands != first.n_bands:
            raise DataError(
                f"{other.path}: has {other.n_bands} bands, but {first.path} {first.n_bands}; give "
                "scenes of one sensor, or classify one and apply its model to the other"
            )
        names, others = first.band_names, other.band_names
        if names != others and names and others and set(names) == set(others):
            raise DataError(
                f"{other.path}: its bands are those of {first.path} in another order, "
                f"{', '.join(others)}; write them in one order"
            )
        if first.wavelengths is None or other.wavelengths is None:
            continue
        apart = np.abs(first.wavelengths - other.wavelengths)
        if apart.max() > _SAME_BAND:
            band = int(apart.argmax())
            raise DataError(
                f"{other.path}: its band {band + 1} lies at {other.wavelengths[band]:.1f} nm, that "
                f"of {first.path} at {first.wavelengths[band]:.1f}; give scenes of one sensor"
            )


def _check_units(scenes: list[Scene]) -> None:
    """Warn of scenes of which one states its scale factor and another does not."""
    first = scenes[0]
    if first.n_bands < _LEAST_BANDS:
        return
    good = np.logical_and.reduce([scene.band_mask for scene in scenes])
    reference = _sampled_levels(first, good)
    for other in scenes[1:]:
        factor = unit_factor(_sampled_levels(other, good), reference)
        if factor is not None:
            warn_user(
                f"{other.path}: its values are {factor_text(factor)} than those of {first.path} in "
                "nearly all bands, as in other units; if so, state its scale factor in its header, "
                "or open it in Python and pass scene.scaled(factor)",
                UserWarning,
            )


def _sampled_levels(scene: Scene, good: np.ndarray) -> np.ndarray | None:
    rows = np.unique(np.linspace(0, scene.shape[0] - 1, _SAMPLED_ROWS).astype(int))
    with np.errstate(over="ignore", invalid="ignore"):
        found = [_reflectances(scene, slice(row, row + 1))[0][:, good] for row in rows]
    levels = np.concatenate(found)
    return value_levels(levels[(np.abs(levels) <= LARGEST).all(axis=1)])


def _mosaic(scenes: list[Scene]) -> tuple[Tile, ...] | None:
    """Return the tiles on one map grid, or None if the scenes share none."""
    first = scenes[0].georeference
    if first is None or any(scene.lookup_table is not None for scene in scenes):
        return None
    turned, offsets = [], []
    for scene in scenes:
        found = placement_of(scene, scenes[0])
        if found is None:
            return None
        turn, offset = found
        turned.append(scene.turned(turn))
        offsets.append(offset)
    top, left = (min(offset[axis] for offset in offsets) for axis in (0, 1))
    tiles = tuple(
        Tile(scene, row - top, column - left)
        for scene, (row, column) in zip(turned, offsets, strict=True)
    )
    rows, columns = _extent(tiles)
    covered = sum(scene.shape[0] * scene.shape[1] for scene in scenes)
    return tiles if rows * columns <= _MOST_GAPS * covered else None


def _stack(scenes: list[Scene]) -> tuple[Tile, ...]:
    tiles, row = [], 0
    for scene in scenes:
        tiles.append(Tile(scene, row, 0))
        row += scene.shape[0] + _ROWS_BETWEEN
    return tuple(tiles)


def _extent(tiles: Sequence[Tile]) -> tuple[int, int]:
    return max(tile.rows.stop for tile in tiles), max(tile.columns.stop for tile in tiles)


def _joint(tiles: tuple[Tile, ...], *, is_mosaic: bool) -> Scene:
    first = tiles[0].scene
    rows, columns = _extent(tiles)
    good = np.logical_and.reduce([tile.scene.band_mask for tile in tiles])
    region = np.zeros((rows, columns), dtype=bool)
    for tile in tiles:
        inside = True if tile.scene.region is None else tile.scene.region
        region[tile.rows, tile.columns] |= inside
    path = Path(joint_name([tile.scene.path for tile in tiles]))
    data = BlockArray(
        (rows, columns, first.n_bands),
        np.float32,
        read_rows=_reader(tiles, (columns, first.n_bands), good),
        path=path,
    )
    return Scene.from_array(
        data,
        path=path,
        format="tiles",
        band_mask=good,
        wavelengths=first.wavelengths,
        widths=first.widths,
        band_names=first.band_names,
        map_info=_corner(tiles) if is_mosaic else None,
        region=region,
    )


def _corner(tiles: Sequence[Tile]) -> MapInfo:
    """Return the coordinates of the mosaic: those of the first tile, moved to its corner."""
    place = tiles[0].scene.georeference
    assert place is not None
    a, b, c, d, e, f = place.transform
    row, column = tiles[0].row, tiles[0].column
    corner = (a, b, c - a * column - b * row, d, e, f - d * column - e * row)
    return map_info_of(Georeference(corner, place.crs))


def _reader(
    tiles: tuple[Tile, ...], shape: tuple[int, int], good: np.ndarray
) -> Callable[[int, int], np.ndarray]:
    def read_rows(start: int, stop: int) -> np.ndarray:
        out = np.full((stop - start, *shape), np.nan, dtype=np.float32)
        for tile in tiles:
            low, high = max(start, tile.row), min(stop, tile.rows.stop)
            if low >= high:
                if isinstance(tile.scene.data, BlockArray):
                    tile.scene.data.release()
                continue
            place = out[low - start : high - start, tile.columns]
            lacking = _n_lacking(place, good)
            if lacking.any():
                found = _reflectances(tile.scene, slice(low - tile.row, high - tile.row))
                better = _n_lacking(found, good) < lacking
                better |= np.isnan(place[..., good]).all(axis=2)  # also what is told of later
                place[better] = found[better]
        return out

    return read_rows


def _n_lacking(values: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return how many of the good bands each pixel lacks."""
    there = np.abs(values[..., good]) <= LARGEST
    return np.count_nonzero(~there, axis=2)


def _reflectances(scene: Scene, rows: slice) -> np.ndarray:
    """Return some rows as float32, missing values as NaN; no pass over the file is made."""
    scene.check_unchanged()
    stored = np.asarray(scene.data[rows])
    values = stored.astype(np.float32)
    if scene.scale_factor != 1.0:
        values /= np.float32(scene.scale_factor)
    if scene.ignore_value is not None:
        values[is_ignored(stored, scene.ignore_value)] = np.nan
    if scene.region is not None:
        values[~scene.region[rows]] = np.nan
    release_pages(scene.data)
    return values


def _stack_region(joint: Scene, tiles: Sequence[Tile], mask: Any, roi: Any) -> np.ndarray:
    assert joint.region is not None
    region = joint.region.copy()
    for tile in tiles:
        here = region[tile.rows, tile.columns]
        if roi is not None:
            here &= _pixels_of(roi, tile.scene)
        if mask is not None:
            here &= ~_pixels_of(mask, tile.scene)
    if not region.any():
        raise DataError(f"{joint.path}: mask and roi leave no pixel of any scene")
    return region


def _pixels_of(source: Any, scene: Scene) -> np.ndarray:
    try:
        return pixels_in(source, scene)
    except NoOverlapError:
        return np.zeros(scene.shape[:2], dtype=bool)


def placement_of(picture: Grid, scene: Scene) -> tuple[Turn, tuple[int, int]] | None:
    """Return how a picture lies on a scene's grid, None if it does not; see `placement`."""
    own, other = georeference_of(picture.map_info), scene.georeference
    return None if own is None or other is None else placement(own, other, picture.shape)


@contextmanager
def warnings_joined() -> Iterator[None]:
    """Join warnings that differ in the file alone, with which they begin, to one line."""
    with kept_warnings() as said, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        said.clear()  # they are said again below
    files: dict[tuple[type[Warning], str], dict[str, None]] = {}
    for one in caught:
        file, colon, words = str(one.message).partition(": ")
        files.setdefault((one.category, colon + words), {})[file] = None
    for (category, words), (first, *others) in files.items():
        if words:
            more = f" and {len(others)} more" if others else ""
            warn_user(f"{first}{more}{words}", category)
        else:
            for text in (first, *others):
                warn_user(text, category)
