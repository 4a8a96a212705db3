"""Label files that a page sends, or names by their path on this machine."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffclass.exceptions import DataError, ParameterError
from diffclass.relabel.fields import refusal
from diffclass.temporary_folders import TemporaryFolder
from diffclass_hyperspectral import LabelImage, read_labels
from diffclass_relabel.protocol import SentFile
from diffclass_relabel.scene import Workspace

# of a shapefile, of a GeoTIFF or PNG; never the file to read
_COMPANIONS = {".dbf", ".shx", ".prj", ".cpg", ".qpj", ".sbn", ".sbx", ".xml", ".csv"}
_NAME = re.compile(r"[^/\\\x00-\x1f]{1,200}")


@dataclass(frozen=True)
class Files:
    """Files with their content in base 64; those that belong together are sent together."""

    says = "a list of at least one file, each with a name and its content in base 64"
    json_type = list[SentFile]

    def checked(self, value: Any, name: str) -> dict[str, bytes]:
        """Return the contents by name."""
        if not isinstance(value, list) or not value or not all(map(_is_file, value)):
            raise refusal(self, value, name)
        try:
            return {file["name"]: base64.b64decode(file["data"], validate=True) for file in value}
        except (binascii.Error, ValueError):
            raise refusal(self, value, name) from None


def read_sent(
    workspace: Workspace, files: dict[str, bytes], variable: str | None = None
) -> LabelImage:
    """Read the labels of files that were sent, on the pixels of a scene.

    Raises
    ------
    DiffclassError
        As `diffclass_hyperspectral.read_labels`; the message gives the file's own name.
    """
    with TemporaryFolder("diffclass-labels") as temporary:
        folder = temporary.path
        for name, content in files.items():
            (folder / name).write_bytes(content)
        first = folder / _first(list(files))
        try:
            return read_labels(first, variable=variable, grid=workspace.scene)
        except (ParameterError, DataError) as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from error


def read_at(workspace: Workspace, path: str, variable: str | None = None) -> LabelImage:
    """Read the labels of a file of this machine; a relative path begins at the scene's folder."""
    place = Path(workspace.scene.path).parent / Path(path).expanduser()
    return read_labels(place, variable=variable, grid=workspace.scene)


def _first(names: Sequence[str]) -> str:
    """Return the file to read of several that belong together."""
    ordered = sorted(names)
    for ending in (".shp", ".hdr"):
        for name in ordered:
            if name.lower().endswith(ending):
                return name
    main = [name for name in ordered if Path(name).suffix.lower() not in _COMPANIONS]
    if len(main) != 1:
        raise ParameterError(
            f"{len(names)} files ({', '.join(ordered)[:100]}), and which of them holds the labels "
            "is not clear; send one file, and what belongs to it"
        )
    return main[0]


def _is_file(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"name", "data"}:
        return False
    if not all(isinstance(text, str) for text in value.values()):
        return False
    return bool(_NAME.fullmatch(value["name"])) and value["name"] not in (".", "..")
