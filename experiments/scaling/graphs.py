"""Neighbour graphs of a million points with 50 features: seconds, memory and recall.

    python3 -m venv .peers && .peers/bin/pip install faiss-cpu hnswlib pynndescent
    python -m experiments.scaling.graphs FOLDER --peer .peers/bin/python [--sides 1000]
        [--searches NNDescentSearch faiss_hnsw ...]

The 12 nearest neighbours of each pixel, by the 50 spectral features that ``classify --components
50`` takes of scenes of `experiments.scaling.make_large_scene`, made in FOLDER unless they are
there. Each search runs in a process of its own with two threads; seconds are those of the clock,
with the building of the index, without imports, compilation and reading of the points; memory is
the largest that the process held, with the points. The exact search, by faiss, is timed on 20,000
of the points and its seconds multiplied. Recall is measured on 1,000 points. Each run is a row of
graphs.csv and replaces the one of the same search and size.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from diffclass.neighbors import NNDescentSearch
from diffclass_hyperspectral import SceneFeatures, open_scene
from experiments.markdown import HERE, Row, markdown_table, read_rows, write_rows
from experiments.scaling.forecasts import scene_in
from experiments.scaling.searches import N_NEIGHBORS, PEER, compile_ours, recall_of

OUTPUT = Path(__file__).with_name("graphs.csv")
N_FEATURES, N_THREADS = 50, 2
OURS = "NNDescentSearch"
PEERS = {"faiss_exact": 20_000, "faiss_inverted_file": 64, "faiss_hnsw": 64, "hnswlib": 64,
         "pynndescent": 20}  # fmt: skip


def points_of(folder: Path, side: int) -> Path:
    """Return the file of the features of a scene of so many rows and columns."""
    place = folder / f"features_{side}.npy"
    if not place.exists():
        scene = open_scene(scene_in(folder, side) / "scene.hdr")
        found, _ = SceneFeatures(N_FEATURES).fit_transform_points(scene)
        np.save(place, found)
    return place


def run(search: str, points: Path, peer: str | None) -> Row:
    """Run one search and return its row."""
    found = points.with_name("found.npy")
    ours = [sys.executable, "-m", "experiments.scaling.graphs", "--one", str(points), str(found)]
    peers = [str(peer), str(PEER), search, str(points), str(N_NEIGHBORS + 1), str(found)]
    words = ours if search == OURS else [*peers, str(PEERS[search]), str(N_THREADS)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{search} ended with {os.waitstatus_to_exitcode(status)}")
    X = np.load(points, mmap_mode="r")
    seconds, recall = float(said.split()[-1]), 1.0
    if search == "faiss_exact":
        seconds *= len(X) / PEERS[search]
    else:
        recall = recall_of(np.asarray(X), np.load(found, mmap_mode="r"))
    return {
        "n": str(len(X)),
        "search": search,
        "seconds": f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.3g}",
        "gigabytes": f"{usage.ru_maxrss * 1024 / 1e9:.1f}",
        "recall": f"{recall:.4f}",
    }


def search_ours(points: Path, found: Path) -> None:
    """Search with ours, in this process, and print the seconds."""
    compile_ours()
    X = np.load(points)
    start = time.perf_counter()
    graph = NNDescentSearch(N_NEIGHBORS, random_state=0).fit_transform(X)
    print(time.perf_counter() - start)
    np.save(found, graph.indices.reshape(len(X), -1))


def keep(row: Row) -> None:
    """Put a row in the place of that of the same search and size."""
    rows = read_rows(str(OUTPUT.relative_to(HERE))) if OUTPUT.exists() else []
    rows = [old for old in rows if (old["n"], old["search"]) != (row["n"], row["search"])]
    order = [OURS, *PEERS]
    rows = sorted([*rows, row], key=lambda one: (int(one["n"]), order.index(one["search"])))
    write_rows(OUTPUT, [dict(one) for one in rows])


def table() -> list[str]:
    """Return the table of the guide."""
    rows = read_rows("scaling/graphs.csv")
    head = ["points", "search", "seconds", "GB", "recall"]
    return markdown_table(head, [list(row.values()) for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--peer", help="Python that has the other libraries")
    parser.add_argument("--sides", type=int, nargs="+", default=[1000])
    parser.add_argument("--searches", nargs="+", default=[OURS, *PEERS])
    parser.add_argument("--one", type=Path, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        search_ours(*arguments.one)
        return
    if arguments.folder is None:
        parser.error("name the folder for scenes and features")
    for side in arguments.sides:
        points = points_of(arguments.folder, side)
        for search in arguments.searches:
            row = run(search, points, arguments.peer)
            print(*row.values(), flush=True)
            keep(row)


if __name__ == "__main__":
    main()
