"""20 eigenpairs of a 111,104-pixel scene's graph, beside scikit-learn's solvers; and a bandwidth.

    python3 -m venv .peers && .peers/bin/pip install scikit-learn pyamg
    python -m experiments.scaling.spectrum --peer .peers/bin/python -o spectrum.json

The graph is that of the scene of `whole_scene` (15 neighbours, self-tuned, double precision for
both). Ours: `leading_eigenpairs`, 21 pairs including the trivial one. Theirs, each in its own
process that is given the affinity: SpectralEmbedding(20, affinity="precomputed") with the solvers
arpack, lobpcg and amg, stopped after --limit seconds or at 12 GiB. Runs alternate; the figures are
medians of --repeats runs. "Eigenvalues off" is the largest distance of an eigenvalue, computed as
Rayleigh's quotient of the returned vector, from ours.

The semigroup error is then timed over 20 scales, which span a factor of 1000, of the same pixels in
their first three components: 30 million edges just carry the widest. With --peer the seconds also
go to spectrum.csv.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass import MarkovOperator, leading_eigenpairs, markov_operator, semigroup_bandwidth
from diffclass.command_line.console import peak_memory_bytes
from diffclass.datasets import make_hyperspectral_scene
from diffclass_hyperspectral import SceneFeatures
from experiments.markdown import write_rows
from experiments.scaling.whole_scene import fields

N_PAIRS = 21
WIDEST = 0.12
OUTPUT = Path(__file__).with_name("spectrum.csv")
_PEER = """
import resource, sys, time, warnings
resource.setrlimit(resource.RLIMIT_AS, (12 * 2**30, 12 * 2**30))  # a factorisation fills memory
import numpy as np, scipy.sparse as sp
from sklearn.manifold import SpectralEmbedding
warnings.simplefilter("ignore")
K = sp.load_npz(sys.argv[1]).tocsr()
start = time.perf_counter()
embedding = SpectralEmbedding(
    20, affinity="precomputed", eigen_solver=sys.argv[2], random_state=0
).fit_transform(K)
print(time.perf_counter() - start)
np.save(sys.argv[3], embedding)
"""


def ours(operator: MarkovOperator) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    eigenpairs = leading_eigenpairs(operator, N_PAIRS, which="algebraic")
    return time.perf_counter() - start, eigenpairs.eigenvalues


def theirs(
    python: str, solver: str, operator: MarkovOperator, folder: Path, limit: float
) -> tuple[float, np.ndarray | None]:
    files = [str(folder / "affinity.npz"), solver, str(folder / "embedding.npy")]
    try:
        done = subprocess.run(
            [python, "-c", _PEER, *files], capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return np.inf, None
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
        return np.inf, None
    return float(done.stdout), _rayleigh(operator, np.load(files[2]))


def _rayleigh(operator: MarkovOperator, embedding: np.ndarray) -> np.ndarray:
    weights = operator.stationary_distribution[:, None]
    centered = embedding - (weights * embedding).sum(axis=0)
    quotients = (weights * centered * (operator @ centered)).sum(axis=0)
    return np.sort(quotients / (weights * centered**2).sum(axis=0))[::-1]


def scene_points() -> np.ndarray:
    return SceneFeatures().fit_transform(make_hyperspectral_scene(fields()))


def compute(python: str | None, repeats: int, limit: float) -> dict[str, Any]:
    points = scene_points()
    single = markov_operator(points, n_neighbors=15, random_state=0)
    operator = MarkovOperator.from_affinity(single.affinity.astype(np.float64))
    ours(markov_operator(points[::50]))  # loads compiled code
    seconds: dict[str, list[float]] = {"diffclass": []}
    off: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sp.save_npz(folder / "affinity.npz", sp.csr_matrix(operator.affinity))
        for _ in range(repeats):
            spent, values = ours(operator)
            seconds["diffclass"].append(spent)
            for solver in ("arpack", "lobpcg", "amg") if python else ():
                if np.inf in seconds.setdefault(solver, []):
                    continue
                spent, found = theirs(str(python), solver, operator, folder, limit)
                seconds[solver].append(spent)
                if found is not None:
                    off[solver] = float(np.abs(found - values[1:]).max())
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
        "eigenvalues_off": off,
        "eigenvalues": values.tolist(),
        "semigroup_seconds": time.perf_counter() - start,
        "semigroup_scales": int(np.count_nonzero(np.isfinite(curve.values))),
        "semigroup_is_found": curve.is_found,
        "peak_memory_bytes": peak_memory_bytes(),
    }


def _median(spent: list[float], limit: float) -> float | str:
    return float(np.median(spent)) if np.isfinite(spent).all() else f"over {limit:g} s or 12 GiB"


def csv_rows(report: dict[str, Any]) -> list[dict[str, object]]:
    """Return the seconds of each solver, and of the semigroup errors."""
    off = {name: f"{value:.0e}" for name, value in report["eigenvalues_off"].items()}
    rows = [
        ("eigenpairs", _solver(name), seconds, off.get(name, ""))
        for name, seconds in report["seconds"].items()
    ]
    scales = f"semigroup errors at {report['semigroup_scales']} scales"
    rows.append((scales, "diffclass", report["semigroup_seconds"], ""))
    names = ("task", "solver", "seconds", "eigenvalues_off")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _solver(name: str) -> str:
    return name if name == "diffclass" else f"scikit-learn, {name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="python of an environment with scikit-learn and pyamg")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a solver")
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
