"""Classes of all rows of a table from the labels of a few.

A script that does what ``diffclass classify`` does with a table:

    table = open_table("embeddings.npy")
    y = read_row_labels("labels.csv", table)
    run = classify_rows(Rows(table), y)
    write_rows("classes.csv", table, run.columns)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.classifier import DiffusionClassifier
from diffclass.evaluation import classification_scores
from diffclass.jobs import (
    AT_RANDOM,
    HIDDEN,
    IF_KNOWN,
    MEMORY,
    ClassesReport,
    ClassFacts,
    Classifier,
    FitFacts,
    Holdout,
    HoldoutFacts,
    InBlocks,
    InMemory,
    Measures,
    Prior,
    check_two_classes,
    warn_of_lost_labels,
    written_prior,
)
from diffclass.label_diffusion import LABEL_MODES, ScorePrior
from diffclass.options import check_options
from diffclass.targets import decode_labels, encode_labels
from diffclass_tables.io import RowScores
from diffclass_tables.options import OPTIONS
from diffclass_tables.rows import Rows

_CHUNK = 2**22  # posteriors that are calibrated at once
_NO_ACCURACY = "unknown: no labels were held out; --labels-per-class N holds some out"
# Of so many rows times classes, each row keeps its largest classes: all would take gigabytes
_MANY_VALUES, _KEPT = 2**26, 32


@dataclass(frozen=True, eq=False, kw_only=True)
class RowReport(ClassesReport):
    """What is known about classified rows besides their classes."""

    path: str
    holdout: HoldoutFacts | None = field(default=None, metadata=IF_KNOWN)
    files: tuple[Path, ...] = field(default=(), metadata=HIDDEN)

    def accuracies(self) -> list[str]:
        """Return the accuracy on labels that were held out, or that none were."""
        return [_NO_ACCURACY if self.holdout is None else self.holdout.accuracy()]

    def asides(self) -> list[str]:
        """Return how rows were compared."""
        return [f"compared by   {_compared_by(self.facts)}"]

    def lines(self) -> list[str]:
        """Return accuracy, how sure the classes are, and their sizes as lines to read."""
        return self.summary({str(path): path for path in self.files})


def _compared_by(facts: Mapping[str, Any]) -> str:
    if "metric" not in facts:
        return f"a graph of one's own, {facts['edges']:,} edges"
    components = facts["n_components"]
    shown = f", {components} components of them" if components else ""
    left_out = facts["left_out"]
    others = f"; left out: {', '.join(left_out[:4])}" if left_out else ""
    more = f" and {len(left_out) - 4} more" if len(left_out) > 4 else ""
    return (
        f"{facts['metric']} of {facts['n_features']} features ({facts['features']}){shown}"
        f"{others}{more}"
    )


@dataclass(frozen=True, eq=False)
class ClassifiedRows:
    """Rows with their classes.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        "class", None where there is none; "probability" of it and "margin", NaN there; with a
        level, "set": the classes that may be the row's own.
    classifier : DiffusionClassifier or BlockClassifier
        Fitted.
    report : RowReport
    """

    columns: dict[str, np.ndarray]
    classifier: Classifier
    report: RowReport


def row_prior(text: str, y: np.ndarray, n_rows: int, scores: RowScores | None = None) -> Prior:
    """Return the ``class_prior`` for a text such as "cat=20-30%,dog=500rows"."""
    found = encode_labels(y)[0] if scores is None else ScorePrior(scores.of(slice(None)), y).classes
    classes = found.tolist()
    names = {value: str(value) for value in classes}
    measures = Measures({"rows": lambda: float(n_rows)}, "all rows", "20%, 10-20% or 1200rows")
    return written_prior(text, names, classes, measures)


def classify_rows(
    rows: Rows,
    y: np.ndarray,
    *,
    scores: RowScores | None = None,
    score_accuracy: float | None = None,
    classifier: DiffusionClassifier | None = None,
    holdout: Holdout | None = None,
    level: float | None = None,
    place: InMemory | InBlocks = MEMORY,
) -> ClassifiedRows:
    """Classify rows from the labels of some, and score the classes on labels held out.

    Parameters
    ----------
    rows : Rows
    y : ndarray of object of shape (n_rows,)
        Classes; None for none.
    scores : RowScores, optional
        From elsewhere, as the ``score_prior`` of `DiffusionClassifier`; see `read_row_scores`.
    score_accuracy : float, optional
        Share of the rows whose highest score is right, as far as it is known, 0 to 1.
    classifier : DiffusionClassifier, optional
        Fitted here.
    holdout : diffclass.jobs.Holdout, optional
        Which labels are held out, at random; none by default.
    level : float, optional
        Share of the sets that are to hold the true class, between 0 and 1; None: no sets.
    place : InMemory or InBlocks, optional
        Where the work is done; the second, of `diffclass.jobs`, for what is too large for memory.

    Returns
    -------
    ClassifiedRows

    Raises
    ------
    DataError
        For fewer than two classes, and where no label is left to be held out.
    ParameterError
        As `DiffusionClassifier`.

    See Also
    --------
    DiffusionClassifier : The estimator, for arrays in memory.
    evaluate_rows : Compares the classes with others that are known.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass_tables import Rows, classify_rows, open_table
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [4]], 30, axis=0)
    >>> y = np.full(60, None); y[[0, 1, 30, 31]] = "cat", "cat", "dog", "dog"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "vectors.npy", X)
    ...     found = classify_rows(Rows(open_table(Path(folder) / "vectors.npy")), y)
    >>> found.columns["class"][[5, 45]].tolist(), found.columns["probability"][[5, 45]].round(2)
    (['cat', 'dog'], array([1., 1.], dtype=float32))
    """
    check_options(OPTIONS, level=level, score_accuracy=score_accuracy)
    classifier = DiffusionClassifier(random_state=0) if classifier is None else classifier
    holdout, path = holdout or Holdout(), rows.path
    place.check_hints(scores)
    n_lost = sum(value is not None for value in y[~rows.valid])
    warn_of_lost_labels(n_lost, path, rows.noun)
    given = y[rows.valid]
    classes, codes = encode_labels(given)
    if scores is None:
        check_two_classes(len(classes), path, rows.noun)
    is_fitted = holdout.fitted_on(rows, codes)
    holdout.warn_of_few(rows.noun, classes.tolist(), np.bincount(codes[codes >= 0]).tolist())
    hints = None if scores is None else scores.of(rows.valid)
    given[~is_fitted] = None
    fitted = place.fit(classifier, rows, given, hints=hints, score_accuracy=score_accuracy)
    places = np.append(np.searchsorted(fitted.classes_, classes), -1)
    fit = FitFacts.of(fitted, seed=holdout.random_state, labels_without_data=n_lost)
    report = _report(rows, fitted, places[codes], is_fitted, fit)
    return ClassifiedRows(_columns(rows, fitted, level), fitted, report)


def _columns(rows: Rows, classifier: Classifier, level: float | None) -> dict[str, np.ndarray]:
    """Return what is found of all rows; see `ClassifiedRows`."""
    codes = np.asarray(classifier.diffusion_.codes)
    found = decode_labels(classifier.classes_, codes).astype(object)
    reached = codes >= 0
    found[~reached] = None
    best, sets = _probabilities(classifier, codes, level)
    columns = {"class": rows.placed(found, None)}
    for name, values in (("probability", best), ("margin", classifier.margin_)):
        single = np.where(reached, values, np.nan).astype(np.float32)
        columns[name] = rows.placed(single, np.nan)
    if level is not None:
        columns["set"] = rows.placed(sets, None)
    return columns


def _probabilities(
    classifier: Classifier, codes: np.ndarray, level: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each row's class and, with a level, the classes of its set."""
    calibration, raw = classifier.calibration_, classifier.raw_label_distributions_
    classes = classifier.classes_.tolist()
    best = np.zeros(len(codes), dtype=np.float32)
    sets = np.empty(len(codes), dtype=object)
    step = max(1, _CHUNK // len(classes))
    for start in range(0, len(codes), step):
        some = slice(start, start + step)
        block = calibration.apply(raw[some].astype(np.float32))
        largest = block.max(axis=1)
        best[some] = largest.toarray() if sp.issparse(largest) else largest
        if level is not None:
            inside = sp.csr_array(calibration.sets(block, level=level))
            inside.sort_indices()
            for row, members in enumerate(np.split(inside.indices, inside.indptr[1:-1]), start):
                sets[row] = [classes[k] for k in members]
    return best, sets


def kept_classes_of(classifier: DiffusionClassifier, n_rows: int, n_classes: int) -> int | None:
    """Return how many classes each row should keep; None for all, as of few rows or classes."""
    can_keep = LABEL_MODES[classifier.label_mode].largest_walk is not None
    needs_all = classifier.warp is not None or classifier.join_features is True
    is_many = n_classes > 2 * _KEPT and n_rows * n_classes > _MANY_VALUES
    return _KEPT if is_many and can_keep and not needs_all else None


def _report(
    rows: Rows,
    classifier: Classifier,
    codes: np.ndarray,
    is_fitted: np.ndarray,
    fit: FitFacts,
) -> RowReport:
    """Describe classes; ``codes`` are those of the labels, of which some were fitted on."""
    names = [str(name) for name in classifier.classes_.tolist()]
    found, is_labelled = np.asarray(classifier.diffusion_.codes), codes >= 0
    n_rows = np.bincount(found[found >= 0], minlength=len(names))
    n_labels = np.bincount(codes[is_fitted & is_labelled], minlength=len(names))
    held, scored = is_labelled & ~is_fitted, None
    if held.any():
        scores = classification_scores(codes[held], found[held])
        scored = HoldoutFacts(kind=AT_RANDOM, n_fit=int(n_labels.sum()), scores=scores)
    n_unreached = int(np.count_nonzero(found < 0))
    return RowReport.of(
        classifier,
        rows.facts,
        [
            ClassFacts(name=name, n_points=int(n), labels=int(labels))
            for name, n, labels in zip(names, n_rows, n_labels, strict=True)
        ],
        np.asarray(classifier.margin_),
        fit=fit,
        path=str(rows.path),
        unclassified=rows.facts["n_without_data"] + n_unreached,
        unreached=n_unreached,
        holdout=scored,
    )
