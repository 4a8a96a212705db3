"""The device: whether there is one, what it is, and arrays there and back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError

DeviceArray = Any
EXTRA = "diffclass[cuda]"


def check_device() -> None:
    """Raise `ParameterError` if there is no device, or nothing that compiles for it."""
    problem = _problem()
    if problem:
        raise ParameterError(f'device="cuda" cannot be used: {problem}; leave it out')


def describe() -> str:
    """Return the name and memory of the device, or why there is none."""
    problem = _problem()
    if problem:
        return f"none ({problem})"
    from numba import cuda

    name = cuda.get_current_device().name
    name = name.decode() if isinstance(name, bytes) else name
    return f"{name}, {memory_bytes()[1] / 2**30:.0f} GiB"


def _problem() -> str:
    try:
        from numba import cuda
    except ImportError:
        return f"numba-cuda is missing (pip install '{EXTRA}')"
    _allow_few_threads()
    if not cuda.is_available():
        return f"no NVIDIA device with a driver is found, or numba-cuda is missing ({EXTRA})"
    return ""


def _allow_few_threads() -> None:
    """Let numba-cuda be silent about small graphs, which do not fill the device."""
    try:
        from numba.cuda.core import config
    except ImportError:  # the simulator says nothing
        return
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def memory_bytes() -> tuple[int, int]:
    """Return the free memory of the device and all of it, in bytes."""
    from numba import cuda

    free, total = cuda.current_context().get_memory_info()
    return int(free), int(total)


def to_device(array: np.ndarray) -> DeviceArray:
    """Copy an array to the device."""
    from numba import cuda

    with _out_of_memory_said(array.nbytes):
        return cuda.to_device(np.ascontiguousarray(array))


def blank(shape: tuple[int, ...], dtype: np.dtype) -> DeviceArray:
    """Return an array of the device, with any content."""
    from numba import cuda

    with _out_of_memory_said(math.prod(shape) * np.dtype(dtype).itemsize):
        return cuda.device_array(shape, dtype)


@contextmanager
def _out_of_memory_said(n_bytes: int) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # of numba-cuda or of the bindings, by their versions
        if "OUT_OF_MEMORY" not in str(error):
            raise
        free = memory_bytes()[0]
        raise ParameterError(
            f"the device has {free / 2**30:.1f} GiB free and {n_bytes / 2**30:.1f} more are "
            'needed; use device="cpu"'
        ) from error


def to_host(array: DeviceArray, out: np.ndarray) -> None:
    """Copy an array of the device into one of this process."""
    if out.flags.c_contiguous:
        array.copy_to_host(out)
    else:
        out[...] = array.copy_to_host()
