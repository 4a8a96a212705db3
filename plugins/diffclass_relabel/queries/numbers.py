"""The session in numbers: accuracy, a table of the classes, and what the last map changed.

Without a reference, the labels are dealt out to three parts, and each is classified by the labels
of the other two. Neighbours tell of each other, so that pixels are held out in whole pieces:
connected pixels that are labelled with one class.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from diffclass.evaluation import (
    ClassMatch,
    Scores,
    classification_scores,
    clustered_interval,
    stratified_areas,
    wilson_interval,
)
from diffclass.exceptions import DataError
from diffclass.relabel import RelabelSession
from diffclass.system.progress import checkpoint
from diffclass_hyperspectral.io.maps import metres_of_a_pixel
from diffclass_relabel.maps import NO_DATA, ShownLabels, ShownMap
from diffclass_relabel.protocol import (
    AccuracyFacts,
    AccuracyPoint,
    AreaFacts,
    ChangeFacts,
    ClassArea,
    ClassFlow,
    ClassNumbers,
    GivenClass,
    NumbersAnswer,
    ReferenceMatch,
)
from diffclass_relabel.session import NO_REFERENCE, Reference, SessionEditor
from diffclass_relabel.workspace import SceneWorkspace, Workspace

N_PARTS = 3


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Labels that were held out, and what was found there."""

    # int (m,): class of each such pixel, and that by the other labels, 0 for none
    truth: np.ndarray
    found: np.ndarray
    piece: np.ndarray  # int (m,); which piece it lies in


def held_out(
    session: RelabelSession, workspace: Workspace, ids: np.ndarray, *, label_mode: str, tau: int
) -> HeldOut:
    """Classify the pieces of the labels by the others, at the cost of three diffusions of all.

    - `session`: lends its graph; its own labels do not matter
    - `ids` uint8 (rows, columns): the labels, 0 = none
    """
    pieces, part_of = _dealt(ids, workspace)
    y = ids.ravel()[workspace.pixels].astype(np.int64)
    piece = pieces.ravel()[workspace.pixels]
    part = part_of[piece]
    found = np.zeros(len(y), dtype=np.int64)
    for k in range(N_PARTS):
        is_tested = part == k
        if not is_tested.any():
            continue
        checkpoint()
        kept = np.where(is_tested | (y == 0), -1, y)
        classes = session.classes_by(kept, label_mode=label_mode, tau=tau)
        found[is_tested] = classes[is_tested]
    tested = part >= 0
    if not tested.any():
        raise DataError(
            "no class is labelled in two separate places, so that none can be held out; paint a "
            "second stroke of a class elsewhere"
        )
    return HeldOut(y[tested], found[tested], piece[tested])


def _dealt(ids: np.ndarray, workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Return each pixel's piece, 0 for none, and each piece's part; -1: a class has no other."""
    pieces = np.zeros(ids.shape, dtype=np.int64)
    parts = [-1]
    for class_id in np.unique(ids[ids > 0]):
        own, n_own = workspace.pieces_of(ids == class_id)
        pieces[own > 0] = own[own > 0] + len(parts) - 1
        parts += [i % N_PARTS for i in range(n_own)] if n_own > 1 else [-1]
    return pieces, np.array(parts)


_MOST_FLOWS = 12
_MOST_POINTS = 2000
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class _Compared:
    """Pixels whose class is known, with what was found there."""

    truth: np.ndarray
    found: np.ndarray
    scores: Scores
    interval: tuple[float, float]
    names: dict[int, str]
    labels: ShownLabels
    match: ReferenceMatch | None = None


class Numbers:
    """Counts and compares, and remembers the accuracies of earlier maps."""

    def __init__(self, editor: SessionEditor):
        self._editor = editor
        self._lock = threading.Lock()
        self._points: dict[str, list[AccuracyPoint]] = {"reference": [], "held_out": []}

    @property
    def usual(self) -> str:
        """What maps are compared with unless something else is asked for."""
        return "held_out" if self._editor.reference is None else "reference"

    def note(self) -> None:
        """Remember the accuracy of a new map, if a reference tells it at once."""
        if self._editor.reference is None or not self._editor.session.strokes:
            return
        try:
            self._remember("reference", self._with_reference())
        except DataError:
            return  # no pixel to compare with is left

    def answer(self, by: str | None = None) -> NumbersAnswer:
        """Return the numbers of the present map."""
        by = self.usual if by is None else by
        compared, note = None, ""
        try:
            compared = self._with_reference() if by == "reference" else self._with_held_out()
        except DataError as error:
            note = str(error)
        else:
            self._remember(by, compared)
        with self._lock:
            points = list(self._points[by])
        return {
            "by": "reference" if by == "reference" else "held_out",
            "has_reference": self._editor.reference is not None,
            "note": note,
            "accuracy": None if compared is None else _facts(compared),
            "match": None if compared is None else compared.match,
            "history": points,
            "classes": self._classes(compared),
            "areas": None if compared is None else self._areas(compared),
            "pixel_area": self._pixel_area(),
            "change": self._change(points),
        }

    def match(self, pairs: Mapping[int, int]) -> NumbersAnswer:
        """Take the reference's classes for the session's as a user says, and count anew."""
        self._editor.match_reference(pairs)
        with self._lock:
            self._points["reference"].clear()  # by another match of classes
        return self.answer("reference")

    def _with_reference(self) -> _Compared:
        editor = self._editor
        if editor.reference is None:
            raise DataError(NO_REFERENCE)
        if editor.map is None or not editor.session.strokes:
            raise DataError("there is no map to compare; paint a stroke first")
        with editor.lock:
            labels, classes, reference = editor.labels, editor.session.classes, editor.reference
            found = editor.compared_classes()
        match = reference.match(classes, found)
        truth, names = reference.truth(match)
        used = (truth != 0) & (found >= 0)
        if not used.any():
            raise DataError("every pixel of the reference is labelled; none is left to compare")
        truth, found = truth[used], found[used]
        scores = classification_scores(truth, found)
        facts = _match_facts(match, reference)
        return _Compared(truth, found, scores, _plain_interval(scores), names, labels, facts)

    def _with_held_out(self) -> _Compared:
        editor = self._editor
        with editor.lock:
            labels, session = editor.labels, editor.session
            label_mode, tau = session.label_mode, session.tau
        found = held_out(session, editor.workspace, labels.ids, label_mode=label_mode, tau=tau)
        scores = classification_scores(found.truth, found.found)
        interval = clustered_interval(found.truth == found.found, found.piece)
        ends = interval.lower, interval.upper
        return _Compared(found.truth, found.found, scores, ends, {}, labels)

    def _remember(self, by: str, compared: _Compared) -> None:
        labels = compared.labels
        point: AccuracyPoint = {
            "version": labels.version,
            "labelled": int(np.count_nonzero(labels.ids)),
            "overall": compared.scores.overall_accuracy,
            "average": compared.scores.average_accuracy,
        }
        with self._lock:
            points = self._points[by]
            if points and points[-1]["version"] == point["version"]:
                points.pop()
            points.append(point)
            del points[:-_MOST_POINTS]

    def _classes(self, compared: _Compared | None) -> list[ClassNumbers]:
        editor, shown = self._editor, self._editor.map
        labelled = np.bincount(editor.labels.ids.ravel(), minlength=256)
        ids, weight = np.zeros(0, dtype=np.uint8), np.zeros(0)
        if shown is not None:
            ids, weight = shown.ids.ravel(), shown.probability.ravel() / 255
        mapped = np.bincount(ids, minlength=256)
        certain = np.bincount(ids, weights=weight, minlength=256)
        scored = {} if compared is None else compared.scores.per_class
        table: list[ClassNumbers] = []
        for info in editor.session.classes:
            score = scored.get(info.id)
            count = int(mapped[info.id])
            table.append(
                {
                    "class": info.id,
                    "labelled": int(labelled[info.id]),
                    "mapped": count,
                    "probability": float(certain[info.id] / count) if count else None,
                    "recall": None if score is None else _or_none(score.recall),
                    "precision": None if score is None else _or_none(score.precision),
                    "n_true": 0 if score is None else score.n_true,
                }
            )
        return table

    def _areas(self, compared: _Compared) -> AreaFacts | None:
        """Correct the mapped areas by what was compared; None where the map is too small for it."""
        shown = self._editor.map
        if shown is None:
            return None
        ids, counts = np.unique(shown.ids[shown.ids != NO_DATA], return_counts=True)
        sizes = dict(zip(ids.tolist(), counts.tolist(), strict=True))
        try:
            found = stratified_areas(compared.truth, compared.found, sizes)
        except DataError:
            return None  # what was held out was given a class that the map has next to nowhere
        classes: list[ClassArea] = []
        for class_id in found.classes:
            share = found.area_share[class_id]
            low, high = share.interval(_LEVEL)
            is_known = bool(np.isfinite(share.standard_error))
            classes.append(
                {
                    "class": class_id,
                    "mapped": sizes.get(class_id, 0),
                    "pixels": share.value * found.total,
                    "interval": [low * found.total, high * found.total] if is_known else None,
                }
            )
        left_out = [int(class_id) for class_id in found.not_sampled]
        return {"classes": classes, "total": found.total, "not_sampled": left_out}

    def _pixel_area(self) -> float | None:
        """Return the square metres of a pixel, None where they are not known."""
        workspace = self._editor.workspace
        place = workspace.scene.georeference if isinstance(workspace, SceneWorkspace) else None
        if place is None:
            return None
        width = metres_of_a_pixel(place, workspace.shape[0])
        if width is None:
            return None
        a, b, _, d, e, _ = place.transform
        across = np.hypot(a, d)
        return float(width**2 * abs(a * e - b * d) / across**2)

    def _change(self, points: list[AccuracyPoint]) -> ChangeFacts | None:
        before, after = self._editor.map_before, self._editor.map
        if before is None or after is None:
            return None
        pairs = before.ids.astype(np.int32) * 256 + after.ids
        kinds, counts = np.unique(pairs[before.ids != after.ids], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_MOST_FLOWS]
        flows: list[ClassFlow] = [
            {"before": int(kinds[i] // 256), "after": int(kinds[i] % 256), "pixels": int(counts[i])}
            for i in order
        ]
        gain = points[-1]["overall"] - points[-2]["overall"] if len(points) > 1 else None
        return {
            "pixels": int(counts.sum()),
            "flows": flows,
            "probability": _mean(after, after.probability) - _mean(before, before.probability),
            "margin": _mean(after, after.margin) - _mean(before, before.margin),
            "overall": gain,
        }


def _facts(compared: _Compared) -> AccuracyFacts:
    scores = compared.scores
    return {
        "overall": scores.overall_accuracy,
        "interval": [float(end) for end in compared.interval],
        "average": scores.average_accuracy,
        "kappa": _or_none(scores.kappa),
        "n_pixels": int(scores.confusion.sum()),
        "classes": scores.classes.tolist(),
        "foreign": [{"class": i, "name": name} for i, name in compared.names.items()],
        "confusion": scores.confusion.tolist(),
    }


def _match_facts(match: ClassMatch, reference: Reference) -> ReferenceMatch:
    classes: list[GivenClass] = []
    for entry, count, row in zip(
        reference.labels.table, match.n_given.tolist(), match.counts, strict=True
    ):
        of_own = dict(zip(match.own_names, row.tolist(), strict=True))
        to = match.assignment.get(entry.id, 0)
        proposed = match.rules["overlap"].get(entry.id, 0) if reference.asks(match) else to
        classes.append(
            {
                "id": entry.id,
                "name": entry.name,
                "color": entry.hex_color,
                "count": count,
                "compared": int(row.sum()),
                "agreed": of_own.get(proposed, 0),
                "to": to,
                "proposed": proposed,
            }
        )
    return {
        "by": cast(Any, match.by),
        "asks": reference.asks(match),
        "agreement": match.agreement[match.by] or 0.0,
        "by_overlap": match.agreement["overlap"] or 0.0,
        "classes": classes,
    }


def _plain_interval(scores: Scores) -> tuple[float, float]:
    lower, upper = wilson_interval(scores.confusion.trace(), scores.confusion.sum())
    return float(lower), float(upper)


def _mean(shown: ShownMap, plane: np.ndarray) -> float:
    """Return the mean over the pixels with data of a plane of bytes."""
    return float(plane[shown.ids != NO_DATA].mean() / 255)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
