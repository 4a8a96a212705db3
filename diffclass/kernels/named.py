"""Kernels by name, for programs and settings: those that users ask for, and other packages'."""

from __future__ import annotations

from collections.abc import Callable

from diffclass.exceptions import ExtensionError, ParameterError
from diffclass.kernels._kernel import Kernel
from diffclass.kernels.directed import Directed
from diffclass.kernels.isotropic import Gaussian
from diffclass.kernels.local_covariance import LocalCovariance
from diffclass.kernels.local_discriminant import LocalDiscriminant
from diffclass.kernels.shared_neighbors import SharedNeighbors
from diffclass.system.extensions import KERNELS, extension_names, load_extension

NAMED: dict[str, Callable[[], Kernel]] = {
    "shared": SharedNeighbors,
    "gaussian": Gaussian,
    "covariance": lambda: SharedNeighbors(LocalCovariance()),
    "directed": lambda: SharedNeighbors(Directed()),
    "discriminant": lambda: SharedNeighbors(LocalDiscriminant()),
    "directed-discriminant": lambda: SharedNeighbors(LocalDiscriminant(Directed())),
}


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
