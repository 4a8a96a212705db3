"""What a reader hands over: an array, what its file says about it, and names of classes.

Classes are attributes of a variable by the CF conventions: ``flag_values`` lists the ids,
``flag_meanings`` a word for each (blanks become underscores). ``flag_colors`` ("#rrggbb" each) is
what others add too; ``class_names`` keeps the names as they are, as JSON.

Source: NetCDF Climate and Forecast (CF) Metadata Conventions 1.11, section 3.5, Flags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference import LookupTable

Color: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Contents:
    """An image array with the facts that its file states; absent facts are None.

    Attributes
    ----------
    data : ndarray or BlockArray of shape (rows, columns, bands), or ndarray (rows, columns)
        Plain array, possibly on a memory map, or one that reads its rows when asked.
    format : str
        Name of the format, for people.
    wavelengths, widths : ndarray of shape (bands,), in nanometres
        Centres, and full widths of the bands' responses at half of their maximum.
    band_mask : ndarray of shape (bands,), bool
        True for bands that the file calls good.
    ignore_value : float
        The value that stands for "no data".
    scale_factor : float
        Stored values divided by it are reflectances.
    band_names : tuple of str
    map_info : tuple of str
        As ENVI has it; a `MapInfo` where the file states coordinates.
    read_lookup_table : callable
        Without arguments to the `LookupTable` between the sensor's grid and a map.
    class_names : dict of int to str
    class_colors : dict of int to (red, green, blue), each 0 to 255
    unused : tuple of str
        Attributes that the file states and the reader does not use, of which is warned.

    Examples
    --------
    What a reader of another package returns for a file:

    >>> import numpy as np
    >>> from diffclass_hyperspectral import Contents
    >>> contents = Contents(
    ...     np.zeros((4, 5, 3), dtype=np.int16), "my sensor",
    ...     wavelengths=np.array([480.0, 560.0, 655.0]), ignore_value=-1, scale_factor=10_000)
    >>> contents.format, contents.data.shape
    ('my sensor', (4, 5, 3))
    """

    data: Any  # BlockArray reads like an array, but is no ndarray
    format: str
    wavelengths: np.ndarray | None = None
    widths: np.ndarray | None = None
    band_mask: np.ndarray | None = None
    ignore_value: float | None = None
    scale_factor: float = 1.0
    band_names: tuple[str, ...] | None = None
    map_info: tuple[str, ...] | None = None
    read_lookup_table: Callable[[], LookupTable] | None = None
    class_names: dict[int, str] | None = None
    class_colors: dict[int, Color] | None = None
    unused: tuple[str, ...] = ()


_SMALLEST, _LARGEST = 1e-12, 1e12  # beyond, single precision would overflow or vanish


@dataclass(frozen=True, eq=False)
class BandScales:
    """Gains and offsets (bands,) of the bands, and the stored value that becomes NaN."""

    gains: np.ndarray
    offsets: np.ndarray
    ignored: float | None = None

    def check(self, path: Path) -> None:
        """Raise `DataError` for gains of 0 and numbers that are not finite or out of reach."""
        sizes = np.abs(self.gains)
        usable = (sizes >= _SMALLEST) & (sizes <= _LARGEST) & (np.abs(self.offsets) <= _LARGEST)
        if not usable.all():
            band = int(np.argmin(usable))
            raise DataError(
                f"{path}: the gain {self.gains[band]:g} and offset {self.offsets[band]:g} of band "
                f"{band + 1} are not usable numbers; correct what the file states"
            )

    @property
    def scale_factor(self) -> float | None:
        """What all stored values are divided by, or None where bands differ or have offsets."""
        same = bool((self.gains == self.gains[0]).all()) and self.gains[0] > 0
        return None if self.offsets.any() or not same else float(1 / self.gains[0])

    def apply(self, block: np.ndarray) -> np.ndarray:
        """Return the measurements of a block (rows, columns, bands) as float32."""
        values = block.astype(np.float32) * self.gains.astype(np.float32)
        values += self.offsets.astype(np.float32)
        if self.ignored is not None:
            values[is_ignored(block, self.ignored)] = np.nan
        return values


FILLS = (-9999.0, -999.0, -32768.0)  # which no spectrum holds, and files do not always state


def scaled_spectra(values: np.ndarray, factor: float) -> np.ndarray:
    """Return spectra times a factor; what is no measurement stays as it is, to be found."""
    return np.where(np.isin(values, FILLS), values, values * factor)


def is_ignored(values: np.ndarray, ignored: float | np.ndarray | None) -> np.ndarray:
    """Return which stored values mean "no data", bool of the same shape; NaN is not looked for.

    ``ignored`` is one value, or (bands,) with NaN where a band has none; a number in a header
    stands for one of the file's own precision.
    """
    wanted = np.asarray(np.nan if ignored is None else ignored, dtype=np.float64)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(values == wanted.astype(values.dtype))
    limits = np.iinfo(np.uint8 if values.dtype.kind == "b" else values.dtype)
    within = (wanted >= float(limits.min)) & (wanted < float(limits.max) + 1)
    possible = within & (wanted == np.floor(wanted))
    same = np.asarray(values == np.where(possible, wanted, 0).astype(limits.dtype))
    return same if possible.all() else same & possible


_HEX = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})\Z")


def color_of(text: str) -> Color | None:
    """Return the colour that "#rrggbb" names, None for another text."""
    found = _HEX.match(text)
    return None if found is None else (int(found[1], 16), int(found[2], 16), int(found[3], 16))


def color_text(color: Color) -> str:
    """Return a colour as "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def colors_of(values: Sequence[int]) -> dict[int, Color]:
    """Return the colours by index of a list with red, green and blue of each in turn."""
    colors = zip(values[::3], values[1::3], values[2::3], strict=False)
    return dict(enumerate(colors))


def names_as_json(names: Mapping[int, str]) -> str:
    """Return names of classes by id as one text, for files that have no other place for them."""
    return json.dumps({str(i): name for i, name in names.items()})


def names_of_json(text: str) -> dict[int, str]:
    """Return the names that `names_as_json` wrote."""
    return {int(key): str(name) for key, name in json.loads(text).items()}


def full_names(
    listed: Mapping[int, str], text: str | None, plain: Callable[[str], str]
) -> dict[int, str]:
    """Return the names of classes that a format lists, in full where it cannot hold them so.

    ``text`` is of `names_as_json`; a name of it counts if ``plain`` makes the listed one of it, and
    nobody has changed that since.

    >>> full_names({1: "corn", 2: "soy"}, '{"1": "Corn", "2": "oats"}', str.lower)
    {1: 'Corn', 2: 'soy'}
    """
    try:
        full = {} if text is None else names_of_json(text)
    except (ValueError, AttributeError):
        full = {}
    kept = {i: name for i, name in full.items() if plain(name) == plain(listed.get(i, name))}
    return {**listed, **kept}


_NOT_IN_A_WORD = re.compile(r"[^A-Za-z0-9_\-.+@]+")


def flags_of(entries: Iterable[Any], dtype: DTypeLike) -> dict[str, Any]:
    """Return the attributes that say what the values of a class map of ``dtype`` mean."""
    classes = list(entries)
    return {
        "flag_values": np.array([entry.id for entry in classes], dtype=dtype),
        "flag_meanings": " ".join(_word(entry.name) for entry in classes),
        "flag_colors": " ".join(color_text(entry.color) for entry in classes),
        "class_names": names_as_json({entry.id: entry.name for entry in classes}),
    }


def classes_of_flags(attributes: Mapping[str, Any]) -> tuple[dict[int, str], dict[int, Color]]:
    """Return names and colours of the classes that attributes or tags declare, if any."""
    values = [
        int(float(text)) for text in re.findall(r"-?\d+(?:\.0*)?", _text(attributes, "flag_values"))
    ]
    names = dict(zip(values, _text(attributes, "flag_meanings").split(), strict=False))
    colors = {
        value: color
        for value, text in zip(values, _text(attributes, "flag_colors").split(), strict=False)
        if (color := color_of(text)) is not None
    }
    return names | _full_names(attributes), colors


def _full_names(attributes: Mapping[str, Any]) -> dict[int, str]:
    try:
        return names_of_json(str(attributes.get("class_names", "{}")))
    except (ValueError, AttributeError):
        return {}  # an attribute of another meaning


def _text(attributes: Mapping[str, Any], name: str) -> str:
    value = attributes.get(name, "")
    return value if isinstance(value, str) else " ".join(str(v) for v in np.atleast_1d(value))


def _word(name: str) -> str:
    return _NOT_IN_A_WORD.sub("_", name.strip()) or "_"
