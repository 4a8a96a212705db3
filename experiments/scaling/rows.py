"""Time and memory of `diffclass classify` on tables of embeddings, up to a million rows.

    python -m experiments.scaling.rows FOLDER [--rows N --classes C --memory 7.5GB]

A table of N rows of 768 numbers in half precision is written to FOLDER, 1.5 GB for a million, and
stays there: C classes, whose means lie on a sphere in 64 of the dimensions; their sizes fall with
the root of their rank, the distances of their rows from the mean have long tails, and noise lies in
all dimensions. Five labels of each class are given. The command runs in a process of its own; its
seconds and peak memory are those of its report, the accuracy is that of all other rows. By default
100,000 rows of 100 classes in memory, and a million of 1,000 in 7.5 GB. Rows of a size replace
those in rows.csv.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet

from experiments import PROGRAM
from experiments.markdown import Row, markdown_table, replace_rows

N_FEATURES, N_SIGNAL, LABELS_PER_CLASS, BLOCK = 768, 64, 5, 50_000
SIZES = ((100_000, 100, None), (1_000_000, 1000, "7.5GB"))
OUTPUT = Path(__file__).with_name("rows.csv")


def make_table(folder: Path, n: int, n_classes: int) -> tuple[Path, np.ndarray, np.ndarray]:
    """Write a table, unless it is there, and return its path, the classes and the labels."""
    path = folder / f"{n}-{n_classes}.npy"
    random = np.random.default_rng(0)
    means = random.normal(size=(n_classes, N_SIGNAL))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    basis = np.linalg.qr(random.normal(size=(N_FEATURES, N_SIGNAL)))[0]
    sizes = 1 / np.sqrt(np.arange(1, n_classes + 1))
    truth = random.choice(n_classes, n, p=sizes / sizes.sum())
    labels = np.full(n, -1)
    for k in range(n_classes):
        members = np.flatnonzero(truth == k)
        labels[random.choice(members, min(LABELS_PER_CLASS, len(members)), replace=False)] = k
    if not path.exists():
        table = np.lib.format.open_memmap(path, "w+", np.float16, (n, N_FEATURES))
        for start in range(0, n, BLOCK):
            own = means[truth[start : start + BLOCK]]
            away = 0.11 * random.normal(size=own.shape) * random.gamma(2, 0.5, (len(own), 1))
            rows = (own + away) @ basis.T + 0.02 * random.normal(size=(len(own), N_FEATURES))
            table[start : start + BLOCK] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        table.flush()
    return path, truth, labels


def run(folder: Path, n: int, n_classes: int, memory: str | None) -> dict[str, Any]:
    """Classify a table in its own process and return what it took."""
    path, truth, labels = make_table(folder, n, n_classes)
    given, found, report = (folder / name for name in ("labels.npy", "found.parquet", "run.json"))
    np.save(given, labels)
    words = [str(path), "--labels", str(given), "-o", str(found), "--report", str(report)]
    words += ["--overwrite", "-q", *([] if memory is None else ["--memory", memory])]
    subprocess.run([sys.executable, "-c", PROGRAM, "classify", *words], check=True)
    facts = json.loads(report.read_text())
    classes = pyarrow.parquet.read_table(found).column("class").to_numpy()
    seconds = facts["seconds"]
    return {
        "rows": n,
        "classes": n_classes,
        "memory": memory or "-",
        "seconds": seconds["total"],
        "peak_gb": facts["peak_memory_bytes"] / 1e9,
        "accuracy": 100 * float((classes == truth)[labels < 0].mean()),
        **{name: seconds.get(name, np.nan) for name in ("features", "neighbors", "diffusion")},
    }


def table(rows: list[Row]) -> list[str]:
    """Return a row for each size."""
    head = ["rows", "classes", "memory given", "seconds", "peak GB", "accuracy (%)"]
    cells = [
        [
            f"{int(row['rows']):,}",
            row["classes"],
            row["memory"],
            f"{float(row['seconds']):.0f}",
            f"{float(row['peak_gb']):.1f}",
            f"{float(row['accuracy']):.1f}",
        ]
        for row in rows
    ]
    return markdown_table(head, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--memory")
    given = parser.parse_args()
    sizes = SIZES if given.rows is None else ((given.rows, given.classes, given.memory),)
    for size in sizes:
        row = run(given.folder, *size)
        print("\n".join(table(replace_rows(OUTPUT, [row], "rows", int))), flush=True)


if __name__ == "__main__":
    main()
