"""The web server of a session: the page, pictures, downloads; everything else is in `hub`.

It answers before the scene is prepared, and so before NumPy is loaded: what computes is imported by
the thread that prepares.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from diffclass.exceptions import DiffclassError
from diffclass_relabel.door import Gate, Guarded, PageService
from diffclass_relabel.opening import OpeningPage, Preparation

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
    """The addresses of the server of a session.

    Parameters
    ----------
    opening_page : OpeningPage
    gate : Gate
    on_page : callable or None
    """

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
