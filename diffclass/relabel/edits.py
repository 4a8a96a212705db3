"""Edits: an operation takes a state to the next one, or is refused.

Nothing is diffused here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.class_sizes import MISSED
from diffclass.relabel.messages import decoded, name_of, shortened
from diffclass.relabel.operations import (
    LARGEST_CLASS_ID,
    LONGEST_NAME,
    OPERATIONS,
    AddClass,
    Batch,
    Erase,
    HideClass,
    LockClass,
    MergeClasses,
    Move,
    Operation,
    Paint,
    RecolorClass,
    Remove,
    RemoveClass,
    RenameClass,
    SetClassSizes,
    SetLabelMode,
    SetTau,
    UnwarpWalk,
    WarpWalk,
)
from diffclass.relabel.state import DEFAULT_TAU, State
from diffclass.relabel.strokes import ClassInfo, new_stroke


def next_state(state: State, operation: Operation | Mapping[str, Any]) -> State:
    """Return the state after an operation.

    - `operation`: a mapping {"op": name, ...} is checked first. Undo and redo are not accepted:
      they need a history.
    """
    if not isinstance(operation, Operation):
        operation = decoded(operation, OPERATIONS)
    try:
        return _with_time(_EDITS[type(operation)](state, operation))
    except ParameterError as error:
        raise ParameterError(f"{name_of(operation)}: {error}") from None


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


def _with_time(state: State) -> State:
    """Let the margin choose the time once two classes have labels: one class has no margin."""
    if state.rule != "margin" or state.chosen_for is not None or len(state.mapped_classes) < 2:
        return state
    return replace(state, chosen_for=state)


# --- strokes


def _stroke(state: State, operation: Paint) -> State:
    class_id = state.class_of(operation.class_id).id
    points = _unlocked(state, _points_of(state, operation.points))
    if operation.spare:
        points = _spared(state, points, class_id)
    # no point has two strokes: the older one loses it
    stroke = new_stroke(state.next_number, class_id, points)
    return state.without_points(points).with_new_stroke(stroke)


def _erase(state: State, operation: Erase) -> State:
    points = _points_of(state, operation.points)
    points = points[state.owners.at(points) > 0]
    if not len(points):
        raise ParameterError("none of these points is labelled; nothing was erased")
    return state.without_points(_unlocked(state, points))


def _move(state: State, operation: Move) -> State:
    stroke = state.stroke_of(operation.stroke)
    class_id = state.class_of(operation.class_id).id
    _refuse_locked(state, stroke.class_id)
    moved = replace(stroke, class_id=class_id)
    return state.with_strokes({stroke.number: moved})


def _remove(state: State, operation: Remove) -> State:
    stroke = state.stroke_of(operation.stroke)
    _refuse_locked(state, stroke.class_id)
    return state.with_strokes({stroke.number: None})


def _unlocked(state: State, points: np.ndarray) -> np.ndarray:
    """Leave out the points of locked classes."""
    locked = [info.id for info in state.classes if info.locked]
    free = points[~np.isin(state.label_ids_at(points), locked)] if locked else points
    if not len(free):
        raise ParameterError("every one of these points is in a locked class; unlock it first")
    return free


def _spared(state: State, points: np.ndarray, class_id: int) -> np.ndarray:
    """Leave out the points that are labelled in other classes."""
    free = points[np.isin(state.label_ids_at(points), (0, class_id))]
    if not len(free):
        raise ParameterError(
            "every one of these points is labelled in another class, which is spared; let strokes "
            "paint over labels, or erase them first"
        )
    return free


def _refuse_locked(state: State, class_id: int) -> None:
    info = state.class_of(class_id)
    if info.locked:
        raise ParameterError(f"class {info.id} ({info.name}) is locked; unlock it first")


# --- classes


def _add_class(state: State, operation: AddClass) -> State:
    class_id = _free_id(state) if operation.id is None else operation.id
    if any(info.id == class_id for info in state.classes):
        raise ParameterError(f"there is a class {class_id} already; leave id out for the next one")
    taken = {info.name for info in state.classes}
    name = operation.name or free_name(f"class {class_id}", taken)
    _refuse_name(state, name, class_id)
    color = (operation.color or _free_color(state, class_id)).lower()
    return replace(state, classes=(*state.classes, ClassInfo(id=class_id, name=name, color=color)))


def _rename_class(state: State, operation: RenameClass) -> State:
    info = state.class_of(operation.id)
    _refuse_name(state, operation.name, info.id)
    return state.with_class(replace(info, name=operation.name))


def _recolor_class(state: State, operation: RecolorClass) -> State:
    return state.with_class(replace(state.class_of(operation.id), color=operation.color.lower()))


def _hide_class(state: State, operation: HideClass) -> State:
    return state.with_class(replace(state.class_of(operation.id), hidden=operation.hidden))


def _lock_class(state: State, operation: LockClass) -> State:
    return state.with_class(replace(state.class_of(operation.id), locked=operation.locked))


def _merge_classes(state: State, operation: MergeClasses) -> State:
    source = state.class_of(operation.source)
    into = state.class_of(operation.into)
    if source is into:
        raise ParameterError(f"class {source.id} cannot be merged into itself")
    _refuse_locked(state, source.id)
    moved = {
        stroke.number: replace(stroke, class_id=into.id) for stroke in state.strokes_of(source.id)
    }
    # the size of what they are together is not known
    return state.with_strokes(moved).without_class(source.id).without_sizes_of(into.id)


def _remove_class(state: State, operation: RemoveClass) -> State:
    info = state.class_of(operation.id)
    _refuse_locked(state, info.id)
    strokes = state.strokes_of(info.id)
    n_labelled = sum(map(len, strokes))
    if n_labelled and not operation.with_labels:
        raise ParameterError(
            f"class {info.id} ({info.name}) has {n_labelled} labelled points; erase them, merge "
            "the class into another, or remove it with its labels"
        )
    removed = dict.fromkeys(stroke.number for stroke in strokes)
    return state.with_strokes(removed).without_class(info.id)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no class has: the given one, if need be with a number.

    Parameters
    ----------
    name : str
        Any text. Characters that cannot be printed are left out, and a long text is cut.
    taken : collection of str

    Examples
    --------
    >>> from diffclass.relabel import free_name
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
    from diffclass.plots import DEFAULT_PALETTE, default_color

    taken = {info.color for info in state.classes}
    own, *others = (color.lower() for color in (default_color(class_id - 1), *DEFAULT_PALETTE))
    return next((color for color in (own, *others) if color not in taken), own)


# --- the sizes of the classes, the time and the walk


def _class_sizes(state: State, operation: SetClassSizes) -> State:
    sizes = operation.sizes
    if sizes is None or isinstance(sizes, str):
        return replace(state, sizes=sizes)
    ids = [state.class_of(size.class_id).id for size in sizes]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    if twice is not None:
        raise ParameterError(f"class {twice} is there twice")
    least = sum(size.least for size in sizes)
    are_exact = all(size.least == size.most for size in sizes)
    if least > 1 + (MISSED if are_exact else 1e-9):
        raise ParameterError(
            f"the classes have at least {100 * least:.4g} % of all points between them; they can "
            "have 100 %"
        )
    return replace(state, sizes=tuple(sizes) or None)


def _tau(state: State, operation: SetTau) -> State:
    tau = operation.tau
    if isinstance(tau, str):
        return replace(state, tau=DEFAULT_TAU, rule=tau, chosen_for=None)
    return replace(state, tau=tau, rule=None, chosen_for=None)


def _label_mode(state: State, operation: SetLabelMode) -> State:
    return replace(state, label_mode=operation.mode, chosen_for=None)


def _warp(state: State, operation: WarpWalk) -> State:
    if not state.strokes:
        raise ParameterError("there are no labels to warp by; paint a stroke first")
    return replace(state, warped_by=state)


def _unwarp(state: State, operation: UnwarpWalk) -> State:
    if state.warped_by is None:
        raise ParameterError("the walk is not warped")
    return replace(state, warped_by=None)


# --- several at once


def _batch(state: State, operation: Batch) -> State:
    for number, part in enumerate(operation.operations, start=1):
        try:
            state = _EDITS[type(part)](state, part)
        except ParameterError as error:
            raise ParameterError(f"{name_of(part)} (number {number}): {error}") from None
    return state


# --- values


def _points_of(state: State, points: np.ndarray) -> np.ndarray:
    if points.min() < 0 or points.max() >= state.n_points:
        raise ParameterError(
            f"points go from {points.min()} to {points.max()}; there are 0 to {state.n_points - 1}"
        )
    return np.unique(points).astype(np.int32)


_EDITS: dict[type[Operation], Callable[[State, Any], State]] = {
    Paint: _stroke,
    Erase: _erase,
    Move: _move,
    Remove: _remove,
    AddClass: _add_class,
    RenameClass: _rename_class,
    RecolorClass: _recolor_class,
    HideClass: _hide_class,
    LockClass: _lock_class,
    MergeClasses: _merge_classes,
    RemoveClass: _remove_class,
    SetTau: _tau,
    SetClassSizes: _class_sizes,
    SetLabelMode: _label_mode,
    WarpWalk: _warp,
    UnwarpWalk: _unwarp,
    Batch: _batch,
}
