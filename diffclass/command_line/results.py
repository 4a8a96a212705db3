"""What commands say about a run: its report, what it cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import Console, messages
from diffclass.command_line.recipes import recipe
from diffclass.system.memory import peak_memory_bytes

if TYPE_CHECKING:
    from diffclass.jobs import RunCosts


def present(*paths: Path | None) -> list[Path]:
    """Return the files that were named."""
    return [path for path in paths if path is not None]


def _costs_of(console: Console) -> RunCosts:
    from diffclass.jobs import RunCosts

    return RunCosts(
        seconds=console.seconds | {"total": console.total_seconds},
        peak_memory_bytes=peak_memory_bytes(),
        peak_memory_by_stage=console.memory_bytes,
    )


def give_report(
    console: Console,
    report: Any,
    result: Any,
    *,
    lines: Callable[[Any], list[str]] = lambda report: report.lines(),
) -> None:
    """Print a report, with what the run took, and write it to the file of ``--report``, if any.

    ``result`` is what was found, by which a run is compared with another: see `recipe`. People
    read ``lines`` of the report.
    """
    from diffclass.jobs import RunReport
    from diffclass.system.output import write_json
    from diffclass.system.progress import stage

    given, again = click.get_current_context().params, {}
    path = given.get("report")
    if path is not None:
        with console.timing(), stage("hashing"):
            again = {"recipe": recipe(result)}
    if isinstance(report, RunReport):
        report = replace(report, costs=_costs_of(console))
    facts = report.to_dict() | again
    if messages().warned:
        facts["warnings"] = list(messages().warned)
    if path is not None:
        write_json(path, facts, overwrite=given["overwrite"])
    console.give(facts, "\n".join(lines(report)))
