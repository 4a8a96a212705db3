"""Which threads run compiled loops: as many as the work is worth, never more than are allowed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import ThreadpoolController, threadpool_limits

from diffclass._compiled import loops
from diffclass._compiled.loops import (
    allowed_threads,
    in_shares,
    in_threads,
    openmp_for,
    share,
    threads,
)
from diffclass.neighbors import ExactSearch

in_context: ContextVar[str] = ContextVar("in_context")

LARGE = np.empty(2**23, dtype=np.uint8)  # 8 MB: 16 shares


class Watched:
    """A loop whose shares take some time; it sees who runs them, and how many at once."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.shares, self.runners = [], set()
        self.n_running, self.most_running = 0, 0
        self.lock = threading.Lock()

    def __call__(self, part, *arguments):
        with self.lock:
            self.shares.append(part)
            self.runners.add(threading.get_ident())
            self.n_running += 1
            self.most_running = max(self.most_running, self.n_running)
        time.sleep(self.seconds)
        with self.lock:
            self.n_running -= 1


@given(n=st.integers(0, 200), k=st.integers(1, 70))
def test_shares_are_the_rows_in_order(n, k):
    rows_of = getattr(share, "py_func", share)  # compiled, it gives its range to loops only
    assert [x for i in range(k) for x in rows_of((i, k), n)] == list(range(n))


def test_small_arguments_are_one_share_of_the_caller():
    loop = Watched(0.01)
    with threads(4):
        in_shares(loop)(np.empty(1000), 3)
    assert loop.shares == [(0, 1)]
    assert loop.runners == {threading.get_ident()}


def test_fast_loops_get_no_help(monkeypatch):
    monkeypatch.setattr(loops, "PATIENCE", 100.0)
    loop = Watched(0.001)
    with threads(4):
        in_shares(loop)(LARGE)
    assert loop.shares == [(i, 16) for i in range(16)]
    assert loop.runners == {threading.get_ident()}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_long_loops_get_as_many_threads_as_allowed(number):
    loop = Watched(0.02)
    with threads(number):
        in_shares(loop)(LARGE)
    assert loop.most_running == len(loop.runners) == number
    k = 1 if number == 1 else 16
    assert sorted(loop.shares) == [(i, k) for i in range(k)]


def test_callers_beside_each_other_get_no_help():
    loop = Watched(0.005)
    barrier = threading.Barrier(4)

    def call(_):
        barrier.wait()
        with threads(2):
            in_shares(loop)(LARGE)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, range(4)))
    assert len(loop.shares) == 4 * 16
    assert loop.most_running == 4  # the callers


def test_a_helper_comes_when_others_have_finished():
    long, short = Watched(0.02), Watched(0.02)
    with threads(2), ThreadPoolExecutor(1) as pool:
        beside = pool.submit(in_shares(short), np.empty(10))
        in_shares(long)(LARGE)
        beside.result()
    assert len(long.runners) == 2


def test_an_error_in_a_share_ends_the_loop():
    def fails(part, _):
        time.sleep(0.002)
        if part[0] == 5:
            raise ZeroDivisionError

    with threads(3):
        with pytest.raises(ZeroDivisionError):
            in_shares(fails)(LARGE)
        loop = Watched(0.01)
        in_shares(loop)(LARGE)
    assert len(loop.runners) == 3  # nobody is still counted as working


@pytest.mark.parametrize("number", [1, 2])
def test_items_are_done_by_as_many_threads_as_allowed(number):
    done, here, lock = [], set(), threading.Lock()

    def do(item):
        assert allowed_threads() == number
        with lock:
            here.add(threading.get_ident())
            done.append(item)
        time.sleep(0.02)

    with threads(number):
        in_threads(do, range(12))
    assert sorted(done) == list(range(12))
    assert len(here) == number
    assert loops._team.n_working == 0


@pytest.mark.parametrize(("n_bytes", "n_counted"), [(10, 0), (4 * loops.SHARE_BYTES, 1)])
def test_a_large_loop_is_counted_also_where_one_thread_is_allowed(n_bytes, n_counted):
    seen = []
    loop = loops.in_shares(lambda part, _: seen.append((part, loops._team.n_working)))
    with threads(1):
        loop(np.zeros(n_bytes, np.uint8))
    assert seen == [((0, 1), n_counted)]


def test_items_are_done_in_the_context_of_the_caller():
    token = in_context.set("the caller's")
    seen = []
    with threads(2):
        in_threads(lambda _: (time.sleep(0.02), seen.append(in_context.get())), range(6))
    in_context.reset(token)
    assert seen == ["the caller's"] * 6


def test_an_error_in_an_item_ends_the_others():
    done = []

    def do(item):
        time.sleep(0.01)
        if item == 2:
            raise ValueError("the third")
        done.append(item)

    with threads(2), pytest.raises(ValueError, match="the third"):
        in_threads(do, range(100))
    assert len(done) < 50
    assert loops._team.n_working == 0


def test_a_limit_is_that_of_its_thread():
    with threads(7), ThreadPoolExecutor(1) as pool:
        assert pool.submit(allowed_threads).result() != 7
        assert allowed_threads() == 7


def test_threadpoolctl_is_respected():
    with threadpool_limits(1):
        assert allowed_threads() == 1


def test_workers_of_joblib_do_not_oversubscribe():
    with parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        assert Parallel()(delayed(allowed_threads)() for _ in range(2)) == [1, 1]


def openmp_threads():
    (controller,) = {
        c.num_threads for c in ThreadpoolController().select(user_api="openmp").lib_controllers
    }
    return controller


def test_small_searches_keep_openmp_to_one_thread():
    with threadpool_limits(3):
        with openmp_for(1e6):
            assert openmp_threads() == 1
        with openmp_for(1e9):
            assert openmp_threads() == 3
        assert openmp_threads() == 3


def test_exact_search_says_how_much_there_is_to_do(monkeypatch, rng):
    search = ExactSearch(5)
    X = rng.normal(size=(700, 30)).astype(np.float32)
    asked = []
    monkeypatch.setattr(loops, "openmp_for", lambda n: asked.append(n) or openmp_for(n))
    search.fit_transform(X)
    assert 0 < min(asked) <= max(asked) <= X.size * len(X)


@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "NUMBA_NUM_THREADS"])
def test_the_environment_is_respected(variable):
    """Workers of dask have the first one set to 1."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", variable: "1"}
    code = "from diffclass._compiled.loops import allowed_threads; print(allowed_threads())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.stdout.strip() == b"1"


def test_a_thread_may_outlive_the_main_one():
    code = """
import threading, time
from test_threads import LARGE, Watched, in_shares, threads

def work():
    time.sleep(0.5)
    with threads(2):
        in_shares(loop := Watched(0.002))(LARGE)
    print(len(loop.shares))

threading.Thread(target=work).start()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=os.path.dirname(__file__), capture_output=True
    )
    assert (done.stdout.strip(), done.stderr) == (b"16", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_has_helpers_of_its_own():
    code = """
import os
from test_threads import LARGE, Watched, in_shares, threads
with threads(2):
    in_shares(Watched(0.01))(LARGE)
    child = os.fork()
    in_shares(loop := Watched(0.01))(LARGE)
if not child:
    os._exit(len(loop.runners))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(loop.runners))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=os.path.dirname(__file__),
        capture_output=True,
    )
    assert done.stdout.split() == [b"2", b"2"], done.stderr


FORKING = """
import os, signal
import numpy as np
from types import SimpleNamespace
from diffclass import DiffusionClassifier
from diffclass._compiled import loops
from diffclass.blocks import cell_bins
from diffclass.neighbors import ExactSearch, NNDescentSearch
from sklearn.cluster import KMeans

random = np.random.default_rng(0)
many, wide = (random.normal(size=size).astype("f4") for size in [(9000, 5), (3000, 40)])
y = np.where(np.arange(9000) < 20, many[:, 0] > 0, -1)
WORK = {
    "trees": lambda: ExactSearch().fit_transform(many).data,
    "brute force": lambda: ExactSearch().fit_transform(wide).data,
    "NN-descent": lambda: NNDescentSearch(random_state=0).fit_transform(many).data,
    "classifier": lambda: DiffusionClassifier(random_state=0).fit(many, y).transduction_,
    "cells of blocks": lambda: cell_bins._cells(many, 40, np.random.RandomState(0))[0],
    "clustering": lambda: KMeans(8, random_state=0).fit(many).labels_,
}

def try_all():
    for name, work in WORK.items():
        expected = work()
        child = os.fork()
        if not child:
            signal.alarm(60)  # ends what hangs
            os._exit(not np.array_equal(work(), expected))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(name, code, np.array_equal(work(), expected))

def hidden(library):
    return SimpleNamespace(dynlib=None, set_num_threads=library.set_num_threads)

try_all()
found = loops._gnu_openmp  # from here on as before GCC 9, which cannot let its threads go
loops._gnu_openmp = lambda: [hidden(library) for library in found()]
try_all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_process_that_is_forked_after_a_fit_fits_too():
    threads = {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", "DIFFCLASS_NUMBA_CACHE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", FORKING]
    done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 12, done.stderr
    assert {line.rpartition(" 0 ")[2] for line in lines} == {"True"}, lines
