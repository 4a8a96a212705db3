"""Pages in a notebook: one channel for all, on which every message names its page.

The notebook's channel does not say what has arrived. A page therefore confirms what it has heard,
and few messages are on their way at a time: on a slow line a newer map replaces the one that waits
(`diffclass_relabel.access.clients`). A page that confirms nothing for a minute is forgotten; if it
wakes up, it is told so and joins again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from diffclass.exceptions import DataError, DiffclassError, ParameterError
from diffclass_relabel.access import Client
from diffclass_relabel.opening import OpeningPage

if TYPE_CHECKING:
    from diffclass_relabel.opening import Preparation
    from diffclass_relabel.session import SessionEditor
    from diffclass_relabel.session_hub import SessionHub

# sends a message that JSON can hold, and its binary parts, to the notebook
Post = Callable[[Mapping[str, Any], Sequence[bytes]], None]

_ON_THEIR_WAY = 4  # messages
_LONGEST_NAME = 100
_PATIENCE = 60.0  # seconds


class NotebookPages:
    """Passes messages between the pages in a notebook and their session, in the event loop."""

    def __init__(self, opening_page: OpeningPage, post: Post):
        self._opening_page = opening_page
        self._post = post
        self._pages: dict[str, _Page] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, message: Any) -> None:
        """Take a message of a page in; one that makes no sense is dropped."""
        if not isinstance(message, dict):
            return
        name, kind = message.get("client"), message.get("kind")
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            return
        page = self._pages.get(name)
        if kind == "join":
            self._join(name)
        elif page is None:
            if kind != "leave":
                self._post({"client": name, "kind": "closed"}, ())
        elif kind == "leave":
            self._leave(name)
        elif kind == "ping":
            self._post({"client": name, "kind": "pong"}, ())
        elif kind == "heard":
            page.on_their_way.release()
        elif kind == "text" and isinstance(message.get("text"), str):
            self._hear(page, message["text"])
        elif kind == "get":
            self._start(self._get(name, message.get("number"), message.get("path")))

    def close(self) -> None:
        """End the conversations with all pages."""
        for name in list(self._pages):
            self._leave(name)
            self._post({"client": name, "kind": "closed"}, ())

    def _join(self, name: str) -> None:
        if name in self._pages:
            self._leave(name)
        page = self._pages[name] = _Page(Client(name))
        self._opening_page.join(page.client)
        page.sending = asyncio.create_task(self._send(name, page))

    def _leave(self, name: str) -> None:
        page = self._pages.pop(name)
        self._opening_page.leave(page.client)
        if page.sending is not None:
            page.sending.cancel()

    def _hear(self, page: _Page, text: str) -> None:
        whole = page.client.joined(text)
        if whole is not None:
            self._start(self._opening_page.hear(page.client, whole))

    async def _send(self, name: str, page: _Page) -> None:
        while True:
            try:
                await asyncio.wait_for(page.on_their_way.acquire(), _PATIENCE)
            except TimeoutError:
                page.sending = None  # not to be cancelled from within
                self._leave(name)
                return
            message = await page.client.outbox.take()
            if isinstance(message, bytes):
                self._post({"client": name, "kind": "binary"}, (message,))
            else:
                self._post({"client": name, "kind": "text", "text": message}, ())

    async def _get(self, name: str, number: Any, path: Any) -> None:
        answer = {"client": name, "kind": "got", "number": number}
        try:
            self._post(answer, (await self._content(str(path)),))
        except (DiffclassError, OSError) as error:
            self._post(answer | {"problem": str(error)}, ())

    async def _content(self, path: str) -> bytes:
        """Return what the server would answer at an address relative to the page."""
        hub = self._opening_page.hub
        if hub is None:
            raise DataError("the scene is still being prepared; ask again")
        parts = urlsplit(path)
        folder, _, name = parts.path.rpartition("/")
        if parts.path == "picture.png":
            query = dict(parse_qsl(parts.query))
            return await hub.picture(query)
        file = hub.downloads.files.get(unquote(name)) if folder == "download" else None
        if file is None:
            raise ParameterError(f"no exported file {path[:40]}; export it first")
        return await asyncio.to_thread(file.read_bytes)

    def _start(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Page:
    def __init__(self, client: Client):
        self.client = client
        self.on_their_way = asyncio.Semaphore(_ON_THEIR_WAY)
        self.sending: asyncio.Task[None] | None = None


_T = TypeVar("_T")

_LONGEST_GOODBYE = 20.0  # seconds
_OFTEN = 2.0  # seconds between two looks at whether there is another map


class SessionThread:
    """Opens a session and keeps it for a notebook, with an event loop in a thread of its own."""

    def __init__(self, opening: Callable[[Preparation], SessionEditor], post: Post, *, scene: str):
        self._loop = asyncio.new_event_loop()
        self._opening_page = OpeningPage(opening, scene=scene)
        self._pages = NotebookPages(self._opening_page, post)
        self._watching: Future[None] | None = None
        self._thread = threading.Thread(target=self._run, name="session", daemon=True)
        self._thread.start()

    def take(self, message: Any) -> None:
        """Pass a message of a page on, without waiting."""
        with suppress(RuntimeError):  # closed: there is nobody to pass it to
            self._loop.call_soon_threadsafe(self._pages.take, message)

    def editor(self) -> SessionEditor:
        """Return the open session, waiting for it."""
        return self._result(self._opening_page.opened()).editor

    def watch(self, told: Callable[[SessionEditor], None]) -> None:
        """Call a function in the loop's thread whenever there is another refined map."""
        watched = _watched(self._opening_page, told)
        self._watching = asyncio.run_coroutine_threadsafe(watched, self._loop)

    def updated(self) -> SessionEditor:
        """Return the session when its map is up to date and refined."""
        return self._result(_updated(self._opening_page)).editor

    def close(self) -> None:
        """End the conversations and close the session; a second time does nothing."""
        if not self._thread.is_alive():
            return
        with suppress(DataError):
            self._result(self._end(), timeout=_LONGEST_GOODBYE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LONGEST_GOODBYE)

    async def _end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self._pages.close()
        await self._opening_page.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(self._opening_page.start)
        self._loop.run_forever()
        self._loop.close()

    def _result(self, coroutine: Coroutine[Any, Any, _T], *, timeout: float | None = None) -> _T:
        if self._loop.is_closed():
            coroutine.close()
            raise DataError("the session is closed; open it again with RelabelWidget(scene)")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout)


async def _updated(opening_page: OpeningPage) -> SessionHub:
    hub = await opening_page.opened()
    await hub.refined()
    return hub


async def _watched(opening_page: OpeningPage, told: Callable[[SessionEditor], None]) -> None:
    hub, version = await opening_page.opened(), -1
    while True:
        editor = hub.editor
        if editor.map is not None and editor.map.version != version and editor.session.is_refined:
            version = editor.map.version
            await asyncio.to_thread(told, editor)
        await asyncio.sleep(_OFTEN)
