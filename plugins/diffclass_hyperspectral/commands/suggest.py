"""``diffclass suggest``: a scene and labels in, pixels to label next out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import (
    BOUND_MISSED,
    Console,
    common_options,
    overwrite_option,
    peak_memory_bytes,
    seed_option,
)
from diffclass_hyperspectral.commands._diffusion import (
    SMALLER,
    diffusion_classifier,
    diffusion_options,
    say_forecast,
    scene_features,
)

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.label_images import LabelImage
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.workflows.classification import SceneClassification
    from diffclass_hyperspectral.workflows.suggestions import SuggestedPixel

_PATH = click.Path(path_type=Path)
# As in diffclass.acquisition, which is too heavy to import for --help.
_RULES = (
    "hybrid",
    "margin",
    "unexplored",
    "distance",
    "vopt",
    "sigma-opt",
    "model-change",
    "uncertainty",
)


@click.command()
@click.argument("scene", type=_PATH)
@click.option("--labels", type=_PATH, required=True, help="Label image; 0 is unlabelled.")
@click.option("-o", "--output", type=_PATH, required=True, help="Pixels: .geojson, .csv.")
@click.option(
    "--rule",
    type=click.Choice(_RULES),
    default="hybrid",
    show_default=True,
    help="hybrid: vopt, then margin. margin: where classes are close. unexplored: where labels "
    "hardly come. distance: dense and far from labels. vopt, sigma-opt: what lowers a Gaussian "
    "process's variance most. model-change: what moves it most. uncertainty: margin times its "
    "standard deviation.",
)
@click.option(
    "-n", "--number", type=click.IntRange(1), default=10, show_default=True, help="Pixels."
)
@click.option(
    "--min-distance",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="Pixels between any two of them, at least.",
)
@click.option("--report", type=_PATH, help="Report as JSON.")
@diffusion_options
@click.option("--variable", help="Array to take from a .mat scene with several.")
@click.option("--label-variable", help="Array to take from a .mat label file with several.")
@seed_option
@overwrite_option
@common_options
def suggest(
    scene: Path,
    labels: Path,
    output: Path,
    *,
    console: Console,
    overwrite: bool,
    report: Path | None,
    rule: str,
    number: int,
    min_distance: float,
    variable: str | None,
    label_variable: str | None,
    **options: Any,
) -> int:
    """Say which pixels of SCENE to label next, the most useful first.

    GeoJSON has an empty field "class": filled in, it is a file of labels. Exit code 4: the pixels
    are there, but the labels did not cover the graph by --max-time.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import open_scene, read_labels
    from diffclass_hyperspectral.io.map_files import check_outputs
    from diffclass_hyperspectral.workflows.suggestions import check_ending, suggest_pixels

    check_ending(output)
    others = [path for path in (output, report) if path is not None]
    check_outputs([], others, [scene, labels], overwrite=overwrite)
    with console.timing():
        with stage("opening"):
            cube = open_scene(scene, variable=variable)
            given = read_labels(labels, variable=label_variable, grid=cube)
        result, memory = _classified(cube, given, console=console, **options)
        pixels = suggest_pixels(cube, given, result, number, rule=rule, min_distance=min_distance)
        with stage("writing"):
            _write(output, pixels, cube, overwrite=overwrite)
    if len(pixels) < number:
        console.say(f"only {len(pixels)} unlabelled pixels lie {min_distance:g} pixels apart")
    facts = {
        "rule": rule,
        "min_distance": min_distance,
        "tau": int(result.model.classifier.tau_),
        "memory": memory,
    }
    _report(console, pixels, facts, report, overwrite=overwrite)
    return 0 if result.model.classifier.margin_curve_.is_covered else BOUND_MISSED


def _classified(
    cube: Scene,
    labels: LabelImage,
    *,
    console: Console,
    features: str,
    metric: str,
    components: int | None,
    seed: int,
    **options: Any,
) -> tuple[SceneClassification, dict[str, Any]]:
    from diffclass_hyperspectral.workflows.classification import check_before, classify_scene
    from diffclass_hyperspectral.workflows.memory_forecast import forecast_classification

    parts = scene_features(features, metric, components), diffusion_classifier(seed, **options)
    check_before(cube, labels, *parts)
    n_classes = sum(count > 0 for count in labels.counts().values())
    forecast = forecast_classification(cube, *parts, n_classes, suggesting=True)
    memory = say_forecast(console, forecast, SMALLER)
    return classify_scene(cube, labels, features=parts[0], classifier=parts[1]), memory


def _write(path: Path, pixels: list[SuggestedPixel], cube: Scene, *, overwrite: bool) -> None:
    from diffclass_hyperspectral.io.georeference import georeference_of
    from diffclass_hyperspectral.workflows.suggestions import write_suggestions

    georeference = georeference_of(cube.map_info)
    crs = None if georeference is None else georeference.crs
    write_suggestions(path, pixels, crs=crs, overwrite=overwrite)


def _report(
    console: Console,
    pixels: list[SuggestedPixel],
    facts: dict[str, Any],
    path: Path | None,
    *,
    overwrite: bool,
) -> None:
    from diffclass import __version__
    from diffclass_hyperspectral.workflows.reports import write_json
    from diffclass_hyperspectral.workflows.suggestions import as_dict, suggestion_lines

    report = facts | {
        "pixels": [as_dict(pixel) for pixel in pixels],
        "seconds": console.seconds | {"total": console.total_seconds},
        "peak_memory_bytes": peak_memory_bytes(),
        "version": __version__,
    }
    if path is not None:
        write_json(path, report, overwrite=overwrite)
    console.give(report, "\n".join(suggestion_lines(pixels)))
