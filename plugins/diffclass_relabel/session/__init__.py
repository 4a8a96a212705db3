"""A session over pixels: operations are checked, applied, logged and shown."""

from __future__ import annotations

from diffclass_relabel.session.editor import Applied, Sent, SessionEditor
from diffclass_relabel.session.label_files import (
    NO_REFERENCE,
    FileClass,
    Reference,
    class_table,
    label_import,
)
from diffclass_relabel.session.operations import PIXEL_OPERATIONS
from diffclass_relabel.session.session_files import open_editor, replayed

__all__ = [
    "NO_REFERENCE",
    "PIXEL_OPERATIONS",
    "Applied",
    "FileClass",
    "Reference",
    "Sent",
    "SessionEditor",
    "class_table",
    "label_import",
    "open_editor",
    "replayed",
]
