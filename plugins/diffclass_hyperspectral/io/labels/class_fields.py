"""Classes in the fields of shapes and the columns of lists: which field, which ids, which names.

Whole numbers are class ids; anything else is a name, and names are numbered 1, 2, ... in
alphabetical order, or as the classes that are known are. A field "class_name" or FIELD + "_name"
names numbered classes; a field "color" ("#rrggbb") gives colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.names import read_names, same_names
from diffclass.targets import MOST_CLASSES, encode_labels
from diffclass_hyperspectral.io.labels.class_table import ClassTable, default_name
from diffclass_hyperspectral.io.readers import Color, color_of

_USUAL = ("class", "class_id", "classname", "class_name", "label", "category", "id_class")

_NONE = ("0", "0.0")  # also beside names, of pixels and shapes without a class

Fields = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class FieldClasses:
    """The class of each entry: ``ids`` int32 (n,), 0 for none, and the field that holds it.

    ``is_numbered``: the ids are made up, as there are names alone.
    """

    field: str
    ids: np.ndarray
    names: dict[int, str]
    colors: dict[int, Color]
    is_numbered: bool


def classes_of_fields(
    path: Path, fields: Fields, class_field: str | None, known: ClassTable | None
) -> FieldClasses:
    """Return the classes in the fields of a file; see the module.

    ``class_field`` is by default the only field, or one called "class", "class_id", "label" and the
    like; of KML it may be the placemark's name. Names may be those of ``known``.
    """
    field = _class_field(path, fields, class_field)
    classes, codes = _encoded(path, field, fields[field])
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f"{path}: the field {field!r} has {len(classes)} different values, more than "
            f"{MOST_CLASSES} classes; name the field that holds the class"
        )
    has_ids = classes.dtype.kind in "biuf"
    numbered = _numbers_of_ids if has_ids else _numbers_of_names
    numbers = numbered(path, field, classes.tolist(), known)
    ids = np.array([*numbers.values(), 0], dtype=np.int32)[codes]
    names = _names_beside(path, fields, field, ids) if has_ids else {}
    names |= {i: str(name) for name, i in numbers.items() if i and not (has_ids and i == name)}
    return FieldClasses(field, ids, names, _colors(fields, ids), is_numbered=not has_ids)


def _class_field(path: Path, fields: Fields, field: str | None) -> str:
    there_are = ", ".join(fields) or "none"
    if field is not None:
        if field not in fields:
            raise DataError(f"{path}: no field {field!r}; it has {there_are}")
        return field
    by_lower = {name.lower(): name for name in reversed([*fields])}
    usual = (*_USUAL, *(["name"] if path.suffix.lower() == ".kml" else []))
    found = [by_lower[name] for name in usual if name in by_lower]
    if found:
        return found[0]
    if len(fields) == 1:
        return next(iter(fields))
    raise DataError(f"{path}: which field holds the class? It has {there_are}; name one")


def _encoded(path: Path, field: str, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different classes, and the number of each entry's, -1 for none."""
    lists = [value for value in values if isinstance(value, list | tuple | np.ndarray)]
    if lists:
        raise DataError(
            f"{path}: the field {field!r} holds lists, as {np.asarray(lists[0]).tolist()}; a class "
            "is one number or text"
        )
    try:
        if values.dtype.kind in "biuf":
            return encode_labels(values)
        missing = [value is None or value != value for value in values]  # NaN, NaT
        pairs = zip(values, missing, strict=True)
        return encode_labels(read_names([None if is_one else str(v) for v, is_one in pairs]))
    except DataError as error:
        raise DataError(f"{path}, field {field!r}: {error}") from None


def _numbers_of_ids(
    path: Path, field: str, values: list[Any], known: ClassTable | None
) -> dict[Any, int]:
    """Return the id that each number is, or the one that a known class of that name has."""
    largest = np.iinfo(np.int32).max
    wrong = [v for v in values if not float(v).is_integer() or not 0 <= v <= largest]
    if wrong:
        raise DataError(
            f"{path}: the field {field!r} holds {wrong[0]:g}; class ids are 1, 2, ... and 0, -1 or "
            "empty for none"
        )
    ids = {value: int(value) for value in values}
    if known is None:
        return ids
    named = _ids_called(path, [value for value in values if value], known)
    if not named or len(named) < len([value for value in values if value]):
        return ids
    differing = next((value for value, i in named.items() if ids[value] != i), None)
    if differing is not None and all(i in known for i in ids.values()):
        raise DataError(
            f"{path}: {differing} may be the id of a class of the map or the name of class "
            f"{named[differing]}; name the classes by words"
        )
    return {value: named.get(value, 0) for value in values}


def _numbers_of_names(
    path: Path, field: str, names: list[str], known: ClassTable | None
) -> dict[Any, int]:
    """Return the number of each class that has only a name, 0 for those that mean none."""
    called = [name for name in names if name not in _NONE]
    numbers = {} if known is None else _ids_called(path, called, known)
    first = 1 if known is None or not numbers else max(known.ids) + 1
    more = [name for name in called if name not in numbers]
    numbers |= {name: first + i for i, name in enumerate(more)}
    return {name: numbers.get(name, 0) for name in names}


def _ids_called(path: Path, names: list[Any], known: ClassTable) -> dict[Any, int]:
    """Return the ids of those names that known classes have."""
    ids: dict[str, list[int]] = {}
    for entry in known:
        ids.setdefault(entry.name, []).append(entry.id)
    found = same_names(names, ids, sides=(str(path), "the map"))
    for name, called in found.items():
        if len(ids[called]) > 1:
            raise DataError(
                f"{path}: {name!r} is the name of the classes {ids[called][0]} and "
                f"{ids[called][1]} of the map; give class ids"
            )
    return {name: ids[called][0] for name, called in found.items()}


def _names_beside(path: Path, fields: Fields, field: str, ids: np.ndarray) -> dict[int, str]:
    names = {i: default_name(i) for i in np.unique(ids).tolist() if i}
    by_lower = {name.lower(): values for name, values in fields.items() if name != field}
    for name in (f"{field.lower()}_name", "class_name", "classname"):
        texts = by_lower.get(name)
        if texts is not None and texts.dtype.kind == "O":
            given = dict.fromkeys(zip(ids.tolist(), texts, strict=True))
            return names | _one_name_each(path, [(i, str(t)) for i, t in given if i and t])
    return names


def _one_name_each(path: Path, given: list[tuple[int, str]]) -> dict[int, str]:
    names: dict[int, str] = {}
    for i, name in given:
        if names.setdefault(i, name) != name:
            raise DataError(
                f"{path}: class {i} is called {names[i]!r} and {name!r}; name it alike everywhere"
            )
    return {i: name for i, name in names.items() if name.strip()}


def _colors(fields: Fields, ids: np.ndarray) -> dict[int, Color]:
    by_lower = {name.lower(): values for name, values in fields.items()}
    texts = by_lower.get("color", by_lower.get("colour"))
    if texts is None or texts.dtype.kind != "O":
        return {}
    return {
        i: color
        for i, text in zip(ids.tolist(), texts, strict=True)
        if i and isinstance(text, str) and (color := color_of(text)) is not None
    }
