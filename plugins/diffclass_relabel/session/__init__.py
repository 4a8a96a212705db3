"""A session over pixels: operations are checked, applied, logged and shown."""

from __future__ import annotations

from diffclass_relabel.session.editor import Applied, Sent, SessionEditor, open_editor
from diffclass_relabel.session.label_imports import FileClass, label_import
from diffclass_relabel.session.operations import PIXEL_OPERATIONS
from diffclass_relabel.session.reference import NO_REFERENCE, ClassPairs, Reference, hex_color
from diffclass_relabel.session.replaying import replayed

__all__ = [
    "NO_REFERENCE",
    "PIXEL_OPERATIONS",
    "Applied",
    "ClassPairs",
    "FileClass",
    "Reference",
    "Sent",
    "SessionEditor",
    "hex_color",
    "label_import",
    "open_editor",
    "replayed",
]
