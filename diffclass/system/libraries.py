"""Other libraries: required, and their exceptions as one clear line."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diffclass.exceptions import DataError, DiffclassError, ParameterError
from diffclass.system.remote_paths import RemotePath

__all__ = ["reading", "require", "require_file"]

# NumPy's messages for pickled objects, and for what it takes for them: they advise to load these
_OF_OBJECTS = ("allow_pickle", "Python objects in dtype")


def require(module: str, *, extra: str = "hyperspectral") -> Any:
    """Import and return a module; a `ParameterError` names the extra that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ParameterError(
            f"this needs the library {library}, which cannot be imported ({error}); "
            f"run: pip install 'diffclass[{extra}]'"
        ) from error


@contextmanager
def reading(path: Path, format_name: str) -> Iterator[None]:
    """Turn exceptions that a library raises inside the block into a `DataError` about ``path``."""
    try:
        yield
    except DiffclassError:
        raise
    except PermissionError as error:
        raise DataError(f"{path}: no permission to read it; change its access rights") from error
    except Exception as error:
        raise DataError(
            f"{path}: cannot be read as {format_name} ({_one_line(error)}); "
            + (
                "check the address, the connection and the rights to read there"
                if isinstance(path, RemotePath)
                else "check that the file is complete and what its name says, or fetch it again"
            )
        ) from error


def require_file(path: Path) -> None:
    """Raise `DataError` unless ``path`` is a file that holds something, or an address."""
    if isinstance(path, RemotePath):
        return  # reading shows what is there
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; name a file in it")
    if path.is_symlink() and not path.exists():
        raise DataError(f"{path}: a link that leads to no file; mend it or name the file itself")
    if not path.exists():
        raise DataError(f"{path}: no such file; check the name and the folder")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty (0 bytes); fetch it again")


def _one_line(error: Exception, *, limit: int = 160) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if any(words in text for words in _OF_OBJECTS):
        return "it is no file of NumPy, or holds Python objects, which are never loaded"
    return text if len(text) <= limit else text[: limit - 3] + "..."
