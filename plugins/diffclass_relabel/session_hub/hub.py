"""Clients and the session they share: a message goes in, its result to all concerned.

The event loop only passes messages on to the threads of `diffclass_relabel.session_hub.workers`.
After an operation the map is stale; the next one is computed when the one before is done, so that
strokes painted meanwhile cost one map together.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from msgspec.structs import asdict

from diffclass.exceptions import CancelledError, DataError, DiffclassError, ParameterError
from diffclass.relabel import decoded, name_of
from diffclass_relabel import protocol
from diffclass_relabel.access import Client, parsed_message
from diffclass_relabel.maps import ShownMap, changes_frame, map_frames
from diffclass_relabel.queries import QUERIES, Contrast, Downloads, Pictures, answers, predict
from diffclass_relabel.session import Applied, Sent, SessionEditor
from diffclass_relabel.session_hub.queries import Queries
from diffclass_relabel.session_hub.states import Snapshot, scene_facts, session_state
from diffclass_relabel.session_hub.workers import Workers

log = logging.getLogger("diffclass_relabel")

_T = TypeVar("_T")

_LARGEST_NUMBER = 2**53
_MOST_TOGETHER = 64  # operations that are written and answered together
_MOST_WAITING = 10_000  # operations; those that come then are refused
_REST = 1.0  # seconds without a stroke before the map of many pixels is refined


@dataclass(frozen=True)
class _Waiting:
    """An operation that waits to be written; ``answered`` is set once its client was told."""

    client: Client
    number: int
    operation: Any
    seen: int | None
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def sent(self) -> Sent:
        """The operation as the editor takes it."""
        return Sent(self.operation, self.client.name, self.number, self.seen)


class SessionHub:
    """Takes the clients' messages and answers them; only it changes the editor's session."""

    def __init__(self, editor: SessionEditor):
        self.downloads = Downloads()
        self.is_live = True
        self._editor = editor
        self._clients: set[Client] = set()
        self._workers = Workers()
        self._pictures = Pictures(editor.workspace)
        self._queries = Queries(editor, self._workers, self._pictures)
        self._waiting: deque[_Waiting] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._update: asyncio.Task[bool] | None = None
        self._refining: asyncio.Task[None] | None = None
        self._problem: str | None = None
        self._preparing: float | None = None
        self._newest: Snapshot
        self._n_snapshots = 0

    async def start(self) -> None:
        """Make the state and begin with the map."""
        self._facts: protocol.SceneFacts = await self._workers.read_scene(scene_facts, self._editor)
        self._newest = await self._workers.compute_map(self._snapshot)
        self._follow()
        if self._update is None:  # opened with its map
            self._work_ahead()

    def tell_preparing(self, seconds: float | None, *, problem: str | None = None) -> None:
        """Tell the clients how long the graph still takes; None once that is over."""
        self._preparing = seconds
        self._problem = problem or self._problem
        self._tell_state()

    async def close(self) -> None:
        """Finish the work of the threads and close the session file."""
        self.is_live = False
        await self._workers.close()
        self._editor.close()
        self.downloads.close()

    def join(self, client: Client) -> None:
        """Greet a client and tell it everything from now on."""
        # a page of another session, which had this address before, has strokes of that one to send
        client.is_foreign = client.session not in (None, self._editor.id)
        if client.is_foreign:
            foreign: protocol.Foreign = {"kind": "foreign", "scene": self._facts["scene"]["name"]}
            client.tell(foreign)
            return
        greeting: protocol.Hello = {
            "kind": "hello",
            "id": self._editor.id,
            **self._facts,
            "state": self._full_state(),
            "included": self._included(client),
        }
        client.tell(greeting)
        client.show_labels(self._editor.labels)
        shown = self._editor.map
        if shown is not None:
            client.outbox.put_all(map_frames(shown), kind="map")
        self._clients.add(client)

    @property
    def editor(self) -> SessionEditor:
        """The session, to look at."""
        return self._editor

    async def update(self) -> None:
        """Bring the map up to date."""
        self._problem = None
        while self._state["stale"]:
            if self._update is None:
                self._update = asyncio.create_task(self._compute())
                self._tell_state()
            # shielded: the map is for all clients, even if the one that asked first has left
            if not await asyncio.shield(self._update):
                raise DataError(f"the map could not be computed: {self._problem}")

    async def refined(self) -> None:
        """Wait for the map of the present labels, with its time chosen."""
        await self.update()
        while self._refining is not None:
            await asyncio.shield(self._refining)
            await self.update()

    def leave(self, client: Client) -> None:
        """Forget a client."""
        self._clients.discard(client)
        for ask in QUERIES:
            self._workers.give_up((client, ask))

    async def picture(self, query: Mapping[str, str]) -> bytes:
        """Return a PNG: of the raster, by "preset" or "bands", "limits" and "calm", or of a "row".

        See `diffclass_relabel.queries.Pictures` and `diffclass_relabel.queries.Contrast`.
        """
        if "row" in query:
            return await self._workers.read_scene(self._pictures.thumbnail, query["row"])
        contrast = Contrast.parsed(query.get("limits"), query.get("calm"))
        preset, bands = query.get("preset", self._facts["presets"][0]["name"]), query.get("bands")
        return await self._workers.read_scene(self._pictures.png, preset, bands, contrast)

    async def hear(self, client: Client, text: str) -> None:
        """Do what a message asks and answer it; errors in it are sent to the client."""
        number: Any = None
        try:
            message = parsed_message(text)
            if not isinstance(message, dict):
                raise ParameterError("a message has to be a JSON object")
            number = message.get("seq")
            if type(number) is not int or not 0 <= number < _LARGEST_NUMBER:
                raise ParameterError(f"seq = {str(number)[:40]!r}; number the messages 1, 2, ...")
            if client.is_foreign:
                raise ParameterError("another session is open here; reload the page")
            if "op" in message:
                await self._operate(client, number, message["op"], _seen(message))
            else:
                await self._answer(client, number, message)
        except Exception as error:
            _explain(client, number, error)

    async def _operate(self, client: Client, number: int, operation: Any, seen: int | None) -> None:
        """Have an operation written together with those that wait; wait until it is answered."""
        # each passage between threads waits for those that compute: together they pass once
        if len(self._waiting) >= _MOST_WAITING:
            reason = f"{_MOST_WAITING:,} operations wait already; do this again when they are done"
            raise self._editor.turn_away(reason, client.name, number)
        waiting = _Waiting(client, number, operation, seen)
        self._waiting.append(waiting)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await waiting.answered.wait()

    async def _write(self) -> None:
        """Write what waits, in the order in which it came."""
        group: list[_Waiting] = []
        try:
            while self._waiting:
                n_together = min(len(self._waiting), _MOST_TOGETHER)
                group = [self._waiting.popleft() for _ in range(n_together)]
                await self._write_group(group)
                for each in group:
                    each.answered.set()
        finally:
            self._writing = None
            for each in (*group, *self._waiting):  # left over where the server ends
                each.answered.set()

    async def _write_group(self, group: list[_Waiting]) -> None:
        before = self._editor.labels
        found: list[Applied | Exception]
        snapshot: Snapshot | None
        try:
            sent = [each.sent for each in group]
            found, snapshot = await self._workers.write(self._applied, sent)
        except Exception as error:
            found, snapshot = [error] * len(group), None
        for each, outcome in zip(group, found, strict=True):
            if isinstance(outcome, Exception):
                _explain(each.client, each.number, outcome)
            else:
                each.client.tell(_done(each.number, outcome))
        if snapshot is None or all(isinstance(outcome, Exception) for outcome in found):
            return  # nothing was done
        self._keep(snapshot)
        self._problem = None
        if snapshot.state["stale"]:
            self._workers.give_up("refine")
        self._follow()
        labels, all_see_others = self._editor.labels, self._editor.labels.ids is not before.ids
        senders = {each.client for each in group}
        for client in self._clients:
            # who painted shows its stroke until labels come that hold it, or hold it no more
            if all_see_others or client in senders:
                client.show_labels(labels)
        self._tell_state()

    def _applied(self, sent: list[Sent]) -> tuple[list[Applied | Exception], Snapshot]:
        """Apply operations and return what was done, with the session's state after them."""
        with self._editor.lock:  # no map may come between the operations and their state
            found = self._editor.apply_all(sent)
            return found, self._snapshot()

    def _snapshot(self) -> Snapshot:
        with self._editor.lock:
            self._n_snapshots += 1
            state, included = session_state(self._editor), self._editor.included()
            return Snapshot(self._n_snapshots, state, included)

    def _keep(self, snapshot: Snapshot) -> None:
        """Take a snapshot over unless a later one, taken in another thread, came first."""
        if snapshot.number > self._newest.number:
            self._newest = snapshot

    @property
    def _state(self) -> protocol.SessionFacts:
        return self._newest.state

    def _included(self, client: Client) -> int:
        """Return the number of the client's newest operation in the state."""
        return self._newest.included.get(client.name or "", 0)

    def _follow(self) -> None:
        """Start to compute the map if it is stale, live is on and no computation is running."""
        is_wanted = self.is_live and self._state["stale"] and self._problem is None
        if is_wanted and self._update is None:
            self._update = asyncio.create_task(self._compute())

    async def _compute(self) -> bool:
        """Compute the map and send it to all; return whether that went well."""
        try:
            shown = await self._workers.compute_map(self._editor.update)
            self._show(shown)
            snapshot = await self._workers.compute_map(self._noted)
        except CancelledError:
            return False  # the server ends, and nobody is left to tell
        except DiffclassError as error:
            self._problem = str(error)
            log.warning("the map could not be computed: %s", error)
        except Exception as error:
            self._problem = f"an error in the program ({type(error).__name__}: {error})"
            log.exception("the map could not be computed")
        else:
            self._keep(snapshot)
            self._problem = None
            self._work_ahead()
        self._update = None
        self._follow()
        self._tell_state()
        return self._problem is None

    async def _refine(self) -> None:
        """Choose the map's time in the background; the map follows. New labels cancel this."""
        me = asyncio.current_task()
        try:
            if self._editor.workspace.coarse_answers:
                # long work, which the next stroke would cancel: wait for a rest in the painting
                await asyncio.sleep(_REST)
                if self._refining is not me or self._state["stale"]:
                    return
            await self._workers.refine("refine", self._editor.session.refine)
            self._keep(await self._workers.compute_map(self._snapshot))
        except CancelledError:
            return
        except Exception as error:
            self._problem = f"the time could not be chosen ({error}); set it by hand"
            log.exception("the time could not be chosen")
        finally:
            if self._refining is me:
                self._refining = None
        self._follow()
        self._tell_state()

    def _work_ahead(self) -> None:
        if not self._state["refined"]:
            self._refining = asyncio.create_task(self._refine())

    def _show(self, shown: ShownMap) -> None:
        """Send a new map to all clients; its state has to be sent next."""
        for client in self._clients:
            client.outbox.put_all(map_frames(shown, client.seen), kind="map")
        self._tell_all(changes_frame(shown), kind="changes")

    def _noted(self) -> Snapshot:
        self._queries.numbers.note()
        return self._snapshot()

    async def _answer(self, client: Client, number: int, message: dict[str, Any]) -> None:
        if "ask" not in message:
            raise ParameterError('a message has an "op" or an "ask"')
        asked = {name: value for name, value in message.items() if name != "seq"}
        query = decoded(asked, QUERIES, key="ask")
        ask = name_of(query)
        fields = {name: value for name, value in asdict(query).items() if value is not None}
        if ask in self._queries.answers:
            facts = await self._queries.answer(client, ask, fields)
        else:
            facts = await self._ANSWERS[ask](self, client, **fields)
        client.tell({"kind": "answer", "seq": number, "ask": ask, **facts})

    async def _live(self, client: Client, on: bool) -> protocol.LiveAnswer:
        self.is_live = on
        self._problem = None
        self._follow()
        self._tell_state()
        return {"on": self.is_live}

    async def _update_now(self, client: Client) -> protocol.UpdateAnswer:
        await self.update()
        return {"version": self._state["version"]}

    async def _view(
        self, client: Client, top: int, left: int, bottom: int, right: int
    ) -> protocol.ViewAnswer:
        """Send a client what it sees before the rest, also of a map that waits to be sent."""
        client.seen = top, left, bottom, right
        shown, is_on_its_way = self._editor.map, client.outbox.holds("map")
        if shown is not None and is_on_its_way:
            client.outbox.put_all(map_frames(shown, client.seen), kind="map")
        return {"sent_anew": is_on_its_way}

    async def _preview(self, client: Client, tau: int) -> protocol.PreviewAnswer:
        key = client, "preview_tau"
        frame = await self._workers.answer_quick(key, answers.preview_frame, self._editor, tau)
        client.outbox.put(frame, kind="preview")
        return {"tau": tau}

    async def _compare(
        self, client: Client, step: int | None = None, prediction: bool = False
    ) -> protocol.CompareAnswer:
        key = client, "compare"
        frame = await self._workers.answer_slow(
            key, answers.compared_frame, self._editor, step, prediction
        )
        client.outbox.put(frame, kind="compared")
        return {"step": step}

    async def _similar(self, client: Client, pixel: int) -> protocol.SimilarAnswer:
        key = client, "similar"
        frame = await self._workers.answer_quick(key, answers.similar_frame, self._editor, pixel)
        client.outbox.put(frame, kind="similar")
        return {"pixel": pixel}

    async def _predict(self, client: Client, **given: Any) -> protocol.PredictAnswer:
        key = client, "predict"
        answer = await self._workers.answer_slow(key, partial(predict, **given), self._editor)
        self._keep(await self._workers.compute_map(self._snapshot))
        self._tell_state()
        return answer

    async def _match_reference(self, client: Client, pairs: list[int]) -> protocol.NumbersAnswer:
        key = client, "match_reference"
        chosen = dict(zip(pairs[::2], pairs[1::2], strict=True))
        answer = await self._workers.answer_quick(key, self._queries.numbers.match, chosen)
        self._tell_state()  # who compares the map with the reference asks for it again
        return answer

    async def _export(
        self, client: Client, what: str, name: str | None = None, **options: Any
    ) -> protocol.ExportAnswer:
        if what not in ("labels", "prediction", "spectra"):
            await self.refined()
        # a model takes as long as the map did
        work = self._workers.answer_slow if what == "model" else self._workers.answer_quick
        # a key for each: several files may be written for one client
        key = client, "export", what, name
        files = await work(key, partial(self.downloads.export, **options), self._editor, what, name)
        return {"url": f"download/{quote(files[0])}", "files": files}

    # each takes the fields of the question of that name
    _ANSWERS: ClassVar[dict[str, Callable[..., Awaitable[Mapping[str, Any]]]]] = {
        "live": _live,
        "update": _update_now,
        "view": _view,
        "preview_tau": _preview,
        "compare": _compare,
        "similar": _similar,
        "predict": _predict,
        "match_reference": _match_reference,
        "export": _export,
    }

    def _tell_all(self, message: str | bytes, *, kind: str) -> None:
        for client in self._clients:
            client.outbox.put(message, kind=kind)

    def _tell_state(self) -> None:
        state = self._full_state()
        for client in self._clients:
            included = self._included(client)
            message: protocol.StateMessage = {"kind": "state", "state": state, "included": included}
            client.tell(message, kind="state")

    def _full_state(self) -> protocol.SessionState:
        return {
            **self._state,
            "live": self.is_live,
            "computing": self._update is not None,
            "preparing": self._preparing,
            "problem": self._problem,
        }


def _seen(message: Mapping[str, Any]) -> int | None:
    """Return the version of the state that a client saw, if it says so."""
    seen = message.get("seen")
    if seen is not None and (type(seen) is not int or not 0 <= seen < _LARGEST_NUMBER):
        raise ParameterError(f"seen = {str(seen)[:40]!r}; it is the version of a state")
    return seen


def _explain(client: Client, number: Any, error: Exception) -> None:
    """Tell a client why its message has no other answer."""
    answered = number if type(number) is int else None
    if isinstance(error, CancelledError):
        superseded: protocol.Superseded = {"kind": "superseded", "seq": number}
        client.tell(superseded)
    elif isinstance(error, DiffclassError):
        client.refuse(answered, str(error))
    else:
        log.error("a message could not be answered", exc_info=error)
        text = f"an error in the program ({type(error).__name__}: {error}); see its messages"
        client.refuse(answered, text)


def _done(number: int, applied: Applied) -> protocol.Done:
    """Return the answer to an operation."""
    done = applied.operation
    message: protocol.Done = {"kind": "done", "seq": number, "version": applied.version}
    if applied.added is not None:
        message["class"] = applied.added
    if not done:
        message["again"] = True
        return message
    message["op"] = done["op"]
    if applied.stroke is not None:
        message["stroke"] = applied.stroke
    return message
