"""From points on disk to an operator in blocks, against the way within memory."""

from __future__ import annotations

import itertools
import re
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from diffclass.blocks import (
    BlockArrays,
    BlockOperator,
    OperatorBlock,
    Scratch,
    SerialEngine,
    build_operator,
    plan,
)
from diffclass.blocks.affinities import BlockKernel, weigh_edges
from diffclass.blocks.block_edges import join_neighbors
from diffclass.blocks.cell_bins import sample_size
from diffclass.blocks.neighbors import NO_NEIGHBOR
from diffclass.blocks.operator import normalise
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Correlation, Gaussian, SharedNeighbors
from diffclass.neighbors import ExactSearch, neighbors_graph
from diffclass.operators.markov import MarkovOperator
from diffclass.system.costs import Size
from diffclass.system.progress import listening

CUTS = {
    "one": (0, 400),
    "three": (0, 133, 266, 400),
    "seven": (0, 57, 114, 171, 228, 285, 342, 400),
    "uneven": (0, 1, 250, 253, 400),
}


KERNELS = [Gaussian(), SharedNeighbors(), SharedNeighbors(Gaussian(neighbor=3), power=1.0)]


def whole(operator: BlockOperator) -> tuple[sp.csr_array, np.ndarray]:
    """Put the blocks together: affinities and degrees, by place."""
    rows, degrees = [], []
    for b in range(operator.n_blocks):
        block = OperatorBlock.load(operator, b)
        own = np.arange(operator.starts[b], operator.starts[b + 1])
        columns = np.concatenate([own, block.ghosts])[block.affinity.indices]
        shape = (len(block), len(operator))
        rows.append(sp.csr_array((block.affinity.data, columns, block.affinity.indptr), shape))
        degrees.append(block.degrees)
    return sp.csr_array(sp.vstack(rows)), np.concatenate(degrees)


class Built(NamedTuple):
    """An operator put together: the point of each place, where blocks start, sizes of files."""

    affinity: sp.csr_array
    degrees: np.ndarray
    facts: dict
    order: np.ndarray
    starts: tuple[int, ...]
    files: dict[str, int]


def built(
    points: np.ndarray, folder: Path, *, engine=None, name="scratch", run=None, **parameters
) -> Built:
    """Build the operator of points in a folder; ``run`` are options of the scratch files."""
    np.save(folder / "points.npy", points)
    with Scratch.opened(folder / name, job={}, **(run or {})) as scratch:
        operator, facts = build_operator(
            folder / "points.npy",
            scratch=scratch,
            engine=engine or SerialEngine(),
            **{"random_state": 0} | parameters,
        )
        files = {
            str(path.relative_to(scratch.folder)): path.stat().st_size
            for path in scratch.folder.rglob("*.npy")
        }
        order = np.array(scratch.load("cells/order"))
        return Built(*whole(operator), facts, order, operator.starts, files)


def shared_edges(first: sp.csr_array, second: sp.csr_array) -> float:
    """Return the share of the second graph's edges that the first one has too."""
    edges = [set(zip(*graph.tocoo().coords, strict=True)) for graph in (first, second)]
    return len(edges[0] & edges[1]) / len(edges[1])


def clusters(n: int, n_features: int, seed: int = 0) -> np.ndarray:
    """Return 30 curved clusters with tails."""
    random = np.random.default_rng(seed)
    shapes = random.normal(size=(30, 3, n_features)) * 0.8 ** np.arange(n_features)
    which = random.integers(30, size=n)
    along = random.normal(size=(n, 2))
    points = shapes[which, 0] * 3 + along[:, :1] * shapes[which, 1]
    points += along[:, 1:] ** 2 * shapes[which, 2] + 0.3 * random.normal(size=points.shape)
    return points.astype(np.float32)


def directed_neighbors() -> sp.csr_array:
    """Return distances from 400 points to neighbours; the last ten equal each other, apart."""
    near = ExactSearch(6).fit_transform(clusters(390, 4))
    near.indptr = near.indptr.astype(np.int32)
    equal = sp.coo_array((np.zeros(90, np.float32), np.nonzero(1 - np.eye(10))), (10, 10))
    return sp.csr_array(sp.block_diag([near, equal]))


def write_lists(scratch: Scratch, starts: tuple[int, ...], graph: sp.csr_array) -> None:
    """Write the rows of a graph: lists of five, filled up with nobody, and the rest as edges."""
    longest = np.diff(graph.indptr).max()
    found = np.full((graph.shape[0], longest), NO_NEIGHBOR, dtype=np.int32)
    lengths = np.full(found.shape, np.inf, dtype=np.float32)
    for x in range(graph.shape[0]):
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        found[x, : row.stop - row.start] = graph.indices[row]
        lengths[x, : row.stop - row.start] = graph.data[row]
    for b, (start, stop) in enumerate(itertools.pairwise(starts)):
        scratch.save(f"neighbors/places.{b}", found[start:stop, :5])
        scratch.save(f"neighbors/lengths.{b}", lengths[start:stop, :5])
        rows, columns = np.nonzero(found[start:stop, 5:] != NO_NEIGHBOR)
        rows, columns = rows + start, columns + 5
        tied = np.stack([rows, found[rows, columns]], axis=1).astype(np.int32)
        scratch.save(f"neighbors/tied.{b}", tied)
        scratch.save(f"neighbors/tied_lengths.{b}", lengths[rows, columns])
        scratch.save(f"cells/representatives.{b}", np.arange(start, stop))


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("cut", CUTS)
def test_affinities_and_degrees_are_those_of_one_block(cut, kernel, alpha, tmp_path):
    directed, starts, scratch = directed_neighbors(), CUTS[cut], Scratch(tmp_path)
    graph = neighbors_graph(directed, search="precomputed")
    expected = MarkovOperator.from_affinity(kernel.affinity(graph, np.empty(0)), alpha=alpha)
    write_lists(scratch, starts, directed)
    arrays = BlockArrays(scratch, starts)
    assert join_neighbors(arrays, SerialEngine())["n_edges"] == graph.nnz
    weigh_edges(arrays, SerialEngine(), BlockKernel.of(kernel))
    normalise(arrays, SerialEngine(), alpha)
    affinity, degrees = whole(BlockOperator(scratch, starts))
    assert affinity.dtype == np.float32
    np.testing.assert_array_equal(affinity.toarray(), expected.affinity.toarray())
    np.testing.assert_array_equal(degrees, expected.degrees)


def test_one_block_is_the_operator_in_memory(tmp_path):
    points = clusters(1500, 5)
    points[100:130] = points[100]
    found = built(points, tmp_path, n_neighbors=8)
    graph = neighbors_graph(points, 8, random_state=0)
    expected = MarkovOperator.from_affinity(SharedNeighbors().affinity(graph, points))
    assert np.array_equal(found.order, np.arange(1500))
    assert found.facts["recall"] == 1
    assert found.facts["n_searched"] == 1500 - 29
    assert np.array_equal(found.affinity.toarray(), expected.affinity.toarray())
    assert np.array_equal(found.degrees, expected.degrees)


def test_points_in_20_dimensions_find_their_neighbors_in_8_blocks(tmp_path):
    points = clusters(20_000, 20)
    found = built(points, tmp_path, block_points=2500)
    assert np.array_equal(np.sort(found.order), np.arange(20_000))
    assert found.facts["n_blocks"] == 8
    assert found.facts["recall"] >= 0.97  # 0.98 are aimed at
    assert found.facts["n_overlap"] < 1.5 * 20_000
    exact = neighbors_graph(points[found.order], search=ExactSearch(12))
    assert shared_edges(found.affinity, exact) >= 0.97


@pytest.mark.parametrize("fill", [0, 1])
def test_a_few_large_groups_of_duplicates_are_no_islands(fill, tmp_path):
    points = clusters(6000, 5)
    points[1300:3800] = fill  # two blocks and more
    points[4000:4030] = points[4000]  # within a block
    affinity, degrees, facts, *_ = built(points, tmp_path, block_points=1000)
    assert facts["n_searched"] == 6000 - 2499 - 29
    exact = neighbors_graph(points, search=ExactSearch(12))
    assert connected_components(affinity)[0] == connected_components(exact)[0]
    assert np.diff(affinity.indptr).max() < 1600
    assert np.isfinite(degrees).all()
    assert facts["recall"] > 0.96  # 0.98 are aimed at
    assert abs(affinity - affinity.T).max() < 1e-6


def test_no_block_is_larger_than_one_and_a_half_times_the_size(tmp_path):
    points = clusters(5000, 3)
    points[:2000] = points[0] + np.float32(1e-4) * points[:2000]  # one cell holds many points
    found = built(points, tmp_path, block_points=500)
    assert np.diff(found.starts).max() <= 750
    assert found.facts["recall"] > 0.96  # 0.98 are aimed at


def test_a_far_point_is_joined_to_the_others(tmp_path):
    points = clusters(3000, 4)
    points[17] = 1e6
    affinity, degrees, facts, order, *_ = built(points, tmp_path, block_points=700)
    assert facts["recall"] > 0.98
    place = int(np.flatnonzero(order == 17)[0])
    assert affinity[[place]].nnz >= 13
    assert degrees[place] > 0
    assert np.isfinite(affinity.data).all()


def test_equal_points_alone_are_one_component(tmp_path):
    points = np.ones((900, 3), np.float32)
    affinity, degrees, facts, *_ = built(points, tmp_path, block_points=200)
    assert facts["n_searched"] == 1
    assert connected_components(affinity)[0] == 1
    assert (degrees > 0).all()


@pytest.mark.parametrize("n", [1, 2, 9])
def test_fewer_points_than_neighbors(n, tmp_path):
    points = clusters(n, 3)
    affinity, degrees, *_ = built(points, tmp_path, block_points=4)
    assert affinity.shape == (n, n)
    assert (degrees > 0).all()


@pytest.mark.parametrize("row", [0, 2999])
def test_points_that_are_not_finite_are_refused_by_number(row, tmp_path):
    points = clusters(3000, 4)
    points[row, 2] = np.nan
    with pytest.raises(DataError, match=rf"points.npy holds NaN or infinity .* row {row}\)"):
        built(points, tmp_path, block_points=700)


def test_files_that_are_no_points_are_refused(tmp_path):
    with pytest.raises(DataError, match="float64 of shape"):
        built(np.ones((30, 2)), tmp_path)
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(DataError, match="cannot be read"):
        build_operator(tmp_path / "text.npy", scratch=Scratch(tmp_path), engine=SerialEngine())


@pytest.mark.parametrize("kernel", [Correlation(), Gaussian(bandwidth="global")], ids=str)
def test_kernels_that_do_not_work_in_blocks_are_refused(kernel, tmp_path):
    with pytest.raises(ParameterError, match=r"does not work in blocks; Gaussian\(\) and"):
        built(clusters(30, 2), tmp_path, kernel=kernel)


def test_the_order_of_the_points_does_not_matter(tmp_path):
    points = clusters(3000, 6)
    shuffle = np.random.default_rng(1).permutation(3000)
    graphs = []
    for name, X, numbers in (("a", points, np.arange(3000)), ("b", points[shuffle], shuffle)):
        found = built(X, tmp_path, block_points=500, name=name)
        edges = found.affinity.tocoo()
        point = numbers[found.order]
        ends = point[edges.row], point[edges.col]
        graphs.append(sp.csr_array((edges.data, ends), shape=(3000, 3000)))
        assert found.facts["recall"] >= 0.97  # 0.98 are aimed at
    assert shared_edges(*graphs) >= 0.96


class Failing(SerialEngine):
    """Fails at its n-th task."""

    def __init__(self, n: int):
        super().__init__()
        self.n = n

    def submit(self, task, *arguments):
        self.n -= 1
        if self.n == 0:
            raise OSError("a worker is lost")
        return super().submit(task, *arguments)


def test_a_run_that_failed_anywhere_resumes_to_the_same_operator(tmp_path):
    points, counting = clusters(1200, 4), Failing(-1)
    options = {"block_points": 400, "alpha": 0.5}
    expected = built(points, tmp_path, engine=counting, **options)
    n_tasks = -1 - counting.n
    assert n_tasks > 30
    kept = {"resume": True, "keep": True}
    for n in range(2, n_tasks + 1, 4):
        run = {"name": f"fails{n}", "run": kept} | options
        with suppress(OSError):  # the last tasks are not those of each run
            built(points, tmp_path, engine=Failing(n), **run)
        found = built(points, tmp_path, **run)
        assert found.facts == expected.facts
        assert np.array_equal(found.affinity.data, expected.affinity.data)
        assert np.array_equal(found.degrees, expected.degrees)


class Weighing(SerialEngine):
    """Weighs the arrays of tasks, those between the tasks, and the files."""

    def __init__(self, folder: Path):
        super().__init__()
        self.folder = folder
        self.in_tasks = self.between = self.on_disk = 0

    def submit(self, task, *arguments):
        self.between = max(self.between, tracemalloc.get_traced_memory()[1])
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = super().submit(task, *arguments)
        self.in_tasks = max(self.in_tasks, tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.reset_peak()
        files = [path.stat().st_size for path in self.folder.rglob("*.npy")]
        self.on_disk = max(self.on_disk, sum(files))
        return result


def test_memory_and_scratch_files_stay_within_what_is_stated(tmp_path):
    n = 60_000
    points = clusters(n, 12)
    engine = Weighing(tmp_path / "scratch")
    # all that such a build loads once, in whatever process this is, is no memory of the next one
    built(points[:3000], tmp_path, block_points=1000, name="warm")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        files = built(points, tmp_path, engine=engine, block_points=10_000).files
    finally:
        tracemalloc.stop()
    sample = 4 * 12 * 2 * sample_size(n, 10_000)
    assert engine.between - before < 32 * n + 3 * sample
    assert engine.in_tasks < plan.building_bytes(Size(10_000, 12, 12)) - plan.PROCESS
    on_disk = plan.scratch_costs(Size(n, 12, 12), 10_000)
    assert 0.75 < engine.on_disk / max(cost.working for cost in on_disk.values()) < 1.25
    assert 0.75 < sum(files.values()) / on_disk["operator"].kept < 1.25


def test_a_budget_too_small_for_a_block_is_refused():
    with pytest.raises(ParameterError, match="too little for a block of 10000 points") as refused:
        plan.block_points_within(1e8, 20, 12)
    told = re.search(r"at least (\S+) GB, 0.43 GB of which the program itself", str(refused.value))
    plan.block_points_within(float(told.group(1)) * 1e9, 20, 12)  # what is named suffices
    size = plan.block_points_within(2e9, 20, 12)
    assert plan.building_bytes(Size(size, 20, 12)) == pytest.approx(2e9, rel=0.01)


def test_progress_is_told_block_by_block(tmp_path):
    heard = []

    class Listener:
        def begins(self, name):
            heard.append(name)

        def advances(self, name, done, parts):
            heard.append((name, done, parts))

        def ends(self, name, seconds):
            pass

    with listening(Listener()):
        built(clusters(1200, 4), tmp_path, block_points=400)
    assert heard[0] == "cells"
    steps = [("affinities: scales", done, 3) for done in (1, 2, 3)]
    assert [event for event in heard if event[0] == steps[0][0]] == steps


def test_nothing_but_the_operator_and_the_order_is_left(tmp_path):
    left = sorted(built(clusters(1200, 4), tmp_path, block_points=400, alpha=0.5).files)
    parts = ("data", "degrees", "ghosts", "indices", "indptr")
    blocks = [f"operator/{part}.{b}.npy" for part in parts for b in range(3)]
    small = [name for name in left if name.startswith("cells/")]
    assert [name for name in left if name not in small] == blocks
    assert "cells/order.npy" in small


class Processes:
    """Two other processes, which see nothing but the files."""

    n_workers, is_immediate = 2, False

    def __init__(self, pool: ProcessPoolExecutor):
        self.pool = pool

    def submit(self, task, *arguments):
        return self.pool.submit(task, *arguments)

    def gather(self, handles):
        return [handle.result() for handle in handles]

    def require_visible(self, *paths):
        """Processes of this machine see all that it sees."""


def test_other_processes_build_the_same_operator(tmp_path):
    points = clusters(2500, 5)
    points[300:900] = points[300]
    expected = built(points, tmp_path, block_points=400, name="here", alpha=0.5)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = built(points, tmp_path, block_points=400, alpha=0.5, engine=Processes(pool))
        points[7] = np.nan
        with pytest.raises(DataError, match="row 7"):
            built(points, tmp_path, block_points=400, name="bad", engine=Processes(pool))
    assert found[2] == expected[2]
    assert np.array_equal(found[3], expected[3])
    assert np.array_equal(found[0].indices, expected[0].indices)
    assert np.array_equal(found[0].data, expected[0].data)
    assert np.array_equal(found[1], expected[1])
