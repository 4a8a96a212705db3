"""The only place where a session changes: an operation is applied, written to disk, then answered.

`SessionEditor.apply` and `SessionEditor.update` may run in two threads at once, so that a stroke is
on disk while the map of the one before is still being computed; each runs in one thread only.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from diffclass import __version__
from diffclass.exceptions import DataError, ParameterError
from diffclass.progress import stage
from diffclass.relabel import Change
from diffclass_hyperspectral import Scene, read_labels
from diffclass_relabel.frames import as_bytes
from diffclass_relabel.label_imports import label_import
from diffclass_relabel.line_chain import hash_of
from diffclass_relabel.operations import (
    Operation,
    checked_operation,
    completed,
    for_engine,
)
from diffclass_relabel.protocol_answers import HistoryAnswer, HistoryStep
from diffclass_relabel.reference import Reference
from diffclass_relabel.session_log import Line, SessionLog
from diffclass_relabel.shown import NO_DATA, ShownLabels, ShownMap
from diffclass_relabel.timeline import Timeline, described
from diffclass_relabel.workspace import SessionSettings, Workspace


class Log(Protocol):
    """What an editor needs from a session file; see `SessionLog`."""

    path: Path
    header: Line
    entries: list[Line]
    torn: Path | None

    def append(self, step: Mapping[str, Any]) -> None:
        """Write one step and wait until it is on disk."""

    def close(self) -> None:
        """Close the file."""


class SessionEditor:
    """A workspace, its session and its log, kept in agreement.

    Parameters
    ----------
    workspace : Workspace
    log : SessionLog
        Its steps are repeated.
    reference : Reference, optional
        Known classes to compare the maps with.

    Attributes
    ----------
    session : RelabelSession
    version : int
        Operations applied so far.
    labels : ShownLabels
    map : ShownMap or None
        None before the first update.
    map_before : ShownMap or None
        The one before that.
    lock : RLock
        Held while an operation is applied; hold it to read several of these at the same moment.
    """

    def __init__(self, workspace: Workspace, log: Log, reference: Reference | None = None):
        self.workspace = workspace
        self.log = log
        self.reference = reference
        self.map: ShownMap | None = None
        self.map_before: ShownMap | None = None
        self.lock = threading.RLock()
        self._refused: dict[tuple[str | None, int | None], str] = {}
        self._restore()

    @property
    def id(self) -> str:
        """The session's own name, wherever it is found: the hash of its first line."""
        return hash_of(self.log.header, "")

    @property
    def is_stale(self) -> bool:
        """Whether the map lags behind the operations."""
        return self.map is None or self.session.is_stale

    def apply(
        self,
        operation: Any,
        *,
        client: str | None = None,
        number: int | None = None,
        labels: str | None = None,
    ) -> Operation:
        """Apply one operation and write it to the log.

        Parameters
        ----------
        operation : dict
            As a client sent it; see `diffclass_relabel.operations`.
        client : str, optional
            Who sent it, to recognize an operation that is sent twice.
        number : int, optional
            Its number among the client's messages, increasing.
        labels : str, optional
            Path of the label file that it comes from, for the log.

        Returns
        -------
        dict
            The operation as it was done; empty if it had been done before.

        Raises
        ------
        ParameterError
            Where it is refused; nothing has changed.
        DataError
            Where it cannot be written to disk; nothing has changed.
        """
        with self.lock:
            if number in self._done.get(client or "", ()):
                return {}
            try:
                done, step = self._applied(operation, self._refused.get((client, number)))
            except ParameterError as error:
                refusal = _for_users(str(error), operation)
                self._keep_refusal(refusal, operation, client, number)
                raise ParameterError(refusal) from error
            sender = {} if client is None else {"client": client, "seq": number}
            source = {} if labels is None else {"labels": labels}
            at = round(time.time(), 3)
            self._write({"at": at, "op": done} | sender | source)
            self._timeline.note(step, done, self.session, at)
            self._note(client, number)
            self.version += 1
            self._show_labels()
            return done

    def _applied(self, operation: Any, refusal: str | None) -> tuple[Operation, HistoryStep]:
        """Apply an operation, unless it was refused before: what came after it counts on that."""
        if refusal is not None:
            raise ParameterError(refusal)
        checked = checked_operation(operation, self.workspace)
        step = described(checked, self.session, self.workspace.pixels)
        self.session.apply(for_engine(checked, self.workspace))
        return completed(checked, self.session), step

    def update(self) -> ShownMap:
        """Bring the map up to date.

        Raises
        ------
        DiffclassError
            Where the engine cannot; the map stays as it is.
        """
        with self.lock:
            if self.map is not None and not self.session.is_stale:
                self.map = replace(self.map, version=self.version)
                return self.map
            version = self.version
        change = self.session.update()
        with self.lock:
            # an operation in between may or may not be in the map, unless nothing is missing
            version = version if self.session.is_stale else self.version
        if self.map is None:  # a session that was opened has changed nothing
            change = replace(change, n_changed=0, changed=np.zeros_like(change.changed))
        self.map_before, self.map = self.map, self._shown(change, version)
        return self.map

    def history(self) -> HistoryAnswer:
        """Return what can be undone and done again."""
        with self.lock:
            return self._timeline.answer(self.session)

    def settle(self) -> None:
        """Bring the map up to date, with its time chosen if a rule is to choose it."""
        self.session.settle()
        if self.is_stale:
            self.update()

    def close(self) -> None:
        """Close the log."""
        self.log.close()

    def _restore(self) -> None:
        """Build the session again from the log."""
        self.session = self.workspace.new_session()
        self.version = 0
        self._timeline = Timeline()
        self.labels = ShownLabels(0, np.zeros(self.workspace.shape, dtype=np.uint8))
        self._done: dict[str, set[int]] = {}
        with stage("replay"):
            for entry in self.log.entries:
                self._replay(entry)
        self._show_labels()

    def _keep_refusal(
        self, refusal: str, operation: Any, client: str | None, number: int | None
    ) -> None:
        """Keep a refusal, on disk too, unless it is repeated or the client has no name."""
        if client is None or number is None or (client, number) in self._refused:
            return
        self._refused[client, number] = refusal
        name = operation.get("op") if isinstance(operation, dict) else None
        facts = {"refused": refusal, "name": str(name)[:40], "client": client, "seq": number}
        with suppress(OSError):  # no room: then it is known as long as this process runs
            self.log.append({"at": round(time.time(), 3)} | facts)

    def _replay(self, entry: Mapping[str, Any]) -> None:
        if "refused" in entry:
            self._refused[entry["client"], entry["seq"]] = entry["refused"]
            return
        try:
            step = described(entry["op"], self.session, self.workspace.pixels)
            self.session.apply(for_engine(entry["op"], self.workspace))
        except (ParameterError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.log.path}: step {entry.get('n')} cannot be repeated ({error}); was the "
                "file changed, or made by another version of diffclass?"
            ) from error
        self._timeline.note(step, entry["op"], self.session, entry.get("at", 0.0))
        self._note(entry.get("client"), entry.get("seq"))
        self.version += 1

    def _write(self, entry: Line) -> None:
        try:
            self.log.append(entry)
        except OSError as error:
            self._restore()
            raise DataError(
                f"{self.log.path}: cannot be written ({error}); the operation was taken back: "
                "make room on the disk and do it again"
            ) from error

    def _note(self, client: str | None, number: int | None) -> None:
        if client is not None and number is not None:
            self._done.setdefault(client, set()).add(number)

    def _show_labels(self) -> None:
        """Make the picture of the labels; an equal one is kept, so that it is not sent again."""
        picture = self.workspace.raster(self.session.label_ids)
        same = np.array_equal(picture, self.labels.ids)
        self.labels = ShownLabels(self.version, self.labels.ids if same else picture)

    def _shown(self, change: Change, version: int) -> ShownMap:
        found, raster = self.session.map, self.workspace.raster
        changed = raster(change.changed.astype(np.uint8))
        return ShownMap(
            version=version,
            ids=raster(found.ids.astype(np.uint8), fill=NO_DATA),
            margin=raster(as_bytes(found.margin)),
            probability=raster(as_bytes(found.probability)),
            changed=changed,
            n_changed=int(np.count_nonzero(changed)),
            milliseconds=1000 * change.seconds,
        )


def _for_users(message: str, operation: Any) -> str:
    """Return a refusal of the engine in the words of the page: no operations' names, no points."""
    name = operation.get("op") if isinstance(operation, dict) else None
    return re.sub(r"\bpoints\b", "pixels", message.removeprefix(f"{name}: "))


def open_editor(
    scene: str | os.PathLike[str],
    session_file: str | os.PathLike[str] | SessionLog,
    *,
    settings: Mapping[str, Any] | None = None,
    labels: str | os.PathLike[str] | None = None,
    label_variable: str | None = None,
    reference: str | os.PathLike[str] | None = None,
    on_scene: Callable[[Scene, SessionSettings], None] | None = None,
) -> SessionEditor:
    """Open a scene with a session file that exists, or begin a new one.

    Parameters
    ----------
    scene : path-like
    session_file : path-like or SessionLog
        Closed if the session cannot be opened.
    settings : mapping, optional
        Those of `SessionSettings` that are asked for; a session that exists has to have the same.
    labels : path-like, optional
        Label image or shapes. A new session begins with them, one stroke per class; to one that
        exists they are added as one operation, unless they were before.
    label_variable : str, optional
        See `diffclass_hyperspectral.read_labels`.
    reference : path-like, optional
        Label image or shapes to compare the maps with; they are not labels of the session.
    on_scene : callable, optional
        Called with the scene and the session's settings before anything is computed.

    Raises
    ------
    ParameterError
        For settings that are not the session's, or labels without a pixel in the scene.
    DataError
        Where a file cannot be read, the session belongs to another scene, or is open elsewhere.
    """
    wanted = {name: value for name, value in (settings or {}).items() if value is not None}
    log = session_file if isinstance(session_file, SessionLog) else SessionLog(session_file)
    try:
        kept = SessionSettings(**wanted)
        if log.is_begun:
            kept = SessionSettings.from_header(log.header)
            _check_settings(kept, wanted, log)
        workspace = Workspace.open(
            scene,
            kept,
            fingerprint=log.header.get("sha256", "") if log.is_begun else None,
            on_scene=None if on_scene is None else lambda found: on_scene(found, kept),
        )
        known = None if reference is None else Reference.read(reference, workspace)
        if not log.is_begun:
            operations = _first_operations(workspace, labels, label_variable)
            log.begin(session_header(workspace, labels), steps_of(operations))
        editor = SessionEditor(workspace, log, known)
        if labels is not None and not log.holds_labels(labels):
            _add_labels(editor, labels, label_variable)
        return editor
    except BaseException:
        log.close()
        raise


def session_header(workspace: Workspace, labels: str | os.PathLike[str] | None = None) -> Line:
    """Return the first line of a workspace's session file."""
    scene = workspace.scene
    return {
        "scene": str(Path(scene.path).absolute()),
        "sha256": workspace.fingerprint,
        "shape": list(scene.shape),
        **workspace.settings.to_header(),
        "labels": None if labels is None else str(Path(labels).absolute()),
        "version": __version__,
        "at": round(time.time(), 3),
    }


def steps_of(operations: Iterable[Operation]) -> list[Line]:
    """Return operations as steps of a session file."""
    now = round(time.time(), 3)
    return [{"at": now, "op": operation} for operation in operations]


def _first_operations(
    workspace: Workspace, labels: str | os.PathLike[str] | None, variable: str | None
) -> list[Operation]:
    if labels is None:
        return []
    given = read_labels(labels, variable=variable, grid=workspace.scene)
    operations = label_import(given, workspace).steps
    trial = workspace.new_session()  # what is refused must not get into the file
    for operation in operations:
        trial.apply(for_engine(operation, workspace))
    return operations


def _check_settings(kept: SessionSettings, wanted: Mapping[str, Any], log: SessionLog) -> None:
    for name, value in wanted.items():
        if getattr(kept, name) != value:
            raise ParameterError(
                f"{log.path}: the session was begun with {name} {getattr(kept, name)!r}, not "
                f"{value!r}; leave the option out, or begin another session with --session"
            )


def _add_labels(
    editor: SessionEditor, labels: str | os.PathLike[str], variable: str | None
) -> None:
    workspace = editor.workspace
    given = read_labels(labels, variable=variable, grid=workspace.scene)
    found = label_import(given, workspace, editor.session.classes)
    editor.apply(found.operation, labels=str(Path(labels).absolute()))
