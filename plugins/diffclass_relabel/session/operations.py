"""Operations as clients send them and the log keeps them: over pixels in place of points.

They are those of `diffclass.relabel.operations`, but strokes and erasures have "pixels", runs over
the raster, in place of "points", and sizes of classes are a text. Once a message is decoded,
`on_points` gives what the log keeps of it and what the engine does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, cast

import numpy as np
from msgspec import Meta, field
from msgspec.structs import replace

from diffclass.jobs import sizes_of
from diffclass.relabel import (
    LARGEST_NUMBER,
    OPERATIONS,
    AddClass,
    Batch,
    ClassId,
    ClassInfo,
    ClassSize,
    EditWithoutPoints,
    Erase,
    Flag,
    Name,
    Operation,
    Paint,
    RelabelSession,
    SetClassSizes,
    printable_text,
    table_of,
)
from diffclass_relabel.workspace import Workspace, runs_of

LONGEST_SIZES = 20_000
Runs = Annotated[
    list[Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]],
    Meta(description="a list of runs, [start, length, start, length, ...]"),
]


class PaintPixels(Operation, frozen=True, tag="stroke"):
    """Label pixels, taken from older strokes where they were labelled before; pixels of locked
    classes, or with ``spare`` of all other classes, are left out.
    """  # noqa: D205

    class_id: ClassId = field(name="class")
    pixels: Runs
    spare: Flag = False


class ErasePixels(Operation, frozen=True, tag="erase"):
    """Unlabel pixels, except those of locked classes."""

    pixels: Runs


class SetSizesByText(Operation, frozen=True, tag="class_sizes"):
    """Set what is known of the classes' sizes; without any, forget it."""

    sizes: Annotated[str, printable_text(LONGEST_SIZES)] | None = None


PixelEdit = PaintPixels | ErasePixels | SetSizesByText | EditWithoutPoints


class BatchOverPixels(Operation, frozen=True, tag="batch"):
    """Do several of the operations above as one, all of them or none; the name says what they are
    together.
    """  # noqa: D205

    operations: Annotated[
        list[PixelEdit], Meta(min_length=1, description="a list of at least one operation")
    ]
    name: Name | None = None


PIXEL_OPERATIONS = OPERATIONS | table_of(
    (PaintPixels, ErasePixels, SetSizesByText, BatchOverPixels)
)


def on_points(
    operation: Operation, workspace: Workspace, classes: Iterable[ClassInfo]
) -> tuple[Operation, Operation]:
    """Return an operation as the log keeps it, without pixels that lack data, and for the engine.

    - `classes`: of the session before it; sizes name them
    - `ParameterError` where pixels lie outside the image, or none of them has data, and for a text
      that gives no sizes
    """
    if isinstance(operation, PaintPixels):
        runs, points = _runs_and_points(operation.pixels, workspace)
        id_, spare = operation.class_id, operation.spare
        return PaintPixels(id_, runs, spare), Paint(id_, points, spare)
    if isinstance(operation, ErasePixels):
        runs, points = _runs_and_points(operation.pixels, workspace)
        return ErasePixels(runs), Erase(points)
    if isinstance(operation, SetSizesByText):
        if operation.sizes is None:
            return operation, SetClassSizes(None)
        names = {info.id: info.name for info in classes}
        found = sizes_of(operation.sizes, names, workspace.measures)
        sizes = found if isinstance(found, str) else [ClassSize(*size) for size in found]
        return operation, SetClassSizes(sizes)
    if isinstance(operation, BatchOverPixels):
        parts = (on_points(one, workspace, classes) for one in operation.operations)
        kept, done = zip(*parts, strict=True)
        return BatchOverPixels([*kept], operation.name), Batch([*done], operation.name)
    return operation, operation


def _runs_and_points(runs: list[int], workspace: Workspace) -> tuple[list[int], np.ndarray]:
    pixels = workspace.pixels_of_runs(runs)
    return runs_of(pixels), np.unique(workspace.points[pixels])


def with_runs(operation: Operation, change: Callable[[list[int]], list[int]]) -> Operation:
    """Return an operation with its runs of pixels, or those of its parts, changed."""
    if isinstance(operation, PaintPixels | ErasePixels):
        return replace(operation, pixels=change(operation.pixels))
    if isinstance(operation, BatchOverPixels):
        parts = [cast(PixelEdit, with_runs(one, change)) for one in operation.operations]
        return replace(operation, operations=parts)
    return operation


def completed(operation: Operation, session: RelabelSession) -> Operation:
    """Return an operation with what the session, standing after it, has chosen for a new class."""
    if not isinstance(operation, AddClass):
        return operation
    new = session.classes[-1]
    return AddClass(new.id, new.name, new.color, operation.joins)
