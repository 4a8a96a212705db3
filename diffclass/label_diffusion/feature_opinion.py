"""The opinion of the features: functions of them, joined with the map of the walk.

The walk knows a point by its neighbours. Where classes overlap or are mixtures of one another it
crosses their borders, and a smooth function of the features tells them apart better; where a class
winds through the features it is the other way round. There are three such functions, of features z
in standard units:

*of the labels*, the means of two Gaussian processes with c classes, labelled points L, their
classes as indicators Y and their weights W,

    v(x) = 1/c + k(x, L) (k(L, L) + s W^-1)^-1 (Y - 1/c),    s = 0.1,

a linear one with k(x, y) = 1 + <z(x), z(y)> / r^2 and a curved one with
k(x, y) = 1 + exp(-|z(x) - z(y)|^2 / 2 r^2), where r^2 is the sum of the variances of the labelled
points. The curved one has a bump at each label, of at most 256;

*of the map*, linear discriminants of its classes,

    u_i(x) = <m_i, S^-1 (z(x) - m_i / 2)> + log f_i,

with m_i and f_i the mean and the share of class i, and S the covariance within the classes. They
learn from all points, also where few are labelled: single points on the wrong side of a border
hardly move them.

*The pool.* Each function, v or u, joins the posteriors p of the walk, at their calibrated
temperature T, as

    q_i = p_i^(a/T) exp(b v_i), divided by their sum,

with a = 0, 1/2, 1 and b = 0 (the walk alone) or one of a few steps. Nothing is chosen: each of
these is as likely as it predicts the held-out labels well, times a prior, and the logarithms of all
of them are averaged. So the result is a pool once more, with the means of a and of b.

The prior prefers the walk where its map has clusters, and so where four steps seldom end in another
class: with the `Calibration.crossing` r, it is r^(1 - a) for b > 0 and r^(1 - 2 a) for b = 0, but r
is at least e^-3. Of the functions, u is preferred by e to the curved v, which knows the labels
alone, and that by e to the linear one, which is far off where single points are. The prior lessens
sharp functions of the labels by e^(-b / 10). Where labels are few, or tell nothing, the walk
decides.

*Held-out labels.* What the walk says without a label is known from calibration. What v says is in
closed form: with H = (k(L, L) + s W^-1)^-1 and h = H (Y - 1/c) the labels of a group B that are
left out have v = Y_B - H_BB^-1 h_B. For u, those points of the group's class are left out to which
a label of the group is the nearest one of the class, since the map knows them by it. With one label
or group per class none is left out, and the walk decides alone.

*Sizes of the classes* are aimed at from the joined map. Weights w_i of the classes are one more
factor of q_i. Where borders move (`diffclass.label_diffusion.class_sizes`), the graph alone has
drawn them, so the features join this map as they join that of the walk, and weights keep its sizes.

s, the steps and the prior were chosen on the choosing half of the problems of
`experiments.few_labels.benchmark`, which has the figures.

Sources: C. Rasmussen and C. Williams, Gaussian processes for machine learning, 2006, sections 2.1
(linear kernel), 4.2.1 (squared exponential) and 5.4.2 (leaving one out); J. Hoeting et al.,
Bayesian model averaging, 1999; C. Genest and J. Zidek, Combining probability distributions, 1986
(logarithmic pools); T. Hastie, R. Tibshirani and J. Friedman, The elements of statistical learning,
2009, section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from diffclass import _compiled
from diffclass._validation import check_kind
from diffclass.label_diffusion.calibration import Calibration, calibrate_by, floored
from diffclass.label_diffusion.class_sizes import SIZED, ClassSizes, weights_as_of
from diffclass.label_diffusion.diffusion import LabelDiffusion, at_sizes, diffuse
from diffclass.label_diffusion.held_out_labels import HeldOutLabels, hold_out_labels
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import counted_every, posteriors_of
from diffclass.label_diffusion.stopping import DiffusionRules
from diffclass.neighbors.cell_tree import padded
from diffclass.neighbors.number_range import nearest_of
from diffclass.operators.markov import MarkovOperator
from diffclass.system.costs import Cost, Size
from diffclass.system.progress import stage

_NOISE = 0.1  # s
_RIDGE = 0.01  # of S: this share of it is the mean variance in all directions
_MOST_DIRECTIONS = 60  # of the features in which S is known; of more, the leading ones count
_MOST_ROWS = 5000  # from which these directions are found
_MOST_LABELS = 2000  # from which the features are learnt: their matrix is dense
_MOST_BUMPS = 256  # of them: each is a distance from every point
_MOST_VALUES = 4_000_000  # of the features that are read at a time
_TRUSTS = (0.0, 0.5, 1.0)  # a
_OF_LABELS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # b of v
_OF_MAP = (0.25, 0.5, 1.0)  # b of u
_LESS_SHARP = 0.1  # logarithm of the prior, for each unit of b
_PREFERRED = {"linear": -1.0, "curved": 0.0, "of the map": 1.0}  # and by which a function is
_MOST_PREFERRED = 3.0  # -log r
_SAME_PLACE = 1e-12  # r^2 of labels that differ by rounding
_LEAST = 1e-30  # of a posterior, and of the share of a class without points


class Rows(Protocol):
    """Points of which some are read: an array, or a file."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class FeatureOpinion:
    """What the features say, and how much it counts.

    Attributes
    ----------
    mean, scale : ndarray of shape (d,)
        Of the features, whose standard units are (x - mean) / scale.
    coefficients : ndarray of shape (d, n_classes)
        Of the features in standard units: those of v and u, each times the mean of its b.
    intercept : ndarray of shape (n_classes,)
    centers : ndarray of shape (m, d)
        Labelled points in standard units, the centres of the bumps.
    bumps : ndarray of shape (m, n_classes)
        Their heights: those of the curved v, times the mean of its b.
    rate : float
        1 / 2 r^2.
    exponent : float
        Mean of a / T.
    weight : float
        Probability that the features count, 0 to 1; 0 without held-out labels.
    n_held_out : int
        Number of labels that were held out.
    """

    mean: np.ndarray
    scale: np.ndarray
    coefficients: np.ndarray
    intercept: np.ndarray
    centers: np.ndarray
    bumps: np.ndarray
    rate: float
    exponent: float
    weight: float
    n_held_out: int

    def joined(self, posteriors: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return q: posteriors p (n, n_classes) joined with what the features X (n, d) say."""
        joined = np.empty_like(posteriors)
        with np.errstate(over="ignore"):  # bumps that far are 0 everywhere
            centers = padded(self.centers.astype(np.float32)).T.copy()
        n_rows = max(1, _MOST_VALUES // max(X.shape[1], 1))
        for start in range(0, len(X), n_rows):
            block = slice(start, start + n_rows)
            z = (_doubles(X[block]) - self.mean) / self.scale
            _compiled.gaussians.join(
                z, self.coefficients, self.intercept, centers, np.float32(self.rate), self.bumps,
                posteriors[block], self.exponent, _LEAST, joined[block],
            )  # fmt: skip
        return joined

    def weighed(self, class_weight: np.ndarray) -> FeatureOpinion:
        """Return the opinion with a weight (n_classes,) of each class as one more factor."""
        return replace(self, intercept=self.intercept + np.log(class_weight))


def read_rows(n_points: int, n_features: int) -> slice:
    """Return the points from which the opinion is learnt: all, or every so many."""
    of_values = 1 + n_points * n_features // _MOST_VALUES
    return slice(None, None, max(counted_every(n_points), of_values))


def opinion_cost(size: Size) -> Cost:
    """Return what learning the opinion costs, and joining it with posteriors."""
    n_labels = min(size.points, _MOST_LABELS)
    rank = min(n_labels, size.features + 1)
    values = 9 * min(size.points * size.features, _MOST_VALUES) // 2  # and copies
    return Cost(8 * (values + 3 * n_labels * size.features + 3 * rank**2))


def check_join_features(join_features: Any) -> None:
    """Raise `ParameterError` for anything else than "auto", True and False."""
    if not (isinstance(join_features, str) and join_features == "auto"):
        check_kind(join_features, "join_features", (bool, np.bool_), example='"auto" or False')


@dataclass(frozen=True, eq=False)
class JoinedMap:
    """Diffused labels, joined with what the features say.

    Attributes
    ----------
    walked : LabelDiffusion
        That of the walk, with borders that have moved to sizes of the classes where they count.
    diffusion : LabelDiffusion
        With the joined posteriors as values; that of the walk without an opinion. Points that no
        label has reached stay so.
    opinion : FeatureOpinion or None
        What the features say; None where no label can be held out.
    calibration : Calibration or None
        Of the diffusion, where it was found on the way.
    """

    walked: LabelDiffusion
    diffusion: LabelDiffusion
    opinion: FeatureOpinion | None = None
    calibration: Calibration | None = None

    @classmethod
    def of_walk(cls, walked: LabelDiffusion, calibration: Calibration | None = None) -> JoinedMap:
        """Return the map of the walk alone."""
        return cls(walked, walked, None, calibration)


def diffuse_joined(
    operator: MarkovOperator, X: np.ndarray, labels: Labels, rules: DiffusionRules
) -> JoinedMap:
    """Diffuse labels, and join what the features say as far as held-out labels speak for it.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    X : ndarray of shape (n, d)
        The features of the points.
    labels : Labels
        Those of one group are held out together.
    rules : DiffusionRules
        How labels diffuse. Sizes of the classes are those of the joined map.

    Returns
    -------
    JoinedMap
        Costs what `diffuse_labels` and `calibrate` do, four more steps of one column per class, and
        one product of the features.

    Examples
    --------
    A cube of ten dimensions, which a plane halves; no gap in the points tells the graph where:

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> from diffclass.label_diffusion import DiffusionRules, Labels, diffuse_joined
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(600, 10))
    >>> truth = (X[:, 0] > 0).astype(int)
    >>> labels = Labels.of(np.where(np.arange(600) < 40, truth, -1))
    >>> operator = markov_operator(X, n_neighbors=12)
    >>> found = diffuse_joined(operator, X, labels, DiffusionRules.of(labels))
    >>> maps = found.walked, found.diffusion
    >>> [round(float((one.codes == truth).mean()), 2) for one in maps]
    [0.83, 0.89]
    """
    # sizes come last: they are wishes for the joined map
    walked = diffuse(operator, labels, replace(rules, sizes=None))
    with stage("calibration"):
        found, left = _joined(operator, X, labels, walked)
        if found.opinion is None:
            if rules.sizes is None:
                return found
            return JoinedMap.of_walk(diffuse(operator, labels, rules))
        if rules.sizes is not None:
            found, left = _at_sizes(operator, X, labels, found, left, rules.sizes)
        return replace(found, calibration=calibrate_by(operator, found.diffusion, left))


def _joined(
    operator: MarkovOperator, X: np.ndarray, labels: Labels, walked: LabelDiffusion
) -> tuple[JoinedMap, HeldOutLabels]:
    """Join a map with what the features say; return it with what it says of held-out labels."""
    left = hold_out_labels(operator, labels, walked)
    calibration = calibrate_by(operator, walked, left)
    if not len(left.points):
        return JoinedMap.of_walk(walked, calibration), left
    mass = operator.mass
    mass = None if mass is None else mass[read_rows(*X.shape)]
    opinion, without = opinion_of(X, walked.codes, labels, left, calibration, mass=mass)
    joined = walked.with_posteriors(opinion.joined(walked.posteriors, X))
    return JoinedMap(walked, joined, opinion), replace(left, posteriors=without)


def _at_sizes(
    operator: MarkovOperator,
    X: np.ndarray,
    labels: Labels,
    found: JoinedMap,
    left: HeldOutLabels,
    sizes: ClassSizes,
) -> tuple[JoinedMap, HeldOutLabels]:
    """Bring a joined map to sizes as far as the graph agrees; return what `_joined` does."""
    sized = at_sizes(operator, labels, found.diffusion, sizes, may_move=True)
    if sized.weighting not in SIZED:
        return found, left
    weight = sized.class_weight
    if sized.weighting == "moved":  # the rounds have forgotten what the features said
        found, left = _joined(operator, X, labels, sized)
        counted = slice(None, None, counted_every(len(sized.codes)))
        mass = None if operator.mass is None else operator.mass[counted]
        weight = weights_as_of(sized.codes[counted], found.diffusion.values[counted], mass)
    assert found.opinion is not None  # the labels held out are the same
    weighed = found.diffusion.weighed(weight, "matched")
    left = replace(left, posteriors=posteriors_of(left.posteriors, weight))
    return replace(found, diffusion=weighed, opinion=found.opinion.weighed(weight)), left


@dataclass(frozen=True, eq=False)
class _Function:
    """A function of features in standard units, and its values without held-out labels."""

    coefficients: np.ndarray  # (d, n_classes)
    intercept: np.ndarray  # (n_classes,)
    without: np.ndarray  # (m, n_classes)
    steps: tuple[float, ...]  # b
    preferred: float  # logarithm of the prior
    less_sharp: float = 0.0  # and what is taken from it for each unit of b
    bumps: np.ndarray | None = None  # (n_bumps, n_classes)


@threadpool_limits.wrap(limits=1)  # BLAS and OpenMP: such threads wait more than they work
def opinion_of(
    X: Rows,
    codes: np.ndarray,
    labels: Labels,
    left: HeldOutLabels,
    calibration: Calibration,
    *,
    mass: np.ndarray | None,
) -> tuple[FeatureOpinion, np.ndarray]:
    """Return what the features say, and the joined posteriors of the held-out labels.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The features of the points; of `read_rows`, and of those with labels, they are read.
    codes : ndarray of int of shape (n,)
        The map of the walk.
    labels : Labels
    left : HeldOutLabels
        Some of them, and what the walk says of their points without them.
    calibration : Calibration
        Of the walk's posteriors.
    mass : ndarray of shape (m,) or None
        How many equal points each one of `read_rows` is.
    """
    learnt = _learnt_from(labels.only(labels.counted), left, _MOST_LABELS)
    labelled = _doubles(X[learnt.points])
    read = read_rows(len(X), labelled.shape[1])
    points = _doubles(X[read])
    mean, scale = _standard_units(points)
    nearest = _nearest_of_class(points, codes[read], labelled, learnt.codes)
    points -= mean
    points /= scale
    reached = codes[read] >= 0
    on_map = _Map(
        points[reached],
        codes[read][reached],
        np.ones(np.count_nonzero(reached)) if mass is None else mass[reached].astype(np.float64),
        nearest[reached],
    )
    del points
    labelled = (labelled - mean) / scale
    spread = float(labelled.var(axis=0).sum())  # r^2
    if spread < _SAME_PLACE:
        spread = 1.0
    near = _learnt_from(learnt, left, _MOST_BUMPS)
    centers = labelled[np.searchsorted(learnt.points, near.points)]
    functions = [
        _linear(labelled, learnt, left, spread),
        _curved(centers, near, left, spread),
        _of_map(on_map, labelled, learnt, left),
    ]
    walk = _logarithms(left.posteriors) / calibration.temperature
    preference = float(-np.log(np.clip(calibration.crossing, np.exp(-_MOST_PREFERRED), 1)))
    trust, sharpness, alone = _means(walk, functions, left.codes, preference)
    weighed = list(zip(sharpness, functions, strict=True))
    says = sum(b * one.without for b, one in weighed)
    opinion = FeatureOpinion(
        mean,
        scale,
        sum(b * one.coefficients for b, one in weighed),
        sum(b * one.intercept for b, one in weighed),
        centers,
        sum(b * one.bumps for b, one in weighed if one.bumps is not None),
        rate=1 / (2 * spread),
        exponent=trust / calibration.temperature,
        weight=1 - alone,
        n_held_out=len(left.points),
    )
    return opinion, softmax(trust * walk + says, axis=1)


def _means(
    walk: np.ndarray, functions: list[_Function], codes: np.ndarray, preference: float
) -> tuple[float, np.ndarray, float]:
    """Return the means of a and of each b, and the probability that b is 0.

    ``preference`` is -log r.
    """
    pools = []  # a, the number of the function, b, and the logarithm of the probability
    for a in _TRUSTS:
        prior = -preference * (1 - a)
        pools.append((a, 0, 0.0, prior + preference * a - _loss(a * walk, codes)))
        for k, one in enumerate(functions):
            for b in one.steps:
                loss = _loss(a * walk + b * one.without, codes)
                pools.append((a, k, b, prior + one.preferred - one.less_sharp * b - loss))
    trusts, numbers, steps, logarithms = map(np.array, zip(*pools, strict=True))
    probability = np.exp(logarithms - logarithms.max())
    probability /= probability.sum()
    sharpness = np.bincount(numbers, probability * steps, len(functions))
    return float(probability @ trusts), sharpness, float(probability[steps == 0].sum())


def _linear(labelled: np.ndarray, learnt: Labels, left: HeldOutLabels, spread: float) -> _Function:
    """Return the linear v."""
    factor = np.column_stack([np.ones(len(labelled)), labelled / np.sqrt(spread)])
    if factor.shape[1] > len(factor):
        factor = np.asarray(np.linalg.qr(factor.T, mode="r")).T
    h, without = _process(factor, learnt, left)
    of_labels = _OF_LABELS, _PREFERRED["linear"], _LESS_SHARP
    return _Function(labelled.T @ h / spread, h.sum(axis=0), without, *of_labels)


def _curved(centers: np.ndarray, learnt: Labels, left: HeldOutLabels, spread: float) -> _Function:
    """Return the curved v."""
    kernel = np.exp(-cdist(centers, centers, "sqeuclidean") / (2 * spread))
    values, vectors = eigh(1 + kernel)
    factor = vectors * np.sqrt(np.maximum(values, 0))  # equal points make it singular
    h, without = _process(factor, learnt, left)
    nothing = np.zeros((centers.shape[1], h.shape[1]))
    of_labels = _OF_LABELS, _PREFERRED["curved"], _LESS_SHARP
    return _Function(nothing, h.sum(axis=0), without, *of_labels, bumps=h)


def _process(
    factor: np.ndarray, learnt: Labels, left: HeldOutLabels
) -> tuple[np.ndarray, np.ndarray]:
    """Return h = H (Y - 1/c), (n_labels, n_classes), and v without the held-out labels.

    ``factor`` F (n_labels, rank) has k(L, L) = F F^T, so H = P - P F (1 + F^T P F)^-1 F^T P with
    P = W / s.
    """
    n_classes = left.posteriors.shape[1]
    centred = np.eye(n_classes)[learnt.codes] - 1 / n_classes
    precision = learnt.weight[:, None] / _NOISE
    weighed = precision * factor
    inner = np.linalg.inv(np.eye(factor.shape[1]) + factor.T @ weighed)
    h = precision * centred - weighed @ (inner @ (weighed.T @ centred))
    without = np.empty(left.posteriors.shape)
    for row, label in enumerate(np.searchsorted(learnt.points, left.points)):
        block = np.flatnonzero(learnt.groups == learnt.groups[label])
        of_block = np.diag(precision[block, 0]) - weighed[block] @ inner @ weighed[block].T
        residuals = np.linalg.solve(of_block, h[block])
        without[row] = centred[label] - residuals[np.searchsorted(block, label)]
    return h, without


@dataclass(frozen=True, eq=False)
class _Map:
    """Points, the classes of the map, how many equal ones there are, and what knows them."""

    points: np.ndarray  # (n, d)
    codes: np.ndarray  # (n,)
    weight: np.ndarray  # (n,)
    nearest: np.ndarray  # (n,), the nearest label of the same class, -1 for none

    def sums(self, n_classes: int, at: np.ndarray | slice = slice(None)) -> list[np.ndarray]:
        """Return the sizes of the classes, the sums of their points, and that of the squares."""
        points, member = self.points[at], np.eye(n_classes)[self.codes[at]]
        member *= self.weight[at, None]
        squares = (points * self.weight[at, None]).T @ points
        return [member.sum(axis=0), member.T @ points, squares]


def _of_map(on_map: _Map, labelled: np.ndarray, learnt: Labels, left: HeldOutLabels) -> _Function:
    """Return u."""
    axes = _leading_directions(on_map.points)
    on_map, labelled = replace(on_map, points=on_map.points @ axes), labelled @ axes
    whole = on_map.sums(n_classes := left.posteriors.shape[1])
    share = whole[0] / whole[0].sum()
    coefficients, intercept = _discriminants(whole, share)
    # what the map knows by each group, one after the other; -1 is before them
    group = np.where(on_map.nearest < 0, -1, learnt.groups[on_map.nearest])
    in_order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[in_order], np.arange(int(learnt.groups.max()) + 2))
    without = np.empty(left.posteriors.shape)
    for row, label in enumerate(np.searchsorted(learnt.points, left.points)):
        own = learnt.groups[label]
        part = on_map.sums(n_classes, in_order[bounds[own] : bounds[own + 1]])
        W, w = _discriminants([a - b for a, b in zip(whole, part, strict=True)], share)
        without[row] = labelled[label] @ W + w
    return _Function(axes @ coefficients, intercept, without, _OF_MAP, _PREFERRED["of the map"])


def _nearest_of_class(
    points: np.ndarray, codes: np.ndarray, labelled: np.ndarray, codes_of_labels: np.ndarray
) -> np.ndarray:
    """Return the nearest label of the same class as each point on the map, -1 for none; (n,).

    Labels of other classes may be nearer: where one label of a class is left out, half of what the
    map knows by it would stay.
    """
    nearest = np.full(len(points), -1, dtype=np.intp)
    for c in np.unique(codes_of_labels):
        members, own = np.flatnonzero(codes == c), np.flatnonzero(codes_of_labels == c)
        if len(members):
            nearest[members] = own[nearest_of(points[members], labelled[own])]
    return nearest


def _discriminants(
    sums_of_map: list[np.ndarray], share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients (d, n_classes) and intercepts of u from `_Map.sums`."""
    sizes, sums, squares = sums_of_map
    d, total = len(squares), max(float(sizes.sum()), _LEAST)
    means = sums / np.maximum(sizes, _LEAST)[:, None]
    means[sizes < 0.5] = sums.sum(axis=0) / total  # a class without points
    S = (squares - sums.T @ means) / total
    even = float(np.trace(S)) / max(d, 1)
    S = (1 - _RIDGE) * S + (_RIDGE * even if even > 0 else 1.0) * np.eye(d)
    coefficients = np.linalg.solve(S, means.T)
    intercept = np.log(np.maximum(share, _LEAST)) - (means.T * coefficients).sum(axis=0) / 2
    return coefficients, intercept


def _leading_directions(points: np.ndarray) -> np.ndarray:
    """Return all directions in which few points lie, or the leading ones, (d, n_directions)."""
    axes = np.eye(points.shape[1])[:, points.any(axis=0)]  # a constant feature is 0
    if axes.shape[1] <= _MOST_DIRECTIONS:
        return axes
    some = points[:: 1 + len(points) // _MOST_ROWS][:, points.any(axis=0)]
    leading = _leading_eigenvectors(some @ some.T if len(some) < some.shape[1] else some.T @ some)
    if len(some) < some.shape[1]:
        leading = some.T @ leading
        leading /= np.linalg.norm(leading, axis=0)
    return axes @ leading


def _leading_eigenvectors(A: np.ndarray) -> np.ndarray:
    """Return those of the largest eigenvalues of a symmetric matrix, as columns."""
    n = len(A)
    return eigh(A, subset_by_index=(max(n - _MOST_DIRECTIONS, 0), n - 1))[1]


def _doubles(X: np.ndarray) -> np.ndarray:
    """Return points in double precision and in one order, whatever theirs is in memory."""
    return X.astype(np.float64, order="C")


def _standard_units(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and standard deviations of features; 1 where all points are the same."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2  # squares of these neither vanish
    varies = half > 0  # nor overflow
    half = np.where(varies, half, 1.0)
    z = (points - middle) / half
    mean, deviation = z.mean(axis=0), z.std(axis=0)
    return middle + half * mean, np.where(varies, half * deviation, 1.0)


def _learnt_from(labels: Labels, left: HeldOutLabels, most: int) -> Labels:
    """Return at most so many labels, those held out among them."""
    if len(labels.points) <= most:
        return labels
    others = np.setdiff1d(labels.points, left.points)
    others = np.random.default_rng(0).choice(others, most - len(left.points), replace=False)
    return labels.only(np.isin(labels.points, np.concatenate([left.points, others])))


def _logarithms(posteriors: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(posteriors, _LEAST), dtype=np.float64)


def _loss(logarithms: np.ndarray, codes: np.ndarray) -> float:
    """Return the log loss of the held-out labels."""
    own = floored(softmax(logarithms, axis=1))[np.arange(len(codes)), codes]
    return -float(np.log(own).sum())
