"""What a run will cost: costs add up, grow with the work, and need no command line."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from diffclass.blocks.plan import scratch_costs
from diffclass.graph import graph_costs
from diffclass.kernels import DensityWeighted, Gaussian, LocalCovariance, SharedNeighbors
from diffclass.label_diffusion import diffusion_costs
from diffclass.system.costs import Cost, Forecast, Size, base_bytes, seconds_of

BLOCK = 200_000


def size(points, **changed):
    return Size(points, **{"features": 20, "neighbors": 12, "classes": 16} | changed)


def in_memory(of):
    return graph_costs(of, SharedNeighbors()) | diffusion_costs(of)


def in_blocks(of):
    return scratch_costs(of, BLOCK)


def test_what_earlier_stages_leave_is_held():
    costs = {"a": Cost(5 * 10**9, 10**9), "b": Cost(2 * 10**9), "c": Cost(10**9)}
    stages = Forecast.of(costs, kept=10**8).stages
    base = stages["c"] - 21 * 10**8
    assert stages["a"] - base == 51 * 10**8
    assert stages["b"] - base == 31 * 10**8
    assert base == pytest.approx(base_bytes(), rel=0.1)
    assert Forecast.of(costs).peak == pytest.approx(stages["a"], rel=0.1)


@pytest.mark.parametrize("costs_of", [in_memory, in_blocks])
def test_every_stage_costs_more_for_more_points(costs_of):
    sizes = [30_000, 199_999, 200_001, 10**6, 10**7, 10**8]
    for fewer, more in pairwise(costs_of(size(n)) for n in sizes):
        assert fewer.keys() == more.keys()
        for name in fewer:
            assert fewer[name].working < more[name].working or fewer[name].working == 0
            assert fewer[name].seconds < more[name].seconds or fewer[name].seconds == 0


@pytest.mark.parametrize("costs_of", [in_memory, in_blocks])
@pytest.mark.parametrize("more", [{"features": 40}, {"neighbors": 24}, {"classes": 32}], ids=str)
def test_more_work_takes_longer(costs_of, more):
    one, two = (sum(seconds_of(costs_of(of)).values()) for of in (size(10**6), size(10**6, **more)))
    assert two > one


def test_blocks_take_longer_than_memory():
    inside, blocks = in_memory(size(10**7)), in_blocks(size(10**7))
    for name in ("neighbors", "affinities", "diffusion"):
        assert inside[name].seconds < blocks[name].seconds


def test_another_fit_repeats_what_is_not_kept():
    costs = {"features": Cost(seconds=1.0), "graph": Cost(seconds=2.0), "writing": Cost(9)}
    assert seconds_of(costs, n_fits=3, once=["features"]) == {"features": 1.0, "graph": 6.0}


def test_labels_left_out_of_blocks_take_the_folds_of_all_classes():
    few, many = (in_blocks(size(10**6, classes=c))["calibration"].seconds for c in (2, 20))
    assert many == pytest.approx(10 * few)
    few, many = (in_memory(size(10**6, classes=c))["calibration"].seconds for c in (2, 20))
    assert many == few  # a number of labels, one by one


def test_kernels_cost_what_they_make():
    of = size(10**5)
    plain, shared = Gaussian().cost(of), SharedNeighbors().cost(of)
    assert plain.working < shared.working
    assert plain.kept < shared.kept  # with what new points are compared with
    assert DensityWeighted(SharedNeighbors()).cost(of).working == shared.working
    more = LocalCovariance().cost(of).working - plain.working
    assert more == 4 * 10**5 * 20 * LocalCovariance().rank
    over = SharedNeighbors(LocalCovariance()).cost(of).working - shared.working
    assert over == pytest.approx(more)


def test_the_time_is_told_of_runs_of_more_than_a_minute():
    stages = {"neighbors": 10**9}
    assert Forecast(stages).duration_line() is None
    assert Forecast(stages, seconds={"neighbors": 40.0}).duration_line() is None
    seconds = {"neighbors": 100.0, "diffusion": 20.0, "calibration": 30.0}
    assert Forecast(stages, seconds=seconds).duration_line() == (
        "time: an estimate for two cores is 2 min to the map, 2 min of it for neighbors; "
        "probabilities take 30 s more"
    )


# scikit-learn itself imports rich where it is installed
JOBS = """
import importlib, pkgutil, sys
sys.modules["click"] = sys.modules["rich"] = None
import diffclass_hyperspectral.jobs as jobs
for module in pkgutil.iter_modules(jobs.__path__, jobs.__name__ + "."):
    importlib.import_module(module.name)
assert "diffclass.command_line" not in sys.modules
"""


def test_jobs_load_nothing_of_the_command_line():
    subprocess.run([sys.executable, "-c", JOBS], check=True)
