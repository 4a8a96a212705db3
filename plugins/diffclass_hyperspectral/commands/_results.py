"""What commands say about a run: where its maps lie, its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from diffclass.command_line import Console, option
from diffclass.memory import peak_memory_bytes

if TYPE_CHECKING:
    import numpy as np

    from diffclass_hyperspectral.io.labels import ClassTable
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.workflows.reports import RunCosts


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


def place_maps(console: Console, paths: Sequence[Path], scene: Scene) -> None:
    """Refuse polygons of a scene without coordinates, and say which maps are orthorectified."""
    from diffclass_hyperspectral.io.maps import check_places, orthorectification_line

    check_places(scene, paths)
    line = orthorectification_line(scene, paths)
    if line is not None:
        console.say(line)


def spectra_option(of: str) -> Any:
    """Return the field for ``--spectra``: mean spectra of classes or clusters."""
    return option(
        f"Mean spectra of the {of} on the map as a spectral library, .sli or .csv; it can be the "
        "labels of another scene.",
        hidden=True,
    )


def spectra_files(path: Path | None) -> list[Path]:
    """Return the files that ``--spectra`` writes."""
    from diffclass_hyperspectral.io.readers import library_files

    return [] if path is None else list(library_files(path))


def write_spectra(
    path: Path, scene: Scene, class_map: np.ndarray, table: ClassTable, *, overwrite: bool
) -> None:
    """Write the mean spectrum of each class that is on a map, 0 left out."""
    from diffclass_hyperspectral.io.readers import write_library
    from diffclass_hyperspectral.workflows.clustering import library_of

    write_library(path, library_of(scene, class_map, table), overwrite=overwrite)


def costs_of(console: Console) -> RunCosts:
    """Return what the run took until now."""
    from diffclass_hyperspectral.workflows.reports import RunCosts

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
    """Print a report, and write it with ``more`` facts to a file if one is named.

    People read ``lines`` instead of the whole report, if given.
    """
    from diffclass_hyperspectral.io.records import write_json

    facts = report.to_dict() | dict(more or {})
    if path is not None:
        write_json(path, facts, overwrite=overwrite)
    console.give(facts, "\n".join(report.lines() if lines is None else lines))
