"""How much memory a run will need, said before it starts, and how much there is.

Each stage says what it holds, beside the code that allocates it; here their bytes are added to
what is held from earlier stages. With n pixels, p features, k neighbours, m edges and c classes
those are features (4 n p), the search's index, the operator and what the kernel keeps (8 m and
more), and for each pixel its place, number and label.

A scene that is mapped into memory or read in blocks counts with one block only. How
many edges points share is known only afterwards: m is what synthetic scenes have. The first run
of an installation compiles, which takes some 200 MB more while nothing is large yet.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.acquisition import N_PAIRS
from diffclass.blocks.durations import forecast_seconds
from diffclass.blocks.plan import BlockPlan
from diffclass.classifier import DiffusionClassifier
from diffclass.clustering import N_NEIGHBORS, DiffusionClustering
from diffclass.command_line.console import duration, peak_memory_bytes
from diffclass.embedding import DiffusionMap
from diffclass.exceptions import ParameterError
from diffclass.kernels import DensityWeighted, Gaussian, Kernel, SharedNeighbors
from diffclass.label_diffusion import diffusion
from diffclass.label_diffusion.left_out import left_out_bytes
from diffclass.neighbors import graph, nn_descent
from diffclass.operators.local_order import copy_bytes
from diffclass.operators.markov import operator_bytes
from diffclass.spectral import eigenpairs
from diffclass.spectral.gap import MOST_COMPONENTS
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.readers.blocks import BlockArray
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.scene_models import SceneModel

_TO_LOAD = 105 * 2**20  # libraries and compiled loops that a run still loads
_BY_FAR = 1.5  # times the memory that is free
_BYTES_OF_A_PIXEL = 40  # its place, number and label


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
        Further bytes that it can have; None where the system does not say.
    scratch_bytes : int or None
        Space on the scratch disk; None where nothing is written there.
    seconds : mapping of str to float, optional
        An estimate of the time of each stage, without probabilities; None where none is made.
    """

    stages: Mapping[str, int]
    held: int = 0
    available: int | None = None
    scratch_bytes: int | None = None
    seconds: Mapping[str, float] | None = None

    @property
    def peak(self) -> int:
        """The largest number of bytes that the process will hold."""
        return max(self.stages.values())

    @property
    def exceeds(self) -> bool:
        """Whether that is more than is available."""
        return self.available is not None and self.peak - self.held > self.available

    def refuse_beyond(self, advice: str) -> None:
        """Raise `ParameterError` if the run needs far more memory than there is.

        Forecasts are right within about a quarter, and systems swap: half as much again is left to
        the warning.

        Parameters
        ----------
        advice : str
            What to change.
        """
        if self.available is not None and self.peak - self.held > _BY_FAR * self.available:
            at = max(self.stages, key=lambda name: self.stages[name])
            raise ParameterError(
                f"this run would need about {_shown(self.peak)} of memory, most of it for {at}, "
                f"but only {_shown(self.available)} are free; {advice}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast in values that JSON can hold."""
        facts = {
            "forecast_bytes": dict(self.stages),
            "peak_forecast_bytes": self.peak,
            "available_bytes": self.available,
        }
        if self.scratch_bytes is not None:
            facts["scratch_forecast_bytes"] = self.scratch_bytes
        if self.seconds is not None:
            facts["forecast_seconds"] = dict(self.seconds)
        return facts

    def line(self) -> str:
        """Return the forecast as a line to read."""
        steps = ", ".join(f"{name} {_shown(size)}" for name, size in self.stages.items())
        room = "" if self.available is None else f"; {_shown(self.available)} are free"
        disk = "" if self.scratch_bytes is None else f"; scratch: {_shown(self.scratch_bytes)}"
        return f"memory: about {_shown(self.peak)} will be needed ({steps}){room}{disk}"

    def duration_line(self) -> str | None:
        """Return the estimate of time as a line to read, if there is one."""
        if self.seconds is None:
            return None
        longest = max(self.seconds, key=lambda name: self.seconds[name])  # type: ignore[index]
        return (
            f"time: an estimate is {duration(sum(self.seconds.values()))} to the map, "
            f"{duration(self.seconds[longest])} of it for {longest}"
        )

    def warn(self, advice: str) -> None:
        """Warn if there is less memory than the run needs.

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
        Neither needs to be fitted.
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
    k, kernel = classifier.n_neighbors, classifier.kernel or SharedNeighbors()
    m = graph.expected_edges(n, k)
    warped = bool(classifier.rounds)
    held = _graph_held(n, p, k) + operator_bytes(m) + kernel.kept_bytes(m)
    scores = diffusion.result_bytes(n, n_classes) if warped or kernel.uses_scores else 0
    # a kernel that is shaped by posteriors has them from a first operator
    first = SharedNeighbors().kept_bytes(m) if kernel.uses_scores else 0
    stages: dict[str, float] = {"features": _of_features(scene, features)}
    making = _of_graph(n, p, k, kernel)
    stages |= {name: scores + first + size for name, size in making.items()}
    held += copy_bytes(n, m)
    diffusing = diffusion.diffusing_bytes(n, n_classes, warped=warped)
    stages["diffusion"] = scores + held + diffusing
    result = diffusion.result_bytes(n, n_classes)
    stages["calibration"] = scores + held + result + (0 if warped else left_out_bytes(n))
    if suggesting:
        stages["suggestions"] = scores + held + _suggesting_bytes(n, n_classes)
    stages["writing"] = scores + held + result
    return _forecast(base, stages)


def forecast_blocks(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    plan: Callable[[int, int, int, int], BlockPlan],
    *,
    n_machines: int = 1,
) -> MemoryForecast:
    """Say what classifying a scene in blocks will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    classifier : DiffusionClassifier
        Neither needs to be fitted.
    n_classes : int
    plan : callable
        `BlockRun.plan`.
    n_machines : int, default=1
        That share the work.

    Returns
    -------
    MemoryForecast
        Of this process, or of a worker, with the space on the scratch disk and an estimate of the
        time, for which a second or two of work is timed.
    """
    base = _base()
    n, p = _size(scene, features)
    planned = plan(n, p, classifier.n_neighbors, n_classes)
    n_bands = int(scene.band_mask.sum())
    working = features.working_bytes(scene.shape, n_bands, on_disk=True)
    stages = {"features": working, "graph and diffusion": planned.peak_bytes - base}
    stages["writing"] = _BYTES_OF_A_PIXEL * n
    found = _forecast(base, stages)
    seconds = forecast_seconds(
        n, p, classifier.n_neighbors, n_classes,
        block_points=planned.block_points, n_bands=n_bands, is_spatial=features.spatial,
        n_machines=n_machines,
    )  # fmt: skip
    return replace(found, scratch_bytes=int(planned.scratch_bytes + 4 * n * p), seconds=seconds)


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
    stages = {
        "features": _of_features(scene, model.features),
        "prediction": model.working_bytes(n, p),
        "writing": diffusion.result_bytes(n, len(model.classifier.classes_)),
    }
    return _forecast(base, stages)


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
    stages: dict[str, float] = {"features": _of_features(scene, features)}
    return _forecast(base, stages | _of_embedding(*_size(scene, features), model))


def _of_embedding(n: int, p: int, model: DiffusionMap) -> dict[str, float]:
    k, kernel = model.n_neighbors, model.kernel or Gaussian()
    most = MOST_COMPONENTS + 1 if isinstance(model.n_components, str) else model.n_components
    m, n_pairs = graph.expected_edges(n, k), most + 1
    held = _graph_held(n, p, k) + operator_bytes(m) + kernel.kept_bytes(m)
    stages = _of_graph(n, p, k, kernel)
    stages["eigenpairs"] = held + eigenpairs.solving_bytes(n, m, n_pairs)
    stages["writing"] = held + eigenpairs.pairs_bytes(n, n_pairs)
    return stages


def forecast_points(n: int, n_features: int, model: DiffusionMap) -> MemoryForecast:
    """Say what embedding so many rows of a table will need; otherwise as `forecast_embedding`."""
    return _forecast(_base(), _of_embedding(n, n_features, model))


def forecast_clustering(
    scene: Scene, features: SceneFeatures, model: DiffusionClustering
) -> MemoryForecast:
    """Say what `cluster_scene` will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    model : DiffusionClustering
        Neither need be fitted.

    Returns
    -------
    MemoryForecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    base = _base()
    n, p = _size(scene, features)
    k, kernel = N_NEIGHBORS, DensityWeighted(SharedNeighbors())
    asked = None if isinstance(model.n_clusters, str) else model.n_clusters
    m, n_pairs = graph.expected_edges(n, k), MOST_COMPONENTS + 2 if asked is None else asked + 1
    inliers = 4 * n * p  # a copy without the outliers
    held = inliers + _graph_held(n, p, k) + operator_bytes(m) + kernel.kept_bytes(m)
    stages: dict[str, float] = {"features": _of_features(scene, features)}
    stages |= {name: inliers + size for name, size in _of_graph(n, p, k, kernel).items()}
    stages["eigenpairs"] = held + eigenpairs.solving_bytes(n, m, n_pairs)
    kept = held + eigenpairs.pairs_bytes(n, n_pairs)
    stages["clusters"] = kept + 24 * n * n_pairs  # coordinates, and those of the search
    return _forecast(base, stages | {"writing": kept + _BYTES_OF_A_PIXEL * n})


def forecast_anomalies(
    scene: Scene, method: str, n_neighbors: int, n_components: int
) -> MemoryForecast:
    """Say what `find_anomalies` will need.

    Parameters
    ----------
    scene : Scene
    method : str
        As for `find_anomalies`.
    n_neighbors, n_components : int
        Of the diffusion.

    Returns
    -------
    MemoryForecast
    """
    base = _base()
    (rows, columns, bands), n_bands = scene.shape, int(scene.band_mask.sum())
    n, block = rows * columns, 24 * max(2**20, columns * bands)  # floats of both precisions
    if method == "isolation-forest":
        return _forecast(base, {"spectra": 8 * n * n_bands + 8 * n, "writing": 16 * n})
    stages: dict[str, float] = {"covariance": block + 8 * n_bands**2}
    if method == "diffusion":
        p, kernel = min(n_components, n_bands), Gaussian(bandwidth="global")
        m = graph.expected_edges(n, n_neighbors)
        stages["components"] = block + 4 * n * p
        stages |= _of_graph(n, p, n_neighbors, kernel)
        held = _graph_held(n, p, n_neighbors) + operator_bytes(m)
        stages["distances"] = held + 16 * m + 16 * n  # squares of the affinities
    return _forecast(base, stages | {"writing": 16 * n})


def _suggesting_bytes(n: int, n_classes: int) -> int:
    # three vectors of each eigenpair: its own, scaled by degrees, and weighed by the labels
    return 44 * n * n_classes + 8 * n * 3 * N_PAIRS


def _forecast(base: float, stages: Mapping[str, float]) -> MemoryForecast:
    whole = {name: int(base + size) for name, size in stages.items()}
    return MemoryForecast(whole, peak_memory_bytes(), available_memory_bytes())


def _base() -> float:
    return peak_memory_bytes() + _TO_LOAD


def _size(scene: Scene, features: SceneFeatures) -> tuple[int, int]:
    rows, columns, _ = scene.shape
    n = rows * columns if scene.region is None else int(np.count_nonzero(scene.region))
    return n, features.n_features(int(scene.band_mask.sum()))


def _of_features(scene: Scene, features: SceneFeatures) -> int:
    kept = scene.data.kept_bytes if isinstance(scene.data, BlockArray) else 0
    return kept + features.working_bytes(scene.shape, int(scene.band_mask.sum()))


def _of_graph(n: int, p: int, k: int, kernel: Kernel) -> dict[str, float]:
    held = _graph_held(n, p, k)
    making = max(nn_descent.searching_bytes(n, p, k), graph.merging_bytes(n, k))
    working = kernel.working_bytes(n, p, graph.expected_edges(n, k))
    return {"neighbors": held + making + _BYTES_OF_A_PIXEL * n, "affinities": held + working}


def _graph_held(n: int, p: int, k: int) -> int:
    """Features, the search's index, and what is known of each pixel."""
    return 4 * n * p + nn_descent.index_bytes(n, p, k) + _BYTES_OF_A_PIXEL * n


def available_memory_bytes(root: str | os.PathLike[str] = "/") -> int | None:
    """Return how many more bytes this process can have, or None if the system does not say.

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
    # macOS says only how much is installed
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
