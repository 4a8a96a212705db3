"""Interactive labelling: from strokes to maps, with undo and replay exact to the last bit.

Points are those of a `diffclass.MarkovOperator`; in `plugins/diffclass_relabel` they are pixels.
"""

from __future__ import annotations

from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.background import background
from diffclass.relabel.columns import painting_cost
from diffclass.relabel.edits import free_name
from diffclass.relabel.operations import (
    LARGEST_CLASS_ID,
    LARGEST_NUMBER,
    LARGEST_TAU,
    LONGEST_NAME,
    OPERATIONS,
    AddClass,
    Batch,
    ClassId,
    EditWithoutPoints,
    Erase,
    Flag,
    HideClass,
    LockClass,
    MergeClasses,
    Message,
    Move,
    Name,
    Operation,
    Paint,
    RecolorClass,
    Redo,
    Remove,
    RemoveClass,
    RenameClass,
    SetLabelMode,
    SetTau,
    Undo,
    UnwarpWalk,
    WarpWalk,
    decoded,
    name_of,
    printable_text,
    purpose_of,
    shortened,
    table_of,
    whole_number,
)
from diffclass.relabel.session import RelabelSession
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
    "AddClass",
    "Batch",
    "Change",
    "ClassId",
    "ClassInfo",
    "ClassMap",
    "Contradiction",
    "EditWithoutPoints",
    "Erase",
    "Flag",
    "HideClass",
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
    "SetLabelMode",
    "SetTau",
    "Share",
    "Stroke",
    "Undo",
    "UnwarpWalk",
    "WarpWalk",
    "background",
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
