"""Libraries that only some installations have."""

from __future__ import annotations

import importlib
from typing import Any

from diffclass.exceptions import ParameterError


def require(module: str, *, extra: str = "hyperspectral") -> Any:
    """Import and return a module, or say which extra brings it.

    Parameters
    ----------
    module : str
        Dotted name, ``"spectral.io.envi"``.
    extra : str, default="hyperspectral"
        The extra of diffclass that installs it.

    Returns
    -------
    module

    Raises
    ------
    ParameterError
        Where the library is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ParameterError(
            f"this needs the library {library}, which cannot be imported ({error}); "
            f"run: pip install 'diffclass[{extra}]'"
        ) from error
