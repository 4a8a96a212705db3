"""Build wheel and sdist, check them, and use the wheel in fresh environments.

Run by ``make dist-check``, in an environment with ``build`` and ``twine``. The second environment
has the lowest versions of all dependencies that ``pyproject.toml`` states.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 2_000_000  # bytes of the wheel
# extras that a user needs; those of developers are tested by `make test`
EXTRAS = "hyperspectral,maps,plots,relabel"
_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?>=(?P<version>[0-9.]+)")
_UNWANTED = ("tests/", "experiments/", "diffclass_relabel/web/", "diffclass_qgis/")
_SMOKE = """
from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import write_class_map, write_raster
scene = make_tissue_scene(48, 48)
write_raster("scene.img", scene.cube)
write_class_map("labels.tif", scene.labels)
"""


def main() -> None:
    """Check the distribution; ends with an error at the first thing that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["newest", "lowest"], help="the versions to install")
    chosen = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(Path(folder))
        check_contents(wheel)
        for versions in ("newest", "lowest"):
            if chosen in (None, versions):
                use(wheel, Path(folder) / versions, lowest=versions == "lowest")


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


def use(wheel: Path, place: Path, *, lowest: bool) -> None:
    """Install the wheel into a fresh environment, and classify a scene with it."""
    venv.create(place, with_pip=True)
    programs = place / ("Scripts" if sys.platform == "win32" else "bin")
    constraints = place / "constraints.txt"
    constraints.write_text("".join(f"{line}\n" for line in lowest_versions()) if lowest else "")
    run(programs / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:",
        "--constraint", constraints, f"{wheel}[{EXTRAS}]")  # fmt: skip
    run(programs / "python", "-c", _SMOKE, folder=place)
    run(programs / "diffclass", "--version", folder=place)
    run(programs / "diffclass", "classify", "scene.img", "--labels", "labels.tif", "-o", "map.tif",
        "-q", folder=place)  # fmt: skip
    run(programs / "diffclass", "evaluate", "map.tif", "labels.tif", "--picture", "scores.png",
        folder=place)  # fmt: skip
    run(programs / "diffclass", "relabel", "--help", folder=place)


def lowest_versions() -> Iterator[str]:
    """Yield a constraint for the lower bound of each dependency, those of extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for e in EXTRAS.split(",") for one in optional[e])]
    for requirement in wanted:
        if bound := _BOUND.match(requirement):
            yield f"{bound['name']}=={bound['version']}"


def run(*command: object, folder: Path = ROOT) -> None:
    """Run a program in a folder; end with an error where it does."""
    done = subprocess.run([str(word) for word in command], cwd=folder, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: {' '.join(map(str, command[:4]))} ...")


if __name__ == "__main__":
    main()
