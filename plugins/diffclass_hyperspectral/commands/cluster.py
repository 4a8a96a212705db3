"""``diffclass cluster``: a scene in, classes without labels out."""

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
from diffclass_hyperspectral.commands._diffusion import (
    features_option,
    metric_option,
    scene_features,
)
from diffclass_hyperspectral.commands._effects import refuse_without_effect
from diffclass_hyperspectral.commands._results import (
    check_picture,
    costs_of,
    give_report,
    say_orthorectified,
)
from diffclass_hyperspectral.commands._scene import scene_files, scene_options, taken
from diffclass_hyperspectral.commands._tiles import (
    NAME,
    ONE_MAP,
    PLACES,
    opened_scenes,
    output_names,
    scenes_argument,
)

if TYPE_CHECKING:
    from diffclass.clustering import DiffusionClustering

_PATH = click.Path(path_type=Path)
_SMALLER = "ask for fewer --components, or cluster a part of the scene"


@click.command(epilog="Example: diffclass cluster scene.tif -o clusters.tif")
@scenes_argument()
@click.option(
    "-o",
    "--output",
    type=_PATH,
    required=True,
    help="Cluster map: .img, .tif, .png, .npy; of several scenes as classify's.",
)
@click.option(
    "-k",
    "--clusters",
    type=click.IntRange(2),
    help="Number of clusters; by default the one before the widest gap of the walk's spectrum.",
)
@click.option(
    "--method",
    type=click.Choice(["kmeans", "modes"]),
    default="kmeans",
    show_default=True,
    help="How clusters are found in diffusion coordinates. kmeans: around means. modes: around "
    "dense pixels that are far from denser ones (LUND).",
)
@features_option
@metric_option
@click.option(
    "--components", type=int, help="Number of components of the spectra; by default as classify."
)
@click.option(
    "--truth",
    type=_PATH,
    help="Known classes (formats and folders as classify's labels; 0 is unknown): prints "
    "accuracies after the best assignment of clusters to classes.",
)
@click.option("--picture", type=_PATH, help="Map and mean spectra as a .png.")
@click.option("--report", type=_PATH, help="Report as JSON, with the mean spectra.")
@scene_options
@click.option("--truth-variable", help="Array to take from a .mat truth with several.")
@force_option
@seed_option
@overwrite_option
@common_options
def cluster(
    scenes: tuple[Path, ...],
    output: Path,
    truth: Path | None,
    picture: Path | None,
    report: Path | None,
    *,
    console: Console,
    overwrite: bool,
    force: bool,
    features: str,
    metric: str,
    components: int | None,
    truth_variable: str | None,
    **options: Any,
) -> None:
    """Divide the pixels of SCENE into clusters: classes without labels.

    Clusters are numbered by falling size; pixels without data are 0. The report says why there
    are so many, how well each holds the walk, and their mean spectra. What they are is for you to
    say: compare the spectra, or use the map as labels to correct on the page. Several scenes share
    one graph, as those of classify do. Formats of SCENE: diffclass info --help.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import (
        agreement,
        cluster_scene,
        known_classes,
        write_class_map,
    )
    from diffclass_hyperspectral.io.maps import check_outputs, place_of
    from diffclass_hyperspectral.workflows.clustering import draw_clusters, report_clusters
    from diffclass_hyperspectral.workflows.parameters import check_components

    check_picture(picture)
    if truth is None:
        refuse_without_effect(["truth_variable"], "without --truth")
    others = [path for path in (report, picture) if path is not None]
    inputs = [path for path in (*scenes, truth) if path is not None]
    inputs += scene_files(options)
    rasters = output_names((output,), scenes)
    check_outputs(rasters, others, inputs, overwrite=overwrite)
    with console.timing():
        with stage("opening"):
            grid = PLACES if options["method"] == "modes" else None
            grid = grid if NAME in str(output) else ONE_MAP
            opened = opened_scenes(scenes, one_grid_or=grid, **taken(options))
            cube = opened.scene
            check_components(components, cube)
            labels = None if truth is None else opened.read_labels(truth, truth_variable)
            known = None if labels is None else known_classes(labels, cube)
        say_orthorectified(console, rasters, cube)
        found = cluster_scene(
            cube,
            features=scene_features(features, metric, components),
            model=_model(**options),
            before=forecast_sayer(console, _SMALLER, force=force),
        )
        with stage("writing"):
            for path, scene, rows, columns in opened.files(output):
                part, place = found.cluster_map[rows, columns], place_of(scene, path)
                write_class_map(path, part, found.table, overwrite=overwrite, **place)
            if picture is not None:
                draw_clusters(picture, found, overwrite=overwrite)
    said = report_clusters(
        found,
        agreement=None if known is None else agreement(found, known),
        truth=None if labels is None else labels.table,
        costs=costs_of(console),
    )
    give_report(console, said, report, overwrite=overwrite)


def _model(clusters: int | None, method: str, seed: int) -> DiffusionClustering:
    from diffclass import DiffusionClustering, DiffusionModes

    made = DiffusionModes if method == "modes" else DiffusionClustering
    return made("auto" if clusters is None else clusters, random_state=seed)
