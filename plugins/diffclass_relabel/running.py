"""Running the server until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from diffclass.exceptions import ParameterError
from diffclass_relabel.editor import SessionEditor
from diffclass_relabel.security import Gate
from diffclass_relabel.server import MOST_BYTES, build_app

_LONGEST_GOODBYE = 2  # seconds for open connections when the server ends


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, before any long work, so that a taken port is noticed at once.

    Parameters
    ----------
    host : str
    port : int
        0 for any that is free.

    Raises
    ------
    ParameterError
        Where the address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise ParameterError(
            f"cannot listen on {host}, port {port} ({error}); choose another --port (0: any free)"
        ) from error
    return bound


class Server(uvicorn.Server):
    """A uvicorn server that says when it is ready.

    Parameters
    ----------
    editor : SessionEditor
        Closed at the end.
    gate : Gate
    on_ready : callable, optional
        Called once connections are answered.
    """

    def __init__(
        self, editor: SessionEditor, gate: Gate, on_ready: Callable[[], None] | None = None
    ):
        self._on_ready = on_ready
        super().__init__(
            uvicorn.Config(
                build_app(editor, gate),
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
