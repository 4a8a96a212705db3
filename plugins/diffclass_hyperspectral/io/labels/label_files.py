"""Label files of any kind: images of class ids, and shapes put on the pixels of a scene.

Labels on the map of a scene in its sensor's geometry are carried back to the sensor's grid.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from diffclass.exceptions import ParameterError, warn_user
from diffclass.options import check_options
from diffclass_hyperspectral.io.georeference import LookupTable
from diffclass_hyperspectral.io.labels.class_table import ClassTable
from diffclass_hyperspectral.io.labels.label_images import LabelImage
from diffclass_hyperspectral.io.labels.pixel_lists import is_pixel_list, read_pixel_list
from diffclass_hyperspectral.io.labels.placing import Grid
from diffclass_hyperspectral.io.labels.vector_labels import VECTOR, is_vector, read_vector_labels
from diffclass_hyperspectral.io.readers import is_xarray, name_of, read_image
from diffclass_hyperspectral.options import OPTIONS


def read_labels(
    path: str | os.PathLike[str] | Any,
    *,
    variable: str | None = None,
    grid: Grid | None = None,
    known: ClassTable | None = None,
) -> LabelImage:
    """Read a label image, a class map, or the shapes of a vector file.

    Parameters
    ----------
    path : path-like, DataArray or Dataset
        ENVI classification, GeoTIFF, ERDAS GIS, MATLAB ``.mat`` (any version), HDF5, greyscale or
        palette PNG, NumPy ``.npy`` or ``.npz``; GeoJSON, shapefile, GeoPackage, FlatGeobuf or KML;
        ``.csv``, ``.tsv`` or ``.txt`` with the columns row, column and class, as `write_points`
        writes.
        Of xarray a picture of ids, with ``flag_values`` and ``flag_meanings`` if it names its
        classes.
    variable : str, optional
        Name of the array in a ``.mat`` or HDF5 file that holds more than one picture; the class
        field of a vector file, or ``"layer/field"``.
    grid : Scene or LabelImage, optional
        Whose pixels the labels are for. Shapes and lists of pixels need it. Images on another grid
        are placed by the coordinates of both: a label counts for the pixel that its own pixel's
        centre lies in, and one coarser than the scene for all pixels whose centres it covers; of
        several classes in a pixel the most frequent one counts, of equally frequent ones none.
    known : ClassTable, optional
        Of a map that the labels are compared with: classes of shapes that have names alone get the
        numbers that these names have there.

    Returns
    -------
    LabelImage

    Raises
    ------
    DataError
        Where the file cannot be read, or its values are no class ids.
    ParameterError
        For shapes or a list without ``grid``, a missing library, or a needless ``variable``.

    Warns
    -----
    UserWarning
        Of images that are placed, with the numbers of labels outside and of pixels with several
        classes, shapes without a pixel's centre, classes without a pixel, equal names of two, and
        of a class 255, the largest number of its type, where the file declares no value for no
        data.

    See Also
    --------
    read_tile_labels : For several scenes that are one.
    LabelImage.from_array : From an array.
    write_class_map : Writes one.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_hyperspectral import read_labels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "labels.npy", np.array([[1, 0], [-1, 7]]))
    ...     labels = read_labels(Path(folder) / "labels.npy")
    >>> labels.ids.tolist(), labels.table.ids
    ([[1, 0], [0, 7]], (1, 7))
    """
    check_options(OPTIONS, variable=variable)
    labels = labels_of_file(path, variable=variable, grid=grid, known=known)
    warn_of_odd_classes(labels, of_shapes=labels.format == VECTOR)
    return labels


def warn_of_odd_classes(labels: LabelImage, *, of_shapes: bool) -> None:
    """Warn of classes of shapes without a pixel, equal names of two, and what may be no class."""
    counts = labels.counts() if of_shapes else {}
    lost = [repr(entry.name) for entry in labels.table if counts.get(entry.id) == 0]
    if lost:
        warn_user(
            f"{labels.path}: no pixel has the class {', '.join(lost)}, whose shapes lie beyond the "
            "picture or under later ones"
        )
    ids: dict[str, list[int]] = {}
    for entry in labels.table:
        ids.setdefault(entry.name, []).append(entry.id)
    for name, several in ids.items():
        if len(several) > 1:
            warn_user(
                f"{labels.path}: classes {' and '.join(map(str, several))} are called {name!r}; "
                "they stay apart"
            )
    _warn_of_largest_id(labels)


def labels_of_file(
    path: str | os.PathLike[str] | Any,
    *,
    variable: str | None = None,
    grid: Grid | None = None,
    known: ClassTable | None = None,
) -> LabelImage:
    """Read labels as `read_labels` does, which says besides what is odd about all of them."""
    if not is_xarray(path) and is_vector(path):
        return _from_shapes(path, variable, grid, known)
    if not is_xarray(path) and is_pixel_list(path):
        return read_pixel_list(path, _required_grid(grid, path), class_field=variable, known=known)
    contents = read_image(path, variable=variable, n_axes=2)
    labels = LabelImage.from_contents(contents, name_of(path), grid)
    return labels if grid is None or labels.shape != grid.shape[:2] else labels.on(grid)


def _warn_of_largest_id(labels: LabelImage) -> None:
    """Warn of a class that is the largest number of its type, far from others, and may be none."""
    largest = labels.largest
    if largest is None or largest not in labels.table or largest - 1 in labels.table:
        return
    n_pixels = labels.counts()[largest]
    if n_pixels:
        warn_user(
            f"{labels.path}: {n_pixels / labels.ids.size:.1%} of the pixels are {largest}, the "
            "largest number that the file can hold, and count as a class; if they have none, "
            "declare it as no data, or write 0"
        )


def _from_shapes(
    path: str | os.PathLike[str],
    variable: str | None,
    grid: Grid | None,
    known: ClassTable | None,
) -> LabelImage:
    grid = _required_grid(grid, path)
    name, _, field = (variable or "").rpartition("/")
    table = getattr(grid, "lookup_table", None)  # of a scene in its sensor's geometry
    target = grid if table is None else table
    labels = read_vector_labels(
        path, target, class_field=field or None, layer=name or None, known=known
    )
    return labels if table is None else _on_sensor(labels, table)


def _required_grid(grid: Grid | None, path: str | os.PathLike[str]) -> Grid:
    if grid is None:
        raise ParameterError(
            f"{path} holds shapes or places, which need a scene's pixels to lie on; pass "
            "grid=scene, or give the labels as an image"
        )
    return grid


def _on_sensor(labels: LabelImage, table: LookupTable) -> LabelImage:
    return replace(labels, ids=table.to_sensor(labels.ids), map_info=None)
