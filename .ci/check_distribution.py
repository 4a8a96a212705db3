"""Build wheel and sdist, check them, and use the wheel in fresh environments.

    python .ci/check_distribution.py [--only newest|lowest] [--python PYTHON ...]

Run by ``make dist-check``, in an environment with ``build`` and ``twine``. Every Python that is
given (by default this one) gets an environment with the newest versions of all dependencies, and
the first one also an environment with the lowest that ``pyproject.toml`` states: later Pythons have
no wheels of those.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from addresses import ROOT, missing, read_project

LARGEST = 2_000_000  # bytes of the wheel
EXTRA = "all"  # what a user needs; what developers need is tested by `make test`
_OWN = re.compile(r"diffclass\[(?P<extras>[^]]+)\]\Z")
_UNWANTED = ("tests/", "experiments/", "diffclass_relabel/web/", "diffclass_qgis/")
SMOKE = Path(__file__).with_name("smoke.py")


def main() -> None:
    """Check the distribution; ends with an error at the first thing that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["newest", "lowest"], help="the versions to install")
    parser.add_argument(
        "--python", nargs="+", default=[sys.executable], help="programs to make environments with"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder))
        check_contents(wheel)
        if lacking := missing(read_project()):
            print(f"warning: it cannot be published without {', '.join(lacking)} (pyproject.toml)")
        if options.only != "newest":
            use(wheel, Path(folder) / "lowest", python=options.python[0], lowest=True)
        if options.only != "lowest":
            for number, python in enumerate(options.python):
                use(wheel, Path(folder) / f"newest{number}", python=python, lowest=False)


def built(folder: Path) -> Path:
    """Build wheel and sdist into ``dist`` by way of a folder, and return the wheel."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *folder.glob("*.*"))
    (ROOT / "dist").mkdir(exist_ok=True)
    for file in folder.glob("diffclass-*"):
        (ROOT / "dist" / file.name).write_bytes(file.read_bytes())
    return next(folder.glob("*.whl"))


def check_contents(wheel: Path) -> None:
    """End with an error if the wheel is too large or holds what users do not need."""
    size = wheel.stat().st_size
    if size > LARGEST:
        sys.exit(f"{wheel.name}: {size:,} bytes, more than {LARGEST:,}")
    with zipfile.ZipFile(wheel) as archive:
        unwanted = [name for name in archive.namelist() if name.startswith(_UNWANTED)]
    if unwanted:
        sys.exit(f"{wheel.name}: holds {unwanted[0]} and {len(unwanted) - 1} more of that kind")
    print(f"{wheel.name}: {size:,} bytes")


def use(wheel: Path, place: Path, *, python: str, lowest: bool) -> None:
    """Install the wheel into a fresh environment, and run the smoke test with it."""
    run(python, "-m", "venv", place)
    inside = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    constraints = place / "constraints.txt"
    constraints.write_text("".join(f"{line}\n" for line in lowest_versions()) if lowest else "")
    print(f"installing the {'lowest' if lowest else 'newest'} versions with {python}", flush=True)
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--only-binary", ":all:", "--constraint", constraints, f"{wheel}[{EXTRA}]")  # fmt: skip
    run(inside, "-m", "pip", "check")
    run(inside, "-I", SMOKE, folder=place)


def lowest_versions() -> Iterator[str]:
    """Yield a constraint for the lower bound of each dependency, those of extras included."""
    project = read_project()
    wanted = [*project["dependencies"], *required_by(EXTRA, project["optional-dependencies"])]
    for requirement in dict.fromkeys(wanted):
        yield requirement.replace(">=", "==")


def required_by(extra: str, optional: dict[str, list[str]]) -> Iterator[str]:
    """Yield what an extra requires, extras of this very project followed."""
    for requirement in optional[extra]:
        if own := _OWN.match(requirement):
            for other in own["extras"].split(","):
                yield from required_by(other, optional)
        else:
            yield requirement


def run(*command: object, folder: Path = ROOT) -> None:
    """Run a program that knows nothing of the source tree; end with an error where it does."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=kept, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: {' '.join(map(str, command[:4]))} ...")


if __name__ == "__main__":
    main()
