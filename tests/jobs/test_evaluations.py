"""Classes are compared with the truth in one way, whatever the points are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass_hyperspectral import LabelImage, evaluate_map
from diffclass_hyperspectral.jobs.evaluation.maps_on_disk import MapRaster
from diffclass_tables import evaluate_rows

N = 400


def made(n_classes):
    """Return a truth, classes of which one in five is wrong, and margins."""
    rng = np.random.default_rng(n_classes)
    truth = 1 + np.arange(N) % n_classes
    wrong = rng.random(N) < 0.2
    found = np.where(wrong, 1 + (truth + 1) % n_classes, truth)
    found[::50] = 0
    truth[7:40:3] = 0
    return truth, found, np.clip(rng.random(N) - 0.3 * wrong, 0, 1).astype(np.float32)


def reports(n_classes):
    truth, found, margin = made(n_classes)
    names = {i: f"c{i:03}" for i in range(1, n_classes + 1)}
    truths, maps = (LabelImage.from_array(ids[None], names=names) for ids in (truth, found))
    of_map = evaluate_map(maps, truths, margin=MapRaster(margin[None, :, None], None, "margins"))
    words = np.array([None, *names.values()], dtype=object)
    return of_map, evaluate_rows(words[found], words[truth], margin=margin)


@pytest.mark.parametrize("n_classes", [2, 7, 60])
def test_rows_and_pixels_have_the_same_figures(n_classes):
    of_map, of_rows = reports(n_classes)
    facts = [json.loads(json.dumps(one.to_dict())) for one in (of_map, of_rows)]
    of_grids = {"match", "by_blocks", "areas"}
    assert facts[0].keys() - facts[1].keys() == of_grids
    for name in facts[1].keys() - {"classes", "per_class", "intervals"}:  # which go by classes
        assert facts[0][name] == facts[1][name], name
    for one in ("per_class", "intervals"):
        inner = [each[one].get("per_class", each[one]) for each in facts]
        assert [*inner[0].values()] == [*inner[1].values()]


@pytest.mark.parametrize("n_classes", [7, 60])
def test_lines_have_the_same_columns_and_of_many_classes_the_first(n_classes):
    lines = [one.lines() for one in reports(n_classes)]
    for each, noun in zip(lines, ("pixels", "rows"), strict=True):
        assert sum(line.startswith("confusion") for line in each) == (n_classes <= 50)
        assert sum("more classes" in line for line in each) == (n_classes > 50)
        assert [line for line in each if line.endswith(f" {noun}")]
    of_map, of_rows = (
        next(line for line in each if "c003 " in line).split("c003")[1].split() for each in lines
    )
    assert of_map == of_rows
