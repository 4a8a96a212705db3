"""Running the server until it has to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from diffclass.exceptions import ParameterError
from diffclass_relabel.door import MOST_BYTES, Gate, Guarded, PageService
from diffclass_relabel.hosts.scene_chooser import SceneChooser
from diffclass_relabel.hosts.session_app import build_app
from diffclass_relabel.opening import Preparation
from diffclass_relabel.protocol import Moved

if TYPE_CHECKING:
    from diffclass_relabel.session import SessionEditor

_LONGEST_GOODBYE = 2  # seconds for open connections when the server ends
_WAITING = 100  # connections that nobody has answered yet


def bound_socket(host: str, port: int, *, rather: int = 0) -> socket.socket:
    """Return a listening socket, before any long work, so that a taken port is noticed at once.

    Parameters
    ----------
    host : str
    port : int
        0 for any that is free.
    rather : int, default=0
        Where any will do: the one to take if it is free.

    Raises
    ------
    ParameterError
        Where the address cannot be bound.
    """
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
    """A uvicorn server that says when it answers.

    Parameters
    ----------
    app : ASGI application
    on_ready : callable, optional
        Called once connections are answered.
    """

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
        """End at the first signal; what is done then takes a moment, and no second one hastens it.

        uvicorn would break off at the second, with a traceback.
        """
        if not self.should_exit:
            super().handle_exit(sig, frame)


class SessionServer(Server):
    """A server that ends if the session cannot be opened.

    Parameters
    ----------
    opening : callable
        Opens the session; see `diffclass_relabel.hosts.session_app.build_app`.
    gate : Gate
    scene : str, default=""
        Name of the scene, for pages that wait.
    on_ready : callable, optional
        Called once connections are answered, which is before the session is open.
    on_page : callable, optional
        Called whenever the page was asked for with the token.

    Attributes
    ----------
    failure : BaseException or None
        Why the session could not be opened.
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
    """A server of the scene chooser, which ends when a scene was chosen.

    Parameters
    ----------
    folder : Path
        Where scenes may be chosen.
    begin : callable
        See `diffclass_relabel.hosts.scene_chooser.SceneChooser`.
    gate : Gate
    problem : str, optional
        Why the last choice could not be opened.
    on_ready, on_page : callable, optional
        As for a `SessionServer`.
    """

    def __init__(
        self,
        folder: Path,
        begin: Callable[[Path, Path], Moved],
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
