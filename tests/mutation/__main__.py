"""Which small faults do the tests find? ``python -m tests.mutation --seed 1 --n 50 [PATHS]``.

Draws mutants of the sources at PATHS (all, without any), puts each into a copy of the tree and runs
first the module's own tests, then those of its chapter, each until one fails.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath

from ..own_files import ROOT, chapter_files, own_files
from .mutants import Mutant, mutants

PATIENCE = 900  # seconds for the tests of one mutant: a loop without end is found, too
OUTCOMES = ("own file", "chapter", "survived")


def sources(paths: list[str]) -> list[PurePosixPath]:
    """Return the modules of the project at some paths."""
    words = ["git", "-C", str(ROOT), "ls-files", "--", *(paths or ["diffclass", "plugins"])]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    found = map(PurePosixPath, listed)
    return [path for path in found if path.suffix == ".py" and path.stem != "__init__"]


def drawn(modules: list[PurePosixPath], n: int, seed: int) -> list[tuple[PurePosixPath, Mutant]]:
    """Draw n of the mutants of modules."""
    every = [(path, one) for path in modules for one in mutants((ROOT / path).read_text("utf-8"))]
    return random.Random(seed).sample(every, min(n, len(every)))


def copied(folder: Path) -> Path:
    """Copy what git knows of, and what it does not ignore."""
    words = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
    for name in subprocess.run(words, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    ):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def fails(tree: Path, files: list[str]) -> bool:
    """Return whether one of the tests in some files fails in a tree."""
    if not files:
        return False
    data = os.environ.get("DIFFCLASS_DATA", str(ROOT.parent / "shared" / "data"))
    paths = os.pathsep.join([str(tree), str(tree / "plugins")])
    environment = os.environ | {
        "PYTHONPATH": paths,
        "DIFFCLASS_DATA": data,
        # else a mutant of the same length, written within the same second, is read from the cache
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        *files,
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        done = subprocess.run(words, cwd=tree, env=environment, timeout=PATIENCE, **quiet)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (0, 5)  # 5: all were left out


def outcome(tree: Path, path: PurePosixPath, mutant: Mutant) -> str:
    """Return who finds a mutant."""
    source = (ROOT / path).read_text("utf-8")
    (tree / path).write_text(mutant.applied(source), "utf-8")
    try:
        own = own_files(path, ROOT)
        if fails(tree, own):
            return OUTCOMES[0]
        rest = [file for file in chapter_files(path, ROOT) if file not in own]
        return OUTCOMES[1] if fails(tree, rest) else OUTCOMES[2]
    finally:
        (tree / path).write_text(source, "utf-8")


def processor_seconds() -> float:
    """Return what the processes that were run and waited for have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a table of mutants and who finds them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATHS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=50)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        for path, mutant in drawn(sources(given.paths), given.n, given.seed):
            before = processor_seconds()
            found = outcome(tree, path, mutant)
            counts[found] += 1
            was, instead = (" ".join(text.split()) for text in (mutant.before, mutant.after))
            seconds = processor_seconds() - before
            print(
                f"{found:9}{seconds:6.0f} s  {path}:{mutant.line}  {was}  ->  {instead}", flush=True
            )
    killed = counts.total() - counts["survived"]
    told = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES)
    seconds = f"{processor_seconds():.0f} s of processor time"
    print(f"{killed} of {counts.total()} found ({told}); {seconds}")


if __name__ == "__main__":
    main()
