"""The labels of a walk on blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from diffclass.blocks.engine import Engine
from diffclass.blocks.graph import BlockGraph
from diffclass.blocks.operator import BlockOperator
from diffclass.blocks.scratch import Scratch
from diffclass.blocks.walk import BlockWalk
from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion.parameters import checked_weights
from diffclass.targets import encode_groups, labels_per_class


@dataclass(frozen=True, eq=False)
class BlockLabels:
    """The labelled points, by place.

    Attributes
    ----------
    places : ndarray of int of shape (m,)
        Ascending.
    codes : ndarray of int of shape (m,)
        Index of each label's class.
    weight : ndarray of shape (m,)
        0 to 1.
    groups : ndarray of int of shape (m,)
        Labels of a class with the same value count once.
    """

    places: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(
        cls,
        codes: np.ndarray,
        label_weight: ArrayLike | None,
        groups: ArrayLike | None,
        n_points: int,
    ) -> BlockLabels:
        """Check the labels of all places, and find those that there are.

        Parameters
        ----------
        codes : ndarray of int of shape (n_points,)
            -1 where unlabelled; may lie on a file.
        label_weight, groups : array-like of shape (n_points,) or None
        n_points : int

        Raises
        ------
        DataError
            If codes has another length, holds no label, or a class has none.
        ParameterError
            If weights or groups have another length or are out of range.
        """
        if np.shape(codes) != (n_points,):
            raise DataError(
                f"codes has shape {np.shape(codes)}; the operator has {n_points} points"
            )
        places = np.flatnonzero(codes >= 0)
        of_labels = np.asarray(codes[places], dtype=np.int64)
        if not len(places):
            raise DataError("codes holds no label; mark at least one point")
        if not np.bincount(of_labels).all():
            raise DataError("codes leaves out a class; number those with labels from 0")
        for array, what in ((label_weight, "label_weight"), (groups, "groups")):
            if array is not None and np.shape(array) != (n_points,):
                raise ParameterError(
                    f"{what} has shape {np.shape(array)}; the operator has {n_points} points"
                )
        weight = None if label_weight is None else np.asarray(label_weight)[places]
        group = None if groups is None else np.asarray(groups)[places]
        return cls(
            places,
            of_labels,
            checked_weights(weight, of_labels),
            encode_groups(group, of_labels),
        )

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.codes.max()) + 1

    @property
    def per_class(self) -> float:
        """Mean number of groups of labels per class."""
        return labels_per_class(self.codes, self.groups)

    @property
    def all_count(self) -> bool:
        """Whether no label has weight 0."""
        return bool((self.weight > 0).all())

    def start_walk(
        self, operator: BlockOperator, engine: Engine, name: str, depth: int | None = None
    ) -> BlockWalk:
        """Return the walk at time 0; the labels are saved under a name."""
        scratch = operator.scratch
        save_labels(scratch, name, self.n_classes, self.places, self.codes, self.weight)
        graph = BlockGraph(operator, engine, name=name, depth=depth)
        return BlockWalk(graph, self.n_classes, scratch.load("operator/0.data").dtype)


def save_labels(
    scratch: Scratch,
    name: str,
    n_classes: int,
    places: ArrayLike = (),
    codes: ArrayLike = (),
    weight: ArrayLike = (),
) -> None:
    """Write the labels of a walk, by default none."""
    scratch.save(f"{name}/labels.places", np.asarray(places, dtype=np.int64))
    scratch.save(f"{name}/labels.codes", np.asarray(codes, dtype=np.int64))
    scratch.save(f"{name}/labels.weight", np.asarray(weight, dtype=np.float64))
    scratch.save(f"{name}/labels.n_classes", np.array(n_classes))
