"""The web server: the page, pictures, downloads and the WebSocket; everything else is in `hub`.

It answers before the scene is prepared, and so before NumPy is loaded: what computes is imported by
the thread that prepares.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from diffclass.exceptions import DiffclassError
from diffclass_relabel.clients import Client
from diffclass_relabel.lobby import Lobby
from diffclass_relabel.preparation import Preparation
from diffclass_relabel.security import Gate

if TYPE_CHECKING:
    from diffclass_relabel.editor import SessionEditor

log = logging.getLogger("diffclass_relabel")

STATIC = Path(__file__).parent / "static"
MOST_BYTES = 4 * 2**20  # of one piece of a message; see `diffclass_relabel.parts`
_MOST_AT_ONCE = 64  # messages of one client that are worked on
_MOST_UNSENT = 1000  # messages for one client, before it is listened to again
_LONGEST_NAME = 100
_FOREIGN = 1008  # WebSocket close code: against the rules
_TEXT_ONLY = 1003


def build_app(
    opening: Callable[[Preparation], SessionEditor],
    gate: Gate,
    *,
    scene: str = "",
    on_page: Callable[[], None] | None = None,
    on_failure: Callable[[BaseException], None] | None = None,
) -> ASGIApp:
    """Return the application that serves a session.

    Parameters
    ----------
    opening : callable
        Opens the session, in a thread of its own, and announces its stages to the listener that it
        is given; the session is closed when the application ends. Until then pages are told how far
        it is.
    gate : Gate
    scene : str, default=""
        Name of the scene, for pages that wait.
    on_page : callable, optional
        Called whenever the page was asked for with the token.
    on_failure : callable, optional
        Called with the error if the session cannot be opened; pages have been told.

    Returns
    -------
    ASGI application
    """
    lobby = Lobby(opening, scene=scene, on_failure=on_failure)
    service = _Service(lobby, gate, on_page)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        lobby.start()
        try:
            yield
        finally:
            await lobby.close()

    routes = [
        Route("/", service.page),
        Route("/static/{name}", service.static),
        Route("/picture.png", service.picture),
        Route("/download/{name}", service.download),
        WebSocketRoute("/ws", service.socket),
    ]
    return _Guarded(Starlette(routes=routes, lifespan=lifespan), gate)


class _Service:
    """The addresses of the server.

    Parameters
    ----------
    lobby : Lobby
    gate : Gate
    on_page : callable or None
    """

    def __init__(self, lobby: Lobby, gate: Gate, on_page: Callable[[], None] | None):
        self._lobby = lobby
        self._gate = gate
        self._on_page = on_page

    async def page(self, request: Request) -> Response:
        """Serve the page, and the cookie that stands for the token from then on."""
        if not self._lets_in(request):
            return self._refused(request)
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

    async def picture(self, request: Request) -> Response:
        """Serve the scene as a picture: ?preset=true or ?bands=30,20,10; see `Hub.picture`."""
        if not self._lets_in(request):
            return self._refused(request)
        hub = self._lobby.hub
        if hub is None:
            return _not_yet()
        try:
            png = await hub.picture(request.query_params)
        except DiffclassError as error:
            return PlainTextResponse(str(error), 400)
        return Response(png, media_type="image/png")

    async def download(self, request: Request) -> Response:
        """Serve a file that was exported."""
        if not self._lets_in(request):
            return self._refused(request)
        if self._lobby.hub is None:
            return _not_yet()
        name = request.path_params["name"]
        file = self._lobby.hub.downloads.files.get(name)
        if file is None:
            return PlainTextResponse(f"no exported file {name[:40]}; export it first", 404)
        return FileResponse(file, filename=name, media_type="application/octet-stream")

    async def socket(self, socket: WebSocket) -> None:
        """Exchange messages with one client until it disconnects."""
        await socket.accept()
        reason = self._reason_against(socket)
        if reason:
            log.warning("refused: a WebSocket with %s", reason)
            await socket.close(_FOREIGN, reason)
            return
        client = Client(socket.query_params.get("client", "")[:_LONGEST_NAME] or None)
        self._lobby.join(client)
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
            self._lobby.leave(client)
            for task in both:
                task.cancel()

    async def _listen(self, socket: WebSocket, client: Client) -> None:
        """Pass messages to the hub in their order, many at a time."""
        at_once = asyncio.Semaphore(_MOST_AT_ONCE)
        running: set[asyncio.Task[None]] = set()

        def done(task: asyncio.Task[None]) -> None:
            running.discard(task)
            at_once.release()

        while True:
            await at_once.acquire()
            await client.outbox.shorter_than(_MOST_UNSENT)
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                _note_end(message)
                return
            text = message.get("text")
            if text is None:
                log.warning("refused: a binary message")
                await socket.close(_TEXT_ONLY, "messages are JSON text")
                return
            whole = client.joined(text)
            if whole is None:
                at_once.release()
                continue
            task = asyncio.create_task(self._lobby.hear(client, whole))
            running.add(task)
            task.add_done_callback(done)

    def _lets_in(self, request: Request | WebSocket) -> bool:
        return self._gate.has_token(request.query_params, request.cookies)

    def _refused(self, request: Request) -> Response:
        log.warning("refused: %s without the token", request.url.path)
        text = "Wrong or missing token: open the address that diffclass relabel printed."
        return PlainTextResponse(text, 403)

    def _reason_against(self, socket: WebSocket) -> str | None:
        headers = socket.headers
        if not self._gate.knows_origin(headers.get("origin"), headers.get("host")):
            return "an Origin that is not this server's"
        if not self._lets_in(socket):
            return "a wrong token"
        return None


async def _send(socket: WebSocket, client: Client) -> None:
    """Send what waits for a client, one message after the other."""
    with suppress(WebSocketDisconnect, RuntimeError):  # gone meanwhile: its listener ends too
        while True:
            message = await client.outbox.take()
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)


def _not_yet() -> Response:
    return PlainTextResponse("The scene is still being prepared; ask again.", 503)


def _note_end(message: Message) -> None:
    if message.get("code") == 1009:
        log.warning("refused: a message of more than %d bytes", MOST_BYTES)


class _Guarded:
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
            app = RedirectResponse(base.path + _query(scope))
        added = [(k.lower().encode(), v.encode()) for k, v in self._gate.headers(host).items()]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await app(scope, receive, send_with_headers)


def _query(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return f"?{query}" if query else ""
