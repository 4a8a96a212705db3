"""Install the wheel into fresh environments, and use it there as the README says.

The Pythons are those on the path and those of pyenv; the lowest versions are those that
``pyproject.toml`` states.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from addresses import ROOT, read_project

ALL = "all"  # what a user needs; what developers need is tested by `make test`
DEVELOPERS = {"docs", "dev"}
SMOKE = Path(__file__).with_name("smoke.py")
_OWN = re.compile(r"diffclass\[(?P<extras>[^]]+)\]\Z")
_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ADVICE = re.compile(r"pip install 'diffclass\[([\w,]+)\]'")
_ASK = "import ensurepip, ssl, sys; print(*sys.version_info[:2], sys.version_info.releaselevel)"


def lowest_python(requirement: str) -> tuple[int, int]:
    """Return the first Python that ``requires-python`` allows."""
    major, minor = requirement.removeprefix(">=").split(".")
    return int(major), int(minor)


def candidates(minor: int) -> Iterator[str]:
    """Yield programs that may be a Python: those on the path, and those of pyenv."""
    yield from filter(None, (shutil.which(f"python3.{one}") for one in range(minor, minor + 20)))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob("versions/3.*/bin/python")))
    yield sys.executable


def programs(names: Iterable[str], lowest: tuple[int, int]) -> dict[tuple[int, int], str]:
    """Return a program for each Python, none too old and no preview, that makes environments."""
    found: dict[tuple[int, int], str] = {}
    for name in names:
        done = subprocess.run([name, "-c", _ASK], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            major, minor, level = done.stdout.split()
            version = int(major), int(minor)
            if version >= lowest and level == "final":
                found.setdefault(version, name)
    return dict(sorted(found.items()))


def use(
    wheel: Path, extra: str, readme: str, *, python: str, place: Path, lowest: bool = False
) -> None:
    """Install the wheel with an extra into a fresh environment at a place, and use it there."""
    began = time.monotonic()
    shutil.rmtree(place, ignore_errors=True)
    run(python, "-m", "venv", place)
    inside = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    constraints = place / "constraints.txt"
    limits = lowest_versions() if lowest else ()
    constraints.write_text("".join(f"{line}\n" for line in limits), encoding="utf-8")
    run(inside, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile",
        "--only-binary", ":all:", "--constraint", constraints,
        f"{wheel}[{extra}]" if extra else wheel, quiet=True)  # fmt: skip
    run(inside, "-m", "pip", "check", quiet=True)
    check_extra(inside, extra)
    ran = follow(readme, inside, extra, place / "readme")
    if extra == ALL:
        run(inside, "-I", SMOKE, folder=place)
    version = output(inside, "-c", "import platform; print(platform.python_version())").strip()
    versions = f"{'lowest' if lowest else 'newest'} versions"
    print(f"Python {version}, {f'[{extra}]' if extra else 'no extra'}, {versions}: {ran} "
          f"({time.monotonic() - began:.0f} s)", flush=True)  # fmt: skip


def check_extra(python: Path, extra: str) -> None:
    """End with an error where a package of an extra is missing or cannot be imported."""
    facts = json.loads(output(python.with_name("diffclass"), "doctor", "--json"))
    extras = [one for one in facts["extras"] if one == extra or (extra == ALL and one != "cuda")]
    wrong = {
        package: found
        for name in extras
        for package, found in facts["extras"][name].items()
        if found is None or "cannot be imported" in found
    }
    if wrong or (extra and not extras):
        sys.exit(f"[{extra}]: {wrong or 'diffclass doctor does not know it'}")


def follow(readme: str, python: Path, extra: str, place: Path) -> str:
    """Run the scripts of the README, then its commands; return what came of them.

    A command may say that it needs another extra: never one that is there.
    """
    place.mkdir()
    found = _BLOCK.findall(readme)
    script = place / "scripts.py"
    script.write_text("".join(code for kind, code in found if kind == "python"), encoding="utf-8")
    run(python, "-I", script, folder=place, quiet=True)
    needed = []
    commands = [line for kind, code in found if kind == "console" for line in code.splitlines()]
    for line in commands:
        words = [str(python.with_name("diffclass")), *line.split()[1:], "--quiet"]
        ended = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
        advice = _ADVICE.search(ended.stderr)
        if ended.returncode and (not advice or extra in (advice[1], ALL)):
            sys.exit(f"[{extra}] {line}: exit code {ended.returncode}, {ended.stderr}")
        needed += [advice[1]] if ended.returncode and advice else []
    done = f"scripts, {len(commands) - len(needed)} of {len(commands)} commands of the README"
    return done + (f"; the others ask for [{'], ['.join(needed)}]" if needed else "")


def lowest_versions() -> Iterator[str]:
    """Yield a constraint for the lower bound of each dependency, those of extras included."""
    project = read_project()
    wanted = [*project["dependencies"], *required_by(ALL, project["optional-dependencies"])]
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


def run(*command: object, folder: Path = ROOT, quiet: bool = False, **variables: str) -> None:
    """Run a program that knows nothing of the source tree; end with an error where it does."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=kept | variables, check=False,
        capture_output=quiet, text=True,
    )  # fmt: skip
    if done.returncode:
        said = f"\n{done.stdout}{done.stderr}" if quiet else ""
        sys.exit(f"exit code {done.returncode}: {' '.join(map(str, command[:4]))} ...{said}")


def output(*command: object) -> str:
    """Return what a program prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=ROOT, env=kept, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
