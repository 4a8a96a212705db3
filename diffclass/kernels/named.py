"""Kernels by name: those that users ask for, and other packages'.

The kernels themselves are entered in `NAMED` by `diffclass.kernels`, which knows them all.
"""

from __future__ import annotations

from collections.abc import Callable

from diffclass._validation import check_kind
from diffclass.exceptions import ExtensionError, ParameterError
from diffclass.kernels._kernel import Kernel
from diffclass.system.extensions import KERNELS, extension_names, load_extension

NAMED: dict[str, Callable[[], Kernel]] = {}


def kernel_named(name: str) -> Kernel:
    """Return a new kernel by its name.

    Parameters
    ----------
    name : str
        One of `NAMED`, or of the entry points "diffclass.kernels" of other packages.

    Raises
    ------
    ParameterError
        If there is no kernel of that name.
    ExtensionError
        If another package's kernel cannot be loaded, or is none.

    See Also
    --------
    check_kernel : Takes a kernel as well as a name.

    Examples
    --------
    >>> from diffclass.kernels import NAMED, kernel_named
    >>> list(NAMED)
    ['shared', 'gaussian', 'covariance', 'directed', 'discriminant', 'directed-discriminant']
    >>> kernel_named("directed")
    SharedNeighbors(kernel=Directed())
    """
    make = load_extension(KERNELS, name, own=NAMED) or NAMED.get(name)
    if make is None:
        known = ", ".join([*NAMED, *extension_names(KERNELS)])
        raise ParameterError(
            f"kernel = {name!r}; it has to be one of {known}, or an object such as "
            "diffclass.kernels.Gaussian()"
        )
    kernel = make()
    if not isinstance(kernel, Kernel):
        raise ExtensionError(
            f"{name!r} ({KERNELS}) makes {kernel!r}, which is no diffclass.kernels.Kernel"
        )
    return kernel


def check_kernel(kernel: Kernel | str) -> Kernel:
    """Return a kernel, or the one of a name; see `diffclass.kernels.kernel_named`.

    Raises
    ------
    ParameterError
        If it is something else, or no kernel has the name.

    See Also
    --------
    kernel_named : By name only.

    Examples
    --------
    >>> from diffclass.kernels import Gaussian, check_kernel
    >>> check_kernel("shared"), check_kernel(Gaussian(bandwidth="graph"))
    (SharedNeighbors(), Gaussian(bandwidth='graph'))
    """
    if isinstance(kernel, str):
        return kernel_named(kernel)
    kind: Kernel = check_kind(kernel, "kernel", Kernel, example="diffclass.kernels.Gaussian()")
    return kind


def load_named_kernels() -> None:
    """Import the kernels of other packages, so that files which hold them can be read."""
    for name in extension_names(KERNELS):
        load_extension(KERNELS, name, own=NAMED)
