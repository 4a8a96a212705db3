"""Clusters, anomalies, coordinates and suggestions of rows, with what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffclass import (
    DiffusionAnomaly,
    DiffusionClustering,
    DiffusionMap,
    MarkovOperator,
    suggest,
)
from diffclass.acquisition import by_coverage, well_apart
from diffclass.classifier import DiffusionClassifier
from diffclass.evaluation import ClusterScores, DetectionCurve, cluster_scores, detection_curve
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import IF_KNOWN, Facts, RunReport
from diffclass.options import check_options
from diffclass.targets import decode_labels, encode_labels
from diffclass_tables.options import OPTIONS
from diffclass_tables.rows import Rows

_LISTED = 10
_UNMARKED = ("none", "0", "false")  # what is no anomaly


@dataclass(frozen=True)
class RowCluster(Facts):
    """A cluster of rows."""

    id: int
    rows: int
    outliers: int  # of its rows, set aside at first
    staying: float  # probability that a step of the walk stays in the cluster
    retention: float  # that the walk is still there when clusters have mixed inside
    typical: Any  # the id of its mode, where modes were searched for


@dataclass(frozen=True, eq=False)
class ClusterRowsReport(RunReport):
    """What is known about clusters of rows."""

    reason: str  # why there are so many
    clusters: tuple[RowCluster, ...]
    n_without_values: int
    facts: Mapping[str, Any]
    agreement: ClusterScores | None = field(default=None, metadata=IF_KNOWN)

    def lines(self) -> list[str]:
        """Return the clusters as lines to read."""
        lines = [f"{len(self.clusters)} clusters: {self.reason}"]
        lines += [
            f"{one.id:>5}  {one.rows:,} rows ({one.outliers} outliers); a step stays with "
            f"probability {one.staying:.3f}, the walk until others have mixed {one.retention:.2f}"
            + ("" if one.typical is None else f"; typical: {one.typical}")
            for one in self.clusters
        ]
        if self.agreement is not None:
            scores = self.agreement.scores
            lines.append(
                f"clusters as classes, by the best assignment: accuracy "
                f"{scores.overall_accuracy:.1%}, adjusted Rand index "
                f"{self.agreement.adjusted_rand:.3f}"
            )
        return lines


def cluster_rows(
    rows: Rows, model: DiffusionClustering, truth: np.ndarray | None = None
) -> tuple[dict[str, np.ndarray], ClusterRowsReport]:
    """Find clusters of rows, numbered from 1 by falling size, 0 for rows without values."""
    if rows.affinity is not None:
        model.set_params(embedding=DiffusionMap("auto", affinity="precomputed", time="relaxation"))
    model.fit(rows.points)
    sizes = np.bincount(model.labels_, minlength=model.n_clusters_)
    order = np.argsort(-sizes, kind="stable")
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(1, len(order) + 1)
    found = rows.placed(numbers[model.labels_], 0)
    outliers = np.bincount(model.labels_[model.outliers_], minlength=model.n_clusters_)
    modes = getattr(model, "modes_", None)
    ids = rows.table.ids[rows.valid]
    clusters = tuple(
        RowCluster(
            id=place + 1,
            rows=int(sizes[k]),
            outliers=int(outliers[k]),
            staying=float(model.staying_[k]),
            retention=float(model.retention_[k]),
            typical=None if modes is None else _plain(ids[modes[k]]),
        )
        for place, k in enumerate(order)
    )
    agreement = None
    if truth is not None:
        codes = encode_labels(truth)[1]
        known = (codes >= 0) & (found > 0)
        if not known.any():
            raise DataError("no row with values has a known class; there is nothing to compare")
        agreement = cluster_scores(codes[known] + 1, found[known])
    report = ClusterRowsReport(
        reason=model.reason_,
        clusters=clusters,
        n_without_values=int(np.count_nonzero(~rows.valid)),
        facts=rows.facts,
        agreement=agreement,
    )
    return {"cluster": found}, report


@dataclass(frozen=True, eq=False)
class AnomalousRowsReport(RunReport):
    """What is known about the scores of rows."""

    highest: tuple[tuple[Any, float], ...]  # ids and scores
    n_without_values: int
    facts: Mapping[str, Any]
    detection: DetectionCurve | None = field(default=None, metadata=IF_KNOWN)

    def lines(self) -> list[str]:
        """Return the highest scores as lines to read."""
        lines = [f"the {len(self.highest)} rows that are least like the others:"]
        lines += [f"{score:>12.4g}  {name}" for name, score in self.highest]
        if self.detection is not None:
            lines.append(f"area under the ROC curve {self.detection.area:.4f}")
        return lines


def score_rows(
    rows: Rows, model: DiffusionAnomaly, truth: np.ndarray | None = None
) -> tuple[dict[str, np.ndarray], AnomalousRowsReport]:
    """Score rows by how unlike the others they are; NaN for rows without values."""
    if rows.affinity is not None:
        raise ParameterError("anomalies are found among features; leave --graph out")
    model.fit(rows.points)
    scores = rows.placed(model.scores_.astype(np.float64), np.nan)
    order = np.flatnonzero(rows.valid)[np.argsort(-model.scores_, kind="stable")][:_LISTED]
    curve = None
    if truth is not None:
        marked = np.array([str(value).lower() not in _UNMARKED for value in truth.tolist()])
        curve = detection_curve(marked[rows.valid], scores[rows.valid])
    report = AnomalousRowsReport(
        highest=tuple((_plain(rows.table.ids[i]), float(scores[i])) for i in order),
        n_without_values=int(np.count_nonzero(~rows.valid)),
        facts=rows.facts,
        detection=curve,
    )
    return {"score": scores}, report


@dataclass(frozen=True, eq=False)
class SuggestedRowsReport(RunReport):
    """Which rows to label next."""

    rule: str
    rows: tuple[Mapping[str, Any], ...]  # id, score, class and margin now; the best first
    id_name: str

    def lines(self) -> list[str]:
        """Return the rows as lines to read."""
        lines = [f"{'':>4}  {'score':>10}  {'margin':>6}  {self.id_name}, class now"]
        for rank, row in enumerate(self.rows, start=1):
            margin = "-" if row["margin"] is None else f"{row['margin']:.3f}"
            now = "" if row["class_now"] is None else f", {row['class_now']}"
            lines.append(f"{rank:>4}  {row['score']:>10.4g}  {margin:>6}  {row['id']}{now}")
        return lines


def suggest_rows(
    rows: Rows,
    y: np.ndarray | None,
    n_rows: int,
    *,
    rule: str = "coverage",
    classifier: DiffusionClassifier | None = None,
    random_state: int = 0,
) -> SuggestedRowsReport:
    """Choose rows to label next, or first without labels, the best first."""
    check_options(OPTIONS, n_rows=n_rows, rule=rule, random_state=random_state)
    if y is None:
        found, scores = _first(rows, n_rows, random_state)
        nothing = [None] * len(found)
        return _suggested(rows, rule, found, scores, nothing, nothing)
    classifier = (
        DiffusionClassifier(random_state=random_state) if classifier is None else classifier
    )
    classifier.set_params(affinity=rows.affinity).fit(rows.points, y[rows.valid])
    return suggest_after(classifier, rows, y, n_rows, rule=rule, random_state=random_state)


def suggest_after(
    classifier: DiffusionClassifier,
    rows: Rows,
    y: np.ndarray,
    n_rows: int,
    *,
    rule: str = "coverage",
    random_state: int = 0,
) -> SuggestedRowsReport:
    """Choose rows to label next, the best first, with a classifier fitted to rows and ``y``."""
    labelled = np.flatnonzero(encode_labels(y[rows.valid])[1] >= 0)
    chosen = suggest(
        classifier.walk_,
        classifier.diffusion_,
        labelled,
        n_rows,
        rule=rule,
        features=None if rows.affinity or rule != "coverage" else rows.points,
        random_state=random_state,
    )
    found = chosen.points
    classes = decode_labels(classifier.classes_, classifier.diffusion_.codes)
    reached = classifier.diffusion_.reached
    now = [_plain(classes[i]) if reached[i] else None for i in found]
    margins = [float(classifier.margin_[i]) for i in found]
    return _suggested(rows, rule, found, chosen.scores, now, margins)


def _suggested(
    rows: Rows,
    rule: str,
    found: np.ndarray,
    scores: np.ndarray,
    now: Sequence[Any],
    margins: Sequence[float | None],
) -> SuggestedRowsReport:
    ids = rows.table.ids[rows.valid]
    facts = zip(found.tolist(), np.asarray(scores).tolist(), now, margins, strict=True)
    return SuggestedRowsReport(
        rule=rule,
        rows=tuple(
            {"id": _plain(ids[i]), "score": score, "class_now": name, "margin": margin}
            for i, score, name, margin in facts
        ),
        id_name=rows.table.id_name,
    )


def _first(rows: Rows, n_rows: int, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    if rows.affinity is not None:
        operator = MarkovOperator.from_affinity(rows.points)
        chosen = suggest(operator, n_points=n_rows, random_state=random_state)
        return chosen.points, chosen.scores
    choice = by_coverage(rows.points, random_state=random_state)
    free = np.ones(len(rows.points), dtype=bool)
    return well_apart(choice, free, n_rows, lambda point: np.arange(len(free)) == point)


def _plain(value: Any) -> Any:
    """Return an id or a class as JSON can hold it: dates as text."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, str | int | float | None) else str(plain)
