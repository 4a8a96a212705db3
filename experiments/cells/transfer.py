"""Types of cells from five labelled cells of each, beside scanpy and scikit-learn.

    python -m experiments.cells.transfer CELLS.h5ad [--peer PYTHON] [--draws N]

CELLS is the file of 700 blood cells that scanpy carries, scanpy/datasets/10x_pbmc68k_reduced.h5ad;
its "bulk_labels" are the types. Methods: diffclass on X_pca (what ``diffclass classify CELLS
--labels COLUMN`` does) and on the file's own graph, five nearest neighbours (as `scanpy.tl.ingest`
transfers labels), logistic regression and scikit-learn's LabelSpreading. With the Python of
``--peer``, which has scanpy, the diffusion map of the file's graph is compared with
`scanpy.tl.diffmap`, whose coordinates are eigenvectors of the symmetric operator: ours times the
root of the degrees.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from diffclass import DiffusionClassifier, DiffusionMap
from diffclass.evaluation import draw_per_class
from diffclass_tables import open_table, read_row_graph
from experiments.markdown import Row, markdown_table, write_rows

OUTPUT = Path(__file__).with_name("transfer.csv")
PEER = Path(__file__).with_name("peer.py")
TYPE, GRAPH, N_LABELS = "bulk_labels", "obsp/connectivities", 5


def draws(codes: np.ndarray, n_draws: int) -> np.ndarray:
    """Return which cells are labelled in each draw; bool (n_draws, n)."""
    labelled = np.zeros((n_draws, len(codes)), dtype=bool)
    for seed, known in enumerate(labelled):
        known[draw_per_class(codes, N_LABELS, random_state=seed)] = True
    return labelled


def accuracies(path: Path, labelled: np.ndarray) -> dict[str, list[float]]:
    """Return the accuracy (%) of each method in each draw, on the cells without a label."""
    table = open_table(path)
    X, graph = np.asarray(table.values), read_row_graph(GRAPH, table)
    truth = table.column(TYPE).astype(str)
    codes = np.unique(truth, return_inverse=True)[1]
    found: dict[str, list[float]] = {}
    for known in labelled:
        y = np.where(known, codes, -1)
        by_graph = DiffusionClassifier(affinity="precomputed", random_state=0).fit(graph, y)
        answers = {
            "diffclass": DiffusionClassifier(random_state=0).fit(X, y).transduction_,
            "diffclass, the file's graph": by_graph.transduction_,
            "5 nearest neighbours": KNeighborsClassifier(5).fit(X[known], y[known]).predict(X),
            "logistic regression": LogisticRegression(max_iter=5000)
            .fit(X[known], y[known])
            .predict(X),
            "LabelSpreading": LabelSpreading(kernel="knn", n_neighbors=12).fit(X, y).transduction_,
        }
        for name, answer in answers.items():
            right = 100 * float((answer == codes)[~known].mean())
            found.setdefault(name, []).append(right)
    return found


def scanpys_map(path: Path, python: str) -> dict[str, np.ndarray]:
    """Return the diffusion map of scanpy; see `experiments.cells.peer`."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "answers.npz")
        subprocess.run([python, PEER, path, made], check=True)
        with np.load(made) as answers:
            return dict(answers)


def compared_maps(path: Path, diffmap: np.ndarray, eigenvalues: np.ndarray) -> tuple[float, float]:
    """Return the largest difference of eigenvalues, and the least correlation of coordinates."""
    table = open_table(path)
    graph = read_row_graph(GRAPH, table)
    n = len(eigenvalues) - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DiffusionMap(n, affinity="precomputed", alpha=1, time=0).fit(graph)
    ours = model.embedding_ * np.sqrt(model.operator_.degrees)[:, None]
    alike = [abs(np.corrcoef(ours[:, i], diffmap[:, i + 1])[0, 1]) for i in range(n)]
    apart = np.abs(model.eigenvalues_ - eigenvalues[1:])
    return float(apart.max()), float(min(alike))


def table(rows: list[Row]) -> list[str]:
    """Return a row for each method."""
    cells = [
        [row["method"], f"{float(row['mean']):.1f} ± {float(row['spread']):.1f}"] for row in rows
    ]
    return markdown_table(["method", "accuracy (%)"], cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", type=Path)
    parser.add_argument("--peer")
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    truth = open_table(arguments.cells).column(TYPE).astype(str)
    labelled = draws(np.unique(truth, return_inverse=True)[1], arguments.draws)
    found = accuracies(arguments.cells, labelled)
    if arguments.peer:
        apart, alike = compared_maps(
            arguments.cells, **scanpys_map(arguments.cells, arguments.peer)
        )
        print(
            f"diffusion maps: eigenvalues differ by at most {apart:.1e}, coordinates have a "
            f"correlation of at least {alike:.6f} with scanpy's"
        )
    rows = [
        {"method": name, "mean": f"{np.mean(values):.4g}", "spread": f"{np.std(values):.3g}"}
        for name, values in found.items()
    ]
    write_rows(OUTPUT, rows)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
