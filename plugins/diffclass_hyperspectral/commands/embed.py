"""``diffclass embed``: a scene or table in, diffusion coordinates out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import (
    Console,
    common_options,
    overwrite_option,
    peak_memory_bytes,
    seed_option,
)
from diffclass_hyperspectral.commands._diffusion import metric_option, say_forecast, scene_features

if TYPE_CHECKING:
    from diffclass.embedding import DiffusionMap
    from diffclass_hyperspectral.workflows.scene_embedding import EmbeddedPoints

_PATH = click.Path(path_type=Path)
_SMALLER = "ask for fewer --neighbors or --components, or embed a part of the scene"


class _NumberOr(click.ParamType):
    """A number, or one of some words."""

    def __init__(self, *words: str):
        self.words = words
        self.name = "|".join([*words, "number"])

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value in self.words:
            return value
        try:
            return float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is neither a number nor one of {', '.join(self.words)}")


@click.command()
@click.argument("points", type=_PATH)
@click.option("-o", "--output", type=_PATH, required=True, help="Coordinates: .npy, .csv, .img.")
@click.option("--picture", type=_PATH, help="Coordinates and spectrum as a .png.")
@click.option("--report", type=_PATH, help="Report as JSON.")
@click.option("-n", "--components", type=int, default=3, show_default=True, help="Coordinates.")
@click.option("--neighbors", type=int, default=64, show_default=True, help="Of a point, at least.")
@click.option("--alpha", type=float, default=1.0, show_default=True, help="Density exponent.")
@click.option("--time", type=_NumberOr("auto"), default=1, show_default=True, help="Steps.")
@click.option(
    "--bandwidth",
    type=_NumberOr("graph", "semigroup", "slope", "self-tuning"),
    help="epsilon: the widest that the neighbours carry (tables' default), chosen from the data, "
    "each point's own (scenes' default), or a number.",
)
@click.option(
    "--features",
    type=click.Choice(["spectral", "spatial"]),
    default="spectral",
    show_default=True,
    help="Of a scene: components, alone or beside themselves smoothed within fields.",
)
@metric_option
@click.option("--variable", help="Array to take from a .mat file with several.")
@seed_option
@overwrite_option
@common_options
def embed(
    points: Path,
    output: Path,
    picture: Path | None,
    report: Path | None,
    *,
    console: Console,
    overwrite: bool,
    features: str,
    metric: str,
    variable: str | None,
    **options: Any,
) -> None:
    """Write the diffusion coordinates of POINTS: a scene's pixels or a table's rows.

    Tables are .csv, .tsv or two-dimensional .npy files; anything else is opened as a scene. Pixels
    and rows with missing values get none.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral.io.tables import is_table
    from diffclass_hyperspectral.workflows.scene_embedding import (
        draw_embedding,
        embed_file,
        write_coordinates,
    )

    _check_outputs(points, output, picture, report, overwrite=overwrite)
    if options["bandwidth"] is None:
        options["bandwidth"] = "graph" if is_table(points) else "self-tuning"
    memory: dict[str, Any] = {}
    with console.timing():
        embedded = embed_file(
            points,
            _model(**options),
            features=scene_features(features, metric),
            variable=variable,
            before=lambda forecast: memory.update(say_forecast(console, forecast, _SMALLER)),
        )
        with stage("writing"):
            write_coordinates(output, embedded, overwrite=overwrite)
            if picture is not None:
                draw_embedding(picture, embedded, overwrite=overwrite)
    _report(console, embedded, memory, report, overwrite=overwrite)


def _check_outputs(
    points: Path, output: Path, picture: Path | None, report: Path | None, *, overwrite: bool
) -> None:
    from diffclass_hyperspectral.io.map_files import check_outputs
    from diffclass_hyperspectral.io.tables import is_table

    suffix = output.suffix.lower()
    if suffix == ".png":
        raise click.UsageError("-o takes numbers (.npy, .csv, .img); a picture is --picture")
    if suffix not in (".csv", ".npy") and is_table(points):
        raise click.UsageError("a table's coordinates are written as .npy or .csv")
    if picture is not None and picture.suffix.lower() != ".png":
        raise click.UsageError("--picture is a .png")
    rasters = [] if suffix == ".csv" else [output]
    others = [path for path in (picture, report) if path is not None]
    others += [output] if suffix == ".csv" else []
    check_outputs(rasters, others, [points], overwrite=overwrite)


def _model(
    components: int,
    neighbors: int,
    alpha: float,
    time: float | str,
    bandwidth: float | str,
    seed: int,
) -> DiffusionMap:
    from diffclass import DiffusionMap

    return DiffusionMap(
        components,
        n_neighbors=neighbors,
        alpha=alpha,
        time=time,
        bandwidth=bandwidth,
        random_state=seed,
    )


def _report(
    console: Console,
    embedded: EmbeddedPoints,
    memory: dict[str, Any],
    path: Path | None,
    *,
    overwrite: bool,
) -> None:
    from diffclass import __version__
    from diffclass_hyperspectral.workflows.reports import write_json

    model, curve = embedded.model, embedded.model.bandwidth_curve_
    facts: dict[str, Any] = {
        "n_points": len(model.operator_),
        "n_without_data": len(embedded.coordinates) - len(model.operator_),
        "eigenvalues": model.eigenvalues_.tolist(),
        "time": model.time_,
        "epsilon": model.epsilon_,
        "alpha": model.alpha,
        "n_neighbors": model.n_neighbors_,
        "neighbor_recall": model.graph_.recall,
        "n_graph_components": model.operator_.n_connected_components,
        "bandwidth_curve": None if curve is None else _curve(curve),
        "seconds": console.seconds | {"total": console.total_seconds},
        "peak_memory_bytes": peak_memory_bytes(),
        "memory": memory or None,  # of a scene
        "version": __version__,
    }
    if path is not None:
        write_json(path, facts, overwrite=overwrite)
    eigenvalues = ", ".join(f"{value:.4f}" for value in model.eigenvalues_)
    epsilon = "self-tuned" if model.epsilon_ is None else f"{model.epsilon_:.4g}"
    lines = [
        f"{facts['n_points']} points ({facts['n_without_data']} without data), "
        f"{facts['n_neighbors']} neighbours, {facts['n_graph_components']} component(s)",
        f"epsilon {epsilon}, alpha {model.alpha:g}, time {model.time_:g}",
        f"eigenvalues {eigenvalues}",
    ]
    if curve is not None and curve.dimension is not None:
        lines.append(f"dimension {curve.dimension:.2f}")
    console.give(facts, "\n".join(lines))


def _curve(curve: Any) -> dict[str, Any]:
    return {
        "criterion": curve.criterion,
        "epsilons": curve.epsilons.tolist(),
        "values": [None if value != value else float(value) for value in curve.values],
        "n_useful": curve.n_useful.tolist(),
        "in_reach": curve.in_reach.tolist(),
        "is_found": curve.is_found,
        "dimension": curve.dimension,
    }
