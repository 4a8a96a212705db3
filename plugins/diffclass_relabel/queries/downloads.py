"""Exported files, in a folder of their own that is removed when the server ends."""

from __future__ import annotations

import re
from pathlib import Path

from diffclass.exceptions import DataError, ParameterError
from diffclass.temporary_folders import TemporaryFolder
from diffclass_relabel.queries.exports import DEFAULT_NAMES, export, file_name
from diffclass_relabel.session import SessionEditor

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class Downloads:
    """Files that the page may fetch.

    Attributes
    ----------
    files : dict of str to Path
        By name; no other file is served.
    """

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self._folder: TemporaryFolder | None = None

    def export(self, editor: SessionEditor, what: str, name: str | None = None) -> list[str]:
        """Write one result and return the names of its files, the one to read first.

        Raises
        ------
        ParameterError
            For a name with a path in it, and as `diffclass_relabel.queries.exports.export`.
        DataError
            Where there is no room for files.
        """
        if name is None:
            name = file_name(editor.workspace.scene, what) if what in DEFAULT_NAMES else ""
        if name and not _NAME.fullmatch(name):
            raise ParameterError(
                f"name = {name[:40]!r}; a file name has letters, digits, dots, - and _ only"
            )
        try:
            if self._folder is None:
                self._folder = TemporaryFolder("diffclass-exports")
            written = export(editor, what, self._folder.path / name, overwrite=True)
        except OSError as error:
            raise DataError(
                f"{name} cannot be written to the system's temporary folder ({error.strerror}); "
                "make room there and export again"
            ) from error
        self.files.update({file.name: file for file in written})
        return [file.name for file in written]

    def close(self) -> None:
        """Remove the folder and all files in it."""
        self.files.clear()
        if self._folder is not None:
            self._folder.remove()
