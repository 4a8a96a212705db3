"""What the commands that begin a session share: diffusion, address, serving."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import Console, forecast_printer, option

if TYPE_CHECKING:
    from diffclass_relabel.access import Gate
    from diffclass_relabel.servers import Serving


def reference_option() -> Any:
    """Return the option of classes that maps are compared with."""
    return option(
        "Known classes to compare the maps with, on the page under Numbers; no map is made with "
        "them. As for --labels."
    )


def session_option() -> Any:
    """Return the option of the session file."""
    return option(
        "Session file: continued if it exists. By default the name of what is labelled with "
        ".relabel.jsonl, next to it, or here where that folder cannot be written; a longer name "
        "where a session of another scene has that one."
    )


@dataclass(frozen=True)
class Address:
    """Where browsers find the page."""

    title = "Address of the page"
    host: str = option("Address to bind to; see --public.", default="127.0.0.1")
    port: int = option(
        "Port to bind to; 0: that of the session's last server if it is free, or any other.",
        type=click.IntRange(0, 65535),
        default=0,
    )
    public: bool = option(
        "Allow a --host that other machines can reach. Whoever has the address with its token "
        "can then see the data, change the labels, take in label files of this machine and fetch "
        "the results, and the connection is not encrypted: anyone on the network in between can "
        "read along. Better: an SSH tunnel.",
    )
    base_url: str | None = option(
        "Address at which browsers find the page behind a proxy or a tunnel, as "
        "https://labels.example.org/relabel/: it is printed instead of being opened, and "
        "pages of that origin are let in.",
        metavar="URL",
    )
    allowed_hosts: tuple[str, ...] = option(
        "Another name under which the page may be opened, with its port as in the address "
        "bar: localhost:9000. May be repeated.",
        names=("--allow-host",),
        metavar="HOST",
        multiple=True,
    )
    no_browser: bool = option("Do not open the page, only print its address.")

    def gate(self) -> Gate:
        """Return who can reach the page; `Serving` fills in the session's port and token."""
        from diffclass_relabel.access import BaseUrl, Gate, checked_host, is_loopback

        if not (self.public or is_loopback(self.host)):
            raise click.UsageError(
                f"--host {self.host} lets other machines in: say so with --public (see --help)"
            )
        base = None if self.base_url is None else BaseUrl.parsed(self.base_url)
        names = frozenset(map(checked_host, self.allowed_hosts))
        return Gate(self.host, self.port, self.public, base, names)

    def serving(self, console: Console, smaller: str, *, force: bool) -> Serving:
        """Return what serves a session; ``smaller``: what to do where memory does not suffice."""
        from diffclass.system.libraries import require

        for library in ("starlette", "uvicorn", "websockets"):
            require(library, extra="relabel")
        gate = self.gate()
        from diffclass_relabel.servers import Serving

        logging.basicConfig(format="%(message)s", level=logging.WARNING)
        before = forecast_printer(console, smaller, force=force)
        with_browser = not (self.no_browser or self.base_url)
        return Serving(console, gate, with_browser=with_browser, before=before)
