"""New labels round by round: the diffusion restarts with all, or is warped by the last round."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass import MarkovOperator, StoppingRule, WarpedOperator, diffuse_labels, warped_operator
from diffclass.label_diffusion import LabelDiffusion
from experiments.few_labels.draws import draw_labels

ROUNDS = 5
RULE = StoppingRule(max_time=256)
PAPERS_RULE = StoppingRule("margin", max_time=256, kept_share=1, covered=False)


@dataclass(frozen=True)
class Round:
    """Result of a round of labels, its operator and its processor time."""

    diffused: LabelDiffusion
    operator: MarkovOperator | WarpedOperator
    seconds: float

    def is_right(self, truth: np.ndarray) -> np.ndarray:
        return self.diffused.classes[self.diffused.codes] == truth


def draw_rounds(truth: np.ndarray, n_first: int, seed: int) -> list[np.ndarray]:
    """Return the labels of each round: ``n_first`` per class, then one more per class at random."""
    y, unlabelled = draw_labels(truth, n_first, seed)
    rng = np.random.default_rng([seed, 1])
    added = rng.permutation(np.flatnonzero(unlabelled))
    n_new = len(np.unique(truth[truth > 0]))
    rounds = [y]
    for start in range(0, ROUNDS * n_new, n_new):
        y, new = y.copy(), added[start : start + n_new]
        y[new] = truth[new]
        rounds.append(y)
    return rounds


def doubled_rounds(truth: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return the labels of each round: one per class, then twice as many, until all points."""
    rng, rank = np.random.default_rng([seed, 2]), np.zeros(len(truth), dtype=int)
    for class_id in np.unique(truth[truth > 0]):
        members = rng.permutation(np.flatnonzero(truth == class_id))
        rank[members] = np.arange(len(members))
    n_rounds = 1 + int(rank.max()).bit_length()
    return [np.where((rank < 2**i) & (truth > 0), truth, -1) for i in range(n_rounds)]


def restarted(
    operator: MarkovOperator,
    rounds: list[np.ndarray],
    *,
    labels: str = "free",
    rule: StoppingRule = RULE,
) -> Iterator[Round]:
    """Diffuse the labels of each round by the unwarped operator."""
    for y in rounds:
        start = time.process_time()
        diffused = diffuse_labels(operator, y, label_mode=labels, tau=rule)
        yield Round(diffused, operator, time.process_time() - start)


def warped(
    operator: MarkovOperator,
    rounds: list[np.ndarray],
    *,
    labels: str = "free",
    rule: StoppingRule = RULE,
    scores: np.ndarray | None = None,
    **options: Any,
) -> Iterator[Round]:
    """Diffuse the first labels unwarped, those of later rounds warped by the round before.

    ``scores`` replace the posteriors of the first round; ``options`` go to `warped_operator`.
    """
    (last,) = restarted(operator, rounds[:1], labels=labels, rule=rule)
    yield last
    scores = last.diffused.posteriors if scores is None else scores
    for y in rounds[1:]:
        start = time.process_time()
        by = warped_operator(operator, scores, y=y, **options)
        diffused = diffuse_labels(by, y, label_mode=labels, tau=rule)
        yield Round(diffused, by, time.process_time() - start)
        scores = diffused.posteriors


def crossing(operator: MarkovOperator | WarpedOperator, truth: np.ndarray) -> float:
    """Return the probability that a step in equilibrium leads from one class to another.

    It is that of steps between points of known class, averaged over the walks of the classes.
    """
    truth = operator.unwarped.at_nodes(truth)
    classes = np.unique(truth[truth > 0])
    members = truth[:, None] == classes
    degrees = np.asarray(operator.degrees).reshape(len(truth), -1)
    moved = operator.forward(members * degrees)
    stayed = (moved * members).sum(axis=0)
    left = (moved * (~members & (truth > 0)[:, None])).sum(axis=0)
    return float(np.mean(left / (stayed + left)))
