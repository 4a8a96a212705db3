"""Labels and segments of several scenes: one file for all, or one for each."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, warn_user
from diffclass.options import check_options
from diffclass_hyperspectral.io.georeference import NoOverlapError
from diffclass_hyperspectral.io.labels import (
    Cells,
    ClassTable,
    Grid,
    LabelImage,
    cells_of,
    is_pixel_list,
    is_placed,
    is_vector,
    labels_of_file,
    numbered_shapes,
    read_labels,
    warn_of_odd_classes,
)
from diffclass_hyperspectral.io.readers import images_among, is_store
from diffclass_hyperspectral.io.tiles.tiled_scenes import (
    Tile,
    TiledScene,
    warnings_joined,
)
from diffclass_hyperspectral.options import OPTIONS

_MOST_NAMED = 3
_BESIDE = {".hdr", ".xml", ".json", ".tfw", ".prj", ".dbf", ".shx", ".cpg", ".qml"}


def read_tile_labels(
    source: str | os.PathLike[str] | LabelImage | Sequence[Any],
    tiles: TiledScene,
    *,
    variable: str | None = None,
    known: ClassTable | None = None,
) -> LabelImage:
    """Read the labels of several scenes onto their joint picture.

    Parameters
    ----------
    source : path-like, LabelImage, or sequence of these
        Shapes; an image with coordinates, of any extent, or of the mosaic's size; a folder with a
        label image of the same name for each scene (some may lack one; files that are named as no
        scene are told); or one for each scene, in their order. Without a common grid also the image
        of one scene: that with which its name begins, or the only one of its size.
    tiles : TiledScene
    variable, known : optional
        As for `read_labels`.

    Returns
    -------
    LabelImage
        Of the joint picture; where images overlap the first label counts.

    Raises
    ------
    DataError
        Where a file does not fit, or two files name one class differently.

    See Also
    --------
    read_labels : For one scene.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import LabelImage, Scene, open_tiles, read_tile_labels
    >>> tiles = open_tiles([Scene.from_array(np.full((4, 3, 2), float(i))) for i in (1, 2)])
    >>> ids = np.zeros((4, 3), dtype=int)
    >>> ids[1, 2] = 5
    >>> labels = read_tile_labels([LabelImage.from_array(ids), LabelImage.from_array(ids)], tiles)
    >>> labels.shape, np.argwhere(labels.ids).tolist()
    ((24, 3), [[1, 2], [21, 2]])
    """
    check_options(OPTIONS, variable=variable)
    with warnings_joined():
        return _labels(source, tiles, variable, known)


def _labels(
    source: Any, tiles: TiledScene, variable: str | None, known: ClassTable | None
) -> LabelImage:
    of_shapes = isinstance(source, str | os.PathLike) and is_vector(source)
    if isinstance(source, str | os.PathLike) and _is_folder(source):
        parts = _from_folder(Path(source), tiles, variable, known)
    elif isinstance(source, str | os.PathLike) and (tiles.is_mosaic or is_pixel_list(source)):
        labels = read_labels(source, variable=variable, grid=tiles.scene, known=known)
        return labels.on(tiles.scene)
    elif of_shapes:
        parts = _on_tiles(tiles, lambda tile: _read(source, variable, known, tile.scene))
    elif isinstance(source, LabelImage) and tiles.is_mosaic:
        parts = [(source, None)]
    elif isinstance(source, str | os.PathLike | LabelImage):
        parts = [_of_stack(source, tiles, variable, known)]
    else:
        given = list(source)
        if len(given) != len(tiles.tiles):
            raise DataError(
                f"{len(given)} label images for {len(tiles.tiles)} scenes; one for each"
            )
        pairs = zip(given, tiles.tiles, strict=True)
        parts = [(_read(one, variable, known, tile.scene), tile) for one, tile in pairs]
    labels = _joined(parts, tiles, source)
    warn_of_odd_classes(labels, of_shapes=of_shapes)
    return labels


def read_tile_segments(path: str | os.PathLike[str], tiles: TiledScene) -> np.ndarray:
    """Read segments of a scene, or of several, such as the fields of a register.

    Parameters
    ----------
    path : path-like
        Shapes, each a segment; or an image whose numbers are those of segments, 0 or -1 for none.
    tiles : TiledScene

    Returns
    -------
    ndarray of int of shape (rows, columns)
        Of the joint picture, 0 for no segment.

    Raises
    ------
    DataError
        Where the file cannot be read, or does not lie on the scenes.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_hyperspectral import Scene, open_tiles, read_tile_segments
    >>> tiles = open_tiles([Scene.from_array(np.ones((2, 3, 4)))])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "fields.npy", np.array([[1, 1, 2], [0, 2, 2]]))
    ...     read_tile_segments(Path(folder) / "fields.npy", tiles)
    array([[1, 1, 2],
           [0, 2, 2]], dtype=int32)
    """
    if Path(path).is_dir():
        raise DataError(f"{path}: a folder; segments of all scenes lie in one file")
    if not is_vector(path):
        return read_tile_labels(path, tiles).on(tiles.scene).ids
    parts = _on_tiles(tiles, lambda tile: _numbered(path, tile))
    return _joined(parts, tiles, path).ids


def _numbered(path: str | os.PathLike[str], tile: Tile) -> LabelImage:
    table = tile.scene.lookup_table  # of a scene in its sensor's geometry
    numbers = numbered_shapes(path, tile.scene if table is None else table)
    ids = numbers if table is None else table.to_sensor(numbers)
    return LabelImage.from_array(ids, path=path).placed(tile.scene.map_info)


def _read(one: Any, variable: str | None, known: ClassTable | None, grid: Grid) -> LabelImage:
    if isinstance(one, LabelImage):
        return one
    return labels_of_file(one, variable=variable, grid=grid, known=known)


@dataclass(frozen=True, eq=False)
class _Stack:
    """The grid of a stack: its scenes lie where the coordinates of each say."""

    path: Path
    shape: tuple[int, ...]
    cells: list[Cells]
    map_info: None = None

    @classmethod
    def of(cls, tiles: TiledScene) -> _Stack:
        scene = tiles.scene
        cells = []
        numbers = np.arange(math.prod(scene.shape[:2])).reshape(scene.shape[:2])
        for tile in tiles.tiles:
            own = np.append(numbers[tile.rows, tile.columns], -1)  # the last one is no pixel
            cells += [replace(one, numbers=own[one.numbers]) for one in cells_of(tile.scene)]
        return cls(scene.path, scene.shape, cells)


def _of_stack(
    source: Any, tiles: TiledScene, variable: str | None, known: ClassTable | None
) -> tuple[LabelImage, Tile | None]:
    """Return an image on the scenes of a stack, and which it belongs to; None for all of them."""
    stem = (source.path if isinstance(source, LabelImage) else Path(source)).stem
    named = [k for k, name in enumerate(tiles.names) if _is_named_as(stem, name)]
    first = max(named, key=lambda k: len(tiles.names[k]), default=None)
    tile = None if first is None else tiles.tiles[first]
    stack = _Stack.of(tiles)
    image = _read(source, variable, known, stack if tile is None else tile.scene)
    if image.shape == tiles.scene.shape[:2]:
        return image, None
    if tile is None and is_placed(image.shape, image.map_info, stack):
        return image.on(stack), None
    return image, tile or _only_tile_of(image, tiles)


def _only_tile_of(image: LabelImage, tiles: TiledScene) -> Tile:
    """Return the only scene of an image's size."""
    fitting = [tile for tile in tiles.tiles if image.ids.shape == tile.scene.shape[:2]]
    if len(fitting) == 1:
        return fitting[0]
    raise DataError(
        f"{image.path}: which of the {len(tiles.tiles)} scenes it belongs to is not clear; begin "
        f"its name with that of its scene, as {tiles.names[0]}_labels.tif"
    )


def _is_named_as(name: str, scene: str) -> bool:
    """Tell whether a name is that of a scene, or begins with it as a word."""
    return name.startswith(scene) and not name[len(scene) :][:1].isalnum()


def _is_folder(source: str | os.PathLike[str]) -> bool:
    """Tell whether labels are a folder of files, not one that is a store of arrays."""
    place = Path(source)
    return place.is_dir() and not is_store(place)


def _from_folder(
    folder: Path, tiles: TiledScene, variable: str | None, known: ClassTable | None
) -> list[tuple[LabelImage, Tile | None]]:
    by_stem: dict[str, list[Path]] = {}
    for path in _label_files(folder):
        by_stem.setdefault(path.stem, []).append(path)
    parts: list[tuple[LabelImage, Tile | None]] = []
    for tile, name in zip(tiles.tiles, tiles.names, strict=True):
        files = by_stem.pop(name, [])
        if len(files) > 1:
            raise DataError(
                f"{files[0]} and {files[1].name} are both called as {tile.scene.path}; keep one of "
                "them"
            )
        parts += [(_read(path, variable, known, tile.scene), tile) for path in files]
    if not parts:
        as_first = f"{tiles.names[0]}.tif"
        raise DataError(f"{folder}: holds no label image that is named as a scene, as {as_first}")
    others = [path.name for files in by_stem.values() for path in files]
    if others:
        named = ", ".join(others[:_MOST_NAMED]) + (" ..." if len(others) > _MOST_NAMED else "")
        warn_user(
            f"{folder}: {len(others)} files are named as none of the scenes and count for nothing "
            f"({named})"
        )
    return parts


def _label_files(folder: Path) -> list[Path]:
    """Return the files of a folder that labels can be read from, by their names."""
    files = [p for p in sorted(folder.iterdir()) if p.is_file() and p.name[0] != "."]
    own = [p for p in files if p.suffix.lower() not in _BESIDE]
    return [p for p in own if is_vector(p) or is_pixel_list(p) or images_among([p])]


def _on_tiles(
    tiles: TiledScene, read: Callable[[Tile], LabelImage]
) -> list[tuple[LabelImage, Tile | None]]:
    """Read what lies on each of the scenes; `NoOverlapError` where none of it does."""
    parts: list[tuple[LabelImage, Tile | None]] = []
    problem: NoOverlapError | None = None
    for tile in tiles.tiles:
        try:
            parts.append((read(tile), tile))
        except NoOverlapError as error:
            problem = error  # these shapes lie on other scenes
    if not parts and problem is not None:
        raise problem
    return parts


def _joined(
    parts: list[tuple[LabelImage, Tile | None]], tiles: TiledScene, source: Any
) -> LabelImage:
    scene = tiles.scene
    ids = np.zeros(scene.shape[:2], dtype=np.int32)
    for labels, tile in parts:
        here = ids if tile is None else ids[tile.rows, tile.columns]
        new = labels.on(scene if tile is None else tile.scene).ids
        np.copyto(here, new, where=(here == 0) & (new > 0))
    ids.flags.writeable = False
    name = Path(source) if isinstance(source, str | os.PathLike) else Path("labels")
    table = _joined_tables([labels for labels, _ in parts])
    is_numbered = any(labels.is_numbered for labels, _ in parts)
    largest = next((one.largest for one, _ in parts if one.largest is not None), None)
    return LabelImage(ids, table, name, "tiles", scene.map_info, is_numbered, largest)


def _joined_tables(labels: list[LabelImage]) -> ClassTable:
    names: dict[int, str] = {}
    colors: dict[int, tuple[int, int, int]] = {}
    ids: set[int] = set()
    for one in labels:
        given = {i: name for i, name in one.table.given_names.items() if name}
        _check_alike(given, names, one.path)
        names |= given
        for entry in one.table:
            ids.add(entry.id)
            colors.setdefault(entry.id, entry.color)
    return ClassTable.from_ids(ids, names=names, colors=colors)


def _check_alike(given: dict[int, str], known: dict[int, str], path: Path) -> None:
    """Refuse an id with another name than in the images before, and a name with another id."""
    numbers = {name: i for i, name in known.items()}
    for i, name in given.items():
        if known.get(i, name) != name:
            raise DataError(
                f"{path}: class {i} is {name!r}, but {known[i]!r} in another label image; number "
                "classes alike"
            )
        if i not in known and name in numbers:
            raise DataError(
                f"{path}: {name!r} is class {i}, but class {numbers[name]} in another label image; "
                "number classes alike"
            )
