"""A folder for what does not fit into memory, and for what a killed run has already done.

Every array is a ``.npy`` file that is written under another name, then renamed. A process that
reads it sees all of it, whatever process is killed at any time. Its name is "stage/array". A stage
that is complete leaves a record (`diffclass.blocks.stage_records`) with its facts and the hashes of
its files; a resumed run that was given the same checks these, takes them and goes on with the next
stage. So no loop runs on numbers that neither this run has written nor a hash has confirmed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.blocks.stage_records import (
    ANEW,
    ScratchError,
    StageRecord,
    appearing,
    as_json,
    read_sealed,
    write_sealed,
)
from diffclass.exceptions import named_when_full
from diffclass.system.identity import differences
from diffclass.system.mapped_files import create_mapped
from diffclass.system.progress import stage
from diffclass.system.temporary_folders import ENDING, lock

JOB = "job.json"  # in the folder of an unfinished run: what its results depend on


@dataclass(frozen=True)
class Scratch:
    """A folder of arrays and of facts about complete stages.

    It is a small value that tasks take with them; workers of other machines have to see the folder
    under the same path.

    Parameters
    ----------
    folder : Path

    Examples
    --------
    A stage is worked once; later calls read what it has left:

    >>> import tempfile
    >>> import numpy as np
    >>> from diffclass.blocks import Scratch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scratch = Scratch(folder)
    ...     scratch.save("points/x", np.arange(5) ** 2)
    ...     scratch.completed("sums", lambda: {"total": int(scratch.load("points/x").sum())})
    ...     scratch.completed("sums", lambda: {"total": 1 / 0})
    {'total': 30}
    {'total': 30}
    """

    folder: Path

    def __post_init__(self) -> None:
        # absolute: workers have other working directories
        object.__setattr__(self, "folder", Path(self.folder).absolute())

    @classmethod
    @contextmanager
    def opened(
        cls,
        folder: str | os.PathLike[str],
        *,
        job: dict[str, Any],
        resume: bool = False,
        keep: bool = False,
    ) -> Iterator[Scratch]:
        """Open a folder for a job, and remove it at the end, also after an error or Ctrl-C.

        Parameters
        ----------
        folder : path-like
            Made here, or that of an earlier run of the same job. Of a link, the folder to which it
            leads; both are removed.
        job : dict
            What the results depend on: inputs and parameters, in values that JSON can hold.
        resume : bool, default=False
            Whether stages that an earlier run completed are taken over.
        keep : bool, default=False
            Whether complete stages stay after an error (not after Ctrl-C), so that another run can
            resume.

        Raises
        ------
        ScratchError
            If another run works in the folder, or it holds anything else, another job, damaged
            files or, without ``resume``, any stage.
        """
        scratch = cls(Path(folder))
        with _locked(scratch.folder):
            scratch._begin(job, resume=resume)
            try:
                yield scratch
            except Exception:
                scratch.remove(keep=keep)
                raise
            except BaseException:
                scratch.remove()
                raise
            scratch.remove()

    @classmethod
    def kept(cls, folder: str | os.PathLike[str]) -> Scratch:
        """Return a folder that stays: a new one, or that of an earlier run.

        `ScratchError` if it holds anything else, which is not touched.
        """
        scratch = cls(Path(folder))
        make_folder(scratch.folder)
        if (scratch.folder / JOB).exists():
            scratch._known_job()
        else:
            scratch._claim({})
        return scratch

    def path(self, name: str) -> Path:
        """Return the file of an array."""
        return self.folder / f"{name}.npy"

    def save(self, name: str, array: np.ndarray) -> None:
        """Write an array; it appears whole."""
        with room_in(self.folder), appearing(self._place(name)) as temporary:
            _save(temporary, array)

    def load(self, name: str) -> np.ndarray:
        """Return an array on its file, read-only; it takes memory as it is read.

        `ScratchError` if it is not there.
        """
        path = self.path(name)
        try:
            return np.load(path, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise ScratchError(f"{path}: cannot be read ({error}); {ANEW}") from error

    def create(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return a new array on its file, to be filled by this process; see `create_mapped`."""
        return create_mapped(self._place(name), shape, dtype)

    def drop(self, *names: str) -> None:
        """Remove arrays that are no longer needed."""
        for stage_name in {name.split("/")[0] for name in names}:
            marker = self._marker(stage_name)
            if marker.exists():  # it forgets them first: a missing file that it knows is an error
                record = StageRecord.read(marker)
                kept = record.without({f"{name}.npy" for name in names})
                if kept != record:
                    with room_in(self.folder):
                        kept.write(marker)
        for name in names:
            self.path(name).unlink(missing_ok=True)

    def drop_stage(self, name: str) -> None:
        """Remove all arrays of a stage, complete or not."""
        self._marker(name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def sweep(self, name: str) -> None:
        """Remove what writers that were killed have left among the arrays of a stage."""
        _sweep(self.folder / name)

    def completed(
        self,
        name: str,
        work: Callable[[], dict[str, Any]],
        *,
        made_from: Mapping[str, Any] | None = None,
        shown: str | None = None,
    ) -> dict[str, Any]:
        """Return the facts of a stage; do its work unless an earlier run completed it.

        Parameters
        ----------
        name : str
            Of the stage.
        work : callable
            Does the stage and returns its facts, in values that JSON can hold.
        made_from : mapping, optional
            What the stage depends on besides the job of the folder, in values that JSON can hold:
            parameters, hashes of inputs, `identity_of` earlier stages.
        shown : str, optional
            Its name for those who listen to progress; "" if the work tells them itself.

        Raises
        ------
        ScratchError
            If the stage is there, but was made from something else or is damaged.
        """
        marker, made_from = self._marker(name), {} if made_from is None else made_from
        if marker.exists():
            record = StageRecord.read(marker)
            record.check(self.folder, name, made_from)
            return record.facts
        # what an unfinished run of the stage has left was confirmed by no hash
        shutil.rmtree(self.folder / name, ignore_errors=True)
        with nullcontext() if shown == "" else stage(shown or name):
            facts = work()
        self.sweep(name)
        record = StageRecord.of(self.folder, name, made_from, facts)
        with room_in(self.folder):
            record.write(marker)
        return record.facts

    def checked(self, name: str) -> dict[str, Any]:
        """Return the facts of a complete stage, whose files are as they were written.

        `ScratchError` if it is not complete, or damaged.
        """
        record = StageRecord.read(self._marker(name))
        record.check(self.folder, name, record.made_from)
        return record.facts

    def identity_of(self, name: str) -> str:
        """Return what tells a complete stage from others of its name."""
        return StageRecord.read(self._marker(name)).identity

    @property
    def completed_stages(self) -> list[str]:
        """Names of the stages that are complete, in the order of the alphabet."""
        return sorted(marker.stem for marker in self.folder.glob("*.json") if marker.name != JOB)

    def remove(self, *, keep: bool = False) -> None:
        """Remove the folder with all that is in it, or what is in unfinished stages only."""
        complete = self.completed_stages if keep else []
        if not complete:
            shutil.rmtree(self.folder.resolve(), ignore_errors=True)
            if self.folder.is_symlink():
                self.folder.unlink()
            return
        for part in self.folder.glob("*"):
            if part.is_dir() and part.name not in complete:
                Scratch(part).remove(keep=True)  # it may have stages of its own

    def _marker(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _place(self, name: str) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _claim(self, job: dict[str, Any]) -> None:
        """Mark a folder as one of scratch files; what else one holds is not touched."""
        for left in self.folder.glob(f".{JOB}.*{ENDING}"):  # by a run killed at its very start
            left.unlink(missing_ok=True)
        if any(self.folder.iterdir()):
            raise ScratchError(f"{self.folder} is not empty; name a new folder for scratch files")
        with room_in(self.folder):
            write_sealed(self.folder / JOB, job)

    def _known_job(self) -> dict[str, Any]:
        """Return the job of the run here; to remove a folder of other things is not advised."""
        try:
            return read_sealed(self.folder / JOB)
        except ScratchError as error:
            raise ScratchError(
                f"{self.folder}: its {JOB} is damaged, or not one of diffclass; name a new folder "
                "for scratch files"
            ) from error

    def _begin(self, job: dict[str, Any], *, resume: bool) -> None:
        if not (self.folder / JOB).exists():
            self._claim(job)
            return
        known = self._known_job()
        if not resume:
            raise ScratchError(
                f"{self.folder} holds an unfinished run; pass --resume, or remove the folder"
            )
        others = differences(known, as_json(job))
        if others:
            raise ScratchError(
                f"{self.folder} holds a run with other inputs or parameters ({', '.join(others)}); "
                f"run it as before, or leave --resume out and {ANEW}"
            )
        _sweep(self.folder)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder, which is made, where folders can be locked."""
    make_folder(folder)
    try:
        descriptor = lock(folder.resolve())
    except OSError:
        yield
        return
    if descriptor is None:
        raise ScratchError(
            f"{folder} is in use by another run; wait for its end, or name another folder"
        )
    try:
        yield
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder for scratch files unless it is there; `ScratchError` if there can be none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:  # a file, a link that leads nowhere, a disk that is read-only
        raise ScratchError(
            f"{folder}: there can be no folder for scratch files ({error.strerror}); name another"
        ) from error


def _sweep(folder: Path) -> None:
    """Remove what writers that were killed have left; no one else writes there."""
    for left in folder.glob(f".*{ENDING}"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _save(path: Path, array: np.ndarray) -> None:
    """Write an array as `numpy.save` does, whose error does not say that the disk is full."""
    array = np.asarray(array, order="C")
    with path.open("wb") as stream:
        header = np.lib.format.header_data_from_array_1_0(array)
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(array.data)


def room_in(folder: Path | None) -> AbstractContextManager[None]:
    """Turn the error of a full disk into one that says what to do.

    Examples
    --------
    >>> import errno
    >>> from pathlib import Path
    >>> from diffclass import DataError
    >>> from diffclass.blocks import room_in
    >>> try:
    ...     with room_in(Path("scratch")):
    ...         raise OSError(errno.ENOSPC, "No space left on device")
    ... except DataError as error:
    ...     print(error)
    scratch: no space is left for scratch files; choose a folder on a larger disk
    """
    return named_when_full(
        lambda _: f"{folder}: no space is left for scratch files; choose a folder on a larger disk"
    )
