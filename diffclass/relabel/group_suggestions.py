"""Points to label next, chosen among groups of points: each group stands for one of its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from diffclass.acquisition import Suggestions
from diffclass.relabel.point_groups import PointGroups

Suggest = Callable[[np.ndarray, np.ndarray | None, np.ndarray | None], Suggestions]


def suggest_by_groups(
    groups: PointGroups,
    suggest: Suggest,
    *,
    labelled: np.ndarray,
    candidates: ArrayLike | None,
    coordinates: ArrayLike | None,
) -> Suggestions:
    """Choose groups to label next and return a point of each.

    Parameters
    ----------
    groups : PointGroups
        m groups of n points.
    suggest : callable
        Takes labelled groups, which groups are candidates (or None), and coordinates of all (or
        None).
    labelled : ndarray of int
        The labelled points.
    candidates : array-like of bool of shape (n,), optional
        Points to choose from.
    coordinates : array-like of shape (n, d), optional

    Returns
    -------
    Suggestions
        Of points: the first candidate of each group.
    """
    points = np.array(groups.first_points)
    candidate_groups = None
    if candidates is not None:
        wanted = np.flatnonzero(candidates)
        own, first = np.unique(groups.of_point[wanted], return_index=True)
        points[own] = wanted[first]
        candidate_groups = np.isin(np.arange(len(groups)), own)
    places = None if coordinates is None else np.asarray(coordinates)[points]
    found = suggest(groups.of(labelled), candidate_groups, places)
    return replace(found, points=points[found.points])
