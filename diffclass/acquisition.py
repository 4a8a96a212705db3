"""What to label next: rules that score every point, and a choice of points well apart.

A rule gives each point a score, larger = label first, from the walk, the diffused labels and,
some of them, the leading eigenpairs of A. Rules that look at more than the map take note of every
point that is chosen, so that a batch is spread out.

    margin         1 - (p_(1) - p_(2)), where the classes are closest to each other
    unexplored     - (A^tau chi_L)(x), how rarely the walk from x is at one of the labels L at tau
    distance       q(x) min_{l in L} D_tau(x, l), dense and far from the labels
    vopt           by how much a label at x lowers the mean variance of a Gaussian process
    sigma-opt      by how much it lowers the variance of the process's mean over all points
    model-change   how far the label that is expected at x would move the process
    uncertainty    (1 - margin) times the standard deviation of the process
    hybrid         vopt while the labels leave much of the variance, then margin

The process is f = sum_l w_l psi_l over the leading eigenvectors, orthonormal in the weights pi,
with independent weights of variance proportional to 1 / (1 - lambda_l + offset), scaled so that
the mean prior variance is 1. A label at x is f(x) plus noise of variance gamma; of the weights it
leaves the covariance M - M psi(x) psi(x)' M / (gamma + psi(x)' M psi(x)) (Sherman and Morrison),
an m x m matrix. With C = Psi M Psi', the score of vopt is sum_z pi(z) C(z,x)^2 / (gamma + C(x,x)),
that of sigma-opt (sum_z pi(z) C(z,x))^2 / (gamma + C(x,x)), and the model's change is
|e - p(x)| sqrt(sum_z pi(z) C(z,x)^2) / (gamma + C(x,x)), e the indicator of the likeliest class.

Sources: M. Ji and J. Han, A variance minimization criterion to active learning on graphs, 2012;
Y. Ma, R. Garnett and J. Schneider, Sigma-optimality for active learning on Gaussian random fields,
2013; K. Miller and A. Bertozzi, Model-change active learning in graph-based semi-supervised
learning, 2021 (eigenpairs, and the likeliest class in place of the unknown one); K. Miller and J.
Calder, Poisson reweighted Laplacian uncertainty sampling, 2023 (explore first, then where classes
meet). These take phi_l, and sums without pi.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from diffclass._validation import check_choice, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion import LabelDiffusion
from diffclass.operators.markov import MarkovOperator
from diffclass.progress import stage
from diffclass.spectral.distances import diffusion_coordinates
from diffclass.spectral.eigenpairs import Eigenpairs, leading_eigenpairs

N_PAIRS = 50
_OFFSET, _NOISE = 0.01, 0.1  # from 0.001 to 0.1 and from 0.01 to 1 they matter little
_TOLERANCE = 1e-4  # of eigenpairs: scores need no more


@dataclass(frozen=True)
class Suggestions:
    """Points to label, the first first.

    Attributes
    ----------
    points : ndarray of int of shape (n_suggested,)
        Their numbers; fewer than asked for where no more lie far enough apart.
    scores : ndarray of shape (n_suggested,)
        The rule's score of each when it was chosen; scales differ from rule to rule.
    rule : str
        The rule's name.
    """

    points: np.ndarray
    scores: np.ndarray
    rule: str

    def __len__(self) -> int:
        return len(self.points)


class Rule:
    """Scores every point; larger = label first.

    Attributes
    ----------
    uses_eigenpairs : bool
        Whether `start` needs eigenpairs.
    """

    uses_eigenpairs = False

    def start(
        self,
        operator: MarkovOperator,
        diffusion: LabelDiffusion,
        labelled: np.ndarray,
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        """Look at the state of affairs.

        Parameters
        ----------
        operator : MarkovOperator
            Of n points.
        diffusion : LabelDiffusion
            Of the labels that there are.
        labelled : ndarray of int
            Numbers of the labelled points.
        eigenpairs : Eigenpairs, optional
            Leading eigenpairs, for rules that use them.
        """
        raise NotImplementedError

    def scores(self) -> np.ndarray:
        """Return one score a point, of shape (n,)."""
        raise NotImplementedError

    def observe(self, point: int) -> None:
        """Take note that a point will be labelled; its class is not known yet."""


class Margin(Rule):
    """1 - margin: 1 where two classes are equally likely or no label has arrived."""

    def start(
        self,
        operator: MarkovOperator,
        diffusion: LabelDiffusion,
        labelled: np.ndarray,
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        """Read the margins."""
        self._scores = 1 - diffusion.margin.astype(np.float64)

    def scores(self) -> np.ndarray:
        """Return 1 - margin."""
        return self._scores


class Unexplored(Rule):
    """- (A^tau chi_L)(x): how rarely the walk from x is at one of the labels L at the time tau."""

    def start(
        self,
        operator: MarkovOperator,
        diffusion: LabelDiffusion,
        labelled: np.ndarray,
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        """Diffuse the indicator of all labelled points."""
        self._operator, self._tau = operator, diffusion.tau
        self._mass = self._arriving(labelled)

    def scores(self) -> np.ndarray:
        """Return - A^tau chi_L."""
        return -self._mass

    def observe(self, point: int) -> None:
        """Add the point to L."""
        self._mass += self._arriving(point)

    def _arriving(self, points: Any) -> np.ndarray:
        indicator = np.zeros(len(self._operator))
        indicator[points] = 1
        return self._operator.apply(indicator, self._tau).astype(np.float64)


class Distance(Rule):
    """q(x) times the diffusion distance D_tau from x to the nearest label, by eigenpairs."""

    uses_eigenpairs = True

    def start(
        self,
        operator: MarkovOperator,
        diffusion: LabelDiffusion,
        labelled: np.ndarray,
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        """Find every point's nearest label."""
        self._coordinates = diffusion_coordinates(_given(eigenpairs), diffusion.tau)
        self._density = operator.density
        labels = self._coordinates[labelled]
        self._nearest = pairwise_distances_argmin_min(self._coordinates, labels)[1]

    def scores(self) -> np.ndarray:
        """Return density times distance."""
        return self._density * self._nearest

    def observe(self, point: int) -> None:
        """Take the point for a label."""
        away = np.linalg.norm(self._coordinates - self._coordinates[point], axis=1)
        np.minimum(self._nearest, away, out=self._nearest)


class ProcessRule(Rule):
    """What the rules by variance share: the Gaussian process and the residual of its labels.

    Parameters
    ----------
    offset : float, default=0.01
        Added to 1 - lambda_l; above 0.
    noise : float, default=0.1
        gamma, the variance of a label about f, relative to the mean prior variance; above 0.
    """

    uses_eigenpairs = True

    def __init__(self, *, offset: float = _OFFSET, noise: float = _NOISE):
        self.offset = offset
        self.noise = noise

    def start(
        self,
        operator: MarkovOperator,
        diffusion: LabelDiffusion,
        labelled: np.ndarray,
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        """Condition the process on the labels."""
        self.process_ = Process(_given(eigenpairs), offset=self.offset, noise=self.noise)
        self.process_.observe_all(labelled)
        self._diffusion = diffusion

    def observe(self, point: int) -> None:
        """Condition the process on a label here too."""
        self.process_.observe(point)


class VOpt(ProcessRule):
    """By how much a label at x lowers the mean variance (Ji and Han 2012)."""

    def scores(self) -> np.ndarray:
        """Return sum_z pi(z) C(z,x)^2 / (gamma + C(x,x))."""
        return self.process_.squares() / self.process_.with_noise()


class SigmaOpt(ProcessRule):
    """By how much a label at x lowers the variance of the mean (Ma, Garnett and Schneider 2013)."""

    def scores(self) -> np.ndarray:
        """Return (sum_z pi(z) C(z,x))^2 / (gamma + C(x,x))."""
        return self.process_.means() ** 2 / self.process_.with_noise()


class ModelChange(ProcessRule):
    """How far the likeliest label at x would move the process (Miller and Bertozzi 2021)."""

    def start(
        self,
        operator: MarkovOperator,
        diffusion: LabelDiffusion,
        labelled: np.ndarray,
        eigenpairs: Eigenpairs | None = None,
    ) -> None:
        """Condition the process and take the residuals of the likeliest classes."""
        super().start(operator, diffusion, labelled, eigenpairs)
        residuals = diffusion.posteriors.astype(np.float64)
        residuals[np.arange(len(residuals)), residuals.argmax(axis=1)] -= 1
        self._residual = np.linalg.norm(residuals, axis=1)

    def scores(self) -> np.ndarray:
        """Return |e - p(x)| sqrt(sum_z pi(z) C(z,x)^2) / (gamma + C(x,x))."""
        return self._residual * np.sqrt(self.process_.squares()) / self.process_.with_noise()


class Uncertainty(ProcessRule):
    """(1 - margin) times the standard deviation: where the classes are close, but not twice."""

    def scores(self) -> np.ndarray:
        """Return (1 - margin(x)) sqrt(C(x,x))."""
        return (1 - self._diffusion.margin) * np.sqrt(self.process_.variances())


class Hybrid(VOpt):
    """`VOpt` while the labels leave much of the process unknown, `Margin` from then on.

    Counting what is known by its variance, not by labels, tells a few strokes of many pixels from
    as many labels all over the picture.

    Parameters
    ----------
    explored : float, default=0.25
        Mean variance, 0 to 1 (that of the prior), below which margins take over; with 50
        eigenpairs some thirty labels far from each other leave 0.25.
    offset, noise : float
        As in `ProcessRule`.
    """

    def __init__(self, *, explored: float = 0.25, offset: float = _OFFSET, noise: float = _NOISE):
        super().__init__(offset=offset, noise=noise)
        self.explored = explored

    def scores(self) -> np.ndarray:
        """Return vopt's scores or 1 - margin."""
        if self.process_.mean_variance > self.explored:
            return super().scores()
        return 1 - self._diffusion.margin.astype(np.float64)


RULES: dict[str, type[Rule]] = {
    "hybrid": Hybrid,
    "margin": Margin,
    "unexplored": Unexplored,
    "distance": Distance,
    "vopt": VOpt,
    "sigma-opt": SigmaOpt,
    "model-change": ModelChange,
    "uncertainty": Uncertainty,
}


class Process:
    """The Gaussian process f = sum_l w_l psi_l, and what labels leave of its covariance.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        m eigenpairs of n points.
    offset, noise : float
        See `ProcessRule`.

    Notes
    -----
    A label costs n m multiplications, many at once n m^2; memory two arrays of n x m.
    """

    def __init__(self, eigenpairs: Eigenpairs, *, offset: float = _OFFSET, noise: float = _NOISE):
        check_positive(offset, "offset")
        self._noise = check_positive(noise, "noise")
        self._psi = eigenpairs.right
        prior = 1 / (np.maximum(1 - eigenpairs.eigenvalues, 0) + offset)
        self._set(np.diag(prior / prior.sum()))  # sum_x pi(x) C(x,x) is the trace

    def _set(self, covariance: np.ndarray) -> None:
        self._weights = covariance
        self._moved = self._psi @ covariance

    def observe_all(self, points: np.ndarray) -> None:
        """Condition on labels at some points (a point named twice has two)."""
        psi = self._psi[points]
        precision = np.linalg.inv(self._weights) + psi.T @ psi / self._noise
        covariance = np.linalg.inv(precision)
        self._set((covariance + covariance.T) / 2)

    def observe(self, point: int) -> None:
        """Condition on a label at one point."""
        gain = self._moved[point].copy()
        column = self._moved @ self._psi[point]
        scale = self._noise + self._psi[point] @ gain
        self._weights = self._weights - np.outer(gain, gain) / scale
        self._moved -= np.outer(column, gain / scale)

    @property
    def mean_variance(self) -> float:
        """sum_x pi(x) C(x,x), 1 before any label."""
        return float(np.trace(self._weights))

    def variances(self) -> np.ndarray:
        """C(x,x), of shape (n,)."""
        return np.maximum(np.einsum("xl,xl->x", self._moved, self._psi), 0)

    def with_noise(self) -> np.ndarray:
        """Gamma + C(x,x), of shape (n,)."""
        return self._noise + self.variances()

    def squares(self) -> np.ndarray:
        """sum_z pi(z) C(z,x)^2, of shape (n,): the psi_l are orthonormal in pi."""
        return np.einsum("xl,xl->x", self._moved, self._moved)

    def means(self) -> np.ndarray:
        """sum_z pi(z) C(z,x), of shape (n,): psi_0 = 1 is orthogonal to the other psi_l."""
        return self._moved[:, 0]


def suggest(
    operator: MarkovOperator,
    diffusion: LabelDiffusion,
    labelled: Any,
    n_points: int = 10,
    *,
    rule: str | Rule = "hybrid",
    eigenpairs: Eigenpairs | None = None,
    candidates: Any = None,
    coordinates: Any = None,
    min_distance: float = 0.0,
) -> Suggestions:
    """Choose points to label next, one by one, the best score first.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    diffusion : LabelDiffusion
        Of the labels that there are, by this operator.
    labelled : array-like of int
        Numbers of the labelled points, at least one; they are never suggested.
    n_points : int, default=10
        How many.
    rule : str or Rule, default="hybrid"
        A name in `RULES` (see the module), or a rule.
    eigenpairs : Eigenpairs, optional
        Eigenpairs for the rules that use them, best ``which="algebraic"``; 50 are computed by
        default.
    candidates : array-like of bool of shape (n,), optional
        Which points may be suggested; all by default.
    coordinates : array-like of shape (n, d), optional
        Where the points lie, rows and columns of pixels say; in hops on the graph by default.
    min_distance : float, default=0
        Suggestions are at least so far apart, in units of the coordinates or in hops. (They may
        be near a label.)

    Returns
    -------
    Suggestions
        Of equal scores the point with the least number is taken.

    Raises
    ------
    ParameterError
        For an unknown rule, points that do not exist, masks of another length.
    DataError
        Where nothing is labelled.

    Notes
    -----
    Cost: the eigenpairs, if none are given; then for each suggestion one pass over n x m numbers
    (vopt and its kin), tau products with one column (unexplored) or next to nothing (margin).

    Examples
    --------
    Three blobs, two of them labelled; where to look next?

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> from diffclass.acquisition import suggest
    >>> centres = np.repeat([[0, 0], [6, 0], [3, 5]], 30, axis=0)
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + centres
    >>> y = np.full(90, -1); y[0] = 0; y[30] = 1
    >>> A = markov_operator(X, n_neighbors=8)
    >>> found = suggest(A, diffuse_labels(A, y), [0, 30], 1, rule="vopt")
    >>> bool(found.points[0] >= 60)
    True
    """
    labels = _numbers(labelled, len(operator))
    check_positive(n_points, "n_points", integer=True)
    check_positive(min_distance, "min_distance", zero=True)
    free = _free(candidates, labels, len(operator))
    places = None if coordinates is None else _places(coordinates, len(operator))
    name, scorer = _rule(rule)
    if eigenpairs is None and scorer.uses_eigenpairs:
        n_pairs = min(N_PAIRS, len(operator))
        eigenpairs = leading_eigenpairs(operator, n_pairs, which="algebraic", tolerance=_TOLERANCE)
    with stage("suggestions"):
        scorer.start(operator, diffusion, labels, eigenpairs)
        points: list[int] = []
        scores: list[float] = []
        while len(points) < n_points and free.any():
            point, score = _best(scorer.scores(), free)
            points.append(point)
            scores.append(score)
            free &= ~_near(operator, point, places, min_distance)
            scorer.observe(point)
    return Suggestions(np.array(points, dtype=np.intp), np.array(scores), name)


def _best(scores: np.ndarray, free: np.ndarray) -> tuple[int, float]:
    """Return the free point of the largest score, the first of equals, and its score."""
    point = int(np.where(free, scores, -np.inf).argmax())
    return point, float(scores[point])


def _rule(rule: str | Rule) -> tuple[str, Rule]:
    if isinstance(rule, Rule):
        return type(rule).__name__, rule
    check_choice(rule, "rule", tuple(RULES))
    return rule, RULES[rule]()


def _given(eigenpairs: Eigenpairs | None) -> Eigenpairs:
    if eigenpairs is None:
        raise ParameterError("this rule needs a spectrum; pass leading_eigenpairs(operator, 50)")
    return eigenpairs


def _numbers(labelled: Any, n: int) -> np.ndarray:
    numbers = np.unique(np.asarray(labelled))
    if not len(numbers):
        raise DataError("nothing is labelled; label at least one point")
    if numbers.dtype.kind not in "iu" or numbers[0] < 0 or numbers[-1] >= n:
        raise ParameterError(f"labelled holds numbers of points, 0 to {n - 1}")
    return numbers


def _free(candidates: Any, labels: np.ndarray, n: int) -> np.ndarray:
    free = np.ones(n, dtype=bool) if candidates is None else np.array(candidates)
    if free.shape != (n,) or free.dtype != bool:
        raise ParameterError(f"candidates has to be {n} booleans, one a point")
    free[labels] = False
    return free


def _places(coordinates: Any, n: int) -> np.ndarray:
    places = np.asarray(coordinates, dtype=np.float64)
    if places.ndim != 2 or len(places) != n:
        raise ParameterError(f"coordinates has shape {places.shape}; it needs {n} rows")
    return places


def _near(
    operator: MarkovOperator, point: int, places: np.ndarray | None, min_distance: float
) -> np.ndarray:
    """Points nearer to one than allowed, itself among them."""
    near = np.zeros(len(operator), dtype=bool)
    if min_distance and places is not None:
        near = np.linalg.norm(places - places[point], axis=1) < min_distance
    elif min_distance:
        group = np.full(len(operator), -1)
        group[point] = 0
        hops = operator.hops(group)[:, 0]
        near = (hops >= 0) & (hops < min_distance)
    near[point] = True
    return near
