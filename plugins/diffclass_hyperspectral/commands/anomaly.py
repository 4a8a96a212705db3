"""``diffclass anomaly``: a scene in, how unlike the others each pixel is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffclass.command_line import (
    AnomalyOptions,
    Console,
    RunOptions,
    command,
    common_options,
    files_read,
    forecast_printer,
    give_report,
    option,
    options,
    output_option,
    picture_option,
    present,
    refuse_without_effect,
    variable_option,
)
from diffclass_hyperspectral.commands._results import place_maps
from diffclass_hyperspectral.commands._scenes import (
    PLACES,
    ScenePart,
    opened_scenes,
    output_names,
    scenes_argument,
)
from diffclass_hyperspectral.options import OPTIONS

if TYPE_CHECKING:
    import numpy as np

    from diffclass.jobs import Anomalies
    from diffclass_hyperspectral import Scene, TiledScene

_SMALLER = "ask for fewer --neighbors, or search the scene in smaller tiles"


@dataclass(frozen=True)
class _Given(AnomalyOptions):
    output: Path = output_option(
        "Scores: .img, .tif, .png, .npy; of several scenes on one map grid as classify's maps.",
        short="-o",
        required=True,
    )
    method: str = option(
        "diffusion: how far the walk from a pixel is from equilibrium; rx: squared "
        "Mahalanobis distance from the mean; isolation-forest: how few cuts set a pixel apart.",
        of=OPTIONS["method"],
        default="diffusion",
    )
    picture: Path | None = picture_option("Scene, scores and, with --truth, ROC curves as a .png.")
    truth_variable: str | None = variable_option("truth file")


@command(epilog="Example: diffclass anomaly scene.tif -o anomalies.tif")
@scenes_argument()
@options(_Given, "given")
@options(ScenePart, "part")
@options(RunOptions, "running")
@common_options
def anomaly(
    scenes: tuple[Path, ...],
    *,
    given: _Given,
    part: ScenePart,
    running: RunOptions,
    console: Console,
) -> None:
    """Score every pixel of SCENE by how unlike the others its spectrum is.

    The score map has one band. The highest scores are the candidates for anomalies; the report
    lists ten of them. Pixels without data have no score.
    Formats of SCENE: diffclass info --help.
    """
    from diffclass.jobs import report_anomalies
    from diffclass.system.progress import stage
    from diffclass_hyperspectral import write_raster
    from diffclass_hyperspectral.io.maps import check_outputs, place_of
    from diffclass_hyperspectral.jobs.anomalies import draw_anomalies

    if given.truth is None:
        refuse_without_effect(["truth_variable"], "without --truth")
    if given.method != "diffusion":
        refuse_without_effect(["neighbors", "time"], f"with --method {given.method}")
    rasters = output_names((given.output,), scenes)
    others = present(given.report, given.picture)
    check_outputs(rasters, others, files_read(), numbers=rasters, overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            tiles = opened_scenes(scenes, one_grid_or=PLACES, **part.opening)
            cube = tiles.scene
            marked = _marked(tiles, given.truth, given.truth_variable)
        place_maps(console, rasters, cube)
        found = _find(cube, given, running, console)
        curves = {} if marked is None else _curves(cube, found, marked)
        with stage("writing"):
            for path, scene, place in tiles.files(given.output):
                write_raster(
                    path,
                    found.scores[place],
                    band_names=[f"anomaly score, {given.method}"],
                    overwrite=running.overwrite,
                    **place_of(scene, path),
                )
            if given.picture is not None:
                draw_anomalies(
                    given.picture,
                    found,
                    cube,
                    truth=marked,
                    curves=curves,
                    overwrite=running.overwrite,
                )
    said = report_anomalies(found, curves=curves)
    give_report(console, said, found.scores)


def _find(cube: Scene, given: _Given, running: RunOptions, console: Console) -> Anomalies:
    from diffclass_hyperspectral import scene_anomalies

    return scene_anomalies(
        cube,
        method=given.method,
        model=given.model(running.random_state),
        random_state=running.random_state,
        before=forecast_printer(console, _SMALLER, force=running.force),
    )


def _marked(tiles: TiledScene, truth: str | None, variable: str | None) -> np.ndarray | None:
    from diffclass_hyperspectral import known_anomalies, read_tile_labels

    if truth is None:
        return None
    return known_anomalies(read_tile_labels(truth, tiles, variable=variable), tiles.scene)


def _curves(cube: Scene, found: Anomalies, marked: np.ndarray) -> dict[str, Any]:
    """Return the ROC curve of the scores, and that of RX to compare with."""
    from diffclass.jobs import detection_of
    from diffclass_hyperspectral import scene_anomalies

    curves = {found.method: detection_of(found, marked)}
    if found.method != "rx":
        curves["rx"] = detection_of(scene_anomalies(cube, method="rx"), marked)
    return curves
