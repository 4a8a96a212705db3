"""Coifman et al. 2005, figure 1: spectra of powers of A, and two materials as a butterfly.

Left: A^t has the eigenvalues lambda_l^t, so its numerical rank, the number above delta, falls with
t, and as many columns ("bumps") span the others. The count by eigenvalues is compared with that of
the singular values of the dense S^t. Here A is the Gaussian walk on 500 points of the plate.

Right: heat in a plate of two materials, du/dt = div(c grad u), c = 10 in a disc and 1 about it:

    K(x, y) = exp(-|x - y|^2 / epsilon) 2 c(x) c(y) / (c(x) + c(y)),  A = I - (D - K) / max D,

on a grid of pixels, reflecting at the edges. Its chords D_t say how much heat goes from x to y,

    D_t^2(x, y) = n (a_2t(x, x) + a_2t(y, y) - 2 a_2t(x, y)),

and so order the heat relative to that which stays, a_2t(x, y) / sqrt(a_2t(x, x) a_2t(y, y)),
better than distances in the plane do. They order a_2t(x, y) itself worse, because of the terms of x
and of y.

The paper gives neither the plate nor the contrast. Ours is 2.4 by 2 with a disc of radius 0.6,
which gives a butterfly in the first and third coordinates, with the disc as its body. epsilon is
twice the squared pixel. The eigenvalues are compared with those of a finite volume grid four times
finer.

    python -m experiments.coifman_2005.figure_1
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib import cm
from matplotlib.figure import Figure
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from diffclass import MarkovOperator, leading_eigenpairs, markov_operator, neighbors_graph
from diffclass.kernels import Gaussian
from diffclass.neighbors import RadiusSearch
from diffclass.plots import BLUE, VERMILION
from diffclass.spectral import (
    bumps,
    diffusion_coordinates,
    numerical_rank,
    spanning_columns,
)
from experiments.figure import column_figure, main

HALF_SIDES = np.array([1.2, 1.0])
RADIUS = 0.6
CONTRAST = 10.0
POWERS = (1, 2, 4, 8, 16, 32, 64)
DELTA = 1e-3
HEAT_TIME = 0.1  # of the butterfly, in units of 1 / mu: the plate is 2 high, c = 1


def compute(quick: bool) -> dict[str, Any]:
    n_rows, n_points, n_draws = (20, 200, 2) if quick else (40, 500, 10)
    draws = [_powers(n_points, seed) for seed in range(n_draws)]
    return {
        "spectrum": draws[0][0],
        "ranks": np.array([ranks for _, ranks, _, _ in draws]),
        "dense ranks": np.array([ranks for _, _, ranks, _ in draws]),
        "column errors": np.array([errors for *_, errors in draws]),
    } | _plate(n_rows)


def _powers(n_points: int, seed: int) -> tuple[np.ndarray, list[int], list[int], list[float]]:
    """Return lambda_l; for each power its ranks by lambda and by SVD, and the columns' error."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_points, 2)) * HALF_SIDES
    operator = markov_operator(
        X, n_neighbors=n_points - 1, kernel=Gaussian(bandwidth=0.02), alpha=1.0
    )
    eigenpairs = leading_eigenpairs(operator)
    S = operator.symmetric_conjugate @ np.eye(n_points)
    ranks, dense_ranks, errors = [], [], []
    for t in POWERS:
        power = np.linalg.matrix_power(S, t)
        ranks.append(numerical_rank(eigenpairs, t, DELTA))
        dense_ranks.append(int((np.linalg.svd(power, compute_uv=False) > DELTA).sum()))
        errors.append(_unspanned(power, spanning_columns(eigenpairs, t, DELTA)))
    return np.abs(eigenpairs.eigenvalues), ranks, dense_ranks, errors


def _unspanned(power: np.ndarray, columns: np.ndarray) -> float:
    """Return the 2-norm of a matrix of norm 1 minus its projection on some of its columns."""
    basis = np.linalg.qr(power[:, columns])[0]
    return float(np.linalg.norm(power - basis @ (basis.T @ power), 2))


def _plate(n_rows: int) -> dict[str, Any]:
    X, h = _pixels(n_rows)
    operator, rate = _heat_walk(X, h)
    eigenpairs = leading_eigenpairs(operator, 40, which="algebraic")
    mu = (1 - eigenpairs.eigenvalues) / rate
    steps = max(round(HEAT_TIME / rate), 1)
    coordinates = diffusion_coordinates(eigenpairs, steps)
    picked = np.random.default_rng(0).choice(len(X), 200, replace=False)
    heat = bumps(operator, picked, time=2 * steps)[:, picked] * len(X)
    return {
        "X": X, "mu": mu[1:6], "known": _finite_volumes(4 * n_rows), "coordinates": coordinates,
        "heat": heat, "picked": picked, "steps": steps,
    }  # fmt: skip


def _pixels(n_rows: int) -> tuple[np.ndarray, float]:
    """Return the middles of square pixels, (n, 2), row by row, and their side."""
    h = 2 * HALF_SIDES[1] / n_rows
    sides = [np.arange(h / 2, 2 * half, h) - half for half in HALF_SIDES]
    return np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2), h


def _is_conducting(X: np.ndarray) -> np.ndarray:
    return (X**2).sum(axis=-1) < RADIUS**2


def _conductivity(X: np.ndarray) -> np.ndarray:
    return np.where(_is_conducting(X), CONTRAST, 1.0)


def _heat_walk(X: np.ndarray, h: float) -> tuple[MarkovOperator, float]:
    """Return A, and the number by which to divide 1 - lambda to get mu."""
    epsilon = 2 * h**2
    graph = neighbors_graph(X, search=RadiusSearch(3 * np.sqrt(epsilon)))
    K = Gaussian(bandwidth=epsilon).affinity(graph, X).tocoo()
    i, j = K.coords
    c = _conductivity(X)
    weights = np.where(i == j, 0, K.data * 2 * c[i] * c[j] / (c[i] + c[j]))
    K = sp.csr_array(sp.coo_array((weights, (i, j)), shape=K.shape))
    degrees = K.sum(axis=1)
    # Every pixel holds the same heat: a slow one keeps what it does not send on.
    walk = MarkovOperator.from_affinity(sp.csr_array(K + sp.diags_array(degrees.max() - degrees)))
    # sum_y exp(-d^2 / epsilon) d_1^2 / 2 over pixels of area h^2 is pi epsilon^2 / 4 h^2.
    return walk, np.pi * epsilon**2 / (4 * h**2 * degrees.max())


def _finite_volumes(n_rows: int) -> np.ndarray:
    """Return the five least eigenvalues above 0 of -div(c grad) with five-point differences."""
    X, h = _pixels(n_rows)
    c = _conductivity(X).reshape(n_rows, -1)
    place = np.arange(c.size).reshape(c.shape)
    ends = np.concatenate(
        [
            np.stack([place[1:].ravel(), place[:-1].ravel()]),
            np.stack([place[:, 1:].ravel(), place[:, :-1].ravel()]),
        ],
        axis=1,
    )
    c = c.ravel()[ends]
    W = sp.coo_array((2 * c[0] * c[1] / c.sum(axis=0), ends), shape=(place.size, place.size))
    W = sp.csr_array(W + W.T)
    L = sp.csc_array(sp.diags_array(W.sum(axis=1)) - W) / h**2
    found = eigsh(L, 6, sigma=-0.1, v0=np.ones(place.size) + 0.1 * X[:, 0] + 0.2 * X[:, 1] ** 3,
                  return_eigenvectors=False)  # fmt: skip
    return np.sort(found)[1:]


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for place, t in enumerate(POWERS):
        found[f"rank above {DELTA:g} at t = {t}, mean"] = results["ranks"][:, place].mean()
    found["rank by lambda less that by SVD, largest"] = np.abs(
        results["ranks"] - results["dense ranks"]
    ).max()
    found["unspanned by as many columns, largest norm"] = results["column errors"].max()
    for place in range(3):
        ratio = results["mu"][place] / results["known"][place]
        found[f"two materials: mu_{place + 1} / known"] = ratio
    return found | _chords(results)


def _chords(results: dict[str, Any]) -> dict[str, float]:
    """Compare chords with the heat that travels, and those within each material."""
    picked, heat = results["picked"], results["heat"]
    own = np.diag(heat)
    pair = np.triu_indices(len(picked), 1)
    exact = np.sqrt(np.maximum(own[:, None] + own - 2 * heat, 0))[pair]
    drawn = {n: _distances(results["coordinates"][picked, :n])[pair] for n in (3, 39)}
    X = results["X"]
    conducting = _is_conducting(X)
    parts = [_distances(results["coordinates"][conducting == kind]) for kind in (True, False)]
    plane = [_distances(X[conducting == kind]) for kind in (True, False)]
    near = [(d > 0.2) & (d < 0.4) for d in plane]
    medians = [np.median(D[mask]) for D, mask in zip(parts, near, strict=True)]
    plane_pairs = _distances(X[picked])[pair]
    share = (heat / np.sqrt(own[:, None] * own))[pair]
    return {
        "chord in 39 coordinates / exact, least": (drawn[39] / exact).min(),
        "rank r of heat and chord (3 coordinates)": -spearmanr(heat[pair], drawn[3])[0],
        "rank r of heat and distance in the plane": -spearmanr(heat[pair], plane_pairs)[0],
        "rank r of relative heat and chord (3 coordinates)": -spearmanr(share, drawn[3])[0],
        "rank r of relative heat and distance in the plane": -spearmanr(share, plane_pairs)[0],
        "chord over 0.2 to 0.4, poor / good conductor": medians[1] / medians[0],
    }


def _distances(places: np.ndarray) -> np.ndarray:
    return cdist(places, places)


def plot(results: dict[str, Any]) -> Figure:
    figure = column_figure(3.6)
    (spectra, ranks), (plate, butterfly) = figure.subplots(2, 2)
    for t, color in zip(POWERS[::2], cm.viridis(np.linspace(0.0, 0.85, 4)), strict=True):
        spectra.semilogy(results["spectrum"] ** t, color=color, label=f"t = {t}")
    spectra.axhline(
        DELTA, color="0.5", linewidth=0.8, linestyle=":", label=rf"$\delta$ = {DELTA:g}"
    )
    spectra.set(xlabel=r"$l$", ylabel=r"$\lambda_l^t$", ylim=(1e-8, 2), title="spectra of powers")
    spectra.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2)
    ranks.loglog(POWERS, results["ranks"].mean(axis=0), "o-", color=BLUE)
    ranks.set(xlabel="t (steps)", ylabel=rf"$\lambda_l^t$ above {DELTA:g}", title="numerical rank")
    ranks.set_xticks(POWERS, POWERS)
    ranks.set_yticks((10, 30, 100, 300), (10, 30, 100, 300))
    ranks.minorticks_off()
    _draw_materials(plate, results["X"], results["X"])
    plate.set(xlabel="x", ylabel="y", aspect="equal", title="two materials")
    _draw_materials(butterfly, results["coordinates"][:, [0, 2]], results["X"])
    butterfly.set(xlabel="diffusion coordinate 1", ylabel="diffusion coordinate 3")
    butterfly.set_title("butterfly")
    names = ("conductivity 1", "conductivity 10")
    figure.legend(plate.collections, names, loc="outside lower center", ncols=2, markerscale=4)
    return figure


def _draw_materials(axes: Any, places: np.ndarray, X: np.ndarray) -> None:
    conducting = _is_conducting(X)
    for kind, color in ((False, BLUE), (True, VERMILION)):
        axes.scatter(*places[conducting == kind].T, s=1, color=color, linewidths=0)


if __name__ == "__main__":
    main(compute, numbers, plot)
