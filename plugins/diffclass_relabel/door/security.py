"""Who may speak to the server: the holder of the token, from the server's own page.

A page of any other site can send requests to 127.0.0.1 from the user's own browser. Three checks
prevent that: the token, which such a page does not know; the ``Origin`` of a WebSocket, which
the browser fills in; and the ``Host``, which tells a foreign name that was made to resolve to this
machine (DNS rebinding). Names and addresses that the user states count as the server's own.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diffclass_relabel.door.base_url import BaseUrl

# The page loads nothing from elsewhere; its pictures may come from canvases and blobs.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' blob: data:; connect-src 'self' {sockets}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Gate:
    """Decides which requests are answered.

    Attributes
    ----------
    host, port : str, int
        Where the server is bound.
    is_public : bool
        Whether it is bound to more than this machine; then it answers to any name.
    base : BaseUrl or None
        Where browsers find the page, if that is elsewhere: behind a proxy or a tunnel.
    allowed_hosts : frozenset of str
        Other names that it answers to; see `diffclass_relabel.door.base_url.checked_host`.
    token : str
        See `diffclass_relabel.files.sidecar`.
    """

    host: str
    port: int
    is_public: bool = False
    base: BaseUrl | None = None
    allowed_hosts: frozenset[str] = frozenset()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def url(self) -> str:
        """The page's address, token included."""
        if self.base is not None:
            return f"{self.base}?token={self.token}"
        # 0.0.0.0 and :: stand for all addresses and are none to go to
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie: servers on other ports of this machine share its cookies."""
        return f"diffclass_relabel_{self.port}"

    @property
    def cookie_scope(self) -> dict[str, Any]:
        """Where the cookie is sent: other pages of a proxy are none of its business."""
        if self.base is None:
            return {"path": "/"}
        return {"path": self.base.path, "secure": self.base.scheme == "https"}

    def knows_host(self, host: str | None) -> bool:
        """Tell whether a ``Host`` header names this server."""
        if self.is_public:
            return bool(host)
        names = {"127.0.0.1", "localhost", "[::1]", self.host}
        own = {f"{name}:{self.port}" for name in names}
        stated = frozenset() if self.base is None else self.base.hosts
        return (host or "").lower() in own | stated | self.allowed_hosts

    def knows_origin(self, origin: str | None, host: str | None) -> bool:
        """Tell whether an ``Origin`` header is that of this server's own page.

        A proxy may put another ``Host`` in place of the browser's, but leaves the ``Origin``.
        """
        own = {f"http://{host}".lower()} | (set() if self.base is None else {self.base.origin})
        return self.knows_host(host) and (origin or "").lower() in own

    def has_token(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> bool:
        """Tell whether a request carries the token; the query counts where it has one."""
        given = query.get("token", cookies.get(self.cookie, ""))
        return hmac.compare_digest(given.encode(), self.token.encode())

    def headers(self, host: str) -> dict[str, str]:
        """Return the headers of every answer."""
        # 'self' does not stand for WebSockets in all browsers
        sockets = f"ws://{host}"
        if self.base is not None:
            sockets += f" {self.base.socket_origin}"
        return {
            "Content-Security-Policy": _POLICY.format(sockets=sockets),
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",  # the address holds the token
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }


def is_loopback(host: str) -> bool:
    """Tell whether a host to bind to can be reached from this machine only.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.1.2.3")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
