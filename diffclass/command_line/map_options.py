"""Options of diffusion maps, of a scene's pixels or a table's rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.option_groups import option, picture_option, report_option
from diffclass.options import COUNT, OneOf

if TYPE_CHECKING:
    from diffclass.embedding import DiffusionMap


class _NumberOr(click.ParamType):
    """A number, or one of some words."""

    def __init__(self, *words: str):
        self.words = words
        self.name = "|".join([*words, "number"])

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Return one of the words or a float."""
        if value in self.words:
            return str(value)
        try:
            return float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is neither a number nor one of {', '.join(self.words)}")


@dataclass(frozen=True)
class EmbedOptions:
    """What is written beside the coordinates."""

    picture: Path | None = picture_option("Coordinates and spectrum as a .png.")
    report: Path | None = report_option()


@dataclass(frozen=True)
class MapOptions:
    """The graph, the coordinates and their time."""

    title = "Diffusion map"
    components: int = option("Coordinates.", short="-n", of=COUNT, default=3)
    neighbors: int = option("Least number of neighbours of a point.", of=COUNT, default=64)
    alpha: float = option("Density exponent.", default=1.0)
    time: float | str = option("Steps.", type=_NumberOr("auto", "relaxation"), default=1)
    kind: str = option(
        "Coordinates: weighted: lambda^t psi; symmetric: lambda^t phi, from phi_0 on.",
        of=OneOf(("weighted", "symmetric")),
        default="weighted",
    )
    bandwidth: float | str | None = option(
        "epsilon. attached: the widest that the neighbours allow, wider for outliers (default "
        "for tables); graph: the same for all; semigroup, slope: chosen from the data; "
        "self-tuning: one for each point (default for scenes); or a number.",
        type=_NumberOr("attached", "graph", "semigroup", "slope", "self-tuning"),
    )

    def model(self, random_state: int, *, bandwidth: str) -> DiffusionMap:
        """Return what embeds points, with this bandwidth by default."""
        from diffclass import DiffusionMap

        return DiffusionMap(
            self.components,
            n_neighbors=self.neighbors,
            alpha=self.alpha,
            time=self.time,
            kind=self.kind,
            bandwidth=bandwidth if self.bandwidth is None else self.bandwidth,
            random_state=random_state,
        )
