"""How long suggestions take, the first after many strokes and those after one more.

    python -m experiments.relabel.first_suggestion [--strokes 200] [--size 512 217]

A synthetic scene of 100 bands and 16 classes, as in `experiments.relabel.latency`: one stroke in
each class, then more at seeded random places, 3 x 10 pixels each, none followed by a suggestion and
nothing asked meanwhile. Ten points are then asked for by the page's rule, on one thread as on
the page. One more stroke and its map come before each of the next five. Compiled loops are on disk
from a run before.

Seconds of the processor and of the clock go to standard output; on a busy machine only the
processor's tell.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from diffclass.relabel import RelabelSession, background
from diffclass_hyperspectral import Scene, open_tiles
from diffclass_relabel.queries.answers import LEAST_DISTANCE
from diffclass_relabel.workspace import SceneSettings, SceneWorkspace
from diffclass_relabel.workspace.preparing import warm_up
from experiments.datasets import make_hyperspectral_scene
from experiments.relabel.latency import LENGTH, Shape, place
from experiments.scaling.million import N_BANDS, N_CLASSES, fields

N_NEXT = 5


def workspace_of(shape: Shape) -> SceneWorkspace:
    """Return a made scene of that size, ready for labels."""
    truth = fields(max(shape))[: shape[0], : shape[1]]
    cube = make_hyperspectral_scene(truth, n_bands=N_BANDS)
    return SceneWorkspace.from_scene(
        open_tiles([Scene.from_array(cube, path="fields", format="made")]), SceneSettings()
    )


def paint(
    session: RelabelSession, class_id: int, shape: Shape, random: np.random.Generator
) -> None:
    """Paint a stroke at a random place."""
    row, column = place(shape, random)
    rows = shape[1] * (row + np.arange(-1, 2))
    points = (rows[:, None] + column + np.arange(LENGTH)).ravel()
    session.apply({"op": "stroke", "class": class_id, "points": points})


def seconds_of_suggestions(workspace: SceneWorkspace, session: RelabelSession) -> str:
    """Ask for ten points and tell how long it took."""
    places = np.column_stack(np.unravel_index(workspace.pixels, workspace.shape))
    clock, processor = time.perf_counter(), time.process_time()
    with background(lambda: True):
        session.suggest(
            10, features=workspace.features, coordinates=places, min_distance=LEAST_DISTANCE
        )
    processor, clock = time.process_time() - processor, time.perf_counter() - clock
    return f"processor {processor:.2f} s, clock {clock:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strokes", type=int, default=200, help="before the first suggestion")
    parser.add_argument("--size", type=int, nargs=2, default=(512, 217))
    arguments = parser.parse_args()
    shape = arguments.size[0], arguments.size[1]
    workspace = workspace_of(shape)
    warm_up(workspace)
    session, random = workspace.new_session(), np.random.default_rng(0)
    for number in range(1, N_CLASSES + 1):
        session.apply({"op": "add_class"})
        paint(session, number, shape, random)
    for number in range(arguments.strokes):
        paint(session, 1 + number % N_CLASSES, shape, random)
    session.update()
    print(f"first: {seconds_of_suggestions(workspace, session)}", flush=True)
    for number in range(N_NEXT):
        paint(session, 1 + number % N_CLASSES, shape, random)
        session.update()
        print(f"next: {seconds_of_suggestions(workspace, session)}", flush=True)


if __name__ == "__main__":
    main()
