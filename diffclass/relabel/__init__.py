"""Interactive labelling: from strokes to maps, with undo and replay exact to the last bit.

Points are those of a `diffclass.MarkovOperator`; in `plugins/diffclass_relabel` they are pixels.
"""

# ruff: noqa: E402
from __future__ import annotations

from diffclass.system.libraries import require

require("msgspec", extra="relabel")  # operations are made of it

from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.coarsening import CoarseGraph, coarsen
from diffclass.relabel.columns import painting_cost
from diffclass.relabel.edits import free_name
from diffclass.relabel.known_sizes import KnownSizes
from diffclass.relabel.messages import (
    Message,
    decoded,
    name_of,
    printable_text,
    purpose_of,
    shortened,
    table_of,
    whole_number,
)
from diffclass.relabel.operations import (
    LARGEST_CLASS_ID,
    LARGEST_NUMBER,
    LARGEST_TAU,
    LONGEST_NAME,
    OPERATIONS,
    SESSION_MODES,
    AddClass,
    Batch,
    ClassId,
    ClassSize,
    EditWithoutPoints,
    Erase,
    Flag,
    HideClass,
    LockClass,
    MergeClasses,
    Move,
    Name,
    Operation,
    Paint,
    RecolorClass,
    Redo,
    Remove,
    RemoveClass,
    RenameClass,
    SetClassSizes,
    SetLabelMode,
    SetTau,
    Undo,
    UnwarpWalk,
    WarpWalk,
)
from diffclass.relabel.session import RelabelSession, SizesMet, background
from diffclass.relabel.session_maps import Change, ClassMap
from diffclass.relabel.state import DEFAULT_TAU
from diffclass.relabel.strokes import ClassInfo, Stroke

__all__ = [
    "DEFAULT_TAU",
    "LARGEST_CLASS_ID",
    "LARGEST_NUMBER",
    "LARGEST_TAU",
    "LONGEST_NAME",
    "OPERATIONS",
    "SESSION_MODES",
    "AddClass",
    "Batch",
    "Change",
    "ClassId",
    "ClassInfo",
    "ClassMap",
    "ClassSize",
    "CoarseGraph",
    "Contradiction",
    "EditWithoutPoints",
    "Erase",
    "Flag",
    "HideClass",
    "KnownSizes",
    "LockClass",
    "MergeClasses",
    "Message",
    "Move",
    "Name",
    "Operation",
    "Paint",
    "RecolorClass",
    "Redo",
    "RelabelSession",
    "Remove",
    "RemoveClass",
    "RenameClass",
    "SetClassSizes",
    "SetLabelMode",
    "SetTau",
    "Share",
    "SizesMet",
    "Stroke",
    "Undo",
    "UnwarpWalk",
    "WarpWalk",
    "background",
    "coarsen",
    "decoded",
    "free_name",
    "name_of",
    "painting_cost",
    "printable_text",
    "purpose_of",
    "shortened",
    "table_of",
    "whole_number",
]
