"""Rules that score every point by how much a label there would help.

    margin         1 - (p_(1) - p_(2)), where the classes are closest to each other
    unexplored     - (A^tau chi_L)(x), how rarely the walk from x is at one of the labels L at tau
    distance       q(x) min_{l in L} D_tau(x, l), dense and far from the labels
    vopt           by how much a label at x lowers the mean variance of a Gaussian process
    model-change   how far the label that is expected at x would move the process
    uncertainty    (1 - margin) times the standard deviation of the process
    hybrid         vopt while the labels leave much of the variance, then margin

With C the covariance of the process of `diffclass.acquisition.gaussian_process` after the labels
so far, gamma the noise of a label and e the indicator of the likeliest class,

    vopt           sum_z pi(z) C(z,x)^2 / (gamma + C(x,x))
    model-change   |e - p(x)| sqrt(sum_z pi(z) C(z,x)^2) / (gamma + C(x,x))

Sources: M. Ji and J. Han, A variance minimization criterion to active learning on graphs, 2012;
K. Miller and A. Bertozzi, Model-change active learning in graph-based semi-supervised
learning, 2021 (the likeliest class in place of the unknown one); K. Miller and J. Calder, Poisson
reweighted Laplacian uncertainty sampling, 2023 (explore first, then where classes meet).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from diffclass.acquisition.gaussian_process import Process
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion import LabelDiffusion
from diffclass.label_diffusion.free_walk import FreeColumns
from diffclass.label_diffusion.walk import HEIGHT
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.distances import diffusion_coordinates
from diffclass.spectral.eigenpairs import Eigenpairs

# Smaller scores are 0, so that single precision, which has nothing below, ranks as double does.
_LEAST = 1e-30


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """What a rule scores the points by.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    diffusion : LabelDiffusion
        Of the labels so far, by this operator.
    labelled : ndarray of int of shape (n_labelled,)
        Numbers of the labelled points, sorted.
    eigenpairs : Eigenpairs, optional
        Leading eigenpairs, for the rules that use them.
    """

    operator: MarkovOperator
    diffusion: LabelDiffusion
    labelled: np.ndarray
    eigenpairs: Eigenpairs | None = None

    def closeness(self) -> np.ndarray:
        """Return 1 - margin of each point, of shape (n,); small ones as accurate as large ones."""
        shares = self.diffusion.values * self.diffusion.class_weight
        total, rows = shares.sum(axis=1), np.arange(len(shares))
        shares[rows, shares.argmax(axis=1)] = 0  # 1 - (p_(1) - p_(2)) = the others + p_(2)
        rest = shares.sum(axis=1) + shares.max(axis=1)
        closeness = np.divide(rest, total, out=np.ones_like(total), where=total > 0)
        return np.where(closeness < _LEAST, 0, closeness)

    def required_eigenpairs(self) -> Eigenpairs:
        """Return the eigenpairs, or raise `ParameterError` where there are none."""
        if self.eigenpairs is None:
            raise ParameterError("this rule needs eigenpairs; pass process_eigenpairs(operator)")
        return self.eigenpairs


class Rule:
    """Scores every point; the larger the score, the sooner it should be labelled.

    Attributes
    ----------
    uses_eigenpairs : bool
        Whether `start` needs eigenpairs.
    leaves_used_up : bool
        Whether it chooses without eigenpairs where the labels have used them up, so that these need
        not be accurate.
    """

    uses_eigenpairs = False
    leaves_used_up = False

    def start(self, graph: LabelledGraph) -> None:
        """Prepare for a graph and its labels."""
        raise NotImplementedError

    def scores(self) -> np.ndarray:
        """Return the score of each point, of shape (n,)."""
        raise NotImplementedError

    def observe(self, point: int) -> None:
        """Account for a point that will be labelled; its class is not known yet."""


class Margin(Rule):
    """1 - margin: 1 where two classes are equally likely or no label has arrived."""

    def start(self, graph: LabelledGraph) -> None:
        """Read the margins."""
        self._scores = graph.closeness()

    def scores(self) -> np.ndarray:
        """Return 1 - margin."""
        return self._scores


class Unexplored(Rule):
    """- (A^tau chi_L)(x): how rarely the walk from x is at one of the labels L at the time tau.

    Where that is next to never, below 1e-30, the number of edges to the labels decides.
    """

    def start(self, graph: LabelledGraph) -> None:
        """Diffuse the indicator of all labelled points."""
        self._operator, self._tau = graph.operator, graph.diffusion.tau
        self._labels = graph.labelled
        self._mass = self._arriving(graph.labelled)

    def scores(self) -> np.ndarray:
        """Return - A^tau chi_L."""
        far = self._mass < _LEAST
        if not far.any():
            return -self._mass
        groups = np.full(len(self._operator), -1)
        groups[self._labels] = 0
        hops = self._operator.hops(groups)[:, 0]
        by_hops = np.where(hops < 0, 0, _LEAST / np.maximum(1.0 + hops, 1))
        return -np.where(far, by_hops, self._mass)

    def observe(self, point: int) -> None:
        """Add the point to L."""
        self._labels = np.append(self._labels, point)
        self._mass += self._arriving(np.array([point]))

    def _arriving(self, points: np.ndarray) -> np.ndarray:
        columns = FreeColumns(self._operator, points, np.zeros(len(points), dtype=int), 1)
        columns.advance_along_curve(self._tau)
        arrived = columns.state[:, 0] + columns.limits[self._operator.components, 0]
        return np.maximum(arrived, 0) / HEIGHT


class Distance(Rule):
    """q(x) times the diffusion distance D_tau from x to the nearest label, by eigenpairs."""

    uses_eigenpairs = True

    def start(self, graph: LabelledGraph) -> None:
        """Find the nearest label of every point."""
        self._coordinates = diffusion_coordinates(graph.required_eigenpairs(), graph.diffusion.tau)
        self._density = graph.operator.density
        labels = self._coordinates[graph.labelled]
        self._nearest = pairwise_distances_argmin_min(self._coordinates, labels)[1]

    def scores(self) -> np.ndarray:
        """Return density times distance."""
        return self._density * self._nearest

    def observe(self, point: int) -> None:
        """Treat the point as a label."""
        away = np.linalg.norm(self._coordinates - self._coordinates[point], axis=1)
        np.minimum(self._nearest, away, out=self._nearest)


class ProcessRule(Rule):
    """Base of the rules by variance: a Gaussian process conditioned on the labels."""

    uses_eigenpairs = True

    def start(self, graph: LabelledGraph) -> None:
        """Condition the process on the labels."""
        self.process_ = Process(graph.required_eigenpairs())
        self.process_.observe_all(graph.labelled)
        self._graph, self._closeness = graph, graph.closeness()

    def observe(self, point: int) -> None:
        """Condition the process on a label at this point too."""
        self.process_.observe(point)


class VOpt(ProcessRule):
    """By how much a label at x lowers the mean variance (Ji and Han 2012).

    Once the labels determine nearly all weights of the eigenpairs, it continues as `Unexplored`.
    """

    leaves_used_up = True
    _rest: Unexplored | None = None

    def start(self, graph: LabelledGraph) -> None:
        """Condition the process on the labels."""
        super().start(graph)
        self._labels, self._rest = graph.labelled, None

    def scores(self) -> np.ndarray:
        """Return sum_z pi(z) C(z,x)^2 / (gamma + C(x,x))."""
        if self._rest is None and self.process_.is_used_up:
            self._rest = Unexplored()
            self._rest.start(replace(self._graph, labelled=self._labels))
        if self._rest is not None:
            return self._rest.scores()
        return self.process_.squares() / self.process_.with_noise()

    def observe(self, point: int) -> None:
        """Condition the process on a label at this point too."""
        super().observe(point)
        self._labels = np.append(self._labels, point)
        if self._rest is not None:
            self._rest.observe(point)


class ModelChange(ProcessRule):
    """How far the likeliest label at x would move the process (Miller and Bertozzi 2021)."""

    def start(self, graph: LabelledGraph) -> None:
        """Condition the process and compute the residuals of the likeliest classes."""
        super().start(graph)
        residuals = graph.diffusion.posteriors.astype(np.float64)
        residuals[np.arange(len(residuals)), residuals.argmax(axis=1)] -= 1
        self._residual = np.linalg.norm(residuals, axis=1)

    def scores(self) -> np.ndarray:
        """Return |e - p(x)| sqrt(sum_z pi(z) C(z,x)^2) / (gamma + C(x,x))."""
        return self._residual * np.sqrt(self.process_.squares()) / self.process_.with_noise()


class Uncertainty(ProcessRule):
    """(1 - margin) times the standard deviation: close classes, away from points already chosen."""

    def scores(self) -> np.ndarray:
        """Return (1 - margin(x)) sqrt(C(x,x))."""
        return self._closeness * np.sqrt(self.process_.variances())


class Hybrid(VOpt):
    """`VOpt` while the labels leave much of the process unknown, `Margin` from then on.

    What is known is measured by the variance and not by the number of labels: a few strokes of many
    pixels carry less information than as many labels all over the picture.

    Parameters
    ----------
    explored : float, default=0.25
        Mean variance, 0 to 1 (that of the prior), below which the margin is used; with 50
        eigenpairs some thirty labels far from each other leave 0.25.
    """

    def __init__(self, *, explored: float = 0.25):
        self.explored = explored

    def scores(self) -> np.ndarray:
        """Return the scores of `VOpt`, or 1 - margin."""
        if self.process_.mean_variance > self.explored:
            return super().scores()
        return self._closeness


RULES: dict[str, type[Rule]] = {
    "hybrid": Hybrid,
    "margin": Margin,
    "unexplored": Unexplored,
    "distance": Distance,
    "vopt": VOpt,
    "model-change": ModelChange,
    "uncertainty": Uncertainty,
}
