"""Options that choose the features, the walk and the time, for commands that diffuse labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import Console

if TYPE_CHECKING:
    from diffclass_hyperspectral.workflows.memory_forecast import MemoryForecast

SMALLER = (
    "ask for fewer --components or --neighbors, or cut the scene into tiles: fit on one with "
    "--save, classify the others with --model"
)

_KERNELS = ("shared", "gaussian", "covariance", "directed", "discriminant", "directed-discriminant")

# As in diffclass_hyperspectral.features.scene_features, which is too heavy to import for --help.
METRICS = ("euclidean", "angle", "correlation")

metric_option = click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="euclidean",
    show_default=True,
    help="Which spectra are near: euclidean, by noise-adjusted components; angle, correlation: "
    "whatever their brightness, in all good bands.",
)

_OPTIONS = (
    click.option(
        "--features",
        type=click.Choice(["spectral", "spatial"]),
        default="spectral",
        show_default=True,
        help="Components of the spectra, alone or beside themselves smoothed within fields.",
    ),
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
        type=click.Choice(_KERNELS),
        default="shared",
        show_default=True,
        help="gaussian: by distance alone; all others by shared neighbours too. covariance: by "
        "overlap of local Gaussians. directed, discriminant: shaped by a first diffusion's "
        "posteriors, along their level sets or the classes' boundaries.",
    ),
    click.option(
        "--label-mode",
        type=click.Choice(["summed", "free", "absorbing"]),
        help="Whether labels diffuse away, summed over the walk (default) or at its end, or stay.",
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
    from diffclass.classifier import DiffusionClassifier

    given = {"n_neighbors": neighbors, "label_mode": label_mode, "tau": tau, "max_time": max_time}
    chosen = {name: value for name, value in given.items() if value is not None}
    return DiffusionClassifier(kernel=_kernel(kernel), rounds=rounds, random_state=seed).set_params(
        **chosen
    )


def say_forecast(console: Console, forecast: MemoryForecast, advice: str) -> dict[str, Any]:
    """Say what memory a run will need, warn where there is less, and return it for the report."""
    console.say(forecast.line())
    forecast.warn(advice)
    return forecast.to_dict()


def _kernel(name: str) -> Any:
    from diffclass import kernels

    if name == "shared":
        return None
    if name == "gaussian":
        return kernels.Gaussian()
    inner = {
        "covariance": kernels.LocalCovariance(),
        "directed": kernels.Directed(),
        "discriminant": kernels.LocalDiscriminant(),
        "directed-discriminant": kernels.LocalDiscriminant(kernels.Directed()),
    }
    return kernels.SharedNeighbors(inner[name])
