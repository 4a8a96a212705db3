"""``diffclass cluster``: a scene in, classes without labels out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diffclass.command_line import (
    ClusterOptions,
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
from diffclass_hyperspectral.commands._diffusion import (
    FeatureOptions,
)
from diffclass_hyperspectral.commands._results import (
    place_maps,
    spectra_files,
    spectra_option,
    write_spectra,
)
from diffclass_hyperspectral.commands._scenes import (
    ONE_MAP,
    PLACES,
    ScenePart,
    opened_scenes,
    output_names,
    scenes_argument,
)
from diffclass_hyperspectral.io.file_names import is_for_each
from diffclass_hyperspectral.options import OPTIONS

_SMALLER = "ask for fewer --components, or cluster a part of the scene"


@dataclass(frozen=True)
class _Given(FeatureOptions, ClusterOptions):
    output: Path = output_option(
        "Cluster map: .img, .tif, .png, .npy, or polygons, .gpkg or .geojson; of several scenes "
        "as classify's.",
        short="-o",
        required=True,
    )
    components: int | None = option(
        "Number of components of the spectra; by default as classify.", of=OPTIONS["n_components"]
    )
    picture: Path | None = picture_option("Map and mean spectra as a .png.")
    spectra: Path | None = spectra_option("clusters")
    truth_variable: str | None = variable_option("truth file")


@command(epilog="Example: diffclass cluster scene.tif -o clusters.tif")
@scenes_argument()
@options(_Given, "given")
@options(ScenePart, "part")
@options(RunOptions, "running")
@common_options
def cluster(
    scenes: tuple[Path, ...],
    *,
    given: _Given,
    part: ScenePart,
    running: RunOptions,
    console: Console,
) -> None:
    """Divide the pixels of SCENE into clusters: classes without labels.

    Clusters are numbered by falling size; pixels without data are 0. The report gives
    the reason for their number, how well each holds the walk, and their mean spectra. To name them,
    compare the spectra, or correct the map as labels on the page. Several scenes share
    one graph, as those of classify do. Formats of SCENE: diffclass info --help.
    """
    from diffclass.jobs import cluster as find_clusters
    from diffclass.system.progress import stage
    from diffclass_hyperspectral import (
        Pixels,
        known_classes,
        mean_spectra,
        read_tile_labels,
        write_class_map,
    )
    from diffclass_hyperspectral.io.maps import check_outputs, place_of
    from diffclass_hyperspectral.jobs.clustering import (
        draw_clusters,
        report_scene_clusters,
        table_of,
    )

    if given.truth is None:
        refuse_without_effect(["truth_variable"], "without --truth")
    rasters = output_names((given.output,), scenes)
    others = [*present(given.report, given.picture), *spectra_files(given.spectra)]
    check_outputs(rasters, others, files_read(), overwrite=running.overwrite)
    with console.timing():
        with stage("opening"):
            grid = PLACES if given.method == "modes" else None
            grid = grid if is_for_each(given.output) else ONE_MAP
            tiles = opened_scenes(scenes, one_grid_or=grid, **part.opening)
            cube = tiles.scene
            features = given.features_of(cube, given.components)
            labels = known = None
            if given.truth is not None:
                labels = read_tile_labels(given.truth, tiles, variable=given.truth_variable)
                known = known_classes(labels, cube)
        place_maps(console, rasters, cube)
        found = find_clusters(
            Pixels(cube, features),
            given.model(running.random_state),
            before=forecast_printer(console, _SMALLER, force=running.force),
        )
        table = table_of(found)
        with stage("mean spectra"):
            spectra = mean_spectra(cube, found.numbers, len(found.order))
        with stage("writing"):
            for path, scene, place in tiles.files(given.output):
                write_class_map(
                    path,
                    found.numbers[place],
                    table,
                    overwrite=running.overwrite,
                    **place_of(scene, path),
                )
            if given.spectra is not None:
                write_spectra(
                    given.spectra, cube, found.numbers, table, overwrite=running.overwrite
                )
            if given.picture is not None:
                draw_clusters(given.picture, found, spectra, overwrite=running.overwrite)
    said = report_scene_clusters(found, spectra, truth=labels, known=known)
    give_report(console, said, found.numbers)
