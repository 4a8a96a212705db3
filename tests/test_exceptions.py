"""Warnings name the line that called diffclass, however deep they arise."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from diffclass import (
    DiffusionClassifier,
    DiffusionMap,
    EigenfunctionRegressor,
    StoppingRule,
    UnreachedWarning,
    Warp,
    diffuse_labels,
    markov_operator,
)
from diffclass.blocks import BlockClassifier
from diffclass.exceptions import ParameterError
from diffclass.kernels import Directed, LocalDiscriminant, SharedNeighbors
from diffclass.spectral import leading_eigenpairs, nystrom

SOURCES = Path(__file__).parents[1]
X, TRUTH = make_blobs([40, 40, 40], centers=[[0, 0], [60, 0], [0, 60]], random_state=0)
Y = np.where(np.arange(120) % 10 == 0, TRUTH, -1)
FAR = np.where(TRUTH == 2, -1, Y)  # no label in the last cluster
SCALES = X * [1, 1e-9]
LINE = np.linspace(0, 1, 90)[:, None]
ENDS = np.full(90, -1)
ENDS[[0, -1]] = 0, 1
SHORT = StoppingRule(max_time=1)
SCORES = np.where(TRUTH[:, None] < 2, np.eye(3)[TRUTH], np.nan)[:, :2]
MARKED = np.where(np.arange(120) < 114, 0, np.arange(120))


def shaped(kernel):
    return DiffusionClassifier(kernel=SharedNeighbors(kernel), tau=SHORT).fit(LINE, ENDS)


CALLS = {
    "scales": lambda: DiffusionClassifier().fit(SCALES, Y),
    "scales in a pipeline": lambda: make_pipeline(FunctionTransformer(), DiffusionClassifier()).fit(
        SCALES, Y
    ),
    "scales in folds": lambda: cross_val_score(DiffusionClassifier(), SCALES, TRUTH, cv=2),
    "unreached": lambda: DiffusionClassifier().fit(X, FAR),
    "unreached, few classes kept": lambda: DiffusionClassifier(kept_classes=2).fit(X, FAR),
    "unreached, blocks": lambda: BlockClassifier().fit(X, FAR),
    "unreached, hints alone": lambda: DiffusionClassifier().fit(X, None, score_prior=SCORES),
    "unreached, hints beside labels": lambda: DiffusionClassifier().fit(X, FAR, score_prior=SCORES),
    "short walk": lambda: DiffusionClassifier(tau=SHORT).fit(LINE, ENDS),
    "short walk, blocks": lambda: BlockClassifier(tau=SHORT).fit(LINE, ENDS),
    "short walk, operator": lambda: diffuse_labels(markov_operator(LINE), ENDS, tau=SHORT),
    "short walk, directed": lambda: shaped(Directed()),
    "short walk, local discriminant": lambda: shaped(LocalDiscriminant()),
    "short walk, warped": lambda: DiffusionClassifier(tau=SHORT, warp=Warp()).fit(LINE, ENDS),
    "marks": lambda: DiffusionClassifier().fit(X, MARKED),
    "column of labels": lambda: DiffusionClassifier().fit(X, Y[:, None]),
    "components": lambda: DiffusionMap(2, n_neighbors=5, bandwidth=1.0).fit(X),
    "components of the regression": lambda: EigenfunctionRegressor(n_components=80).fit(
        LINE, np.where(np.arange(90) % 9, np.nan, LINE[:, 0])
    ),
    "new points without neighbours": lambda: nystrom(
        sp.csr_array((2, 90)), leading_eigenpairs(markov_operator(LINE), 3)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_of_the_caller(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[name]()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_every_warning_is_given_in_this_way():
    own = [*SOURCES.glob("diffclass/**/*.py"), *SOURCES.glob("plugins/**/*.py")]
    at = [path for path in own if re.search(r"warnings\.warn\(", path.read_text())]
    assert not at


def test_a_filter_turns_a_warning_into_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreachedWarning)
        with pytest.raises(UnreachedWarning, match="no label reaches"):
            DiffusionClassifier().fit(X, FAR)


@pytest.mark.parametrize("value", [2**70, 10**400, -(2**70), float("inf"), float("nan")])
def test_numbers_without_measure_are_refused_or_bounded(value):
    with pytest.raises(ParameterError, match="n_components"):
        DiffusionMap(value).fit(X)
