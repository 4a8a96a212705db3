"""Splits of a space of functions: cell by cell into orthogonalised bumps and wavelets.

In an orthonormal basis of V let T be a symmetric power of the walk and B a cell of basis functions.
Columns of T are bumps. A pivoted QR decomposition of their part in the cell,

    T(B, :) P = Q R,    Q = [Q_scaling, Q_wavelets],    |R(r:, r:)|_F <= accuracy,

takes the bump that is farthest from those before it, again and again. Q_scaling spans all bumps in
the cell to the accuracy; T Q_wavelets is at most the accuracy: T does not see the wavelets. All
cells together split V = V' + W by a block-diagonal orthogonal matrix, exactly so whatever was
neglected in T.

Constants stay where they are. sqrt(pi), the eigenvector of eigenvalue 1, cut to the cell is made
the first scaling function, and the bumps are orthogonalised to it.

Source: R. Coifman and M. Maggioni, Diffusion wavelets, 2006, sections 4.1 and 4.4 (the scheme, and
orthogonalisation of local bumps); cells in place of their ordering of columns are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

ROUNDING = 1e-14  # of sqrt(pi), whose norm is 1: a cell of functions of mean 0 has no more


@dataclass(frozen=True, eq=False)
class Cell:
    """A group of basis functions and its new basis.

    Parameters
    ----------
    members : ndarray of int of shape (b,)
        Numbers of the functions.
    scaling : ndarray of shape (b, r)
        Columns that go on to the next space.
    wavelets : ndarray of shape (b, b - r)
        Columns that stay.
    """

    members: np.ndarray
    scaling: np.ndarray
    wavelets: np.ndarray


@dataclass(frozen=True, eq=False)
class Split:
    """An orthogonal split of a space into scaling functions and wavelets, cell by cell.

    Parameters
    ----------
    cells : tuple of Cell
        Every function of the space is in one of them.
    """

    cells: tuple[Cell, ...]

    @property
    def n_members(self) -> int:
        """Dimension of the space that is split."""
        return sum(len(cell.members) for cell in self.cells)

    @property
    def n_scaling(self) -> int:
        """Number of scaling functions."""
        return sum(cell.scaling.shape[1] for cell in self.cells)

    def analyse(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients (n_scaling, m) and (n_wavelets, m) of functions (n, m)."""
        parts = [coefficients[cell.members] for cell in self.cells]
        scaling = [cell.scaling.T @ f for cell, f in zip(self.cells, parts, strict=True)]
        wavelets = [cell.wavelets.T @ f for cell, f in zip(self.cells, parts, strict=True)]
        return np.concatenate(scaling), np.concatenate(wavelets)

    def synthesise(self, scaling: np.ndarray, wavelets: np.ndarray | None = None) -> np.ndarray:
        """Return functions (n, m) from their coefficients; no wavelets are zeros."""
        out = np.empty((self.n_members, scaling.shape[1]))
        s = w = 0
        for cell in self.cells:
            r, rest = cell.scaling.shape[1], cell.wavelets.shape[1]
            out[cell.members] = cell.scaling @ scaling[s : s + r]
            if wavelets is not None:
                out[cell.members] += cell.wavelets @ wavelets[w : w + rest]
            s, w = s + r, w + rest
        return out

    def centers(self, points: np.ndarray) -> np.ndarray:
        """Return where each scaling function is largest, given the points of the members."""
        return np.concatenate(
            [points[cell.members[np.abs(cell.scaling).argmax(axis=0)]] for cell in self.cells]
        )

    def numbering(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each member's cell and place in it, and each cell's first scaling function."""
        cell_of = np.empty(self.n_members, dtype=np.int64)
        place_of = np.empty_like(cell_of)
        for number, cell in enumerate(self.cells):
            cell_of[cell.members] = number
            place_of[cell.members] = np.arange(len(cell.members))
        sizes = [cell.scaling.shape[1] for cell in self.cells]
        return cell_of, place_of, np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def split_cells(
    rows: Callable[[np.ndarray], np.ndarray],
    cells: Sequence[np.ndarray],
    means: np.ndarray,
    components: np.ndarray,
    accuracy: float,
) -> Split:
    """Split a space of n functions by the bumps of an operator on it.

    Parameters
    ----------
    rows : callable
        ``rows(members)`` returns T(B, :) without its columns of zeros, of shape (b, w).
    cells : sequence of ndarray of int
        Numbers of the functions in each cell.
    means : ndarray of shape (n,)
        Coefficients of sqrt(pi).
    components : ndarray of int of shape (n,)
        Component of the graph that holds each function.
    accuracy : float
        Largest |T Q_wavelets|_F of a cell.

    Returns
    -------
    Split
        Costs about b^2 w operations per cell.
    """
    return Split(
        tuple(
            _split_cell(members, rows(members), means[members], components[members], accuracy)
            for members in cells
        )
    )


def _split_cell(
    members: np.ndarray,
    rows: np.ndarray,
    means: np.ndarray,
    components: np.ndarray,
    accuracy: float,
) -> Cell:
    basis, n_constants = _with_constants_first(means, components)
    constants, rest = basis[:, :n_constants], basis[:, n_constants:]
    if not rest.shape[1]:
        return Cell(members, constants, rest)
    bumps = rest.T @ rows
    Q, R, _ = qr(bumps, mode="full" if len(bumps) > rows.shape[1] else "economic", pivoting=True)
    tails = np.sqrt(np.cumsum(np.sum(R**2, axis=1)[::-1])[::-1])
    rank = int(np.count_nonzero(tails > accuracy))
    scaling = np.concatenate([constants, rest @ Q[:, :rank]], axis=1)
    return Cell(members, scaling, rest @ Q[:, rank:])


def _with_constants_first(means: np.ndarray, components: np.ndarray) -> tuple[np.ndarray, int]:
    """Return an orthogonal matrix (b, b), and how many of its columns span the constants."""
    present, column = np.unique(components, return_inverse=True)
    constants = np.zeros((len(means), len(present)))
    constants[np.arange(len(means)), column] = means
    constants = constants[:, np.linalg.norm(constants, axis=0) > ROUNDING]
    n_constants = constants.shape[1]
    if not n_constants:
        return np.eye(len(means)), 0
    basis, triangle = np.linalg.qr(constants, mode="complete")
    basis[:, :n_constants] *= np.sign(np.diagonal(triangle))
    return basis, n_constants
