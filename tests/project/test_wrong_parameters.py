"""Every parameter of every public estimator, given what it cannot be: one clear error or none."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import diffclass
import diffclass.kernels
import diffclass.neighbors
import diffclass.neighbors.partial_whitening
from diffclass import (
    DiffusionClassifier,
    diffuse_labels,
    leading_eigenpairs,
    markov_operator,
    suggest,
)
from diffclass.acquisition import by_coverage, medoids
from diffclass.blocks import BlockClassifier
from diffclass.evaluation import PartlyLabelledKFold, draw_per_class
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Kernel
from diffclass.multiscale import diffusion_wavelets
from diffclass.neighbors import ExactSearch, NNDescentSearch, Search
from diffclass.relabel.coarsening import coarsen
from diffclass.spectral import (
    semigroup_bandwidth,
    slope_bandwidth,
    squared_distances_to_equilibrium,
)

POINTS = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0.0], [6.0]], 20, axis=0)
LABELS = np.full(40, -1)
LABELS[[0, 1, 20, 21]] = 0, 0, 1, 1
WRONG = ("rbf", -1, np.zeros(3), object())


def estimators():
    chapters = (
        diffclass,
        diffclass.neighbors.partial_whitening,
        diffclass.kernels,
        diffclass.neighbors,
    )
    found = {
        kind.__name__: kind
        for chapter in chapters
        for kind in map(
            partial(getattr, chapter), {*dir(chapter), *getattr(chapter, "__all__", ())}
        )
        if inspect.isclass(kind)
        and issubclass(kind, BaseEstimator)
        and not inspect.isabstract(kind)
    }
    del found["BaseEstimator"], found["Search"]
    return sorted(found.items())


def fitted(estimator):
    """Let an estimator do its work; a kernel or a search does it for a classifier."""
    if isinstance(estimator, Kernel):
        return DiffusionClassifier(kernel=estimator, random_state=0).fit(POINTS, LABELS)
    if isinstance(estimator, Search):
        return DiffusionClassifier(search=estimator, random_state=0).fit(POINTS, LABELS)
    return estimator.fit(POINTS, LABELS)


@pytest.mark.parametrize(("name", "kind"), estimators())
def test_wrong_values_are_named(name, kind):
    parameters = inspect.signature(kind).parameters
    missing = {p.name: "rbf" for p in parameters.values() if p.default is inspect.Parameter.empty}
    for parameter in parameters:
        for value in WRONG:
            with warnings.catch_warnings(), contextlib.suppress(ParameterError, DataError):
                warnings.simplefilter("ignore")
                fitted(kind(**{**missing, parameter: value}))


OPERATOR = markov_operator(POINTS)
SEEDED = {
    "by_coverage": lambda seed: by_coverage(POINTS, random_state=seed),
    "coarsen": lambda seed: coarsen(OPERATOR, POINTS, random_state=seed),
    "draw_per_class": lambda seed: draw_per_class(LABELS, 1, random_state=seed),
    "leading_eigenpairs": lambda seed: leading_eigenpairs(OPERATOR, random_state=seed),
    "markov_operator": lambda seed: markov_operator(POINTS, random_state=seed),
    "medoids": lambda seed: medoids(POINTS, 2, random_state=seed),
    "neighbors_graph": lambda seed: diffclass.neighbors_graph(POINTS, random_state=seed),
    "RelabelSession": lambda seed: diffclass.RelabelSession(OPERATOR, random_state=seed),
    "semigroup_bandwidth": lambda seed: semigroup_bandwidth(POINTS, random_state=seed),
    "slope_bandwidth": lambda seed: slope_bandwidth(POINTS, random_state=seed),
    "squared_distances": lambda seed: squared_distances_to_equilibrium(OPERATOR, random_state=seed),
    "suggest": lambda seed: suggest(OPERATOR, n_points=2, random_state=seed),
    "wavelets": lambda seed: diffusion_wavelets(OPERATOR, random_state=seed),
    "folds": lambda seed: next(PartlyLabelledKFold(2, random_state=seed).split(POINTS, LABELS)),
} | {
    name: lambda seed, kind=kind: fitted(kind(random_state=seed))
    for name, kind in estimators()
    if "random_state" in (names := inspect.signature(kind).parameters)
    and all(one.default is not inspect.Parameter.empty for one in names.values())
}  # fmt: skip


@pytest.mark.parametrize("job", SEEDED.values(), ids=SEEDED)
def test_a_seed_is_what_scikit_learn_takes(job):
    for wrong in (-1, 2**32, 1.5, "a", object(), np.zeros(2)):
        with pytest.raises(ParameterError, match=r"^random_state = .*from 0 to 2\^32 - 1, a numpy"):
            job(wrong)
    with pytest.raises(ParameterError, match=r"such as rng\.integers\(2\*\*32\) of a Generator"):
        job(np.random.default_rng(0))
    for right in (None, 0, np.int64(3), np.random.RandomState(0)):
        job(right)


@pytest.mark.parametrize("kernel", ["rbf", diffclass.kernels.Gaussian, 3])
def test_what_is_no_kernel(kernel, tmp_path):
    for attempt in (
        lambda: markov_operator(POINTS, kernel=kernel),
        lambda: diffclass.DiffusionMap(2, kernel=kernel).fit(POINTS),
        lambda: BlockClassifier(kernel=kernel, scratch=tmp_path).fit(POINTS, LABELS),
        lambda: fitted(diffclass.kernels.SharedNeighbors(kernel)),
    ):
        with pytest.raises(
            ParameterError, match=r"kernel = .*such as diffclass\.kernels\.Gaussian"
        ):
            attempt()


@pytest.mark.parametrize(
    "call",
    [leading_eigenpairs, diffusion_wavelets, suggest, lambda X: diffuse_labels(X, LABELS)],
)
def test_points_in_place_of_an_operator(call):
    with pytest.raises(ParameterError, match=r"shape \(40, 3\); .* such as markov_operator\(X\)"):
        call(POINTS)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (DiffusionClassifier(tau="best"), "tau = 'best'; .*, a number of steps"),
        (diffclass.DiffusionMap(2, bandwidth="slop"), "bandwidth = 'slop'; .*, a number"),
        (diffclass.DiffusionMap(2, time="late"), "time = 'late'; .*, a number"),
    ],
)
def test_what_else_a_named_choice_may_be_is_said(model, says):
    with pytest.raises(ParameterError, match=says):
        model.fit(POINTS, LABELS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [0.0, 2.0**30, "largest"])
def test_a_constant_feature_leaves_the_neighbors(dtype, constant):
    """The sum of a band of fill values overflows; its mean, and then all distances, did."""
    X = np.random.default_rng(0).normal(size=(2000, 3)).astype(dtype)
    X[:, 1] = np.finfo(dtype).max if constant == "largest" else constant
    found = NNDescentSearch(5, random_state=0).fit_transform(X)
    true = ExactSearch(5).fit_transform(X[:, [0, 2]])
    reach = np.maximum.reduceat(true.data, true.indptr[:-1])
    assert np.mean(found.data <= np.repeat(reach, np.diff(found.indptr)) * (1 + 1e-5)) > 0.95
