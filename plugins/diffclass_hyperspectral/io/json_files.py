"""Reports as JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffclass.output import replacing


def write_json(
    path: str | os.PathLike[str], content: Mapping[str, Any], *, overwrite: bool = False
) -> None:
    """Write a mapping as JSON, whole or not at all."""
    with replacing(path, overwrite=overwrite) as temporary:
        Path(temporary).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
