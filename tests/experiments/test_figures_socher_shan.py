"""The figures of Socher 2008 and of Shan and Daubechies 2022, quickly, and what they claim."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests import legible


def run(name: str) -> dict[str, float]:
    """Compute, count and draw a figure; return its numbers without the tail on draws."""
    module = importlib.import_module(f"experiments.{name}")
    results = module.compute(True)
    found = module.numbers(results)
    assert legible.faults(module.plot, results) == []
    assert all(math.isfinite(value) for value in found.values()), found
    return {key.split(", mean of")[0]: value for key, value in found.items()}


def socher_1(n):
    assert n["share of variance kept (0.8125 known)"] == pytest.approx(0.8125, abs=0.05)
    assert n["r with x1 + x2"] > 0.99


def socher_2(n):
    assert n["rank r of t, PCA"] < 0.5
    assert n["rank r of t, diffusion map"] > 0.99


def socher_3(n):
    assert (
        n["the same in the embedding"] < n["error of the mixture / spread of the neighbours"] < 0.05
    )
    assert n["rank r of t, LLE"] > 0.99


def socher_4(n):
    assert n["one turn apart, through space / known"] < 0.2
    assert n["one turn apart, along the graph / known"] == pytest.approx(1, abs=0.15)
    assert n["rank r of arclength, Isomap"] > 0.99


def socher_5(n):
    assert [n[f"t = {t}: eigenvalues above 0.1"] for t in (8, 64, 1024)] == [3, 2, 1]
    near, far = "mass in cluster 1", "mass in cluster 2"
    assert n[f"t = 8: {near}"] < 0.75 * n["t = 8: mass in cluster 0"]
    assert n[f"t = 64: {near}"] == pytest.approx(n["t = 64: mass in cluster 0"], abs=0.1)
    assert n[f"t = 64: {far}"] < 0.25
    assert n[f"t = 1024: {far}"] == pytest.approx(1 / 3, abs=0.06)


def socher_8(n):
    assert n["discs told apart by the sign"] > 0.99
    ratios = [n[f"eigenvalue {i} / known"] for i in range(1, 5)]
    assert min(ratios) > 0.6
    assert max(ratios) < 1.3


def socher_9(n):
    assert n["spread, L_rw"] < 0.2 * n["spread, L_sym"]


def socher_10(n):
    for shape in ("flower", "trefoil"):
        assert n[f"{shape}, alpha 1: circular r"] > 0.95 > n[f"{shape}, alpha 0: circular r"]
        spread = "radius spread / mean"
        assert n[f"{shape}, alpha 1: {spread}"] < 0.5 * n[f"{shape}, alpha 0: {spread}"]


def socher_comparison(n):
    for noise in ("0", "0.5"):
        assert n[f"noise {noise}, PCA: rank r of arclength"] < 0.6
        for method in ("eigenmaps", "diffusion map"):
            assert n[f"noise {noise}, {method}: rank r of arclength"] > 0.95


def shan_1(n):
    spread = "radius spread / mean"
    assert n[f"diffusion map: {spread}"] < 0.75 * n[f"PCA: {spread}"]
    assert n[f"PCA: {spread}"] == pytest.approx(n[f"MDS: {spread}"], rel=1e-3)
    assert n["diffusion map: circular r"] > 0.95


def shan_2(n):
    for side in ("arclength", "height"):
        assert n[f"diffusion map: r of {side} with the best coordinate"] > 0.9
    assert n["PCA: r of arclength with the best coordinate"] < 0.7


def shan_6(n):
    assert n["share of draws in which the rule found t"] == 1
    assert n["t chosen, median of the draws, equation 1"] == 1 / 16
    assert n["t chosen, median of the draws, equation 11"] == 1 / 64
    spread = "radius spread / mean at"
    assert n[f"{spread} t"] < 0.5 * n[f"{spread} 4t"]
    assert n["error at the greatest t over its maximum"] < 0.1


def shan_7(n):
    assert n["share of draws in which the rule found t"] >= 0.5
    assert n["circular r at t"] > 0.9
    assert n["share of draws with the paper's t = 1/4, equation 1"] >= 0.5
    assert n["share of draws with the paper's t = 1/4, equation 11"] == 0
    assert n["t = 1/4 of equation 1: circular r"] > 0.95
    assert n["t = 1/4 of equation 11: circular r"] > 0.97


def shan_8(n):
    shan_7(n)
    assert n["share of these with the same t in both"] >= 0.5


def shan_9(n):
    assert n["t = 1/4: azimuth: R of the first 2"] > 0.7
    assert n["t = 1: elevation: R of the first 3"] > 0.8
    assert n["weak t, equation 1, greatest distance 1"] == 0.25
    assert n["error at t = 1/16"] > 4 * n["error at t = 1/4"] > 4 * n["error at t = 1"]
    # not reproduced, and said so in the script: two coordinates do not hold the elevation
    assert n["t = 1/4: elevation: R of the first 2"] < 0.5
    assert n["rule found t among powers of 4"] == 0


def shan_10(n):
    assert 0.5 <= n["weak t over that without noise, grey values"] <= 2
    assert 0.7 < n["weak t over that without noise, own units"] < 1.5
    assert n["error at t = 1/16"] > 4 * n["error at t = 1/4"]
    assert n["t = 1/4: azimuth: R of the first 2"] > 0.7


def shan_12(n):
    assert n["likeness with and without noise"] > 0.95
    assert n["likeness of shuffled faces"] < 0.3


FIGURES = {
    "socher_2008.figure_1": socher_1,
    "socher_2008.figure_2": socher_2,
    "socher_2008.figure_3": socher_3,
    "socher_2008.figure_4": socher_4,
    "socher_2008.figure_5": socher_5,
    "socher_2008.figure_8": socher_8,
    "socher_2008.figure_9": socher_9,
    "socher_2008.figure_10": socher_10,
    "socher_2008.comparison": socher_comparison,
    "shan_2022.figure_1": shan_1,
    "shan_2022.figure_2": shan_2,
    "shan_2022.figure_6": shan_6,
    "shan_2022.figure_7": shan_7,
    "shan_2022.figure_8": shan_8,
}
OF_FACES = {
    "shan_2022.figure_9": shan_9,
    "shan_2022.figure_10": shan_10,
    "shan_2022.figure_12": shan_12,
}


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name):
    FIGURES[name](run(name))


@pytest.mark.data
@pytest.mark.parametrize("name", OF_FACES)
def test_figure_of_faces(name, data_folder):
    if not (data_folder / "yale_b01").is_dir():
        pytest.skip(f"no faces in {data_folder}")
    pytest.importorskip("PIL")
    OF_FACES[name](run(name))


def test_roll_is_told_by_the_first_coordinate_only_near_the_chosen_time():
    module = importlib.import_module("experiments.shan_2022.figure_5")
    results = module.compute(True)
    n = {key.split(", mean of")[0]: value for key, value in module.numbers(results).items()}
    assert legible.faults(module.plot, results) == []
    assert n["share of draws in which the rule found t"] == 1
    arclength = "r of arclength with coordinate 1 at"
    assert n[f"{arclength} t"] > 0.95 > n[f"{arclength} 4t"]


def test_weights_of_the_neighbours_are_those_of_scikit_learn():
    from sklearn.manifold._locally_linear import barycenter_weights

    figure = importlib.import_module("experiments.socher_2008.figure_3")
    X = np.random.default_rng(0).random((30, 4))
    near = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, 1:7]
    expected = barycenter_weights(X, X, near, reg=figure.REGULARISED)
    np.testing.assert_allclose(figure.mixing_weights(X, near), expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("draw", "fault"),
    [
        (lambda ax: ax.set_title("a title " * 20), "runs out"),
        (lambda ax: ax.set_title("small", fontsize=4), "in 4 points"),
        (lambda ax: [ax.text(0.5, 0.5, word) for word in ("one", "two")], "'one' on 'two'"),
        (lambda ax: ax.figure.set_figwidth(8), "8.0 inches wide"),
    ],
)
def test_faults_of_a_figure_are_found(draw, fault):
    def plot(_):
        figure = Figure(figsize=(3, 2), layout="constrained")
        draw(figure.subplots())
        return figure

    assert any(fault in found for found in legible.faults(plot, None))
