"""Coifman et al. 2005, end of section 3: the claims about warping with earlier scores, measured.

One label per class is followed by five rounds of new labels at random places, one per class each.
In each round the labels diffuse again from the start (restart), or by operators warped with the
last posteriors. The steps to tau and the probability of crossing between classes in one step fall
from round to round; the accuracy, on points that are never labelled, is about that of the restart.
Then, on digits, the effect of the forward exponent and of the floor of the scores, and how wrong
scores (of a tenth of the points, at random places or in five clumps) are overturned.

The paper claims that with consistent labels each round is faster, and that the diffusion is at last
within disjoint sets alone. For that the labels of digits are doubled from one per class to all
points, by restarts, by walks warped with the defaults and by the paper's own kernel (floor 0, read
backward), each at the largest margin, as in the paper, and at the kept share. Both claims hold of
the paper's kernel at the kept share. At the largest margin a restart with the same labels is as
fast. It ends in steps that never cross, where the default floor leaves some; until then it loses
points, since what a wrong score rules out no label brings back. Once nothing crosses, the margin
stays at 1, and tau is the last time there is.

    python -m experiments.coifman_2005.warping
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from diffclass import MarkovOperator, StoppingRule, diffuse_labels
from diffclass.plots import BLUE, VERMILION
from experiments.coifman_2005.rounds import (
    PAPERS_RULE,
    ROUNDS,
    RULE,
    Round,
    crossing,
    doubled_rounds,
    draw_rounds,
    restarted,
    warped,
)
from experiments.figure import column_figure, main
from experiments.problems import PROBLEMS, default_operator

NAMES = {
    "digits": "digits",
    "salinas-spectral": "Salinas-A",
    "pines-spectral": "Indian Pines",
}
WAYS = {"restart": restarted, "warped": warped}
CLAIMS = {
    "restart": restarted,
    "warped": warped,
    "paper's kernel": partial(warped, floor=0, forward_exponent=0),
}
RULES = {"largest margin": PAPERS_RULE, "kept share": RULE}
CLAIMED = ("accuracy (%)", "steps to tau", "crossing in a step")
QUANTITIES = ("accuracy (%)", "steps to tau", "crossing in a step", "processor time (s)")
READINGS = (0.0, 0.25, 0.5, 1.0)
FLOORS = (0.01, 0.1, 0.4)
WRONG_SHARE, N_CLUMPS = 0.1, 5
DRAWN = ("accuracy (%)", "steps to tau", "crossing (%)")
MARKS = ((BLUE, "o"), (VERMILION, "s"), ("black", "^"))


def compute(quick: bool) -> dict[str, Any]:
    n_draws = 2 if quick else 10
    names = [*NAMES][:1] if quick else [*NAMES]
    return {
        "rounds": {name: _compared(name, n_draws) for name in names},
        "forward_exponents": _forward_exponents(n_draws),
        "overturned": _overturned(n_draws),
        "claims": _claims(n_draws),
    }


def _compared(name: str, n_draws: int) -> dict[tuple[str, str], np.ndarray]:
    """Return, by labels and way, the quantities of each draw and round."""
    problem = PROBLEMS[name]()
    operator, truth = default_operator(problem), problem.truth
    found: dict[tuple[str, str], list] = {}
    for seed in range(n_draws):
        rounds = draw_rounds(truth, 1, seed)
        scored = (truth > 0) & (rounds[-1] < 0)
        for labels in ("free", "absorbing"):
            for way, run in WAYS.items():
                seen = [
                    (
                        100 * step.is_right(truth)[scored].mean(),
                        step.diffused.tau,
                        crossing(step.operator, truth),
                        step.seconds,
                    )
                    for step in run(operator, rounds, labels=labels)
                ]
                found.setdefault((labels, way), []).append(seen)
    return {key: np.array(values) for key, values in found.items()}


def _claims(n_draws: int) -> dict[tuple[str, str], np.ndarray]:
    """Return, by rule of time and way, what is claimed of each draw and round."""
    problem = PROBLEMS["digits"]()
    operator, truth = default_operator(problem), problem.truth
    found: dict[tuple[str, str], list] = {}
    for seed in range(n_draws):
        rounds = doubled_rounds(truth, seed)
        for name, rule in RULES.items():
            for way, run in CLAIMS.items():
                steps = run(operator, rounds, labels="free-l1", rule=rule)
                seen = [
                    (_right(step, truth, y), step.diffused.tau, crossing(step.operator, truth))
                    for y, step in zip(rounds, steps, strict=True)
                ]
                found.setdefault((name, way), []).append(seen)
    return {key: np.array(values) for key, values in found.items()}


def _right(step: Round, truth: np.ndarray, y: np.ndarray) -> float:
    """Return the accuracy in % on points without a label; NaN where all have one."""
    unlabelled = (y < 0) & (truth > 0)
    return 100 * step.is_right(truth)[unlabelled].mean() if unlabelled.any() else np.nan


def _forward_exponents(n_draws: int) -> dict[tuple[float, float], np.ndarray]:
    """Return, by forward exponent and floor, accuracy and steps after the last round."""
    problem = PROBLEMS["digits"]()
    operator, truth = default_operator(problem), problem.truth
    found: dict[tuple[float, float], list] = {}
    for seed in range(n_draws):
        rounds = draw_rounds(truth, 1, seed)
        scored = rounds[-1] < 0
        for forward_exponent in READINGS:
            for floor in FLOORS:
                *_, last = warped(operator, rounds, forward_exponent=forward_exponent, floor=floor)
                accuracy = 100 * last.is_right(truth)[scored].mean()
                found.setdefault((forward_exponent, floor), []).append(
                    (accuracy, last.diffused.tau)
                )
    return {key: np.array(values) for key, values in found.items()}


def _overturned(n_draws: int) -> dict[tuple[str, str], np.ndarray]:
    """Return, by kind of error and way, the share of wrong scores overturned by each round."""
    problem = PROBLEMS["digits"]()
    operator, truth = default_operator(problem), problem.truth
    ways = {"forward exponent 0.25": {}, "forward exponent 1": {"forward_exponent": 1.0}}
    found: dict[tuple[str, str], list] = {}
    for seed in range(n_draws):
        rounds = draw_rounds(truth, 5, seed)
        scores = diffuse_labels(
            operator, rounds[0], label_mode="free", tau=StoppingRule(max_time=256)
        ).posteriors
        for kind in ("scattered", "clumped"):
            wrong, spoilt = _spoilt(operator, scores, truth, rounds, kind, seed)
            runs = {
                way: warped(operator, rounds, scores=spoilt, **options)
                for way, options in ways.items()
            } | {"not warped": restarted(operator, rounds)}
            for way, run in runs.items():
                share = [step.is_right(truth)[wrong].mean() for step in run][1:]
                found.setdefault((kind, way), []).append(share)
    return {key: 100 * np.array(values) for key, values in found.items()}


def _spoilt(
    operator: MarkovOperator,
    scores: np.ndarray,
    truth: np.ndarray,
    rounds: list[np.ndarray],
    kind: str,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a tenth of the points, never labelled, and scores that are certain and wrong there."""
    rng = np.random.default_rng([seed, 2])
    candidates, n_wrong = rounds[-1] < 0, int(WRONG_SHARE * len(truth))
    if kind == "scattered":
        wrong = rng.choice(np.flatnonzero(candidates), n_wrong, replace=False)
        codes = (truth[wrong] - 1 + rng.integers(1, scores.shape[1], n_wrong)) % scores.shape[1]
    else:
        centers = rng.choice(np.flatnonzero(candidates), N_CLUMPS, replace=False)
        groups = np.full(len(truth), -1)
        groups[centers] = np.arange(N_CLUMPS)
        hops = np.where(candidates[:, None], operator.hops(groups), len(truth))
        clump = hops.argmin(axis=1)
        wrong = np.argsort(hops.min(axis=1), kind="stable")[:n_wrong]
        codes = truth[centers[clump[wrong]]] % scores.shape[1]
        kept = codes != truth[wrong] - 1  # a clump may reach into the class that its scores name
        wrong, codes = wrong[kept], codes[kept]
    spoilt = scores.copy()
    spoilt[wrong] = np.eye(scores.shape[1])[codes]
    return wrong, spoilt


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, runs in results["rounds"].items():
        for labels in ("free", "absorbing"):
            for way in WAYS:
                means = runs[labels, way].mean(axis=0)
                for quantity, values in zip(QUANTITIES, means.T, strict=True):
                    for step, value in enumerate(values):
                        found[f"{name}, {labels}, {way}, round {step}: {quantity}"] = value
            gain = runs[labels, "warped"][:, -1, 0] - runs[labels, "restart"][:, -1, 0]
            found[f"{name}, {labels}: accuracy warped less restart, last round"] = gain.mean()
            half = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
            found[f"{name}, {labels}: half of its 95 % interval"] = half
            spent = [runs[labels, way][:, 1:, 3].sum(axis=1) for way in WAYS]
            found[f"{name}, {labels}: processor time warped over restart"] = np.median(
                spent[1] / spent[0]
            )
    for (forward_exponent, floor), values in results["forward_exponents"].items():
        setting = f"digits, forward exponent {forward_exponent}, floor {floor}"
        found[f"{setting}: accuracy (%)"] = values[:, 0].mean()
        found[f"{setting}: steps to tau"] = values[:, 1].mean()
    for (rule, way), values in results["claims"].items():
        for quantity, by_round in zip(CLAIMED, values.mean(axis=0).T, strict=True):
            for step, value in enumerate(by_round[~np.isnan(by_round)]):
                found[f"digits, doubled labels, {rule}, {way}, round {step}: {quantity}"] = value
    for (kind, way), values in results["overturned"].items():
        for step, value in enumerate(values.mean(axis=0), start=1):
            found[f"digits, {kind} errors, {way}, round {step}: right (%)"] = value
    return found


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(6.8)
    above, below = figure.subfigures(2, 1, height_ratios=(1.35, 1))
    _plot_rounds(above, results["rounds"])
    panels = below.subplots(2, 2)
    _plot_forward_exponents(panels[0], results["forward_exponents"])
    _plot_overturned(panels[1], results["overturned"])
    handles = panels[1, 1].get_legend_handles_labels()
    below.legend(*handles, loc="outside lower center", ncols=3, columnspacing=1.0)
    return figure


def _plot_rounds(part: Any, runs: dict[str, Any]) -> None:
    """Draw accuracy, steps and crossing by round, a column for each problem."""
    panels = part.subplots(len(DRAWN), len(runs), squeeze=False)
    for column, (name, found) in zip(panels.T, runs.items(), strict=True):
        column[0].set_title(NAMES[name])
        for i, (axes, label) in enumerate(zip(column, DRAWN, strict=True)):
            for (labels, way), values in found.items():
                axes.plot(
                    range(ROUNDS + 1),
                    values[:, :, i].mean(axis=0) * (1 if i < 2 else 100),
                    color={"free": BLUE, "absorbing": VERMILION}[labels],
                    linestyle={"restart": "--", "warped": "-"}[way],
                    marker={"free": "o", "absorbing": "s"}[labels],
                    label=f"{labels}, {way}",
                )
            if axes in panels[:, 0]:
                axes.set_ylabel(label)
        column[-1].set_xlabel("round")
    part.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)


def _plot_forward_exponents(
    panels: np.ndarray, found: dict[tuple[float, float], np.ndarray]
) -> None:
    for axes, i in zip(panels, (0, 1), strict=True):
        for floor, (color, mark) in zip(FLOORS, MARKS, strict=True):
            values = [found[forward_exponent, floor][:, i].mean() for forward_exponent in READINGS]
            axes.plot(READINGS, values, color=color, marker=mark, label=f"floor {floor}")
        axes.set(xlabel="forward exponent", ylabel=DRAWN[i], title="digits, last round")
    panels[0].legend(loc="lower center")


def _plot_overturned(panels: np.ndarray, found: dict[tuple[str, str], np.ndarray]) -> None:
    marks = dict(zip(dict.fromkeys(way for _, way in found), MARKS, strict=True))
    for axes, kind in zip(panels, ("scattered", "clumped"), strict=True):
        for way, (color, mark) in marks.items():
            share = found[kind, way].mean(axis=0)
            axes.plot(range(1, ROUNDS + 1), share, color=color, marker=mark, label=way)
        axes.set(xlabel="round", title=f"digits, {kind} errors")
    panels[0].set_ylabel("overturned (%)")


if __name__ == "__main__":
    main(compute, numbers, plot)
