"""The methods of the benchmark: each maps a problem, labels and points to the points' classes.

Ours diffuse labels on the graph that `DiffusionClassifier` builds by default. 1-NN, the support
vector machine, the forest and logistic regression (on standardised features, at scikit-learn's
defaults) learn from the features of the labelled points. LabelSpreading and
LabelPropagation are scikit-learn's with ``kernel="knn"`` at its defaults (7 neighbours, 30 and 1000
steps): their default, an RBF kernel, is a dense n x n matrix, 3.5 GB for 21,025 pixels. Their graph
is the same for all draws and made once; where a problem is a graph, it is that graph. The methods
of other libraries are in `graph_peers`.

To add a method of ours, add a row to OURS; with the true class sizes as ``class_prior``, to
OURS_SIZED. Another's method that is given them too goes into OTHERS_SIZED.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.svm import SVC

from diffclass import DiffusionClassifier, MarkovOperator, diffuse_labels
from diffclass.graph import PointGraph
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_hyperspectral.jobs.evaluation import groups_in_squares
from experiments.few_labels.cut_ssl import cut_ssl
from experiments.measures import mapped_classes
from experiments.problems import Problem, default_operator

FEW = 5  # labels in the middling class from which on C is cross-validated
COSTS = (1, 10, 100, 1000)
N_FOLDS = 5
N_TREES = 200
N_SPREADING_NEIGHBORS = 7  # the default of LabelSpreading and LabelPropagation


class Setting:
    """A problem with what all draws share, each part made on first use."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.points = problem.points

    @cached_property
    def operator(self) -> MarkovOperator:
        return default_operator(self.problem)

    @cached_property
    def graph(self) -> PointGraph:
        """The graph of `operator`, as `DiffusionClassifier` takes it."""
        truth = np.maximum(self.problem.truth, 0) - 1
        return (
            DiffusionClassifier(random_state=0, join_features=False).fit(self.points, truth).graph_
        )

    @cached_property
    def spreading_graph(self) -> sp.csr_matrix:
        """The graph that LabelSpreading(kernel="knn") would make again in every fit."""
        if self.points is None:
            return sp.csr_matrix(self.problem.affinity)
        return kneighbors_graph(self.points, N_SPREADING_NEIGHBORS, include_self=True)

    @cached_property
    def class_shares(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes and their shares of the known points."""
        classes, sizes = np.unique(self.problem.truth[self.problem.truth > 0], return_counts=True)
        return classes, sizes / sizes.sum()

    def groups_of(self, y: np.ndarray, *, in_blocks: bool = False) -> np.ndarray | None:
        """Return the group of each label in a picture, as `diffclass classify` forms them."""
        problem = self.problem
        if problem.shape is None:
            return None
        picture = np.zeros(np.prod(problem.shape), dtype=np.int64)
        at = slice(None) if problem.pixels is None else problem.pixels
        picture[at] = np.maximum(y, 0)
        grouping = groups_in_squares if in_blocks else label_regions
        return grouping(picture.reshape(problem.shape)).ravel()[at]

    def shares_of(self, y: np.ndarray) -> np.ndarray:
        """Return the true shares of the classes that have labels."""
        classes, shares = self.class_shares
        shares = shares[np.isin(classes, y[y >= 0])]
        return shares / shares.sum()


Method = Callable[[Setting, np.ndarray, np.ndarray], np.ndarray]


def diffused(
    setting: Setting, y: np.ndarray, at: np.ndarray, *, sized: bool = False, **parameters: Any
) -> np.ndarray:
    """Classify by diffusion; 0, which counts as wrong, where no label arrives."""
    if sized:
        parameters["class_prior"] = setting.shares_of(y)
    result = diffuse_labels(setting.operator, y, groups=setting.groups_of(y), **parameters)
    return mapped_classes(result)[at]


def default(setting: Setting, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Classify as the library does by default, joined with features if there are any."""
    if setting.points is None:
        return diffused(setting, y, at)
    model = DiffusionClassifier(random_state=0)
    model.fit(setting.points, y, groups=setting.groups_of(y), graph=setting.graph)
    return np.where(model.diffusion_.reached, model.transduction_, 0)[at]


def learned(setting: Setting, y: np.ndarray, at: np.ndarray, *, learner: Callable) -> np.ndarray:
    """Classify by a learner of labelled points, made for these labels."""
    labelled = y >= 0
    model = learner(y[labelled]).fit(setting.points[labelled], y[labelled])
    return model.predict(setting.points[at])


def support_vectors(labels: np.ndarray) -> SVC | GridSearchCV:
    """Return an SVM with an RBF kernel: C = 100, cross-validated from five labels per class on."""
    model = SVC(C=100)
    if np.median(np.unique(labels, return_counts=True)[1]) < FEW:
        return model
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    return GridSearchCV(model, {"C": COSTS}, cv=folds)


def spread(setting: Setting, y: np.ndarray, at: np.ndarray, *, model: type) -> np.ndarray:
    # a copy: LabelPropagation divides it in place
    fitted = model(kernel=lambda X, _: setting.spreading_graph.copy())
    fitted.fit(np.zeros((len(y), 1)) if setting.points is None else setting.points, y)
    return fitted.transduction_[at]


def partitioned(setting: Setting, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    return cut_ssl(setting.operator.affinity, y, setting.shares_of(y))[at]


OURS: dict[str, Method] = {
    "default": default,
    "graph alone": diffused,
    "summed": partial(diffused, label_mode="summed", tau="margin"),
    "free": partial(diffused, label_mode="free", tau="margin"),
    "absorbing": partial(diffused, label_mode="absorbing", tau="margin"),
}
DEFAULT = "default"  # the one of OURS that the library takes by default
ALONE = "graph alone"  # the same without features
OURS_SIZED: dict[str, Method] = {"graph alone with sizes": partial(diffused, sized=True)}
OF_POINTS: dict[str, Method] = {
    "1-NN": partial(learned, learner=lambda labels: KNeighborsClassifier(1)),
    "SVM": partial(learned, learner=support_vectors),
    "random forest": partial(
        learned, learner=lambda labels: RandomForestClassifier(N_TREES, random_state=0)
    ),
    "logistic regression": partial(
        learned,
        learner=lambda labels: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    ),
}
OTHERS: dict[str, Method] = OF_POINTS | {
    "LabelSpreading": partial(spread, model=LabelSpreading),
    "LabelPropagation": partial(spread, model=LabelPropagation),
}
OTHERS_SIZED: dict[str, Method] = {"CutSSL, our graph": partitioned}
METHODS = OURS | OURS_SIZED | OTHERS | OTHERS_SIZED
