"""The web servers of a session and of the scene chooser: their addresses, and running them.

A session's server answers before NumPy is loaded: the thread that prepares the scene imports it.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from diffclass.exceptions import DiffclassError, ParameterError
from diffclass_relabel.access import MOST_BYTES, Gate, Guarded, PageService
from diffclass_relabel.opening import OpeningPage, Preparation, SceneChooser
from diffclass_relabel.protocol import Moved

if TYPE_CHECKING:
    from diffclass_relabel.session import SessionEditor


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
        is given; the session is closed when the application ends.
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
    opening_page = OpeningPage(opening, scene=scene, on_failure=on_failure)
    service = _Service(opening_page, gate, on_page)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        opening_page.start()
        try:
            yield
        finally:
            await opening_page.close()

    more = [
        Route("/picture.png", service.picture),
        Route("/download/{name}", service.download),
    ]
    return Guarded(Starlette(routes=[*service.routes, *more], lifespan=lifespan), gate)


class _Service(PageService):
    """The addresses of the server of a session."""

    def __init__(self, opening_page: OpeningPage, gate: Gate, on_page: Callable[[], None] | None):
        super().__init__(opening_page, gate, on_page)
        self._opening_page = opening_page

    async def picture(self, request: Request) -> Response:
        """Serve the scene as PNG: ?preset=true or ?bands=30,20,10; see `SessionHub.picture`."""
        if not self.lets_in(request):
            return self.refused(request)
        hub = self._opening_page.hub
        if hub is None:
            return _not_yet()
        try:
            png = await hub.picture(request.query_params)
        except DiffclassError as error:
            return PlainTextResponse(str(error), 400)
        return Response(png, media_type="image/png")

    async def download(self, request: Request) -> Response:
        """Serve a file that was exported."""
        if not self.lets_in(request):
            return self.refused(request)
        if self._opening_page.hub is None:
            return _not_yet()
        name = request.path_params["name"]
        file = self._opening_page.hub.downloads.files.get(name)
        if file is None:
            return PlainTextResponse(f"no exported file {name[:40]}; export it first", 404)
        return FileResponse(file, filename=name, media_type="application/octet-stream")


def _not_yet() -> Response:
    return PlainTextResponse("The scene is still being prepared; ask again.", 503)


_LONGEST_GOODBYE = 2  # seconds for open connections when the server ends
_WAITING = 100  # connections that wait to be accepted


def bound_socket(host: str, port: int, *, rather: int = 0) -> socket.socket:
    """Return a listening socket; of port 0, ``rather`` if that is free, or any other."""
    if port == 0 and rather:
        with suppress(ParameterError):
            return bound_socket(host, rather)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(_WAITING)
    except OSError as error:
        bound.close()
        raise ParameterError(
            f"cannot listen on {host}, port {port} ({error}); choose another --port (0: any free)"
        ) from error
    return bound


class Server(uvicorn.Server):
    """A uvicorn server that says when it answers."""

    def __init__(self, app: ASGIApp, *, on_ready: Callable[[], None] | None = None):
        self._on_ready = on_ready
        super().__init__(
            uvicorn.Config(
                app,
                ws="websockets-sansio",
                ws_max_size=MOST_BYTES,
                ws_per_message_deflate=False,  # costs more time than it saves on one machine
                log_config=None,
                access_log=False,  # addresses hold the token
                lifespan="on",
                server_header=False,
                timeout_graceful_shutdown=_LONGEST_GOODBYE,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then say so."""
        await super().startup(sockets)
        if self._on_ready is not None and self.started:
            self._on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at the first signal, without the traceback that uvicorn shows at a second one."""
        if not self.should_exit:
            super().handle_exit(sig, frame)


class SessionServer(Server):
    """A server that ends if the session cannot be opened; see `build_app`.

    - `on_ready`: called once connections are answered, which is before the session is open
    """

    def __init__(
        self,
        opening: Callable[[Preparation], SessionEditor],
        gate: Gate,
        *,
        scene: str = "",
        on_ready: Callable[[], None] | None = None,
        on_page: Callable[[], None] | None = None,
    ):
        self.failure: BaseException | None = None
        app = build_app(opening, gate, scene=scene, on_page=on_page, on_failure=self._fail)
        super().__init__(app, on_ready=on_ready)

    def _fail(self, failure: BaseException) -> None:
        self.failure = failure
        self.should_exit = True


class ChooserServer(Server):
    """A server of the scene chooser, which ends when a scene was chosen."""

    def __init__(
        self,
        folder: Path,
        begin: Callable[[Sequence[Path], Path, dict[str, Any]], Moved],
        gate: Gate,
        *,
        problem: str | None = None,
        on_ready: Callable[[], None] | None = None,
        on_page: Callable[[], None] | None = None,
    ):
        chooser = SceneChooser(folder, begin, self._end, problem)
        service = PageService(chooser, gate, on_page)
        super().__init__(Guarded(Starlette(routes=service.routes), gate), on_ready=on_ready)

    def _end(self) -> None:
        self.should_exit = True
