"""From an algorithm and its values to the command's line: files, options, where the program is."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from diffclass_qgis.descriptions import FLAG, Algorithm, Parameter

PROGRAM = "diffclass"

# What QGIS sets for its own Python and its own GDAL would break those of the environment.
_OF_QGIS = (
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONEXECUTABLE",
    "GDAL_DATA",
    "GDAL_DRIVER_PATH",
    "PROJ_DATA",
    "PROJ_LIB",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "OGR_DRIVER_PATH",
)

# GDAL's names for an array within a file: NETCDF:"scene.nc":reflectance, HDF5:"scene.h5"://cube
_WITHIN = re.compile(
    r'\A(?:NETCDF|HDF5|HDF4_SDS|GTIFF_DIR:\d+):"?(?P<file>[^"]+?)"?(?::[^:\\/].*|://.*)?\Z'
)


class ProgramNotFoundError(Exception):
    """There is no ``diffclass`` where the settings say, or none on the path."""


def command_line(program: str, algorithm: Algorithm, values: Mapping[str, Any]) -> list[str]:
    """Return the command that does what an algorithm is to do.

    ``values`` are by the parameters' names, layers as paths, several as a list; None, empty and
    default ones are left out. Outputs that exist are replaced: QGIS has asked before. `ValueError`:
    of alternatives none or more than one is given.
    """
    check_alternatives(algorithm, values)
    words = [program, algorithm.command, "--progress", "json"]
    words += [] if algorithm.is_served else ["--overwrite"]
    positional: list[str] = []
    for parameter in algorithm.parameters:
        value = values.get(parameter.name)
        if not parameter.option:
            positional += _arguments(value)
        elif not _is_left_out(parameter, value):
            words += _option(parameter, value)
    # a file may be called -x; the first scene may be among the further ones too
    return [*words, "--", *dict.fromkeys(positional)]


def check_alternatives(algorithm: Algorithm, values: Mapping[str, Any]) -> None:
    """Raise `ValueError` where of alternatives none or more than one is given."""
    for alternative in algorithm.alternatives:
        given = [name for name in alternative.names if values.get(name) not in (None, "")]
        labels = [f"'{algorithm.parameter(name).label}'" for name in alternative.names]
        if len(given) > 1:
            raise ValueError(f"give only one of {', '.join(labels[:-1])} and {labels[-1]}")
        if alternative.required and not given:
            raise ValueError(f"give {' or '.join(labels)}")


def file_of(source: str) -> str:
    """Return the path of the file, also ``/vsi...``, that a layer states; else `ValueError`."""
    within = _WITHIN.match(source)
    path = within["file"] if within else source.partition("|")[0]
    if not path or "url=" in path or "dbname=" in path:
        raise ValueError(f"{source}: no file on this computer; export the layer to a GeoTIFF first")
    return path


def find_program(named: str, environment: Mapping[str, str]) -> str:
    """Return the path of the ``diffclass`` program.

    ``named`` is an environment's folder or the program; empty: it is searched on the PATH of
    ``environment``.
    """
    advice = (
        "Name the folder of the environment that diffclass is installed in, under Settings > "
        "Options > Processing > Providers > diffclass."
    )
    if not named.strip():
        found = shutil.which(PROGRAM, path=environment.get("PATH", ""))
        if found is None:
            raise ProgramNotFoundError(f"There is no program {PROGRAM} on the path. {advice}")
        return found
    for candidate in _candidates(Path(named.strip()).expanduser()):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    raise ProgramNotFoundError(f"There is no program {PROGRAM} in {named.strip()}. {advice}")


def outside_qgis(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for a program that is no part of QGIS."""
    kept = {name: value for name, value in environment.items() if name not in _OF_QGIS}
    return {**kept, "PYTHONUTF8": "1"}


def _arguments(value: Any) -> list[str]:
    several = value if isinstance(value, (list, tuple)) else [value]
    return [str(one) for one in several if one is not None]


def _option(parameter: Parameter, value: Any) -> list[str]:
    return [parameter.option] if parameter.kind == FLAG else [parameter.option, str(value)]


def _is_left_out(parameter: Parameter, value: Any) -> bool:
    return value is None or value == "" or value == parameter.default


def _candidates(named: Path) -> Iterator[Path]:
    yield named
    for folder in (named / "bin", named / "Scripts", named):
        yield folder / PROGRAM
        yield folder / f"{PROGRAM}.exe"
