"""How far a drawing of a graph tells classes apart, for the page over a table.

    python -m experiments.relabel.drawings [--draws N] [problem ...]

The share of the ten nearest points that are of a point's own class, in percent: at two diffusion
coordinates, in the drawing (`diffclass_relabel.workspace.layout`), on its raster of five cells for
each point, on rasters of two and of ten, in scikit-learn's t-SNE, and by all features. Means of ten
draws; a draw is the seed of the drawing and, of families, other points. t-SNE has one. Seconds are
medians. Digits, MNIST and the embeddings chose the numbers of cells and of epochs; the others
report. Rows of a problem replace those in drawings.csv.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from diffclass_relabel.workspace import layout
from experiments.markdown import Row, markdown_table, replace_rows
from experiments.problems import TITLES, default_operator, problem_of

OUTPUT = Path(__file__).with_suffix(".csv")
CHOOSING = ("digits", "mnist", "georsclip_vit_l_14", "clip_rn50")
REPORTING = ("three-blobs", "moons", "eight-sizes", "jasper", "salinas-spectral", "pines-spectral")
PROBLEMS = (*CHOOSING, *REPORTING)
N_NEAREST = 10
CELLS = (2, 5, 10)


def purity(places: np.ndarray, truth: np.ndarray) -> float:
    """Return the share (%) of the nearest known points that are of the same class."""
    known = truth > 0
    nearest = NearestNeighbors(n_neighbors=N_NEAREST).fit(places[known])
    others = truth[known][nearest.kneighbors(return_distance=False)]
    return 100 * float((others == truth[known][:, None]).mean())


def row_of(name: str, n_draws: int) -> dict[str, object]:
    """Return the row of a problem."""
    found: dict[str, list[float]] = {}
    for seed in range(n_draws):
        problem = problem_of(name, seed)
        operator, truth = default_operator(problem), problem.truth
        coordinates = layout.graph_coordinates(operator, random_state=seed)
        start = time.perf_counter()
        places = layout.drawn(operator, coordinates, random_state=seed)
        seconds = time.perf_counter() - start
        shares = {
            "two coordinates": purity(coordinates[:, :2], truth),
            "drawing": purity(places, truth),
        }
        for n_cells in CELLS:
            with mock.patch.object(layout, "CELLS_PER_POINT", n_cells):
                cells, (_, columns) = layout.settled(places, random_state=seed)
            on_raster = np.column_stack(np.divmod(cells, columns))
            shares[f"{n_cells} cells"] = purity(on_raster, truth)
        for column, value in (shares | {"drawing, s": seconds}).items():
            found.setdefault(column, []).append(value)
    points = np.asarray(problem.points, dtype=np.float32)
    start = time.perf_counter()
    embedded = TSNE(random_state=0).fit_transform(points)
    seconds = time.perf_counter() - start
    drawing_seconds = float(np.median(found.pop("drawing, s")))
    return {
        "problem": TITLES.get(name, name),
        "points": len(points),
        "classes": len(np.unique(truth[truth > 0])),
        **{column: float(np.mean(values)) for column, values in found.items()},
        "deviation": float(np.std(found["5 cells"])),
        "t-SNE": purity(embedded, truth),
        "features": purity(points, truth),
        "drawing, s": drawing_seconds,
        "t-SNE, s": seconds,
    }


def table(rows: list[Row]) -> list[str]:
    """Return the lines of the guide's table."""
    shares = ("two coordinates", "drawing", *(f"{n} cells" for n in CELLS), "t-SNE", "features")
    lines = []
    for row in rows:
        cells = {column: f"{float(row[column]):.1f}" for column in shares}
        cells["5 cells"] += f" ± {float(row['deviation']):.1f}"
        times = [f"{float(row[column]):.2f}" for column in ("drawing, s", "t-SNE, s")]
        size = f"{int(row['points']):,}"
        lines.append([row["problem"], size, row["classes"], *cells.values(), *times])
    head = ("problem", "points", "classes", *shares, "drawing, s", "t-SNE, s")
    return markdown_table(head, lines)


def main() -> None:
    """Measure problems and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("problems", nargs="*", metavar="problem")
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args()
    order = [TITLES.get(name, name) for name in PROBLEMS]
    rows: list[Row] = []
    for name in given.problems or PROBLEMS:
        rows = replace_rows(OUTPUT, [row_of(name, given.draws)], "problem", order.index)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
