"""Operations as clients send them and the log keeps them: checked, completed, put into points.

They are the engine's (see `diffclass.relabel`), but for pixels: "pixels" are runs over the raster
where the engine has "points".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel import RelabelSession
from diffclass_hyperspectral import ClassTable, LabelImage
from diffclass_relabel.runs import runs_of
from diffclass_relabel.workspace import Workspace

_INTEGER, _FLAG, _RUNS = "a whole number", "true or false", "a list of runs"
_TEXT = "a text of at most 200 printable characters"
_TAU = 'a whole number or "margin"'

# what an operation has to say; a "?" may be left out
FIELDS: dict[str, dict[str, str]] = {
    "stroke": {"class": _INTEGER, "pixels": _RUNS},
    "erase": {"pixels": _RUNS},
    "move": {"stroke": _INTEGER, "class": _INTEGER},
    "remove": {"stroke": _INTEGER},
    "add_class": {"id?": _INTEGER, "name?": _TEXT, "color?": _TEXT},
    "rename_class": {"id": _INTEGER, "name": _TEXT},
    "recolor_class": {"id": _INTEGER, "color": _TEXT},
    "hide_class": {"id": _INTEGER, "hidden": _FLAG},
    "lock_class": {"id": _INTEGER, "locked": _FLAG},
    "merge_classes": {"source": _INTEGER, "into": _INTEGER},
    "remove_class": {"id": _INTEGER},
    "tau": {"tau": _TAU},
    "warp": {},
    "unwarp": {},
    "undo": {},
    "redo": {},
}

_LARGEST_ID = 254  # 0 is no class and 255 no data in the planes that the page gets
_LONGEST_TEXT = 200


def completed(operation: Any, workspace: Workspace, session: RelabelSession) -> dict[str, Any]:
    """Return an operation as the log keeps it, with all that was left open settled.

    Parameters
    ----------
    operation : dict
        As a client sent it: anything.
    workspace : Workspace
    session : RelabelSession
        As it stands before the operation.

    Returns
    -------
    dict
        A new class has id, name and colour; pixels are those that have data.

    Raises
    ------
    ParameterError
        Where it is no operation, a field is missing, unknown or of another kind, or pixels lie
        outside the image.
    """
    _check_fields(operation)
    if operation["op"] == "add_class":
        return _completed_class(operation, session)
    if "pixels" in operation:
        points = workspace.points_of_runs(operation["pixels"])
        return operation | {"pixels": runs_of(workspace.pixels[points])}
    return dict(operation)


def for_engine(operation: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    """Return an operation of the log with points in place of pixels."""
    if "pixels" not in operation:
        return operation
    rest = {name: value for name, value in operation.items() if name != "pixels"}
    return rest | {"points": workspace.points_of_runs(operation["pixels"])}


def operations_of_labels(labels: LabelImage, workspace: Workspace) -> list[dict[str, Any]]:
    """Return the operations that paint a label image: a class and a stroke for each id.

    Raises
    ------
    DataError
        Where the image does not lie on the scene.
    ParameterError
        Where an id is too large, or no labelled pixel has data.
    """
    labels.check_matches(workspace.scene)
    ids = labels.ids.ravel()
    operations: list[dict[str, Any]] = []
    names: set[str] = set()
    for entry in labels.table:
        if entry.id > _LARGEST_ID:
            raise ParameterError(
                f"{labels.path}: class id {entry.id} is too large for relabel ({_LARGEST_ID} at "
                "most); number the classes anew"
            )
        name = _free_name(entry.name, names)
        names.add(name)
        operations.append(
            {"op": "add_class", "id": entry.id, "name": name, "color": _hex(entry.color)}
        )
    for entry in labels.table:
        pixels = np.flatnonzero((ids == entry.id) & (workspace.points >= 0))
        if len(pixels):
            operations.append({"op": "stroke", "class": entry.id, "pixels": runs_of(pixels)})
    if not any(operation["op"] == "stroke" for operation in operations):
        raise ParameterError(f"{labels.path}: no labelled pixel has data; give labels that do")
    return operations


def _check_fields(operation: Any) -> None:
    if not isinstance(operation, dict) or not isinstance(operation.get("op"), str):
        raise ParameterError('an operation is an object with a text "op"')
    name = operation["op"]
    if name not in FIELDS:
        raise ParameterError(f"there is no operation {name[:40]!r}; there are {', '.join(FIELDS)}")
    fields = {field.rstrip("?"): kind for field, kind in FIELDS[name].items()}
    unknown = operation.keys() - fields.keys() - {"op"}
    if unknown:
        raise ParameterError(f"{name} has no field {min(unknown)[:40]!r}; leave it out")
    for field, kind in fields.items():
        if field not in operation:
            if f"{field}?" in FIELDS[name]:
                continue
            raise ParameterError(f"{name} lacks {field!r}, {kind}")
        if not _is_kind(operation[field], kind):
            raise ParameterError(f"{name}: {field} has to be {kind}")


def _is_kind(value: Any, kind: str) -> bool:
    if kind == _INTEGER:
        return type(value) is int and abs(value) < 2**31
    if kind == _TEXT:
        return isinstance(value, str) and len(value) <= _LONGEST_TEXT and value.isprintable()
    if kind == _FLAG:
        return isinstance(value, bool)
    if kind == _TAU:
        return value == "margin" or _is_kind(value, _INTEGER)
    return isinstance(value, list)


def _completed_class(operation: dict[str, Any], session: RelabelSession) -> dict[str, Any]:
    taken = {entry.id for entry in session.classes}
    class_id = operation["id"] if "id" in operation else _free_id(taken)
    if not 1 <= class_id <= _LARGEST_ID:
        raise ParameterError(
            f"class id {class_id} is not from 1 to {_LARGEST_ID}; "
            "merge or remove classes, or name a free id"
        )
    default = ClassTable.from_ids([class_id])[class_id]
    name = _free_name(default.name, {entry.name for entry in session.classes})
    defaults = {"op": "add_class", "id": class_id, "name": name, "color": _hex(default.color)}
    return defaults | operation


def _free_id(taken: set[int]) -> int:
    """Return the id after the highest; with that one taken too, the least that is free."""
    after = max(taken, default=0) + 1
    if after <= _LARGEST_ID:
        return after
    return min(set(range(1, _LARGEST_ID + 2)) - taken)


def _free_name(name: str, taken: set[str]) -> str:
    """Return a name that no class has: two of one name could not be told apart."""
    plain = "".join(letter for letter in name if letter.isprintable()).strip() or "class"
    number, free = 2, plain[: _LONGEST_TEXT - 10]
    while free in taken:
        free = f"{plain[: _LONGEST_TEXT - 10]} ({number})"
        number += 1
    return free


def _hex(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
