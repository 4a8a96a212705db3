"""The estimate of how long a run in blocks or in memory will take."""

from __future__ import annotations

from itertools import pairwise

import pytest

from diffclass.blocks import durations
from diffclass.blocks.durations import forecast_seconds, unit_seconds
from diffclass.progress import stage_seconds


def seconds(n_points, **changed):
    given = {"n_features": 20, "n_neighbors": 12, "n_classes": 16, "block_points": 200_000}
    return forecast_seconds(n_points, unit=0.5, n_bands=100, **given | changed)


@pytest.mark.parametrize("block_points", [200_000, None])
def test_every_stage_takes_longer_for_more_points(block_points):
    sizes = [30_000, 199_999, 200_001, 10**6, 10**7, 10**8]
    for fewer, more in pairwise(sizes):
        before, after = (seconds(n, block_points=block_points) for n in (fewer, more))
        assert before.keys() == after.keys() == durations.paces(block_points).keys()
        assert all(0 < before[name] < after[name] for name in before)


def test_blocks_take_longer_than_memory():
    inside, blocks = seconds(10**7, block_points=None), seconds(10**7)
    assert all(inside[name] < blocks[name] for name in ("neighbors", "affinities", "diffusion"))


def test_another_fit_repeats_what_is_not_kept():
    for block_points, repeated in (
        (200_000, {"diffusion", "maps", "calibration"}),
        (None, {"neighbors", "affinities", "diffusion", "calibration"}),
    ):
        one, two = (seconds(10**6, block_points=block_points, n_fits=k) for k in (1, 2))
        assert {name for name in one if two[name] == pytest.approx(2 * one[name])} == repeated
        assert all(two[name] == one[name] for name in one.keys() - repeated)


def test_labels_left_out_of_blocks_take_the_folds_of_all_classes():
    few, many = seconds(10**6, n_classes=2), seconds(10**6, n_classes=20)
    assert many["calibration"] == pytest.approx(10 * few["calibration"])
    few, many = (seconds(10**6, block_points=None, n_classes=k) for k in (2, 20))
    assert many["calibration"] == few["calibration"]  # a number of labels, one by one


@pytest.mark.parametrize(
    "more",
    [{"n_features": 40}, {"n_neighbors": 24}, {"n_classes": 32}, {"is_spatial": True}],
    ids=lambda more: next(iter(more)),
)
def test_more_work_takes_longer(more):
    assert sum(seconds(10**6, **more).values()) > sum(seconds(10**6).values())


def test_time_is_in_units_and_shared_by_machines():
    one, four = seconds(10**7), seconds(10**7, n_machines=4)
    assert four["neighbors"] == pytest.approx(one["neighbors"] / 4)
    assert four["features"] == one["features"]
    given = {"block_points": 10**5, "unit": 1.0}
    slow = forecast_seconds(10**6, 20, 12, 16, **given | {"unit": 3.0})
    fast = forecast_seconds(10**6, 20, 12, 16, **given)
    assert sum(slow.values()) == pytest.approx(3 * sum(fast.values()))


def test_a_unit_is_timed_once_and_nobody_hears_of_it():
    unit_seconds.cache_clear()
    with stage_seconds() as heard:
        first = unit_seconds()
    assert 0 < first == unit_seconds()
    assert not heard
