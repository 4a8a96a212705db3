"""The same maps from the workers of a dask cluster, whatever happens to them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from diffclass import StoppingRule, diffuse_labels, markov_operator
from diffclass._compiled.loops import allowed_threads
from diffclass.blocks import (
    BlockClassifier,
    Scratch,
    SerialEngine,
    block_classifier,
    build_operator,
    dask_engine,
)
from diffclass.blocks.dask_engine import DaskEngine, local_cluster
from diffclass.blocks.engine import retry
from diffclass.blocks.halo import WalkBlock
from diffclass.exceptions import ClusterError, DataError, ParameterError
from diffclass.system.progress import listening
from tests.blocks.test_diffusion import assert_same, cut_into, diffused

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
GB = 2**30


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 200)
    X = rng.normal(size=(600, 2)) + 3.5 * np.array([[0, 0], [1, 0], [0.3, 1]])[truth]
    operator = markov_operator(X.astype(np.float32), n_neighbors=8)
    y = np.where(rng.random(600) < 0.03, truth, -1)
    y[[0, 200, 400]] = 0, 1, 2
    return operator, y


@pytest.fixture(scope="module")
def expected(problem):
    return diffuse_labels(*problem, label_mode="absorbing", tau=StoppingRule(max_time=20))


@pytest.fixture(scope="module", autouse=True)
def forked_workers():
    """Workers that need not import what dask imports; those of the other files are spawned."""
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        yield


@pytest.fixture(scope="module")
def engine():
    """Two workers, as on a machine of four cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dask.system.CPU_COUNT", 4)
        with local_cluster(2, memory=2 * GB) as started:
            yield started


def test_two_workers_give_the_map_of_one_process(problem, expected, engine, tmp_path):
    cut = cut_into(problem[0], 3, tmp_path)
    found = diffused(cut, problem[1], engine=engine, tau=StoppingRule(max_time=20))
    assert_same(found, expected)


def test_an_error_of_the_caller_ends_the_workers():
    with suppress(KeyError), local_cluster(1, memory=2 * GB) as cluster:
        assert cluster.n_workers == 1
        pids = list(cluster.client.run(os.getpid).values())
        raise KeyError("an error of the caller")
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_half_a_worker_is_refused():
    with (
        pytest.raises(ParameterError, match=r"n_workers = 1\.5; it has to be a whole number"),
        local_cluster(1.5, memory=GB),
    ):
        pass


def test_killed_workers_change_nothing(problem, expected, engine, tmp_path):
    cut = cut_into(problem[0], 3, tmp_path)
    with killing(engine, [0.3, 1.5], seed=2) as killed:
        found = diffused(cut, problem[1], engine=engine, tau=StoppingRule(max_time=20))
    assert len(killed) == 2
    assert_same(found, expected)


BUILT_IN = ("neighbors: searching", "neighbors: merging", "graph: uniting", "affinities: sharing")


class Disturbing:
    """Does something to a cluster once the first block of some stages is done."""

    def __init__(self, stages, disturb):
        self._stages, self._disturb = set(stages), disturb
        self.disturbed = 0

    def begins(self, name):
        pass

    def advances(self, name, done, parts):
        if name in self._stages:
            self._stages.remove(name)
            self._disturb(name.split(":")[0])
            self.disturbed += 1

    def ends(self, name, seconds):
        pass


def built(folder, engine, listener=None):
    """Return the files of an operator in four blocks, by their names."""
    X = np.random.default_rng(1).normal(size=(3000, 4)).astype(np.float32)
    folder.mkdir()
    np.save(folder / "points.npy", X)
    with Scratch.opened(folder / "scratch", job={}) as scratch, listening(listener):
        build_operator(
            folder / "points.npy", scratch=scratch, engine=engine, block_points=750, random_state=0
        )
        found = {
            str(file.relative_to(scratch.folder)): file.read_bytes()
            for file in scratch.folder.glob("**/*")
            if file.is_file()
        }
    assert not (folder / "scratch").exists()
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return built(tmp_path_factory.mktemp("undisturbed") / "run", SerialEngine())


def test_workers_killed_while_the_graph_is_built_leave_nothing(undisturbed, engine, tmp_path):
    rng, killed = np.random.default_rng(3), []

    def kill(stage):
        pids = list(engine.client.run(os.getpid, on_error="ignore").values())
        killed.append(pids[rng.integers(len(pids))])
        # what a writer leaves that is killed in the middle of a file
        left = tmp_path / "run" / "scratch" / stage / ".found.0.npy.1.part" / "new.npy"
        left.parent.mkdir()
        left.write_bytes(b"half of it")
        os.kill(killed[-1], signal.SIGKILL)

    found = built(tmp_path / "run", engine, Disturbing(BUILT_IN[::2], kill))
    assert len(killed) == 2
    assert found == undisturbed
    engine.client.wait_for_workers(engine.n_workers, timeout=60)


def test_blocks_lost_while_the_graph_is_built_are_made_again(undisturbed, engine, tmp_path):
    def cancel(stage):
        engine.client.cancel(
            [distributed.Future(key, engine.client) for key in list(engine.client.futures)]
        )

    disturbing = Disturbing(BUILT_IN, cancel)
    assert built(tmp_path / "run", engine, disturbing) == undisturbed
    assert disturbing.disturbed == len(BUILT_IN)


def test_a_local_worker_has_one_task_at_a_time_and_its_share_of_the_cores(engine):
    assert list(engine.client.nthreads().values()) == [1, 1]
    assert engine.gather([engine.submit(allowed_threads)]) == [2]


def test_local_workers_build_the_graph_and_end_before_the_walk(monkeypatch, tmp_path):
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 300)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 300)
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:900].astype(np.float32), truth[:900]
    y = np.where(np.random.default_rng(0).random(len(X)) < 0.1, truth, -1)
    known, pids, happened = BlockClassifier(tau=8, random_state=0).fit(X, y), [], []

    @contextmanager
    def watched(*arguments, **options):
        with local_cluster(*arguments, **options) as started:
            pids.extend(started.client.run(os.getpid).values())
            yield started
        happened.append("end")

    monkeypatch.setattr(block_classifier, "local_cluster", watched)
    found = BlockClassifier(tau=8, n_workers=2, scratch=tmp_path, random_state=0)
    with listening(Disturbing(["neighbors: searching", "diffusion: steps"], happened.append)):
        found.fit(X, y)
    assert len(pids) == 2
    assert happened == ["neighbors", "end", "diffusion"]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert found.facts_ == known.facts_
    np.testing.assert_array_equal(found.raw_label_distributions_, known.raw_label_distributions_)
    assert found.calibration_.temperature == known.calibration_.temperature
    monkeypatch.setattr(block_classifier, "local_cluster", None)  # the graph is there
    again = BlockClassifier(tau=8, n_workers=2, scratch=tmp_path, random_state=0).fit(X, truth)
    assert (again.transduction_ == truth).all()


def _slowly(seconds):
    time.sleep(seconds)
    return "done"


@pytest.mark.parametrize("killed_at", [0.3, 1.5], ids=["running", "done"])
def test_work_held_near_workers_that_are_all_gone_begins_again(killed_at, engine, monkeypatch):
    monkeypatch.setattr("diffclass.blocks.dask_engine._IDLE", 0.5)
    monkeypatch.setattr("diffclass.blocks.dask_engine._FETCHED", 2.0)
    pids, tried = list(engine.client.run(os.getpid).values()), []

    def work():
        tried.append(engine.hold(_slowly, 1.0, share=0.0))
        if len(tried) == 1:
            time.sleep(killed_at)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        return engine.gather(tried[-1:])

    assert retry(work, lambda: None) == ["done"]
    engine.client.wait_for_workers(engine.n_workers, timeout=60)


def _fills_memory(dask_worker, *, is_full):
    """Let a worker believe that its memory is full, or not."""
    dask_worker.memory_manager.memory_pause_fraction = 1e-3 if is_full else 0.8


@pytest.fixture
def fill_memory(engine, monkeypatch):
    """Let some workers pause, as dask lets those whose memory is full."""
    monkeypatch.setattr("diffclass.blocks.dask_engine._PAUSED", 1.0)

    def fill(n_workers):
        workers = sorted(engine.client.nthreads())[:n_workers]
        engine.client.run(_fills_memory, is_full=True, workers=workers)

    yield fill
    engine.client.run(_fills_memory, is_full=False)
    while any(w["status"] != "running" for w in _workers(engine)):
        time.sleep(0.1)


def _workers(engine):
    return engine.client.scheduler_info(n_workers=-1)["workers"].values()


def test_work_that_waits_for_a_full_worker_is_done_by_others(engine, fill_memory):
    tried = []

    def work():
        tried.clear()
        tried.extend(engine.submit(_slowly, 0.2) for _ in range(8))
        fill_memory(1)
        return engine.gather(tried)

    assert retry(work, lambda: None) == ["done"] * 8


def test_workers_that_are_all_full_are_an_error_that_says_so(engine, fill_memory):
    def work():
        held = [engine.submit(_slowly, 0.3) for _ in range(8)]
        fill_memory(engine.n_workers)
        return engine.gather(held)

    with pytest.raises(ClusterError, match=r"paused, for their memory is full.*--resume"):
        work()


@contextmanager
def killing(engine, pauses, *, seed):
    """Kill a worker after each pause."""
    rng, killed, over = np.random.default_rng(seed), [], threading.Event()
    client = engine.client

    def kill():
        for pause in pauses:
            time.sleep(pause)
            pids = list(client.run(os.getpid, on_error="ignore").values())
            if pids and not over.is_set():
                killed.append(pids[rng.integers(len(pids))])
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()
        client.wait_for_workers(engine.n_workers, timeout=60)


def _dies_at_first(folder):
    """Die like a worker that needs too much memory, once more than dask allows."""
    times = len(list(Path(folder).glob("died-*")))
    if times < 2:
        (Path(folder) / f"died-{times}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_tasks_that_dask_gives_up_are_tried_again(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(engine.client.cluster.scheduler, "allowed_failures", 1)
    assert engine.gather([engine.submit(_dies_at_first, str(tmp_path))]) == ["done"]


def _fails():
    raise DataError("no space is left for scratch files")


def test_errors_of_tasks_are_raised_as_they_are(engine):
    with pytest.raises(DataError, match="no space is left"):
        engine.gather([engine.submit(_fails)])


def test_cancelled_work_is_done_again(problem, expected, engine, tmp_path):
    cut = cut_into(problem[0], 2, tmp_path)
    stop = threading.Event()

    def cancel():
        client = engine.client
        while not (client.futures or stop.wait(0.05)):
            pass
        time.sleep(0.5)
        client.cancel([distributed.Future(key, client) for key in list(client.futures)[:3]])

    thread = threading.Thread(target=cancel)
    thread.start()
    found = diffused(cut, problem[1], engine=engine, tau=StoppingRule(max_time=20))
    stop.set()
    thread.join()
    assert_same(found, expected)


def test_memory_of_workers_stays_below_their_limit(problem, engine, tmp_path):
    seen, over = [], threading.Event()

    def look():
        while not over.wait(0.2):
            seen.extend(
                (w["metrics"]["memory"], w["memory_limit"])
                for w in _workers(engine)
                if w["metrics"]
            )

    thread = threading.Thread(target=look)
    thread.start()
    cut = cut_into(problem[0], 2, tmp_path)
    diffused(cut, problem[1], engine=engine, tau=12)
    over.set()
    thread.join()
    assert seen
    assert all(0 < memory < limit == GB for memory, limit in seen), seen


def test_blocks_tell_dask_their_size(problem, tmp_path):
    from dask.sizeof import sizeof

    cut = cut_into(problem[0], 2, tmp_path)
    diffused(cut, problem[1], tau=1)
    for b in range(2):
        block = WalkBlock.load(cut, b, 1, "diffusion")
        K = block.affinity
        assert sizeof(block) > K.data.nbytes + K.indices.nbytes + K.indptr.nbytes


def test_files_that_workers_do_not_see_are_named(engine, tmp_path, monkeypatch):
    (tmp_path / "scene.dat").write_bytes(b"12345")
    engine.require_visible(tmp_path, tmp_path / "scene.dat")
    monkeypatch.setattr("diffclass.blocks.dask_engine._sees", _sees_nothing)
    with pytest.raises(ParameterError, match=f"{tmp_path}: not seen by \\d of \\d workers"):
        engine.require_visible(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["scene.dat"]
    with pytest.raises(ParameterError, match=r"run/points\.npy: not seen by 2 of 2 workers"):
        built(tmp_path / "run", engine)


def _sees_nothing(path, size):
    return False


def test_mixed_versions_get_one_error(engine):
    class Mixed:
        """A cluster whose workers have an older library."""

        scheduler = engine.client.scheduler

        def wait_for_workers(self, *args, **options):
            pass

        def get_versions(self, packages):
            versions = engine.client.get_versions(packages=packages)
            for worker in versions["workers"].values():
                worker["packages"] |= {"diffclass": "0.0.9", "numba": None}
            return versions

    with pytest.raises(ParameterError, match=r"diffclass 0.0.9 on workers, .*; numba missing on"):
        DaskEngine(Mixed())


def test_a_worker_of_other_sources_is_refused(tmp_path, monkeypatch):
    package = Path(dask_engine.__file__).parents[1]
    copy = tmp_path / "copy" / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "neighbors" / "recall.py").open("a") as file:
        file.write("# changed, in the same version\n")
    path = os.pathsep.join([str(copy.parent), *sys.path])
    own = ["env", "PYTHONSAFEPATH=1", f"PYTHONPATH={path}"]  # not that of the folder
    with remote(tmp_path, own) as (_, client):
        with pytest.raises(ParameterError, match=r"1 of 1 workers \(such as tcp.* other sources"):
            DaskEngine(client)
        monkeypatch.setattr(DaskEngine, "_require_same_sources", lambda self: None)
        engine = DaskEngine(client)  # as if the worker had come later
        with pytest.raises(ParameterError, match="other sources"):
            engine.gather([engine.submit(np.ones, 3)])


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ParameterError, match=r"diffclass\[distributed\]"),
        local_cluster(2, memory=GB),
    ):
        pass


@pytest.fixture
def remote_cluster(tmp_path, monkeypatch):
    """A scheduler and a worker in processes of their own, for which nobody waits long."""
    for patience, seconds in (("_ANSWER", 3.0), ("_FETCHED", 5.0), ("_BACK", 1.0)):
        monkeypatch.setattr(dask_engine, patience, seconds)
    with remote(tmp_path) as started:
        yield started


@contextmanager
def remote(tmp_path, before_worker=()):
    file = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(file), "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    module = "distributed.cli.dask_scheduler"
    command = [sys.executable, "-m", module, "--host", "127.0.0.1", "--port", "0", *options]
    scheduler = subprocess.Popen(command, **quiet)
    module = "distributed.cli.dask_worker"
    command = [sys.executable, "-m", module, "--nthreads", "1", "--death-timeout", "60", *options]
    worker = subprocess.Popen([*before_worker, *command], **quiet, start_new_session=True)
    try:
        with distributed.Client(scheduler_file=str(file), set_as_default=False) as client:
            yield scheduler, client
    finally:
        scheduler.kill()
        os.killpg(worker.pid, signal.SIGKILL)
        scheduler.wait()
        worker.wait()


def test_a_worker_of_a_machine_without_the_folder_is_named(tmp_path):
    """The worker has the folder under the same name, but an empty one of its own."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    np.save(hidden / "points.npy", np.zeros((3, 2), dtype=np.float32))
    own = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs tmpfs "{hidden}" && exec "$@"', "sh"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*own, "true"], capture_output=True).returncode
    ):
        pytest.skip("only the system's administrator may hide a folder")
    with remote(tmp_path, own) as (_, client):
        remote_engine = DaskEngine(client)
        remote_engine.require_visible(tmp_path)
        for path in (hidden, hidden / "points.npy"):
            with pytest.raises(ParameterError, match=f"{path}: not seen by 1 of 1 workers"):
                remote_engine.require_visible(path)


def test_a_cluster_builds_and_walks_also_where_it_works_in_another_folder(
    remote_cluster, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    submitted, submit = [], DaskEngine.submit

    def counted(self, task, *arguments):
        submitted.append(task.__name__)
        return submit(self, task, *arguments)

    monkeypatch.setattr(DaskEngine, "submit", counted)
    X = np.random.default_rng(0).normal(size=(900, 2)).astype(np.float32)
    y = np.where(np.arange(900) % 10 == 0, X[:, 0] > 0, -1)
    known = BlockClassifier(tau=8, random_state=0).fit(X, y)
    engine = DaskEngine(remote_cluster[1])
    found = BlockClassifier(tau=8, engine=engine, scratch="scratch", random_state=0).fit(X, y)
    assert {"search_block", "walked"} <= set(submitted)
    assert Path("scratch").is_dir()
    np.testing.assert_array_equal(found.raw_label_distributions_, known.raw_label_distributions_)


def test_a_lost_scheduler_is_one_clear_error_within_seconds(problem, remote_cluster, tmp_path):
    scheduler, client = remote_cluster
    engine, lost = DaskEngine(client), []

    def kill():
        time.sleep(2)
        scheduler.kill()
        lost.append(time.monotonic())

    thread = threading.Thread(target=kill)
    thread.start()
    (tmp_path / "scratch").mkdir()
    cut = cut_into(problem[0], 3, tmp_path / "scratch")
    with pytest.raises(ClusterError, match=r"scheduler at tcp://.* is gone; .* --resume"):
        diffused(cut, problem[1], engine=engine, tau=2000)
    thread.join()
    assert time.monotonic() - lost[0] < 20


def test_whatever_is_asked_first_says_that_the_scheduler_is_gone(remote_cluster, tmp_path):
    scheduler, client = remote_cluster
    engine, start = DaskEngine(client), time.monotonic()
    scheduler.kill()
    scheduler.wait()
    with pytest.raises(ClusterError, match=r"scheduler at tcp://.* is gone"):
        engine.hold(int, share=0.5)
    assert time.monotonic() - start < 25  # 35 by dask's own patience
    client.close()
    for ask in (lambda: engine.require_visible(tmp_path), lambda: DaskEngine(client)):
        with pytest.raises(ClusterError, match=r"scheduler at .* is gone"):
            ask()
