"""Operations as clients send them and the log keeps them: checked, put into points, completed.

They are those of `diffclass.relabel.OPERATIONS`, with pixels in place of points: "pixels" holds
runs over the raster where the engine has "points".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from diffclass.relabel import OPERATIONS, RelabelSession
from diffclass.relabel.fields import Kind, Points, refusal
from diffclass.relabel.schema import Form, Parts, checked_message
from diffclass_relabel.scene import Workspace, runs_of

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
        elif isinstance(kind, Parts):
            required[name] = Parts({part: _over_pixels(of) for part, of in kind.forms.items()})
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
    return _on_data({"op": name} | values, workspace)


def _on_data(operation: Operation, workspace: Workspace) -> Operation:
    """Leave out the pixels without data."""
    if "pixels" in operation:
        return operation | {"pixels": runs_of(workspace.pixels_of_runs(operation["pixels"]))}
    if "operations" in operation:
        parts = [_on_data(part, workspace) for part in operation["operations"]]
        return operation | {"operations": parts}
    return operation


def for_engine(operation: Mapping[str, Any], workspace: Workspace) -> Operation:
    """Return an operation with points in place of pixels."""
    rest = {name: value for name, value in operation.items() if name != "pixels"}
    if "pixels" in operation:
        rest["points"] = workspace.points_of_runs(operation["pixels"])
    if "operations" in operation:
        rest["operations"] = [for_engine(part, workspace) for part in operation["operations"]]
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
