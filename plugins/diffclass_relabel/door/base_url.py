"""Where browsers find the page when something stands between them and the server.

A tunnel has another port at its other end; a proxy has another name, often TLS, and puts the page
below a prefix that it strips or keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from diffclass.exceptions import ParameterError

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"([a-z0-9_]([a-z0-9_.-]{0,252})|\[[0-9a-f:.]{2,45}\])(:[0-9]{1,5})?")
_PATH = re.compile(r"(/[A-Za-z0-9._~%!$&'()*+,=:@-]*)*")


@dataclass(frozen=True)
class BaseUrl:
    """An address that the page lies below.

    Attributes
    ----------
    scheme : {"http", "https"}
    host : str
        Name in small letters, with the port unless it is the scheme's own.
    path : str
        Prefix, with a slash at both ends.
    """

    scheme: str
    host: str
    path: str = "/"

    @classmethod
    def parsed(cls, text: str) -> BaseUrl:
        """Return the base of an address.

        Parameters
        ----------
        text : str
            ``https://name:port/prefix/``; port and prefix may be missing.

        Raises
        ------
        ParameterError
            Where it is no such address, or has a user, a query or a fragment.

        Examples
        --------
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
        """What a proxy may pass on as ``Host``: the scheme's own port is named or not."""
        has_port = self.host.rpartition(":")[2].isdigit() and not self.host.endswith("]")
        return frozenset({self.host} if has_port else {self.host, f"{self.host}:{self._port}"})

    @property
    def prefix(self) -> str:
        """The path as servers see it: decoded, without a slash at the end."""
        return unquote(self.path).rstrip("/")

    @property
    def _port(self) -> int:
        return _PORTS[self.scheme]


def checked_host(text: str) -> str:
    """Return a host that requests may name, in small letters.

    Parameters
    ----------
    text : str
        ``name`` or ``name:port``, as in a browser's address bar.

    Raises
    ------
    ParameterError
        Where it is something else, a pattern for instance.

    Examples
    --------
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
