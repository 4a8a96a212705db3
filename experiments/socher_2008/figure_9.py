"""Socher 2008, figure 9: second eigenvectors of L_sym and L_rw of two Gaussians on the line.

Appendix E: 400 numbers about -3 and 3 each, weights exp(-d^2 / 8) below d = 1.5 and 0 at d = 0.
The claim: that of L_rw is flat where points are dense, that of L_sym, which is it times
sqrt(degree), is not. Flatness: spread within one standard deviation of a Gaussian's centre, over
half the difference between the two centres (0 = flat). In draws with a disconnected graph the
eigenvector only separates components; they are left out and counted.

    python -m experiments.socher_2008.figure_9
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from diffclass import MarkovOperator, leading_eigenpairs
from diffclass.plots import BLUE
from experiments.datasets import make_two_gaussians
from experiments.figure import main
from experiments.socher_2008.panels import over_draws, panels

CUT = 1.5


def compute(quick: bool) -> dict[str, Any]:
    draws, first, n_draws = [], None, 3 if quick else 10
    for seed in range(n_draws):
        X, _ = make_two_gaussians(random_state=seed)
        d = cdist(X, X)
        operator = MarkovOperator.from_affinity(np.exp(-(d**2) / 8) * ((d < CUT) & (d > 0)))
        if operator.n_connected_components > 1:
            continue
        eigenpairs = leading_eigenpairs(operator, 2, which="algebraic")
        vectors = {"L_sym": eigenpairs.symmetric[:, 1], "L_rw": eigenpairs.right[:, 1]}
        draws.append({f"spread, {k}": _spread(v, X[:, 0]) for k, v in vectors.items()})
        first = first or {"x": X[:, 0], "vectors": vectors}
    return {"draws": draws, "first": first, "n_draws": n_draws}


def numbers(results: dict[str, Any]) -> dict[str, float]:
    connected = {"share of draws with a connected graph": len(results["draws"])}
    connected = {name: value / results["n_draws"] for name, value in connected.items()}
    return connected | over_draws(results["draws"])


def plot(results: dict[str, Any]) -> Any:
    x, vectors = results["first"]["x"], results["first"]["vectors"]
    figure, axes = panels(1, 2, height=1.9)
    for ax, (name, v) in zip(axes[0], vectors.items(), strict=True):
        unit = v / np.linalg.norm(v)
        ax.plot(x, unit * np.sign(unit[-200:].sum()), color=BLUE, label="second eigenvector")
        ax.plot(x, np.zeros_like(x), "|", color="0.4", markeredgewidth=0.15, label="points")
        ax.set(title=f"$L_{{{name[2:]}}}$", xlabel="x", ylabel="eigenvector of length 1")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _spread(v: np.ndarray, x: np.ndarray) -> float:
    left, right = v[abs(x + 3) < 1], v[abs(x - 3) < 1]
    return float((left.std() + right.std()) / 2 / (abs(left.mean() - right.mean()) / 2))


if __name__ == "__main__":
    main(compute, numbers, plot)
