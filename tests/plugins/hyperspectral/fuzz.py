"""Mutated small files of every format through the commands: what a fuzz target runs.

A case is a number: it draws a kind of file, mutations of it, and the command that reads it, all
from that number, so that any case can be run again alone. What must not happen to anyone's file:
a traceback, an error without a name, a command that hangs, the end of the process, a line that some
library printed, anything left behind, memory that a small file does not need, or JSON that no
program can read. Every fourth case is a model: half of them damaged as they are, half with
checksums that are right again.

    python -m tests.plugins.hyperspectral.fuzz --first 0 --number 10000
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.model_files.archive import read_archive, write_archive

from .fuzz_files import (
    LABEL_FILES,
    MODEL_FILES,
    SCENE_FILES,
    STORE_FILES,
    TABLE_FILES,
    label_array,
    make_grid,
)

SECONDS = 20  # longer than that is a hang
_MODEL_SHARE = 4  # of so many cases one is a model
_STORE_SHARE = 5  # of so many, but for models, one is a scene of several files or of GDAL's drivers
_MODEL_KIND = "diffclass scene model"
MOST_BYTES = 500_000_000  # that a command may take for a file of some kilobytes
_PATIENCE = 10  # times longer, if the process did not get to work for half of it
_REFUSED = (2, 3)
# GDAL opens a TIFF with a damaged key of a unit by a PROJ that was not told where its data are, and
# its libtiff has no handler for places that a file cannot have
_BY_GDAL = ("internal_proj_uom_get_info_from_database", "_tiffSeekProc: ")
_TEXTS = (
    b"0", b"-1", b"1", b"2", b"99999999999", b"1e9", b"1e308", b"1e400", b"-1e400", b"nan", b"inf",
    b"-inf", b"x", b"", b"1e-320", b"3.4e38", b"65536", b"2147483648", b"{", b"}", b"\xff",
)  # fmt: skip
_FLOATS = (np.inf, -np.inf, np.nan, -3.4028235e38, 3.4e38, 9.96921e36, 1e20, 1e-42, -0.0, 1e16)
_DOUBLES = (*_FLOATS, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324)
_SUFFIXES = (".HDR", ".xml", ".XML", ".dbf", ".shx", ".shp", ".img", ".json", ".hdr")


@dataclass(frozen=True)
class Case:
    """A command on a mutated file.

    Attributes
    ----------
    number : int
    kind : str
        Of the file.
    arguments : list of str
        Of the command.
    """

    number: int
    kind: str
    arguments: list[str]


@dataclass(frozen=True)
class Outcome:
    """What a command did: its exit code (None: the process ended or hung), and what is wrong.

    ``memory`` is the peak of what the process held, in bytes, above what it held before.
    """

    code: int | None
    seconds: float
    wrong: str | None
    said: str
    memory: int = 0


def make_case(number: int, folder: Path) -> Case:
    """Write the files of a case into a new folder."""
    rng = np.random.default_rng([18, number])
    (folder / "out").mkdir(parents=True)
    sorts = [("scene", SCENE_FILES)] * 3 + [("labels", LABEL_FILES)] * 2 + [("table", TABLE_FILES)]
    sort, files = sorts[rng.integers(len(sorts))]
    if number % _MODEL_SHARE == _MODEL_SHARE - 1:
        sort, files = "model", MODEL_FILES
    elif number % _STORE_SHARE == _STORE_SHARE - 1:
        sort, files = "scene", STORE_FILES
    kind = list(files)[rng.integers(len(files))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, shape = files[kind](folder)
        arguments = _arguments(sort, path, folder, shape, rng)
    inside = path.rglob("*") if path.is_dir() else ()
    beside = (p for p in folder.iterdir() if p.stem.startswith(path.stem[:8]))
    victims = sorted(p for p in (*beside, *inside) if p.is_file())
    # a header says more than its data: it is as likely as the largest of the files
    victim = victims[rng.integers(len(victims))]
    if sort == "model" and rng.random() < 0.5:
        _damage_signed(victim, rng)
        return Case(number, f"{sort}: {kind}, signed", arguments)
    for _ in range(int(rng.choice([1, 1, 1, 2, 5]))):
        victim.write_bytes(mutated(victim.read_bytes(), rng))
    return Case(number, f"{sort}: {kind}", arguments)


def _arguments(
    sort: str, path: Path, folder: Path, shape: tuple[int, ...], rng: np.random.Generator
) -> list[str]:
    least = ["--neighbors", "3"]
    if sort == "table":
        return ["embed", str(path), "-o", str(folder / "out/coordinates.npy"), "-n", "2", *least]
    if sort == "model":
        out = folder / "out/map.npy"
        words = ["classify", str(make_grid(folder)), "--model", str(path), "-o", str(out)]
        return [*words, "--probability", str(folder / "out/map_p.npy")]
    few = [*least, "--components", "2"]
    if sort == "labels":
        scene, labels = make_grid(folder), path
    else:
        scene, labels = path, folder / "given_ids.npy"
        np.save(labels, label_array(shape))
        if rng.random() < 0.5:
            return ["info", str(path)]
    out = folder / "out" / ("map.npy", "map.tif", "map.img")[rng.integers(3)]
    return ["classify", str(scene), "--labels", str(labels), "-o", str(out), *few]


def _damage_signed(path: Path, rng: np.random.Generator) -> None:
    """Change a fact or an array of a model, and write it with checksums that are right."""
    facts, arrays = read_archive(path, _MODEL_KIND)
    if rng.random() < 0.5:
        text = json.dumps(facts).encode()
        with suppress(ValueError):
            facts = json.loads(mutated(text, rng))
    else:
        name = list(arrays)[rng.integers(len(arrays))]
        arrays[name] = _changed(arrays[name], rng)
    with suppress(ValueError):  # text that is none
        write_archive(path, _MODEL_KIND, facts, arrays, version="0")


def _changed(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    kind = int(rng.integers(6))
    if kind == 0:
        return array[:-1] if array.ndim else array
    if kind == 1:
        return array.T
    if kind == 2:
        return np.repeat(array, 2, axis=0) if array.ndim else array
    if kind == 3:
        return array.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?"]))
    out = array.copy()
    values = rng.choice([0, -1, 1, 2**31 - 1, 255, 65536] if kind == 4 else _FLOATS, out.size)
    with np.errstate(all="ignore"):
        some = rng.random(out.size) < rng.choice([1 / max(out.size, 1), 0.5, 1])
        out.reshape(-1)[some] = values[some].astype(out.dtype)
    return out


def mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """Change one place of a file, its first kilobytes more often than the rest."""
    if not raw:
        return raw
    data = bytearray(raw)
    reach = min(len(data), 2500) if rng.random() < 0.7 else len(data)
    place, length = int(rng.integers(reach)), int(rng.integers(1, 9))
    kind = int(rng.integers(9))
    if kind == 0:
        return _with_text(bytes(data), reach, rng)
    if kind == 1:
        del data[place : place + length]
    elif kind == 2:
        data[place:place] = data[place : place + length]
    elif kind == 3:
        data[place : place + length] = rng.bytes(length)
    elif kind == 4:
        data[place] ^= 1 << int(rng.integers(8))
    elif kind == 5:
        del data[place:]
    elif kind == 6:
        _put(data, place, np.array(rng.choice(_FLOATS), "<f4"))
    elif kind == 7:
        _put(data, place, np.array(rng.choice(_DOUBLES), "<f8"))
    else:
        _put(data, place, np.array(rng.choice([0, -1, 1, 2**31 - 1, 255, 65536]), "<i4"))
    return bytes(data)


def _put(data: bytearray, place: int, value: np.ndarray) -> None:
    place -= place % value.itemsize
    data[place : place + value.itemsize] = value.tobytes()[: len(data) - place]


def _with_text(data: bytes, reach: int, rng: np.random.Generator) -> bytes:
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?", data[:reach]))
    if not numbers:
        return data
    found = numbers[rng.integers(len(numbers))]
    return data[: found.start()] + _TEXTS[rng.integers(len(_TEXTS))] + data[found.end() :]


class Commands:
    """Runs commands in a process of its own, which is replaced when it ends or hangs."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Any = None

    def __enter__(self) -> Commands:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, case: Case, folder: Path) -> Outcome:
        """Run the command of a case and say what is wrong with what it did."""
        if self._process is None or not self._process.is_alive():
            self._start()
        before = _listing(folder)
        begun = time.perf_counter()
        self._pipe.send((case.arguments, str(folder)))
        try:
            code, memory = self._pipe.recv() if self._answers() else ("hangs", 0)
        except EOFError:
            code, memory = "ends the process", 0
        seconds = time.perf_counter() - begun
        if isinstance(code, str):
            self._end()
            return Outcome(None, seconds, code, "")
        out, err = (
            (folder.parent / name).read_text(errors="replace") for name in ("stdout", "stderr")
        )
        wrong = _wrong(code, out, err, before, folder)
        if wrong is None and memory > MOST_BYTES:
            wrong = f"took {memory:,} bytes"
        return Outcome(code, seconds, wrong, err, memory)

    def _answers(self) -> bool:
        """Wait until the command ends or hangs; on a busy machine it may only wait for its turn."""
        worked = _processor_seconds(self._process.pid)
        for _ in range(_PATIENCE):
            if self._pipe.poll(SECONDS):
                return True
            if _processor_seconds(self._process.pid) - worked > SECONDS / 2:
                return False
        return False

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._pipe.recv()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(field: str) -> int:
    """Bytes that this process holds, VmRSS, or held at most, VmHWM, since they were last reset."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024 * int(found[1]) if found else 0


def _work(pipe: Connection) -> None:
    """Run what comes through the pipe; the parent watches the clock."""
    from diffclass.command_line.main import run

    pipe.send("ready")
    while True:
        try:
            arguments, folder = pipe.recv()
        except EOFError:
            return
        tempfile.tempdir = folder
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _resident("VmRSS")
        with _written_beside(Path(folder)):
            code = run([*arguments, "-q", "--json"])
        pipe.send((code, _resident("VmHWM") - before))


@contextmanager
def _written_beside(folder: Path) -> Iterator[None]:
    """Keep what is printed, by libraries too, in two files beside a folder."""
    kept = os.dup(1), os.dup(2)
    for number, name in ((1, "stdout"), (2, "stderr")):
        handle = os.open(folder.parent / name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(handle, number)
        os.close(handle)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)


def _listing(folder: Path) -> dict[str, int]:
    return {str(p): p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


def _wrong(code: int, out: str, err: str, before: dict[str, int], folder: Path) -> str | None:
    lines = [line for line in err.splitlines() if not line.startswith(_BY_GDAL)]
    after = _listing(folder)
    made = {Path(name).name for name in after.keys() - before.keys()}
    if "Traceback" in err or "--traceback" in err:
        return "traceback or unnamed error"
    if code in (0, 4):
        try:
            json.loads(out, parse_constant=_no_constant)
        except ValueError:
            return "output is no JSON"
        if lines:
            return "printed beside its result"
        return None if all(name.startswith(("map", "coord")) for name in made) else f"left {made}"
    if code not in _REFUSED:
        return f"exit code {code}"
    if len(lines) != 1 or not lines[0].startswith("error: ") or out:
        return "not one line of error"
    return "something left behind" if after != before else None


def _no_constant(text: str) -> float:
    raise ValueError(text)


def fuzz(
    numbers: Iterable[int], *, say: Callable[[str], object] = print
) -> tuple[Counter[str], list[tuple[Case, Outcome]]]:
    """Run cases; return how many ended how, the most memory that one took, and the wrong ones."""
    counts: Counter[str] = Counter()
    wrong = []
    with Commands() as commands, tempfile.TemporaryDirectory() as place:
        for number in numbers:
            folder = Path(place) / "case"
            case = make_case(number, folder)
            outcome = commands.run(case, folder)
            counts[f"exit {outcome.code}"] += 1
            counts[case.kind.partition(":")[0]] += 1
            if outcome.memory > counts["most bytes"]:
                counts["most bytes"] = outcome.memory
            if outcome.wrong is not None:
                wrong.append((case, outcome))
                say(f"{number} {case.kind}: {outcome.wrong} {outcome.said.strip()[:400]}")
            shutil.rmtree(folder)
    return counts, wrong


def main() -> None:
    """Run the cases that are asked for and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--number", type=int, default=1000)
    asked = parser.parse_args()
    counts, wrong = fuzz(range(asked.first, asked.first + asked.number))
    print(dict(counts), f"wrong: {len(wrong)}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
