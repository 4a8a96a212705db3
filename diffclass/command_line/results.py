"""What commands say about a run: its report, what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from diffclass.command_line.console import Console, messages
from diffclass.system.memory import peak_memory_bytes

if TYPE_CHECKING:
    from diffclass.jobs import RunCosts


class Report(Protocol):
    """Facts for programs, lines for people."""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts in values that JSON can hold."""

    def lines(self) -> list[str]:
        """Return the facts as lines to read."""


def present(*paths: Path | None) -> list[Path]:
    """Return the files that were named."""
    return [path for path in paths if path is not None]


def check_picture(path: Path | None) -> None:
    """Refuse a picture that is not a PNG."""
    if path is not None and path.suffix.lower() != ".png":
        raise click.UsageError(f"--picture is written as .png, not as {path.name}")


def costs_of(console: Console) -> RunCosts:
    """Return what the run took until now."""
    from diffclass.jobs import RunCosts

    return RunCosts(
        seconds=console.seconds | {"total": console.total_seconds},
        peak_memory_bytes=peak_memory_bytes(),
        peak_memory_by_stage=console.memory_bytes,
    )


def give_report(
    console: Console,
    report: Report,
    path: Path | None,
    *,
    overwrite: bool,
    more: Mapping[str, Any] | None = None,
    lines: Sequence[str] | None = None,
) -> None:
    """Print a report, and write it with ``more`` facts and warnings to a file if one is named.

    People read ``lines`` instead of the whole report, if given.
    """
    from diffclass.system.output import write_json

    facts = report.to_dict() | dict(more or {})
    if messages().warned:
        facts["warnings"] = list(messages().warned)
    if path is not None:
        write_json(path, facts, overwrite=overwrite)
    console.give(facts, "\n".join(report.lines() if lines is None else lines))
