"""The only place where a session changes: an operation is applied, written to disk, then answered.

`SessionEditor.apply` and `SessionEditor.update` may run in two threads at once, so that a stroke is
on disk while the map of the one before is still being computed; each runs in one thread only.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import to_builtins

from diffclass.exceptions import DataError, ParameterError
from diffclass.relabel import AddClass, Change, Operation, decoded, name_of
from diffclass.system.progress import stage
from diffclass_relabel.maps import NO_DATA, ShownLabels, ShownMap, as_bytes
from diffclass_relabel.protocol import HistoryAnswer, HistoryStep
from diffclass_relabel.session.label_files import NO_REFERENCE, Reference
from diffclass_relabel.session.operations import PIXEL_OPERATIONS, completed, on_points, with_runs
from diffclass_relabel.session.timeline import Timeline, Unseen, described
from diffclass_relabel.session_file import Line, ReadOnlyLog, SessionLog, hash_of
from diffclass_relabel.workspace import Workspace


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
    """An operation that was done."""

    operation: Line  # as the log keeps it; empty if it had been done before
    version: int  # the session's, after it
    stroke: int | None = None  # number of the stroke that it painted
    added: int | None = None  # id of the class that it added, also where it had been done before


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
    prediction : Reference or None
        The map that a model of another scene made, to be compared with.
    lock : RLock
        Held while an operation is applied; hold it to read several of these at the same moment.
    """

    def __init__(
        self,
        workspace: Workspace,
        log: SessionLog | ReadOnlyLog,
        reference: Reference | None = None,
    ):
        self.workspace = workspace
        self.log = log
        self.reference = reference
        self.prediction: Reference | None = None
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
    ) -> Line:
        """Apply one operation and write it to the log.

        Parameters
        ----------
        operation : dict or Operation
            As a client sent it; see `diffclass_relabel.session.operations`.
        client : str, optional
            Who sent it.
        number : int, optional
            Its number among the client's messages, by which one that is sent twice is recognized.
        seen : int, optional
            Version of the state in which the client did it; it is refused if others have changed
            what it is about since.
        labels : str, optional
            Path of the label file that it comes from, for the log.

        Returns
        -------
        dict
            The operation as the log keeps it; empty if it had been done before.

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

        Returns
        -------
        list of Applied or Exception
            Each operation as it was done, or what `apply` would raise. If they cannot be written
            to disk, all that were done are taken back.
        """
        sent, lines = list(sent), list[Line]()
        with self.lock:
            found = [self._outcome(each, lines) for each in sent]
            # on disk before anybody is answered; the lock keeps maps and snapshots out until then
            try:
                if lines:
                    self.log.append(*lines)
            except OSError as error:
                # the log is as it was: what it holds is what was done. Refusals change nothing.
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
        """Return the refusal of an operation that is not even read, now or when sent again."""
        if client is not None and number is not None:
            self._refused.setdefault((client, number), reason)
        return ParameterError(reason)

    def _outcome(self, sent: Sent, lines: list[Line]) -> Applied | Exception:
        """Apply one operation and add its line, that of a refusal too."""
        try:
            return self._done_or_again(sent, lines)
        except ParameterError as error:
            refusal = self._for_users(str(error), sent.operation)
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
        kept = to_builtins(with_runs(done, self.workspace.to_log))
        sender = {} if client is None else {"client": client, "seq": number}
        source = {} if sent.labels is None else {"labels": sent.labels}
        at = round(time.time(), 3)
        lines.append({"at": at, "op": kept} | sender | source)
        self._timeline.note(step, done, self.session, at)
        self._note(done, client, number)
        stroke = self.session.newest_stroke if kept["op"] == "stroke" else None
        return Applied(kept, self.version, stroke, _added(done))

    def _applied(
        self, operation: Any, client: str | None, seen: int | None, refusal: str | None
    ) -> tuple[Operation, HistoryStep]:
        """Apply an operation, unless it was refused before."""
        if refusal is not None:  # what was done after it counts on that
            raise ParameterError(refusal)
        if not isinstance(operation, Operation):
            operation = decoded(operation, PIXEL_OPERATIONS)
        kept, on_engine = on_points(operation, self.workspace, self.session.classes)
        if isinstance(kept, AddClass) and client is not None:
            kept = on_engine = _joined_on_a_page(kept)
        if seen is not None:
            self._unseen.check(kept, client, seen)
        step = described(kept, self.session, self.workspace.pixels)
        self.session.apply(on_engine)
        return completed(kept, self.session), step

    def included(self) -> dict[str, int]:
        """Return the number of each client's newest operation."""
        with self.lock:
            return {client: next(reversed(numbers)) for client, numbers in self._done.items()}

    def birth(self, class_id: int) -> int:
        """Return the version in which the class of an id was added."""
        return self._unseen.birth(class_id)

    def update(self) -> ShownMap:
        """Bring the map up to date; it stays as it is where the engine raises `DiffclassError`."""
        with self.lock:
            if self.map is not None and not self.session.is_stale:
                self.map = replace(self.map, version=self.version)
                return self.map
            version = self.version
        change = self.session.update()  # without the lock: strokes are applied meanwhile
        with self.lock:
            # they may or may not be in the map, unless nothing is missing
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
        """Return each pixel's class, uint8 (rows, columns): by label, else by map, or 0."""
        labels, shown = self.labels.ids, self.map
        if shown is None or not self.session.strokes:
            return labels
        return np.where((labels > 0) | (shown.ids == NO_DATA), labels, shown.ids)

    def compared_classes(self) -> np.ndarray:
        """Return the class of each point in the map, int32 (n,); 0 none, -1 not to be compared."""
        pixels, shown = self.workspace.pixels, self.map
        found = np.zeros(len(pixels), dtype=np.int32)
        if shown is not None and self.session.strokes:
            found[:] = shown.ids.ravel()[pixels]
        # labels were painted to be right: the map agrees with them by construction
        found[self.labels.ids.ravel()[pixels] > 0] = -1
        return found

    def match_reference(self, pairs: Mapping[int, int]) -> None:
        """Match the reference's classes with the session's as a user says."""
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
        """Keep a refusal and add its line, unless it is repeated or the client has no name."""
        client, number, operation = sent.client, sent.number, sent.operation
        if client is None or number is None or (client, number) in self._refused:
            return
        self._refused[client, number] = refusal
        name = str(_name_of(operation))[:40]
        facts = {"refused": refusal, "name": name, "client": client, "seq": number}
        lines.append({"at": round(time.time(), 3)} | facts)

    def _replay(self, entry: Mapping[str, Any]) -> None:
        if "refused" in entry:
            self._refused[entry["client"], entry["seq"]] = entry["refused"]
            return
        try:
            logged = decoded(entry["op"], PIXEL_OPERATIONS)
            operation = with_runs(logged, self.workspace.from_log)
            kept, on_engine = on_points(operation, self.workspace, self.session.classes)
            step = described(kept, self.session, self.workspace.pixels)
            self.session.apply(on_engine)
        except (ParameterError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.log.path}: step {entry.get('n')} cannot be repeated ({error}); was the "
                "file changed, or made by another version of diffclass?"
            ) from error
        self._timeline.note(step, kept, self.session, entry.get("at", 0.0))
        self._note(kept, entry.get("client"), entry.get("seq"))

    def _for_users(self, message: str, operation: Any) -> str:
        """Return a refusal of the engine in the page's words: no operations' names, no points."""
        plain = message.removeprefix(f"{_name_of(operation)}: ")
        return re.sub(r"\bpoints\b", self.workspace.things, plain)

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
        self._unseen.note(done, client, self.session)
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
            note=self.workspace.note_on(found.ids),
        )


def _joined_on_a_page(new: AddClass) -> AddClass:
    """Return a new class that is undone together with what the page does with it next.

    That is a stroke, where a row is labelled by a new name, or else naming it in the list.
    """
    return AddClass(new.id, new.name, new.color, "stroke" if new.name else "rename_class")


def _added(done: Operation) -> int | None:
    """Return the id of the class that an operation added, if any."""
    return done.id if isinstance(done, AddClass) else None


def _name_of(operation: Any) -> Any:
    if isinstance(operation, Operation):
        return name_of(operation)
    return operation.get("op") if isinstance(operation, dict) else None
