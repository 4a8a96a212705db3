"""A session whose event loop has a thread of its own, in the program that opened it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from diffclass.exceptions import DataError
from diffclass_relabel.notebook.pages import NotebookPages, Post
from diffclass_relabel.opening import OpeningPage

if TYPE_CHECKING:
    from diffclass_relabel.hub import SessionHub
    from diffclass_relabel.opening import Preparation
    from diffclass_relabel.session import SessionEditor

_T = TypeVar("_T")

_LONGEST_GOODBYE = 20.0  # seconds


class SessionThread:
    """Opens a session and keeps it for the pages of a notebook.

    Parameters
    ----------
    opening : callable
        See `diffclass_relabel.opening.opening_page.OpeningPage`.
    post : callable
        See `NotebookPages`; called in this thread.
    scene : str
        Name of the scene.
    """

    def __init__(self, opening: Callable[[Preparation], SessionEditor], post: Post, *, scene: str):
        self._loop = asyncio.new_event_loop()
        self._opening_page = OpeningPage(opening, scene=scene)
        self._pages = NotebookPages(self._opening_page, post)
        self._thread = threading.Thread(target=self._run, name="session", daemon=True)
        self._thread.start()

    def take(self, message: Any) -> None:
        """Pass a message of a page on, without waiting."""
        with suppress(RuntimeError):  # closed: there is nobody to pass it to
            self._loop.call_soon_threadsafe(self._pages.take, message)

    def editor(self) -> SessionEditor:
        """Return the open session, waiting for it.

        Raises
        ------
        DiffclassError
            Where it cannot be opened, or is closed.
        """
        return self._result(self._opening_page.opened()).editor

    def updated(self) -> SessionEditor:
        """Return the session when its map is up to date.

        Raises
        ------
        DiffclassError
            Where the map cannot be computed, or the session is closed.
        """
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
    await hub.update()
    return hub
