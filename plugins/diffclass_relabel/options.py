"""What may be asked of a session, declared once: for the commands, the widget and Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from diffclass.command_line import names_of, option, taken
from diffclass.exceptions import ParameterError
from diffclass.options import COUNT, SEED, OneOf
from diffclass_hyperspectral.commands._scenes import ScenePart, match_option
from diffclass_hyperspectral.options import OPTIONS as SCENE_OPTIONS
from diffclass_tables.commands._rows import FeatureOptions


class _Time(click.ParamType):
    """A number of steps, or the name of the rule that chooses it."""

    name = "steps|auto|margin"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return "auto", "margin" or a positive int."""
        if value in ("auto", "margin"):
            return str(value)
        try:
            steps = int(value)
        except ValueError:
            steps = 0
        if steps < 1:
            self.fail(f'{value!r} is neither a number of steps nor "auto" or "margin"', param, ctx)
        return steps


@dataclass(frozen=True)
class Diffusion:
    """How labels diffuse in a new session."""

    title = "Diffusion"
    neighbors: int | None = option("Neighbours of a point in the graph; 12 by default.", of=COUNT)
    label_mode: str | None = option(
        "How labels count. summed, free: they diffuse away, and count over the whole walk or "
        "at its end. absorbing: they stay. auto (default): as classify chooses, or summed for a "
        "tau that is given.",
        of=OneOf("diffclass.relabel:SESSION_MODES"),
    )
    tau: int | str | None = option(
        'Diffusion time in steps, or the rule that chooses it: "auto" (default), for all '
        'labels anew as classify does, or "margin", once.',
        type=_Time(),
    )
    max_time: int | None = option(
        "Last time to choose from; by default 1024 for up to 65,536 points, falling to 256.",
        hidden=True,
        of=COUNT,
    )
    random_state: int | None = option(
        "Seed of random choices; 0 by default.", names=("--seed",), hidden=True, of=SEED
    )


@dataclass(frozen=True)
class SceneOptions:
    """What pixels are compared by in a new session."""

    title = "Features"
    features: str | None = option(
        "Components of the spectra, alone (default) or together with smoothed ones: means "
        "within fields.",
        of=SCENE_OPTIONS["features"],
    )
    components: int | None = option(
        "Number of components; by default 20, or as many as the scene has bands.",
        of=SCENE_OPTIONS["n_components"],
    )


@dataclass(frozen=True)
class RowPictures:
    """How the rows of a table are shown."""

    images: str | None = option(
        "Pictures of the rows: a column of paths, from the folder of TABLE, or a folder of images "
        "that are called as the ids, or that are in the order of rows without ids.",
        usual=True,
    )
    text: str | None = option("Column of texts that show the rows.", usual=True)


@dataclass(frozen=True)
class Matching:
    """How classes of files are found among those of a session."""

    match: str | None = match_option("--labels and --reference", "the session")


_DECLARED = {
    "scene": (SceneOptions, ScenePart, Diffusion),
    "table": (FeatureOptions, RowPictures, Diffusion),
}


def checked_settings(of: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked of a session over a "scene" or "table", as the command would take it.

    - `ParameterError` for what the command has no option for, or would refuse
    """
    kinds = _DECLARED[of]
    for name in given.keys() - set(names_of(*kinds)):
        raise ParameterError(f"{name} is no setting of a session over a {of}; leave it out")
    found = {name: value for kind in kinds for name, value in taken(kind, given).items()}
    if ScenePart in kinds:
        part = ScenePart(**{name: found.get(name) for name in names_of(ScenePart)})
        found |= {name: word for name, word in part.words.items() if word is not None}
    return found
