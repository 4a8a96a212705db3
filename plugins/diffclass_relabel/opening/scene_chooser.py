"""Where pages choose a scene: recent sessions, then what lies below a folder.

A page asks for a scene by its place below the folder, or for a recent session by its number: it can
reach no other file (`diffclass_relabel.opening.scene_folder`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, ValidationError, convert

from diffclass.command_line import is_of_kind
from diffclass.exceptions import DiffclassError, ParameterError
from diffclass_hyperspectral.io.file_names import joint_name
from diffclass_relabel.access import Client, parsed_message
from diffclass_relabel.opening.preparation import default_session
from diffclass_relabel.opening.scene_folder import Listing, SceneFolder, problems_of
from diffclass_relabel.protocol import (
    Checked,
    Moved,
    OfferedScene,
    OfferedSession,
    SceneProblem,
    Start,
)
from diffclass_relabel.session_file import (
    RecentSession,
    changed_at,
    is_held,
    recent_sessions,
)

log = logging.getLogger("diffclass_relabel")

_FAREWELL = 0.3  # seconds for the new address to reach the pages


class _Look(Struct, forbid_unknown_fields=True):
    look: str


class _Open(Struct, forbid_unknown_fields=True):
    open: str
    further: list[str] = []
    features: Literal["spectral", "spatial"] | None = None
    reference: str | None = None
    mask: str | None = None


class _Recent(Struct, forbid_unknown_fields=True):
    recent: int


_Request = _Look | _Open | _Recent
_REQUESTS: dict[str, type[_Request]] = {"look": _Look, "open": _Open, "recent": _Recent}
_USAGE = (
    'a message is {"look": path}, {"recent": number}, or {"open": path}, maybe with "further" '
    '(paths), "features" (spectral or spatial), "reference" and "mask" (paths)'
)


class SceneChooser:
    """Shows what can be opened, and begins with what is chosen.

    - `begin`: called in a thread with scenes, session file and options of
      `diffclass_relabel.session.open_editor`; returns where pages have to go. Pages are told of a
      `DiffclassError`, and may choose again.
    - `problem`: why the last choice could not be opened, to be told to all pages
    """

    def __init__(
        self,
        folder: Path,
        begin: Callable[[Sequence[Path], Path, dict[str, Any]], Moved],
        on_chosen: Callable[[], None],
        problem: str | None = None,
    ):
        self._folder = SceneFolder(folder)
        self._begin = begin
        self._on_chosen = on_chosen
        self._problem = problem
        self._recent = recent_sessions()  # their numbers stay the same
        self._clients: set[Client] = set()
        self._greetings: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._moved: Moved | None = None

    def join(self, client: Client) -> None:
        """Take a client in, and show it the first folder."""
        self._clients.add(client)
        if self._moved is not None:
            client.tell(self._moved)
            return
        task = asyncio.create_task(self._show(client, "", self._problem))
        self._greetings.add(task)
        task.add_done_callback(self._greetings.discard)

    def leave(self, client: Client) -> None:
        """Forget a client."""
        self._clients.discard(client)

    async def hear(self, client: Client, text: str) -> None:
        """Show a folder, or begin with a scene."""
        path = ""
        try:
            request = _request(text)
            if isinstance(request, _Look):
                await self._show(client, request.look, None)
                return
            path = request.open.rpartition("/")[0] if isinstance(request, _Open) else ""
            await self._open(request)
        except DiffclassError as error:
            await self._show(client, path, str(error))
        except Exception as error:
            log.exception("a scene could not be chosen: %s", text[:200])
            problem = f"an error in the program ({type(error).__name__}: {error})"
            await self._show(client, path, problem)

    async def _show(self, client: Client, path: Any, problem: str | None) -> None:
        """Show a folder; the first one, and why, where it cannot be shown."""
        try:
            listing = await asyncio.to_thread(self._folder.listing, path)
        except DiffclassError as error:
            if path == "":
                listing = Listing(path, [], [], is_whole=True)
                problem = problem or str(error)
            else:
                await self._show(client, "", problem or str(error))
                return
        client.tell(await asyncio.to_thread(self._start, listing, problem))
        # the list does not wait for the headers of its scenes
        task = asyncio.create_task(self._check(client, listing))
        self._greetings.add(task)
        task.add_done_callback(self._greetings.discard)

    async def _check(self, client: Client, listing: Listing) -> None:
        """Say which scenes of a folder cannot be opened."""
        found = await asyncio.to_thread(problems_of, listing.scenes)
        problems: list[SceneProblem] = [
            {"name": name, "problem": problem} for name, problem in found.items()
        ]
        checked: Checked = {"kind": "checked", "path": listing.path, "problems": problems}
        if problems and client in self._clients and self._moved is None:
            client.tell(checked)

    async def _open(self, choice: _Open | _Recent) -> None:
        async with self._one_at_a_time:
            if self._moved is not None:
                return  # another page was faster, and takes this one along
            moved = await asyncio.to_thread(self._begun, choice)
            self._moved = moved
        for client in self._clients:
            client.tell(moved)
        await asyncio.sleep(_FAREWELL)
        self._on_chosen()

    def _begun(self, choice: _Open | _Recent) -> Moved:
        if isinstance(choice, _Open):
            scenes = [self._folder.scene(path) for path in (choice.open, *choice.further)]
            mask, reference = (
                path and str(self._folder.file(path)) for path in (choice.mask, choice.reference)
            )
            settings = {"features": choice.features, "mask": mask}
            if is_of_kind("table", scenes[0]):  # has no choice of features
                del settings["features"]
            wanted = {name: value for name, value in settings.items() if value}
            options = {"settings": wanted, "reference": reference or None}
            return self._begin(scenes, default_session(scenes), options)
        number = choice.recent
        if not 0 <= number < len(self._recent):
            raise ParameterError(
                f"recent = {number}; there are {len(self._recent)} recent sessions"
            )
        known = self._recent[number]
        return self._begin(known.scenes, known.session, {})

    def _start(self, listing: Listing, problem: str | None) -> Start:
        return {
            "kind": "start",
            "root": str(self._folder.root),
            "problem": problem,
            "recent": [_offered_session(known) for known in self._recent],
            "path": listing.path,
            "folders": listing.folders,
            "scenes": [_offered_scene(scene) for scene in listing.scenes],
            "whole": listing.is_whole,
        }


def _request(text: str) -> _Request:
    message = parsed_message(text)
    if isinstance(message, dict):
        for name, kind in _REQUESTS.items():
            if name in message:
                with suppress(ValidationError):
                    return convert(message, kind)
    raise ParameterError(_USAGE)


def _offered_session(known: RecentSession) -> OfferedSession:
    return {
        "name": joint_name(known.scenes),
        "session": str(known.session),
        "shape": list(known.shape),
        "at": changed_at(known.session),
        "held": is_held(known.session),
    }


def _offered_scene(scene: Path) -> OfferedScene:
    size = None if scene.is_dir() else _size(scene)
    return {"name": scene.name, "bytes": size, "at": changed_at(scene)}


def _size(path: Path) -> int:
    """Return the bytes of a file; 0 where it is gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
