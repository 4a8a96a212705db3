"""Where pages wait until the session is open: they hear how far it is, and then everything."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from diffclass.exceptions import DataError
from diffclass_relabel.door import Client
from diffclass_relabel.opening.preparation import Preparation
from diffclass_relabel.protocol import Failed

if TYPE_CHECKING:
    from diffclass_relabel.hub import SessionHub
    from diffclass_relabel.session import SessionEditor

log = logging.getLogger("diffclass_relabel")

_OFTEN = 0.5  # seconds between two messages, so that the remaining time counts down
_FAREWELL = 0.5  # seconds for the message of a failure to reach the pages


class OpeningPage:
    """Opens a session in a thread, and passes pages on to its hub when it is open.

    Parameters
    ----------
    opening : callable
        Opens the session and announces its stages to the listener that it is given.
    scene : str
        Name of the scene.
    on_failure : callable, optional
        Called with the error if the session cannot be opened.

    Attributes
    ----------
    hub : SessionHub or None
        None until the session is open.
    """

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
        self._failure: Exception | None = None

    def start(self) -> None:
        """Begin to open the session."""
        self._task = asyncio.create_task(self._open())

    async def opened(self) -> SessionHub:
        """Return the hub, waiting for it.

        Raises
        ------
        Exception
            What kept the session from being opened.
        """
        if self._task is not None:
            await asyncio.wait([self._task])
        if self.hub is None:
            raise self._failure or DataError("the session was closed before it was open")
        return self.hub

    async def close(self) -> None:
        """Close the session; one that is still being opened is left alone.

        Its thread ends with the process: nothing is on disk before a session is open but whole
        lines of its file.
        """
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
        if self.hub is not None:
            await self.hub.close()

    def join(self, client: Client) -> None:
        """Take a client in: it gets the progress of the preparation, or the greeting of the hub."""
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
        """Pass a message on; pages send none before they are greeted."""
        if self.hub is not None:
            await self.hub.hear(client, text)
        else:
            log.warning("refused: a message before the greeting")

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._preparation.on_change = lambda: _call_soon(loop, self._tell)
        opened = _in_daemon_thread(self._opened, loop)
        while not (await asyncio.wait([opened], timeout=_OFTEN))[0]:
            self._tell()
        try:
            hub = opened.result()
            await hub.start()
        except Exception as error:
            await self._fail(error)
            return
        self.hub = hub
        for client in self._waiting:
            hub.join(client)
        self._waiting.clear()

    def _opened(self) -> SessionHub:
        from diffclass_relabel.hub import SessionHub

        editor = self._opening(self._preparation)
        if self._is_closed:
            editor.close()
        return SessionHub(editor)

    def _tell(self) -> None:
        if self.hub is None and self._waiting:
            message = json.dumps(self._preparation.message())
            for client in self._waiting:
                client.outbox.put(message, kind="preparing")

    async def _fail(self, error: Exception) -> None:
        self._failure = error
        message: Failed = {"kind": "failed", "message": str(error)}
        for client in self._waiting:
            client.tell(message, kind="preparing")
        if self._waiting:
            await asyncio.sleep(_FAREWELL)
        if self._on_failure is not None:
            self._on_failure(error)


def _in_daemon_thread(
    function: Callable[[], SessionHub], loop: asyncio.AbstractEventLoop
) -> asyncio.Future[SessionHub]:
    """Run a function in a thread that does not keep the process from ending."""
    future: asyncio.Future[SessionHub] = loop.create_future()

    def finish(set_it: Callable[[], None]) -> None:
        if not future.cancelled():
            set_it()

    def run() -> None:
        try:
            hub = function()
        except BaseException as error:
            failure = error
            _call_soon(loop, lambda: finish(lambda: future.set_exception(failure)))
        else:
            _call_soon(loop, lambda: finish(lambda: future.set_result(hub)))

    threading.Thread(target=run, name="preparation", daemon=True).start()
    return future


def _call_soon(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function in the loop's thread; not at all once the loop has ended."""
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:
        return
