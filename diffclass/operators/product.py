"""The one product that a step of the walk needs. An accelerator is one more implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from diffclass import _compiled

_NO_VISITS = np.empty((0, 1))


class ScaledProduct(Protocol):
    """The product of rows of a sparse matrix with columns, each row scaled."""

    def __call__(
        self,
        columns: np.ndarray,
        out: np.ndarray,
        *,
        visits: np.ndarray | None = None,
        n_terms: int = 0,
    ) -> None:
        """Write the product to an array.

        Parameters
        ----------
        columns : ndarray of shape (n_columns_of_the_matrix, m)
            C-ordered, in the dtype of the matrix.
        out : ndarray of shape (at least n_rows, m)
        visits : ndarray of float64 of the shape of ``out``, optional
            A running sum, added to in the same pass.
        n_terms : int, default=0
            0 adds nothing, 1 adds the product, 2 adds the columns and the product.
        """


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
