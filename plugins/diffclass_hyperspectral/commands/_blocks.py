"""Options for scenes beyond memory: a budget, a scratch folder, workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import BYTES, option
from diffclass.system.memory import available_memory_bytes

if TYPE_CHECKING:
    from diffclass.classifier import DiffusionClassifier
    from diffclass.command_line import Console
    from diffclass.jobs import InMemory
    from diffclass_hyperspectral.features.scene_features import SceneFeatures
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.jobs.classification import BlockRun

_SHARE_OF_FREE = 0.6  # of the free memory, for workers without a budget


class _WorkersType(click.ParamType):
    """A number of processes, or the address of a scheduler."""

    name = "number|address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return the number or the address, or say how to write them."""
        text = str(value)
        if "://" in text:
            return text
        if not text.isdecimal() or int(text) < 1:
            self.fail(f"{text!r} is neither a number nor an address as tcp://host:8786", param, ctx)
        return int(text)


@dataclass(frozen=True)
class BlockOptions:
    """Where a scene is worked on, if not in the memory of one process."""

    title = "Beyond memory"
    memory: int | None = option(
        "Memory to use, as 8GB. A scene that needs more is worked on block by block, in a "
        "scratch folder. With the address of a scheduler: of each worker.",
        type=BYTES,
    )
    workers: int | str | None = option(
        "Build a graph that does not fit into memory with this many processes, or share graph and "
        "walk among the workers of the dask scheduler at this address, as tcp://host:8786 (needs "
        "the extra [distributed]). These have to see the scratch folder under the same name; the "
        "scene is read here alone.",
        type=_WorkersType(),
        recorded=False,
    )
    resume: bool = option(
        "Go on after the last complete stage of a run that was killed. A run that fitted into "
        "memory has kept nothing, and begins anew.",
        hidden=True,
        recorded=False,
    )
    scratch: Path | None = option(
        "Scratch folder; by default a hidden one next to the output. Removed at the end.",
        hidden=True,
        recorded=False,
        type=click.Path(path_type=Path, file_okay=False),
    )

    def check(self) -> None:
        """Raise `UsageError` for options that have no effect."""
        if not self.is_in_blocks and (self.scratch is not None or self.resume):
            raise click.UsageError("--scratch and --resume need --memory or --workers")

    @property
    def is_in_blocks(self) -> bool:
        """Whether the scene may have to be worked on in blocks."""
        return not (self.memory is None and self.workers is None)


@contextmanager
def opened_blocks(
    chosen: BlockOptions,
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    output: Path,
    *,
    console: Console,
    n_classes: int,
) -> Iterator[InMemory | BlockRun]:
    """Open the place where a scene is worked on: in memory, or in blocks if that does not do."""
    from diffclass.jobs import MEMORY
    from diffclass_hyperspectral.jobs.classification import BlockRun

    chosen.check()
    if not chosen.is_in_blocks:
        yield MEMORY
        return
    from diffclass.blocks import JOB, ScratchError

    folder = output.parent / f".{output.name}.scratch" if chosen.scratch is None else chosen.scratch
    is_unfinished = chosen.resume and (folder / JOB).is_file()
    if chosen.resume and not is_unfinished:
        console.say(f"no unfinished run lies in {folder}: this one begins anew")
    memory = chosen.memory
    if memory is None:
        memory = int(_SHARE_OF_FREE * (available_memory_bytes() or 4 * 2**30))
    if not isinstance(chosen.workers, str) and not is_unfinished:
        needed = needed_memory(scene, features, classifier, n_classes)
        if needed <= memory:
            asked = chosen.workers is not None
            more = ", where one process uses all cores: no other is started" if asked else " given"
            console.say(f"the whole graph fits into the memory{more}")
            yield MEMORY
            return
    try:
        with BlockRun.opened(
            scene,
            features,
            classifier,
            folder=folder,
            memory=memory,
            n_workers=chosen.workers if isinstance(chosen.workers, int) else None,
            scheduler=chosen.workers if isinstance(chosen.workers, str) else None,
            resume=chosen.resume,
        ) as blocks:
            yield blocks
    except ScratchError:
        raise
    except Exception:
        if folder.exists():
            console.say(f"what is complete stays in {folder}; go on with --resume, or remove it")
        raise


def needed_memory(
    scene: Scene, features: SceneFeatures, classifier: DiffusionClassifier, n_classes: int
) -> int:
    """Return the bytes that classifying a scene in memory takes."""
    from diffclass.jobs import forecast_classification
    from diffclass_hyperspectral import Pixels

    return forecast_classification(Pixels(scene, features), classifier, n_classes).peak
