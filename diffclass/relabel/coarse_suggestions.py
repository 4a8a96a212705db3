"""Points to label next, chosen among aggregates: each aggregate stands for one of its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from diffclass.acquisition import Suggestions
from diffclass.coarsening import CoarseGraph

Suggest = Callable[[np.ndarray, ArrayLike | None, ArrayLike | None], Suggestions]


def suggest_coarsely(
    coarse: CoarseGraph,
    suggest: Suggest,
    *,
    labelled: np.ndarray,
    candidates: ArrayLike | None,
    coordinates: ArrayLike | None,
) -> Suggestions:
    """Choose aggregates to label next and return a point of each.

    Parameters
    ----------
    coarse : CoarseGraph
        m aggregates of n points.
    suggest : callable
        Takes labelled aggregates, which aggregates are candidates (or None), and coordinates of all
        (or None).
    labelled : ndarray of int
        The labelled points.
    candidates : array-like of bool of shape (n,), optional
        Points to choose from.
    coordinates : array-like of shape (n, d), optional

    Returns
    -------
    Suggestions
        Of points: the first candidate of each aggregate.
    """
    points = np.array(coarse.first_points)
    candidate_aggregates = None
    if candidates is not None:
        wanted = np.flatnonzero(candidates)
        own, first = np.unique(coarse.aggregates[wanted], return_index=True)
        points[own] = wanted[first]
        candidate_aggregates = np.isin(np.arange(len(coarse)), own)
    places = None if coordinates is None else np.asarray(coordinates)[points]
    found = suggest(coarse.restrict(labelled), candidate_aggregates, places)
    return replace(found, points=points[found.points])
