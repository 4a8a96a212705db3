"""Build wheel and sdist of what is committed, and check all that a release needs.

    python .ci/release_check.py [--python PYTHON ...] [--extra NAME ...]

Run by ``make release-check``, in an environment with ``build`` and ``twine``. The two files have to
come out the same, byte for byte, from the commit and from the sdist, with the version, the metadata
and the licences of all that is in them. The wheel then goes into fresh environments of the lowest
Python that it allows and of the newest that is found: without extras, with each extra alone, with
all of them, and, on the lowest Python, with the lowest versions that ``pyproject.toml`` states
(later Pythons have no wheels of those). In each the scripts of the README run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from addresses import ROOT, missing, read_project
from fresh_environments import (
    ALL,
    DEVELOPERS,
    candidates,
    lowest_python,
    output,
    programs,
    run,
    use,
)  # fmt: skip
from version import HOME, outdated, stated

LARGEST = 2_000_000  # bytes of the wheel
_UNWANTED = ("tests/", "experiments/", "diffclass_relabel/web/", "diffclass_qgis/")
_FROM = r"(?:import\s+|(?:import|export)\b[^;=]*?\bfrom\s+)"
_FOREIGN = re.compile(rf"""^\s*{_FROM}["']([^."'][^"']*)["'];""", re.MULTILINE)


def main() -> None:
    """Check everything; ends with an error at the first thing that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", nargs="+", help="take these programs, and look for no others")
    parser.add_argument("--extra", nargs="+", help="try these extras only")
    options = parser.parse_args()
    project = read_project()
    lowest = lowest_python(project["requires-python"])
    found = programs(options.python or candidates(lowest[1]), lowest)
    print("found", ", ".join(f"Python {a}.{b} ({name})" for (a, b), name in found.items()))
    extras = options.extra or ["", *sorted(project["optional-dependencies"].keys() - DEVELOPERS)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "loops")  # not compiled anew in each
        wheel, sdist, tree = built(Path(folder))
        check_contents(wheel)
        check_licences(wheel, sdist, tree)
        if lacking := missing(project):
            print(f"warning: it cannot be published without {', '.join(lacking)} (pyproject.toml)")
        readme, place = (tree / "README.md").read_text("utf-8"), Path(folder) / "environment"
        for version in sorted({lowest, max(found, default=lowest)}):
            if version not in found:
                print(f"skipped: no Python {version[0]}.{version[1]} was found")
                continue
            for extra in extras:
                use(wheel, extra, readme, python=found[version], place=place)
            if version == lowest and ALL in extras:
                use(wheel, ALL, readme, python=found[version], place=place, lowest=True)


def built(folder: Path) -> tuple[Path, Path, Path]:
    """Build wheel and sdist twice, and put them into ``dist``; return them and their tree."""
    if wrong := outdated():
        sys.exit(f"{', '.join(wrong)}: another version; python .ci/version.py writes this one")
    commit, epoch = output("git", "log", "-1", "--format=%h %ct").split()
    print(f"building commit {commit}, version {stated(*HOME)}", flush=True)
    if output("git", "status", "--porcelain"):
        print("warning: what is not committed is not in it")
    archive = folder / "commit.tar"
    run("git", "archive", "-o", archive, "HEAD")
    wheel, sdist, tree = build(archive, folder / "first", epoch)
    again = build(sdist, folder / "again", epoch)
    for one, other in zip((wheel, sdist), again[:2], strict=True):
        if one.read_bytes() != other.read_bytes():
            sys.exit(f"{one.name}: the commit and the sdist do not give the same bytes")
        print(f"{one.name}: {one.stat().st_size:,} bytes, the same when built of the sdist")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    (ROOT / "dist").mkdir(exist_ok=True)
    for file in (wheel, sdist):
        shutil.copyfile(file, ROOT / "dist" / file.name)
    return wheel, sdist, tree


def build(archive: Path, folder: Path, epoch: str) -> tuple[Path, Path, Path]:
    """Unpack an archive and build wheel and sdist of it; return them and the tree."""
    tree = folder / "tree"
    with tarfile.open(archive) as opened:
        opened.extractall(tree, filter="data")
    if not (tree / "pyproject.toml").exists():  # an sdist holds one folder
        [tree] = tree.iterdir()
    run(sys.executable, "-m", "build", "--outdir", folder, tree, quiet=True,
        SOURCE_DATE_EPOCH=epoch)  # fmt: skip
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist, tree


def check_contents(wheel: Path) -> None:
    """End with an error if the wheel is too large or holds what users do not need."""
    size = wheel.stat().st_size
    if size > LARGEST:
        sys.exit(f"{wheel.name}: {size:,} bytes, more than {LARGEST:,}")
    with zipfile.ZipFile(wheel) as archive:
        unwanted = [name for name in archive.namelist() if name.startswith(_UNWANTED)]
    if unwanted:
        sys.exit(f"{wheel.name}: holds {unwanted[0]} and {len(unwanted) - 1} more of that kind")


def check_licences(wheel: Path, sdist: Path, tree: Path) -> None:
    """End with an error where the licence is missing, or that of a package in the page's script."""
    with zipfile.ZipFile(wheel) as archive:
        kept = [name for name in archive.namelist() if ".dist-info/licenses/" in name]
    texts = {name.partition("/licenses/")[2] for name in kept}
    with tarfile.open(sdist) as archive:
        licensed = {member.name.partition("/")[2] for member in archive if member.isfile()}
    if "LICENSE" not in texts & licensed:
        sys.exit("LICENSE is not in both, wheel and sdist")
    packages = bundled(tree / "plugins" / "diffclass_relabel" / "web" / "src")
    lacking = [name for name in packages if not any(name in text for text in texts)]
    if lacking:
        sys.exit(f"the page has {', '.join(lacking)} in it: the wheel needs its licence")
    print(f"licences: {', '.join(sorted(texts))}; in the page: {', '.join(packages) or 'own code'}")


def bundled(sources: Path) -> list[str]:
    """Return the packages that the page's sources import: its built script contains them."""
    found = (_FOREIGN.findall(file.read_text("utf-8")) for file in sources.rglob("*.ts"))
    return sorted({name for names in found for name in names})


if __name__ == "__main__":
    main()
