"""Classes as attributes of a variable: flags by the CF conventions.

``flag_values`` lists the ids, ``flag_meanings`` a word for each (blanks become underscores).
``flag_colors`` ("#rrggbb" each) is what others add too; ``class_names`` keeps the names as they
are, as JSON. Written to a GeoTIFF by rioxarray they become tags, and are read back from there.

Source: NetCDF Climate and Forecast (CF) Metadata Conventions 1.11, section 3.5, Flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from diffclass_hyperspectral.io.readers.contents import (
    Color,
    color_of,
    color_text,
    names_as_json,
    names_of_json,
)

_NOT_IN_A_WORD = re.compile(r"[^A-Za-z0-9_\-.+@]+")


class _Entry(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def color(self) -> Color: ...


def flags_of(entries: Iterable[_Entry], dtype: DTypeLike) -> dict[str, Any]:
    """Return the attributes that say what the values of a class map mean.

    Parameters
    ----------
    entries : iterable of ClassEntry
        Without 0, which no class has.
    dtype : dtype
        Of the map: flag values have the same.
    """
    classes = list(entries)
    return {
        "flag_values": np.array([entry.id for entry in classes], dtype=dtype),
        "flag_meanings": " ".join(_word(entry.name) for entry in classes),
        "flag_colors": " ".join(color_text(entry.color) for entry in classes),
        "class_names": names_as_json({entry.id: entry.name for entry in classes}),
    }


def classes_of_flags(attributes: Mapping[str, Any]) -> tuple[dict[int, str], dict[int, Color]]:
    """Return names and colours of the classes that attributes or tags declare; both may be empty.

    Examples
    --------
    >>> classes_of_flags({"flag_values": "[1 7]", "flag_meanings": "corn bare_soil"})
    ({1: 'corn', 7: 'bare_soil'}, {})
    """
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
