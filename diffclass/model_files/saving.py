"""Whole models to files and back: their forms turn them into arrays and facts for the archive."""

from __future__ import annotations

import os
from typing import Any

from diffclass.exceptions import DataError, ParameterError
from diffclass.model_files.archive import read_archive, write_archive
from diffclass.model_files.forms import Form, kept_parts, restored
from diffclass.output import replacing


def write_model(
    path: str | os.PathLike[str],
    model: Any,
    form: Form,
    *,
    kind: str,
    version: str,
    overwrite: bool = False,
) -> None:
    """Write a model to a file, which appears whole or not at all.

    Parameters
    ----------
    path : path-like
    model : object
    form : Form
        Of the model.
    kind : str
        What the file holds.
    version : str
        Of diffclass.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Raises
    ------
    ParameterError
        Where the model has a part that no file can hold, such as a function of the user's own, or
        nothing can be written there.
    """
    try:
        facts, arrays = kept_parts(form, model)
    except ValueError as error:
        raise ParameterError(f"{path}: the model cannot be kept in a file: {error}") from error
    with replacing(path, overwrite=overwrite) as temporary:
        write_archive(temporary, kind, facts, arrays, version=version)


def read_model(path: str | os.PathLike[str], form: Form, *, kind: str) -> Any:
    """Read a model that `write_model` wrote; nothing of the file is executed.

    Parameters
    ----------
    path : path-like
    form : Form
    kind : str
        As it was written.

    Raises
    ------
    DataError
        Where the file is missing, damaged, or holds something else.
    """
    facts, arrays = read_archive(path, kind)
    try:
        return restored(form, facts, arrays)
    except Exception as error:  # the libraries that index the points may raise anything
        said = " ".join(str(error).split())[:300]
        raise DataError(f"{path}: is no {kind} that makes sense ({said})") from error
