"""How long a run in blocks, or in memory, will take: an estimate, made before it starts.

The unit is what a small search and a few steps take here and now: a slower machine, or one that has
other things to do, takes longer for them too. Stages take so many units per million of

    features      pixels x bands
    cells         points x features
    neighbours    points searched, guests included, x features x g^0.25
    affinities    edges x g^0.25, with all that leads from lists of neighbours to the operator
    diffusion     edges x classes x steps x g^0.5
    maps          points x classes
    calibration   as diffusion, with the columns and steps of labels that are left out

where g is the number of points in millions: more of them are harder to tell apart, and their blocks
have more borders. In memory there are no cells, the map is part of the diffusion, and the diffusion
grows with its work alone. Calibration is not on the way to the map: only probabilities need it.

What no one knows before is the number of steps, how hard the points make the search, and how fast a
disk is that holds more than memory does. ``python -m experiments.scaling.forecasts`` compares the
estimates with runs, and prints the constants that would have been right.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from diffclass.blocks.costs import expected_guests
from diffclass.label_diffusion.left_out import FOLDS, MOST_LEFT_OUT
from diffclass.neighbors import NNDescentSearch
from diffclass.neighbors.graph import expected_edges
from diffclass.point_graph import PointGraph
from diffclass.progress import stage_seconds


@dataclass(frozen=True)
class Pace:
    """How long a stage takes.

    Attributes
    ----------
    units : float
        Units of time per million of its work.
    growth : float
        Exponent of g.
    is_repeated : bool
        Whether another fit to the same points takes it again.
    """

    units: float
    growth: float = 0.0
    is_repeated: bool = True


# Of scenes of 600 x 600 to 1,600 x 1,600 pixels in blocks of 200,000. Fit them again where
# neighbours are searched, or walks end, in another way.
IN_BLOCKS = {
    "features": Pace(0.02, is_repeated=False),
    "cells": Pace(0.46, is_repeated=False),
    "neighbors": Pace(4.3, 0.25, is_repeated=False),
    "affinities": Pace(2.0, 0.25, is_repeated=False),
    "diffusion": Pace(2.6e-3, 0.5),
    "maps": Pace(0.033),
    "calibration": Pace(1.0e-3, 0.5),
}
# Of the scenes of `experiments.scaling.million`.
IN_MEMORY = {
    "features": Pace(0.014, is_repeated=False),
    "neighbors": Pace(3.9, 0.25),
    "affinities": Pace(0.53, 0.25),
    "diffusion": Pace(1.2e-3),
    "calibration": Pace(7e-4),
}
_STEPS = 64  # of a walk to its end
_SMOOTHING = 12.0  # times as long for features at several scales

# The unit: points, their features and neighbours, steps of so many columns.
_POINTS, _FEATURES, _NEIGHBORS, _COLUMNS, _UNIT_STEPS = 12_000, 16, 12, 8, 32


def forecast_seconds(
    n_points: int,
    n_features: int,
    n_neighbors: int,
    n_classes: int,
    *,
    block_points: int | None,
    n_bands: int = 0,
    is_spatial: bool = False,
    n_fits: int = 1,
    n_machines: int = 1,
    unit: float | None = None,
) -> dict[str, float]:
    """Estimate the seconds of each stage to the map, and of "calibration" for probabilities.

    Parameters
    ----------
    n_points, n_features, n_neighbors, n_classes : int
    block_points : int or None
        As in `build_operator`; None: the whole graph is in memory.
    n_bands : int, default=0
        Of the scene that features are made of.
    is_spatial : bool, default=False
        Whether they are made at several scales.
    n_fits : int, default=1
        To the same points, with other labels.
    n_machines : int, default=1
        That share the work. Processes of one machine share its cores, and gain nothing here.
    unit : float, optional
        Seconds of a unit; by default it is timed, once in the life of this process.

    Returns
    -------
    dict of str to float
        By stage: those of `IN_BLOCKS` or `IN_MEMORY`.
    """
    unit = unit_seconds() if unit is None else unit
    work = units_of_work(
        n_points, n_features, n_neighbors, n_classes, block_points=block_points, n_bands=n_bands
    )
    millions = n_points / 1e6
    found = {
        name: unit * pace.units * work[name] * millions**pace.growth
        * (n_fits if pace.is_repeated else 1)
        for name, pace in paces(block_points).items()
    }  # fmt: skip
    found["features"] *= _SMOOTHING if is_spatial else 1
    shared = found.keys() - {"features", "maps"}  # the leading process makes these
    return {
        name: seconds / n_machines if name in shared else seconds for name, seconds in found.items()
    }


def paces(block_points: int | None) -> dict[str, Pace]:
    """Return how long the stages take, in blocks or, with None, in memory."""
    return IN_MEMORY if block_points is None else IN_BLOCKS


def units_of_work(
    n_points: int,
    n_features: int,
    n_neighbors: int,
    n_classes: int,
    *,
    block_points: int | None,
    n_bands: int,
) -> dict[str, float]:
    """Return what each stage has to do, in the millions that the units of a `Pace` count.

    Parameters
    ----------
    n_points, n_features, n_neighbors, n_classes, block_points, n_bands : int
        As in `forecast_seconds`.
    """
    edges = expected_edges(n_points, n_neighbors)
    guests = 0.0 if block_points is None else expected_guests(n_points, block_points)
    left_out = MOST_LEFT_OUT if block_points is None else FOLDS * n_classes
    work = {
        "features": n_points * n_bands,
        "cells": n_points * n_features,
        "neighbors": (1 + guests) * n_points * n_features,
        "affinities": edges,
        "diffusion": edges * n_classes * _STEPS,
        "maps": n_points * n_classes,
        "calibration": edges * left_out * _STEPS,
    }
    return {name: amount / 1e6 for name, amount in work.items()}


@cache
def unit_seconds() -> float:
    """Return the seconds of a unit on this machine, now; timed once, in a second or two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_POINTS, _FEATURES)).astype(np.float32)
    columns = rng.random((_POINTS, _COLUMNS), dtype=np.float32)
    with stage_seconds():  # nobody else is to hear of these stages
        _unit(X[:1000], columns[:1000])  # loads what is compiled
        start = time.perf_counter()
        _unit(X, columns)
        return time.perf_counter() - start


def _unit(X: np.ndarray, columns: np.ndarray) -> None:
    search = NNDescentSearch(_NEIGHBORS, random_state=0)
    operator = PointGraph.from_points(X, search=search).operator
    for _ in range(_UNIT_STEPS):
        columns = operator.apply(columns, 1)
