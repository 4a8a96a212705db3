"""Edits: an operation takes a state to the next one, or is refused.

An operation is a mapping of JSON values, {"op": name, ...}. Operations are what is undone, logged
and replayed. Nothing is diffused here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel.fields import LARGEST_CLASS_ID, LONGEST_NAME, shortened
from diffclass.relabel.schema import OPERATIONS, Operation, checked_message
from diffclass.relabel.state import DEFAULT_TAU, State
from diffclass.relabel.strokes import ClassInfo, new_stroke

_Values = Mapping[str, Any]


def next_state(state: State, operation: Operation) -> State:
    """Return the state after an operation.

    Parameters
    ----------
    state : State
        Not changed.
    operation : mapping
        {"op": name} and the fields that `diffclass.relabel.OPERATIONS` lists for it. Undo and redo
        are not accepted: they need a history.

    Returns
    -------
    State

    Raises
    ------
    ParameterError
        If the operation is unknown, a field is missing or unknown, or it cannot be done.
    """
    return edited(state, *checked_message(operation, OPERATIONS))


def with_classes(state: State, classes: Iterable[ClassInfo | str]) -> State:
    """Return the state with more classes; a name alone gets the next id and colour."""
    for info in classes:
        if isinstance(info, ClassInfo):
            fields = {"id": info.id, "name": info.name, "color": info.color}
            state = next_state(state, {"op": "add_class", **fields})
            state = state.with_class(
                replace(state.class_of(info.id), hidden=info.hidden, locked=info.locked)
            )
        else:
            state = next_state(state, {"op": "add_class", "name": info})
    return state


def edited(state: State, name: str, values: Mapping[str, Any]) -> State:
    """Return the state after an operation whose fields are checked; as `next_state`."""
    try:
        return _with_time(_EDITS[name](state, values))
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from None


def _with_time(state: State) -> State:
    """Let the margin choose the time once two classes have labels: one class has no margin."""
    if state.rule != "margin" or state.chosen_for is not None or len(state.mapped_classes) < 2:
        return state
    return replace(state, chosen_for=state)


# --- strokes


def _stroke(state: State, values: _Values) -> State:
    class_id = state.class_of(values["class"]).id
    points = _unlocked(state, _points_of(state, values))
    stroke = new_stroke(state.next_number, class_id, points)
    return state.without_points(points).with_new_stroke(stroke)


def _erase(state: State, values: _Values) -> State:
    points = _points_of(state, values)
    points = points[state.owners.at(points) > 0]
    if not len(points):
        raise ParameterError("none of these points is labelled; nothing was erased")
    return state.without_points(_unlocked(state, points))


def _move(state: State, values: _Values) -> State:
    stroke = state.stroke_of(values["stroke"])
    class_id = state.class_of(values["class"]).id
    _refuse_locked(state, stroke.class_id)
    moved = replace(stroke, class_id=class_id)
    return state.with_strokes({stroke.number: moved})


def _remove(state: State, values: _Values) -> State:
    stroke = state.stroke_of(values["stroke"])
    _refuse_locked(state, stroke.class_id)
    return state.with_strokes({stroke.number: None})


def _unlocked(state: State, points: np.ndarray) -> np.ndarray:
    """Leave out the points of locked classes."""
    locked = [info.id for info in state.classes if info.locked]
    free = points[~np.isin(state.label_ids_at(points), locked)] if locked else points
    if not len(free):
        raise ParameterError("every one of these points is in a locked class; unlock it first")
    return free


def _refuse_locked(state: State, class_id: int) -> None:
    info = state.class_of(class_id)
    if info.locked:
        raise ParameterError(f"class {info.id} ({info.name}) is locked; unlock it first")


# --- classes


def _add_class(state: State, values: _Values) -> State:
    class_id = values["id"] if "id" in values else _free_id(state)
    if any(info.id == class_id for info in state.classes):
        raise ParameterError(f"there is a class {class_id} already; leave id out for the next one")
    taken = {info.name for info in state.classes}
    name = values.get("name") or free_name(f"class {class_id}", taken)
    _refuse_name(state, name, class_id)
    color = values.get("color") or _free_color(state, class_id)
    return replace(state, classes=(*state.classes, ClassInfo(id=class_id, name=name, color=color)))


def _rename_class(state: State, values: _Values) -> State:
    info = _class_of(state, values)
    _refuse_name(state, values["name"], info.id)
    return state.with_class(replace(info, name=values["name"]))


def _recolor_class(state: State, values: _Values) -> State:
    return state.with_class(replace(_class_of(state, values), color=values["color"]))


def _hide_class(state: State, values: _Values) -> State:
    return state.with_class(replace(_class_of(state, values), hidden=values["hidden"]))


def _lock_class(state: State, values: _Values) -> State:
    return state.with_class(replace(_class_of(state, values), locked=values["locked"]))


def _merge_classes(state: State, values: _Values) -> State:
    source = state.class_of(values["source"])
    into = state.class_of(values["into"])
    if source is into:
        raise ParameterError(f"class {source.id} cannot be merged into itself")
    _refuse_locked(state, source.id)
    moved = {
        stroke.number: replace(stroke, class_id=into.id) for stroke in state.strokes_of(source.id)
    }
    classes = tuple(info for info in state.classes if info is not source)
    return replace(state.with_strokes(moved), classes=classes)


def _remove_class(state: State, values: _Values) -> State:
    info = _class_of(state, values)
    _refuse_locked(state, info.id)
    n_labelled = sum(len(stroke) for stroke in state.strokes_of(info.id))
    if n_labelled:
        raise ParameterError(
            f"class {info.id} ({info.name}) has {n_labelled} labelled points; erase them or merge "
            "the class into another"
        )
    return replace(state, classes=tuple(other for other in state.classes if other is not info))


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no class has: the given one, if need be with a number.

    Parameters
    ----------
    name : str
        Any text. Characters that cannot be printed are left out, and a long text is cut.
    taken : collection of str

    Examples
    --------
    >>> free_name("corn", {"corn", "corn (2)"})
    'corn (3)'
    """
    plain = "".join(letter for letter in name if letter.isprintable()).strip() or "class"
    plain = plain[: LONGEST_NAME - 10]
    free, number = plain, 2
    while free in taken:
        free = f"{plain} ({number})"
        number += 1
    return free


def _refuse_name(state: State, name: str, class_id: int) -> None:
    """Refuse a name that another class has."""
    for info in state.classes:
        if info.name == name and info.id != class_id:
            raise ParameterError(f"class {info.id} is called {shortened(name)} already")


def _free_id(state: State) -> int:
    """Return the id after the highest, or else the lowest free one."""
    taken = {info.id for info in state.classes}
    after = max(taken, default=0) + 1
    if after <= LARGEST_CLASS_ID:
        return after
    free = sorted(set(range(1, LARGEST_CLASS_ID + 1)) - taken)
    if not free:
        raise ParameterError(f"there are {LARGEST_CLASS_ID} classes already, as many as can be")
    return free[0]


def _free_color(state: State, class_id: int) -> str:
    """Return the palette's colour for an id, or if it is taken, the first free one."""
    from diffclass.plots import DEFAULT_PALETTE

    palette = [color.lower() for color in DEFAULT_PALETTE]
    own = palette[(class_id - 1) % len(palette)]
    taken = {info.color for info in state.classes}
    return next((color for color in (own, *palette) if color not in taken), own)


# --- the time and the walk


def _tau(state: State, values: _Values) -> State:
    tau = values["tau"]
    if tau in ("auto", "margin"):
        return replace(state, tau=DEFAULT_TAU, rule=tau, chosen_for=None)
    return replace(state, tau=tau, rule=None, chosen_for=None)


def _label_mode(state: State, values: _Values) -> State:
    return replace(state, label_mode=values["mode"], chosen_for=None)


def _warp(state: State, values: _Values) -> State:
    if not state.strokes:
        raise ParameterError("there are no labels to warp by; paint a stroke first")
    return replace(state, warped_by=state)


def _unwarp(state: State, values: _Values) -> State:
    if state.warped_by is None:
        raise ParameterError("the walk is not warped")
    return replace(state, warped_by=None)


# --- several at once


def _batch(state: State, values: _Values) -> State:
    for number, operation in enumerate(values["operations"], start=1):
        try:
            state = _EDITS[operation["op"]](state, operation)
        except ParameterError as error:
            raise ParameterError(f"{operation['op']} (number {number}): {error}") from None
    return state


# --- values


def _class_of(state: State, values: _Values) -> ClassInfo:
    return state.class_of(values["id"])


def _points_of(state: State, values: _Values) -> np.ndarray:
    points = values["points"]
    if points.min() < 0 or points.max() >= state.n_points:
        raise ParameterError(
            f"points go from {points.min()} to {points.max()}; there are 0 to {state.n_points - 1}"
        )
    return np.unique(points).astype(np.int32)


_EDITS: dict[str, Callable[[State, _Values], State]] = {
    "stroke": _stroke,
    "erase": _erase,
    "move": _move,
    "remove": _remove,
    "add_class": _add_class,
    "rename_class": _rename_class,
    "recolor_class": _recolor_class,
    "hide_class": _hide_class,
    "lock_class": _lock_class,
    "merge_classes": _merge_classes,
    "remove_class": _remove_class,
    "tau": _tau,
    "label_mode": _label_mode,
    "warp": _warp,
    "unwarp": _unwarp,
    "batch": _batch,
}
