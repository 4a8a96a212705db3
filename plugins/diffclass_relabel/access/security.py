"""Who may speak to the server, and at which address: the holder of the token, from its own page.

A page of any other site can send requests to 127.0.0.1 from the user's own browser. Three checks
prevent that: the token, which such a page does not know; the ``Origin`` of a WebSocket, which
the browser fills in; and the ``Host``, which tells a foreign name that was made to resolve to this
machine (DNS rebinding). Names and addresses that the user states, as those of a tunnel or a proxy,
count as the server's own.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from diffclass.exceptions import ParameterError

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"([a-z0-9_]([a-z0-9_.-]{0,252})|\[[0-9a-f:.]{2,45}\])(:[0-9]{1,5})?")
_PATH = re.compile(r"(/[A-Za-z0-9._~%!$&'()*+,=:@-]*)*")


@dataclass(frozen=True)
class BaseUrl:
    """An address that the page lies below."""

    scheme: str  # {"http", "https"}
    host: str  # name in small letters, with the port unless it is the scheme's own
    path: str = "/"  # prefix, with a slash at both ends

    @classmethod
    def parsed(cls, text: str) -> BaseUrl:
        """Return the base of ``https://name:port/prefix/``; port and prefix may be missing.

        >>> BaseUrl.parsed("HTTPS://Lab.example.org:443/user/anna")
        BaseUrl(scheme='https', host='lab.example.org', path='/user/anna/')
        """
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise _no_address(text) from error
        host = parts.netloc.lower()
        known = parts.scheme in _PORTS and _HOST.fullmatch(host) and _PATH.fullmatch(parts.path)
        # urlsplit leaves out line breaks
        if not known or parts.query or parts.fragment or not text.isprintable():
            raise _no_address(text)
        if port == _PORTS[parts.scheme]:
            host = host[: host.rindex(":")]
        return cls(parts.scheme, host, parts.path.rstrip("/") + "/")

    def __str__(self) -> str:
        return self.origin + self.path

    @property
    def origin(self) -> str:
        """What a browser sends as ``Origin`` from pages of this address."""
        return f"{self.scheme}://{self.host}"

    @property
    def socket_origin(self) -> str:
        """The same for WebSockets, as a policy names it."""
        return f"{'wss' if self.scheme == 'https' else 'ws'}://{self.host}"

    @property
    def hosts(self) -> frozenset[str]:
        """What a proxy may pass on as ``Host``: with the scheme's own port or without."""
        has_port = self.host.rpartition(":")[2].isdigit() and not self.host.endswith("]")
        with_port = self.host if has_port else f"{self.host}:{_PORTS[self.scheme]}"
        return frozenset({self.host, with_port})

    @property
    def prefix(self) -> str:
        """The path as servers see it: decoded, without a slash at the end."""
        return unquote(self.path).rstrip("/")


def checked_host(text: str) -> str:
    """Return a host that requests may name, ``name`` or ``name:port``, in small letters.

    >>> checked_host("LocalHost:9000")
    'localhost:9000'
    """
    if not _HOST.fullmatch(text.lower()):
        raise ParameterError(
            f"{text!r} is no host; give one name as in the browser's address bar, with its port "
            "if one stands there: localhost:9000"
        )
    return text.lower()


def _no_address(text: str) -> ParameterError:
    return ParameterError(
        f"{text!r} is no address of a page; give all that comes before the token in the browser's "
        "address bar: https://labels.example.org/relabel/"
    )


# The page loads nothing from elsewhere; its pictures may come from canvases and blobs.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' blob: data:; connect-src 'self' {sockets}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Gate:
    """Decides which requests are answered."""

    host: str  # host, port: where the server is bound
    port: int
    is_public: bool = False  # bound to more than this machine, so that it answers to any name
    base: BaseUrl | None = None  # where browsers find the page behind a proxy or a tunnel
    allowed_hosts: frozenset[str] = frozenset()  # other names that it answers to, by `checked_host`
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
        """Return whether a ``Host`` header names this server."""
        if self.is_public:
            return bool(host)
        names = {"127.0.0.1", "localhost", "[::1]", self.host}
        own = {f"{name}:{self.port}" for name in names}
        stated = frozenset() if self.base is None else self.base.hosts
        return (host or "").lower() in own | stated | self.allowed_hosts

    def knows_origin(self, origin: str | None, host: str | None) -> bool:
        """Return whether an ``Origin`` header is that of this server's own page."""
        # a proxy may put another Host in place of the browser's, but leaves the Origin
        own = {f"http://{host}".lower()} | (set() if self.base is None else {self.base.origin})
        return self.knows_host(host) and (origin or "").lower() in own

    def has_token(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> bool:
        """Return whether a request carries the token; a query's counts before a cookie's."""
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
    """Return whether a host to bind to can be reached from this machine only.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.1.2.3")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
