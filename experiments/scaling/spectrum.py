"""20 eigenpairs of a 111,104-pixel scene's graph, beside scikit-learn's solvers; and a bandwidth.

    python3 -m venv .peers && .peers/bin/pip install scikit-learn pyamg
    python -m experiments.scaling.spectrum --peer .peers/bin/python -o spectrum.json

The graph is that of the scene of `whole_scene` (15 neighbours, self-tuned, double precision for
both). Ours: `leading_eigenpairs`, 21 pairs including the trivial one. Theirs, each in its own
process that is given the affinity: SpectralEmbedding(20, affinity="precomputed") with the solvers
arpack, lobpcg and amg, stopped after --limit seconds or at 12 GiB. All have one thread and are
timed by its processor seconds, which other work on the machine changes little. Runs alternate; the
figures are medians of --repeats runs. The residual is the largest |S v - lambda v| of unit vectors
v, lambda Rayleigh's quotient; "eigenvalues off" the largest distance from eigenvalues whose
residuals are below 1e-12.

The semigroup error is then timed over 20 scales, which span a factor of 1000, of the same pixels in
their first three components: 30 million edges just carry the widest. With --peer the seconds also
go to spectrum.csv.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from diffclass import (
    Eigenpairs,
    MarkovOperator,
    leading_eigenpairs,
    markov_operator,
    semigroup_bandwidth,
)
from diffclass.system.memory import peak_memory_bytes
from diffclass_hyperspectral import SceneFeatures
from experiments.datasets import make_hyperspectral_scene
from experiments.markdown import write_rows
from experiments.scaling.whole_scene import fields

N_PAIRS = 21
WIDEST = 0.12
OUTPUT = Path(__file__).with_name("spectrum.csv")
_PEER = """
import resource, sys, time, warnings
limit = int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
resource.setrlimit(resource.RLIMIT_AS, (12 * 2**30, 12 * 2**30))  # a factorisation fills memory
import numpy as np, scipy.sparse as sp
from sklearn.manifold import SpectralEmbedding
warnings.simplefilter("ignore")
K = sp.load_npz(sys.argv[1]).tocsr()
start = time.process_time()
embedding = SpectralEmbedding(
    20, affinity="precomputed", eigen_solver=sys.argv[2], random_state=0
).fit_transform(K)
print(time.process_time() - start)
np.save(sys.argv[3], embedding)
"""


def ours(operator: MarkovOperator, **options: float) -> tuple[float, Eigenpairs]:
    with threadpool_limits(1):
        start = time.process_time()
        eigenpairs = leading_eigenpairs(operator, N_PAIRS, which="algebraic", **options)
        spent = time.process_time() - start
    return spent, eigenpairs


def theirs(python: str, solver: str, folder: Path, limit: float) -> tuple[float, np.ndarray | None]:
    """Return the seconds and the embedding, or infinity and None where it was stopped."""
    files = [str(folder / "affinity.npz"), solver, str(folder / "embedding.npy"), f"{limit:.0f}"]
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [python, "-c", _PEER, *files], capture_output=True, text=True, env=os.environ | one_thread
    )
    if done.returncode:
        print(done.stderr)
        return np.inf, None
    return float(done.stdout), np.load(files[2])


def accuracy(
    operator: MarkovOperator, vectors: np.ndarray, exact: np.ndarray
) -> tuple[float, float]:
    """Return the largest residual of right eigenvectors, and by how much eigenvalues are off."""
    pi = operator.stationary_distribution[:, None]
    psi = vectors - (pi * vectors).sum(axis=0)
    psi /= np.sqrt((pi * psi**2).sum(axis=0))
    product = operator @ psi
    values = (pi * psi * product).sum(axis=0)
    residuals = np.sqrt((pi * (product - psi * values) ** 2).sum(axis=0))
    return float(residuals.max()), float(np.abs(np.sort(values)[::-1] - exact).max())


def scene_points() -> np.ndarray:
    return SceneFeatures().fit_transform(make_hyperspectral_scene(fields()))


def compute(python: str | None, repeats: int, limit: float) -> dict[str, Any]:
    points = scene_points()
    single = markov_operator(points, n_neighbors=15, random_state=0)
    operator = MarkovOperator.from_affinity(single.affinity.astype(np.float64))
    exact = ours(operator, tolerance=1e-12)[1].eigenvalues[1:]
    seconds: dict[str, list[float]] = {"diffclass": []}
    reached: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sp.save_npz(folder / "affinity.npz", sp.csr_matrix(operator.affinity))
        for _ in range(repeats):
            spent, eigenpairs = ours(operator)
            seconds["diffclass"].append(spent)
            reached["diffclass"] = accuracy(operator, eigenpairs.right[:, 1:], exact)
            for solver in ("arpack", "lobpcg", "amg") if python else ():
                if np.inf in seconds.setdefault(solver, []):
                    continue
                spent, found = theirs(str(python), solver, folder, limit)
                seconds[solver].append(spent)
                if found is not None:
                    reached[solver] = accuracy(operator, found, exact)
    pixels = np.ascontiguousarray(points[:, :3])
    epsilons = np.geomspace(WIDEST / 1000, WIDEST, 20)
    semigroup_bandwidth(pixels[::100])  # loads compiled code
    start = time.perf_counter()
    curve = semigroup_bandwidth(pixels, epsilons)
    return {
        "n_points": len(operator),
        "edges_per_point": operator.affinity.nnz / len(operator),
        "graph_components": operator.n_connected_components,
        "seconds": {name: _median(spent, limit) for name, spent in seconds.items()},
        "residuals": {name: residual for name, (residual, _) in reached.items()},
        "eigenvalues_off": {name: off for name, (_, off) in reached.items()},
        "eigenvalues": exact.tolist(),
        "semigroup_seconds": time.perf_counter() - start,
        "semigroup_scales": int(np.count_nonzero(np.isfinite(curve.values))),
        "semigroup_is_found": curve.is_found,
        "peak_memory_bytes": peak_memory_bytes(),
    }


def _median(spent: list[float], limit: float) -> str:
    return f"{np.median(spent):.1f}" if np.isfinite(spent).all() else f"over {limit:g} s or 12 GiB"


def csv_rows(report: dict[str, Any]) -> list[dict[str, object]]:
    """Return the seconds of each solver, and of the semigroup errors."""
    rows = []
    for name, seconds in report["seconds"].items():
        reached = (_power_of_ten(report[key].get(name)) for key in ("residuals", "eigenvalues_off"))
        rows.append(("eigenpairs", _solver(name), seconds, *reached))
    scales = f"semigroup errors at {report['semigroup_scales']} scales"
    rows.append((scales, "diffclass", f"{report['semigroup_seconds']:.0f}", "", ""))
    names = ("task", "solver", "seconds", "residual", "eigenvalues_off")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _power_of_ten(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"


def _solver(name: str) -> str:
    return name if name == "diffclass" else f"scikit-learn, {name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="python of an environment with scikit-learn and pyamg")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds for a solver")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    report = compute(options.peer, options.repeats, options.limit)
    text = json.dumps(report, indent=1)
    print(text)
    if options.peer is not None:
        write_rows(OUTPUT, csv_rows(report))
    if options.output is not None:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
