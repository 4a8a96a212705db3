"""A script of five lines does what a command does."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass import DiffusionClassifier, DiffusionMap
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import ParameterError
from diffclass.jobs import Holdout, embed, report_embedding
from diffclass_hyperspectral import (
    Cleanup,
    Pixels,
    classify_scene,
    classify_with_model,
    evaluate_map,
    open_scene,
    read_labels,
    save_model,
    suggest_for_scene,
    write_maps,
)

MEASURED = ("seconds", "peak_memory_bytes", "peak_memory_by_stage", "memory", "model")


@pytest.fixture
def command(folder, works):
    """Run a command in a folder with a scene, strokes and the truth."""
    tissue = make_tissue_scene(48, 48, n_bands=12)
    for name in ("cube", "labels", "truth"):
        np.save(f"{name}.npy", getattr(tissue, name))
    return works


def lasting(report):
    """What two runs of one job have in common."""
    return {name: value for name, value in report.items() if name not in MEASURED}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--labels-per-class", "5", "--seed", "3"], {"holdout": Holdout(None, 5, 3)}),
        (["--holdout", "blocks", "--majority", "3", "--min-margin", "0.1"],
         {"holdout": Holdout("blocks"), "cleanup": Cleanup(min_margin=0.1, majority=3)}),
    ],
)  # fmt: skip
def test_classify(command, words, options):
    # the command seeds everything with its one seed
    given = ["classify", "cube.npy", "--labels", "truth.npy", "-o", "command.npy"]
    report = command(*given, "--margin", "m.npy", *words)

    scene = open_scene("cube.npy")
    labels = read_labels("truth.npy", grid=scene)
    seed = options.get("holdout", Holdout()).random_state
    classifier = DiffusionClassifier(random_state=seed)
    run = classify_scene(scene, labels, classifier=classifier, **options)
    write_maps("script.npy", run.result, scene, margin="m2.npy")

    np.testing.assert_array_equal(np.load("script.npy"), np.load("command.npy"))
    np.testing.assert_array_equal(np.load("m2.npy"), np.load("m.npy"))
    assert lasting(json.loads(json.dumps(run.report.to_dict()))) == lasting(report)
    assert not run.report.misses_bound
    assert ("held out" in run.report.lines()[-1]) == (not options)
    assert not hasattr(classifier, "operator_")  # what is given stays unfitted


def test_a_model(command):
    scene = open_scene("cube.npy")
    run = classify_scene(scene, read_labels("labels.npy"))
    save_model("scene.model", run.result.model)
    report = command("classify", "cube.npy", "--model", "scene.model", "-o", "command.npy")
    again = classify_with_model(scene, "scene.model")
    np.testing.assert_array_equal(again.result.class_map, np.load("command.npy"))
    assert lasting(again.report.to_dict()) == lasting(report)
    assert again.report.fit is None
    assert not again.report.misses_bound


def test_suggest(command):
    report = command("suggest", "cube.npy", "--labels", "labels.npy", "-o", "p.csv", "-n", "4")
    scene = open_scene("cube.npy")
    found = suggest_for_scene(scene, read_labels("labels.npy"), 4, min_distance=5.0)
    assert [pixel.to_dict() for pixel in found.suggestions] == report["suggestions"]
    assert lasting(found.to_dict()) == lasting(report)
    assert len(found.lines()) == 1 + 1 + 4  # features, head, and points


def test_embed(command):
    words = ["-n", "2", "--neighbors", "16", "--bandwidth", "self-tuning"]
    report = command("embed", "cube.npy", "-o", "command.npy", *words)
    model = DiffusionMap(2, n_neighbors=16, bandwidth="self-tuning", random_state=0)
    embedded = embed(Pixels(open_scene("cube.npy")), model)
    found = embedded.coordinates
    np.testing.assert_allclose(found, np.load("command.npy"), rtol=1e-5, atol=1e-7)
    assert lasting(report_embedding(embedded).to_dict()) == lasting(report)


def test_evaluate(command):
    report = command("evaluate", "labels.npy", "truth.npy", "--areas")
    found = evaluate_map(read_labels("labels.npy"), read_labels("truth.npy"), areas=True)
    assert json.loads(json.dumps(found.to_dict())) == report
    assert any("user's accuracy" in line for line in found.lines())


def test_an_unknown_way_of_holding_out():
    with pytest.raises(ParameterError, match="kind = 'odd'; possible: 'random', 'blocks', 'both'"):
        Holdout("odd")
