"""Algorithms that other packages add in the program's environment, as the program tells of them.

A package adds one by an entry point in the group "diffclass.qgis" that leads to a dictionary with
the fields of `Algorithm`; its parameters are dictionaries with the fields of `Parameter`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from diffclass_qgis.algorithms import ALGORITHMS
from diffclass_qgis.descriptions import KINDS, Algorithm, Alternative, Parameter
from diffclass_qgis.running import run

_PATIENCE = 20.0  # seconds; QGIS waits for the answer when it starts


def added_algorithms(
    program: str, environment: Mapping[str, str]
) -> tuple[list[Algorithm], list[str]]:
    """Ask the program for other packages' algorithms; also a line for each that cannot be used."""
    printed: list[str] = []
    problems: list[str] = []
    end = time.monotonic() + _PATIENCE
    try:
        run(
            [program, "--qgis-algorithms"],
            environment,
            result=printed.append,
            message=problems.append,
            is_cancelled=lambda: time.monotonic() > end,
        )
        described = json.loads("".join(printed) or "[]")
    except (OSError, ValueError) as error:
        return [], [*problems, f"{program} does not tell of added algorithms: {error}"]
    taken = {one.command for one in ALGORITHMS}
    algorithms = []
    for fields in described:
        try:
            algorithm = _algorithm(**fields)
            if algorithm.command in taken:
                raise ValueError(f"there is another algorithm {algorithm.command!r}")
        except (TypeError, ValueError) as error:
            problems.append(f"an added algorithm cannot be used: {error}")
        else:
            taken.add(algorithm.command)
            algorithms.append(algorithm)
    return algorithms, problems


def _algorithm(
    *,
    parameters: list[dict[str, Any]],
    alternatives: list[dict[str, Any]] | tuple[()] = (),
    stages: list[list[Any]] | tuple[()] = (),
    figures: list[list[str]] | tuple[()] = (),
    **fields: Any,
) -> Algorithm:
    return Algorithm(
        parameters=tuple(_parameter(**one) for one in parameters),
        alternatives=tuple(Alternative(**one) for one in alternatives),
        stages=tuple((name, share) for name, share in stages),
        figures=tuple((key, label) for key, label in figures),
        **fields,
    )


def _parameter(*, choices: list[str] | tuple[()] = (), **fields: Any) -> Parameter:
    parameter = Parameter(choices=tuple(choices), **fields)
    if parameter.kind not in KINDS:
        raise ValueError(f"{parameter.kind!r} is no kind of parameter; {', '.join(KINDS)} are")
    return parameter
