"""One command's servers: that of a session, and the scene chooser's before it if there is one.

The scene chooser ends when a scene was chosen, and its tabs go on to the session's own address. If
the session cannot be opened, the scene chooser takes that address over and says why.
"""

from __future__ import annotations

import html
import os
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import Console
from diffclass.exceptions import DiffclassError
from diffclass.system.costs import Forecast
from diffclass.system.memory import return_large_arrays
from diffclass.system.progress import Listeners, listening
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass_hyperspectral.io.file_names import joint_name
from diffclass_relabel.access import Gate
from diffclass_relabel.opening import Preparation, prepared_editor
from diffclass_relabel.protocol import Moved
from diffclass_relabel.servers.web_servers import ChooserServer, Server, SessionServer, bound_socket
from diffclass_relabel.session_file import (
    Address,
    SessionLog,
    address_file,
    keep_address,
    kept_address,
    make_private,
    remember,
    state_folder,
)

if TYPE_CHECKING:
    from diffclass_relabel.session import SessionEditor

_LONGEST = 60.0  # seconds until the browser has to have read the file

_TEMPLATE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>diffclass relabel</title>
<p>This leads to <a href="{url}">the page</a>.</p>
"""


class BrowserOpening:
    """Opens the page in the user's browser, without its token in the list of processes.

    The browser is given a file in a folder of the user's, which only they can read; it leads to the
    page and is removed once that was asked for.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._arrived = threading.Event()
        self._temporary: TemporaryFolder | None = None

    def open(self, url: str) -> None:
        """Open the page of an address; `OSError` where the file cannot be written."""
        text = _TEMPLATE.format(url=html.escape(url))
        self._temporary = TemporaryFolder("relabel-opening", parent=self._folder)
        file = self._temporary.path / "page.html"
        make_private(file, text)
        # some browsers block until they are closed
        threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()

    def arrived(self) -> None:
        """Take note that the page was asked for."""
        self._arrived.set()

    def close(self) -> None:
        """Remove the file with its folder, if they are still there."""
        self._arrived.set()
        if self._temporary is not None:
            self._temporary.remove()

    def _wait(self) -> None:
        self._arrived.wait(_LONGEST)
        self.close()


class Opening:
    """A session to be opened, once, while its server already answers; its file is locked at once.

    - `options`: of `diffclass_relabel.session.open_editor`
    - `before`: called with the forecast of memory and time before anything is computed
    """

    def __init__(
        self,
        console: Console,
        scenes: Sequence[Path],
        session: Path,
        options: dict[str, Any],
        *,
        before: Callable[[Forecast], object],
    ):
        self.scenes = scenes
        self.log = SessionLog(session)
        self._console = console
        self._options = options
        self._before = before
        self._say_what_was_found()

    def __call__(self, preparation: Preparation) -> SessionEditor:
        """Open it and return its editor."""
        pages_told = preparation.on_editor

        def begun(editor: SessionEditor) -> None:
            remember(self.scenes, self.log.path, editor.workspace.extent)
            if pages_told is not None:
                pages_told(editor)

        preparation.on_editor = begun
        with self._console.timing(), listening(Listeners((self._console, preparation))):
            return prepared_editor(
                self.scenes, self.log, preparation, self._options, before=self._before
            )

    def close(self) -> None:
        """Close the file; nothing is left of a session that was not begun."""
        self.log.close()
        if not self.log.is_begun:
            address_file(self.log.path).unlink(missing_ok=True)

    def _say_what_was_found(self) -> None:
        log, labels = self.log, self._options.get("labels")
        self._console.say(f"session {log.path}: {log.n_operations} operations so far")
        if log.torn is not None:
            self._console.say(
                f"its last line was torn, as by a killed process: put aside in {log.torn}, the "
                "operations before it are all there"
            )
        if labels is not None and log.holds_labels(labels):
            self._console.say(f"{labels} was added to the session before; it is not read again")


@dataclass(frozen=True)
class _Endpoint:
    """A bound socket with its port and token."""

    listening: socket.socket
    address: Address


class Serving:
    """Serves a session, or lets pages choose one, until Ctrl-C."""

    def __init__(
        self,
        console: Console,
        gate: Gate,
        *,
        with_browser: bool,
        before: Callable[[Forecast], object],
    ):
        self._console = console
        self._gate = gate
        self._with_browser = with_browser
        self._before = before

    def session(self, scenes: Sequence[Path], session: Path, options: dict[str, Any]) -> None:
        """Serve a session; `DiffclassError` where it or the address cannot be opened."""
        opening = Opening(self._console, scenes, session, options, before=self._before)
        try:
            endpoint = self._endpoint_of(opening)
            with endpoint.listening:
                self._serve_session(opening, endpoint, session.parent)
        finally:
            opening.close()

    def choice(self, folder: Path, settings: dict[str, Any]) -> None:
        """Serve the scene chooser, for scenes in a folder and below, then the chosen session."""
        endpoint, problem = self._bound(Address()), None
        while (chosen := self._chosen(folder, settings, endpoint, problem)) is not None:
            opening, own = chosen
            # without a port asked for, a session goes back to its own, which its tabs know
            if own.listening is not endpoint.listening:
                endpoint.listening.close()
            endpoint = own
            try:
                self._serve_session(opening, endpoint, None)
                break
            except DiffclassError as error:
                problem = str(error)
                self._console.say(problem)
            finally:
                opening.close()
        endpoint.listening.close()

    def _chosen(
        self, folder: Path, settings: dict[str, Any], endpoint: _Endpoint, problem: str | None
    ) -> tuple[Opening, _Endpoint] | None:
        """Serve the scene chooser until a session is chosen; None where the user ends it."""
        chosen: list[tuple[Opening, _Endpoint]] = []

        def begin(scenes: Sequence[Path], session: Path, wanted: dict[str, Any]) -> Moved:
            options = wanted | {"settings": settings | wanted.get("settings", {})}
            opening = Opening(self._console, scenes, session, options, before=self._before)
            try:
                own = self._endpoint_of(opening, endpoint)
            except BaseException:
                opening.close()
                raise
            chosen.append((opening, own))
            port = None if own.listening is endpoint.listening else own.address.port
            return {"kind": "moved", "port": port, "token": own.address.token}

        # a browser in a sandbox sees neither hidden nor temporary folders
        place = folder if os.access(folder, os.W_OK) else state_folder()
        with self._announced(endpoint, None, place if problem is None else None) as (gate, hooks):
            server = ChooserServer(folder, begin, gate, problem=problem, **hooks)
            if _was_interrupted(server, endpoint):
                for opening, _ in chosen:
                    opening.close()
                return None
        return chosen[0]

    def _serve_session(self, opening: Opening, endpoint: _Endpoint, place: Path | None) -> None:
        return_large_arrays()
        log = opening.log
        with self._announced(endpoint, log.path, place) as (gate, hooks):
            server = SessionServer(opening, gate, scene=joint_name(opening.scenes), **hooks)
            if _was_interrupted(server, endpoint):
                self._console.say(f"ended; {log.n_operations} operations are in {log.path}")
        if server.failure is not None:
            raise server.failure

    def _endpoint_of(self, opening: Opening, current: _Endpoint | None = None) -> _Endpoint:
        """Bind where the session's last server was, if possible, and keep the address."""
        session = opening.log.path
        kept = kept_address(session)
        if current is not None and self._gate.port:
            endpoint = _Endpoint(current.listening, Address(current.address.port, kept.token))
        else:
            endpoint = self._bound(kept)
        keep_address(session, endpoint.address)
        return endpoint

    def _bound(self, rather: Address) -> _Endpoint:
        listening = bound_socket(self._gate.host, self._gate.port, rather=rather.port)
        return _Endpoint(listening, Address(listening.getsockname()[1], rather.token))

    @contextmanager
    def _announced(
        self, endpoint: _Endpoint, session: Path | None, place: Path | None
    ) -> Iterator[tuple[Gate, dict[str, Any]]]:
        """Yield a server's gate and callbacks; ``place``: folder of the file for the browser."""
        address = endpoint.address
        gate = replace(self._gate, port=address.port, token=address.token)
        page = BrowserOpening(place or Path())

        def ready() -> None:
            if self._gate.is_public:
                click.echo(
                    "warning: other machines can reach this server, and what passes is not "
                    "encrypted",
                    err=True,
                )
            click.echo(gate.url, err=True)
            if self._console.as_json:
                path = None if session is None else str(session)
                self._console.give({"url": gate.url, "session": path}, "")
            if self._with_browser and place is not None:
                try:
                    page.open(gate.url)
                except OSError as error:
                    why = f"no browser was opened ({error.strerror}); open the address yourself"
                    self._console.say(why)

        try:
            yield gate, {"on_ready": ready, "on_page": page.arrived}
        finally:
            page.close()


def _was_interrupted(server: Server, endpoint: _Endpoint) -> bool:
    """Run a server and return whether Ctrl-C ended it; its socket stays bound."""
    try:
        server.run(sockets=[endpoint.listening.dup()])
    except KeyboardInterrupt:
        return True  # uvicorn raises it again when all is closed
    return False
