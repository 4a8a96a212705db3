"""``diffclass classify``: a scene and labels in, a class map and an honest report out."""

from __future__ import annotations

from collections.abc import Callable
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
    from diffclass_hyperspectral.workflows.cleanup import Cleanup
    from diffclass_hyperspectral.workflows.holdout import Holdout

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("scene", type=_PATH)
@click.option("--labels", type=_PATH, help="Label image; 0 is unlabelled.")
@click.option("--model", type=_PATH, help="Apply this model (from --save) instead of labels.")
@click.option("-o", "--output", type=_PATH, required=True, help="Class map: .img, .png, .npy.")
@click.option("--probability", type=_PATH, help="Posteriors, a band a class: .img, .npy.")
@click.option("--margin", type=_PATH, help="Margins: .img, .png, .npy.")
@click.option("--report", type=_PATH, help="Report as JSON.")
@click.option("--save", type=_PATH, help="Keep the model for --model.")
@diffusion_options
@click.option(
    "--labels-per-class",
    type=click.IntRange(1),
    help="Fit on so many labels of each class, drawn by --seed, and hold the others out.",
)
@click.option(
    "--holdout",
    type=click.Choice(["random", "blocks", "both"]),
    help="Hold labels out at random, in blocks of the picture (half, if no number is given), or "
    "both in turn (the map is that of blocks); spatial features, --majority and --min-area are "
    "always scored both ways.",
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
@click.option("--variable", help="Array to take from a .mat scene with several.")
@click.option("--label-variable", help="Array to take from a .mat label file with several.")
@seed_option
@overwrite_option
@common_options
def classify(
    scene: Path,
    labels: Path | None,
    model: Path | None,
    output: Path,
    *,
    console: Console,
    overwrite: bool,
    probability: Path | None,
    margin: Path | None,
    report: Path | None,
    save: Path | None,
    min_margin: float,
    majority: int,
    min_area: int,
    **options: Any,
) -> int:
    """Classify every pixel of SCENE from a few labels, or with a model kept before.

    The accuracy that is reported is that on labels held out of the fit (--labels-per-class or
    --holdout); without them there is none to report. Exit code 4: the map is there, but the labels
    did not cover the graph by --max-time.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral import open_scene
    from diffclass_hyperspectral.io.map_files import check_outputs
    from diffclass_hyperspectral.workflows.cleanup import Cleanup

    cleanup = Cleanup(min_margin, majority, min_area)
    _check_usage(labels, model, save, probability, options)
    rasters = [path for path in (output, probability, margin) if path is not None]
    others = [path for path in (report, save) if path is not None]
    inputs = [path for path in (scene, labels, model) if path is not None]
    check_outputs(rasters, others, inputs, overwrite=overwrite)
    with console.timing():
        with stage("opening"):
            cube = open_scene(scene, variable=options["variable"])
        if model is not None:
            result, facts = _by_model(cube, model, console)
        else:
            assert labels is not None
            result, facts = _by_labels(cube, labels, console=console, cleanup=cleanup, **options)
        if cleanup != Cleanup():
            result, facts["cleanup"] = _clean(result, cleanup)
        with stage("writing"):
            _write_maps(result, cube, output, probability, margin, overwrite=overwrite)
            if save is not None:
                _save(save, result, overwrite=overwrite)
    _report(console, result, facts, report, overwrite=overwrite)
    covered = model is not None or result.model.classifier.margin_curve_.is_covered
    return 0 if covered else BOUND_MISSED


def _check_usage(
    labels: Path | None,
    model: Path | None,
    save: Path | None,
    probability: Path | None,
    options: dict[str, Any],
) -> None:
    if (labels is None) == (model is None):
        raise click.UsageError("give either --labels or --model")
    if model is not None and (save or options["holdout"] or options["labels_per_class"]):
        raise click.UsageError("--save, --holdout and --labels-per-class need --labels")
    if probability is not None and probability.suffix.lower() == ".png":
        raise click.UsageError("--probability has a band a class, a PNG one; write .img or .npy")


def _by_model(
    cube: Scene, path: Path, console: Console
) -> tuple[SceneClassification, dict[str, Any]]:
    from diffclass_hyperspectral.workflows.classification import apply_model
    from diffclass_hyperspectral.workflows.memory_forecast import forecast_prediction
    from diffclass_hyperspectral.workflows.scene_models import load_model

    model = load_model(path)
    facts = {
        "model": str(path),
        "tau": None,
        "parameters": _parameters(model.classifier),
        "metric": model.features.metric,
        "memory": say_forecast(
            console, forecast_prediction(cube, model), "classify the scene in smaller tiles"
        ),
    }
    return apply_model(cube, model), facts


def _by_labels(
    cube: Scene,
    path: Path,
    *,
    console: Console,
    features: str,
    metric: str,
    components: int | None,
    label_variable: str | None,
    labels_per_class: int | None,
    holdout: str | None,
    seed: int,
    variable: str | None,
    cleanup: Cleanup,
    **options: Any,
) -> tuple[SceneClassification, dict[str, Any]]:
    from sklearn.base import clone

    from diffclass_hyperspectral import read_labels
    from diffclass_hyperspectral.workflows.classification import (
        check_before,
        classify_scene,
        describe_holdout,
    )
    from diffclass_hyperspectral.workflows.memory_forecast import forecast_classification

    labels = read_labels(path, variable=label_variable, grid=cube)
    parts = scene_features(features, metric, components), diffusion_classifier(seed, **options)
    check_before(cube, labels, *parts)
    n_classes = sum(count > 0 for count in labels.counts().values())
    memory = say_forecast(console, forecast_classification(cube, *parts, n_classes), SMALLER)

    def fitted(split: Holdout | None) -> SceneClassification:
        return classify_scene(
            cube,
            labels,
            fit_on=None if split is None else split.fit,
            features=clone(parts[0]),
            classifier=clone(parts[1]),
        )

    spatial = features == "spatial" or cleanup.is_spatial
    kinds = _holdout_kinds(holdout, labels_per_class, spatial=spatial)
    split = _split(labels, kinds[0], labels_per_class, seed) if kinds else None
    # before the one that is kept, so that memory never holds both
    others = {}
    if len(kinds) > 1:
        others["other_holdout"] = _other_holdout(
            fitted, labels, kinds[1], labels_per_class, seed, cleanup
        )
    result = fitted(split)
    facts = _fit_facts(result, labels, split, features, seed)
    if split is not None:
        facts["holdout"] = describe_holdout(result, labels, split, cleanup)
    return result, facts | others | {"memory": memory}


def _holdout_kinds(
    holdout: str | None, labels_per_class: int | None, *, spatial: bool
) -> list[str]:
    """Kinds of holdout to score; the map is that of the first."""
    if holdout is None and labels_per_class is None:
        return []
    if holdout == "both":
        return ["blocks", "random"]
    first = holdout or "random"
    # a random split flatters what sees a pixel's surroundings: never one without the other
    return [first, *({"random", "blocks"} - {first})] if spatial else [first]


def _split(labels: LabelImage, kind: str, labels_per_class: int | None, seed: int) -> Holdout:
    from diffclass_hyperspectral.workflows.holdout import hold_out

    return hold_out(labels.ids, kind=kind, labels_per_class=labels_per_class, seed=seed)


def _other_holdout(
    fitted: Callable[[Holdout], SceneClassification],
    labels: LabelImage,
    kind: str,
    labels_per_class: int | None,
    seed: int,
    cleanup: Cleanup,
) -> dict[str, Any]:
    """Fit and score once more; where these labels do not allow it, say why."""
    from diffclass.exceptions import DataError
    from diffclass_hyperspectral.workflows.classification import describe_holdout

    try:
        split = _split(labels, kind, labels_per_class, seed)
        return describe_holdout(fitted(split), labels, split, cleanup)
    except DataError as error:
        return {"kind": kind, "failed": str(error)}


def _clean(
    result: SceneClassification, cleanup: Cleanup
) -> tuple[SceneClassification, dict[str, Any]]:
    from dataclasses import asdict

    from diffclass.progress import stage
    from diffclass_hyperspectral.workflows.classification import cleaned

    with stage("cleaning"):
        result, changes = cleaned(result, cleanup)
    return result, asdict(cleanup) | asdict(changes)


def _fit_facts(
    result: SceneClassification,
    labels: LabelImage,
    split: Holdout | None,
    features: str,
    seed: int,
) -> dict[str, Any]:
    import numpy as np

    classifier = result.model.classifier
    curve = classifier.margin_curve_
    fit = labels.ids > 0 if split is None else split.fit
    used = np.bincount(labels.ids[fit & np.isfinite(result.margin)])
    return {
        "tau": int(classifier.tau_),
        "margin_curve": {
            "times": curve.times.tolist(),
            "margin": curve.margin.tolist(),
            "coverage": curve.coverage.tolist(),
        },
        "features": features,
        "metric": result.model.features.metric,
        "n_components": result.model.features.n_components_,
        "seed": seed,
        "parameters": _parameters(classifier),
        "neighbor_recall": classifier.graph_.recall,
        "labels_used": {str(i): int(n) for i, n in enumerate(used) if n},
    }


def _parameters(classifier: Any) -> dict[str, Any]:
    values = classifier.get_params(deep=False)
    plain = (str, int, float, bool, type(None))
    return {name: v if isinstance(v, plain) else repr(v) for name, v in values.items()}


def _write_maps(
    result: SceneClassification,
    cube: Scene,
    output: Path,
    probability: Path | None,
    margin: Path | None,
    *,
    overwrite: bool,
) -> None:
    from diffclass_hyperspectral import write_class_map, write_raster

    place: dict[str, Any] = {"overwrite": overwrite, "map_info": cube.map_info}
    names = [result.table[int(i)].name for i in result.class_ids]
    write_class_map(output, result.class_map, result.table, **place)
    if probability is not None:
        write_raster(probability, result.posteriors, band_names=names, **place)
    if margin is not None:
        write_raster(margin, result.margin, band_names=["margin"], **place)


def _save(path: Path, result: SceneClassification, *, overwrite: bool) -> None:
    from diffclass_hyperspectral.workflows.scene_models import save_model

    save_model(path, result.model, overwrite=overwrite)


def _report(
    console: Console,
    result: SceneClassification,
    facts: dict[str, Any],
    path: Path | None,
    *,
    overwrite: bool,
) -> None:
    from diffclass import __version__
    from diffclass_hyperspectral.workflows.classification import describe_classification
    from diffclass_hyperspectral.workflows.reports import report_lines, write_json

    report = describe_classification(result) | facts
    for entry in report["classes"]:
        if "labels_used" in facts:
            entry["labels"] = facts["labels_used"].get(str(entry["id"]), 0)
    report["seconds"] = console.seconds | {"total": console.total_seconds}
    report["peak_memory_bytes"] = peak_memory_bytes()
    report["peak_memory_by_stage"] = console.memory_bytes
    report["version"] = __version__
    if path is not None:
        write_json(path, report, overwrite=overwrite)
    lines = report_lines(report) + _holdout_lines(result, report)
    console.give(report, "\n".join(lines))


def _holdout_lines(result: SceneClassification, report: dict[str, Any]) -> list[str]:
    from diffclass_hyperspectral.workflows.reports import certainty_lines, holdout_lines

    if "holdout" not in report:
        return ["no labels were held out: no accuracy to report (--holdout, --labels-per-class)"]
    names = {entry.id: entry.name for entry in result.table}
    lines = holdout_lines(report["holdout"], names)
    if "other_holdout" in report:
        lines += holdout_lines(report["other_holdout"], names)
    return lines + certainty_lines(report["holdout"]["certainty"])
