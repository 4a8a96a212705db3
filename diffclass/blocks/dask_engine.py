"""Work on blocks by the workers of a dask cluster: unmodified dask.distributed, few fat tasks.

Blocks and columns stay on the workers; borders travel between them, sums to this process. Dask
itself runs tasks anew whose results a lost worker held, back to the arrays that were kept in the
scratch folder. What it gives up, because the task met too many dying workers, is tried again here;
where it waits in vain, the work is lost and begins again from those arrays.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diffclass import _compiled
from diffclass._validation import check_positive
from diffclass.blocks.engine import WorkLost
from diffclass.exceptions import ClusterError, ParameterError
from diffclass.system.identity import sources

# Versions that have to be the same: results travel as pickled objects of these.
_SAME_ON_WORKERS = ("diffclass", "numpy", "scipy", "numba", "dask", "distributed")
_SAME_ON_SCHEDULER = ("dask", "distributed")
_POLL = 1.0  # seconds between two looks at the scheduler
_LATE = 0.05  # seconds in which a result is noticed
_ANSWER = 10.0  # seconds for an answer of the scheduler
_FETCHED = 20.0  # seconds for the way of results to this process
_BACK = 5.0  # seconds in which a lost scheduler may come back
_NO_WORKER = 60.0  # seconds without any worker
_IDLE = 3.0  # seconds in which workers have nothing to do although results are missing
_PAUSED = 30.0  # seconds in which work is left to workers that have paused: their memory is full
_RETRIES = 10  # of tasks whose workers died
_SENT_AT_ONCE = 1024  # tasks: in one message each costs the scheduler half of what it costs alone
_THREADS = "diffclass.threads"  # of a task, in dask's configuration; else as many as tasks


class _Handle:
    """A task that waits to be sent, or has been: then it has a future."""

    def __init__(self, key: str, future: Any = None):
        self.key, self.future = key, future


class DaskEngine:
    """Runs tasks on the workers of a dask cluster, those of a ``distributed.Client``.

    ``n_workers`` is their number at the start; others may come and go. `ParameterError`: workers
    have other versions of a library, or other sources of diffclass. `ClusterError`: the scheduler
    does not answer, or has no worker.
    """

    is_immediate = False

    def __init__(self, client: Any):
        self._dask, self.client = require_distributed(), client
        self._waiting: dict[str, tuple[_Handle, tuple[Any, ...]]] = {}
        self._address = str(getattr(client.scheduler, "address", "an unknown address"))
        with self._calling():
            try:
                client.wait_for_workers(1, timeout=_NO_WORKER)
            except self._dask.TimeoutError:
                raise ClusterError(f"{self._address} has no worker; start some") from None
            versions = client.get_versions(packages=list(_SAME_ON_WORKERS))
        _require_same(versions)
        self._require_same_sources()
        self.n_workers = len(self._workers())

    def _workers(self) -> list[str]:
        """Return the addresses of the workers that are there, in order."""
        return sorted(self._ask(self.client.scheduler.ncores))

    def _ask(self, question: Callable[..., Any]) -> Any:
        """Return what the scheduler answers; dask itself waits half a minute for one that died."""
        with self._calling():
            return self.client.sync(question, callback_timeout=_ANSWER)

    def _require_same_sources(self) -> None:
        """Check the workers that are there; those that come later find out by their first task."""
        with self._calling():
            # it reads the tasks: what it has to load for that is loaded before workers look idle
            self.client.run_on_scheduler(_own_sources)
            found = self.client.run(_own_sources, on_error="return")
        others = [
            worker
            for worker, content in found.items()
            if content != sources() and not isinstance(content, OSError)  # which has just died
        ]
        if others:
            raise _other_sources(f"{len(others)} of {len(found)} workers (such as {others[0]})")

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Return a handle of a task, which is sent with others, at the latest by `gather`."""
        handle = _Handle(_key_of(task))
        self._waiting[handle.key] = handle, (run_task, sources(), task, *map(_as_sent, arguments))
        # Tasks are collected: sent in one message, each costs the scheduler half of what it costs
        # alone.
        if len(self._waiting) >= _SENT_AT_ONCE:
            self._send()
        return handle

    def _send(self) -> None:
        """Send the tasks that wait."""
        waiting, self._waiting = self._waiting, {}
        graph = {key: call for key, (_, call) in waiting.items()}
        with self._calling():
            futures = self.client.get(graph, list(graph), sync=False) if graph else []
        for (handle, _), future in zip(waiting.values(), futures, strict=True):
            handle.future = future

    def hold(self, task: Callable[..., Any], *arguments: Any, share: float) -> Any:
        """Load something large on the worker at a place among all, and return its handle."""
        workers, where = self._workers(), {}
        if workers:
            near = workers[min(int(share * len(workers)), len(workers) - 1)]
            where = {"workers": [near], "allow_other_workers": True}
        # `pure=False`: a block that was lost is loaded anew and not taken for the one before. Large
        # things are spread over the workers in the order of the blocks, as near blocks exchange
        # borders.
        key = _key_of(task)
        with self._calling():
            future = self.client.submit(
                run_task, sources(), task, *arguments, key=key, pure=False, **where
            )
        return _Handle(key, future)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for some results, and run tasks again where workers died."""
        self._send()
        futures = [handle.future for handle in handles]
        if None in futures:  # their message met a scheduler that was gone
            raise self._lost()
        # Dask runs tasks of a dead worker anew, but blames the task after some deaths
        # (KilledWorker): these are tried again here. A result may also vanish between `_wait` and
        # its fetching.
        for _ in range(_RETRIES):
            self._wait(futures)
            if any(future.cancelled() for future in futures):
                raise self._lost()
            failed = [future for future in futures if future.status == "error"]
            if not failed:
                results = self._results(futures)
                if len(results) == len(futures):
                    return results
                continue
            error = failed[0].exception()
            if not isinstance(error, self._dask.KilledWorker):
                raise error
            with self._calling():
                self.client.retry(failed)
        raise ClusterError(
            f"workers of {self._address} died again and again at {(failed or futures)[0].key}; if "
            "their memory is too small, take more or smaller blocks; then go on with --resume"
        )

    def require_visible(self, *paths: Path) -> None:
        """Check that every worker sees some files or folders, under the same names."""
        for path in paths:
            with _probe(path) as (probe, size):
                with self._calling():
                    seen = self.client.run(_sees, str(probe), size, on_error="return")
                blind = [worker for worker, sees in seen.items() if sees is False]
                if blind:
                    raise ParameterError(
                        f"{path}: not seen by {len(blind)} of {len(seen)} workers (such as "
                        f"{blind[0]}); put it on a file system that all of them mount under this "
                        "name"
                    )

    def _wait(self, futures: list[Any]) -> None:
        """Wait, and look from time to time whether scheduler and workers are there, and busy.

        Dask leaves tasks waiting in two cases. Where a task becomes ready while no worker runs, it
        forgets that others than the named one are allowed, and that one's successor has another
        address (`bulk_schedule_unrunnable_after_adding_worker`, dask's issue 8600). And what waits
        on a worker that pauses because its memory is full stays there.

        Not by `distributed.wait`: its error at each look keeps futures, and so results on workers.
        """
        start = looked = with_worker = with_work = with_progress = time.monotonic()
        while not all(future.done() for future in futures):
            now = time.monotonic()
            if now - looked < _POLL:
                time.sleep(min(1e-3 + 0.1 * (now - start), _LATE))
                continue
            looked = now
            running = self._ask(self.client.scheduler.processing)
            loaded = {worker for worker, tasks in running.items() if tasks}
            # when there was last a worker; one with work, unless there was none; and one with work
            # that was not paused
            if running:
                with_worker = now
            if loaded or not running:
                with_work = now
            if not loaded or not loaded <= self._paused():
                with_progress = now
            if now - with_worker > _NO_WORKER:
                raise ClusterError(
                    f"{self._address} has had no worker for {_NO_WORKER:.0f} s; start some, then "
                    "go on with --resume"
                )
            if now - with_work > _IDLE:
                raise WorkLost(f"workers of {self._address} are idle, and work is left")
            if now - with_progress > _PAUSED:
                raise WorkLost(
                    f"workers of {self._address} have paused, for their memory is full, and work "
                    "is left; give them more memory, then go on with --resume"
                )

    def _paused(self) -> set[str]:
        """Return the addresses of workers that do nothing until some of their memory is free."""
        workers = self._ask(self.client.scheduler.identity)["workers"]
        return {
            worker
            # a paused worker still ends what it executes
            for worker, known in workers.items()
            if known["status"] == "paused" and not _executes(known["metrics"])
        }

    def _results(self, futures: list[Any]) -> list[Any]:
        """Fetch results; fewer if workers died meanwhile, and they have to be waited for again."""
        with self._calling():
            try:
                return self.client.sync(
                    lambda: self.client.gather(futures, errors="skip", asynchronous=True),
                    callback_timeout=_FETCHED,
                )
            except self._dask.TimeoutError:
                # the scheduler is there, so that a worker died on the way: wait for its results
                # again
                if self.client.status == "running":
                    return []
                raise

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """Turn what is raised when the scheduler or results are gone into our own errors.

        A client that has lost its scheduler may raise anything: it has closed what it calls by.
        """
        # errors of ours pass; errors of a task pass while the client runs; all else means a loss
        gone = (self._dask.CancelledError, self._dask.client.ClosedClientError, OSError)
        try:
            yield
        except ClusterError:
            raise
        except Exception as error:
            if self.client.status == "running" and not isinstance(error, gone):
                raise
            raise self._lost() from None

    def _scheduler_answers(self) -> bool:
        """Ask: a client learns a while later than its calls fail that the scheduler is gone."""
        try:
            self.client.sync(self.client.scheduler.identity, callback_timeout=_FETCHED)
        except (self._dask.TimeoutError, OSError):
            return False
        return True

    def _lost(self) -> ClusterError:
        """Return what to raise: work is lost if the scheduler answers, else everything is."""
        deadline = time.monotonic() + _BACK
        while time.monotonic() < deadline:
            # a client notices late that its scheduler is gone, and may be reconnecting
            if self.client.status == "running" and self._scheduler_answers():
                return WorkLost(f"results on workers of {self._address} were lost too often")
            if self.client.status not in ("running", "connecting", "newly-created"):
                break
            time.sleep(0.1)
        return ClusterError(
            f"the scheduler at {self._address} is gone; start it and its workers, then go on with "
            "--resume"
        )


def _own_sources() -> str:
    """Return the digest of where it runs; being of this module, it loads what tasks are read by."""
    return sources()


def _key_of(task: Callable[..., Any]) -> str:
    return f"{task.__name__}-{uuid.uuid4().hex}"


def _as_sent(argument: Any) -> Any:
    """Return an argument with keys or futures in the place of handles, also within lists."""
    if isinstance(argument, list):
        return [_as_sent(part) for part in argument]
    if isinstance(argument, _Handle):
        return argument.key if argument.future is None else argument.future
    return argument


@contextmanager
def local_cluster(
    n_workers: int, *, memory: float, folder: Path | None = None
) -> Iterator[DaskEngine]:
    """Start workers on this machine, with so many bytes together, and end them with the block.

    They share the cores, have one task at a time each, and write to the folder what they cannot
    hold.
    """
    check_positive(n_workers, "n_workers", integer=True)
    distributed = require_distributed()
    import dask.config
    import dask.system

    n_threads = max(1, dask.system.CPU_COUNT // n_workers)
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    with (
        dask.config.set(
            {
                # a worker that dies twice within this time would not be started again
                "distributed.deploy.lost-worker-timeout": "1 day",
                # plans fill the memory with one task, which no other should wait or die for
                "distributed.worker.memory.pause": False,
                "distributed.worker.memory.terminate": False,
                _THREADS: n_threads,
            }
        ),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,  # which are tasks at a time
            processes=True,
            memory_limit=int(memory / n_workers),
            local_directory=None if folder is None else str(folder),
            dashboard_address=":0",  # any free port
            silence_logs=_SILENT,
            env=dict.fromkeys(names, str(n_threads)),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield DaskEngine(client)


@contextmanager
def cluster_at(address: str) -> Iterator[DaskEngine]:
    """Join the workers of a scheduler, and leave them with the block.

    Parameters
    ----------
    address : str
        Such as "tcp://host:8786".

    Yields
    ------
    DaskEngine

    Raises
    ------
    ClusterError
        If no scheduler answers there.

    See Also
    --------
    SerialEngine : Works without a cluster.
    BlockClassifier : Starts workers of this machine by itself, as ``n_workers``.

    Examples
    --------
    A cluster within this process; `dask scheduler` prints the address of a real one:

    >>> from diffclass.blocks import cluster_at, require_distributed
    >>> LocalCluster = require_distributed().LocalCluster
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
    ...     with cluster_at(cluster.scheduler_address) as engine:
    ...         engine.n_workers, engine.gather([engine.submit(sum, [1, 2])])
    (2, [3])
    """
    distributed = require_distributed()
    try:
        client = distributed.Client(address, timeout=_ANSWER)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no dask scheduler answers at {address} ({error}); start one with dask scheduler, or "
            "correct the address"
        ) from None
    with client:
        yield DaskEngine(client)


_SILENT = 60  # above logging.CRITICAL: whatever matters is raised


def require_distributed() -> Any:
    """Return dask.distributed.

    Raises
    ------
    ParameterError
        If it is not installed.

    Examples
    --------
    >>> from diffclass.blocks import require_distributed
    >>> require_distributed().__name__
    'distributed'
    """
    try:
        import distributed
    except ImportError:
        raise ParameterError(
            'several processes need dask.distributed: pip install "diffclass[distributed]"'
        ) from None
    return distributed


def _require_same(versions: dict[str, Any]) -> None:
    """Raise one error for all versions that differ; see `distributed.Client.get_versions`."""
    here = versions["client"]["packages"]
    python = here["python"]
    differing: dict[str, int] = {}

    def compare(where: str, there: dict[str, Any], names: Sequence[str]) -> None:
        for name in names:
            if there.get(name) != here.get(name):
                found = f"{name} {there.get(name) or 'missing'} on {where}, {here.get(name)} here"
                differing[found] = differing.get(found, 0) + 1

    compare("the scheduler", versions["scheduler"]["packages"], _SAME_ON_SCHEDULER)
    for worker in versions["workers"].values():
        compare("workers", worker["packages"], _SAME_ON_WORKERS)
        found = worker["packages"]["python"]
        if found.split(".")[:2] != python.split(".")[:2]:
            differing[f"python {found} on workers, {python} here"] = 1
    if differing:
        raise ParameterError(
            f"the cluster has other versions of libraries: {'; '.join(differing)}; install the "
            "same everywhere"
        )


@contextmanager
def _probe(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield a file that workers have to see, and its size; in a folder, a new one."""
    path = Path(path).absolute()
    if not path.is_dir():
        yield path, path.stat().st_size
        return
    probe = path / f".probe-{uuid.uuid4().hex}"
    probe.write_bytes(b"seen")
    try:
        yield probe, 4
    finally:
        probe.unlink(missing_ok=True)


def _sees(path: str, size: int) -> bool:
    for _ in range(20):  # network file systems need a moment
        if Path(path).is_file() and Path(path).stat().st_size == size:
            return True
        time.sleep(0.1)
    return False


def _executes(metrics: dict[str, Any]) -> bool:
    return metrics.get("task_counts", {}).get("executing", 0) > 0


def _other_sources(where: str) -> ParameterError:
    return ParameterError(
        f"{where} have other sources of the same version of diffclass, whose results may differ; "
        "install the same everywhere and start the workers again"
    )


def run_task(wanted: str, task: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task on a worker, whose compiled loops take as many threads as it has."""
    import dask.config
    import distributed

    worker = distributed.get_worker()
    if sources() != wanted:
        raise _other_sources(f"workers such as {worker.address}")
    with _compiled.loops.threads(dask.config.get(_THREADS, worker.state.nthreads)):
        return task(*arguments)
