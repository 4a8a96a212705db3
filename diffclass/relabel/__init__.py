"""Interactive labelling: strokes in, maps out, incremental, undone and replayed to the last bit.

The points are those of a `diffclass.MarkovOperator`; `plugins/diffclass_relabel` makes them pixels.
"""

from __future__ import annotations

from diffclass.relabel.audit import Contradiction, Share
from diffclass.relabel.schema import OPERATIONS
from diffclass.relabel.session import Change, RelabelSession
from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import DEFAULT_TAU
from diffclass.relabel.strokes import ClassInfo, Stroke

__all__ = [
    "DEFAULT_TAU",
    "OPERATIONS",
    "Change",
    "ClassInfo",
    "ClassMap",
    "Contradiction",
    "RelabelSession",
    "Share",
    "Stroke",
]
