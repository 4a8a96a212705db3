"""Agreement of clusters with the truth, whatever the clusters are called.

Each cluster is given the class, and each class the cluster, for which most points agree (the best
assignment, found by the Hungarian method); accuracies and kappa are those after it. Clusters
beyond the number of classes get none, and their points count as wrong. Two measures need no
assignment: normalised mutual information I(T; C) / ((H(T) + H(C)) / 2), and the adjusted Rand
index, the share of pairs on which both agree, less what chance would give.

Sources: H. W. Kuhn, The Hungarian method for the assignment problem, 1955; L. Hubert and P. Arabie,
Comparing partitions, 1985; A. Strehl and J. Ghosh, Cluster ensembles, 2002.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.evaluation.class_matching import best_assignment
from diffclass.evaluation.scores import Scores, classification_scores, same_points
from diffclass.exceptions import DataError

UNASSIGNED = -1


@dataclass(frozen=True)
class ClusterScores:
    """Agreement of clusters with the truth.

    Attributes
    ----------
    scores : Scores
        Accuracies, kappa and confusion after the best assignment; class -1 holds the points whose
        cluster was given none.
    assignment : mapping of int to int
        Class of each cluster that was given one.
    mutual_information : float
        Normalised, 0 to 1.
    adjusted_rand : float
        1 for equal partitions, 0 on average by chance.
    """

    scores: Scores
    assignment: Mapping[int, int]
    mutual_information: float
    adjusted_rand: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {
            "assignment": {str(cluster): value for cluster, value in self.assignment.items()},
            "normalized_mutual_information": self.mutual_information,
            "adjusted_rand_index": self.adjusted_rand,
            **self.scores.to_dict(),
        }


def cluster_scores(truth: ArrayLike, clusters: ArrayLike) -> ClusterScores:
    """Compare clusters with the truth after the best assignment.

    Parameters
    ----------
    truth : array-like of int of shape (n,)
        Class of each point, at least 0.
    clusters : array-like of int of shape (n,)
        Cluster of each point.

    Returns
    -------
    ClusterScores

    Raises
    ------
    DataError
        If the arrays differ in length, are empty, or hold other values than whole numbers.

    Examples
    --------
    >>> from diffclass.evaluation import cluster_scores
    >>> found = cluster_scores([1, 1, 1, 2, 2, 2], [7, 7, 7, 4, 4, 9])
    >>> found.assignment, round(found.scores.overall_accuracy, 3)
    ({4: 2, 7: 1}, 0.833)
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    truth, clusters = same_points(truth, clusters)
    if truth.dtype.kind not in "iu" or clusters.dtype.kind not in "iu" or truth.min() < 0:
        raise DataError("classes are whole numbers, at least 0, and clusters whole numbers")
    assignment = _best_assignment(truth, clusters)
    found, places = np.unique(clusters, return_inverse=True)
    given = np.array([assignment.get(cluster, UNASSIGNED) for cluster in found.tolist()])
    return ClusterScores(
        scores=classification_scores(truth.astype(np.int64), given[places]),
        assignment=assignment,
        mutual_information=float(normalized_mutual_info_score(truth, clusters)),
        adjusted_rand=float(adjusted_rand_score(truth, clusters)),
    )


def _best_assignment(truth: np.ndarray, clusters: np.ndarray) -> dict[int, int]:
    classes, codes = np.unique(truth, return_inverse=True)
    found, places = np.unique(clusters, return_inverse=True)
    shared = np.bincount(places * len(classes) + codes, minlength=len(found) * len(classes))
    chosen = best_assignment(shared.reshape(len(found), -1))
    return {int(found[c]): int(classes[k]) for c, k in zip(*chosen, strict=True)}
