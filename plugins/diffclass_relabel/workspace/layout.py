"""A graph drawn in the plane, and its points settled on the cells of a raster, one on each.

The drawing begins with two diffusion coordinates. Then edges pull their ends together and points at
random push each other away, as in UMAP, but on the affinities of the walk.

Source: L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection for
Dimension Reduction" (2018), section 3.2 and algorithm 5, with the curve of a least distance of 0.1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from diffclass import MarkovOperator
from diffclass.spectral import leading_eigenpairs
from diffclass.system.progress import checkpoint, stage

N_COORDINATES = 3
CELLS_PER_POINT = 5  # fewer merge what lies apart, more leave points small on the screen
_A, _B = 1.577, 0.895  # membership 1 / (1 + a d^2b)
_MOST_MOVED = 4.0  # of one step, for each coordinate
_N_PUSHED = 5  # points at random for each pull
_EPOCHS, _PARTS = 200, 20
_WIDTH = 10.0  # of the drawing that it begins with
_FAR = 0.005  # share of the points on each side that are
_ROOM = 0.03  # at each edge of the raster, as a share of it
_LONGEST = 2.0  # side of the raster, as a multiple of the other


def graph_coordinates(operator: MarkovOperator, *, random_state: int = 0) -> np.ndarray:
    """Return the first non-trivial eigenvectors of a walk, float64 (n, 3), or fewer and zeros."""
    n_pairs = min(N_COORDINATES + 1, len(operator))
    found = leading_eigenpairs(operator, n_pairs, random_state=random_state).right[:, 1:]
    coordinates = np.zeros((len(operator), N_COORDINATES))
    coordinates[:, : found.shape[1]] = found
    return coordinates


def drawn(
    operator: MarkovOperator, coordinates: np.ndarray, *, random_state: int = 0
) -> np.ndarray:
    """Return a drawing of a graph, float64 (n, 2), begun with the first two coordinates."""
    rng = np.random.default_rng(random_state)
    affinity = operator.affinity.tocoo()
    above = affinity.row < affinity.col
    first, second = affinity.row[above], affinity.col[above]
    order = rng.permutation(len(first))
    first, second = first[order].astype(np.int64), second[order].astype(np.int64)
    weights = affinity.data[above][order].astype(np.float64)
    weights /= max(weights.max(initial=0.0), np.finfo(float).tiny)
    places = coordinates[:, :2] - coordinates[:, :2].mean(axis=0)
    places = _WIDTH * places / np.maximum(np.abs(places).max(axis=0), np.finfo(float).tiny)
    places = places + rng.normal(scale=1e-3, size=places.shape)  # what lies together has to part
    state = np.array([rng.integers(1, 2**63)], dtype=np.uint64)
    with stage("drawing", parts=_PARTS) as part_done:
        for epoch in range(0, _EPOCHS, _EPOCHS // _PARTS):
            checkpoint()
            _move(places, first, second, weights, epoch, epoch + _EPOCHS // _PARTS, state)
            part_done()
    return places


@njit(cache=True, nogil=True)
def _move(
    places: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    weights: np.ndarray,
    begin: int,
    end: int,
    state: np.ndarray,
) -> None:
    """Draw a graph for some epochs; an edge of weight w in [0, 1] pulls in a share w of them."""
    n = len(places)
    word = state[0]
    for epoch in range(begin, end):
        rate = 1.0 - epoch / _EPOCHS
        for edge in range(len(first)):
            due = np.floor((epoch + 1) * weights[edge]) > np.floor(epoch * weights[edge])
            if not due:
                continue
            i, j = first[edge], second[edge]
            x, y = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
            square = x * x + y * y
            if square > 0.0:
                pull = -2.0 * _A * _B * square ** (_B - 1.0) / (1.0 + _A * square**_B)
                x, y = rate * _bounded(pull * x), rate * _bounded(pull * y)
                places[i, 0] += x
                places[i, 1] += y
                places[j, 0] -= x
                places[j, 1] -= y
            for _ in range(_N_PUSHED):
                word ^= word << np.uint64(13)  # xorshift (G. Marsaglia 2003)
                word ^= word >> np.uint64(7)
                word ^= word << np.uint64(17)
                k = np.int64(word % np.uint64(n))
                x, y = places[i, 0] - places[k, 0], places[i, 1] - places[k, 1]
                square = x * x + y * y
                if square > 0.0:
                    push = 2.0 * _B / ((0.001 + square) * (1.0 + _A * square**_B))
                    places[i, 0] += rate * _bounded(push * x)
                    places[i, 1] += rate * _bounded(push * y)
    state[0] = word


@njit(cache=True, nogil=True)
def _bounded(step: float) -> float:
    return min(max(step, -_MOST_MOVED), _MOST_MOVED)


def settled(places: np.ndarray, *, random_state: int = 0) -> tuple[np.ndarray, tuple[int, int]]:
    """Give each point a cell of a raster of its own, the free one nearest to its place.

    Returns cells, row * columns + column, and the shape of the raster of about 5 n cells.

    >>> cells, shape = settled(np.zeros((10, 2)))
    >>> len(set(cells.tolist())), shape
    (10, (7, 8))
    """
    # few points far away would leave no room for the others: they come to the edge
    low, high = np.quantile(places, [_FAR, 1 - _FAR], axis=0)
    extent = np.maximum(high - low, np.finfo(float).tiny)
    n_cells = CELLS_PER_POINT * len(places)
    ratio = float(np.clip(extent[1] / extent[0], 1 / _LONGEST, _LONGEST))
    columns = int(np.ceil(np.sqrt(n_cells / ratio)))
    rows = int(np.ceil(n_cells / columns))
    inner = (1 - 2 * _ROOM) * np.clip((places - low) / extent, 0, 1) + _ROOM
    wanted = np.ascontiguousarray(inner[:, ::-1] * [rows, columns])
    order = np.random.default_rng(random_state).permutation(len(places))
    return _settle(wanted, order, rows, columns), (rows, columns)


@njit(cache=True, nogil=True)
def _settle(places: np.ndarray, order: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Look for free cells in rings; `first_ring` is the first about a cell that may have one."""
    is_taken = np.zeros((rows, columns), dtype=np.bool_)
    first_ring = np.zeros((rows, columns), dtype=np.int32)
    cells = np.empty(len(places), dtype=np.int32)
    for i in order:
        y, x = places[i]
        row, column = min(max(int(y), 0), rows - 1), min(max(int(x), 0), columns - 1)
        ring, nearest, cell = first_ring[row, column], np.inf, -1
        while cell < 0 or nearest > (ring - 1.0) ** 2:  # a farther ring may hold a nearer one
            for r in range(max(row - ring, 0), min(row + ring, rows - 1) + 1):
                at_end = r in (row - ring, row + ring)
                step = 1 if at_end else max(2 * ring, 1)
                for c in range(column - ring, column + ring + 1, step):
                    if 0 <= c < columns and not is_taken[r, c]:
                        square = (r + 0.5 - y) ** 2 + (c + 0.5 - x) ** 2
                        if square < nearest:
                            nearest, cell = square, r * columns + c
            if cell < 0:
                first_ring[row, column] = ring
            ring += 1
        cells[i] = cell
        is_taken[cell // columns, cell % columns] = True
    return cells
