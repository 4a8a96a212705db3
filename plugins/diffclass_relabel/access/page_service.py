"""The page and its WebSocket, for any protocol: who may connect, and how messages pass.

Clients join a room: `diffclass_relabel.opening.OpeningPage` of a session, or the
`diffclass_relabel.opening.scene_chooser.SceneChooser`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from diffclass_relabel.access.clients import Client
from diffclass_relabel.access.security import Gate

log = logging.getLogger("diffclass_relabel")

STATIC = Path(__file__).parents[1] / "static"
MOST_BYTES = 4 * 2**20  # of one piece of a message; see `diffclass_relabel.access.clients`
# Of one client, what is worked on; beyond that it is not listened to, and its answers to pings,
# which show that it is still there, are not heard either
_MOST_AT_ONCE = 20_000  # messages
_MOST_CHARACTERS = 2**28
_MOST_UNSENT = 1000  # messages for one client, before it is listened to again
_LONGEST_NAME = 100
_FOREIGN = 1008  # WebSocket close code: against the rules
_TEXT_ONLY = 1003


class _Room(Protocol):
    def join(self, client: Client) -> None: ...  # and greet it
    def leave(self, client: Client) -> None: ...
    async def hear(self, client: Client, text: str) -> None: ...


class PageService:
    """The addresses that every server of the page has.

    - `on_page`: called whenever the page was asked for with the token
    """

    def __init__(self, room: _Room, gate: Gate, on_page: Callable[[], None] | None = None):
        self._room = room
        self._gate = gate
        self._on_page = on_page

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes to these addresses."""
        return [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            WebSocketRoute("/ws", self.socket),
        ]

    async def page(self, request: Request) -> Response:
        """Serve the page, and the cookie that stands for the token from then on."""
        if not self.lets_in(request):
            return self.refused(request)
        if self._on_page is not None:
            self._on_page()
        answer = FileResponse(STATIC / "index.html", media_type="text/html")
        answer.set_cookie(
            self._gate.cookie,
            self._gate.token,
            httponly=True,
            samesite="strict",
            **self._gate.cookie_scope,
        )
        return answer

    async def static(self, request: Request) -> Response:
        """Serve the page's own files, which hold no secret."""
        name = request.path_params["name"]
        if name not in {file.name for file in STATIC.iterdir() if file.is_file()}:
            return PlainTextResponse(f"no file {name[:40]}", 404)
        return FileResponse(STATIC / name)

    async def socket(self, socket: WebSocket) -> None:
        """Exchange messages with one client until it disconnects."""
        await socket.accept()
        reason = self._reason_against(socket)
        if reason:
            log.warning("refused: a WebSocket with %s", reason)
            await socket.close(_FOREIGN, reason)
            return
        name, session = (
            socket.query_params.get(key, "")[:_LONGEST_NAME] or None
            for key in ("client", "session")
        )
        client = Client(name, session)
        self._room.join(client)
        both = {
            asyncio.create_task(_send(socket, client)),
            asyncio.create_task(self._listen(socket, client)),
        }
        try:
            # whichever notices first that the client has gone: the other may be waiting for it
            ended, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
        finally:
            self._room.leave(client)
            for task in both:
                task.cancel()

    async def _listen(self, socket: WebSocket, client: Client) -> None:
        """Pass messages on in their order, many at a time."""
        running: dict[asyncio.Task[None], int] = {}  # and the characters of each
        n_characters = 0

        def done(task: asyncio.Task[None]) -> None:
            nonlocal n_characters
            n_characters -= running.pop(task)

        while True:
            while len(running) >= _MOST_AT_ONCE or n_characters >= _MOST_CHARACTERS:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            await client.outbox.shorter_than(_MOST_UNSENT)
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                if message.get("code") == 1009:
                    log.warning("refused: a message of more than %d bytes", MOST_BYTES)
                return
            text = message.get("text")
            if text is None:
                log.warning("refused: a binary message")
                await socket.close(_TEXT_ONLY, "messages are JSON text")
                return
            whole = client.joined(text)
            if whole is None:
                continue
            task = asyncio.create_task(self._room.hear(client, whole))
            running[task] = len(whole)
            n_characters += len(whole)
            task.add_done_callback(done)

    def lets_in(self, request: Request | WebSocket) -> bool:
        """Return whether a request carries the token."""
        return self._gate.has_token(request.query_params, request.cookies)

    def refused(self, request: Request) -> Response:
        """Answer a request without the token."""
        log.warning("refused: %s without the token", request.url.path)
        text = "Wrong or missing token: open the address that diffclass relabel printed."
        return PlainTextResponse(text, 403)

    def _reason_against(self, socket: WebSocket) -> str | None:
        headers = socket.headers
        if not self._gate.knows_origin(headers.get("origin"), headers.get("host")):
            return "an Origin that is not this server's"
        if not self.lets_in(socket):
            return "a wrong token"
        return None


async def _send(socket: WebSocket, client: Client) -> None:
    """Send what waits for a client, one message after the other."""
    with suppress(WebSocketDisconnect, RuntimeError):  # it has gone: so does its listener
        while True:
            message = await client.outbox.take()
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)


class Guarded:
    """Refuses requests for other hosts and adds the security headers to all answers."""

    def __init__(self, app: ASGIApp, gate: Gate):
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        base = self._gate.base
        if base is not None:
            # routes are found with and without it: a proxy keeps its prefix or strips it
            scope = {**scope, "root_path": base.prefix}
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if not self._gate.knows_host(host):
            log.warning("refused: a request for the host %r", host[:60])
            text = "This server does not answer to that name."
            await PlainTextResponse(text, 421)(scope, receive, send)
            return
        app = self._app
        if base is not None and scope["path"] == base.prefix:
            # relative addresses need the slash; the page's own token goes along
            query = scope["query_string"].decode("latin-1")
            app = RedirectResponse(base.path + (f"?{query}" if query else ""))
        added = [(k.lower().encode(), v.encode()) for k, v in self._gate.headers(host).items()]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await app(scope, receive, send_with_headers)
