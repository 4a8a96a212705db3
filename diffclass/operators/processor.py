"""Where the columns of a walk lie, and the few loops over them there.

`Host` is the processor with its own memory. An accelerator is one more implementation, as `Cuda` in
`diffclass.operators.cuda`. Columns go to its memory once, many steps are taken there, and what they
have become comes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled

Columns: TypeAlias = Any
"""An array as a processor holds it: for `Host` an ndarray."""

_NO_VISITS = np.empty((0, 1))


class ScaledProduct(Protocol):
    """The product of rows of a sparse matrix with columns, each row scaled."""

    def __call__(
        self, columns: Columns, out: Columns, *, visits: Columns | None = None, n_terms: int = 0
    ) -> None:
        """Write the product to an array.

        Parameters
        ----------
        columns : array of shape (n_columns_of_the_matrix, m)
            C-ordered, in the dtype of the matrix.
        out : array of shape (at least n_rows, m)
        visits : array of float64 of the shape of ``out``, optional
            A running sum, added to in the same pass.
        n_terms : int, default=0
            0 adds nothing, 1 adds the product, 2 adds the columns and the product.
        """


class Processor(Protocol):
    """What computes the steps of a walk."""

    def scaled_product(self, matrix: sp.csr_array, row_scale: np.ndarray) -> ScaledProduct:
        """Return the product of a matrix whose rows are scaled, in its dtype."""

    def place(self, array: np.ndarray) -> Columns:
        """Return an array where the loops need it; it may be the array itself."""

    def blank(self, array: np.ndarray) -> Columns:
        """Return an array of this shape with any content; it may be the array itself."""

    def fetch(self, columns: Columns, out: np.ndarray) -> np.ndarray:
        """Return columns as an array of this process: themselves if they are one, or ``out``."""

    def set_rows(
        self, columns: Columns, points: Columns, passing: Columns, stopped: Columns
    ) -> None:
        """Take columns(x) <- stopped + passing columns(x) at some points x."""

    def add_term(self, columns: Columns, weights: Columns, k: int, sums: Columns) -> None:
        """Take sums(j) <- sums(j) + weights(j, k) columns; sums has shape (n_series, n, m)."""

    def chebyshev_step(
        self, product: Columns, previous: Columns, weights: Columns, k: int, sums: Columns
    ) -> None:
        """Take previous <- 2 product - previous, and `add_term` of it."""


@dataclass(frozen=True, eq=False)
class CompiledProduct:
    """The product on the processor, by rows on several threads.

    Attributes
    ----------
    indptr, indices, data : ndarray
        The matrix, as CSR; row pointers of 32 or 64 bits.
    row_scale : ndarray of shape (n_rows,)
        In the dtype of the matrix.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    row_scale: np.ndarray

    def __call__(
        self,
        columns: np.ndarray,
        out: np.ndarray,
        *,
        visits: np.ndarray | None = None,
        n_terms: int = 0,
    ) -> None:
        """Write the product to an array; see `ScaledProduct`."""
        visits = _NO_VISITS if visits is None else visits
        product = _compiled.products.row_scaled_product
        if columns.shape[1] == 1:
            product = _compiled.products.row_scaled_column_product
            columns, out, visits = columns[:, 0], out[:, 0], visits[:, 0]
        matrix = self.indptr, self.indices, self.data
        product(*matrix, self.row_scale, columns, out, visits, n_terms)


@dataclass(frozen=True)
class Host:
    """The processor with its own memory."""

    def scaled_product(self, matrix: sp.csr_array, row_scale: np.ndarray) -> CompiledProduct:
        """Return the product of a matrix whose rows are scaled."""
        return CompiledProduct(matrix.indptr, matrix.indices, matrix.data, row_scale)

    def place(self, array: np.ndarray) -> np.ndarray:
        """Return the array itself."""
        return array

    def blank(self, array: np.ndarray) -> np.ndarray:
        """Return the array itself."""
        return array

    def fetch(self, columns: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Return the columns themselves."""
        return columns

    def set_rows(
        self, columns: np.ndarray, points: np.ndarray, passing: np.ndarray, stopped: np.ndarray
    ) -> None:
        """Take columns(x) <- stopped + passing columns(x) at some points x."""
        columns[points] = stopped + passing * columns[points]

    def add_term(self, columns: np.ndarray, weights: np.ndarray, k: int, sums: np.ndarray) -> None:
        """Take sums(j) <- sums(j) + weights(j, k) columns."""
        sums += weights[:, k, None, None] * columns

    def chebyshev_step(
        self,
        product: np.ndarray,
        previous: np.ndarray,
        weights: np.ndarray,
        k: int,
        sums: np.ndarray,
    ) -> None:
        """Take previous <- 2 product - previous, and `add_term` of it, in one pass."""
        _compiled.products.chebyshev_step(
            product, previous, np.ascontiguousarray(weights[:, k]), sums
        )


HOST = Host()
