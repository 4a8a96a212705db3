"""How much memory a run will need, said before it starts, and how much there is.

Counted from what each stage holds at once, with n pixels, p features, k neighbours, m edges and
c classes (sizes in bytes; features are single, numbers of points double words):

    points of any kind    4 n p         edges of a graph      8 m, m about n (1 + 1.6 k)
    found neighbours      8 n k         classes' values       4 n c, 8 n c in double precision
    the search's lists    9 n (k + 6), pools drawn from them 6 n (k + 6), at most 6 n 24

A scene that is mapped into memory or read in blocks counts with a block, whatever its size. How
many edges points share is known only afterwards: m is what synthetic scenes have. The first run
of an installation compiles, which takes some 200 MB more while nothing is large yet.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffclass.classifier import DiffusionClassifier
from diffclass.command_line.console import peak_memory_bytes
from diffclass.embedding import DiffusionMap
from diffclass_hyperspectral.features.scene_features import BLOCK_VALUES, SceneFeatures
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.scene_models import BLOCK_PIXELS, SceneModel

_TO_LOAD = 105 * 2**20  # libraries and compiled loops that a run still loads
_BLOCK_BYTES = 56  # of working space for a value of a block of the scene
_GRID_BYTES = 250  # for a pixel: nine affinities, and what they are made from
_EDGES_PER_NEIGHBOR = 1.6
_MORE_NEIGHBORS, _POOLED = 6, 24  # of the search's lists
_TREES = 24
_LANCZOS_VECTORS = 20  # at least
_SUGGESTION_PAIRS = 50  # as in diffclass.acquisition, and twice as many vectors


@dataclass(frozen=True)
class MemoryForecast:
    """What a run will need.

    Attributes
    ----------
    stages : mapping of str to int
        Bytes that the process will hold at most within each stage.
    held : int
        Bytes that it holds already.
    available : int or None
        Bytes that it can have beside them; None where the system does not say.
    """

    stages: Mapping[str, int]
    held: int = 0
    available: int | None = None

    @property
    def peak(self) -> int:
        """The most that the process will hold."""
        return max(self.stages.values())

    @property
    def exceeds(self) -> bool:
        """Whether that is more than there is."""
        return self.available is not None and self.peak - self.held > self.available

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast in values that JSON can hold."""
        return {
            "forecast_bytes": dict(self.stages),
            "peak_forecast_bytes": self.peak,
            "available_bytes": self.available,
        }

    def line(self) -> str:
        """Return the forecast as a line to read."""
        steps = ", ".join(f"{name} {_shown(size)}" for name, size in self.stages.items())
        room = "" if self.available is None else f"; {_shown(self.available)} are free"
        return f"memory: about {_shown(self.peak)} will be needed ({steps}){room}"

    def warn(self, advice: str) -> None:
        """Warn where there is less memory than the run needs.

        Parameters
        ----------
        advice : str
            What to change.

        Warns
        -----
        UserWarning
        """
        if self.exceeds:
            at = max(self.stages, key=lambda name: self.stages[name])
            warnings.warn(
                f"this run needs about {_shown(self.peak)} of memory, most of it for {at}, but "
                f"only {_shown(self.available or 0)} are free beside {_shown(self.held)} in use: "
                f"it may be ended by the system; {advice}",
                UserWarning,
                stacklevel=2,
            )


def forecast_classification(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    *,
    suggesting: bool = False,
) -> MemoryForecast:
    """Say what `classify_scene` will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    classifier : DiffusionClassifier
        Neither need be fitted.
    n_classes : int
        Classes that are labelled.
    suggesting : bool, default=False
        Whether `suggest_pixels` follows.

    Returns
    -------
    MemoryForecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    base = _base()
    n, p = _size(scene, features)
    stages = {"features": base + _of_features(scene, features)}
    kernel = classifier.kernel
    kept = 24 * n * n_classes if classifier.rounds or _uses_scores(kernel) else 0
    twice = 2 if _uses_scores(kernel) else 1  # a first operator, which the posteriors came from
    graph = _of_graph(n, p, classifier.n_neighbors, _directions(kernel), shared=True)
    k = classifier.n_neighbors
    held = _points_held(n, p, k) + 20 * _edges(n, k)
    first = (twice - 1) * 12 * _edges(n, k)
    stages |= {name: base + kept + first + size for name, size in graph.items()}
    stages["diffusion"] = base + kept + held + (36 + 24 * bool(classifier.rounds)) * n * n_classes
    if suggesting:
        pairs = 8 * n * 3 * _SUGGESTION_PAIRS
        stages["suggestions"] = base + kept + held + 44 * n * n_classes + pairs
    stages["writing"] = base + kept + held + 24 * n * n_classes
    return _forecast(stages)


def forecast_prediction(scene: Scene, model: SceneModel) -> MemoryForecast:
    """Say what `apply_model` will need, beside the model, which is loaded.

    Parameters
    ----------
    scene : Scene
    model : SceneModel

    Returns
    -------
    MemoryForecast
    """
    base = _base()
    n, p = _size(scene, model.features)
    c = len(model.classifier.classes_)
    edges = min(n, BLOCK_PIXELS) * model.classifier.n_neighbors
    stages = {"features": base + _of_features(scene, model.features)}
    stages["prediction"] = base + 4 * n * p + 4 * n * c + 60 * edges
    stages["writing"] = base + 24 * n * c
    return _forecast(stages)


def forecast_embedding(
    scene: Scene, features: SceneFeatures, model: DiffusionMap
) -> MemoryForecast:
    """Say what embedding a scene's pixels will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    model : DiffusionMap
        Neither need be fitted. A bandwidth that is chosen from the data ("semigroup", "slope")
        may need more neighbours than it asks for.

    Returns
    -------
    MemoryForecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    base = _base()
    n, p = _size(scene, features)
    k = model.n_neighbors
    stages = {"features": base + _of_features(scene, features)}
    graph = _of_graph(n, p, k, _directions(model.kernel), shared=False)
    stages |= {name: base + size for name, size in graph.items()}
    basis = max(2 * (model.n_components + 1) + 1, _LANCZOS_VECTORS)
    vectors = basis + 5 * (model.n_components + 1)
    held = _points_held(n, p, k) + 8 * _edges(n, k)
    stages["eigenpairs"] = base + held + 8 * n * vectors
    stages["writing"] = base + held + 8 * n * 5 * (model.n_components + 1)
    return _forecast(stages)


def _forecast(stages: Mapping[str, float]) -> MemoryForecast:
    whole = {name: int(size) for name, size in stages.items()}
    return MemoryForecast(whole, peak_memory_bytes(), available_memory_bytes())


def _base() -> float:
    return peak_memory_bytes() + _TO_LOAD


def _size(scene: Scene, features: SceneFeatures) -> tuple[int, int]:
    rows, columns, _ = scene.shape
    return rows * columns, features.n_features(int(scene.band_mask.sum()))


def _of_features(scene: Scene, features: SceneFeatures) -> float:
    rows, columns, bands = scene.shape
    n, p = _size(scene, features)
    block = _BLOCK_BYTES * min(rows * columns * bands, max(2 * columns * bands, BLOCK_VALUES))
    result = 4 * n * p
    if features.spatial:  # the components, three terms of the series, the grid and its making
        result += 4 * 4 * n * (p // len(features.scales)) + _GRID_BYTES * n
    return max(block, result) + 8 * n


def _of_graph(n: int, p: int, k: int, directions: int, *, shared: bool) -> dict[str, float]:
    m, held = _edges(n, k), _points_held(n, p, k)
    searching = held + 2 * 4 * n * p + 4 * n * _TREES + _pools(n, k)
    merging = held + max(40 * n * k, 20 * n * k + 8 * m)
    working = 55 if shared else 44
    return {
        "neighbors": max(searching, merging) + 40 * n,
        "affinities": held + working * m + 4 * n * p * directions,
    }


def _edges(n: int, k: int) -> float:
    return n * (1 + _EDGES_PER_NEIGHBOR * k)


def _pools(n: int, k: int) -> float:
    return 6 * n * min(k + _MORE_NEIGHBORS, _POOLED)


def _points_held(n: int, p: int, k: int) -> float:
    """Features, the search's copy of them and its lists, and what is known of each pixel."""
    index = 4 * n * (p + -p % 8) + 9 * n * (k + _MORE_NEIGHBORS) + _pools(n, k) + 24 * n
    return 4 * n * p + index + 40 * n


def _uses_scores(kernel: Any) -> bool:
    return kernel is not None and kernel.uses_scores


def _directions(kernel: Any) -> int:
    """Vectors of features that a kernel keeps for each point."""
    while kernel is not None:
        rank = getattr(kernel, "rank", None)
        if rank is not None:
            return int(rank)
        kernel = getattr(kernel, "kernel", None)
    return 0


def available_memory_bytes(root: str | os.PathLike[str] = "/") -> int | None:
    """Return how much more memory this process can have, or None where nothing says.

    The least of what the system has free (caches that it would give up included) and what control
    groups, as of containers and batch queues, still allow.

    Parameters
    ----------
    root : path-like
        Where ``proc`` and ``sys`` lie.
    """
    rooms = [_system_room(Path(root)), *_group_rooms(Path(root))]
    known = [room for room in rooms if room is not None]
    return max(0, min(known)) if known else None


def _system_room(root: Path) -> int | None:
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    # macOS tells only how much there is
    name = "SC_AVPHYS_PAGES" if sys.platform.startswith("linux") else "SC_PHYS_PAGES"
    try:
        return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _group_rooms(root: Path) -> list[int]:
    """Return what each control group over this process still allows, version 2 or 1."""
    rooms = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
            inactive = "inactive_file"
        elif "memory" in controllers.split(","):
            base = root / "sys/fs/cgroup/memory"
            names = "memory.limit_in_bytes", "memory.usage_in_bytes"
            inactive = "total_inactive_file"
        else:
            continue
        place = base / path.strip("/")
        for group in [place, *place.parents]:
            if group == base.parent:
                break
            limit, used = (_number(_text(group / name)) for name in names)
            if limit is not None and used is not None:
                rooms.append(limit - used + _statistic(group, inactive))
    return rooms


def _statistic(group: Path, name: str) -> int:
    """Return a number of memory.stat: pages of files count as used, but are given up on demand."""
    for line in _text(group / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return _number(value) or 0
    return 0


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None  # "max" is no limit


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _shown(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
