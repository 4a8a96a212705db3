"""What the map would say of labels that it is not made with: the own ones, a third at a time.

Neighbours tell of each other, so that pixels are held out in whole pieces: what is labelled with
one class and hangs together. The pieces of a class are dealt out to three parts in the order of
their first pixels, and each part is classified by the labels of the other two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import label

from diffclass import diffuse_labels
from diffclass.exceptions import DataError
from diffclass.progress import checkpoint
from diffclass_relabel.scene import Workspace

N_PARTS = 3
_EIGHT = np.ones((3, 3), dtype=int)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Labels that were held out, and what was found there.

    Attributes
    ----------
    truth, found : ndarray of int of shape (m,)
        Class of each such pixel, and the one that the other labels say, 0 for none.
    piece : ndarray of int of shape (m,)
        Which piece it lies in.
    """

    truth: np.ndarray
    found: np.ndarray
    piece: np.ndarray


def held_out(workspace: Workspace, ids: np.ndarray, *, label_mode: str, tau: int) -> HeldOut:
    """Classify the pieces of the labels by the others.

    Parameters
    ----------
    workspace : Workspace
    ids : ndarray of uint8 of shape (rows, columns)
        The labels, 0 = none.
    label_mode : str
    tau : int
        As of the session's map; the walk is the same in all classes.

    Raises
    ------
    DataError
        Where no class is labelled in two places.

    Notes
    -----
    Costs a diffusion of all labels for each of the three parts; of many pixels, a coarse one.
    """
    pieces, part_of = _dealt(ids)
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
        found[is_tested] = _classes(workspace, kept, label_mode=label_mode, tau=tau)[is_tested]
    tested = part >= 0
    if not tested.any():
        raise DataError(
            "no class is labelled in two separate places, so that none can be held out; paint a "
            "second stroke of a class elsewhere"
        )
    return HeldOut(y[tested], found[tested], piece[tested])


def _classes(workspace: Workspace, y: np.ndarray, *, label_mode: str, tau: int) -> np.ndarray:
    """Return the class of each point by some labels, 0 for none; coarsely, if answers are so."""
    coarse = workspace.answering_graph
    if coarse is None:
        diffused = diffuse_labels(workspace.operator, y, label_mode=label_mode, tau=tau)
    else:
        y = coarse.restrict_labels(y)
        diffused = diffuse_labels(coarse.operator, y, label_mode=label_mode, tau=tau)
    classes = np.append(diffused.classes, 0)[diffused.codes]
    return classes if coarse is None else coarse.lift(classes)


def _dealt(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each pixel's piece, 0 for none, and the part of each piece, or -1."""
    pieces = np.zeros(ids.shape, dtype=np.int64)
    parts = [-1]
    for class_id in np.unique(ids[ids > 0]):
        own, n_own = label(ids == class_id, structure=_EIGHT)
        pieces[own > 0] = own[own > 0] + len(parts) - 1
        parts += [i % N_PARTS for i in range(n_own)] if n_own > 1 else [-1]
    return pieces, np.array(parts)
