"""How far provisional maps are from refined ones: alone, and where they keep the refined map.

    python -m experiments.relabel.provisional_maps [--draws 10] [--strokes 10]

A session begins with one stroke per class and its refined map. Then strokes of up to five pixels of
one row and class are painted, each where the last refined map is wrong by the truth, as users do.
After each its provisional and its refined map are computed. Provisional maps are those of the
pixels, or of aggregates of them as on scenes of more than 10,000 pixels. "alone" is the provisional
map by itself, "shown" what the page shows: the refined map before, where the provisional one says
nothing new (`diffclass.relabel.session_maps`).

Shares of pixels, in percent, means over all strokes: "wrong" differ from the refined map that
follows, "flips" from the one before (what flickers). Of those that the two refined maps have
different, "early" are right in the provisional one. "refined_flips" is that difference itself.
Means over draws with their standard error go to standard output and to provisional_maps.csv. The
rule was chosen on Indian Pines; the other scenes only report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from diffclass.kernels import SharedNeighbors
from diffclass.relabel import RelabelSession
from diffclass.relabel.coarsening import coarsen
from experiments.markdown import markdown_table, write_rows
from experiments.problems import Problem, default_operator, problem_of

OUTPUT = Path(__file__).with_suffix(".csv")
SCENES = ("pines-spectral", "salinas-spectral", "jasper", "tissue")
REACH = 2  # pixels to either side of a stroke's middle
NAMES = ("wrong_alone", "wrong_shown", "flips_alone", "flips_shown", "refined_flips",
         "early_alone", "early_shown")  # fmt: skip


def table(rows: list[dict[str, str]]) -> list[str]:
    """Return the lines of the guide's table."""
    header = ("scene", "provisional maps of", "wrong alone, %", "wrong as shown", "flips alone",
              "flips as shown", "refined flips", "early alone", "early as shown")  # fmt: skip
    columns = ("scene", "provisional_maps", *NAMES)
    return markdown_table(header, [[row[column] for column in columns] for row in rows])


def session_of(problem: Problem, *, is_coarse: bool) -> RelabelSession:
    """Return a session with the classes of a problem."""
    operator = default_operator(problem)
    coarse = None
    if is_coarse:
        coarse = coarsen(operator, problem.points, kernel=SharedNeighbors(), random_state=0)
    session = RelabelSession(operator, coarse=coarse, coarse_answers=False)
    for class_id in np.unique(problem.truth[problem.truth > 0]).tolist():
        session.apply({"op": "add_class", "id": class_id})
    return session


def paint(session: RelabelSession, problem: Problem, point: int) -> None:
    """Paint what lies beside a pixel in its row and is of its class."""
    columns = problem.shape[1]
    row = point // columns
    beside = np.arange(point - REACH, point + REACH + 1)
    beside = beside[(beside >= row * columns) & (beside < (row + 1) * columns)]
    points = beside[problem.truth[beside] == problem.truth[point]]
    session.apply({"op": "stroke", "class": int(problem.truth[point]), "points": points})


def refined(session: RelabelSession) -> np.ndarray:
    """Return the refined map's classes."""
    session.refine()
    session.update()
    return session.map_ids


def draw(problem: Problem, session: RelabelSession, n_strokes: int, seed: int) -> np.ndarray:
    """Return the shares of one draw, means over its strokes, in percent."""
    random, truth = np.random.default_rng(seed), problem.truth
    for class_id in np.unique(truth[truth > 0]):
        paint(session, problem, int(random.choice(np.flatnonzero(truth == class_id))))
    session.update()
    before, rows = refined(session), []
    for _ in range(n_strokes):
        wrong = np.flatnonzero((truth > 0) & (before != truth))
        if not len(wrong):
            break
        paint(session, problem, int(random.choice(wrong)))
        session.update()
        shown, alone = session.map_ids, session.map.own_ids
        after = refined(session)
        is_new = after != before
        rows.append([
            *((one != after).mean() for one in (alone, shown)),
            *((one != before).mean() for one in (alone, shown, after)),
            *((one == after)[is_new].mean() if is_new.any() else np.nan for one in (alone, shown)),
        ])  # fmt: skip
        before = after
    return 100 * np.nanmean(rows, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--strokes", type=int, default=10)
    arguments = parser.parse_args()
    rows = []
    for name in SCENES:
        problem = problem_of(name)
        for is_coarse in (False, True):
            found = []
            for seed in range(arguments.draws):
                session = session_of(problem, is_coarse=is_coarse)
                found.append(draw(problem, session, arguments.strokes, seed))
            means = np.mean(found, axis=0)
            errors = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
            cells = [f"{m:.1f} +- {e:.1f}" for m, e in zip(means, errors, strict=True)]
            made_of = "aggregates" if is_coarse else "pixels"
            row = {"scene": problem.name, "provisional_maps": made_of}
            rows.append(row | dict(zip(NAMES, cells, strict=True)))
            print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
