"""What is done before the first stroke, told to those who wait: the steps and the time left.

The server answers before the scene is read. The work runs in a thread of its own and announces its
stages (`diffclass.progress`); those named in `STEPS` are the steps that a page shows. Stages within
a step are part of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from diffclass_relabel.protocol import Preparing, PreparingStep

# stages of the library and the plugin, in their order, and what a page calls them
STEPS = {
    "libraries": "Start the program",
    "opening": "Read the scene",
    "features": "Features of the spectra",
    "graph": "Graph of similar pixels",
    "replay": "Labels so far",
    "loops": "Compiled loops",
    "map": "First map",
}
_OFTEN = 0.2  # seconds between two messages
_LATE = 0.1  # of the time that a step has taken: what is left of it once it is overdue
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

    Parameters
    ----------
    scene : str
        Name of the scene.
    on_change : callable, optional
        Called from the preparing thread when there is something new to tell, a few times a second
        at most.
    """

    def __init__(self, scene: str, on_change: Callable[[], None] | None = None):
        self.on_change = on_change
        self._scene = scene
        self._steps = {name: _Step() for name in STEPS}
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
        """Hear that a stage begins."""
        if name in self._steps and self._current is None:
            with self._lock:
                self._current = name
                self._steps[name].begun = time.monotonic()
            self._tell()

    def advances(self, name: str, done: int, parts: int) -> None:
        """Hear how many of the parts of a stage are done."""
        if name == self._current and parts:
            with self._lock:
                self._steps[name].share = done / parts
            if time.monotonic() - self._told > _OFTEN:
                self._tell()

    def ends(self, name: str, seconds: float) -> None:
        """Hear that a stage has ended, and how long it took."""
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
