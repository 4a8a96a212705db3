"""What is known of the classes' sizes, and which of it counts: that of classes with labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.class_sizes import ClassSizes, Prior, prior_of
from diffclass.relabel.operations import ClassSize

KnownSizes = tuple[ClassSize, ...] | Literal["uniform"]


def counted_sizes(sizes: KnownSizes | None, class_ids: Sequence[int]) -> KnownSizes | None:
    """Return the sizes that some classes are to have: all that have labels.

    None if nothing is known of them that could make a difference, or if they cannot have all
    points between them: others are then still to be labelled.
    """
    if sizes is None or class_prior(sizes, class_ids) is None:
        return None
    if isinstance(sizes, str):
        return sizes
    return tuple(size for size in sizes if size.class_id in class_ids)


def class_prior(sizes: KnownSizes | None, class_ids: Sequence[int]) -> Prior | str | None:
    """Return the ``class_prior`` of `diffuse_labels` for the same classes, ascending."""
    if sizes is None or len(class_ids) < 2:
        return None
    if isinstance(sizes, str):
        return sizes
    known = {size.class_id: (size.least, size.most) for size in sizes}
    prior = prior_of([known.get(class_id) for class_id in class_ids])
    try:
        makes_a_difference = ClassSizes.of(prior, len(class_ids)) is not None
    except ParameterError:  # they cannot have all points between them
        return None
    return prior if makes_a_difference else None
