"""Which tests are a module's own: ``python -m tests.own_files`` names those of what has changed.

Of ``diffclass/a/b.py`` it is ``tests/a/test_b.py``; without one, three files of its chapter that
name most often what it defines, and three of others that import ``diffclass.a.b``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]


def folder_of_tests(module: PurePosixPath) -> PurePosixPath:
    """Return the folder of tests for the folder of a module; it need not be there."""
    package, *chapters = (part.strip("_") for part in module.parts[:-1])
    if package == "plugins":
        package, *chapters = chapters
        return PurePosixPath("tests/plugins", package.removeprefix("diffclass_"), *chapters)
    return PurePosixPath("tests", *chapters)


def chapter_files(module: PurePosixPath, root: Path) -> list[str]:
    """Return the files of tests of a module's chapter, or of the next chapter around it."""
    folder = folder_of_tests(module)
    while not (found := sorted((root / folder).glob("test_*.py"))):
        folder = folder.parent
    if folder.name != "tests":  # there stand those of modules outside the chapters
        found = sorted((root / folder).rglob("test_*.py"))
    return [file.relative_to(root).as_posix() for file in found]


def own_files(module: PurePosixPath, root: Path) -> list[str]:
    """Return the files of tests that are a module's own."""
    name = (module.parent if module.stem == "__init__" else module).stem.strip("_")
    around = chapter_files(module, root)
    if own := [file for file in around if file.endswith(f"/test_{name}.py")]:
        return own
    defined = re.findall(r"^(?:def|class) ([a-zA-Z]\w*)", (root / module).read_text("utf-8"), re.M)
    names = re.compile(rf"\b({'|'.join([name, *defined])})\b")
    every = sorted((root / "tests").rglob("test_*.py"))
    texts = {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in every}
    times = {file: len(names.findall(texts[file])) for file in around}
    near = sorted((file for file in around if times[file]), key=lambda file: -times[file])
    dotted = ".".join(part for part in module.with_suffix("").parts if part != "plugins")
    far = [file for file in texts if f"{dotted} import " in texts[file] and file not in around]
    return near[:3] + far[:3]


def changed_files(root: Path) -> list[str]:
    """Return what differs from the point at which this work left main, also what is not tracked."""

    def git(*words: str) -> list[str]:
        words = "git", "-C", str(root), *words
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")

    (base, *_) = git("merge-base", "HEAD", "main")
    changed = git("diff", "--name-only", "--diff-filter=d", base)
    return [name for name in changed + git("ls-files", "-o", "--exclude-standard") if name]


def changed_tests(changed: list[str], root: Path) -> list[str]:
    """Return the changed files of tests and those of changed modules."""
    found = set()
    for path in map(PurePosixPath, changed):
        if path.suffix == ".py" and path.parts[0] in {"diffclass", "plugins"}:
            found.update(own_files(path, root))
        elif re.fullmatch(r"test_\w+\.py", path.name):
            found.add(path.as_posix())
    return sorted(found)


if __name__ == "__main__":
    print(*changed_tests(changed_files(ROOT), ROOT))
