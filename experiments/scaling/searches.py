"""Neighbour searches beside each other: recall against seconds, by points and features.

    python3 -m venv .peers && .peers/bin/pip install faiss-cpu hnswlib pynndescent
    python -m experiments.scaling.searches --peer .peers/bin/python [--sizes 10000 100000 1000000]

All find the 12 nearest neighbours of each point, on one thread; the seconds are those of the
processor, with the building of the index, without imports and compilation. Points are features of
synthetic scenes (10, 20 or 60 principal components of square scenes of random fields) and, harder,
noise in 20 dimensions. Recall is measured on 1,000 points. Each run is a row of searches.csv; runs
that are there are not repeated (delete rows to repeat them), so a stopped run goes on. The
figure searches.png is drawn from all rows.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.decomposition import PCA

from diffclass.neighbors import ExactSearch, NNDescentSearch
from diffclass.neighbors.search import row_distances
from experiments.datasets import make_hyperspectral_scene
from experiments.scaling.million import fields

OUTPUT = Path(__file__).with_name("searches.csv")
PEER = Path(__file__).with_name("search_peer.py")
COLUMNS = ("points", "n", "features", "search", "setting", "seconds", "recall")
SIZES, FEATURES, N_NEIGHBORS = (10_000, 100_000, 1_000_000), (10, 20, 60), 12
OURS = {"NNDescentSearch": NNDescentSearch}
EXACT = ("ExactSearch", "scikit-learn")
PEERS = {
    "faiss_inverted_file": (8, 16, 32),
    "faiss_hnsw": (24, 48),
    "hnswlib": (24, 48),
    "pynndescent": (13, 20),
}
LARGEST_EXACT = 20_000
Row = dict[str, str]


def points_of(kind: str, n: int, n_features: int) -> np.ndarray:
    """Return n points in single precision."""
    if kind == "noise":
        return np.random.default_rng(0).normal(size=(n, n_features)).astype(np.float32)
    side = int(np.ceil(np.sqrt(n)))
    scene = make_hyperspectral_scene(fields(side), n_bands=100)
    pixels = np.asarray(scene, dtype=np.float32).reshape(side * side, -1)[:n]
    whitened = PCA(n_features, whiten=True, random_state=0).fit(pixels[:: max(1, n // 20_000)])
    return np.ascontiguousarray(whitened.transform(pixels), dtype=np.float32)


def problems(sizes: list[int], features: list[int]) -> Iterator[tuple[str, int, int]]:
    for n in sizes:
        yield from (("scene", n, n_features) for n_features in features)
        if features == list(FEATURES):
            yield "noise", n, 20


def runs_of(n: int) -> Iterator[tuple[str, int]]:
    """Yield the searches with their settings, 0 for those that choose their own."""
    if n <= LARGEST_EXACT:
        yield from ((name, 0) for name in EXACT)
    yield from ((name, 0) for name in OURS)
    yield from ((name, setting) for name, settings in PEERS.items() for setting in settings)


def searched(
    name: str, setting: int, points: Path, peer: str, limit: float
) -> tuple[float, np.ndarray]:
    """Return the seconds of a search and the (n, k) neighbours that it found."""
    X = np.load(points)
    if name in PEERS:
        found = points.with_name("found.npy")
        words = [peer, str(PEER), name, str(points), str(N_NEIGHBORS + 1), str(found), str(setting)]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=limit)
        return float(done.stdout.split()[-1]), np.load(found)
    start = time.process_time()
    if name == "scikit-learn":
        from sklearn.neighbors import NearestNeighbors

        found = NearestNeighbors().fit(X).kneighbors(X, N_NEIGHBORS + 1, return_distance=False)
        return time.process_time() - start, found
    search = (
        ExactSearch(N_NEIGHBORS)
        if name == "ExactSearch"
        else OURS[name](N_NEIGHBORS, random_state=0)
    )
    found = search.fit_transform(X).indices.reshape(len(X), -1)
    return time.process_time() - start, found


def recall_of(X: np.ndarray, found: np.ndarray) -> float:
    """Return the share of the true neighbours among those found, the points themselves left out."""
    import faiss

    sample = np.random.default_rng(1).choice(len(X), 1000, replace=False)
    _, true = faiss.knn(X[sample], X, N_NEIGHBORS + 1)
    reach = row_distances(X[sample], X[true]).max(axis=1, keepdims=True) * (1 + 1e-5)
    near = row_distances(X[sample], X[found[sample]]) <= reach
    near &= (found[sample] >= 0) & (found[sample] != sample[:, None])
    return float(np.minimum(near.sum(axis=1), N_NEIGHBORS).sum() / (N_NEIGHBORS * len(sample)))


def known_rows() -> list[Row]:
    if not OUTPUT.exists():
        return []
    with OUTPUT.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def compute(
    sizes: list[int], features: list[int], searches: list[str], peer: str, limit: float
) -> None:
    """Run what is not in the file yet; a run beyond the limit gets a row without figures."""
    rows = known_rows()
    done = {tuple(row[name] for name in COLUMNS[:5]) for row in rows}
    compile_ours()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.npy"
        for kind, n, n_features in problems(sizes, features):
            due = [
                (name, setting)
                for name, setting in runs_of(n)
                if name in searches
                and (kind, str(n), str(n_features), name, str(setting)) not in done
            ]
            if due:
                X = points_of(kind, n, n_features)
                np.save(path, X)
            for name, setting in due:
                try:
                    seconds, found = searched(name, setting, path, peer, limit)
                    figures = f"{seconds:.3g}", f"{recall_of(X, found):.4f}"
                except subprocess.TimeoutExpired:
                    figures = "", ""
                values = (kind, str(n), str(n_features), name, str(setting), *figures)
                print(*values, flush=True)
                append(dict(zip(COLUMNS, values, strict=True)))


def compile_ours() -> None:
    """Search among points that are hard enough for rounds of refinement."""
    X = np.random.default_rng(0).normal(size=(30_000, 24)).astype(np.float32)
    search = NNDescentSearch(N_NEIGHBORS, random_state=0)
    search.fit_transform(X)
    assert search.n_rounds_


def append(row: Row) -> None:
    is_new = not OUTPUT.exists()
    with OUTPUT.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def plot(rows: list[Row]) -> Figure:
    """Draw recall against seconds, one panel for each set of points."""
    rows = [row for row in rows if row["seconds"]]
    sizes = sorted({int(row["n"]) for row in rows})
    kinds = [("scene", str(p)) for p in FEATURES] + [("noise", "20")]
    names = [*EXACT, *OURS, *PEERS]
    figure = Figure(figsize=(10, 2.4 * len(sizes) + 0.5), layout="constrained")
    panels = figure.subplots(len(sizes), len(kinds), squeeze=False)
    for n, line in zip(sizes, panels, strict=True):
        for (kind, p), panel in zip(kinds, line, strict=True):
            mine = [r for r in rows if (r["points"], r["n"], r["features"]) == (kind, str(n), p)]
            if not mine:  # not run yet
                panel.set_visible(False)
                continue
            draw(panel, mine, names)
            panel.set_title(f"{kind}, n = {n:,}, {p} features", fontsize=8)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=8)
    figure.supxlabel("seconds of one thread", fontsize=8)
    figure.supylabel("recall", fontsize=8)
    return figure


def draw(panel, rows: list[Row], names: list[str]) -> None:  # type: ignore[no-untyped-def]
    for i, name in enumerate(names):
        mine = [(float(r["seconds"]), float(r["recall"])) for r in rows if r["search"] == name]
        x, y = zip(*sorted(mine), strict=True) if mine else ((), ())
        marker = "*" if name in OURS or name == "ExactSearch" else "o"
        panel.plot(x, y, marker + "-", label=name, color=f"C{i}", markersize=7, linewidth=0.8)
    panel.set_xscale("log")
    panel.set_ylim(0.8, 1.005)
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_locator(NullLocator())
    panel.tick_params(labelsize=7)
    panel.grid(alpha=0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="Python that has the other libraries; without it, draw only")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument(
        "--features",
        type=int,
        nargs="+",
        default=list(FEATURES),
        help="of scenes; noise is left out",
    )
    parser.add_argument("--searches", nargs="+", default=[*EXACT, *OURS, *PEERS])
    parser.add_argument("--limit", type=float, default=600, help="seconds for a run of a peer")
    arguments = parser.parse_args()
    if arguments.peer is not None:
        compute(
            arguments.sizes,
            arguments.features,
            arguments.searches,
            arguments.peer,
            arguments.limit,
        )
    plot(known_rows()).savefig(OUTPUT.with_suffix(".png"), dpi=150)


if __name__ == "__main__":
    main()
