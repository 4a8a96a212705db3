"""``diffclass classify``: a scene and labels in, a class map and a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    BOUND_MISSED,
    Console,
    HoldoutOptions,
    RunOptions,
    command,
    common_options,
    files_read,
    forecast_printer,
    give_report,
    holdout_option,
    names_of,
    option,
    options,
    output_option,
    present,
    refuse_without_effect,
    report_option,
    variable_option,
)
from diffclass.exceptions import warn_user
from diffclass.options import Number
from diffclass_hyperspectral.commands._blocks import BlockOptions, opened_blocks
from diffclass_hyperspectral.commands._diffusion import LABEL_FORMATS, SMALLER, DiffusionOptions
from diffclass_hyperspectral.commands._results import (
    map_hash,
    place_maps,
    say_lost_names,
    spectra_files,
    spectra_option,
    write_spectra,
)
from diffclass_hyperspectral.commands._scenes import (
    ONE_MAP,
    ScenePart,
    opened_scenes,
    output_names,
    scenes_argument,
)
from diffclass_hyperspectral.io.file_names import is_for_each
from diffclass_hyperspectral.options import OPTIONS

if TYPE_CHECKING:
    from diffclass.system.costs import Forecast
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.io.tiles import TiledScene
    from diffclass_hyperspectral.jobs.classification import (
        ClassificationReport,
        ClassificationRun,
        Cleanup,
        SceneClassification,
    )


_SMALLER_TILES = "classify the scene in smaller tiles"


@dataclass(frozen=True)
class _Labels:
    """What a model is fitted to, and scored by."""

    labels: Path | None = option(
        f"{LABEL_FORMATS} Of several scenes also a folder of images that are named as they are. Or "
        "a spectral library (.sli, .csv, .txt, .gpkg or .geojson with spectra): each spectrum "
        "labels the ten pixels of the smallest angle to it.",
        usual=True,
    )
    scores: Path | None = option(
        "A map of the same classes from elsewhere, such as last year's, in the formats of labels: "
        "its classes are hints beside the labels, and count the more the better they agree.",
        hidden=True,
    )
    score_accuracy: float | None = option(
        "Share of that map that is right, as far as you know it, such as 0.7. With one label per "
        "class it decides how much labels and hints count.",
        of=OPTIONS["score_accuracy"],
        hidden=True,
    )
    label_variable: str | None = variable_option("label file")


@dataclass(frozen=True)
class _Held(HoldoutOptions):
    """Which labels are held out, also by their places."""

    holdout: str | None = holdout_option(
        "Hold labels out at random (also where no word follows), in blocks of the picture, or "
        "both in turn (the map is then that of blocks); half of them, unless --labels-per-class "
        "is given. Spatial features, --majority and --min-area are always scored both ways.",
        "blocks",
        "both",
    )


@dataclass(frozen=True)
class _Files:
    """What is written, and where."""

    title = "Further maps"
    output: Path = output_option(
        "Class map: .img, .tif, .png, .npy, or polygons, .gpkg or .geojson. Of several scenes a "
        "mosaic, or with {} for the scene's name, as maps/{}.tif, one map for each.",
        short="-o",
        usual=True,
        required=True,
    )
    probability: Path | None = output_option(
        "Calibrated probabilities, one band per class: .img, .tif, .npy.", usual=True
    )
    margin: Path | None = output_option("Margins: .img, .tif, .png, .npy.", usual=True)
    report: Path | None = report_option(usual=True)
    save: Path | None = output_option("Save the model, to be used with --model.", usual=True)
    ambiguity: Path | None = output_option(
        "Number of classes that may be each pixel's own, at --level: .img, .tif, .png, .npy."
    )
    novelty: Path | None = output_option(
        "With --model: distance of each pixel to its training neighbours, in units of their "
        "own; above 5 it is beyond their reach: .img, .tif, .png, .npy.",
    )
    spectra: Path | None = spectra_option("classes")
    stability: Path | None = output_option(
        "Classify once more with another seed of the neighbour search, and write where the class "
        "is the same: 1, else 0: .img, .tif, .png, .npy. The report gives the share that changes.",
        hidden=True,
    )
    simplify: float = option(
        "Simplify outlines of polygons by this tolerance in pixels; neighbours keep their common "
        "border. 0: they run along the pixels.",
        hidden=True,
        of=OPTIONS["simplify"],
        default=0.0,
    )
    level: float = option(
        "Share of the pixels whose possible classes are to hold the true one.",
        hidden=True,
        of=OPTIONS["level"],
        default=0.9,
    )

    @property
    def maps(self) -> dict[str, Path | None]:
        """The maps other than the class map."""
        names = "probability", "margin", "ambiguity", "novelty", "stability"
        return {name: getattr(self, name) for name in names}

    @property
    def named(self) -> dict[str, Path]:
        """All files, by what they are."""
        files = {"map": self.output} | self.maps
        files |= {"spectra": self.spectra, "report": self.report, "model": self.save}
        return {what: path for what, path in files.items() if path is not None}


@dataclass(frozen=True)
class _Model:
    """A saved model, and how it is applied."""

    title = "With a saved model"
    model: Path | None = option("Apply this model (from --save) instead of labels.", usual=True)
    classify_all: bool = option(
        "With --model: classify the pixels beyond the reach of its training pixels too, which "
        "are left unclassified otherwise.",
        hidden=True,
    )
    scale: float | None = option(
        "Multiply the scene's values by this factor. With --model its units are then not checked.",
        hidden=True,
        of=Number(0, is_open=True),
    )


@dataclass(frozen=True)
class _Cleaning:
    """What is done to the map after classification."""

    title = "Cleaning the map"
    min_margin: float = option(
        "Pixels with a smaller margin become class 0.", of=OPTIONS["min_margin"], default=0.0
    )
    majority: int = option(
        "Width of a majority filter in pixels: 3, 5, ...", of=OPTIONS["majority"], default=1
    )
    min_area: int = option(
        "Segments of fewer pixels join a neighbouring class.", of=OPTIONS["min_area"], default=1
    )
    segments: Path | None = option(
        "Decide by segment, such as the fields of a register: each takes the class that most of "
        "its pixels have. Shapes, or an image of their numbers, 0 for none.",
        hidden=True,
    )

    def checked(self) -> Cleanup:
        """Return what the map is cleaned by, without segments."""
        from diffclass_hyperspectral import Cleanup

        return Cleanup(self.min_margin, self.majority, self.min_area)

    def on(self, tiles: TiledScene) -> Cleanup:
        """Return the same with the segments of these scenes."""
        from diffclass_hyperspectral.io.tiles import read_tile_segments

        if self.segments is None:
            return self.checked()
        return replace(self.checked(), segments=read_tile_segments(self.segments, tiles))


@dataclass(frozen=True)
class _Running(RunOptions):
    """How the command runs and what it prints."""

    verbose: bool = option("Print the whole report, not its summary.", short="-v", recorded=False)


@dataclass(frozen=True)
class _Fitting:
    """How a model is fitted to labels."""

    random_state: int
    labels: _Labels
    held: _Held
    diffusion: DiffusionOptions
    blocks: BlockOptions


@command(epilog="Example: diffclass classify scene.tif --labels labels.gpkg -o map.tif")
@scenes_argument()
@options(_Labels, "labels")
@options(_Held, "held")
@options(_Files, "files")
@options(_Model, "model")
@options(DiffusionOptions, "diffusion")
@options(_Cleaning, "cleaning")
@options(ScenePart, "part")
@options(BlockOptions, "blocks")
@options(_Running, "running")
@common_options
def classify(
    scenes: tuple[Path, ...],
    *,
    labels: _Labels,
    held: _Held,
    files: _Files,
    model: _Model,
    diffusion: DiffusionOptions,
    cleaning: _Cleaning,
    part: ScenePart,
    blocks: BlockOptions,
    running: _Running,
    console: Console,
) -> int:
    """Classify every pixel of SCENE from a few labels, or with a saved model.

    Several scenes, such as the tiles of a flight line, share one graph and one model; on one map
    grid there is no seam between them.

    Prints the accuracy on labels held out of the fit (--labels-per-class or --holdout; none
    without), how sure the map is, and the classes' areas. Exit code 4: the map is there, but the
    labels did not cover the graph by --max-time, or blocks lack edges between them. Formats of
    SCENE: diffclass info --help.
    """
    from diffclass.system.progress import stage
    from diffclass_hyperspectral import save_model
    from diffclass_hyperspectral.io.maps import check_outputs

    cleaning.checked()
    _check_usage(scenes, labels, model, files, diffusion, part)
    rasters = output_names((files.output, *files.maps.values()), scenes)
    check_outputs(
        rasters, [*present(files.report, files.save), *spectra_files(files.spectra)], files_read(),
        numbers=present(*files.maps.values()), overwrite=running.overwrite,
    )  # fmt: skip
    with console.timing():
        with stage("opening"):
            grid = None if is_for_each(files.output) else ONE_MAP
            tiles = opened_scenes(scenes, one_grid_or=grid, scale=model.scale, **part.opening)
            cleanup = cleaning.on(tiles)
        place_maps(console, rasters, tiles.scene)
        advice = _SMALLER_TILES if model.model else SMALLER
        before = forecast_printer(console, advice, force=running.force)
        fitting = _Fitting(running.random_state, labels, held, diffusion, blocks)
        making = (
            _by_model(tiles.scene, model, cleanup, before)
            if model.model
            else _by_labels(tiles, fitting, cleanup, files, console=console, before=before)
        )
        with making as run:
            if not model.model:
                _say_unreached(tiles, run.result)
            with stage("writing"):
                _write(tiles, run.result, files, overwrite=running.overwrite)
                say_lost_names(console, files.output, run.result.table)
                if files.spectra is not None:
                    write_spectra(
                        files.spectra, tiles.scene, run.result.class_map, run.result.table,
                        overwrite=running.overwrite,
                    )  # fmt: skip
                if files.save is not None:
                    save_model(files.save, run.result.model, overwrite=running.overwrite)
            parts = _certainty_parts(run, files)
            with stage("hashing"):
                found = "" if files.report is None else map_hash(run.result.class_map)

    def lines(said: ClassificationReport) -> list[str]:
        return said.lines() if running.verbose else _summary(said, tiles.scene, files)

    give_report(console, replace(run.report, **parts), found, lines=lines)
    return BOUND_MISSED if run.report.misses_bound else 0


def _say_unreached(tiles: TiledScene, result: SceneClassification) -> None:
    """Warn of scenes that no label reaches; a map cleaned by margins would not tell them."""
    note = tiles.unreached_note(result.margin > 0, result.margin >= 0)  # NaN without data
    if note is not None:
        warn_user(note)


def _write(
    tiles: TiledScene, result: SceneClassification, files: _Files, *, overwrite: bool
) -> None:
    """Write the maps, each as one file or as one for each scene."""
    from diffclass_hyperspectral import write_maps

    wanted = {what: path for what, path in files.maps.items() if path is not None}
    others = {what: [file for file, *_ in tiles.files(path)] for what, path in wanted.items()}
    for k, (path, scene, place) in enumerate(tiles.files(files.output)):
        part = result if scene is tiles.scene else result.part(*place)
        maps = {what: found[k] for what, found in others.items()}
        write_maps(
            path, part, scene, **maps,
            level=files.level, simplify=files.simplify, overwrite=overwrite,
        )  # fmt: skip


def _summary(report: ClassificationReport, cube: Scene, files: _Files) -> list[str]:
    """Return what fits on a screen, with areas where pixels have some."""
    from diffclass_hyperspectral.jobs.classification import area_texts

    place = cube.georeference  # the map's own, also where files of it are orthorectified
    if place is None or place.pixel_area is None:
        return report.summary(files.named)
    area = place.pixel_area
    return report.summary(
        files.named, unit="area", sizes=lambda sizes: area_texts([size * area for size in sizes])
    )


def _certainty_parts(run: ClassificationRun, files: _Files) -> dict[str, Any]:
    """Return what the report says of probabilities and sets, if they were written."""
    from diffclass_hyperspectral.jobs.classification import measure_ambiguity

    parts: dict[str, Any] = {}
    if files.probability is not None or files.ambiguity is not None:
        parts["calibration"] = run.result.model.classifier.calibration_
    if files.ambiguity is not None:
        parts["ambiguity"] = measure_ambiguity(run.result, level=files.level)
    return parts


def _check_usage(
    scenes: tuple[Path, ...],
    labels: _Labels,
    model: _Model,
    files: _Files,
    diffusion: DiffusionOptions,
    part: ScenePart,
) -> None:
    if (labels.labels is None) == (model.model is None):
        taken_for_one = f"; {scenes[-1]} counts as a scene" if len(scenes) > 1 else ""
        raise click.UsageError(f"give either --labels or --model{taken_for_one}")
    if model.model is not None:
        refuse_without_effect(
            [
                *names_of(DiffusionOptions, BlockOptions, _Held, _Labels),
                "random_state",
                "save",
                "stability",
            ],
            "with --model, which was fitted before; they need --labels",
        )
        if part.bands is not None:
            raise click.UsageError("a model has its own bands; leave --bands out")
    else:
        refuse_without_effect(["novelty", "classify_all"], "without --model")
    if labels.scores is None:
        refuse_without_effect(["score_accuracy"], "without --scores")
    from diffclass_hyperspectral.io.maps import holds_polygons

    diffusion.check()
    if files.ambiguity is None:
        refuse_without_effect(["level"], "without --ambiguity")
    if not holds_polygons(files.output):
        refuse_without_effect(["simplify"], "without polygons; write -o map.gpkg or .geojson")
    if files.probability is not None and files.probability.suffix.lower() == ".png":
        raise click.UsageError(
            "--probability has one band per class, a PNG one; write .img, .tif or .npy"
        )


@contextmanager
def _by_model(
    cube: Scene, model: _Model, cleanup: Cleanup, before: Callable[[Forecast], None]
) -> Iterator[ClassificationRun]:
    from diffclass_hyperspectral import classify_with_model

    assert model.model is not None
    yield classify_with_model(
        cube,
        model.model,
        check_units=model.scale is None,
        classify_all=model.classify_all,
        cleanup=cleanup,
        before=before,
    )


@contextmanager
def _by_labels(
    tiles: TiledScene,
    fitting: _Fitting,
    cleanup: Cleanup,
    files: _Files,
    *,
    console: Console,
    before: Callable[[Forecast], None],
) -> Iterator[ClassificationRun]:
    """Yield the run, and keep what its maps lie in until they are written."""
    from diffclass.jobs import Holdout
    from diffclass_hyperspectral import classify_scene, read_tile_labels
    from diffclass_hyperspectral.io.maps import check_ids
    from diffclass_hyperspectral.jobs.library_labels import read_scene_labels

    cube, given, held = tiles.scene, fitting.labels, fitting.held
    assert given.labels is not None
    features = fitting.diffusion.features_of(cube, fitting.diffusion.components)
    labels = read_scene_labels(tiles, given.labels, variable=given.label_variable)
    check_ids(files.output, labels.table.ids)
    classifier = fitting.diffusion.classifier(fitting.random_state, labels, cube)
    with opened_blocks(
        fitting.blocks, cube, features, classifier, files.output,
        console=console, n_classes=labels.n_classes,
    ) as place:  # fmt: skip
        if not place.has_graph and files.save is not None:
            raise click.UsageError(
                "--save keeps the graph, which has to fit into memory; leave it out, or give more "
                "--memory"
            )
        yield classify_scene(
            cube,
            labels,
            features=features,
            classifier=classifier,
            holdout=Holdout(held.holdout, held.labels_per_class, fitting.random_state),
            cleanup=cleanup,
            before=before,
            place=place,
            stability=files.stability is not None,
            hints=None if given.scores is None else read_tile_labels(given.scores, tiles),
            score_accuracy=given.score_accuracy,
        )
