"""Products of a sparse matrix with several columns, and what goes with them in a step.

As in `diffclass._compiled.products`, sums in the same order. Neighbouring threads take the
columns of a row, so that they read a row of ``f`` at once. Row pointers are of 64 bits.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, float64, int64

_THREADS, _WARP = 128, 32
_COLUMNS = 4  # of a row that a thread takes, so that it reads an edge once for all of them


def launch(kernel: Any, shape: tuple[int, int], *arguments: Any, columns: int = 1) -> None:
    """Start a kernel over the rows and columns of an array.

    Parameters
    ----------
    kernel : CUDA kernel
    shape : tuple of int
        Rows and columns.
    columns : int, default=1
        How many a thread takes.
    """
    n_rows, n_columns = shape
    if not n_rows or not n_columns:
        return
    width = min(_WARP, 1 << (-(-n_columns // columns) - 1).bit_length())
    height = _THREADS // width
    kernel[-(-n_rows // height), (width, height)](*arguments)


def scaled_product(matrix: tuple[Any, ...], f: Any, out: Any, total: Any, n_terms: int) -> None:
    """Start `row_scaled_product` of ``indptr, indices, data, row_scale``."""
    shape = matrix[-1].shape[0], f.shape[1]
    launch(row_scaled_product, shape, *matrix, f, out, total, n_terms, columns=_COLUMNS)


@cuda.jit
def row_scaled_product(indptr, indices, data, row_scale, f, out, total, n_terms):
    """out(x, c) = row_scale(x) sum_y K(x, y) f(y, c), and a running sum in the same pass.

    Parameters
    ----------
    indptr : int64 of shape (n + 1,)
    indices, data : int32 or int64, and float, of shape (m,)
    row_scale : float of shape (n,)
    f, out : float of shape (n, n_columns)
    total : float64 of shape (n, n_columns), written
    n_terms : int
        As in `diffclass._compiled.products.row_scaled_product`.
    """
    x = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if x < row_scale.shape[0]:
        n_columns, width = f.shape[1], cuda.blockDim.x
        own = cuda.local.array(_COLUMNS, int64)
        value = cuda.local.array(_COLUMNS, row_scale.dtype)
        for c in range(cuda.threadIdx.x, n_columns, _COLUMNS * width):
            for i in range(_COLUMNS):
                own[i] = min(c + i * width, n_columns - 1)
                value[i] = 0
            e, stop = indptr[x], indptr[x + 1]
            while e + 4 <= stop:
                k0, k1, k2, k3 = data[e], data[e + 1], data[e + 2], data[e + 3]
                y0, y1, y2, y3 = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
                for i in range(_COLUMNS):
                    j = own[i]
                    value[i] += (k0 * f[y0, j] + k1 * f[y1, j]) + (k2 * f[y2, j] + k3 * f[y3, j])
                e += 4
            while e < stop:
                for i in range(_COLUMNS):
                    value[i] += data[e] * f[indices[e], own[i]]
                e += 1
            for i in range(_COLUMNS):
                j = c + i * width
                if j < n_columns:
                    product = value[i] * row_scale[x]
                    out[x, j] = product
                    if n_terms == 1:
                        total[x, j] += product
                    elif n_terms == 2:
                        total[x, j] += float64(f[x, j]) + float64(product)


@cuda.jit
def set_rows(points, passing, stopped, columns):
    """columns(x, c) = stopped(l, c) + passing(l) columns(x, c) at the points x of labels l.

    Parameters
    ----------
    points : int of shape (n_labels,)
    passing : float of shape (n_labels, 1)
    stopped : float of shape (n_labels, n_columns)
    columns : float of shape (n, n_columns), written
    """
    label = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if label < points.shape[0]:
        x = points[label]
        for c in range(cuda.threadIdx.x, columns.shape[1], cuda.blockDim.x):
            columns[x, c] = stopped[label, c] + passing[label, 0] * columns[x, c]


@cuda.jit
def add_term(columns, weights, k, sums):
    """sums(j, x, c) += weights(j, k) columns(x, c).

    Parameters
    ----------
    columns : float of shape (n, n_columns)
    weights : float of shape (n_series, degree + 1)
    k : int
    sums : float of shape (n_series, n, n_columns), written
    """
    x = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if x < columns.shape[0]:
        for c in range(cuda.threadIdx.x, columns.shape[1], cuda.blockDim.x):
            for j in range(weights.shape[0]):
                sums[j, x, c] += weights[j, k] * columns[x, c]


@cuda.jit
def chebyshev_step(product, previous, weights, k, sums):
    """Previous <- 2 product - previous, then sums(j) += weights(j, k) previous.

    Parameters
    ----------
    product : float of shape (n, n_columns)
    previous : float of shape (n, n_columns), written
    weights, k, sums
        As in `add_term`.
    """
    x = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if x < previous.shape[0]:
        for c in range(cuda.threadIdx.x, previous.shape[1], cuda.blockDim.x):
            value = product[x, c] + product[x, c] - previous[x, c]
            previous[x, c] = value
            for j in range(weights.shape[0]):
                sums[j, x, c] += weights[j, k] * value
