"""What a stroke and the answers cost, diffused over all points or over aggregates of them.

    python -m experiments.relabel.domains [--sizes 21025 111104]

Points of 16 classes in ten dimensions, one Gaussian each, overlap like the fields of a scene. A
session has one stroke of 30 points per class and 48 more. Then ten strokes are painted: "stroke" is
the median of their provisional maps. Then each question is asked once: contradicted labels, the
margin curve, five points to label next (the first time, with their eigenpairs). Refined maps are
the same in both. Processor seconds of one thread go to standard output and to domains.csv.

The thresholds of `diffclass_relabel.workspace.workspace` rest on them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffclass import markov_operator
from diffclass.kernels import SharedNeighbors
from diffclass.relabel import RelabelSession, background
from diffclass.relabel.coarsening import coarsen
from experiments.markdown import markdown_table, write_rows

OUTPUT = Path(__file__).with_suffix(".csv")
SIZES = (21_025, 111_104)
N_CLASSES, N_FEATURES, N_POINTS = 16, 10, 30  # N_POINTS: of a stroke
NAMES = ("stroke, ms", "audit, s", "margin curve, s", "first suggestion, s")


def table(rows: list[dict[str, str]]) -> list[str]:
    """Return the lines of the guide's table."""
    header = ("points", "diffused over", *NAMES)
    return markdown_table(header, [[row[column] for column in header] for row in rows])


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measured(session: RelabelSession, classes: np.ndarray) -> list[str]:
    """Return the cost of a stroke and of each question."""
    random = np.random.default_rng(1)
    own = [np.flatnonzero(classes == k) for k in range(N_CLASSES)]

    def paint(number: int) -> None:
        k = number % N_CLASSES
        first = int(random.integers(len(own[k]) - N_POINTS))
        points = own[k][first : first + N_POINTS]
        session.apply({"op": "stroke", "class": k + 1, "points": points})
        session.update()

    session.prepare()
    for number in range(64):
        paint(number)
    stroke = np.median([seconds(lambda k=k: paint(k)) for k in range(10)])
    answers = [session.audit, session.margin_curve, lambda: session.suggest(5)]
    return [f"{1000 * stroke:.1f}", *(f"{seconds(answer):.2f}" for answer in answers)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    sizes, rows = parser.parse_args().sizes, []
    for n in sizes:
        random = np.random.default_rng(0)
        classes = np.sort(random.integers(N_CLASSES, size=n))
        centers = 1.5 * random.normal(size=(N_CLASSES, N_FEATURES))
        X = (centers[classes] + random.normal(size=(n, N_FEATURES))).astype(np.float32)
        operator = markov_operator(X, kernel=SharedNeighbors(), random_state=0)
        coarse = coarsen(operator, X, kernel=SharedNeighbors(), random_state=0)
        for given, name in ((None, "points"), (coarse, f"{len(coarse):,} aggregates")):
            session = RelabelSession(operator, map(str, range(N_CLASSES)), coarse=given)
            with background(lambda: True):  # on one thread
                found = measured(session, classes)
            row = {"points": f"{n:,}", "diffused over": name} | dict(zip(NAMES, found, strict=True))
            rows.append(row)
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
