"""Sessions opened from their files: to go on with, or only to read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import to_builtins

from diffclass import __version__
from diffclass.command_line import is_of_kind, taken
from diffclass.exceptions import ParameterError, warn_user
from diffclass.relabel import Operation
from diffclass.system.costs import Forecast
from diffclass_relabel.options import Matching, checked_settings
from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.label_files import Reference, label_import, new_classes_warning
from diffclass_relabel.session.operations import on_points, with_runs
from diffclass_relabel.session_file import Line, ReadOnlyLog, SessionLog, done_in, source_of
from diffclass_relabel.workspace import (
    SceneSettings,
    SceneWorkspace,
    SessionSettings,
    TableSettings,
    TableWorkspace,
    Workspace,
    forecast_session,
)

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def open_editor(
    scenes: _Paths,
    session_file: str | os.PathLike[str] | SessionLog,
    *,
    settings: Mapping[str, Any] | None = None,
    labels: str | os.PathLike[str] | None = None,
    label_variable: str | None = None,
    reference: str | os.PathLike[str] | None = None,
    match: str | None = None,
    on_opened: Callable[[Any, SessionSettings], None] | None = None,
    build: bool = True,
) -> SessionEditor:
    """Open scenes or a table with a session file that exists, or begin a new one.

    Parameters
    ----------
    scenes : path-like or sequence of them
        A scene, several as one, or a table.
    session_file : path-like or SessionLog
        Closed if the session cannot be opened.
    settings : mapping, optional
        Those of `SceneSettings` or `TableSettings` that are asked for; a session that exists has
        to have the same.
    labels : path-like, optional
        Label image, shapes or a spectral library. A new session begins with them, one stroke per
        class; to one that exists they are added as one operation, once.
    label_variable : str, optional
        See `diffclass_hyperspectral.read_labels`.
    reference : path-like, optional
        Label image or shapes to compare the maps with.
    match : {"names", "ids", "overlap"}, optional
        How classes of these two files are matched with the session's.
    on_opened : callable, optional
        Called with the scenes or the table and the session's settings before anything is computed.
    build : bool, default=True
        Whether the graph is there in the end; else maps wait until ``workspace.build`` was called.

    Raises
    ------
    ParameterError
        For settings that are not the session's or that the scene cannot have, or labels without a
        pixel in the scene.
    DataError
        Where a file cannot be read, the session belongs to another scene, or is open elsewhere.
    """
    log = session_file if isinstance(session_file, SessionLog) else SessionLog(session_file)

    def expect(found: Any) -> None:
        if on_opened is not None:
            on_opened(found, kept)

    try:
        kind = _settings_kind(scenes)
        wanted = checked_settings(kind.of, settings or {})
        match = taken(Matching, {"match": match}).get("match")
        kept = kind(**wanted)
        if log.is_begun:
            kept = _kept_settings(kind.from_header(log.header), wanted, log)
        fingerprint = log.header.get("sha256", "") if log.is_begun else None
        workspace = _opened(scenes, kept, fingerprint, expect, build=build)
        known = None if reference is None else Reference.read(reference, workspace, match=match)
        if not log.is_begun:
            operations = _first_operations(workspace, labels, label_variable)
            log.begin(session_header(workspace, labels), steps_of(operations, workspace))
        editor = SessionEditor(workspace, log, known)
        if labels is not None and not log.holds_labels(labels):
            _add_labels(editor, labels, label_variable, match)
        return editor
    except BaseException:
        log.close()
        raise


def _settings_kind(paths: _Paths) -> type[SessionSettings]:
    """Return which settings a session over files has: the first file decides."""
    first = paths if isinstance(paths, str | os.PathLike) else next(iter(paths))
    return TableSettings if is_of_kind("table", first) else SceneSettings


def _opened(
    paths: _Paths,
    settings: SessionSettings,
    fingerprint: str | None,
    on_opened: Callable[[Any], None],
    *,
    build: bool = True,
) -> Workspace:
    kind: Any = TableWorkspace if isinstance(settings, TableSettings) else SceneWorkspace
    made: Workspace = kind.open(
        paths, settings, fingerprint=fingerprint, on_opened=on_opened, build=build
    )
    return made


def session_header(workspace: Workspace, labels: str | os.PathLike[str] | None = None) -> Line:
    """Return the first line of a workspace's session file."""
    return {
        "scenes": [str(path.absolute()) for path in workspace.paths],
        "sha256": workspace.fingerprint,
        "shape": list(workspace.extent),
        **workspace.settings.to_header(),
        "labels": None if labels is None else source_of(labels),
        "version": __version__,
        "at": round(time.time(), 3),
    }


def steps_of(operations: Iterable[Operation], workspace: Workspace) -> list[Line]:
    """Return operations as steps of a session file."""
    now = round(time.time(), 3)
    kept = (with_runs(operation, workspace.to_log) for operation in operations)
    return [{"at": now, "op": to_builtins(operation)} for operation in kept]


def _first_operations(
    workspace: Workspace, labels: str | os.PathLike[str] | None, variable: str | None
) -> Sequence[Operation]:
    if labels is None:
        return []
    given = workspace.read_labels(os.fspath(labels), variable=variable)
    operations = label_import(given, workspace).steps
    trial = workspace.new_session()  # what is refused must not get into the file
    for operation in operations:
        trial.apply(on_points(operation, workspace, trial.classes)[1])
    return operations


def _kept_settings(
    kept: SessionSettings, wanted: Mapping[str, Any], log: SessionLog
) -> SessionSettings:
    """Return the settings of a session that exists; those that only show it may change."""
    for name, value in wanted.items():
        if name == "apart" and set(value) <= set(getattr(kept, name) or ()):
            continue  # labels that are no features of it, whether they are read this time or not
        if getattr(kept, name) != value and name not in kept.shown_only:
            raise ParameterError(
                f"{log.path}: the session was begun with {name} {getattr(kept, name)!r}, not "
                f"{value!r}; leave the option out, or begin another session with --session"
            )
    shown = {name: wanted.get(name, getattr(kept, name)) for name in kept.shown_only}
    images = shown.get("images")
    if "images" not in wanted and images and os.path.isabs(images) and not os.path.isdir(images):
        warn_user(
            f"{images} is gone: rows are shown without images; name them with --images", UserWarning
        )
        shown["images"] = None
    return replace(kept, **shown)


def _add_labels(
    editor: SessionEditor,
    labels: str | os.PathLike[str],
    variable: str | None,
    match: str | None,
) -> None:
    """Add the labels of a file; warn of classes that are new for want of names."""
    workspace, classes = editor.workspace, editor.session.classes
    given = workspace.read_labels(os.fspath(labels), variable=variable)
    found = label_import(given, workspace, classes, known=editor.known_classes(), by=match)
    if (found.asks or match == "overlap") and editor.session.strokes:
        editor.update()  # the map may tell where the labels do not
        found = label_import(given, workspace, classes, known=editor.known_classes(), by=match)
    editor.apply(found.operation, labels=source_of(labels))
    if found.asks:
        warn_user(new_classes_warning(found, given.path), UserWarning)


def replayed(
    session_file: str | os.PathLike[str],
    scenes: _Paths,
    *,
    opening: Mapping[str, str | None] | None = None,
    on_opened: Callable[[Any], None] | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> SessionEditor:
    """Return a session with all operations of its file repeated, and its refined map.

    - `session_file`: may be in use
    - `scenes`: the same scenes or table; files and formats may differ
    - `opening`: variable, bands, mask and roi where they have other names than in the session
    - `on_opened`, `before`: called with the scenes or the table, then with the forecast of memory
      and time, before anything is computed
    - `DataError` where a file cannot be read, or the scene is another one
    """
    log = ReadOnlyLog(session_file)
    given: dict[str, Any] = {
        name: value for name, value in (opening or {}).items() if value is not None
    }
    settings = replace(_settings_kind(scenes).from_header(log.header), **given)
    unseen: dict[str, Any] = dict.fromkeys(settings.shown_only)
    settings = replace(settings, **unseen)

    def expect(found: Any) -> None:
        if on_opened is not None:
            on_opened(found)
        if before is not None:
            done = [entry["op"] for entry in done_in(log.entries)]
            n_classes = sum(map(_classes_added, done))
            before(forecast_session(found, settings, len(done), n_classes=n_classes))

    workspace = _opened(scenes, settings, log.header.get("sha256", ""), expect)
    editor = SessionEditor(workspace, log)
    editor.refine()
    return editor


def _classes_added(operation: Mapping[str, Any]) -> int:
    if operation["op"] == "batch":
        return sum(map(_classes_added, operation["operations"]))
    return int(operation["op"] == "add_class")
