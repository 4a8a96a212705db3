"""``diffclass classify``: a scene and labels in, a class map and an honest report out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from diffclass_hyperspectral.commands._blocks import BlockChoice, block_options, opened_blocks
from diffclass_hyperspectral.commands._chosen import chosen, names_of
from diffclass_hyperspectral.commands._diffusion import (
    LABEL_FORMATS,
    SMALLER,
    DiffusionChoice,
    diffusion_options,
)
from diffclass_hyperspectral.commands._effects import refuse_without_effect
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
    from diffclass_hyperspectral.workflows.classification import (
        ClassificationReport,
        ClassificationRun,
        Cleanup,
    )

_PATH = click.Path(path_type=Path)


@dataclass(frozen=True)
class _Files:
    """What is written, and where."""

    output: Path
    probability: Path | None
    margin: Path | None
    ambiguity: Path | None
    novelty: Path | None
    report: Path | None
    save: Path | None
    level: float
    overwrite: bool

    @property
    def maps(self) -> dict[str, Path | None]:
        """The maps beside the class map."""
        names = "probability", "margin", "ambiguity", "novelty"
        return {name: getattr(self, name) for name in names}

    @property
    def named(self) -> dict[str, Path | None]:
        """All files, by what they are."""
        return {"map": self.output} | self.maps | {"report": self.report, "model": self.save}


@dataclass(frozen=True)
class _Fitting:
    """How a model is fitted to labels, and scored by those held out."""

    label_variable: str | None
    labels_per_class: int | None
    holdout: str | None
    seed: int
    diffusion: DiffusionChoice
    blocks: BlockChoice

    @classmethod
    def taken(cls, options: dict[str, Any]) -> _Fitting:
        options["diffusion"] = chosen(DiffusionChoice, options)
        options["blocks"] = chosen(BlockChoice, options)
        return chosen(cls, options)


@dataclass(frozen=True)
class _Applying:
    """How a saved model is applied."""

    classify_all: bool
    scale: float | None


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
    *,
    console: Console,
    verbose: bool,
    force: bool,
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
    from diffclass_hyperspectral.io.maps import check_outputs

    cleanup, files = chosen(Cleanup, options), chosen(_Files, options)
    fitting, applying = _Fitting.taken(options), chosen(_Applying, options)
    _check_usage(scenes, labels, model, files)
    rasters = output_names((files.output, *files.maps.values()), scenes)
    others = [path for path in (files.report, files.save) if path is not None]
    inputs = [path for path in (*scenes, labels, model) if path is not None]
    inputs += scene_files(options)
    check_outputs(rasters, others, inputs, overwrite=files.overwrite)
    with console.timing():
        with stage("opening"):
            grid = None if NAME in str(files.output) else ONE_MAP
            opened = opened_scenes(scenes, one_grid_or=grid, scale=applying.scale, **taken(options))
            cube = opened.scene
        say_orthorectified(console, rasters, cube)
        making = (
            _by_model(cube, model, applying, cleanup, console=console, force=force)
            if model
            else _by_labels(opened, labels, fitting, cleanup, files, console=console, force=force)
        )
        with making as run:
            with stage("writing"):
                opened.write_maps(
                    run.result, files.output, maps=files.maps, level=files.level,
                    overwrite=files.overwrite,
                )  # fmt: skip
                if files.save is not None:
                    save_model(files.save, run.result.model, overwrite=files.overwrite)
            parts = _certainty_parts(run, files)
            again = {}
            if files.report is not None:
                context = click.get_current_context()
                again = {"recipe": recipe(context, inputs, run.result.class_map)}
    parts |= {"costs": costs_of(console)}
    said = replace(run.report, **parts)
    lines = None if verbose else _summary(run, said, cube, files.named)
    give_report(console, said, files.report, overwrite=files.overwrite, more=again, lines=lines)
    return 0 if run.is_covered and run.is_joined else BOUND_MISSED


def _summary(
    run: ClassificationRun,
    report: ClassificationReport,
    cube: Scene,
    files: dict[str, Path | None],
) -> list[str]:
    from diffclass_hyperspectral.workflows.classification import UNSURE, summary_lines

    place = cube.georeference  # the map's own, also where files of it are orthorectified
    return summary_lines(
        report,
        {what: path for what, path in files.items() if path is not None},
        n_unsure=int((run.result.margin < UNSURE).sum()),  # NaN, without data, is not below
        pixel_area=None if place is None else place.pixel_area,
    )


def _certainty_parts(run: ClassificationRun, files: _Files) -> dict[str, Any]:
    """Return what the report says of probabilities and sets, if they were written."""
    from diffclass_hyperspectral.workflows.classification import measure_ambiguity

    parts: dict[str, Any] = {}
    if files.probability is not None or files.ambiguity is not None:
        parts["calibration"] = run.result.model.classifier.calibration_
    if files.ambiguity is not None:
        parts["ambiguity"] = measure_ambiguity(run.result, level=files.level)
    return parts


def _check_usage(
    scenes: tuple[Path, ...],
    labels: Path | None,
    model: Path | None,
    files: _Files,
) -> None:
    given = click.get_current_context().params
    if (labels is None) == (model is None):
        taken_for_one = f"; {scenes[-1]} counts as a scene" if len(scenes) > 1 else ""
        raise click.UsageError(f"give either --labels or --model{taken_for_one}")
    if model is not None:
        refuse_without_effect(
            (*names_of(DiffusionChoice), *names_of(BlockChoice), *names_of(_Fitting), "save"),
            "with --model, which was fitted before; they need --labels",
        )
        if given["bands"] is not None:
            raise click.UsageError("a model has its own bands; leave --bands out")
    else:
        refuse_without_effect(["novelty", "classify_all"], "without --model")
    if given["tau"] is not None:
        refuse_without_effect(["max_time"], "where --tau states the time")
    if files.ambiguity is None:
        refuse_without_effect(["level"], "without --ambiguity")
    if files.probability is not None and files.probability.suffix.lower() == ".png":
        raise click.UsageError(
            "--probability has one band per class, a PNG one; write .img, .tif or .npy"
        )


@contextmanager
def _by_model(
    cube: Scene,
    path: Path,
    applying: _Applying,
    cleanup: Cleanup,
    *,
    console: Console,
    force: bool,
) -> Iterator[ClassificationRun]:
    from diffclass_hyperspectral import classify_with_model

    advice = "classify the scene in smaller tiles"
    yield classify_with_model(
        cube,
        path,
        check_units=applying.scale is None,
        classify_all=applying.classify_all,
        cleanup=cleanup,
        before=forecast_sayer(console, advice, force=force),
    )


@contextmanager
def _by_labels(
    opened: OpenedScenes,
    path: Path | None,
    fitting: _Fitting,
    cleanup: Cleanup,
    files: _Files,
    *,
    console: Console,
    force: bool,
) -> Iterator[ClassificationRun]:
    """Yield the run, and keep what its maps lie in until they are written."""
    from diffclass_hyperspectral import classify_with_holdout
    from diffclass_hyperspectral.workflows.parameters import check_components

    assert path is not None
    cube, diffusion = opened.scene, fitting.diffusion
    check_components(diffusion.components, cube)
    labels = opened.read_labels(path, fitting.label_variable)
    features, classifier = diffusion.scene_features(), diffusion.classifier(fitting.seed)
    with opened_blocks(
        fitting.blocks, cube, features, classifier, files.output,
        console=console, n_classes=labels.n_classes,
    ) as blocks:  # fmt: skip
        if blocks is not None and files.save is not None:
            raise click.UsageError(
                "--save keeps the graph, which has to fit into memory; leave it out, or give more "
                "--memory"
            )
        yield classify_with_holdout(
            cube,
            labels,
            features=features,
            classifier=classifier,
            holdout=fitting.holdout,
            labels_per_class=fitting.labels_per_class,
            seed=fitting.seed,
            cleanup=cleanup,
            before=forecast_sayer(console, SMALLER, force=force),
            blocks=blocks,
        )
