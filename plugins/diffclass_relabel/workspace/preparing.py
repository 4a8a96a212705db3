"""Before the first stroke: the forecast of a session's costs, and compiling its loops.

A loop is compiled when it first meets arrays of some types; a session on a thousand pixels of the
same types meets them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import cast

import numpy as np

from diffclass import markov_operator
from diffclass.exceptions import DiffclassError
from diffclass.graph import graph_costs
from diffclass.jobs import n_kept_loops
from diffclass.kernels import SharedNeighbors
from diffclass.relabel import SESSION_MODES, RelabelSession, painting_cost
from diffclass.system.costs import Cost, Forecast, Size
from diffclass.system.progress import Listeners, listening, stage
from diffclass_hyperspectral import Scene, SceneFeatures, TiledScene
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_relabel.workspace.pixels import MOST_POINTS
from diffclass_relabel.workspace.settings import SceneSettings, SessionSettings, TableSettings
from diffclass_relabel.workspace.workspace import Workspace
from diffclass_tables import Rows, Table

_HASHED = 1.0e9  # bytes per second
_PER_OPERATION, _LOOPS = 5.0e-4, 0.5  # seconds
_DRAWN = 4.0e-6  # of an edge of a drawing
# Seconds of each step that go to compiling where no earlier run has left loops on disk, and how
# many the steps leave there.
_COMPILING, _N_LOOPS = {"graph": 20.0, "loops": 8.0}, 47
_CLASSES = 8  # of a session that is only begun


def forecast_session(
    found: TiledScene | Scene | Table,
    settings: SessionSettings,
    n_operations: int,
    *,
    n_classes: int = 0,
) -> Forecast:
    """Return what a session's maps will need, and the seconds of the steps of ``opening.STEPS``.

    - `found`: scenes or a table, of which nothing is read

    >>> import numpy as np
    >>> scene = Scene.from_array(np.zeros((512, 217, 204), dtype=np.int8))
    >>> round(forecast_session(scene, SceneSettings(), 0).seconds["features"], 2)
    0.23
    """
    n_classes = max(n_classes, _CLASSES)
    if isinstance(settings, TableSettings):
        table = cast(Table, found)
        rows = Rows(table, n_components=settings.dimensions)
        points, costs = rows.size(settings.neighbors, n_classes), rows.costs()
        n_bytes = table.values.size * table.values.dtype.itemsize
    else:
        scene = found.scene if isinstance(found, TiledScene) else cast(Scene, found)
        points, costs = _size_and_features(scene, cast(SceneSettings, settings), n_classes)
        n_bytes = scene.data.size * scene.data.dtype.itemsize
    costs = costs | graph_costs(points, SharedNeighbors(), extends=False)
    costs["maps"] = painting_cost(points)
    seconds = {
        "opening": n_bytes / _HASHED,
        "features": costs["features"].seconds,
        "graph": costs["neighbors"].seconds + costs["affinities"].seconds,
        "replay": _PER_OPERATION * n_operations,
        "loops": _LOOPS,
        "map": costs["maps"].seconds,
    }
    if isinstance(settings, TableSettings):
        seconds["graph"] += _DRAWN * points.points * points.neighbors
    share = max(1 - n_kept_loops() / _N_LOOPS, 0)
    seconds |= {name: seconds[name] + share * taken for name, taken in _COMPILING.items()}
    return replace(Forecast.of(costs), seconds=seconds)


def _size_and_features(
    scene: Scene, settings: SceneSettings, n_classes: int
) -> tuple[Size, dict[str, Cost]]:
    features = SceneFeatures(settings.components, spatial=settings.features == "spatial")
    pixels = scene_size(scene, features, settings.neighbors, n_classes)
    # in larger scenes points are blocks of pixels, whose features lie on a file
    points = replace(pixels, points=min(pixels.points, MOST_POINTS))
    is_large = pixels.points > MOST_POINTS
    return points, dict(feature_costs(scene, features, points.points, on_disk=is_large))


_MOST_POINTS = 1024  # more than are solved densely, so that the eigensolver's loops are met too
_N_ERRANDS = 14
_LATE = 512  # steps after which columns are nearly constant, and take a series


def warm_up(workspace: Workspace) -> None:
    """Compile all loops that strokes, questions and suggestions run; a second call costs little."""
    with (
        stage("loops", parts=_N_ERRANDS) as part_done,
        listening(Listeners(())),  # the stages within are not shown
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of so small a graph
        for errand in _errands(_small_session(workspace)):
            _done_if_possible(errand)
            part_done()


def _small_session(workspace: Workspace) -> RelabelSession:
    few = np.linspace(0, len(workspace.features) - 1, _MOST_POINTS).astype(np.intp)
    features = workspace.features[np.unique(few)]
    settings = workspace.settings
    operator = markov_operator(
        features,
        n_neighbors=min(settings.neighbors, max(len(features) - 1, 1)),
        kernel=SharedNeighbors(),
        random_state=settings.random_state,
    )
    return RelabelSession(
        operator,
        ["one", "two"],
        label_mode=settings.label_mode,
        tau=settings.given_tau,
        rule=replace(settings.rule, max_time=_LATE),
    )


def _errands(session: RelabelSession) -> list[Callable[[], object]]:
    n = session.label_ids.size
    thirds = [np.arange(n // 3), np.arange(n // 3, 2 * n // 3), np.arange(2 * n // 3, n)]

    def paint(class_id: int, points: np.ndarray) -> Callable[[], object]:
        return lambda: _apply(session, {"op": "stroke", "class": class_id, "points": points})

    def apply(**operation: object) -> Callable[[], object]:
        return lambda: _apply(session, operation)

    return [
        paint(1, thirds[0][:8]),
        paint(2, thirds[1][:8]),
        paint(2, thirds[2][:8]),
        apply(op="erase", points=thirds[2][:4]),
        session.audit,
        lambda: session.explain(0),
        lambda: session.tau_preview(2),
        session.margin_curve,
        lambda: session.suggest(2),
        session.refine,
        apply(op="tau", tau=_LATE),
        *(apply(op="label_mode", mode=mode) for mode in SESSION_MODES),
        apply(op="tau", tau="margin"),
        apply(op="warp"),
        lambda: session.suggest(2),
    ]


def _apply(session: RelabelSession, operation: dict[str, object]) -> None:
    session.apply(operation)
    session.update()


def _done_if_possible(errand: Callable[[], object]) -> None:
    """Do one thing, if so few pixels allow it."""
    with suppress(DiffclassError):
        errand()
