"""Kernels by name."""

from __future__ import annotations

import pickle

import pytest

from diffclass import DiffusionClassifier, ParameterError
from diffclass.kernels import NAMED, Kernel, kernel_named


@pytest.mark.parametrize("name", NAMED)
def test_names_make_new_kernels(name):
    assert isinstance(kernel_named(name), Kernel)
    assert kernel_named(name) is not kernel_named(name)


def test_a_name_means_its_kernel():
    X, y = [[0.0], [1.0], [3.0], [4.0], [9.0]], [0, -1, -1, 1, -1]
    named = DiffusionClassifier(n_neighbors=2, kernel="gaussian").fit(X, y)
    given = DiffusionClassifier(n_neighbors=2, kernel=kernel_named("gaussian")).fit(X, y)
    assert pickle.dumps(named.label_distributions_) == pickle.dumps(given.label_distributions_)


def test_unknown_names_say_which_are_known():
    with pytest.raises(ParameterError, match="'knn'; it has to be one of shared, gaussian"):
        DiffusionClassifier(kernel="knn").fit([[0.0], [1.0]], [0, 1])
