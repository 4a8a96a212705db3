"""The only place where a session changes: an operation is applied, written to disk, then answered.

Operations that wait for the disk go there together. `SessionEditor.apply` and
`SessionEditor.update` may run in two threads at once, so that a stroke is on disk while the map of
the one before is still being computed; each runs in one thread only.
"""

from __future__ import annotations

import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from diffclass import __version__
from diffclass.exceptions import DataError, ParameterError
from diffclass.progress import stage
from diffclass.relabel import Change
from diffclass_hyperspectral import Scene, read_labels
from diffclass_hyperspectral.workflows.parameters import check_components
from diffclass_relabel.files import Line, SessionLog, hash_of
from diffclass_relabel.maps import NO_DATA, ShownLabels, ShownMap, as_bytes
from diffclass_relabel.protocol import HistoryAnswer, HistoryStep
from diffclass_relabel.scene import SessionSettings, Workspace
from diffclass_relabel.session.label_imports import label_import, new_classes_warning
from diffclass_relabel.session.operations import Operation, checked_operation, completed, for_engine
from diffclass_relabel.session.reference import NO_REFERENCE, Reference
from diffclass_relabel.session.timeline import Timeline, described
from diffclass_relabel.session.unseen import Unseen


class Log(Protocol):
    """What an editor needs from a session file; see `SessionLog`."""

    path: Path
    header: Line
    entries: list[Line]
    torn: Path | None

    def append(self, *steps: Mapping[str, Any]) -> None:
        """Write steps and wait until they are on disk."""

    def close(self) -> None:
        """Close the file."""


@dataclass(frozen=True)
class Sent:
    """An operation on its way into a session; see `SessionEditor.apply`."""

    operation: Any
    client: str | None = None
    number: int | None = None
    seen: int | None = None
    labels: str | None = None


@dataclass(frozen=True)
class Applied:
    """An operation that was done.

    Attributes
    ----------
    operation : dict
        As it was done; empty if it had been done before.
    version : int
        The session's, after it.
    stroke : int or None
        Number of the stroke that it painted.
    added : int or None
        Id of the class that it added, also where it had been done before.
    """

    operation: Operation
    version: int
    stroke: int | None = None
    added: int | None = None


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
        seen: int | None = None,
        labels: str | None = None,
    ) -> Operation:
        """Apply one operation and write it to the log.

        Parameters
        ----------
        operation : dict
            As a client sent it; see `diffclass_relabel.session.operations`.
        client : str, optional
            Who sent it, to recognize an operation that is sent twice.
        number : int, optional
            Its number among the client's messages, increasing.
        seen : int, optional
            Version of the state in which the client did it: what others did since may have changed
            what it is about, and then it is refused.
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
        (found,) = self.apply_all([Sent(operation, client, number, seen, labels)])
        if isinstance(found, Exception):
            raise found
        return found.operation

    def apply_all(self, sent: Iterable[Sent]) -> list[Applied | Exception]:
        """Apply operations one after the other and write them to the log together.

        Parameters
        ----------
        sent : iterable of Sent

        Returns
        -------
        list of Applied or Exception
            Each operation as it was done, or what `apply` would raise. If they cannot be written
            to disk, all that were done are taken back.
        """
        sent, lines = list(sent), list[Line]()
        with self.lock:
            found = [self._outcome(each, lines) for each in sent]
            try:
                if lines:
                    self.log.append(*lines)
            except OSError as error:
                if any("op" in line for line in lines):
                    self._restore()
                    found = [
                        outcome
                        if isinstance(outcome, Exception) or self._is_done(each)
                        else self._taken_back(error)
                        for each, outcome in zip(sent, found, strict=True)
                    ]
            if self.version != self.labels.version:
                self._show_labels()
        return found

    def turn_away(self, reason: str, client: str | None, number: int | None) -> ParameterError:
        """Return the refusal of an operation that is not looked at, now or when it comes again."""
        if client is not None and number is not None:
            self._refused.setdefault((client, number), reason)
        return ParameterError(reason)

    def _outcome(self, sent: Sent, lines: list[Line]) -> Applied | Exception:
        """Apply one operation and add its line, that of a refusal too."""
        try:
            return self._done_or_again(sent, lines)
        except ParameterError as error:
            refusal = _for_users(str(error), sent.operation)
            self._note_refusal(refusal, sent, lines)
            refused = ParameterError(refusal)
            refused.__cause__ = error
            return refused
        except Exception as error:  # of the program: the others are not to blame
            return error

    def _done_or_again(self, sent: Sent, lines: list[Line]) -> Applied:
        client, number = sent.client, sent.number
        known = self._done.get(client or "", {})
        if number is not None and number in known:
            return Applied({}, self.version, added=known[number])
        refused = self._refused.get((client, number))
        done, step = self._applied(sent.operation, client, sent.seen, refused)
        sender = {} if client is None else {"client": client, "seq": number}
        source = {} if sent.labels is None else {"labels": sent.labels}
        at = round(time.time(), 3)
        lines.append({"at": at, "op": done} | sender | source)
        self._timeline.note(step, done, self.session, at)
        self._note(done, client, number)
        stroke = self.session.newest_stroke if done["op"] == "stroke" else None
        return Applied(done, self.version, stroke, _added(done))

    def _applied(
        self, operation: Any, client: str | None, seen: int | None, refusal: str | None
    ) -> tuple[Operation, HistoryStep]:
        """Apply an operation, unless it was refused before: what came after it counts on that."""
        if refusal is not None:
            raise ParameterError(refusal)
        checked = checked_operation(operation, self.workspace)
        if seen is not None:
            self._unseen.check(checked, client, seen)
        step = described(checked, self.session, self.workspace.pixels)
        self.session.apply(for_engine(checked, self.workspace))
        return completed(checked, self.session), step

    def included(self) -> dict[str, int]:
        """Return the number of the newest operation that was done for each client."""
        with self.lock:
            return {client: next(reversed(numbers)) for client, numbers in self._done.items()}

    def birth(self, class_id: int) -> int:
        """Return the version in which the class that has an id was added."""
        return self._unseen.birth(class_id)

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

    def known_classes(self) -> np.ndarray:
        """Return the class of every pixel that has one: by its label, or else in the map.

        Returns
        -------
        ndarray of uint8 of shape (rows, columns)
            0 = none.
        """
        labels, shown = self.labels.ids, self.map
        if shown is None or not self.session.strokes:
            return labels
        return np.where((labels > 0) | (shown.ids == NO_DATA), labels, shown.ids)

    def compared_classes(self) -> np.ndarray:
        """Return the class of each point in the map that a reference is compared with.

        Labels were painted to be right: where they are, the map is no evidence.

        Returns
        -------
        ndarray of int32 of shape (n,)
            0 = none, -1 = not to be compared.
        """
        pixels, shown = self.workspace.pixels, self.map
        found = np.zeros(len(pixels), dtype=np.int32)
        if shown is not None and self.session.strokes:
            found[:] = shown.ids.ravel()[pixels]
        found[self.labels.ids.ravel()[pixels] > 0] = -1
        return found

    def match_reference(self, pairs: Mapping[int, int]) -> None:
        """Take the reference's classes for the session's as a user says.

        Raises
        ------
        ParameterError
            Where there is no reference, or a class is missing.
        """
        with self.lock:
            if self.reference is None:
                raise ParameterError(NO_REFERENCE)
            self.reference = self.reference.matched_as(pairs, self.session.classes)

    def refine(self) -> None:
        """Bring the map up to date, with its time chosen if a rule is to choose it."""
        self.session.refine()
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
        self._done: dict[str, dict[int, int | None]] = {}
        self._unseen = Unseen()
        with stage("replay"):
            for entry in self.log.entries:
                self._replay(entry)
        self._show_labels()

    def _note_refusal(self, refusal: str, sent: Sent, lines: list[Line]) -> None:
        """Keep a refusal and add its line, unless it is repeated or the client has no name.

        If that cannot be written, it is known as long as this process runs.
        """
        client, number, operation = sent.client, sent.number, sent.operation
        if client is None or number is None or (client, number) in self._refused:
            return
        self._refused[client, number] = refusal
        name = operation.get("op") if isinstance(operation, dict) else None
        facts = {"refused": refusal, "name": str(name)[:40], "client": client, "seq": number}
        lines.append({"at": round(time.time(), 3)} | facts)

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
        self._note(entry["op"], entry.get("client"), entry.get("seq"))

    def _is_done(self, sent: Sent) -> bool:
        return sent.number in self._done.get(sent.client or "", ())

    def _taken_back(self, error: OSError) -> DataError:
        reason = DataError(
            f"{self.log.path}: cannot be written ({error}); the operation was taken back: make "
            "room on the disk and do it again"
        )
        reason.__cause__ = error
        return reason

    def _note(self, done: Operation, client: str | None, number: int | None) -> None:
        self._unseen.note(done, client, self.session.classes)
        if client is not None and number is not None:
            self._done.setdefault(client, {})[number] = _added(done)
        self.version += 1

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


def _added(done: Operation) -> int | None:
    """Return the id of the class that an operation added, if it did."""
    return done["id"] if done["op"] == "add_class" else None


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
    match: str | None = None,
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
    match : {"names", "ids", "overlap"}, optional
        How classes of these two files are matched with the session's; see `label_import` and
        `Reference.match`.
    on_scene : callable, optional
        Called with the scene and the session's settings before anything is computed.

    Raises
    ------
    ParameterError
        For settings that are not the session's or that the scene cannot have, or labels without a
        pixel in the scene.
    DataError
        Where a file cannot be read, the session belongs to another scene, or is open elsewhere.
    """
    wanted = {name: value for name, value in (settings or {}).items() if value is not None}
    log = session_file if isinstance(session_file, SessionLog) else SessionLog(session_file)

    def expect(found: Scene) -> None:
        if not log.is_begun:
            check_components(kept.components, found)
        if on_scene is not None:
            on_scene(found, kept)

    try:
        kept = SessionSettings(**wanted)
        if log.is_begun:
            kept = SessionSettings.from_header(log.header)
            _check_settings(kept, wanted, log)
        workspace = Workspace.open(
            scene,
            kept,
            fingerprint=log.header.get("sha256", "") if log.is_begun else None,
            on_scene=expect,
        )
        known = None if reference is None else Reference.read(reference, workspace, match=match)
        if not log.is_begun:
            operations = _first_operations(workspace, labels, label_variable)
            log.begin(session_header(workspace, labels), steps_of(operations))
        editor = SessionEditor(workspace, log, known)
        if labels is not None and not log.holds_labels(labels):
            _add_labels(editor, labels, label_variable, match)
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
    editor: SessionEditor,
    labels: str | os.PathLike[str],
    variable: str | None,
    match: str | None,
) -> None:
    """Add the labels of a file; what names and ids do not settle is new, and said."""
    workspace, classes = editor.workspace, editor.session.classes
    given = read_labels(labels, variable=variable, grid=workspace.scene)
    found = label_import(given, workspace, classes, known=editor.known_classes(), by=match)
    if (found.asks or match == "overlap") and editor.session.strokes:
        editor.update()  # the map may tell where the labels do not
        found = label_import(given, workspace, classes, known=editor.known_classes(), by=match)
    editor.apply(found.operation, labels=str(Path(labels).absolute()))
    if found.asks:
        warnings.warn(new_classes_warning(found, given.path), UserWarning, stacklevel=2)
