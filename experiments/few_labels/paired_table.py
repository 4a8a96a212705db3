"""The tables of the benchmark: means, spreads, and differences paired by draw.

There is one row per way of drawing, problem and number of labels per class. The best other method
is the one with the highest mean over these same draws, which favours it: it is chosen by the
results, ours are not. Methods that are given the true class sizes have a table of their own, beside
ours with the same sizes. Intervals are Student's, 95 %, of the mean difference over the draws: they
hold for other labels on the same points, not for other points (on the synthetic families, whose
points are drawn anew, for those too).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from experiments.few_labels.draws import WAYS
from experiments.few_labels.families import FAMILIES
from experiments.few_labels.graph_peers import METHODS as PEERS
from experiments.few_labels.methods import (
    ALONE,
    DEFAULT,
    OTHERS,
    OTHERS_SIZED,
    OURS,
    OURS_SIZED,
)
from experiments.few_labels.runs import Runs
from experiments.markdown import markdown_table
from experiments.problems import HALVES

OTHER_NAMES = (*OTHERS, *(name for name, peer in PEERS.items() if not peer.sized))
SIZED_NAMES = (*OTHERS_SIZED, *(name for name, peer in PEERS.items() if peer.sized))
# what a user would take instead, each as it comes
ALTERNATIVES = (
    "SVM", "random forest", "1-NN", "logistic regression", "LabelSpreading",
    "GL Laplace, own graph", "GL Poisson, own graph",
)  # fmt: skip
Scores = dict[str, dict[int, float]]  # method: seed: accuracy in %
Groups = dict[tuple[str, str, int], Scores]  # way, problem, budget
_TOLD = 0.5  # points by which a family gains or loses to be in the table of joined features
GOALS = {  # for 1, 5 and 10 labels per class at random places
    "digits": (91, 97, 97.8),
    "8-bit Indian Pines, spectral": (56, 74, 81),
    "8-bit Indian Pines, spatial": (62, 86, 93),
    "Salinas-A, spectral": (99.3, 99.9, 99.95),
    "Salinas-A, spatial": (99.3, 99.9, 99.95),
    "Jasper Ridge": (75, 84.5, 87.5),
    "tissue": (92, 97.5, 97.5),
}


def table(runs: Runs, *, ways: Sequence[str] = tuple(WAYS), each_other: bool = True) -> list[str]:
    """Return the lines of a Markdown table, a row for each way, problem and budget.

    Parameters
    ----------
    runs : mapping
        Accuracies, 0 to 1, by problem, way, budget, seed and method.
    ways : sequence of str
        Of drawing labels: those to show.
    each_other : bool
        Whether every other method has a column, not only the best.

    Returns
    -------
    list of str
    """
    groups = _grouped(runs)
    shown = _Columns(tuple(OURS), _present(groups), each_other)
    keys = [key for key in _in_order(groups) if key[0] in ways]
    return markdown_table(shown.head, [[*key, *shown.cells(groups[key])] for key in keys])


def sized_table(runs: Runs, *, ways: Sequence[str] = tuple(WAYS)) -> list[str]:
    """Return the table of methods that know the true class sizes, beside the graph alone."""
    groups = _grouped(runs)
    shown = _Columns((ALONE, *OURS_SIZED), SIZED_NAMES, False)
    rows = []
    for key in _in_order(groups):
        scores = _on_draws_of({*OURS_SIZED, *SIZED_NAMES}, groups[key])
        if key[0] in ways and scores:
            rows.append([*key, *shown.cells(scores)])
    return markdown_table(shown.head, rows)


def joined_table(runs: Runs) -> list[str]:
    """Return the table of the default, which features join, and of the graph alone.

    Of more than one label per class: with one, none can be held out, and both are the same. Of the
    families those rows whose mean changes by half a point.
    """
    head = ["half", "labels", "problem", "per class", ALONE, DEFAULT, "gain", "worst draw"]
    groups, rows = _grouped(runs), []
    for key in _in_order(groups):
        scores = groups[key]
        if key[2] == 1 or not {ALONE, DEFAULT} <= set(scores):
            continue
        ours, alone = scores[DEFAULT], scores[ALONE]
        if key[1] in FAMILIES and abs(_mean(ours) - _mean(alone)) < _TOLD:
            continue
        worst = min(ours[seed] - alone[seed] for seed in ours.keys() & alone.keys())
        row = [_half_of(key[1]), *key, f"{_mean(alone):.1f}", f"{_mean(ours):.1f}"]
        row += [_difference(ours, alone), f"{worst:+.1f}"]
        rows.append(row + _beside(ours, scores))
    return markdown_table([*head, "best other", f"{DEFAULT} - best other"], rows)


def _beside(ours: dict[int, float], scores: Scores) -> list[object]:
    best = best_of(scores, OTHER_NAMES)
    return ["-", "-"] if best is None else [best, _difference(ours, scores[best])]


def _on_draws_of(methods: Collection[str], scores: Scores) -> Scores:
    """Return the scores of all methods on the draws on which some of these were run."""
    seeds = {seed for method in methods for seed in scores.get(method, {})}
    kept = {
        method: {seed: score for seed, score in found.items() if seed in seeds}
        for method, found in scores.items()
    }
    return {method: found for method, found in kept.items() if found}


def leads(runs: Runs, *, ours: str = DEFAULT) -> list[str]:
    """Return in how many rows ours is ahead of the best other, level with it, or behind.

    Level is a mean difference inside its 95 % interval. There is a row for each half of the
    problems, kind of problem and way of drawing.
    """
    groups = _grouped(runs)
    found: dict[tuple[str, str, str], list[tuple[float, float, str]]] = {}
    for way, problem, budget in _in_order(groups):
        scores = groups[way, problem, budget]
        best = best_of(scores, OTHER_NAMES)
        if ours in scores and best is not None:
            mean, half = _paired_by_draw(scores[ours], scores[best])
            kind = "families" if problem in FAMILIES else "real"
            where = f"{problem}, {budget} per class: {mean:+.1f}"
            found.setdefault((_half_of(problem), kind, way), []).append((mean, half, where))
    head = ["half", "problems", "labels", "rows", "ahead", "level", "behind", "furthest behind"]
    return markdown_table(head, [[*key, *_counts(rows)] for key, rows in sorted(found.items())])


def _counts(rows: list[tuple[float, float, str]]) -> list[object]:
    ahead = sum(mean > half for mean, half, _ in rows)
    behind = sum(mean < -half for mean, half, _ in rows)
    lowest, _, where = min(rows)
    return [len(rows), ahead, len(rows) - ahead - behind, behind, where if lowest < 0 else "-"]


def shortfalls(runs: Runs) -> list[str]:
    """Return how far each method falls behind the best of the others that a user would take.

    In rows with at least five labels per class, on which the default and a support vector machine
    were run, by the means of the draws.
    """
    groups = _grouped(runs)
    behind: dict[str, list[float]] = {method: [] for method in (DEFAULT, *ALTERNATIVES)}
    for key in _in_order(groups):
        means = {name: _mean(groups[key][name]) for name in behind if name in groups[key]}
        if key[2] >= 5 and {DEFAULT, "SVM"} <= set(means):
            for name, mean in means.items():
                others = (other for which, other in means.items() if which != name)
                behind[name].append(max(*others, mean) - mean)
    head = ["method", "rows", "more than a point behind", "mean shortfall", "largest"]
    return markdown_table(
        head,
        [
            [name, len(of), sum(one > 1 for one in of), f"{np.mean(of):.1f}", f"{max(of):.1f}"]
            for name, of in behind.items()
            if of
        ],
    )


def _half_of(problem: str) -> str:
    return next((half for half, problems in HALVES.items() if problem in problems), "-")


def best_and_worst(runs: Runs, n_rows: int) -> list[str]:
    """Return the rows where our default is furthest ahead, then those furthest behind.

    Of the problems on which the graph methods of others were run too.
    """
    groups = _grouped(runs)
    shown = _Columns((DEFAULT,), _present(groups), False)
    keys = [
        key for key in _in_order(groups) if DEFAULT in groups[key] and PEERS.keys() & groups[key]
    ]
    keys.sort(key=lambda key: shown.lead(groups[key]), reverse=True)
    keys = [*keys[:n_rows], *keys[-n_rows:]]
    return markdown_table(shown.head, [[*key, *shown.cells(groups[key])] for key in keys])


def goals(runs: Runs) -> list[str]:
    """Return the table of the accuracies that were aimed at, and those of our default."""
    groups = _grouped(runs)
    rows = []
    for problem, aims in GOALS.items():
        means = [_mean(groups["equal", problem, budget][DEFAULT]) for budget in (1, 5, 10)]
        aimed = ", ".join(f"{aim:g}" for aim in aims)
        rows.append([problem, aimed, ", ".join(f"{mean:.1f}" for mean in means)])
    return markdown_table(["1, 5, 10 labels per class", "goal", DEFAULT], rows)


def _grouped(runs: Runs) -> Groups:
    groups: Groups = {}
    for (problem, way, budget, seed, method), accuracy in runs.items():
        scores = groups.setdefault((way, problem, budget), {})
        scores.setdefault(method, {})[seed] = 100 * accuracy
    return groups


def _in_order(groups: Groups) -> list[tuple[str, str, int]]:
    ways, problems = list(WAYS), list(dict.fromkeys(problem for _, problem, _ in groups))
    return sorted(groups, key=lambda k: (ways.index(k[0]), problems.index(k[1]), k[2]))


def _present(groups: Groups) -> list[str]:
    return [o for o in OTHER_NAMES if any(o in scores for scores in groups.values())]


@dataclass(frozen=True)
class _Columns:
    """What a table shows of each row: some of our methods, and the others or only their best."""

    ours: Sequence[str]
    others: Sequence[str]
    each_other: bool

    @property
    def head(self) -> list[str]:
        others = self.others if self.each_other else ()
        head = ["labels", "problem", "per class", "draws", *self.ours, "best other", *others]
        return head + [f"{ours} - best other" for ours in self.ours]

    def best(self, scores: Scores) -> str | None:
        return best_of(scores, self.others)

    def lead(self, scores: Scores) -> float:
        best = self.best(scores)
        return 0.0 if best is None else _mean(scores[self.ours[0]]) - _mean(scores[best])

    def cells(self, scores: Scores) -> list[object]:
        """Return the cells of one row after its name; a dash where a method was not run."""
        best = self.best(scores)
        cells: list[object] = [max(len(values) for values in scores.values())]
        cells += [_spread(scores[ours]) if ours in scores else "-" for ours in self.ours]
        cells.append("-" if best is None else f"{best} {_spread(scores[best])}")
        for other in self.others if self.each_other else ():
            cells.append(f"{_mean(scores[other]):.1f}" if other in scores else "-")
        for ours in self.ours:
            if best is None or ours not in scores:
                cells.append("-")
            else:
                cells.append(_difference(scores[ours], scores[best]))
        return cells


def best_of(scores: Scores, methods: Iterable[str]) -> str | None:
    """Return the method of the highest mean; None if none of them was run."""
    present = [method for method in methods if method in scores]
    return max(present, key=lambda method: _mean(scores[method]), default=None)


def _mean(scores: dict[int, float]) -> float:
    return float(np.mean(list(scores.values())))


def _spread(scores: dict[int, float]) -> str:
    values = np.array(list(scores.values()))
    deviation = values.std(ddof=1) if len(values) > 1 else np.nan
    return f"{values.mean():.1f} ± {deviation:.1f}"


def _difference(ours: dict[int, float], other: dict[int, float]) -> str:
    mean, half = _paired_by_draw(ours, other)
    return f"{mean:+.1f} ± {half:.1f}"


def _paired_by_draw(ours: dict[int, float], other: dict[int, float]) -> tuple[float, float]:
    both = sorted(ours.keys() & other.keys())
    return paired([ours[seed] for seed in both], [other[seed] for seed in both])


def paired(a: list[float], b: list[float], *, level: float = 0.95) -> tuple[float, float]:
    """Return the mean of a - b and half its Student interval; NaN for fewer than two pairs."""
    difference = np.subtract(a, b)
    n = len(difference)
    if n < 2:
        return (float(difference.mean()) if n else np.nan), np.nan
    half = student.ppf((1 + level) / 2, n - 1) * difference.std(ddof=1) / np.sqrt(n)
    return float(difference.mean()), float(half)
