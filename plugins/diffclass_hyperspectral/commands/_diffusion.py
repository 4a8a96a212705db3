"""Options that choose the features, the walk and the time, for commands that diffuse labels."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import click

from diffclass_hyperspectral.features.metrics import METRICS

SMALLER = (
    "ask for fewer --components or --neighbors, or cut the scene into tiles: fit on one with "
    "--save, classify the others with --model"
)

# Made from `diffclass.kernels`, which is too heavy to import for --help; None is the default.
_KERNELS: dict[str, Callable[[Any], Any]] = {
    "shared": lambda kernels: None,
    "gaussian": lambda kernels: kernels.Gaussian(),
    "covariance": lambda kernels: kernels.SharedNeighbors(kernels.LocalCovariance()),
    "directed": lambda kernels: kernels.SharedNeighbors(kernels.Directed()),
    "discriminant": lambda kernels: kernels.SharedNeighbors(kernels.LocalDiscriminant()),
    "directed-discriminant": lambda kernels: kernels.SharedNeighbors(
        kernels.LocalDiscriminant(kernels.Directed())
    ),
}


class NameIn(click.ParamType):
    """One of the names that a module lists, which is imported only where a value is given.

    Parameters
    ----------
    name : str
        What --help calls the value.
    home : str
        The module and the list in it, "package.module:LIST".
    """

    def __init__(self, name: str, home: str):
        self.name = name
        self.home = home

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the name, or say which ones there are."""
        module, _, listing = self.home.partition(":")
        names = getattr(importlib.import_module(module), listing)
        if value not in names:
            self.fail(f"{value!r} is not one of {', '.join(names)}", param, ctx)
        return value


features_option = click.option(
    "--features",
    type=click.Choice(["spectral", "spatial"]),
    default="spectral",
    show_default=True,
    help="Components of a scene's spectra, alone or beside themselves smoothed within fields.",
)

metric_option = click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="euclidean",
    show_default=True,
    help="Which spectra are near: euclidean, by noise-adjusted components; angle, correlation: "
    "whatever their brightness, in all good bands.",
)

_OPTIONS = (
    features_option,
    metric_option,
    click.option(
        "--components",
        type=int,
        help="Their number; by default 20 noise-adjusted ones, for angle and correlation as many "
        "as keep the distances.",
    ),
    click.option("--neighbors", type=int, help="Neighbours of a pixel in the graph."),
    click.option(
        "--kernel",
        type=click.Choice(list(_KERNELS)),
        default="shared",
        show_default=True,
        help="gaussian: by distance alone; all others by shared neighbours too. covariance: by "
        "overlap of local Gaussians. directed, discriminant: shaped by a first diffusion's "
        "posteriors, along their level sets or the classes' boundaries.",
    ),
    click.option(
        "--label-mode",
        type=NameIn("mode", "diffclass.label_diffusion.diffusion:LABEL_MODES"),
        help="summed (default), free: labels diffuse away, and count over the walk or at its end. "
        "absorbing: they stay.",
    ),
    click.option("--tau", type=int, help="Diffusion time in steps; chosen by margin by default."),
    click.option("--max-time", type=int, help="Last time that the choice looks at."),
    click.option(
        "--rounds",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Diffuse so many times more, by walks warped class by class with the last posteriors.",
    ),
)


def diffusion_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def scene_features(features: str, metric: str, components: int | None = None) -> Any:
    """Return the features that were asked for, not yet fitted."""
    from diffclass_hyperspectral import SceneFeatures

    return SceneFeatures(components, metric=metric, spatial=features == "spatial")


def diffusion_classifier(
    seed: int,
    *,
    neighbors: int | None,
    kernel: str,
    label_mode: str | None,
    tau: int | None,
    max_time: int | None,
    rounds: int,
) -> Any:
    """Return the classifier that was asked for; what was not keeps the library's default."""
    from diffclass import kernels
    from diffclass.classifier import DiffusionClassifier

    given = {"n_neighbors": neighbors, "label_mode": label_mode, "tau": tau, "max_time": max_time}
    chosen = {name: value for name, value in given.items() if value is not None}
    return DiffusionClassifier(
        kernel=_KERNELS[kernel](kernels), rounds=rounds, random_state=seed
    ).set_params(**chosen)
