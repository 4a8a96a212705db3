"""From a file of points to an operator in blocks: the one way in beyond memory."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from diffclass._validation import RandomState, check_positive, check_seed
from diffclass.blocks.affinities import BlockKernel, weigh_edges
from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.block_edges import join_neighbors
from diffclass.blocks.engine import Engine
from diffclass.blocks.neighbors import find_neighbors
from diffclass.blocks.operator import BlockOperator, normalise
from diffclass.blocks.partition import check_file, make_blocks
from diffclass.blocks.scratch import Scratch
from diffclass.kernels import Kernel
from diffclass.system.identity import content_hash, sources


def build_operator(
    points: str | os.PathLike[str],
    *,
    scratch: Scratch,
    engine: Engine,
    n_neighbors: int = 12,
    kernel: Kernel | None = None,
    alpha: float = 0.0,
    random_state: RandomState = None,
    block_points: int = 500_000,
    mass: np.ndarray | None = None,
    content: str | None = None,
) -> tuple[BlockOperator, dict[str, Any]]:
    """Build the operator of the points of a file, block by block.

    It is the operator of `diffclass.markov_operator` on the points in the order of their places, up
    to the neighbours that either search misses. Stages that an earlier run with the same points,
    parameters and sources completed in the scratch folder are taken over, in the blocks of that
    run.

    Parameters
    ----------
    points : path-like
        A ``.npy`` file of float32 of shape (n, p), all finite; workers see it under the same path.
    scratch : Scratch
        For the operator, for what leads to it, and for "cells/order", the point of each place.
    engine : Engine
    n_neighbors : int, default=12
        Neighbours of a point in the graph.
    kernel : Kernel, optional
        The self-tuning `Gaussian`, or `SharedNeighbors` over it, which is the default.
    alpha : float, default=0.0
        Density exponent; see `diffclass.PointGraph.from_points`.
    random_state : int, RandomState or None, default=None
        Seeds cells, searches and samples.
    block_points : int, default=500_000
        About so many points per block, at most 1.5 times as many; see `plan.block_points_within`.
    mass : ndarray of shape (n,), optional
        How many equal points each of these stands for; 1 by default.
    content : str, optional
        `diffclass.system.identity.content_hash` of the points, where it is known already.

    Returns
    -------
    operator : BlockOperator
        The walk on n points, numbered by place.
    facts : dict
        n_points, n_blocks, n_edges, n_ghosts, n_overlap, n_searched (duplicates are joined
        instead); recall and crossing_recall, the shares of true neighbours and of true edges
        between blocks that were found; crossing_bound, the least that is aimed at; n_cut_off,
        blocks with less than half of theirs.

    Raises
    ------
    ParameterError
        If a parameter is out of range, the kernel does not work in blocks, or workers do not see
        the file or the scratch folder.
    DataError
        If the file cannot be read, holds NaN or infinity, no space is left for scratch files, or
        the folder holds the graph of other points or parameters, or is damaged.
    ClusterError
        If the cluster cannot go on.

    See Also
    --------
    markov_operator : For points whose graph fits into memory.
    BlockOperator.from_operator : Cuts an operator that there is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from diffclass.blocks import Scratch, SerialEngine, build_operator
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X = np.random.default_rng(0).normal(size=(900, 2)).astype(np.float32)
    ...     np.save(Path(folder, "points.npy"), X)
    ...     with Scratch.opened(Path(folder, "scratch"), job={}) as scratch:
    ...         operator, facts = build_operator(
    ...             Path(folder, "points.npy"), scratch=scratch, engine=SerialEngine(),
    ...             block_points=300, random_state=0,
    ...         )
    >>> len(operator), operator.n_blocks, facts["recall"] > 0.97
    (900, 3, True)
    """
    path = Path(points).resolve()
    check_positive(block_points, "block_points", integer=True)
    given = graph_identity(n_neighbors, kernel, alpha, random_state)
    n, _ = check_file(path)
    content = content or content_hash(np.load(path, mmap_mode="r"))
    made_from = given | {"points": content}
    facts: dict[str, Any] = {"n_points": n}

    def cells() -> dict[str, Any]:
        engine.require_visible(path, scratch.folder)
        seed = int(check_seed(random_state).randint(2**31 - 1 - n))
        made = make_blocks(
            scratch, engine, path, n_neighbors=n_neighbors, block_points=block_points, seed=seed
        )
        return made | {"seed": seed}

    facts |= scratch.completed("cells", cells, made_from=made_from)
    arrays, seed = BlockArrays(scratch, tuple(facts.pop("starts"))), facts.pop("seed")

    def after(*names: str) -> dict[str, str]:
        return {name: scratch.identity_of(name) for name in names}

    def neighbors() -> dict[str, Any]:
        return find_neighbors(
            arrays, engine,
            n_neighbors=n_neighbors, n_searched=facts["n_searched"], seed=seed,
        )  # fmt: skip

    def affinities() -> dict[str, Any]:
        return weigh_edges(arrays, engine, BlockKernel.of(kernel))

    facts |= scratch.completed("neighbors", neighbors, made_from=after("cells"))
    arrays.drop("cells/points", "cells/overlap", "cells/border")
    facts |= scratch.completed(
        "graph", lambda: join_neighbors(arrays, engine), made_from=after("neighbors")
    )
    parts = ("places", "lengths", "tied", "tied_lengths")
    arrays.drop("cells/representatives", *(f"neighbors/{part}" for part in parts))
    facts |= scratch.completed("affinities", affinities, made_from=after("graph"))
    arrays.drop("graph/distances")
    at_places = None if mass is None else mass[scratch.load("cells/order")]
    made = scratch.completed(
        "operator",
        lambda: normalise(arrays, engine, alpha, at_places),
        made_from=after("affinities") | ({} if mass is None else {"mass": content_hash(mass)}),
    )
    parts = ("graph/places", "graph/indptr", "graph/indices", "affinities/values")
    arrays.drop(*parts)
    operator = BlockOperator(scratch, arrays.starts, has_mass=made["has_mass"])
    return operator, facts | {"n_blocks": arrays.n_blocks}


def graph_identity(
    n_neighbors: int, kernel: Kernel | None, alpha: float, random_state: RandomState
) -> dict[str, Any]:
    """Return what a graph in blocks depends on besides its points; `ParameterError` for others.

    The memory, the engine and the workers do not count: they change which neighbours are missed by
    chance, and nothing that was asked for.

    Examples
    --------
    >>> from diffclass.blocks import graph_identity
    >>> from diffclass.system.identity import differences
    >>> differences(graph_identity(12, None, 0.0, 0), graph_identity(12, None, 1.0, 0))
    ['alpha (0.0, now 1.0)']
    """
    check_positive(n_neighbors, "n_neighbors", integer=True)
    check_positive(alpha, "alpha", zero=True)
    kept: Any = random_state
    if isinstance(random_state, np.random.RandomState):
        name, keys, *others = random_state.get_state(legacy=True)
        kept = content_hash(name, keys, others)
    return {
        "n_neighbors": int(n_neighbors),
        "kernel": asdict(BlockKernel.of(kernel)),
        "alpha": float(alpha),
        "random_state": kept if kept is None or isinstance(kept, str) else int(kept),
        "sources of diffclass": sources(),
    }
