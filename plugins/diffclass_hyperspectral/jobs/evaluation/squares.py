"""Squares of a picture, which count as independent of each other: neighbouring pixels do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from diffclass.evaluation import clustered_interval
from diffclass.jobs import other_accuracies, span_text
from diffclass_hyperspectral.io.labels import label_regions

_BLOCKS_ACROSS = 8


def squares(shape: tuple[int, int]) -> np.ndarray:
    """Return the number of each pixel's square, (rows, columns); eight on the longer side."""
    side = max(2, -(-max(shape) // _BLOCKS_ACROSS))
    rows, columns = np.indices(shape)
    return (rows // side) * (shape[1] // side + 1) + columns // side


def groups_in_squares(ids: np.ndarray) -> np.ndarray:
    """Return the group, from 0, of each labelled pixel: regions of a class that share a square.

    >>> import numpy as np
    >>> from diffclass_hyperspectral.jobs.evaluation import groups_in_squares
    >>> groups_in_squares(np.array([[1, 0, 0, 0, 1, 1], [0, 1, 0, 2, 0, 0]]))
    array([[ 0, -1, -1, -1,  1,  1],
           [-1,  0, -1,  2, -1, -1]])
    """
    regions = label_regions(ids)
    inside = regions >= 0
    region, n_regions = regions[inside], int(regions.max(initial=-1)) + 1
    place = np.stack([squares(ids.shape)[inside], ids[inside]])
    shared, place = np.unique(place, axis=1, return_inverse=True)
    n_nodes = n_regions + shared.shape[1]
    ties = coo_array(
        (np.ones(len(region)), (region, n_regions + place.ravel())), shape=(n_nodes, n_nodes)
    )
    regions[inside] = connected_components(ties, directed=False)[1][region]
    return regions


def describe_blocks(truth: np.ndarray, class_map: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Return the 95 % interval of the overall accuracy with squares of the picture as independent.

    ``known`` says which pixels to compare; None for one square.
    """
    right = (truth == class_map)[known]
    found = clustered_interval(right, squares(truth.shape)[known])
    is_alone = found.n_clusters < 2
    return {
        "n_blocks": found.n_clusters,
        "overall_accuracy": None if is_alone else [found.lower, found.upper],
        "effective_n": None if is_alone else found.effective_n,
    }


def accuracy_lines(facts: Mapping[str, Any], by_blocks: Mapping[str, Any]) -> list[str]:
    """Write the overall accuracy by squares first: single pixels are not independent."""
    spans = facts["intervals"]
    span = span_text(by_blocks["overall_accuracy"]) or "[unknown]"
    return [
        f"overall accuracy {facts['overall_accuracy']:.2%} {span}, the {spans['level']:.0%} "
        f"interval if the {by_blocks['n_blocks']} labelled squares of the picture are independent "
        "of each other",
        f"{spans['level']:.0%} intervals as if pixels were, here and below: overall accuracy "
        f"{span_text(spans['overall_accuracy'])}, {other_accuracies(facts)}",
    ]
