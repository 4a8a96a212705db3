"""What users see of a row: what it is called, a picture, a text, its values."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.system.libraries import require
from diffclass_hyperspectral.io.file_names import in_natural_order
from diffclass_tables import Table
from diffclass_tables.io.tables import ROW

IMAGE_ENDINGS = frozenset((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"))
_SIDE = 160  # pixels of a thumbnail
_MOST_VALUES = 12
_LONGEST_VALUE, _LONGEST_TEXT = 60, 2000  # characters


@dataclass(frozen=True, eq=False)
class RowContents:
    """What shows the rows of a table."""

    table: Table
    images: list[Path] | None  # of each row, whether the file is there or not
    text: str | None  # column of texts
    apart: frozenset[str]  # columns that are not among the values

    @classmethod
    def of(cls, table: Table, images: str | None = None, text: str | None = None) -> RowContents:
        """Find what shows the rows; `DiffclassError` where there is no such column or image.

        - `images`: a column of paths, from the table's folder if they are relative; or a folder of
          images called as the ids, or in the order of the rows where these are numbered
        """
        if text is not None and _is_of_vectors(table.column(text)):
            raise ParameterError(f"{table.path}: {text!r} holds vectors, no texts")
        paths = None if images is None else _image_paths(table, images)
        if paths is not None and not any(path.is_file() for path in paths):
            raise DataError(
                f"{images}: none of the {len(paths)} rows has an image there; the first was looked "
                f"for at {paths[0]}"
            )
        shown = {table.id_name, images, text}
        return cls(table, paths, text, frozenset(name for name in shown if name is not None))

    def name(self, row: int) -> str:
        """Return what a row is called."""
        return str(self.table.ids[row])

    def words(self, row: int) -> str | None:
        """Return the text of a row, if there is a column of texts."""
        if self.text is None:
            return None
        value = self._texts[row]
        return "" if value is None or value != value else str(value)[:_LONGEST_TEXT]

    def values(self, row: int) -> list[tuple[str, str]]:
        """Return the first values of a row with the names of their columns."""
        return [(name, _short(column[row])) for name, column in self._columns]

    def thumbnail(self, row: int) -> bytes:
        """Return the image of a row as a PNG of at most 160 x 160 pixels; `DataError` if none."""
        if self.images is None:
            raise DataError("the rows have no images; name them with --images")
        path, image_module = self.images[row], require("PIL.Image")
        try:
            with image_module.open(path) as image:
                small = _in_colors(image)
                small.thumbnail((_SIDE, _SIDE))
        except (OSError, ValueError, SyntaxError, image_module.DecompressionBombError) as error:
            raise DataError(f"{path}: no image that can be read ({error})") from error
        stream = io.BytesIO()
        small.save(stream, format="PNG", compress_level=1)
        return stream.getvalue()

    @cached_property
    def _texts(self) -> np.ndarray:
        return self.table.column(str(self.text), as_written=True)

    @cached_property
    def _columns(self) -> list[tuple[str, np.ndarray]]:
        """The columns whose values are shown; of a table without any, few features."""
        found: list[tuple[str, np.ndarray]] = []
        for name in self.table.column_names:
            if name not in self.apart and len(found) < _MOST_VALUES:
                column = self.table.column(name)
                if not _is_of_vectors(column):
                    found.append((name, column))
        features = self.table.values
        if found or features is None or features.shape[1] > _MOST_VALUES:
            return found
        return [(f"{k + 1}", _column(features, k)) for k in range(features.shape[1])]


def image_folder(table: Table, images: str) -> str:
    """Return a folder by its absolute path, and the name of a column as it is."""
    return images if images in table.column_names else str(Path(images).absolute())


def _is_of_vectors(column: np.ndarray) -> bool:
    return column.ndim != 1 or isinstance(column[0], list | np.ndarray)


def _in_colors(image: Any) -> Any:
    """Return an image upright, in 8 bits, with its transparency."""
    image.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # of JPEG, which is then read at once smaller
    upright = require("PIL.ImageOps").exif_transpose(image)
    if upright.mode[0] in "IF":  # more than 8 bits: from the least value to the largest
        values = np.asarray(upright, dtype=np.float64)
        low, high = np.nanmin(values), np.nanmax(values)
        shades = np.nan_to_num((values - low) / max(high - low, np.finfo(float).tiny))
        return require("PIL.Image").fromarray((255 * shades).astype(np.uint8)).convert("RGB")
    return upright.convert("RGBA" if upright.has_transparency_data else "RGB")


def _image_paths(table: Table, images: str) -> list[Path]:
    if images in table.column_names:
        folder = table.path.parent
        return [folder / str(value) for value in table.column(images, as_written=True).tolist()]
    folder = Path(images)
    if not folder.is_dir():
        raise ParameterError(
            f"{images}: neither a folder nor a column of {table.path}; it has "
            f"{table.columns_in_words}"
        )
    found = [path for path in folder.iterdir() if path.suffix.lower() in IMAGE_ENDINGS]
    by_name: dict[Any, Path] = {path.stem: path for path in found}
    by_name |= {path.name: path for path in found}
    by_name |= {int(path.stem): path for path in found if path.stem.isdecimal()}
    ids = table.ids.tolist()
    called = [by_name.get(name, by_name.get(str(name))) for name in ids]
    n_called = sum(path is not None for path in called)
    is_numbered = table.id_name == ROW
    # of 1.png, 2.png, ... the first is the first row's, though the second is called as it
    if is_numbered and n_called < len(ids) and len(found) == len(ids):
        return in_natural_order(found)
    if not n_called or (is_numbered and len(ids) in by_name):
        rows = "the rows, from 0" if is_numbered else f"ids of {table.id_name!r}"
        order = ", or one for each row, in their order" if is_numbered else ""
        raise DataError(
            f"{images}: holds {len(found)} images for {table.n_rows} rows, not called as {rows}; "
            f"give them these names, or a column of their paths{order}"
        )
    return [path or folder / str(name) for path, name in zip(called, ids, strict=True)]


def _column(features: Any, k: int) -> np.ndarray:
    column = features[:, [k]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def _short(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "\u2026"
