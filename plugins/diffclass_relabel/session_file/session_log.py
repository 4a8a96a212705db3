"""The session on disk: one line of JSON per step, appended only, on disk before it is answered.

The first line is the header: which scene (and what its values hash to), features, kernel, tau,
seed, version. Every other line holds one step: ``{"n": 12, "at": 1764072000.5, "op": {...}}``, or
``"refused"`` and the reason in place of the operation, so that one that is sent again after a crash
is refused again. Each line ends with a hash of itself and of the line before, by which a line that
was changed, moved or taken out is found.

A new session appears as a whole, header and first steps. From then on lines are written at the end
and synced. A killed process leaves at most one torn line at the end, without its newline, which
`SessionLog` puts aside. A damaged line with a newline was perhaps answered: it is named, and
nothing is changed. So is an end that is missing; `Head` of the sidecar has it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from diffclass.exceptions import DataError, ParameterError
from diffclass_relabel.session_file.sidecar import Head, forget_head, keep_head, kept_head

Line = dict[str, Any]  # of JSON
HASH = "hash"  # the field
_BYTES = 8


def hash_of(line: Mapping[str, Any], last: str) -> str:
    """Return the hash of a line that follows the line whose hash is ``last``.

    >>> hash_of({"n": 1}, "")
    '1239cbe2dd247e9e'
    """
    return hashlib.blake2b(last.encode() + _text(line), digest_size=_BYTES).hexdigest()


def chained(lines: Iterable[Mapping[str, Any]], last: str = "") -> tuple[bytes, str]:
    """Return lines as bytes, each with its hash, and the hash of the last one."""
    pieces = []
    for line in lines:
        last = hash_of(line, last)
        pieces.append(_text({**line, HASH: last}) + b"\n")
    return b"".join(pieces), last


def parsed(piece: bytes) -> Line | None:
    """Return a line with its hash; None for what is no line."""
    try:
        line = json.loads(piece)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def _text(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode()


SUFFIX = ".relabel.jsonl"  # of session files that nobody has named
KIND = "diffclass relabel session 2"
_BEGINNING = b'{"kind":"' + KIND.encode() + b'"'


def source_of(labels: str | os.PathLike[str]) -> str:
    """Return what a log calls labels: the absolute path of a file, or the name of a column."""
    return str(Path(labels).absolute()) if Path(labels).exists() else os.fspath(labels)


class SessionLog:
    """An open session file, locked against other processes until it is closed.

    A missing file is created. A torn last line is cut off, and appended to a file of the same name
    with ``.torn`` added.

    Attributes
    ----------
    path : Path
    header : dict
        The first line; empty where no session was begun.
    entries : list of dict
        The other lines: operations and refusals.
    torn : Path or None
        Where a torn end was put, if there was one.

    Raises
    ------
    ParameterError
        Where there can be no such file.
    DataError
        Where the file is not a session, a line is damaged, lines are missing, or another process
        has it open; nothing in it was changed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.header: Line = {}
        self.entries: list[Line] = []
        self.torn: Path | None = None
        self._size = 0
        self._last = ""
        is_new = not self.path.exists()
        self._stream = _opened(self.path)
        try:
            if is_new:
                forget_head(self.path)
            self._read()
        except BaseException:
            self._stream.close()
            raise

    @property
    def is_begun(self) -> bool:
        """Whether the file holds a session."""
        return bool(self.header)

    @property
    def n_operations(self) -> int:
        """Number of the operations that were done."""
        return len(done_in(self.entries))

    def holds_labels(self, labels: str | os.PathLike[str]) -> bool:
        """Return whether the session began with a label file, or has taken it in since."""
        known = [self.header.get("labels"), *(entry.get("labels") for entry in self.entries)]
        return source_of(labels) in known

    def begin(self, header: Mapping[str, Any], steps: Iterable[Mapping[str, Any]] = ()) -> None:
        """Write the header and the first steps of a new session, all of them or nothing.

        Raises
        ------
        ParameterError
            Where the file holds a session already.
        DataError
            Where it cannot be written.
        """
        if self.is_begun:
            raise ParameterError(f"{self.path} holds a session; name another file")
        entries = [{"n": i} | dict(step) for i, step in enumerate(steps, start=1)]
        header = {"kind": KIND} | dict(header) | {"first_steps": len(entries)}
        text, self._last = chained([header, *entries])
        self._put_in_place(text)
        self.header, self.entries = header, entries
        self._keep_head()

    def append(self, *steps: Mapping[str, Any]) -> None:
        """Write steps and wait until they are on disk.

        Raises
        ------
        OSError
            Where that fails; the file is as it was before.
        """
        first = len(self.entries) + 1
        entries = [{"n": n} | dict(step) for n, step in enumerate(steps, start=first)]
        text, last = chained(entries, self._last)
        self._write(text)
        self.entries += entries
        self._last = last
        self._keep_head()

    def close(self) -> None:
        """Close and unlock the file; one in which nothing was begun is removed."""
        if not self._stream.closed and not self.is_begun and self._is_empty():
            self.path.unlink(missing_ok=True)
        self._stream.close()

    def _keep_head(self) -> None:
        keep_head(self.path, Head(hash_of(self.header, ""), len(self.entries), self._last))

    def _is_empty(self) -> bool:
        return os.fstat(self._stream.fileno()).st_size == 0

    def _read(self) -> None:
        content = self._stream.read()
        found = _whole_lines(content, self.path)
        _check_end(found, kept_head(self.path), self.path)  # refuses before anything is cut off
        if found.size < len(content):
            self.torn = _put_aside(content[found.size :], self.path)
            self._stream.truncate(found.size)
            os.fsync(self._stream.fileno())
        self._stream.seek(found.size)
        self._size = found.size
        if found.lines:
            self.header, *self.entries = found.lines
            self._last = found.hashes[-1]

    def _put_in_place(self, text: bytes) -> None:
        """Write the whole file next to it, then let it take the place of the empty one."""
        # the new file is locked before it stands there, and the empty one until then, so that at no
        # moment another process can have the session
        new_path = self.path.with_name(self.path.name + ".new")
        new = None
        try:
            new = _opened(new_path)
            new.truncate(0)  # what a process left that was killed here
            _write_all(new, text)
            os.fsync(new.fileno())
            if os.name == "nt":  # open files cannot be replaced on Windows
                new.close()
                self._stream.close()
            os.replace(new_path, self.path)
        except OSError as error:
            if new is not None:
                new.close()
            new_path.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)  # empty until now
            self._stream.close()
            raise DataError(
                f"{self.path}: the session cannot be begun ({error.strerror}); make room on the "
                "disk, or name another place with --session"
            ) from error
        self._stream.close()
        self._stream = _opened(self.path) if new.closed else new
        self._size = self._stream.seek(0, os.SEEK_END)
        _sync_folder(self.path.parent)  # or a power cut may take the new name back

    def _write(self, text: bytes) -> None:
        if os.fstat(self._stream.fileno()).st_size != self._size:
            self._truncate()  # part of a step that failed; truncating it may have failed too
        try:
            _write_all(self._stream, text)
            os.fsync(self._stream.fileno())
        except OSError:
            # half a line must not stay: the next one would be glued to it
            self._truncate()
            raise
        self._size += len(text)

    def _truncate(self) -> None:
        self._stream.truncate(self._size)
        self._stream.seek(self._size)


class ReadOnlyLog:
    """The lines of a session file, for an editor that changes nothing."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.header, self.entries = read_session(path)
        self.torn: Path | None = None

    def append(self, *steps: Mapping[str, Any]) -> None:
        """Write nothing: the steps are in the file already."""

    def close(self) -> None:
        """Do nothing."""


def read_session(path: str | os.PathLike[str]) -> tuple[Line, list[Line]]:
    """Return header and whole steps of a session file, which may be open elsewhere."""
    place = Path(path)
    if not place.is_file():
        raise DataError(f"{place}: no such session file; diffclass relabel SCENE makes one")
    head = kept_head(place)  # before the file, to which steps may be added meanwhile
    found = _whole_lines(place.read_bytes(), place)
    _check_end(found, head, place)
    if not found.lines:
        raise DataError(f"{place}: holds no whole line; no session was begun in it")
    return found.lines[0], found.lines[1:]


def done_in(entries: Iterable[Line]) -> list[Line]:
    """Return those steps of a session that were done: the others are refusals."""
    return [entry for entry in entries if "op" in entry]


def _opened(path: Path) -> BinaryIO:
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: no folder {path.parent}; create it first")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder; name a session file in it")
    # unbuffered: written bytes are in the system's hands, even if this process is killed
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        raise ParameterError(
            f"{path}: cannot be written ({error.strerror}); name another session file"
        ) from error
    stream = os.fdopen(descriptor, "r+b", buffering=0)
    if not _locked(stream) or not _is_at(path, stream):
        stream.close()
        raise DataError(
            f"{path}: is open in another process (a second relabel?); end that one, or name "
            "another file with --session"
        )
    return stream  # type: ignore[return-value]


def is_held(path: Path) -> bool:
    """Return whether a process has a session file open."""
    try:
        with path.open("rb") as stream:
            return not _locked(stream)
    except OSError:
        return False


def _locked(stream: BinaryIO) -> bool:
    """Lock the file until it is closed; True too where the system has no locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, stream: BinaryIO) -> bool:
    """Return whether a file still has its name: another process may have replaced it."""
    if os.name == "nt":
        return True
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _write_all(stream: BinaryIO, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        # an unbuffered file may take a part; a full disk takes a part first and fails then
        rest = rest[stream.write(rest) :]


@dataclass(frozen=True)
class _Lines:
    """The whole lines of a file, their hashes, and how many bytes they are."""

    lines: list[Line]
    hashes: list[str]
    size: int


def _whole_lines(content: bytes, path: Path) -> _Lines:
    _check_beginning(content, path)
    lines: list[Line] = []
    hashes: list[str] = []
    *pieces, torn = content.split(b"\n")
    for number, piece in enumerate(pieces, start=1):
        line = parsed(piece)
        hashes.append(_checked(line, hashes[-1] if hashes else "", number, path))
        lines.append(line or {})
    if content:
        _check_whole(lines, path)
    return _Lines(lines, hashes, len(content) - len(torn))


def _checked(line: Line | None, last: str, number: int, path: Path) -> str:
    """Return the hash of a line, and take it out of the line."""
    where = f"{path}: line {number}"
    cure = (
        "restore the file, or copy the lines before it to another file and open that, to keep the "
        "steps until there"
    )
    if line is None:
        raise DataError(f"{where} is damaged; {cure}")
    found = line.pop(HASH, None)
    if found != hash_of(line, last):
        raise DataError(
            f"{where} was changed, or one before it was taken out: its hash does not fit; {cure}"
        )
    if number > 1 and line.get("n") != number - 1:
        raise DataError(
            f"{where} says step {line.get('n')!r}, but step {number - 1} comes there; {cure}"
        )
    return str(found)


def _check_whole(lines: list[Line], path: Path) -> None:
    """Refuse a file without its header and first steps, which appeared as a whole."""
    if not lines:
        raise DataError(f"{path}: its first line is not whole; restore the file")
    wanted = lines[0].get("first_steps", 0)
    if len(lines) <= wanted:
        raise DataError(
            f"{path}: began with {wanted} steps, but holds {len(lines) - 1}; lines are missing at "
            "its end: restore the file"
        )


def _check_end(found: _Lines, head: Head | None, path: Path) -> None:
    """Refuse a file without the last step that is known to have been in it."""
    if head is None or (found.hashes and found.hashes[0] != head.session):
        return  # another session has taken the place of that one
    if found.hashes[head.step : head.step + 1] == [head.hash]:
        return
    raise DataError(
        f"{path}: step {head.step} was written to it and answered, but is not there any more: it "
        f"ends with step {max(len(found.lines) - 1, 0)}; restore the file, or copy it to another "
        "name and open that, to go on with what it holds"
    )


def _check_beginning(content: bytes, path: Path) -> None:
    """Refuse a file of another kind."""
    expected = _BEGINNING[: len(content)]
    if not content.startswith(expected):
        raise DataError(
            f"{path}: is no session file of this version of diffclass (it does not begin with "
            f"{KIND!r}); name another session file"
        )


def _put_aside(rest: bytes, path: Path) -> Path:
    torn = path.with_name(path.name + ".torn")
    with torn.open("ab") as stream:
        stream.write(rest if rest.endswith(b"\n") else rest + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    return torn


def _sync_folder(folder: Path) -> None:
    """Write the names in a folder to disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
