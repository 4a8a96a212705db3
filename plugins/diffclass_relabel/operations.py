"""Operations as clients send them and the log keeps them: checked, put into points, completed.

They are those of `diffclass.relabel.OPERATIONS`, with pixels in place of points: "pixels" holds
runs over the raster where the engine has "points".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel import OPERATIONS, RelabelSession
from diffclass.relabel.edits import free_name
from diffclass.relabel.fields import LARGEST_CLASS_ID, Kind, Points, refusal
from diffclass.relabel.schema import Form, checked_message
from diffclass_hyperspectral import LabelImage
from diffclass_relabel.runs import runs_of
from diffclass_relabel.workspace import Workspace

Operation = dict[str, Any]


@dataclass(frozen=True)
class Runs:
    """A set of pixels; that they lie within the image is checked where its size is known."""

    says = "a list of runs, [start, length, start, length, ...]"
    json_type = list[int]

    def checked(self, value: Any, name: str) -> list[int]:
        """Return a list."""
        if not isinstance(value, list):
            raise refusal(self, value, name)
        return value


def _over_pixels(form: Form) -> Form:
    """Return the form in which runs of pixels stand for points."""
    required: dict[str, Kind] = {}
    for name, kind in form.required.items():
        if isinstance(kind, Points):
            required["pixels"] = Runs()
        else:
            required[name] = kind
    return replace(form, purpose=form.purpose.replace("points", "pixels"), required=required)


PIXEL_OPERATIONS = {name: _over_pixels(form) for name, form in OPERATIONS.items()}


def checked_operation(operation: Any, workspace: Workspace) -> Operation:
    """Return an operation of a client with clean values.

    Parameters
    ----------
    operation : dict
        As a client sent it: anything.
    workspace : Workspace

    Returns
    -------
    dict
        Its pixels are those that have data.

    Raises
    ------
    ParameterError
        Where it is not an operation, a field is missing, unknown or of another kind, or pixels lie
        outside the image.
    """
    name, values = checked_message(operation, PIXEL_OPERATIONS)
    if "pixels" in values:
        points = workspace.points_of_runs(values["pixels"])
        values["pixels"] = runs_of(workspace.pixels[points])
    return {"op": name} | values


def for_engine(operation: Mapping[str, Any], workspace: Workspace) -> Operation:
    """Return an operation with points in place of pixels."""
    rest = {name: value for name, value in operation.items() if name != "pixels"}
    if "pixels" in operation:
        rest["points"] = workspace.points_of_runs(operation["pixels"])
    return rest


def completed(operation: Operation, session: RelabelSession) -> Operation:
    """Return an operation as the log keeps it: with the values that the session has chosen.

    Parameters
    ----------
    operation : dict
    session : RelabelSession
        As it stands after the operation.

    Returns
    -------
    dict
        A new class has id, name and colour.
    """
    if operation["op"] != "add_class":
        return operation
    new = session.classes[-1]
    return {"op": "add_class", "id": new.id, "name": new.name, "color": new.color}


def operations_of_labels(labels: LabelImage, workspace: Workspace) -> list[Operation]:
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
    operations: list[Operation] = []
    names: set[str] = set()
    for entry in labels.table:
        if entry.id > LARGEST_CLASS_ID:
            raise ParameterError(
                f"{labels.path}: class id {entry.id} is too large for relabel "
                f"({LARGEST_CLASS_ID} at most); renumber the classes"
            )
        name = free_name(entry.name, names)
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


def _hex(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
