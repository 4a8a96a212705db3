"""Tables as inputs of commands: which paths are tables, and what serves them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from diffclass.command_line import Claim, InputKind, axes_of
from diffclass_tables.formats import COMMON_ENDINGS, NUMPY_ENDINGS, READERS

_HERE = "diffclass_tables.commands"
_VERBS = "anomaly", "classify", "cluster", "embed", "evaluate", "info", "suggest"


class Tables(InputKind):
    """Rows of a file, or of a graph."""

    name = "table"
    formats = f"{', '.join(READERS)}, the NumPy files with at most two axes"
    services: ClassVar = {verb: f"{_HERE}.{verb}:{verb}" for verb in _VERBS}

    def claims(self, path: Path, *, holds_classes: bool = False) -> Claim:
        """Claim files of rows; of NumPy files with two axes none, where classes are read."""
        suffix = path.suffix.lower()
        if suffix in NUMPY_ENDINGS:
            is_one = axes_of(path) in ((1,) if holds_classes else (1, 2))
            return Claim.CONTENT if is_one else Claim.NONE
        if suffix in COMMON_ENDINGS:
            return Claim.COMMON_ENDING
        return Claim.OWN_ENDING if suffix in READERS else Claim.NONE
