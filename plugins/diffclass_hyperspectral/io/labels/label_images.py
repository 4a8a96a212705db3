"""Label images: 0, -1, NaN and the file's no-data value are unlabelled, other ids are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass.names import marks
from diffclass.system.remote_paths import place_of
from diffclass.targets import MOST_CLASSES
from diffclass_hyperspectral.io.labels.class_table import UNUSED, ClassTable
from diffclass_hyperspectral.io.labels.placing import Grid, ids_on, is_placed
from diffclass_hyperspectral.io.rasters import ComputedRaster, Raster
from diffclass_hyperspectral.io.readers import Color, Contents, is_ignored


@dataclass(frozen=True, eq=False)
class LabelImage:
    """Class ids of the pixels of a scene.

    Attributes
    ----------
    ids : ndarray of shape (rows, columns), int32
        0 = unlabelled.
    table : ClassTable
        Ids, names and colours of the classes present or declared.
    path : Path
    format : str
    map_info : tuple of str or None
        As the ENVI header has it.
    is_numbered : bool
        Whether the ids are made up, as the file has names alone.
    largest : int or None
        The largest number of an unsigned type, if the file declares no value for no data and no
        name of that number.

    See Also
    --------
    read_labels : Reads one from a file.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import LabelImage
    >>> labels = LabelImage.from_array(np.array([[1, 0], [0, 2]]), names={1: "corn", 2: "soy"})
    >>> labels.shape, labels.n_classes, [entry.name for entry in labels.table]
    ((2, 2), 2, ['corn', 'soy'])
    """

    ids: np.ndarray
    table: ClassTable
    path: Path = Path("labels")
    format: str = "array"
    map_info: tuple[str, ...] | None = None
    is_numbered: bool = False
    largest: int | None = None

    @classmethod
    def from_array(
        cls,
        ids: np.ndarray,
        *,
        names: Mapping[int, str] | None = None,
        colors: Mapping[int, Color] | None = None,
        path: str | os.PathLike[str] = "labels",
    ) -> LabelImage:
        """Make a label image of an array.

        Parameters
        ----------
        ids : array of shape (rows, columns)
            Whole numbers; 0, -1, NaN or masked = unlabelled.
        names, colors : mapping from id, optional
            Declare classes, also absent ones.
        path : path-like
            What messages call it.

        Raises
        ------
        DataError
            Where the values are no class ids.
        """
        contents = Contents(
            np.asanyarray(ids),
            "array",
            class_names=dict(names or {}),
            class_colors=dict(colors or {}),
        )
        return cls.from_contents(contents, path)

    @classmethod
    def from_contents(
        cls, contents: Contents, path: str | os.PathLike[str], grid: Grid | None = None
    ) -> LabelImage:
        """Make a label image of what a reader hands over, or raise `DataError`.

        Of a picture of another size than a grid, which both say where they lie, it has the grid's
        pixels, and no more of the picture is held than a block of its rows.
        """
        place = place_of(path)
        raster = class_id_raster(contents.data, place, ignore_value=contents.ignore_value)
        map_info = contents.map_info
        if grid is not None and is_placed(raster.shape, map_info, grid):
            ids, map_info = ids_on(raster, map_info, grid, place), grid.map_info
        else:
            ids = raster[:]
        ids.flags.writeable = False
        return cls(
            ids=ids,
            table=_table(ids, contents),
            path=place,
            format=contents.format,
            map_info=map_info,
            largest=_undeclared_largest(contents),
        )

    def placed(self, map_info: tuple[str, ...] | None) -> LabelImage:
        """Return the same labels with other coordinates."""
        return replace(self, map_info=map_info)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.ids.shape
        return rows, columns

    @property
    def n_classes(self) -> int:
        """Number of classes that are labelled."""
        return sum(count > 0 for count in self.counts().values())

    def counts(self) -> dict[int, int]:
        """Return the number of pixels of every class of the table, absent ones included."""
        ids, counts = np.unique(self.ids, return_counts=True)
        present = dict(zip(ids.tolist(), counts.tolist(), strict=True))
        return {class_id: present.get(class_id, 0) for class_id in self.table.ids}

    def check_trainable(self) -> None:
        """Raise `DataError` unless at least two, and at most 254, classes are labelled."""
        present = [class_id for class_id, count in self.counts().items() if count]
        if not present:
            raise DataError(
                f"{self.path}: no pixel is labelled (all {self.ids.size} are 0); "
                "label pixels of at least two classes"
            )
        if len(present) == 1:
            entry = self.table[present[0]]
            raise DataError(
                f"{self.path}: only class {entry.id} ({entry.name}) is labelled; "
                "label pixels of at least one more class"
            )
        if len(present) > MOST_CLASSES:
            raise DataError(
                f"{self.path}: {len(present)} classes are labelled, more than {MOST_CLASSES}; "
                "check that this is a picture of class ids, not a measurement"
            )

    def on(self, grid: Grid) -> LabelImage:
        """Return the labels of a grid's pixels, by coordinates where both have them.

        `DataError`: it has other rows and columns and either has no coordinates, or they lie apart.
        """
        ids = ids_on(self.ids, self.map_info, grid, self.path)
        return self if ids is self.ids else replace(self, ids=ids, map_info=grid.map_info)


def _undeclared_largest(contents: Contents) -> int | None:
    dtype = contents.data.dtype
    if dtype.kind != "u" or contents.ignore_value is not None:
        return None
    largest = int(np.iinfo(dtype).max)
    return None if largest in (contents.class_names or ()) else largest


def _picture_shape(shape: tuple[int, ...], path: Path) -> tuple[int, int]:
    if len(shape) not in (2, 3) or shape[2:] not in ((), (1,)):
        raise DataError(
            f"{path}: an array of shape {shape}; labels are one band of class ids "
            "(rows, columns) - take the argmax of scores or one-hot layers first"
        )
    if 0 in shape:
        raise DataError(f"{path}: an empty array {shape}; check how it was written")
    return shape[0], shape[1]


def class_id_raster(
    raster: Raster, path: Path, *, ignore_value: float | None = None
) -> ComputedRaster:
    """Return a picture of class ids as int32, 0 = unlabelled, checked where it is read."""
    rows, columns = _picture_shape(raster.shape, path)

    def read(wanted: slice) -> np.ndarray:
        block = np.asanyarray(raster[wanted]).reshape(-1, columns)
        first_row = wanted.indices(rows)[0]
        return _as_ids(block, path, ignore_value=ignore_value, first_row=first_row)

    return ComputedRaster((rows, columns), np.int32, read)


def _as_ids(
    array: np.ndarray, path: Path, *, ignore_value: float | None = None, first_row: int = 0
) -> np.ndarray:
    """Return class ids as int32, 0 = unlabelled."""
    if array.dtype.kind not in "biuf":
        raise DataError(f"{path}: holds {array.dtype} values; class ids are whole numbers")
    values = np.ma.getdata(array).copy()
    values[marks(array)] = 0
    values[is_ignored(values, ignore_value)] = 0
    _check_ids(values, path, first_row)
    return values.astype(np.int32)


def _check_ids(values: np.ndarray, path: Path, first_row: int) -> None:
    if values.dtype.kind == "f":
        broken = ~(np.isfinite(values) & (values == np.rint(values)))
        if broken.any():
            row, column = np.argwhere(broken)[0]
            raise DataError(
                f"{path}: value {values[row, column]:g} at row {first_row + row}, column {column} "
                "is no class id; labels are whole numbers, 0 = unlabelled"
            )
    if values.min() < -1:
        row, column = np.unravel_index(values.argmin(), values.shape)
        raise DataError(
            f"{path}: class id {values.min():g} at row {first_row + row}, column {column}; ids are "
            "1, 2, ... and 0 or -1 for unlabelled"
        )
    largest = float(values.max())  # which single precision may hold, and the limit may not
    if largest > np.iinfo(np.int32).max:
        raise DataError(f"{path}: class id {largest:g} is too large for a class number")


def _table(ids: np.ndarray, contents: Contents) -> ClassTable:
    """Make the table of the classes present and of the declared ones that are not fillers."""
    present = set(np.unique(ids).tolist())
    names = {
        i: name
        for i, name in (contents.class_names or {}).items()
        if name and (i in present or name != UNUSED)
    }
    return ClassTable.from_ids(present | set(names), names=names, colors=contents.class_colors)


def label_regions(ids: np.ndarray) -> np.ndarray:
    """Return the region of each labelled pixel: pixels of a class that touch, also at corners.

    Regions count from 0; -1 where unlabelled.

    >>> import numpy as np
    >>> from diffclass_hyperspectral.io.labels import label_regions
    >>> label_regions(np.array([[1, 0, 2, 0], [0, 1, 2, 1]]))
    array([[ 0, -1,  2, -1],
           [-1,  0,  2,  1]])
    """
    from scipy.ndimage import label

    regions = np.full(ids.shape, -1)
    n_regions = 0
    for value in np.unique(ids[ids > 0]):
        of_class, n_found = label(ids == value, structure=np.ones((3, 3)))
        inside = of_class > 0
        regions[inside] = of_class[inside] - 1 + n_regions
        n_regions += n_found
    return regions
