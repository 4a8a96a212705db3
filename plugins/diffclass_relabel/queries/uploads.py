"""Label files that a page sends, or names by their path on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diffclass.exceptions import DataError, ParameterError
from diffclass.temporary_folders import TemporaryFolder
from diffclass_hyperspectral import LabelImage, read_labels
from diffclass_relabel.protocol import SentFile
from diffclass_relabel.scene import Workspace

# of a shapefile, of a GeoTIFF or PNG; never the file to read
_COMPANIONS = {".dbf", ".shx", ".prj", ".cpg", ".qpj", ".sbn", ".sbx", ".xml", ".csv"}


def read_sent(
    workspace: Workspace, files: list[SentFile], variable: str | None = None
) -> LabelImage:
    """Read the labels of files that were sent, on the pixels of a scene.

    Raises
    ------
    DiffclassError
        As `diffclass_hyperspectral.read_labels`; the message gives the file's own name.
    """
    with TemporaryFolder("diffclass-labels") as temporary:
        folder = temporary.path
        for file in files:
            (folder / file.name).write_bytes(file.data)
        first = folder / _first([file.name for file in files])
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
