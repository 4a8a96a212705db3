"""What can be done in a session: from one state to the next, or refused.

An operation is a mapping of JSON values, {"op": name, ...}; it is what is undone, logged and
replayed. Nothing is diffused here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diffclass._validation import check_positive
from diffclass.exceptions import ParameterError
from diffclass.relabel.state import DEFAULT_TAU, State
from diffclass.relabel.strokes import ClassInfo, new_stroke

MAX_CLASS_ID = 254
MAX_TAU = 10_000
_MAX_NAME = 200

Operation = Mapping[str, Any]


def next_state(state: State, operation: Operation) -> State:
    """Return the state after an operation.

    Parameters
    ----------
    state : State
        Left as it is.
    operation : mapping
        {"op": name} and what the operation of that name needs; see `OPERATIONS`.

    Returns
    -------
    State

    Raises
    ------
    ParameterError
        Where the operation is unknown, lacks something, has too much, or cannot be done.
    """
    name, fields = _split(operation)
    apply, required, optional = OPERATIONS[name]
    missing = [field for field in required if field not in fields]
    unknown = [str(field) for field in fields if field not in (*required, *optional)]
    if missing:
        raise ParameterError(f"{name}: {', '.join(missing)} is missing; give {_form(name)}")
    if unknown:
        raise ParameterError(f"{name}: {', '.join(unknown)} is unknown; give {_form(name)}")
    try:
        return _with_time(apply(state, fields))
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from None


def _split(operation: Operation) -> tuple[str, dict[str, Any]]:
    if not isinstance(operation, Mapping):
        raise ParameterError(
            f'an operation is a mapping {{"op": name, ...}}, not {type(operation).__name__}'
        )
    fields = dict(operation)
    name = fields.pop("op", None)
    if not isinstance(name, str) or name not in OPERATIONS:
        possible = ", ".join([*OPERATIONS, "undo", "redo"])
        raise ParameterError(f"op = {_short(name)}; possible: {possible}")
    return name, fields


def _with_time(state: State) -> State:
    """Let the margin choose the time as soon as it can: two classes have a margin, one has none."""
    if not state.by_margin or state.chosen_for is not None or len(state.mapped_classes) < 2:
        return state
    return replace(state, chosen_for=state)


# --- strokes


def _stroke(state: State, fields: dict[str, Any]) -> State:
    class_id = state.class_of(_whole(fields["class"], "class")).id
    points = _unlocked(state, _points(fields["points"], state.n_points))
    stroke = new_stroke(state.next_number, class_id, points)
    left = state.without_points(points)
    return replace(left, strokes=(*left.strokes, stroke), next_number=state.next_number + 1)


def _erase(state: State, fields: dict[str, Any]) -> State:
    points = _points(fields["points"], state.n_points)
    points = points[state.label_ids[points] > 0]
    if not len(points):
        raise ParameterError("none of these points is labelled; nothing was erased")
    return state.without_points(_unlocked(state, points))


def _move(state: State, fields: dict[str, Any]) -> State:
    stroke = state.stroke_of(_whole(fields["stroke"], "stroke"))
    class_id = state.class_of(_whole(fields["class"], "class")).id
    _refuse_locked(state, stroke.class_id)
    moved = replace(stroke, class_id=class_id)
    return state.with_strokes(tuple(moved if s is stroke else s for s in state.strokes))


def _remove(state: State, fields: dict[str, Any]) -> State:
    stroke = state.stroke_of(_whole(fields["stroke"], "stroke"))
    _refuse_locked(state, stroke.class_id)
    return state.with_strokes(tuple(s for s in state.strokes if s is not stroke))


def _unlocked(state: State, points: np.ndarray) -> np.ndarray:
    """Leave out the points that locked classes hold."""
    locked = [info.id for info in state.classes if info.locked]
    free = points[~np.isin(state.label_ids[points], locked)] if locked else points
    if not len(free):
        raise ParameterError("every one of these points is in a locked class; unlock it first")
    return free


def _refuse_locked(state: State, class_id: int) -> None:
    info = state.class_of(class_id)
    if info.locked:
        raise ParameterError(f"class {info.id} ({info.name}) is locked; unlock it first")


# --- classes


def _add_class(state: State, fields: dict[str, Any]) -> State:
    class_id = _free_id(state) if fields.get("id") is None else _whole(fields["id"], "id")
    if not 1 <= class_id <= MAX_CLASS_ID:
        raise ParameterError(f"id = {class_id}; class ids are 1 to {MAX_CLASS_ID}")
    if any(info.id == class_id for info in state.classes):
        raise ParameterError(f"there is a class {class_id} already; leave id out for the next one")
    name = _name(fields.get("name") or f"class {class_id}", state, class_id)
    color = _color(fields.get("color") or default_color(class_id))
    return replace(state, classes=(*state.classes, ClassInfo(class_id, name, color)))


def _rename_class(state: State, fields: dict[str, Any]) -> State:
    info = _class(state, fields)
    return state.with_class(replace(info, name=_name(fields["name"], state, info.id)))


def _recolor_class(state: State, fields: dict[str, Any]) -> State:
    return state.with_class(replace(_class(state, fields), color=_color(fields["color"])))


def _hide_class(state: State, fields: dict[str, Any]) -> State:
    hidden = _boolean(fields["hidden"], "hidden")
    return state.with_class(replace(_class(state, fields), hidden=hidden))


def _lock_class(state: State, fields: dict[str, Any]) -> State:
    locked = _boolean(fields["locked"], "locked")
    return state.with_class(replace(_class(state, fields), locked=locked))


def _merge_classes(state: State, fields: dict[str, Any]) -> State:
    source = state.class_of(_whole(fields["source"], "source"))
    into = state.class_of(_whole(fields["into"], "into"))
    if source is into:
        raise ParameterError(f"class {source.id} cannot be merged into itself")
    _refuse_locked(state, source.id)
    strokes = tuple(
        replace(stroke, class_id=into.id) if stroke.class_id == source.id else stroke
        for stroke in state.strokes
    )
    classes = tuple(info for info in state.classes if info is not source)
    return replace(state, strokes=strokes, classes=classes)


def _remove_class(state: State, fields: dict[str, Any]) -> State:
    info = _class(state, fields)
    _refuse_locked(state, info.id)
    n_labelled = sum(len(stroke) for stroke in state.strokes_of(info.id))
    if n_labelled:
        raise ParameterError(
            f"class {info.id} ({info.name}) has {n_labelled} labelled points; erase them or merge "
            "the class into another"
        )
    return replace(state, classes=tuple(other for other in state.classes if other is not info))


def default_color(class_id: int) -> str:
    """Return the colour of a class that is given none, safe for the colour-blind."""
    from diffclass.plots.palette import DEFAULT_PALETTE

    return DEFAULT_PALETTE[(class_id - 1) % len(DEFAULT_PALETTE)].lower()


def _free_id(state: State) -> int:
    """Return the id after the highest, or the least that is free."""
    taken = {info.id for info in state.classes}
    after = max(taken, default=0) + 1
    if after <= MAX_CLASS_ID:
        return after
    free = sorted(set(range(1, MAX_CLASS_ID + 1)) - taken)
    if not free:
        raise ParameterError(f"there are {MAX_CLASS_ID} classes already, as many as can be")
    return free[0]


# --- the time and the walk


def _tau(state: State, fields: dict[str, Any]) -> State:
    tau = fields["tau"]
    if isinstance(tau, str):
        if tau != "margin":
            raise ParameterError(f'tau = {_short(tau)}; it is a whole number or "margin"')
        return replace(state, tau=DEFAULT_TAU, by_margin=True, chosen_for=None)
    check_positive(tau, "tau", integer=True)
    if tau > MAX_TAU:
        raise ParameterError(f"tau = {tau}; a session goes up to {MAX_TAU} steps")
    return replace(state, tau=int(tau), by_margin=False, chosen_for=None)


def _warp(state: State, fields: dict[str, Any]) -> State:
    if not state.strokes:
        raise ParameterError("there are no labels to warp by; paint a stroke first")
    return replace(state, warped_by=state)


def _unwarp(state: State, fields: dict[str, Any]) -> State:
    if state.warped_by is None:
        raise ParameterError("the walk is not warped")
    return replace(state, warped_by=None)


# --- values


def _class(state: State, fields: dict[str, Any]) -> ClassInfo:
    return state.class_of(_whole(fields["id"], "id"))


def _points(given: Any, n_points: int) -> np.ndarray:
    points = _as_array(given)
    if points is None or points.ndim != 1 or points.dtype.kind not in "iu" or not len(points):
        raise ParameterError(f"points = {_short(given)}; it is a list of at least one point number")
    if points.min() < 0 or points.max() >= n_points:
        raise ParameterError(
            f"points go from {points.min()} to {points.max()}; there are 0 to {n_points - 1}"
        )
    return np.unique(points).astype(np.int32)


def _as_array(given: Any) -> np.ndarray | None:
    if isinstance(given, np.ndarray):
        return given
    if not isinstance(given, list | tuple):
        return None
    kinds = set(map(type, given))
    if not all(kind is int or issubclass(kind, np.integer) for kind in kinds):
        return None  # NumPy would take true for 1
    return np.asarray(given)


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} = {_short(value)}; it is a whole number")
    return int(value)


def _boolean(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(f"{name} = {_short(value)}; it is true or false")
    return value


def _name(value: Any, state: State, class_id: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_NAME:
        raise ParameterError(f"name = {_short(value)}; it is a text of 1 to {_MAX_NAME} characters")
    name = value.strip()
    for info in state.classes:
        if info.name == name and info.id != class_id:
            raise ParameterError(f"class {info.id} is called {_short(name)} already")
    return name


def _color(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
        raise ParameterError(f'color = {_short(value)}; it is a text such as "#e69f00"')
    return value.lower()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _form(name: str) -> str:
    _, required, optional = OPERATIONS[name]
    return ", ".join([*required, *(f"{field} (optional)" for field in optional)]) or "nothing else"


_Apply = Callable[[State, dict[str, Any]], State]

# name: what it does, the fields it needs, those it can do without
OPERATIONS: dict[str, tuple[_Apply, tuple[str, ...], tuple[str, ...]]] = {
    "stroke": (_stroke, ("class", "points"), ()),
    "erase": (_erase, ("points",), ()),
    "move": (_move, ("stroke", "class"), ()),
    "remove": (_remove, ("stroke",), ()),
    "add_class": (_add_class, (), ("id", "name", "color")),
    "rename_class": (_rename_class, ("id", "name"), ()),
    "recolor_class": (_recolor_class, ("id", "color"), ()),
    "hide_class": (_hide_class, ("id", "hidden"), ()),
    "lock_class": (_lock_class, ("id", "locked"), ()),
    "merge_classes": (_merge_classes, ("source", "into"), ()),
    "remove_class": (_remove_class, ("id",), ()),
    "tau": (_tau, ("tau",), ()),
    "warp": (_warp, (), ()),
    "unwarp": (_unwarp, (), ()),
}
