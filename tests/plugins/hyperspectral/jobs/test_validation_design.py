"""A random sample of a map, filled in and read back: estimates with the right weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyogrio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import (
    ClassTable,
    LabelImage,
    evaluate_map,
    read_labels,
    validation_design,
    write_class_map,
)
from diffclass_hyperspectral.jobs.validation_design import allocation

PLACE = ("UTM", "1", "1", "4e5", "5e6", "10", "10", "33", "North", "WGS-84")
TABLE = ClassTable.from_ids([1, 2, 3], names={1: "water", 2: "wood", 3: "field"})


def map_and_truth(rng, shape=(200, 150)):
    """A map with a rare class, right in nine of ten pixels."""
    truth = rng.choice([1, 2, 3], p=[0.02, 0.3, 0.68], size=shape)
    found = np.where(rng.random(shape) < 0.9, truth, rng.integers(1, 4, shape))
    found[:3] = 0
    return found, truth


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=20).map(np.array),
    st.integers(1, 400),
)
def test_every_point_is_given_and_no_class_has_more_than_its_pixels(counts, n_points):
    n_points = min(n_points, int(counts.sum()))
    points = allocation(counts, n_points)
    assert points.sum() == n_points
    assert (points <= counts).all()
    larger = counts[:, None] >= counts[None, :]
    assert (points[:, None] >= points[None, :] - 1)[larger].all()


@pytest.mark.parametrize("by_class", [True, False])
def test_points_are_distinct_have_a_class_and_lie_where_they_say(rng, by_class):
    found, _ = map_and_truth(rng)
    labels = replace(LabelImage.from_array(found), map_info=PLACE)
    pixels, report = validation_design(labels, 120, by_class=by_class, random_state=3)
    places = {(pixel.row, pixel.column) for pixel in pixels}
    assert len(places) == 120
    assert all(found[place] > 0 for place in places)
    assert [pixel.id for pixel in pixels] == list(range(1, 121))
    first = pixels[0]
    assert (first.x, first.y) == (4e5 + 10 * (first.column + 0.5), 5e6 - 10 * (first.row + 0.5))
    assert sum(report.points_of_classes.values()) == 120
    assert report.points_of_classes["class 1"] >= (20 if by_class else 0)
    # in random order: the first quarter has several classes
    assert len({int(found[p.row, p.column]) for p in pixels[:30]}) > 1
    assert pixels == validation_design(labels, 120, by_class=by_class, random_state=3)[0]
    assert pixels != validation_design(labels, 120, by_class=by_class, random_state=4)[0]


@pytest.mark.parametrize("by_class", [True, False])
def test_estimates_hold_the_truth_as_often_as_they_say(rng, by_class):
    """Of 200 samples nine in ten or more have the areas in their 95 % intervals."""
    found, truth = map_and_truth(rng)
    whole = LabelImage.from_array(found)
    shares = [(truth[found > 0] == i).mean() for i in (1, 2, 3)]
    inside, means = [], []
    for seed in range(200):
        pixels, _ = validation_design(whole, 300, by_class=by_class, random_state=seed)
        ids = np.zeros_like(found)
        for pixel in pixels:
            ids[pixel.row, pixel.column] = truth[pixel.row, pixel.column]
        areas = evaluate_map(whole, LabelImage.from_array(ids), areas=True).areas
        estimates = [areas.area_share[i] for i in (1, 2, 3)]
        means.append([one.value for one in estimates])
        for share, one in zip(shares, estimates, strict=True):
            low, high = one.interval(0.95)
            inside.append(low <= share <= high)
    assert np.mean(inside) > 0.9
    np.testing.assert_allclose(np.mean(means, axis=0), shares, atol=0.01)


@pytest.mark.parametrize(("ending", "driver"), [(".geojson", "GeoJSON"), (".gpkg", "GPKG")])
def test_the_command_and_back(folder, rng, ending, driver, works, fails, capsys):
    found, truth = map_and_truth(rng)
    write_class_map("map.tif", found, TABLE, map_info=PLACE)
    words = ["suggest", "map.tif", "--for-validation", "90", "--by-class", "-o", f"points{ending}"]
    for other in (["--rule", "margin"], ["--labels", "x.tif"]):
        fails(*words, *other, code=2, says="no effect")
    assert run(words) == 0
    assert "water" in capsys.readouterr().out
    # filled in as in a GIS
    meta, _, geometry, columns = pyogrio.raw.read(f"points{ending}")
    fields = dict(zip(meta["fields"], columns, strict=True))
    assert "current_class" not in fields
    names = [
        TABLE[int(truth[r, c])].name for r, c in zip(fields["row"], fields["column"], strict=True)
    ]
    fields["class"] = np.array(names, dtype=object)
    pyogrio.raw.write(
        f"filled{ending}", geometry, [*fields.values()], [*fields], geometry_type="Point",
        crs=meta["crs"], driver=driver,
    )  # fmt: skip
    report = works("evaluate", "map.tif", f"filled{ending}", "--areas")
    drawn = read_labels(f"filled{ending}", grid=read_labels("map.tif"))
    assert (drawn.ids > 0).sum() == 90
    assert report["areas"]["n_points"] == 90


def test_what_cannot_be_drawn():
    for ids, n, error, says in (
        ([[1, 2, 0]], 3, DataError, "2 pixels have a class"),
        ([[1, 2, 1, 2]], 3, ParameterError, "at least 4"),
        ([[1, 2, 0]], 0, ParameterError, "at least 1"),
        ([[0, 0]], 1, DataError, "0 pixels"),
    ):
        with pytest.raises(error, match=says):
            validation_design(LabelImage.from_array(np.array(ids)), n)
