"""The claims of two papers' figures hold in the quick runs of the scripts that redraw them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest

from tests import legible

FIGURES = [
    "coifman_2005.figure_1",
    "coifman_2005.figure_2",
    "coifman_2005.figure_3",
    "coifman_2005.figure_4",
    "coifman_2005.figure_5",
    "coifman_2005.field",
    "coifman_2005.warping",
    "coifman_2005.double_well",
    "delaporte_2008.figure_3",
    "delaporte_2008.figure_4",
    "delaporte_2008.figure_6",
    "delaporte_2008.figure_10",
    "delaporte_2008.figure_13",
]


@pytest.fixture(scope="module")
def ran() -> dict[str, tuple[dict[str, Any], dict[str, float]]]:
    """Results and numbers of the figures asked for so far."""
    return {}


def _run(name: str, ran: dict[str, Any]) -> tuple[dict[str, Any], dict[str, float]]:
    if name not in ran:
        module = importlib.import_module(f"experiments.{name}")
        results = module.compute(True)
        ran[name] = results, module.numbers(results)
    return ran[name]


@pytest.mark.parametrize("name", FIGURES)
def test_draws_and_has_finite_numbers(name: str, ran: dict[str, Any]) -> None:
    results, found = _run(name, ran)
    assert found
    assert np.isfinite(list(found.values())).all()
    plot = importlib.import_module(f"experiments.{name}").plot
    assert legible.faults(plot, results) == []


def test_numerical_rank_of_powers_falls(ran: dict[str, Any]) -> None:
    results, found = _run("coifman_2005.figure_1", ran)
    assert (np.diff(results["ranks"], axis=1) < 0).all()
    assert found["rank by lambda less that by SVD, largest"] == 0
    assert found["unspanned by as many columns, largest norm"] < 0.02


def test_two_materials_conduct_as_known(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.figure_1", ran)
    for place in (1, 2, 3):
        assert found[f"two materials: mu_{place} / known"] == pytest.approx(1, abs=0.1)
    assert found["chord in 39 coordinates / exact, least"] > 0.99
    assert found["chord over 0.2 to 0.4, poor / good conductor"] > 3
    assert found["rank r of relative heat and chord (3 coordinates)"] > 0.9


def test_dumbbell_lobes_part_and_the_two_readings(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.figure_2", ran)
    for lobes in ("round lobes", "tall lobes"):
        gap = found[f"{lobes}: lobes' gap / radius, t = 0.1"]
        assert gap > 3 * found[f"{lobes}: lobes' gap / radius, plane"]
        assert found[f"{lobes}, all, t = 0.01: share D(A,B) < D(C,B)"] == 1
        assert found[f"{lobes}, three, t = 1: share D(A,B) < D(A,C)"] == 0
    assert found["tall lobes: AC in the plane"] < found["tall lobes: AB in the plane"]
    assert found["tall lobes, three, t = 0.01: share D(A,B) < D(A,C)"] == 1
    assert found["round lobes, three, t = 0.01: share D(A,B) < D(A,C)"] == 0


def test_density_bends_the_circle_only_at_alpha_0(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.figure_3", ran)
    arclength, radii = "r of angle and arclength", "sd / mean of radii"
    assert found[f"{arclength}, alpha 1, mean"] > 0.98
    assert found[f"{arclength}, alpha 1, mean"] > found[f"{arclength}, alpha 0, mean"] + 0.05
    assert found[f"{radii}, alpha 1, mean"] < 0.15 < found[f"{radii}, alpha 0, mean"]
    assert found["r of densities by angle, alpha 1, mean"] > 0.9
    # A circle is closed; with too few points it opens to a horseshoe, of as good a correlation.
    step = "longest step / mean radius, alpha"
    assert found[f"{step} 1, greatest"] < 0.1 < found[f"{step} 0, greatest"]
    assert found[f"{step} 1, 2000 points, greatest"] > 0.5
    assert found[f"{arclength}, alpha 1, 2000 points, mean"] > 0.99


def test_directed_kernel_has_the_level_sets_of_its_function(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.figure_4", ran)
    for name in ("tilted plane", "hump", "swirl"):
        assert found[f"{name}: explained by F, least"] > 0.99
    assert found["cosine: explained by F and component, least"] > 0.99
    assert found["hump: explained by F, isotropic kernel, mean of 1 draws"] < 0.2
    assert found["cosine: explained by F, greatest"] < 0.1  # the two components part
    assert found["hump: explained by F, of F / 16, mean of 1 draws"] < 0.1  # in too large a unit


def test_diffusing_along_a_field_integrates_it(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.field", ran)
    for name in ("rotation", "spiral", "pendulum"):
        assert found[f"{name}: explained, along the field, least"] > 0.99
        assert found[f"{name}: explained, isotropic, mean of 1 draws"] < 0.9


def test_diffusion_follows_the_tissues_where_others_do_not(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.figure_5", ran)
    assert found["kept share: accuracy, mean"] > 0.85
    for other in ("1-NN", "Gaussian", "linear"):
        assert found[f"{other}: accuracy, mean"] < 0.75
        assert found[f"kept share less {other}, least"] > 0.15
    assert found["discriminant less kept share, mean"] > -0.02


def test_the_kept_share_gains_what_the_largest_margin_lacks(ran: dict[str, Any]) -> None:
    """The scale of chi_i makes no difference on the tissue, at either time."""
    _, found = _run("coifman_2005.figure_5", ran)
    right = {name: found[f"{name}: accuracy, mean"] for name in ("paper", "paper, scaled by pi")}
    assert right["paper"] == pytest.approx(right["paper, scaled by pi"], abs=0.02)
    assert found["paper, kept share: accuracy, mean"] > right["paper"] + 0.05
    assert found["paper: tau, median"] < found["kept share: tau, median"] / 4


@pytest.mark.data
@pytest.mark.usefixtures("data_folder")
def test_cartilage_is_read_with_a_stroke_in_each_cluster() -> None:
    pytest.importorskip("rdata")
    figure = importlib.import_module("experiments.coifman_2005.figure_5")
    if not figure.CARTILAGE.is_file():
        pytest.skip(f"no {figure.CARTILAGE}")
    cartilage = figure.read_cartilage()
    assert cartilage.cube.shape == (25, 35, 300)
    np.testing.assert_allclose(cartilage.cube.mean(axis=2), 1)
    stroked = cartilage.labels > 0
    assert (cartilage.labels == cartilage.truth)[stroked].all()
    assert np.bincount(cartilage.labels[stroked]).tolist() == [0, 12, 12, 12]


def test_cartilage_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    figure = importlib.import_module("experiments.coifman_2005.figure_5")
    monkeypatch.setattr(figure, "CARTILAGE", tmp_path / "chondro.rda")
    with pytest.raises(FileNotFoundError, match="DIFFCLASS_DATA"):
        figure.read_cartilage()
    (tmp_path / "chondro.rda").touch()
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(ImportError, match="pip install rdata"):
        figure.read_cartilage()


def test_double_well_relaxes_as_known(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.double_well", ran)
    # three paths of a hundred relaxation times each: their wells differ by chance
    assert found["relaxation time / known, mean, alpha 0.5"] == pytest.approx(1, abs=0.4)
    assert found["r of psi_1 with the known one, mean, alpha 0.5"] > 0.99
    assert found["alpha 0 mistaken for 1/2: time / known"] > 5
    assert found["memory of psi_1 along the path / known, mean"] == pytest.approx(1, abs=0.4)


def test_double_wells_rate_is_too_low_at_one_half_and_crosses_at_0(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.double_well", ran)
    rates = {
        alpha: [v for k, v in found.items() if k.startswith("mu_1 /") and k.endswith(f"ha {alpha}")]
        for alpha in ("0", "0.5")
    }
    assert len(rates["0"]) == len(rates["0.5"]) == 5
    assert max(rates["0.5"]) < 1
    assert rates["0"][0] < 1 < rates["0"][-1]


def test_two_jumps_are_the_sum_over_paths(ran: dict[str, Any]) -> None:
    results, found = _run("delaporte_2008.figure_3", ran)
    P = results["P"]
    assert found["P^2(1, 6), all paths"] == pytest.approx(P[0] @ P[:, 5])
    assert found["p(1, 2) p(2, 6)"] < found["P^2(1, 6), all paths"]
    assert found["share of the path by 2"] > 0.5 > found["greatest share of another path"]
    assert found["share of walks at 6 after two jumps"] == pytest.approx(P[0] @ P[:, 5], abs=0.01)


def test_walks_go_along_the_curve_once_they_have_time(ran: dict[str, Any]) -> None:
    results, found = _run("delaporte_2008.figure_4", ran)
    shares = results["draws"][0]["shares"]
    assert (np.diff(shares) >= 0).all()
    assert shares[0] < 1e-6
    assert found["share of walks across the opening, t = 128, greatest"] < 1e-6
    assert found["density of walks at C / at B, median"] > 100


def test_a_drawn_walk_leads_from_start_to_end() -> None:
    figure = importlib.import_module("experiments.delaporte_2008.figure_4")
    P = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
    np.testing.assert_allclose(figure.arrivals(P, 2, 3)[3], np.linalg.matrix_power(P, 3)[:, 2])
    walks = [figure.drawn_walk(P, 0, 2, 3, np.random.default_rng(s)) for s in range(400)]
    assert all(walk[0] == 0 and walk[-1] == 2 and len(walk) == 4 for walk in walks)
    waits = np.mean([walk[1] == 0 for walk in walks])
    assert waits == pytest.approx(1 / 3, abs=0.08)  # of the three paths, all equally likely


def test_c_shape_is_clusters_then_a_line_then_small(ran: dict[str, Any]) -> None:
    _, found = _run("delaporte_2008.figure_6", ran)
    assert found["epsilon 0.5: told apart at t = 1, mean"] > 0.9
    ratio = "coordinate 2 / coordinate 1 at t"
    assert found[f"{ratio} = 3"] < 0.6 * found[f"{ratio} = 1"]
    assert found["draws with the order kept at t = 3, share"] == 1
    sizes = [found[f"size at t = {t} / size at t = 1"] for t in (1, 2, 3, 10)]
    assert (np.diff(sizes) < 0).all()
    # clusters apart at t = 1 and a point at t = 10 go together for no epsilon
    assert found["epsilon 0.1: size at t = 10 / size at t = 1"] > 0.9
    assert found["epsilon 1: size at t = 10 / size at t = 1"] < 0.1


def test_diffusion_map_keeps_the_order_that_pca_loses(ran: dict[str, Any]) -> None:
    _, found = _run("delaporte_2008.figure_10", ran)
    assert found["diffusion map: share of draws in order"] == 1
    assert found["PCA: share of draws in order"] < 0.8
    assert found["diffusion map: rank r, mean"] > found["PCA: rank r, mean"]
    assert found["diffusion map: share told apart, mean"] > found["PCA: share told apart, mean"]


def test_turned_pictures_are_ordered_by_angle(ran: dict[str, Any]) -> None:
    _, found = _run("delaporte_2008.figure_13", ran)
    assert found["alpha 1: circular r, mean"] > 0.98
    assert found["alpha 0: circular r, mean"] > 0.9
    assert found["PCA: circular r, mean"] < 0.5
    assert found["alpha 1: angle to the nearest (deg), mean"] < 2


def test_warping_speeds_up_and_keeps_walks_in_their_classes(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.warping", ran)
    of = "digits, free, {}, round {}: {}".format
    for quantity in ("steps to tau", "crossing in a step"):
        assert found[of("warped", 5, quantity)] < 0.8 * found[of("warped", 0, quantity)]
    assert found[of("warped", 5, "steps to tau")] < found[of("restart", 5, "steps to tau")]
    assert found["digits, free: accuracy warped less restart, last round"] > -1.5


def test_reading_forward_echoes_and_backward_forgets(ran: dict[str, Any]) -> None:
    _, found = _run("coifman_2005.warping", ran)
    best = found["digits, forward exponent 0.25, floor 0.4: accuracy (%)"]
    assert found["digits, forward exponent 1.0, floor 0.01: accuracy (%)"] < best - 1
    assert found["digits, forward exponent 0.0, floor 0.01: accuracy (%)"] < best - 1
    assert found["digits, forward exponent 1.0, floor 0.01: steps to tau"] == 256
    clumps = "digits, clumped errors, {}, round 1: right (%)".format
    assert found[clumps("forward exponent 0.25")] > found[clumps("forward exponent 1")]
