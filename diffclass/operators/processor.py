"""Where the columns of a walk lie, and the few loops over them there.

`Processor` is the processor with its own memory, `Cuda` an NVIDIA device: `operator.on(Cuda())`, or
``device="cuda"``. Columns go to its memory once, many steps are taken there, and what they have
become comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass._cuda import device
from diffclass._cuda.device import DeviceArray
from diffclass._validation import check_choice

Columns: TypeAlias = Any
"""An array as a processor holds it: in its own memory an ndarray."""

ScaledProduct: TypeAlias = Callable[..., None]  # called like `CompiledProduct`

_NO_VISITS = np.empty((0, 1))
DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, eq=False)
class CompiledProduct:
    """The product of a CSR matrix, whose rows are scaled, with columns."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    row_scale: np.ndarray

    def __call__(
        self, columns: Columns, out: Columns, *, visits: Columns | None = None, n_terms: int = 0
    ) -> None:
        """Write the product to an array, at least as long as the matrix has rows.

        ``visits``, float64, is a running sum, added to in the same pass: nothing if n_terms is 0,
        the product if it is 1, the columns and the product if it is 2. Columns are C-ordered, in
        the dtype of the matrix.
        """
        visits = _NO_VISITS if visits is None else visits
        product = _compiled.columns.row_scaled_product
        if columns.shape[1] == 1:
            product = _compiled.columns.row_scaled_column_product
            columns, out, visits = columns[:, 0], out[:, 0], visits[:, 0]
        matrix = self.indptr, self.indices, self.data
        product(*matrix, self.row_scale, columns, out, visits, n_terms)


@dataclass(frozen=True)
class Processor:
    """What computes the steps of a walk: here the processor, on arrays in its own memory.

    See Also
    --------
    Cuda : An NVIDIA device, for millions of points.
    """

    def scaled_product(self, matrix: sp.csr_array, row_scale: np.ndarray) -> ScaledProduct:
        """Return the product of a matrix whose rows are scaled, in its dtype."""
        return CompiledProduct(matrix.indptr, matrix.indices, matrix.data, row_scale)

    def place(self, array: np.ndarray) -> Columns:
        """Return an array where the loops need it: here the array itself."""
        return array

    def blank(self, array: np.ndarray) -> Columns:
        """Return an array of this shape with any content: here the array itself."""
        return array

    def fetch(self, columns: Columns, out: np.ndarray) -> np.ndarray:
        """Return columns as an array of this process: here themselves, elsewhere ``out``."""
        return columns

    def set_rows(
        self, columns: Columns, points: Columns, passing: Columns, stopped: Columns
    ) -> None:
        """Take columns(x) <- stopped + passing columns(x) at some points x."""
        columns[points] = stopped + passing * columns[points]

    def add_term(self, columns: Columns, weights: Columns, k: int, sums: Columns) -> None:
        """Take sums(j) <- sums(j) + weights(j, k) columns; sums has shape (n_series, n, m)."""
        sums += weights[:, k, None, None] * columns

    def chebyshev_step(
        self, product: Columns, previous: Columns, weights: Columns, k: int, sums: Columns
    ) -> None:
        """Take previous <- 2 product - previous, and `add_term` of it, in one pass."""
        _compiled.columns.chebyshev_step(
            product, previous, np.ascontiguousarray(weights[:, k]), sums
        )


HOST = Processor()


@dataclass(frozen=True, eq=False)
class CudaProduct:
    """The product on the device; the matrix is CSR, with row pointers of 64 bits.

    no_visits (1, 1) stands for a running sum that is not wanted.
    """

    indptr: DeviceArray
    indices: DeviceArray
    data: DeviceArray
    row_scale: DeviceArray
    no_visits: DeviceArray

    def __call__(
        self,
        columns: DeviceArray,
        out: DeviceArray,
        *,
        visits: DeviceArray | None = None,
        n_terms: int = 0,
    ) -> None:
        """Write the product to an array of the device; see `CompiledProduct`."""
        from diffclass._cuda import kernels

        visits = self.no_visits if visits is None else visits
        matrix = self.indptr, self.indices, self.data, self.row_scale
        kernels.scaled_product(matrix, columns, out, visits, n_terms)


@dataclass(frozen=True)
class Cuda(Processor):
    """The first NVIDIA device, with its memory; see `diffclass.operators.processor.Processor`.

    Raises
    ------
    ParameterError
        If there is no device, or nothing that compiles for it.

    See Also
    --------
    diffclass.neighbors.CudaSearch : Searches the neighbours there too.

    Notes
    -----
    The device holds the matrix, 8 bytes per edge in single precision and 8 per row, and three to
    four blocks of columns.

    Examples
    --------
    On a machine with a device:

    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.operators import Cuda
    >>> A = markov_operator(np.arange(5.0)[:, None], n_neighbors=2)
    >>> on_device = A.on(Cuda())  # doctest: +SKIP
    >>> np.allclose(on_device.apply(np.eye(5), 20), A.apply(np.eye(5), 20))  # doctest: +SKIP
    True
    """

    def __post_init__(self) -> None:
        device.check_device()

    def scaled_product(self, matrix: sp.csr_array, row_scale: np.ndarray) -> CudaProduct:
        """Take a matrix to the device, and return its product."""
        return CudaProduct(
            indptr=device.to_device(matrix.indptr.astype(np.int64)),
            indices=device.to_device(matrix.indices),
            data=device.to_device(matrix.data),
            row_scale=device.to_device(row_scale),
            no_visits=device.to_device(np.zeros((1, 1))),
        )

    def place(self, array: np.ndarray) -> DeviceArray:
        """Copy an array to the device."""
        return device.to_device(array)

    def blank(self, array: np.ndarray) -> DeviceArray:
        """Return an array of the device of this shape."""
        return device.blank(array.shape, array.dtype)

    def fetch(self, columns: DeviceArray, out: np.ndarray) -> np.ndarray:
        """Copy columns into ``out``."""
        device.to_host(columns, out)
        return out

    def set_rows(
        self, columns: DeviceArray, points: DeviceArray, passing: DeviceArray, stopped: DeviceArray
    ) -> None:
        """Take columns(x) <- stopped + passing columns(x) at some points x."""
        from diffclass._cuda import kernels

        kernels.launch(kernels.set_rows, stopped.shape, points, passing, stopped, columns)

    def add_term(
        self, columns: DeviceArray, weights: DeviceArray, k: int, sums: DeviceArray
    ) -> None:
        """Take sums(j) <- sums(j) + weights(j, k) columns."""
        from diffclass._cuda import kernels

        kernels.launch(kernels.add_term, columns.shape, columns, weights, k, sums)

    def chebyshev_step(
        self, product: Columns, previous: Columns, weights: Columns, k: int, sums: Columns
    ) -> None:
        """Take previous <- 2 product - previous, and `add_term` of it."""
        from diffclass._cuda import kernels

        kernels.launch(kernels.chebyshev_step, product.shape, product, previous, weights, k, sums)


def processor_of(name: str) -> Processor:
    """Return what computes the steps of a walk, by its name.

    Parameters
    ----------
    name : {"cpu", "cuda"}

    Raises
    ------
    ParameterError
        For another name, or where there is no such device.

    Examples
    --------
    >>> from diffclass.operators import processor_of
    >>> processor_of("cpu")
    Processor()
    """
    return Cuda() if check_choice(name, "device", DEVICES) == "cuda" else HOST
