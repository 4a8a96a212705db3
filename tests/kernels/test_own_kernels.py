"""Kernels of a user's own: they fit, are saved and loaded, or are refused with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from diffclass import DiffusionClassifier, ParameterError, PointGraph
from diffclass.exceptions import DataError
from diffclass.kernels import (
    DensityWeighted,
    FittedKernel,
    Gaussian,
    KeptPlacing,
    Kernel,
    LocalDiscriminant,
    OverKernel,
    SharedNeighbors,
)
from diffclass.model_files import CLASSIFIER, read_model, write_model
from diffclass.neighbors import neighbors_graph
from diffclass.system.costs import Size
from diffclass.system.forms import Array, Derived, Number


def powers(graph, power):
    return sp.csr_array(((1 + graph.data) ** -power, graph.indices, graph.indptr), graph.shape)


class Inverse(Kernel):
    """1 / (1 + |x - y|^2)^power, whose neighbours are searched in other units."""

    kept_fields: ClassVar = {"power": Number(0)}

    def __init__(self, *, power=1.0):
        self.power = power

    def place(self, X, *, y=None, scores=None):
        placing = Shrunk(np.full(X.shape[1], 0.5))
        return placing(X), placing

    def fit(self, graph, X, *, y=None, scores=None):
        return powers(graph, self.power), FittedInverse(self.power)


@dataclass(frozen=True)
class FittedInverse(FittedKernel):
    power: float

    kept_fields: ClassVar = {"power": Number(0)}

    def extend(self, graph, X_new):
        return powers(graph, self.power)


@dataclass(frozen=True, eq=False)
class Shrunk(KeptPlacing):
    factors: np.ndarray

    kept_fields: ClassVar = {"factors": Array(("d",))}

    def __call__(self, X_new):
        return X_new * self.factors


class Sharper(Gaussian):
    """A kernel of the package with another default; it fits a `FittedIsotropic`."""

    kept_fields = Gaussian.kept_fields

    def __init__(self, *, bandwidth="graph", neighbor=5):
        super().__init__(bandwidth=bandwidth, neighbor=neighbor)


class Root(OverKernel):
    """The square root of another kernel."""

    kept_fields = SharedNeighbors.kept_fields | {"power": Number()}
    kept_as = "root of a kernel"

    def __init__(self, kernel=None, *, power=0.5):
        self.kernel = kernel
        self.power = power

    def fit(self, graph, X, *, y=None, scores=None):
        K, inner = self.inner.fit(graph, X, y=y, scores=scores)
        return K.power(self.power), FittedRoot(inner, self.power)


@dataclass(frozen=True, eq=False)
class FittedRoot(FittedKernel):
    kernel: FittedKernel
    power: float

    kept_fields: ClassVar = {"kernel": Derived(FittedKernel), "power": Number()}

    def extend(self, graph, X_new):
        return self.kernel.extend(graph, X_new).power(self.power)


OWN = [
    Inverse(),
    Inverse(power=2.0),
    Sharper(neighbor=4),
    Root(),
    Root(Inverse(power=2.0)),
    Root(SharedNeighbors(Root(Sharper()))),
    SharedNeighbors(Inverse()),
    DensityWeighted(Root(LocalDiscriminant(Inverse()))),
]


@pytest.fixture
def points(rng):
    X = rng.normal(size=(240, 4)) + 4 * np.repeat(np.eye(4)[:3], 80, axis=0)
    y = np.where(np.arange(240) % 16, -1, np.arange(240) // 80)
    return X, y, rng.normal(size=(50, 4)) + 2


def saved_and_loaded(model, path):
    write_model(path, model, CLASSIFIER, kind="test", version="1")
    return read_model(path, CLASSIFIER, kind="test")


@pytest.mark.parametrize("kernel", OWN, ids=repr)
def test_own_kernels_fit_predict_and_come_back(tmp_path, points, kernel):
    X, y, new = points
    model = DiffusionClassifier(kernel=kernel, random_state=0).fit(X, y)
    assert (model.transduction_ == np.arange(240) // 80).mean() > 0.9
    found = saved_and_loaded(model, tmp_path / "model")
    np.testing.assert_array_equal(found.predict_proba(new), model.predict_proba(new))
    assert repr(found.kernel) == repr(kernel)
    assert repr(clone(kernel)) == repr(kernel)
    assert kernel.cost(Size(1000, 4, 12)).working > 0


def test_a_kernel_in_another_is_searched_in_its_own_coordinates(points):
    X, _, _ = points
    graph = PointGraph.from_points(X, kernel=Root(Inverse()))
    np.testing.assert_array_equal(graph.search.points, X / 2)
    expected = powers(neighbors_graph(X / 2), 0.5)
    np.testing.assert_allclose(graph.operator.affinity.toarray(), expected.toarray())


def test_graphs_tell_own_kernels_apart(points):
    X, y, _ = points
    graph = DiffusionClassifier(kernel=Root(Inverse())).fit(X, y).graph_
    DiffusionClassifier(kernel=Root(Inverse(power=1.0))).fit(X, y, graph=graph)
    with pytest.raises(ParameterError, match=r"other parameters \(kernel \(Root\("):
        DiffusionClassifier(kernel=Root(Inverse(power=2.0))).fit(X, y, graph=graph)


class Silent(Inverse):
    """Derived from a kernel that states its fields, which it does not."""


class Grown(Inverse):
    kept_fields = Inverse.kept_fields | {"width": Number()}

    def __init__(self, *, power=1.0, extent=1.0):
        super().__init__(power=power)
        self.extent = extent


class Untold(Inverse):
    kept_fields = Inverse.kept_fields

    def __init__(self, *, power=1.0, extent=1.0):
        super().__init__(power=power)
        self.extent = extent


class Unplaced(Inverse):
    kept_fields = Inverse.kept_fields

    def place(self, X, *, y=None, scores=None):
        return X / 2, lambda X_new: X_new / 2


class Unlearnt(Inverse):
    kept_fields = Inverse.kept_fields

    def fit(self, graph, X, *, y=None, scores=None):
        return powers(graph, self.power), FittedSilent(self.power)


class FittedSilent(FittedInverse):
    pass


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (Silent(), "Silent states no fields: give the class kept_fields"),
        (Root(Silent()), "Silent states no fields"),
        (SharedNeighbors(Unlearnt()), "FittedSilent states no fields"),
        (Unplaced(), "lambda.* is none of"),
        (Grown(), "kept_fields of Grown do not make one: .*'width'"),
        (Untold(), "kept_fields of Untold do not make one: no form and no type of extent"),
    ],
    ids=repr,
)
def test_what_states_no_fields_answers_and_is_not_saved(tmp_path, points, kernel, reason):
    X, y, new = points
    model = DiffusionClassifier(kernel=kernel).fit(X, y)
    assert len(model.predict(new)) == 50
    with pytest.raises(ParameterError, match=f"cannot be kept in a file: .*{reason}"):
        saved_and_loaded(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


class Typed(Inverse):
    """Its constructor says all of its fields."""

    kept_fields: ClassVar = {}

    def __init__(self, *, power: float = 1.0, scale: str | float = "own", rank: int | None = None):
        super().__init__(power=power)
        self.scale = scale
        self.rank = rank


@pytest.mark.parametrize("given", [{"scale": 2.5, "rank": 3}, {"power": 2.0}])
def test_fields_of_plain_types_need_no_form(tmp_path, points, given):
    X, y, new = points
    model = DiffusionClassifier(kernel=Typed(**given)).fit(X, y)
    again = saved_and_loaded(model, tmp_path / "model")
    assert again.kernel.get_params() == Typed(**given).get_params()
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    odd = DiffusionClassifier(kernel=Typed(scale=None)).fit(X, y)
    with pytest.raises(ParameterError, match="None is none of name, number"):
        saved_and_loaded(odd, tmp_path / "odd")


def test_a_kernel_that_is_not_loaded_is_named(tmp_path, points):
    X, y, _ = points

    class Passing(Inverse):
        kept_fields = Inverse.kept_fields

    model = DiffusionClassifier(kernel=Passing()).fit(X, y)
    write_model(tmp_path / "model", model, CLASSIFIER, kind="test", version="1")
    Passing.kept_as = "Something else"
    with pytest.raises(DataError, match=r"'Passing' is none of .*import the module that defines"):
        read_model(tmp_path / "model", CLASSIFIER, kind="test")


class Faulty(Inverse):
    """Makes something of the right affinity and of the fitted kernel."""

    def __init__(self, change, *, power=1.0):
        super().__init__(power=power)
        self.change = change

    def fit(self, graph, X, *, y=None, scores=None):
        return self.change(*super().fit(graph, X))


def one_sided(K, fitted):
    return sp.csr_array(sp.tril(K)), fitted


def negative(K, fitted):
    return -K, fitted


def unknown(K, fitted):
    return K * np.nan, fitted


def of_others(K, fitted):
    return K[:-1, :-1], fitted


def unfitted(K, fitted):
    return K, None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (one_sided, "not symmetric"), (negative, "negative values"), (unknown, "NaN"),
        (of_others, r"of shape \(239, 239\) for 240 points"), (unfitted, "no FittedKernel"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("within", [False, True])
def test_what_is_no_affinity_is_refused_at_once(points, change, reason, within):
    X, y, _ = points
    kernel = Faulty(change)
    if within and change is not unfitted:
        kernel = Root(kernel, power=1.0)
    with pytest.raises(ParameterError, match=f"fit of .* gave .*{reason}"):
        DiffusionClassifier(kernel=kernel).fit(X, y)


def test_coordinates_of_other_points_are_refused(points):
    X, y, _ = points

    class Fewer(Inverse):
        def place(self, X, *, y=None, scores=None):
            return X[1:], Shrunk(np.ones(X.shape[1]))

    with pytest.raises(ParameterError, match="places 240 points at 239 places"):
        DiffusionClassifier(kernel=Fewer()).fit(X, y)
