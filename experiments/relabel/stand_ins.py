"""How first maps stand in for settled ones: alone, and beside what is kept of the settled map.

    python -m experiments.relabel.stand_ins [--draws 10] [--strokes 10]

A session begins with one stroke per class and its settled map. Then strokes of up to five pixels of
one row and class are painted, each where the last settled map is wrong by the truth, as users do;
after each its first map and its settled map are computed. First maps are those of the pixels, or of
groups of them as on scenes of more than 10,000 pixels. "alone" is the first map by itself, "shown"
what the page shows: the settled map before, where the first one says nothing new
(`diffclass.relabel.stand_ins`).

Shares of pixels, in percent, means over all strokes: "wrong" differ from the settled map that
follows, "flips" from the one before (what flickers); of those that the two settled maps have
different, "early" are right in the first. "settled_flips" is that difference itself. Means over
draws with their standard error go to standard output and to stand_ins.csv. The rule was chosen on
Indian Pines; the other scenes only report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from diffclass import markov_operator
from diffclass.kernels import SharedNeighbors
from diffclass.relabel import PointGroups, RelabelSession, group_means, neighbor_groups
from experiments.markdown import markdown_table, write_rows
from experiments.problems import Problem, default_operator, problem_of

OUTPUT = Path(__file__).with_suffix(".csv")
SCENES = ("pines-spectral", "salinas-spectral", "jasper", "tissue")
REACH = 2  # pixels to either side of a stroke's middle
NAMES = ("wrong_alone", "wrong_shown", "flips_alone", "flips_shown", "settled_flips",
         "early_alone", "early_shown")  # fmt: skip


def table(rows: list[dict[str, str]]) -> list[str]:
    """Return the lines of the guide's table."""
    header = ("scene", "first maps of", "wrong alone, %", "wrong as shown", "flips alone",
              "flips as shown", "settled flips", "early alone", "early as shown")  # fmt: skip
    columns = ("scene", "first_maps", *NAMES)
    return markdown_table(header, [[row[column] for column in columns] for row in rows])


def session_of(problem: Problem, *, by_groups: bool) -> RelabelSession:
    """Return a session with the classes of a problem."""
    operator = default_operator(problem)
    groups = None
    if by_groups:
        of_point = neighbor_groups(operator)
        means = group_means(problem.points, of_point)
        walk = markov_operator(means, n_neighbors=12, kernel=SharedNeighbors(), random_state=0)
        groups = PointGroups(walk, of_point)
    session = RelabelSession(operator, groups=groups, answer_by_groups=False)
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


def settled(session: RelabelSession) -> np.ndarray:
    """Return the settled map's classes."""
    session.settle()
    session.update()
    return session.map_ids


def draw(problem: Problem, session: RelabelSession, n_strokes: int, seed: int) -> np.ndarray:
    """Return the shares of one draw, means over its strokes, in percent."""
    random, truth = np.random.default_rng(seed), problem.truth
    for class_id in np.unique(truth[truth > 0]):
        paint(session, problem, int(random.choice(np.flatnonzero(truth == class_id))))
    session.update()
    before, rows = settled(session), []
    for _ in range(n_strokes):
        wrong = np.flatnonzero((truth > 0) & (before != truth))
        if not len(wrong):
            break
        paint(session, problem, int(random.choice(wrong)))
        session.update()
        shown, alone = session.map_ids, session.map.own_ids
        after = settled(session)
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
        for by_groups in (False, True):
            found = []
            for seed in range(arguments.draws):
                session = session_of(problem, by_groups=by_groups)
                found.append(draw(problem, session, arguments.strokes, seed))
            means = np.mean(found, axis=0)
            errors = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
            cells = [f"{m:.1f} +- {e:.1f}" for m, e in zip(means, errors, strict=True)]
            first = "groups" if by_groups else "pixels"
            rows.append(
                {"scene": problem.name, "first_maps": first, **dict(zip(NAMES, cells, strict=True))}
            )
            print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
