"""``diffclass classify``: a scene and labels in, a class map and an honest report out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line.console import (
    BOUND_MISSED,
    Console,
    common_options,
    overwrite_option,
    seed_option,
)
from diffclass.command_line.forecasts import force_option, forecast_sayer
from diffclass_hyperspectral.commands._blocks import BLOCK_OPTIONS, block_options, opened_blocks
from diffclass_hyperspectral.commands._diffusion import (
    LABEL_FORMATS,
    SMALLER,
    diffusion_classifier,
    diffusion_options,
    scene_features,
)
from diffclass_hyperspectral.commands._effects import (
    DIFFUSION,
    refuse_without_effect,
)
from diffclass_hyperspectral.commands._recipe import recipe
from diffclass_hyperspectral.commands._results import (
    costs_of,
    give_report,
    say_orthorectified,
)
from diffclass_hyperspectral.commands._scene import scene_files, scene_options, taken
from diffclass_hyperspectral.commands._tiles import (
    NAME,
    ONE_MAP,
    OpenedScenes,
    opened_scenes,
    output_names,
    scenes_argument,
)

if TYPE_CHECKING:
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.workflows.classification_report import ClassificationReport
    from diffclass_hyperspectral.workflows.classification_run import ClassificationRun
    from diffclass_hyperspectral.workflows.cleanup import Cleanup

_PATH = click.Path(path_type=Path)


@click.command(epilog="Example: diffclass classify scene.tif --labels labels.gpkg -o map.tif")
@scenes_argument()
@click.option(
    "--labels",
    type=_PATH,
    help=f"{LABEL_FORMATS} Of several scenes also a folder of images that are named as they are.",
)
@click.option("--model", type=_PATH, help="Apply this model (from --save) instead of labels.")
@click.option(
    "--classify-all",
    is_flag=True,
    help="With --model: classify the pixels beyond the reach of its training pixels too, which "
    "are left unclassified otherwise.",
)
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    help="Multiply the scene's values by this factor. With --model its units are then not checked.",
)
@click.option(
    "-o",
    "--output",
    type=_PATH,
    required=True,
    help="Class map: .img, .tif, .png, .npy. Of "
    "several scenes a mosaic, or with {} for the scene's name, as maps/{}.tif, one map for each.",
)
@click.option(
    "--probability",
    type=_PATH,
    help="Calibrated probabilities, one band per class: .img, .tif, .npy.",
)
@click.option("--margin", type=_PATH, help="Margins: .img, .tif, .png, .npy.")
@click.option(
    "--ambiguity",
    type=_PATH,
    help="Number of classes that may be each pixel's own, at --level: .img, .tif, .png, .npy.",
)
@click.option(
    "--novelty",
    type=_PATH,
    help="With --model: distance of each pixel to its training neighbours, in units of their own; "
    "above 5 it is beyond their reach: .img, .tif, .png, .npy.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Share of the pixels whose possible classes are to hold the true one.",
)
@click.option(
    "--report",
    type=_PATH,
    help="Report as JSON: everything that is known, and what diffclass rerun needs.",
)
@click.option("--save", type=_PATH, help="Save the model, to be used with --model.")
@diffusion_options
@click.option(
    "--labels-per-class",
    type=click.IntRange(1),
    help="Fit on this many labels of each class, drawn by --seed, and hold the others out.",
)
@click.option(
    "--holdout",
    type=click.Choice(["random", "blocks", "both"]),
    help="Hold labels out at random, in blocks of the picture, or both in turn (the map is then "
    "that of blocks); half of them, unless --labels-per-class is given. Spatial features, "
    "--majority and --min-area are always scored both ways.",
)
@click.option(
    "--min-margin", type=float, default=0.0, help="Pixels with a smaller margin become class 0."
)
@click.option(
    "--majority", type=int, default=1, help="Width of a majority filter in pixels: 3, 5, ..."
)
@click.option(
    "--min-area", type=int, default=1, help="Segments of fewer pixels join a neighbouring class."
)
@scene_options
@click.option("--label-variable", help="Array to take from a .mat label file with several.")
@click.option("-v", "--verbose", is_flag=True, help="Print the whole report, not its summary.")
@block_options
@force_option
@seed_option
@overwrite_option
@common_options
def classify(
    scenes: tuple[Path, ...],
    labels: Path | None,
    model: Path | None,
    output: Path,
    *,
    console: Console,
    overwrite: bool,
    probability: Path | None,
    margin: Path | None,
    ambiguity: Path | None,
    novelty: Path | None,
    level: float,
    scale: float | None,
    classify_all: bool,
    report: Path | None,
    save: Path | None,
    min_margin: float,
    majority: int,
    min_area: int,
    verbose: bool,
    **options: Any,
) -> int:
    """Classify every pixel of SCENE from a few labels, or with a saved model.

    Several scenes, such as the tiles of a flight line, share one graph and one model; on one map
    grid there is no seam between them.

    Prints the accuracy on labels held out of the fit (--labels-per-class or --holdout; none
    without), how sure the map is, and the classes' areas. Exit code 4: the map is there, but the
    labels did not cover the graph by --max-time, or blocks lack edges between them. Formats of
    SCENE: diffclass info --help.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import Cleanup, save_model
    from diffclass_hyperspectral.io.map_files import check_outputs

    cleanup = Cleanup(min_margin, majority, min_area)
    _check_usage(scenes, labels, model, probability, ambiguity, options)
    maps = {
        "probability": probability, "margin": margin, "ambiguity": ambiguity, "novelty": novelty
    }  # fmt: skip
    rasters = output_names((output, *maps.values()), scenes)
    others = [path for path in (report, save) if path is not None]
    inputs = [path for path in (*scenes, labels, model) if path is not None]
    inputs += scene_files(options)
    check_outputs(rasters, others, inputs, overwrite=overwrite)
    with console.timing():
        with stage("opening"):
            grid = None if NAME in str(output) else ONE_MAP
            opened = opened_scenes(scenes, one_grid_or=grid, scale=scale, **taken(options))
            cube = opened.scene
        say_orthorectified(console, rasters, cube)
        chosen = options | {"console": console, "cleanup": cleanup, "save": save}
        making = (
            _by_model(cube, model, check_units=scale is None, classify_all=classify_all, **chosen)
            if model
            else _by_labels(opened, labels, output=output, **chosen)
        )
        with making as run:
            with stage("writing"):
                opened.write_maps(run.result, output, maps=maps, level=level, overwrite=overwrite)
                if save is not None:
                    save_model(save, run.result.model, overwrite=overwrite)
            parts = _certainty_parts(run, probability, ambiguity, level)
            again = {}
            if report is not None:
                context = click.get_current_context()
                again = {"recipe": recipe(context, inputs, run.result.class_map)}
    parts |= {"costs": costs_of(console)}
    said = replace(run.report, **parts)
    files = {"map": output} | maps | {"report": report, "model": save}
    lines = None if verbose else _summary(run, said, cube, files)
    give_report(console, said, report, overwrite=overwrite, more=again, lines=lines)
    return 0 if run.is_covered and run.is_joined else BOUND_MISSED


def _summary(
    run: ClassificationRun,
    report: ClassificationReport,
    cube: Scene,
    files: dict[str, Path | None],
) -> list[str]:
    from diffclass_hyperspectral.workflows.classification_summary import UNSURE, summary_lines

    place = cube.georeference  # the map's own, also where files of it are orthorectified
    return summary_lines(
        report,
        {what: path for what, path in files.items() if path is not None},
        n_unsure=int((run.result.margin < UNSURE).sum()),  # NaN, without data, is not below
        pixel_area=None if place is None else place.pixel_area,
    )


def _certainty_parts(
    run: ClassificationRun, probability: Path | None, ambiguity: Path | None, level: float
) -> dict[str, Any]:
    """Return what the report says of probabilities and sets, if they were written."""
    from diffclass_hyperspectral.workflows.classification_report import measure_ambiguity

    parts: dict[str, Any] = {}
    if probability is not None or ambiguity is not None:
        parts["calibration"] = run.result.model.classifier.calibration_
    if ambiguity is not None:
        parts["ambiguity"] = measure_ambiguity(run.result, level=level)
    return parts


def _check_usage(
    scenes: tuple[Path, ...],
    labels: Path | None,
    model: Path | None,
    probability: Path | None,
    ambiguity: Path | None,
    options: dict[str, Any],
) -> None:
    if (labels is None) == (model is None):
        taken_for_one = f"; {scenes[-1]} counts as a scene" if len(scenes) > 1 else ""
        raise click.UsageError(f"give either --labels or --model{taken_for_one}")
    if model is not None:
        refuse_without_effect(
            (*DIFFUSION, *BLOCK_OPTIONS, "save", "holdout", "labels_per_class", "label_variable",
             "seed"),
            "with --model, which was fitted before; they need --labels",
        )  # fmt: skip
        if options["bands"] is not None:
            raise click.UsageError("a model has its own bands; leave --bands out")
    else:
        refuse_without_effect(["novelty", "classify_all"], "without --model")
    if options["tau"] is not None:
        refuse_without_effect(["max_time"], "where --tau states the time")
    if ambiguity is None:
        refuse_without_effect(["level"], "without --ambiguity")
    if probability is not None and probability.suffix.lower() == ".png":
        raise click.UsageError(
            "--probability has one band per class, a PNG one; write .img, .tif or .npy"
        )


@contextmanager
def _by_model(
    cube: Scene,
    path: Path,
    *,
    console: Console,
    cleanup: Cleanup,
    force: bool,
    check_units: bool,
    classify_all: bool,
    **_: Any,
) -> Iterator[ClassificationRun]:
    from diffclass_hyperspectral import classify_with_model

    advice = "classify the scene in smaller tiles"
    say = forecast_sayer(console, advice, force=force)
    yield classify_with_model(
        cube,
        path,
        check_units=check_units,
        classify_all=classify_all,
        cleanup=cleanup,
        before=say,
    )


@contextmanager
def _by_labels(
    opened: OpenedScenes,
    path: Path | None,
    *,
    console: Console,
    cleanup: Cleanup,
    output: Path,
    save: Path | None,
    features: str,
    metric: str,
    components: int | None,
    label_variable: str | None,
    labels_per_class: int | None,
    holdout: str | None,
    seed: int,
    force: bool,
    **options: Any,
) -> Iterator[ClassificationRun]:
    """Yield the run, and keep what its maps lie in until they are written."""
    from diffclass_hyperspectral import classify_with_holdout
    from diffclass_hyperspectral.workflows.parameters import check_components

    assert path is not None
    cube = opened.scene
    room = {name: options.pop(name) for name in BLOCK_OPTIONS}
    check_components(components, cube)
    labels = opened.read_labels(path, label_variable)
    made = scene_features(features, metric, components)
    classifier = diffusion_classifier(seed, **options)
    with opened_blocks(
        cube, made, classifier, output, console=console, n_classes=labels.n_classes, **room
    ) as blocks:
        if blocks is not None and save is not None:
            raise click.UsageError(
                "--save keeps the graph, which has to fit into memory; leave it out, or give more "
                "--memory"
            )
        yield classify_with_holdout(
            cube,
            labels,
            features=made,
            classifier=classifier,
            holdout=holdout,
            labels_per_class=labels_per_class,
            seed=seed,
            cleanup=cleanup,
            before=forecast_sayer(console, SMALLER, force=force),
            blocks=blocks,
        )
