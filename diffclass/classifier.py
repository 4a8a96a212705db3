"""The label-diffusion classifier, a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import (
    RandomState,
    check_choice,
    check_kind,
    check_level,
    check_seed,
    validate_points,
    warn_of_scales,
)
from diffclass.exceptions import DataError, ParameterError
from diffclass.graph import Neighborhood, PointGraph, find_neighbors, graph_parameters
from diffclass.kernels import Kernel, SharedNeighbors, check_kernel
from diffclass.label_diffusion import (
    Calibration,
    FeatureOpinion,
    JoinedMap,
    LabelDiffusion,
    Labels,
    calibrate,
    diffuse_joined,
    map_scores,
)
from diffclass.label_diffusion.diffusion import diffuse
from diffclass.label_diffusion.feature_opinion import check_join_features
from diffclass.label_diffusion.label_modes import ABSORBING, LABEL_MODES
from diffclass.label_diffusion.labels import warn_of_lost_classes
from diffclass.label_diffusion.maps import dense_rows, with_rows
from diffclass.label_diffusion.reach import warn_of_unreached
from diffclass.label_diffusion.score_prior import ALONE, ScorePrior
from diffclass.label_diffusion.stopping import (
    DiffusionRules,
    Tau,
    check_kept_classes,
    checked_tau,
    is_automatic,
)
from diffclass.neighbors import ExactSearch, NeighborSearch
from diffclass.new_points import NewPoints
from diffclass.operators.processor import Processor, processor_of
from diffclass.operators.warped import Operator, Warp, pin, warped_operator
from diffclass.system.identity import differences
from diffclass.targets import UNLABELLED, decode_labels, encode_labels

__all__ = ["DiffusionClassifier"]

# Rounds of warping end if fewer than this share of the points change their class.
_CHANGED_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class _Fitted:
    """What a calibration needs; it is found once it is asked for.

    It is kept here and not in the estimator, which no prediction may change (scikit-learn's rule).
    """

    operator: Operator
    labels: Labels
    diffusion: LabelDiffusion
    posteriors: np.ndarray  # of all points
    reached: np.ndarray  # all points
    found: Calibration | None  # where it was found before

    @cached_property
    def calibration(self) -> Calibration:
        if self.found is not None:
            return self.found
        return calibrate(self.operator, self.labels, self.diffusion)

    @cached_property
    def probabilities(self) -> np.ndarray:
        probabilities = self.calibration.apply(self.posteriors)
        unreached = ~self.reached
        if not unreached.any():
            return probabilities
        return with_rows(probabilities, unreached, dense_rows(self.posteriors, unreached))


@dataclass(frozen=True, eq=False)
class _Restored:
    """What is left of `_Fitted` in a classifier that only answers new points."""

    calibration: Calibration


class DiffusionClassifier(ClassifierMixin, BaseEstimator):
    """Classify many points from few labels by diffusing the labels over a graph of the points.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point in the graph; at most n - 1 are used.
    kernel : Kernel or str, optional
        Kernel of the affinities, or its name (see `diffclass.kernels.kernel_named`); by default
        `diffclass.kernels.SharedNeighbors` of the self-tuning Gaussian. Self-tuning evens out the
        density, so alpha has an effect only with a global bandwidth. A kernel that uses scores gets
        those of the default kernel's map; see `diffclass.label_diffusion.map_scores`.
    alpha : float, default=0.0
        Density exponent of the operator.
    label_mode : {"auto", "absorbing", "summed", "free", "free-l1"}, default="auto"
        How labels count: absorbing labels keep their class, free labels diffuse away ("free-l1": in
        the measure of the paper), summed labels are free ones summed over the walk. "auto" takes
        absorbing ones, or, with one label per class, summed ones if their map cuts the graph less;
        see `diffclass.diffuse_labels`.
    tau : "auto", "margin", StoppingRule or int, default="auto"
        Diffusion time in steps, or the rule that chooses it: by margin and cut, by the margin
        alone, or with limits of one's own (see `diffclass.StoppingRule`).
    class_prior : array-like of shape (n_classes,) or (2, n_classes), or "uniform", optional
        Expected sizes of the classes, in the order of ``classes_`` or, in a series of pandas, by
        their names: numbers in proportion to them, or a pair of the least and the most share of the
        points that each class may have, 0 to 1. A map that meets them stays as it is; else the
        nearest shares allowed are met, unless the graph disagrees: ``diffusion_.weighting`` says
        whether. See `diffclass.diffuse_labels`.
    warp : Warp, optional
        Further rounds of diffusion, each by operators that are warped class by class with the
        posteriors before; see `diffclass.Warp`. By default there are none.
    join_features : bool or "auto", default="auto"
        Whether functions of the features count beside the graph, as far as held-out labels speak
        for them; see `diffclass.label_diffusion.feature_opinion`. "auto": where label_mode
        and tau are "auto" too, there are no scores, and all classes are kept. With False the map is
        that of `diffuse_labels`.
    kept_classes : int, optional
        Number of classes whose values each point keeps, the largest, for problems of hundreds of
        classes; see `diffclass.diffuse_labels`. `label_distributions_` and
        `raw_label_distributions_` are then csr_arrays, `transductive_set` too, whose sets hold kept
        classes only, but all where no label is within reach; ``diffusion_.dropped`` says what that
        has cost. By default all are kept.
    affinity : "precomputed", optional
        ``X`` in `fit` is then a symmetric (n, n) affinity, sparse or dense, and in `predict` the
        (m, n) affinities of new points to the fitted ones; kernel and neighbours are not used.
    search : NeighborSearch, optional
        Like scikit-learn's ``KNeighborsTransformer``; see `neighbors_graph`.
    random_state : int, RandomState or None, default=None
        Seeds the neighbour search, where it is not exact.
    device : {"cpu", "cuda"}, default="cpu"
        Where labels diffuse and, if no search is given, neighbours are searched, then exactly.
        "cuda" takes the first NVIDIA device and needs ``pip install 'diffclass[cuda]'``. Warped
        rounds stay with the processor.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Values of the labels, sorted.
    transduction_ : ndarray of shape (n,)
        Class of each fitted point; -1 where no label is within reach: in a connected component
        without labels, or, if ``tau`` is a number, where every label is farther than the walk is
        long.
    label_distributions_ : ndarray or csr_array of shape (n, n_classes)
        Calibrated probabilities of the classes; rows sum to 1.
    raw_label_distributions_ : ndarray or csr_array of shape (n, n_classes)
        Posteriors before calibration, in the same order at each point; rows sum to 1.
    margin_ : ndarray of shape (n,)
        Difference of the two largest posteriors, 0 to 1.
    calibration_ : Calibration
        How the posteriors become probabilities. It is found by `fit` where features join the map,
        otherwise when it is first asked for, by `predict_proba` or these attributes; see
        `diffclass.label_diffusion.calibration`.
    diffusion_ : LabelDiffusion
        The diffused labels of the last round, joined with what the features say; the other results
        are taken from it.
    feature_opinion_ : FeatureOpinion or None
        What the features say, and how much it counts; None where the graph decides alone.
    tau_ : int
        Time in use, in steps.
    margin_curve_ : MarginCurve
        Mean margin, coverage and cut by time.
    graph_ : PointGraph
        The walk with the fitted kernel and neighbour search.
    operator_ : MarkovOperator
        The walk of ``graph_``.
    walk_ : MarkovOperator or WarpedOperator
        The walk that has diffused the labels: `operator_`, or the walks of the last round of
        warping.
    n_rounds_ : int
        Number of rounds of warping.
    hint_weight_ : float or None
        Probability that the walk stops at a hint of ``score_prior``; None without it.
    hint_share_ : float or None
        Share of the hints' map in the mean with that of one label per class, which
        ``score_accuracy`` decides; None without it, and where it does not.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    BlockClassifier : For more points than fit into memory.
    RelabelSession : For labels that come and go; a change takes less time than a fit.
    diffuse_labels : For an operator that there is.
    EigenfunctionRegressor : For numbers in place of classes.

    Notes
    -----
    A new point at the place of a fitted one is that point: ``fit(X, y).predict(X)`` is
    ``transduction_``, but for points that no label reaches. Any other takes one step of the walk to
    its neighbours. Equal points are one node of the graph and have one result; a label of one holds
    for all, and where labels of equal points contradict each other, each counts in part.

    References
    ----------
    Coifman et al. 2005, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from diffclass import DiffusionClassifier
    >>> X, truth = load_digits(return_X_y=True)
    >>> y = np.full(len(X), -1)
    >>> labelled = np.random.default_rng(0).permutation(len(X))[:100]
    >>> y[labelled] = truth[labelled]
    >>> clf = DiffusionClassifier(random_state=0).fit(X, y)
    >>> print(f"{(clf.transduction_ == truth)[y == -1].mean():.2f} of the others are right")
    0.97 of the others are right
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 12,
        kernel: Kernel | str | None = None,
        alpha: float = 0.0,
        label_mode: str = "auto",
        tau: Tau = "auto",
        class_prior: ArrayLike | None = None,
        warp: Warp | None = None,
        join_features: bool | str = "auto",
        kept_classes: int | None = None,
        affinity: str | None = None,
        search: NeighborSearch | None = None,
        random_state: RandomState = None,
        device: str = "cpu",
    ):
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.alpha = alpha
        self.label_mode = label_mode
        self.tau = tau
        self.class_prior = class_prior
        self.warp = warp
        self.join_features = join_features
        self.kept_classes = kept_classes
        self.affinity = affinity
        self.search = search
        self.random_state = random_state
        self.device = device

    @classmethod
    def answering(
        cls,
        new_points: NewPoints,
        calibration: Calibration,
        *,
        classes: np.ndarray,
        n_features: int,
        **parameters: Any,
    ) -> DiffusionClassifier:
        """Return a classifier that answers new points, and knows nothing of fitted ones.

        It is what a file of a model holds; parameters are those of the constructor.
        """
        model = cls(**parameters)
        model.classes_, model.n_features_in_ = classes, n_features
        model._new_points, model._fitted = new_points, _Restored(calibration)
        return model

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        label_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        score_prior: Any = None,
        score_accuracy: float | None = None,
        graph: PointGraph | None = None,
        **others: Any,
    ) -> DiffusionClassifier:
        """Build the graph of all points and diffuse the labels of some.

        Parameters
        ----------
        X : array-like of shape (n, d)
            All points, labelled or not; float32 and float64 are kept as they are.
        y : array-like of shape (n,)
            Labels. Unlabelled are the marks of `diffclass.names`: -1 (also among texts), None, NaN,
            missing values of pandas, masked entries and empty texts.
        label_weight : array-like of shape (n,), optional
            Weight of each label, 0 to 1. (This is not ``sample_weight``: a point of weight 0 stays
            in the graph.)
        groups : array-like of shape (n,), optional
            Labels of a class with the same value are one observation, like the pixels of a stroke;
            missing values stand for labels of their own. They matter for tau, and for calibration
            and prediction sets, which would otherwise learn from labels next to labels.
        score_prior : array-like or data frame of shape (n, n_classes), optional
            Scores from elsewhere, such as similarities to the names of the classes or an older
            classifier's probabilities; the higher, the more likely; NaN: none. The class of the
            highest is a hint beside the labels, which y may then lack. Columns of a data frame name
            the classes; those of an array are the classes of y in their order or, without labels,
            0, 1, ... See `diffclass.label_diffusion.score_prior`.
        score_accuracy : float, optional
            Share of the hints that are right, 0 to 1, as you know it from elsewhere. With one label
            per class it decides how much labels and hints count, which no label tells.
        graph : PointGraph, optional
            ``graph_`` of a classifier with the same parameters of the graph and other labels,
            fitted to the same X: it is not built again. (Hashes of the values tell whether X is the
            same.)
        **others
            Are refused with a TypeError; ``sample_weight`` is not known here.

        Returns
        -------
        DiffusionClassifier
            Itself.

        Raises
        ------
        DataError
            If X is not finite, y or groups has another length, y has no label, or the graph is of
            other points.
        ParameterError
            If a parameter is out of range, or a graph is given that was built with other
            parameters, or whose kernel depends on labels.

        Warns
        -----
        UnreachedWarning
            If no label reaches some points; it says why.
        ScaleWarning
            If half of the features count for nothing beside others a thousand times as large.
        UserWarning
            If every point has a label, and 0 looks like a mark of those without one, or if words
            such as "nan" are taken for marks; if a class with labels has no point of the map.
        """
        _refuse(others)
        self.check_parameters()
        X = self._checked(X, reset=True)
        if self.affinity is None:
            warn_of_scales(X)

        # labels: those given, None where there are hints alone, and hints beside them
        labels, hints = self._labels(
            y, X.shape[0], label_weight, groups, score_prior, score_accuracy
        )
        seeds = cast(Labels, labels) if hints is None else hints.labels(labels, ALONE)
        self.classes_ = seeds.classes
        rules = self._rules(seeds)

        # graph: neighbours, affinities, the operator A; equal points are one node
        processor = processor_of(self.device)
        if graph is None:
            graph = self._graph(X, y, seeds, rules, processor)
        else:
            self._check_graph(graph, X)
        self.graph_, self.operator_ = graph, graph.operator.on(processor)
        nodes = self.operator_.nodes
        points = X if nodes is None else X[nodes.first]
        labels = None if labels is None else labels.at_nodes(nodes)

        # diffuse: A^t chi_i up to the time tau, joined with what the features say
        hints = None if hints is None else hints.at_nodes(nodes)
        seeds, found = self._diffused(points, labels, hints)

        # keep: the map, and what new points need
        self.feature_opinion_: FeatureOpinion | None = found.opinion
        self.diffusion_ = found.diffusion.at_points(nodes)
        self._new_points = self._for_new_points(points, seeds, found.walked)
        self._read_off(X)
        warn_of_lost_classes(seeds, self.diffusion_.codes)
        self._fitted: _Fitted | _Restored = _Fitted(
            self.walk_,
            seeds,
            found.diffusion,
            self.raw_label_distributions_,
            self.diffusion_.codes >= 0,
            found.calibration,
        )
        return self

    def check_parameters(self) -> None:
        """Raise `ParameterError` for parameters that no points can be fitted with."""
        check_choice(self.label_mode, "label_mode", tuple(LABEL_MODES))
        checked_tau(self.tau)
        check_seed(self.random_state)
        if self.warp is not None:
            check_kind(self.warp, "warp", Warp, example="Warp(rounds=1)").check()
        check_join_features(self.join_features)
        if self._must_join and self.warp is not None:
            raise ParameterError(
                "join_features=True goes by held-out labels, which a warped walk knows; leave out "
                "one of them"
            )
        if self.affinity is not None:
            check_choice(self.affinity, "affinity", ("precomputed",), other="None")
            if self._must_join:
                raise ParameterError(
                    "join_features=True needs features, and a precomputed affinity has none; leave "
                    "it out"
                )
        if self.kept_classes is not None:
            check_kept_classes(self.kept_classes, self.label_mode)
            if self.warp is not None or self._must_join:
                raise ParameterError(
                    "kept_classes goes with neither warp nor join_features, which need all "
                    "classes; choose one"
                )

    def _check_hints(self) -> None:
        """Raise `ParameterError` for parameters that do not go with scores."""
        if self.warp is not None or self._must_join:
            raise ParameterError("score_prior goes with neither warp nor join_features; choose one")
        if not LABEL_MODES[self.label_mode].absorbs:
            raise ParameterError(
                f"score_prior with label_mode={self.label_mode!r}; hints stand beside absorbing "
                "labels: leave label_mode out"
            )

    def _rules(self, labels: Labels) -> DiffusionRules:
        return DiffusionRules.of(
            labels,
            label_mode=self.label_mode if labels.hints is None else ABSORBING.name,
            tau=self.tau,
            class_prior=self.class_prior,
            kept_classes=self.kept_classes,
        )

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each new point.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points; with ``affinity="precomputed"`` their (m, n) affinities.

        Returns
        -------
        ndarray of shape (m,)
            From ``classes_``, never -1.
        """
        codes = self.raw_predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the calibrated probabilities of the classes of new points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            As in `predict`.

        Returns
        -------
        ndarray of shape (m, n_classes)
            `raw_predict_proba` at the temperature of ``calibration_``, and uniform where that is;
            rows sum to 1.
        """
        check_is_fitted(self)
        return self._new_points.posteriors(self._checked(X, reset=False), self.calibration_)[0]

    def predict_set(self, X: Any, *, level: float = 0.9) -> np.ndarray:
        """Return for each new point the classes that may be its own, at a stated level.

        Parameters
        ----------
        X : array-like of shape (m, d)
            As in `predict`.
        level : float, default=0.9
            Share of the sets, between 0 and 1, that are to hold the true class. It holds on average
            over points that are drawn as the labels were, within what so few labels can say; see
            `diffclass.label_diffusion.calibration`.

        Returns
        -------
        ndarray of bool of shape (m, n_classes)
            With the class of `predict`; all classes where there are too few labels for the level.

        Raises
        ------
        ParameterError
            If the level is not between 0 and 1.
        """
        check_level(level)
        return self.calibration_.sets(self.predict_proba(X), level=level)

    def transductive_set(self, *, level: float = 0.9) -> np.ndarray:
        """Return for each fitted point the classes that may be its own; otherwise as `predict_set`.

        Returns
        -------
        ndarray of bool of shape (n, n_classes)
        """
        check_level(level)
        return self.calibration_.sets(self.label_distributions_, level=level)

    def raw_predict_proba(self, X: Any) -> np.ndarray:
        """Return the posteriors of new points: one step of the walk to the fitted points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            As in `predict`.

        Returns
        -------
        ndarray of shape (m, n_classes)
            Rows sum to 1. They are uniform, but for a very slight preference, where no label can be
            reached (for the class of the nearest label), and far outside the data (for the class
            where the step leads), where `novelty` is above 5.
        """
        return self.raw_predict_with_novelty(X)[0]

    def raw_predict_with_novelty(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return `raw_predict_proba` and `novelty`, (m, n_classes) and (m,), in one search."""
        check_is_fitted(self)
        return self._new_points.posteriors(self._checked(X, reset=False))

    def novelty(self, X: Any) -> np.ndarray:
        """Return how far new points lie outside the data, of shape (m,).

        It is the distance to a fitted point in units of that point's distance to its seventh
        neighbour, the least among the neighbours of the new point; above 5 nothing is known
        (`diffclass.graph`). 0 with ``affinity="precomputed"``.
        """
        return self.raw_predict_with_novelty(X)[1]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the labelled points whose class is predicted.

        How sure it is: `diffclass.evaluation.classification_scores` has intervals.

        Unlabelled points do not count, so that ``GridSearchCV`` and ``cross_val_score`` work on
        partly labelled y with their default ``scoring`` and any ``cv``. Other scores, such as
        ``scoring="balanced_accuracy"``, take -1 for a class that is never predicted: for these, and
        for points that stay in the graph while they are tested,
        see `diffclass.evaluation.PartlyLabelledKFold`.

        Parameters
        ----------
        X : array-like of shape (m, d)
            As in `predict`.
        y : array-like of shape (m,)
            Labels, marked as in `fit` where there is none.
        sample_weight : array-like of shape (m,), optional
            Weights of the points.

        Returns
        -------
        float
            0 to 1.

        Raises
        ------
        DataError
            If y has another length or no label.
        """
        from sklearn.metrics import accuracy_score

        check_is_fitted(self)
        X = self._checked(X, reset=False)
        classes, codes = encode_labels(y)
        if len(codes) != X.shape[0]:
            raise DataError(f"y has {len(codes)} entries; X has {X.shape[0]} points")
        labelled = np.flatnonzero(codes != UNLABELLED)
        if not len(labelled):
            raise DataError(
                "y holds no label to score; give labelled points, or fewer folds "
                "(cv=diffclass.evaluation.PartlyLabelledKFold() tests labelled points only)"
            )
        found = self.classes_[self._new_points.posteriors(X[labelled])[0].argmax(axis=1)]
        weight = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        return float(accuracy_score(classes[codes[labelled]], found, sample_weight=weight))

    @property
    def calibration_(self) -> Calibration:
        """How the posteriors of the walk become probabilities."""
        check_is_fitted(self)
        return self._fitted.calibration

    @property
    def label_distributions_(self) -> np.ndarray:
        """Calibrated probabilities of the fitted points."""
        check_is_fitted(self)
        if isinstance(self._fitted, _Restored):
            raise AttributeError("a model from a file knows new points only, not the fitted ones")
        return self._fitted.probabilities

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
        return tags

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_points(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if self.affinity == "precomputed" else False,
        )

    def _labels(
        self,
        y: Any,
        n_points: int,
        label_weight: ArrayLike | None,
        groups: ArrayLike | None,
        score_prior: Any,
        score_accuracy: float | None,
    ) -> tuple[Labels | None, ScorePrior | None]:
        """Return the labels of y, None where scores stand alone, and the hints of the scores."""
        hints = None
        if score_prior is not None:
            self._check_hints()
            y = np.full(n_points, UNLABELLED) if y is None else y
            hints = ScorePrior(score_prior, y, score_accuracy)
            if not (hints.y_codes >= 0).any():
                if label_weight is not None or groups is not None:
                    raise ParameterError(
                        "groups and label_weight are those of labels, and y has none; leave them "
                        "out"
                    )
                if score_accuracy is not None:
                    raise ParameterError(
                        "score_accuracy weighs scores against labels, and y has none; leave it out"
                    )
                return None, hints
        elif score_accuracy is not None:
            raise ParameterError("score_accuracy is that of score_prior, which is not given")
        if y is None:
            raise DataError(
                "DiffusionClassifier requires y to be passed, but the target y is None; "
                "mark unlabelled points with -1"
            )
        labels = Labels.of(y, label_weight, groups)
        labels.check_number(n_points, of="X")
        return labels, hints

    def _checked_kernel(self) -> Kernel:
        return SharedNeighbors() if self.kernel is None else check_kernel(self.kernel)

    def _check_graph(self, graph: PointGraph, X: Any) -> None:
        kernel = self._checked_kernel()
        check_kind(graph, "graph", PointGraph, example="earlier.graph_")
        if kernel.uses_scores:
            raise ParameterError(f"graph: that of {kernel} depends on the labels; leave it out")
        if graph.operator.n_points != X.shape[0]:
            raise DataError(f"graph has {graph.operator.n_points} points; X has {X.shape[0]}")
        if not graph.is_of(X):
            raise DataError(
                "graph is of other points than X, or X has been changed since; leave it out"
            )
        if self.affinity == "precomputed":
            asked = graph_parameters(self.alpha)
        else:
            asked = graph_parameters(self.alpha, kernel, self._neighborhood)
        known = dict(graph.parameters or {})
        if isinstance(graph.search, ExactSearch):  # which no seed changes
            known["random_state"] = asked["random_state"]
        others = differences(known, asked)
        if others:
            raise ParameterError(
                f"graph was built with other parameters ({', '.join(others)}); leave it out, or "
                "give the classifier those of the graph"
            )

    @property
    def _neighborhood(self) -> Neighborhood:
        return Neighborhood(self.n_neighbors, self.search, self.random_state, self.device)

    def _graph(
        self, X: Any, y: Any, labels: Labels, rules: DiffusionRules, processor: Processor
    ) -> PointGraph:
        if self.affinity == "precomputed":
            return PointGraph.from_affinity(X, alpha=self.alpha)
        kernel = self._checked_kernel()
        how = self._neighborhood
        first, scores = None, None
        if kernel.uses_scores:
            first = find_neighbors(X, SharedNeighbors(), how)
            walk = first.point_graph(SharedNeighbors(), alpha=self.alpha).operator
            walk = walk.on(processor)
            codes = diffuse(walk, labels.at_nodes(walk.nodes), rules).codes
            scores = walk.at_points(map_scores(walk, codes, labels.n_classes))
        found = find_neighbors(X, kernel, how, y=y, scores=scores, earlier=first)
        return found.point_graph(kernel, alpha=self.alpha, y=y, scores=scores)

    def _diffused(
        self, points: np.ndarray, labels: Labels | None, hints: ScorePrior | None
    ) -> tuple[Labels, JoinedMap]:
        """Diffuse labels, hints, or both; return what was diffused, and the map."""
        self.walk_: Operator = self.operator_
        self.n_rounds_, self.hint_weight_, self.hint_share_ = 0, None, None
        if hints is not None:
            hinted = hints.diffused(self.operator_, labels, self._rules)
            self.hint_weight_, self.hint_share_ = hinted.eta, hinted.share
            if hinted.eta != 0 or not self.joins_features:
                return hinted.labels, JoinedMap.of_walk(hinted.diffusion, hinted.calibration)
            # the hints do not count: the map is that of the labels, as without hints
        labels = cast(Labels, labels)
        rules = self._rules(labels)
        if self.joins_features:
            return labels, diffuse_joined(self.operator_, points, labels, rules)
        walked = diffuse(self.operator_, labels, rules)
        if self.warp is not None:
            walked = self._warped_rounds(labels, walked, self.warp)
        return labels, JoinedMap.of_walk(walked)

    @property
    def _must_join(self) -> bool:
        return self.join_features != "auto" and bool(self.join_features)

    @property
    def joins_features(self) -> bool:
        """Whether the features join the map of labels, by the parameters."""
        if self.join_features != "auto":
            return self._must_join
        others = self.affinity, self.warp, self.kept_classes
        return is_automatic(self.label_mode, self.tau) and all(other is None for other in others)

    def _warped_rounds(
        self, labels: Labels, diffused: LabelDiffusion, warp: Warp
    ) -> LabelDiffusion:
        rules, known = self._rules(labels), labels.strongest
        while self.n_rounds_ < warp.rounds:
            scores = diffused.posteriors.copy()
            pin(scores, known.points, known.codes)
            self.walk_ = warped_operator(
                self.operator_,
                scores,
                floor=warp.floor,
                forward_exponent=warp.forward_exponent,
            )
            before = diffused.codes
            diffused = diffuse(self.walk_, labels, rules)
            self.n_rounds_ += 1
            if np.mean(diffused.codes != before) < _CHANGED_SHARE:
                break
        return diffused

    def _for_new_points(
        self, points: np.ndarray, labels: Labels, walked: LabelDiffusion
    ) -> NewPoints:
        if labels.hints is not None and labels.given.any():  # a hint is no label beside one
            labels = labels.only(labels.given)
        nearest = labels.strongest
        return NewPoints(
            steps=self.graph_.steps,
            values=self.walk_.for_new_points(walked.values),
            class_weight=walked.class_weight,
            feature_opinion=self.feature_opinion_,
            labelled=None if self.affinity else points[nearest.points],
            labelled_codes=nearest.codes,
            dtype=self.operator_.dtype,
        )

    def _read_off(self, X: Any) -> None:
        diffused = self.diffusion_
        self.raw_label_distributions_ = diffused.posteriors
        self.margin_ = diffused.margin
        self.tau_ = diffused.tau
        self.margin_curve_ = diffused.curve
        self.transduction_ = decode_labels(self.classes_, diffused.codes)
        unreached = diffused.codes < 0
        if unreached.any():
            warn_of_unreached(self.operator_, unreached, tau=self.tau_)
            rows = self._new_points.nearest_rows(X[unreached])
            self.raw_label_distributions_ = with_rows(diffused.posteriors, unreached, rows)


def _refuse(others: dict[str, Any]) -> None:
    """Refuse arguments that `fit` does not know."""
    for name in others:
        hint = "; label_weight says how much labels count" if name == "sample_weight" else ""
        raise TypeError(f"DiffusionClassifier.fit() got an unexpected argument {name!r}{hint}")
