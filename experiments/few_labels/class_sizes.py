"""What sizes of the classes gain where they are right, and lose where they are wrong.

    python -m experiments.few_labels.class_sizes [problem ...]

Labels at random places, one and five per class, twenty draws; diffused by default, ``class_prior``

    none        nothing
    exact       the true shares
    range       half to one and a half times the true shares
    wrong       the true shares, each doubled or halved at random
    uniform     the same for all classes

The table goes to standard output: the mean accuracy without sizes, and how much each kind of sizes
gains over it, paired by draw, with a 95 % interval.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import t as student

from diffclass import diffuse_labels
from experiments.few_labels.draws import drawn
from experiments.few_labels.families import FAMILIES
from experiments.few_labels.methods import Setting
from experiments.markdown import markdown_table
from experiments.measures import mapped_classes
from experiments.problems import problem_of

KINDS = ("none", "exact", "range", "wrong", "uniform")
BUDGETS = (1, 5)
N_DRAWS = 20
NAMES = (
    "digits", "cora", "georsclip_vit_l_14", "clip_rn50", "unbalanced-blobs", "shares-1000",
    "six-sizes", "eight-sizes", "dense-in-wide", "overlapping", "moons", "three-blobs",
)  # fmt: skip


def priors(shares: np.ndarray, seed: int) -> dict[str, object]:
    """Return ``class_prior`` of each kind."""
    factors = np.random.default_rng([seed, 7]).choice([0.5, 2.0], len(shares))
    return {
        "none": None,
        "exact": shares,
        "range": (0.5 * shares, np.minimum(1.5 * shares, 1)),
        "wrong": shares * factors,
        "uniform": "uniform",
    }


def compute(name: str) -> Iterator[dict[str, object]]:
    """Yield one row per number of labels and draw: accuracies in percent by kind."""
    setting = Setting(problem_of(name))
    for seed in range(N_DRAWS):
        if name in FAMILIES:
            setting = Setting(problem_of(name, seed))
        truth = setting.problem.truth
        for budget in BUDGETS:
            y, scored = drawn(setting.problem, "equal", budget, seed)
            row: dict[str, object] = {
                "problem": setting.problem.name, "labels_per_class": budget, "seed": seed
            }  # fmt: skip
            for kind, prior in priors(setting.shares_of(y), seed).items():
                found = mapped_classes(diffuse_labels(setting.operator, y, class_prior=prior))
                row[kind] = 100 * float((found == truth)[scored].mean())
            yield row


def table(rows: Sequence[dict[str, object]]) -> list[str]:
    """Return the rows of a Markdown table."""
    lines = []
    for problem, budget in dict.fromkeys((row["problem"], row["labels_per_class"]) for row in rows):
        found = {
            kind: np.array(
                [
                    float(str(row[kind]))
                    for row in rows
                    if (row["problem"], row["labels_per_class"]) == (problem, budget)
                ]
            )
            for kind in KINDS
        }
        none = found.pop("none")
        gains = [_gain(accuracy - none) for accuracy in found.values()]
        lines.append([problem, budget, f"{none.mean():.1f}", *gains])
    return markdown_table(["problem", "per class", *KINDS], lines)


def _gain(differences: np.ndarray) -> str:
    n = len(differences)
    error = student.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return f"{differences.mean():+.1f} ± {error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=list(NAMES))
    warnings.simplefilter("ignore")
    for name in parser.parse_args().problems:
        print("\n".join(table(list(compute(name)))), flush=True)


if __name__ == "__main__":
    main()
