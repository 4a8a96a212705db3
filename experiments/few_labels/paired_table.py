"""The table of the benchmark: means, spreads, and differences paired by draw.

There is one row per way of drawing, problem and number of labels per class. The best other method
is the one with the highest mean over these same draws, which favours it: it is chosen by the
results, ours are not. Intervals are Student's, 95 %, of the mean difference over the draws: they
hold for other labels on the same points, not for other points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import t as student

from experiments.few_labels.draws import WAYS
from experiments.few_labels.graphlearning_peer import METHODS as PEERS
from experiments.few_labels.methods import OTHERS, OURS

OTHER_NAMES = (*OTHERS, *PEERS)
Scores = dict[str, dict[int, float]]  # method: seed: accuracy in %


def table(rows: Mapping[tuple[str, str, int, int, str], float]) -> list[str]:
    """Return the rows of a Markdown table, from accuracies by (problem, way, budget, seed, method).

    Parameters
    ----------
    rows : mapping
        Accuracies, 0 to 1.

    Returns
    -------
    list of str
    """
    groups: dict[tuple[str, str, int], Scores] = {}
    for (problem, way, budget, seed, method), accuracy in rows.items():
        scores = groups.setdefault((way, problem, budget), {})
        scores.setdefault(method, {})[seed] = 100 * accuracy
    present = [o for o in OTHER_NAMES if any(o in scores for scores in groups.values())]
    head = ["labels", "problem", "per class", "draws", *OURS, "best other", *present]
    head += [f"{ours} - best other" for ours in OURS]
    lines = [_line(head), "|---" * len(head) + "|"]
    ways, problems = list(WAYS), list(dict.fromkeys(problem for _, problem, _ in groups))
    for key in sorted(groups, key=lambda k: (ways.index(k[0]), problems.index(k[1]), k[2])):
        lines.append(_line([*key, *_cells(groups[key], present)]))
    return lines


def _cells(scores: Scores, present: list[str]) -> list[object]:
    """Return the cells of one row after its name; a dash where a method was not run."""
    best = max(
        (method for method in present if method in scores),
        key=lambda method: np.mean(list(scores[method].values())),
        default=None,
    )
    cells: list[object] = [max(len(values) for values in scores.values())]
    cells += [_spread(scores[ours]) if ours in scores else "-" for ours in OURS]
    cells.append("-" if best is None else f"{best} {_spread(scores[best])}")
    for other in present:
        cells.append(f"{np.mean(list(scores[other].values())):.1f}" if other in scores else "-")
    for ours in OURS:
        if best is None or ours not in scores:
            cells.append("-")
        else:
            cells.append(_difference(scores[ours], scores[best]))
    return cells


def _spread(scores: dict[int, float]) -> str:
    values = np.array(list(scores.values()))
    deviation = values.std(ddof=1) if len(values) > 1 else np.nan
    return f"{values.mean():.1f} ± {deviation:.1f}"


def _difference(ours: dict[int, float], other: dict[int, float]) -> str:
    both = sorted(ours.keys() & other.keys())
    mean, half = paired([ours[seed] for seed in both], [other[seed] for seed in both])
    return f"{mean:+.1f} ± {half:.1f}"


def paired(a: list[float], b: list[float], *, level: float = 0.95) -> tuple[float, float]:
    """Return the mean of a - b and half its Student interval; NaN for fewer than two pairs."""
    difference = np.subtract(a, b)
    n = len(difference)
    if n < 2:
        return (float(difference.mean()) if n else np.nan), np.nan
    half = student.ppf((1 + level) / 2, n - 1) * difference.std(ddof=1) / np.sqrt(n)
    return float(difference.mean()), float(half)


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
