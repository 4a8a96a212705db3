"""A session that opens while pages watch, and then passes them on to its hub."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from diffclass.exceptions import DataError
from diffclass_relabel.access import Client
from diffclass_relabel.opening.preparation import Preparation
from diffclass_relabel.protocol import Failed

if TYPE_CHECKING:
    from diffclass_relabel.session import SessionEditor
    from diffclass_relabel.session_hub import SessionHub

log = logging.getLogger("diffclass_relabel")

_OFTEN = 0.5  # seconds between two messages, so that the remaining time counts down
_FAREWELL = 0.5  # seconds for the message of a failure to reach the pages


class OpeningPage:
    """Opens a session in a thread, and passes pages on to its hub when it is open."""

    def __init__(
        self,
        opening: Callable[[Preparation], SessionEditor],
        *,
        scene: str = "",
        on_failure: Callable[[BaseException], None] | None = None,
    ):
        self.hub: SessionHub | None = None
        self._opening = opening
        self._preparation = Preparation(scene)
        self._on_failure = on_failure
        self._waiting: set[Client] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._beginning = asyncio.Lock()
        self._failure: Exception | None = None

    def start(self) -> None:
        """Begin to open the session."""
        self._task = asyncio.create_task(self._open())

    async def opened(self) -> SessionHub:
        """Return the hub, waiting for it; raise what kept the session from being opened."""
        if self._task is not None:
            await asyncio.wait([self._task])
        if self.hub is None:
            raise self._failure or DataError("the session was closed before it was open")
        return self.hub

    async def close(self) -> None:
        """Close the session; a thread that is still opening it ends with the process.

        That is safe: until a session is open, all that is on disk is whole lines of its file.
        """
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
        if self.hub is not None:
            await self.hub.close()

    def join(self, client: Client) -> None:
        """Take a client in, and send it the progress of the preparation or the hub's greeting."""
        if self.hub is not None:
            self.hub.join(client)
        else:
            self._waiting.add(client)
            client.tell(self._preparation.message(), kind="preparing")

    def leave(self, client: Client) -> None:
        """Forget a client."""
        self._waiting.discard(client)
        if self.hub is not None:
            self.hub.leave(client)

    async def hear(self, client: Client, text: str) -> None:
        """Pass a message on to the hub."""
        if self.hub is not None:
            await self.hub.hear(client, text)
        else:
            log.warning("refused: a message before the greeting")  # our own page sends none

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._preparation.on_change = lambda: _call_soon(loop, self._tell)
        begun: list[asyncio.Task[None]] = []  # kept: the loop forgets tasks that nobody holds
        self._preparation.on_editor = lambda editor: _call_soon(
            loop, lambda: begun.append(asyncio.create_task(self._begin(editor, self._left)))
        )
        opened = _in_daemon_thread(self._opened, loop)
        while not (await asyncio.wait([opened], timeout=_OFTEN))[0]:
            self._tell()
        try:
            editor = opened.result()
            await self._begin(editor, None)
        except Exception as error:
            await self._fail(error)
            return
        if self.hub is not None:
            self.hub.tell_preparing(None)

    @property
    def _left(self) -> float:
        """Seconds that the preparation still takes, about."""
        return self._preparation.message()["left"] or 1.0

    async def _begin(self, editor: SessionEditor, preparing: float | None) -> None:
        """Start the hub and greet the pages; ``preparing``: seconds until there is a graph."""
        # called without a graph, and again with it: whichever comes second waits and does nothing
        async with self._beginning:
            if self.hub is not None or self._is_closed:
                return
            from diffclass_relabel.session_hub import SessionHub

            hub = SessionHub(editor)
            await hub.start()
            hub.tell_preparing(preparing)
            self.hub = hub
        for client in self._waiting:
            hub.join(client)
        self._waiting.clear()

    def _opened(self) -> SessionEditor:
        editor = self._opening(self._preparation)
        if self._is_closed:  # meanwhile: nobody else will close this one
            editor.close()
        return editor

    def _tell(self) -> None:
        if self.hub is not None:
            self.hub.tell_preparing(self._left)
        elif self._waiting:
            message = json.dumps(self._preparation.message())
            for client in self._waiting:
                client.outbox.put(message, kind="preparing")

    async def _fail(self, error: Exception) -> None:
        self._failure = error
        if self.hub is not None:  # labels are safe, and can be exported
            self.hub.tell_preparing(None, problem=str(error))
            return
        message: Failed = {"kind": "failed", "message": str(error)}
        for client in self._waiting:
            client.tell(message, kind="preparing")
        if self._waiting:
            await asyncio.sleep(_FAREWELL)
        if self._on_failure is not None:
            self._on_failure(error)


def _in_daemon_thread(
    function: Callable[[], SessionEditor], loop: asyncio.AbstractEventLoop
) -> asyncio.Future[SessionEditor]:
    """Run a function in a thread that does not keep the process from ending."""
    future: asyncio.Future[SessionEditor] = loop.create_future()

    def finish(set_it: Callable[[], None]) -> None:
        if not future.cancelled():
            set_it()

    def run() -> None:
        try:
            editor = function()
        except BaseException as error:
            failure = error
            _call_soon(loop, lambda: finish(lambda: future.set_exception(failure)))
        else:
            _call_soon(loop, lambda: finish(lambda: future.set_result(editor)))

    threading.Thread(target=run, name="preparation", daemon=True).start()
    return future


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function in the loop's thread, or not at all once the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)
