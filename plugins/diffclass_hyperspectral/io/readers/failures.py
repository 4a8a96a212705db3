"""One clear line instead of a library's exception."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diffclass.exceptions import DataError, DiffclassError


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
            "check that the file is complete and what its name says, or fetch it again"
        ) from error


def require_file(path: Path) -> None:
    """Raise `DataError` unless ``path`` is a file that holds something."""
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
    return text if len(text) <= limit else text[: limit - 3] + "..."
