"""Options that choose the features, the walk and the time, for commands that diffuse labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_KERNELS = ("shared", "gaussian", "covariance", "directed", "discriminant", "directed-discriminant")

_OPTIONS = (
    click.option(
        "--features",
        type=click.Choice(["spectral", "spatial"]),
        default="spectral",
        show_default=True,
        help="Noise-adjusted components, alone or at three spatial scales.",
    ),
    click.option("--components", type=int, default=20, show_default=True, help="Their number."),
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
        "--boundary", type=click.Choice(["free", "absorbing"]), help="Whether labels diffuse away."
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


def scene_features(features: str, components: int) -> Any:
    """Return the features that were asked for, not yet fitted."""
    from diffclass_hyperspectral import SceneFeatures

    return SceneFeatures(components, spatial=features == "spatial")


def diffusion_classifier(
    seed: int,
    *,
    neighbors: int | None,
    kernel: str,
    boundary: str | None,
    tau: int | None,
    max_time: int | None,
    rounds: int,
) -> Any:
    """Return the classifier that was asked for; what was not keeps the library's default."""
    from diffclass.classifier import DiffusionClassifier

    given = {"n_neighbors": neighbors, "labels": boundary, "tau": tau, "max_time": max_time}
    chosen = {name: value for name, value in given.items() if value is not None}
    return DiffusionClassifier(kernel=_kernel(kernel), rounds=rounds, random_state=seed).set_params(
        **chosen
    )


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
