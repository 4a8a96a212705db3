"""The steps of a walk on an NVIDIA device: `operator.on(Cuda())`, or ``device="cuda"``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from diffclass._cuda import device
from diffclass._cuda.device import DeviceArray
from diffclass._validation import check_choice
from diffclass.operators.processor import HOST, Processor

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True, eq=False)
class CudaProduct:
    """The product on the device; see `diffclass.operators.processor.ScaledProduct`.

    Attributes
    ----------
    indptr, indices, data : device array
        The matrix, as CSR; row pointers of 64 bits.
    row_scale : device array of shape (n_rows,)
    no_visits : device array of float64 of shape (1, 1)
        What stands for a running sum that is not wanted.
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
        """Write the product to an array of the device."""
        from diffclass._cuda import products

        visits = self.no_visits if visits is None else visits
        matrix = self.indptr, self.indices, self.data, self.row_scale
        products.scaled_product(matrix, columns, out, visits, n_terms)


@dataclass(frozen=True)
class Cuda:
    """The first NVIDIA device, with its memory; see `diffclass.operators.processor.Processor`.

    Raises
    ------
    ParameterError
        If there is no device, or nothing that compiles for it.

    Notes
    -----
    The device holds the matrix, 8 bytes per edge in single precision and 8 per row, and three to
    four blocks of columns.
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
        self,
        columns: DeviceArray,
        points: DeviceArray,
        passing: DeviceArray,
        stopped: DeviceArray,
    ) -> None:
        """Take columns(x) <- stopped + passing columns(x) at some points x."""
        from diffclass._cuda import products

        products.launch(products.set_rows, stopped.shape, points, passing, stopped, columns)

    def add_term(
        self, columns: DeviceArray, weights: DeviceArray, k: int, sums: DeviceArray
    ) -> None:
        """Take sums(j) <- sums(j) + weights(j, k) columns."""
        from diffclass._cuda import products

        products.launch(products.add_term, columns.shape, columns, weights, k, sums)

    def chebyshev_step(
        self,
        product: DeviceArray,
        previous: DeviceArray,
        weights: DeviceArray,
        k: int,
        sums: DeviceArray,
    ) -> None:
        """Take previous <- 2 product - previous, and `add_term` of it."""
        from diffclass._cuda import products

        products.launch(products.chebyshev_step, product.shape, product, previous, weights, k, sums)


def processor_of(name: str) -> Processor:
    """Return what computes the steps of a walk, by its name.

    Parameters
    ----------
    name : {"cpu", "cuda"}

    Raises
    ------
    ParameterError
        For another name, or where there is no such device.
    """
    return Cuda() if check_choice(name, "device", DEVICES) == "cuda" else HOST
