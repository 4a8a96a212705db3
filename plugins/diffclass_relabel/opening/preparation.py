"""Opening a session so that its first stroke is as fast as the tenth, and what pages hear of it.

The server answers before the scene is read. A thread of its own imports what computes and opens the
session; pages are shown those of its stages (`diffclass.system.progress`) that `STEPS` names.
Labels can be painted before there is a graph to make maps of.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffclass.system.progress import stage
from diffclass_hyperspectral.io.file_names import digits_of, joint_name
from diffclass_relabel.protocol import Preparing, PreparingStep
from diffclass_relabel.session_file import SUFFIX

if TYPE_CHECKING:
    from diffclass.system.costs import Forecast
    from diffclass_relabel.session import SessionEditor
    from diffclass_relabel.session_file import SessionLog
    from diffclass_relabel.workspace import SessionSettings

# stages of the library and the plugin, in their order, and what a page calls them; stages within
# these count as part of them
STEPS = {
    "libraries": "Start the program",
    "opening": "Read the file",
    "features": "Features",
    "replay": "Labels so far",
    "graph": "Graph of neighbours",
    "loops": "Compiled loops",
    "map": "First map",
}
_LEAST_BETWEEN = 0.2  # seconds between two messages
_LATE = 0.1  # of the time that a step has taken: what is left of it once it is overdue
_LIBRARIES = 2.5  # seconds; known before anything is loaded
_PACES = 0.5, 4.0  # bounds of how much longer than expected the next steps may be said to take


@dataclass
class _Step:
    expected: float | None = None  # seconds
    begun: float | None = None  # time of the clock
    seconds: float | None = None  # once it has ended
    share: float | None = None  # done, 0 to 1

    def left(self, now: float, pace: float) -> float | None:
        """Return the seconds that are left, if anything is known about them."""
        if self.seconds is not None:
            return 0.0
        so_far = 0.0 if self.begun is None else now - self.begun
        if self.share:
            return so_far / self.share - so_far
        return None if self.expected is None else max(pace * self.expected - so_far, _LATE * so_far)


class Preparation:
    """A listener of stages that tells how far the preparation is.

    Both are called in the preparing thread: `on_change` when there is something new to tell,
    `on_editor` with a session that can be painted in, but has no graph.
    """

    def __init__(self, scene: str, on_change: Callable[[], None] | None = None):
        self.on_change = on_change
        self.on_editor: Callable[[SessionEditor], None] | None = None
        self._scene = scene
        self._steps = {name: _Step() for name in STEPS} | {"libraries": _Step(_LIBRARIES)}
        self._lock = threading.Lock()
        self._told = 0.0
        self._current: str | None = None

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Take note of about how long each step will take on an idle machine."""
        with self._lock:
            for name, expected in seconds.items():
                self._steps[name].expected = expected
        self._tell()

    def begins(self, name: str) -> None:
        """Note that a stage begins."""
        if name in self._steps and self._current is None:
            with self._lock:
                self._current = name
                self._steps[name].begun = time.monotonic()
            self._tell()

    def advances(self, name: str, done: int, parts: int) -> None:
        """Note how many of the parts of a stage are done."""
        if name == self._current and parts:
            with self._lock:
                self._steps[name].share = done / parts
            if time.monotonic() - self._told > _LEAST_BETWEEN:
                self._tell()

    def ends(self, name: str, seconds: float) -> None:
        """Note that a stage has ended, and how long it took."""
        if name == self._current:
            with self._lock:
                self._current = None
                self._steps[name].seconds = seconds
            self._tell()

    def message(self) -> Preparing:
        """Return the message to the pages."""
        with self._lock:
            now = time.monotonic()
            left = [step.left(now, self._pace()) for step in self._steps.values()]
            known = [seconds for seconds in left if seconds is not None]
            steps = [
                _described(name, step, now, seconds)
                for (name, step), seconds in zip(self._steps.items(), left, strict=True)
            ]
        total = round(sum(known), 1) if len(known) == len(left) else None
        return {"kind": "preparing", "scene": self._scene, "steps": steps, "left": total}

    def _pace(self) -> float:
        """Return how much longer the steps so far took than was expected."""
        done = [step for step in self._steps.values() if step.seconds and step.expected]
        expected = sum(step.expected or 0.0 for step in done)
        if not expected:
            return 1.0
        pace = sum(step.seconds or 0.0 for step in done) / expected
        return min(max(pace, _PACES[0]), _PACES[1])

    def _tell(self) -> None:
        self._told = time.monotonic()
        if self.on_change is not None:
            self.on_change()


def _described(name: str, step: _Step, now: float, left: float | None) -> PreparingStep:
    if step.seconds is not None:
        return {"name": STEPS[name], "is": "done", "share": 1.0, "seconds": round(step.seconds, 2)}
    if step.begun is None:
        return {"name": STEPS[name], "is": "waiting", "share": 0.0, "seconds": None}
    so_far = now - step.begun
    share = None if left is None or so_far + left == 0 else so_far / (so_far + left)
    return {"name": STEPS[name], "is": "running", "share": share, "seconds": round(so_far, 2)}


def default_session(scenes: Sequence[Path]) -> Path:
    """Return the session file of scenes: next to the first, or here where its folder is read only.

    It is named after the first scene. Where a session of others has that name, or these scenes have
    one already, the name says more: that of the file with its ending, or digits of all names.

    >>> default_session([Path("a.tif"), Path("b.tif")]).name
    'a_and_1_more.relabel.jsonl'
    """
    first = scenes[0]
    is_beside = os.access(first.parent, os.W_OK)
    folder = first.parent if is_beside else Path.cwd()
    stem = first.stem if len(scenes) == 1 else joint_name(scenes).replace(" ", "_")
    # a folder may be moved with scene and session, but not where the session lies elsewhere
    names = [scene.name if is_beside else str(scene.absolute()) for scene in scenes]
    more = names[0] if len(names) == 1 and is_beside else f"{stem}_{digits_of(chr(0).join(names))}"
    plain, own = folder / (stem + SUFFIX), folder / (more + SUFFIX)
    known = _scenes_of(plain)
    is_of_others = known and [Path(one).name if is_beside else one for one in known] != names
    return own if own.exists() or is_of_others else plain


def _scenes_of(session: Path) -> list[str]:
    """Return the scenes that a session file names; none where it cannot be read."""
    try:
        with session.open(encoding="utf-8") as lines:
            return [str(scene) for scene in json.loads(lines.readline())["scenes"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def prepared_editor(
    scenes: Sequence[Path],
    log: SessionLog,
    preparation: Preparation,
    options: Mapping[str, Any],
    *,
    before: Callable[[Forecast], object] | None = None,
) -> SessionEditor:
    """Open a session, build its graph and compile what its strokes need.

    - `options`: of `diffclass_relabel.session.open_editor`
    - `before`: called with the forecast of memory and time before anything is computed
    """
    with stage("libraries"):
        import diffclass_relabel.session_hub  # noqa: F401  all that a session will need
        from diffclass_relabel.session import open_editor
        from diffclass_relabel.workspace import forecast_session, warm_up

    def expect(found: Any, settings: SessionSettings) -> None:
        forecast = forecast_session(found, settings, log.n_operations)
        preparation.expect(forecast.seconds or {})
        if before is not None:
            before(forecast)

    paints_at_once = preparation.on_editor is not None
    editor = open_editor(scenes, log, on_opened=expect, build=not paints_at_once, **options)
    if preparation.on_editor is not None:
        # strokes come in and are logged while this thread builds the graph; their maps wait for it
        preparation.on_editor(editor)
        editor.workspace.build()
    warm_up(editor.workspace)
    with stage("map"):
        editor.session.prepare()
    return editor
