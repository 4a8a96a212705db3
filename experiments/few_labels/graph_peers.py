"""Graph methods of GraphLearning and scikit-network on many draws, run in their own environment.

    python graph_peers.py

Standard input names one folder per line. FOLDER/task.npz holds ``points`` (n, p) where there are
any; ``data``, ``indices`` and ``indptr`` of our affinity; ``y`` (n_draws, n), -1 unlabelled;
``classes`` and their true ``shares``; and the names of the ``methods``. FOLDER/<number of the
draw>.npy gets the classes (n_methods, n) of each draw at once. Imports nothing of diffclass.

GraphLearning's own graph is ``weightmatrix.knn(X, 10)``, as in every example of the package
(ssl_twomoons.py and ssl_mnist.py in its examples). scikit-network has no graph of its own for
points; its centred diffusion runs on that one too. Everything else is left at its defaults. Methods
that know the true class sizes get the shares of the known points. A method that has not ended after
a minute of computing (Poisson learning, where its graph has several components) has no answer: -1
everywhere. VolumeMBO draws random numbers that cannot be seeded from Python: a few of its answers
differ from run to run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

N_NEIGHBORS = 10
LIMIT = 60  # seconds of computing, whatever else the machine does


@dataclass(frozen=True)
class PeerMethod:
    """A model of graphlearning.ssl with its parameters, or scikit-network's diffusion.

    Attributes
    ----------
    model : str
    parameters : mapping
    on_ours : bool
        Whether the graph is ours.
    sized : bool
        Whether it is given the true shares of the classes.
    at_points : bool
        Whether it weighs the graph by the points' distances from the labels.
    """

    model: str
    parameters: Mapping[str, object]
    on_ours: bool
    sized: bool
    at_points: bool

    @property
    def needs_points(self) -> bool:
        return self.at_points or not self.on_ours


def _on_both_graphs(
    name: str, model: str, *, sized: bool = False, **parameters: object
) -> dict[str, PeerMethod]:
    at_points = parameters.get("reweighting") == "properly"
    return {
        f"{name}, {graph} graph": PeerMethod(model, parameters, graph == "our", sized, at_points)
        for graph in ("own", "our")
    }


METHODS: dict[str, PeerMethod] = {
    **_on_both_graphs("GL Laplace", "laplace"),
    **_on_both_graphs("GL Poisson", "poisson"),
    **_on_both_graphs("GL shifted Laplace", "laplace", mean_shift=True),
    **_on_both_graphs("GL properly weighted Laplace", "laplace", reweighting="properly"),
    **_on_both_graphs("GL Poisson-weighted Laplace", "laplace", reweighting="poisson"),
    **_on_both_graphs("GL WNLL", "laplace", reweighting="wnll"),
    **_on_both_graphs("sknetwork diffusion", "diffusion"),
    **_on_both_graphs("GL Poisson with sizes", "poisson", sized=True),
    **_on_both_graphs("GL PoissonMBO", "poisson_mbo", sized=True),
    **_on_both_graphs("GL VolumeMBO", "volume_mbo", sized=True),
}


class Task:
    """The graphs of one problem, its draws, and the true shares of its classes."""

    def __init__(self, folder: Path):
        task = np.load(folder / "task.npz")
        self.draws = task["y"]
        self.methods = [METHODS[str(name)] for name in task["methods"]]
        self.points = task.get("points")
        self.shares = dict(zip(task["classes"], task["shares"], strict=True))
        n = self.draws.shape[1]
        self.ours = sp.csr_matrix((task["data"], task["indices"], task["indptr"]), shape=(n, n))
        if not all(method.on_ours for method in self.methods):
            import graphlearning as gl

            self.own = gl.weightmatrix.knn(self.points, N_NEIGHBORS)

    def found(self, method: PeerMethod, y: np.ndarray) -> np.ndarray:
        """Return the class of each point, -1 where there is no answer."""
        graph = self.ours if method.on_ours else self.own
        if method.model == "diffusion":
            from sknetwork.classification import DiffusionClassifier

            return DiffusionClassifier(centering=True).fit_predict(graph, y).astype(np.int16)
        labelled = np.flatnonzero(y >= 0)
        classes, codes = np.unique(y[labelled], return_inverse=True)
        model = self._graphlearning(method, graph, classes)
        return classes[model.fit_predict(labelled, codes)].astype(np.int16)

    def _graphlearning(self, method: PeerMethod, graph: sp.csr_matrix, classes: np.ndarray) -> Any:
        import graphlearning as gl

        parameters = dict(method.parameters)
        if method.at_points:
            parameters["X"] = self.points
        if method.sized:
            shares = np.array([self.shares[value] for value in classes])
            parameters["class_priors"] = shares / shares.sum()
        return getattr(gl.ssl, method.model)(graph, **parameters)


def _out_of_time(*_: object) -> None:
    raise TimeoutError


def found_in_time(task: Task, method: PeerMethod, y: np.ndarray) -> np.ndarray:
    """Return the class of each point, -1 everywhere if it takes too long."""
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        return task.found(method, y)
    except TimeoutError:
        return np.full(len(y), -1, dtype=np.int16)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    parent = os.getppid()
    for line in sys.stdin:
        folder = Path(line.rstrip("\n"))
        task = Task(folder)
        for number, y in enumerate(task.draws):
            if os.getppid() != parent:  # the benchmark was killed
                return
            classes = [found_in_time(task, method, y) for method in task.methods]
            part = folder / f"{number}.part"
            with part.open("wb") as file:
                np.save(file, np.array(classes))
            part.rename(folder / f"{number}.npy")  # whole, when it is seen


if __name__ == "__main__":
    main()
