"""Options that choose the graph, the walk and the time, for commands that diffuse labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from diffclass.command_line.option_groups import option, refuse_without_effect
from diffclass.options import COUNT, OneOf, Whole
from diffclass.system.extensions import KERNELS, extension_names

if TYPE_CHECKING:
    from diffclass.classifier import DiffusionClassifier
    from diffclass.jobs import Prior

_DEFAULT_KERNEL = "shared"
_JOINED: dict[str, str | bool] = {"auto": "auto", "yes": True, "no": False}


class KernelName(click.ParamType):
    """The name of a kernel of diffclass or of another package; they are too heavy for --help."""

    name = "kernel"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or say which ones exist."""
        if value != _DEFAULT_KERNEL and value not in (known := _kernel_names()):
            self.fail(f"{value!r} is not one of {', '.join(map(repr, known))}", param, ctx)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        return [CompletionItem(name) for name in _kernel_names() if name.startswith(incomplete)]


def _kernel_names() -> list[str]:
    from diffclass.kernels import NAMED  # imports SciPy

    return [*NAMED, *extension_names(KERNELS)]


@dataclass(frozen=True)
class WalkOptions:
    """The graph, the walk and its time."""

    title = "Graph and diffusion"
    neighbors: int | None = option("Neighbours of a point in the graph.", of=COUNT)
    kernel: str = option(
        "gaussian: by distance alone; all others by shared neighbours too. covariance: by "
        "overlap of local Gaussians. directed, discriminant, directed-discriminant: shaped by the "
        "posteriors of a first diffusion, along their level sets, along the boundaries of the "
        "classes, or both.",
        type=KernelName(),
        default=_DEFAULT_KERNEL,
    )
    label_mode: str | None = option(
        "How labels count. absorbing: the walk stops at them. summed, free: they diffuse "
        "away, and count over the whole walk or at its end; free-l1: in the measure of Coifman "
        "et al. 2005. auto (default): absorbing, or, with one label per class, summed if their map "
        "cuts the graph less.",
        of=OneOf("diffclass.label_diffusion.label_modes:LABEL_MODES"),
    )
    class_sizes: str | None = option(
        "What is known of the classes' sizes: NAME=SIZE,NAME=SIZE with 20%, 1200px, 3.5ha (also "
        "m2, km2) or a range, 10-20%; or uniform. The map meets them as far as the graph agrees.",
        metavar="SIZES",
        hidden=True,
    )
    tau: int | None = option("Diffusion time in steps; chosen by default.", of=COUNT)
    max_time: int | None = option("Last time to choose from.", hidden=True, of=COUNT)
    rounds: int = option(
        "Number of further diffusions, each by walks warped class by class with the last "
        "posteriors.",
        hidden=True,
        of=Whole(0),
        default=0,
    )
    join_features: str = option(
        "Whether functions of the features count beside the graph, as far as held-out labels "
        "speak for them. auto: where --label-mode and --tau are left out.",
        hidden=True,
        of=OneOf(tuple(_JOINED)),
        default="auto",
    )
    device: str = option(
        "Where neighbours are searched and labels diffuse. cuda: on the first NVIDIA device "
        "(needs the extra [cuda]), neighbours exactly.",
        of=OneOf(("cpu", "cuda")),
        default="cpu",
    )

    def check(self) -> None:
        """Raise `UsageError` for options that have no effect."""
        if self.tau is not None:
            refuse_without_effect(["max_time"], "where --tau states the time")

    def classifier_of(self, random_state: int, class_prior: Prior | None) -> DiffusionClassifier:
        """Return the classifier that was asked for, all else with the library's defaults."""
        from diffclass import StoppingRule, Warp
        from diffclass.classifier import DiffusionClassifier
        from diffclass.kernels import kernel_named
        from diffclass.operators import processor_of

        processor_of(self.device)  # says now what is missing
        rule = None if self.max_time is None else StoppingRule(max_time=self.max_time)
        given = {
            "n_neighbors": self.neighbors,
            "label_mode": self.label_mode,
            "tau": rule if self.tau is None else self.tau,
            "class_prior": class_prior,
        }
        return DiffusionClassifier(
            kernel=None if self.kernel == _DEFAULT_KERNEL else kernel_named(self.kernel),
            warp=Warp(self.rounds) if self.rounds else None,
            join_features=_JOINED[self.join_features],
            random_state=random_state,
            device=self.device,
        ).set_params(**{name: value for name, value in given.items() if value is not None})
