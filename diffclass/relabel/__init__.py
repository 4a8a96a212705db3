"""Interactive labelling: from strokes to maps, with undo and replay exact to the last bit.

Points are those of a `diffclass.MarkovOperator`; in `plugins/diffclass_relabel` they are pixels.
"""

from __future__ import annotations

from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.background import background
from diffclass.relabel.operations import OPERATIONS, Operation
from diffclass.relabel.session import RelabelSession
from diffclass.relabel.session_maps import Change, ClassMap
from diffclass.relabel.state import DEFAULT_TAU
from diffclass.relabel.strokes import ClassInfo, Stroke

__all__ = [
    "DEFAULT_TAU",
    "OPERATIONS",
    "Change",
    "ClassInfo",
    "ClassMap",
    "Contradiction",
    "Operation",
    "RelabelSession",
    "Share",
    "Stroke",
    "background",
]
