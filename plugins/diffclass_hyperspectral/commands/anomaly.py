"""``diffclass anomaly``: a scene in, how unlike the others each pixel is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import (
    Console,
    common_options,
    overwrite_option,
    seed_option,
)
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._effects import refuse_without_effect
from diffclass_hyperspectral.commands._results import (
    check_picture,
    costs_of,
    give_report,
    say_orthorectified,
)
from diffclass_hyperspectral.commands._scene import scene_files, scene_options, taken
from diffclass_hyperspectral.commands._tiles import (
    PLACES,
    OpenedScenes,
    opened_scenes,
    output_names,
    scenes_argument,
)

if TYPE_CHECKING:
    import numpy as np

    from diffclass_hyperspectral import Scene, SceneAnomalies

_PATH = click.Path(path_type=Path)
_SMALLER = "ask for fewer --neighbors, or search the scene in smaller tiles"


@click.command(epilog="Example: diffclass anomaly scene.tif -o anomalies.tif")
@scenes_argument()
@click.option(
    "-o",
    "--output",
    type=_PATH,
    required=True,
    help="Scores: .img, .tif, .png, .npy; of several scenes on one map grid as classify's maps.",
)
@click.option(
    "--method",
    type=click.Choice(["diffusion", "rx", "isolation-forest"]),
    default="diffusion",
    show_default=True,
    help="diffusion: how far the walk from a pixel is from equilibrium; rx: squared Mahalanobis "
    "distance from the mean; isolation-forest: how few cuts set a pixel apart.",
)
@click.option(
    "--truth",
    type=_PATH,
    help="Known anomalies, above 0 (formats and folders as classify's labels): prints the area "
    "under the ROC curve, and RX's beside it.",
)
@click.option(
    "--picture", type=_PATH, help="Scene, scores and, with --truth, ROC curves as a .png."
)
@click.option("--report", type=_PATH, help="Report as JSON.")
@click.option(
    "--neighbors",
    type=click.IntRange(1),
    default=32,
    show_default=True,
    help="Of diffusion: neighbours of a pixel in the graph; more than anomalies that are alike.",
)
@click.option(
    "--time",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Of diffusion: steps of the walk. More find groups of anomalies that are alike, and lose "
    "mixed pixels.",
)
@scene_options
@click.option("--truth-variable", help="Array to take from a .mat truth with several.")
@force_option
@seed_option
@overwrite_option
@common_options
def anomaly(
    scenes: tuple[Path, ...],
    output: Path,
    method: str,
    truth: Path | None,
    picture: Path | None,
    report: Path | None,
    *,
    console: Console,
    overwrite: bool,
    **options: Any,
) -> None:
    """Score every pixel of SCENE by how unlike the others its spectrum is.

    The score map has one band; the higher, the stranger. Pixels without data have none. What
    counts as an anomaly is for you to say: take the highest scores (the report lists ten).
    Formats of SCENE: diffclass info --help.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import write_raster
    from diffclass_hyperspectral.io.maps import check_outputs, place_of
    from diffclass_hyperspectral.workflows.anomalies import draw_anomalies, report_anomalies

    check_picture(picture)
    if truth is None:
        refuse_without_effect(["truth_variable"], "without --truth")
    if method != "diffusion":
        refuse_without_effect(["neighbors", "time"], f"with --method {method}")
    others = [path for path in (report, picture) if path is not None]
    inputs = [path for path in (*scenes, truth) if path is not None]
    inputs += scene_files(options)
    rasters = output_names((output,), scenes)
    check_outputs(rasters, others, inputs, overwrite=overwrite)
    with console.timing():
        with stage("opening"):
            opened = opened_scenes(scenes, one_grid_or=PLACES, **taken(options))
            cube = opened.scene
            marked = _marked(opened, truth, options["truth_variable"])
        say_orthorectified(console, rasters, cube)
        found = _find(cube, method, console=console, **options)
        curves = {} if marked is None else _curves(cube, found, marked)
        with stage("writing"):
            for path, scene, rows, columns in opened.files(output):
                write_raster(
                    path,
                    found.scores[rows, columns],
                    band_names=[f"anomaly score, {method}"],
                    overwrite=overwrite,
                    **place_of(scene, path),
                )
            if picture is not None:
                draw_anomalies(
                    picture, found, cube, truth=marked, curves=curves, overwrite=overwrite
                )
    said = report_anomalies(found, cube, curves=curves, costs=costs_of(console))
    give_report(console, said, report, overwrite=overwrite)


def _find(
    cube: Scene,
    method: str,
    *,
    console: Console,
    neighbors: int,
    time: int,
    seed: int,
    force: bool,
    **_: Any,
) -> SceneAnomalies:
    from diffclass import DiffusionAnomaly
    from diffclass_hyperspectral import find_anomalies

    return find_anomalies(
        cube,
        method=method,
        model=DiffusionAnomaly(n_neighbors=neighbors, time=time, random_state=seed),
        seed=seed,
        before=forecast_sayer(console, _SMALLER, force=force),
    )


def _marked(opened: OpenedScenes, truth: Path | None, variable: str | None) -> np.ndarray | None:
    from diffclass_hyperspectral import known_anomalies

    if truth is None:
        return None
    return known_anomalies(opened.read_labels(truth, variable), opened.scene)


def _curves(cube: Scene, found: SceneAnomalies, marked: np.ndarray) -> dict[str, Any]:
    """Return the ROC curve of the scores, and that of RX to compare with."""
    from diffclass_hyperspectral import detection_of, find_anomalies

    curves = {found.method: detection_of(found, marked)}
    if found.method != "rx":
        curves["rx"] = detection_of(find_anomalies(cube, method="rx"), marked)
    return curves
