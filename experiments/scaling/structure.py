"""How the code is built, in figures: its size, interfaces, imports, functions and tests.

    python -m experiments.scaling.structure [CHECKOUT] [--at COMMIT ...] [--path] [--json]

Counts the files of ``diffclass`` and ``plugins`` in a checkout, by default this one. With ``--at``
a column for each commit, unpacked into a temporary folder, comes before that of the checkout.

Lines are all lines of a file; code is what is neither empty, comment nor docstring. The length of a
function is that of its code from ``def`` to its last line. An import arrow leads from one module of
the project to another; several imports between the same two are one arrow; those that only a type
checker follows do not count. Floors are the layers of an import contract. A name is public if it
stands in the ``__all__`` of `diffclass`, of a chapter or of a module of system. Options are those
that ``--help`` shows. The size of the site is that of the folder ``site``, where `make docs` puts
it. With ``--path``: which modules and functions of diffclass a default fit of digits enters (its
second one, once loops are compiled), how many lines these modules have, and how deep its calls lie
in one another, those of other packages left out.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from tokenize import COMMENT

import grimp
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from experiments.markdown import markdown_table

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")
FOR_TOOLS = ("# fmt:", "# type:", "# noqa")
SHORT_FILE = 60  # lines
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Run in the checkout: the commands' options that --help shows.
_COUNT_OPTIONS = """
import importlib, json, sys, tomllib, click
points = tomllib.load(open("pyproject.toml", "rb"))["project"]["entry-points"]["diffclass.commands"]
counts = {}
for name, place in points.items():
    module, _, attribute = place.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    shown = command.get_params(click.Context(command))
    counts[name] = sum(isinstance(one, click.Option) and not one.hidden for one in shown)
print(json.dumps(counts))
"""

# Run in the checkout: what a default fit enters.
_PATH = """
import json, sys
from pathlib import Path
import numpy as np
from sklearn.datasets import load_digits
import diffclass
X, truth = load_digits(return_X_y=True)
y = np.where(np.random.default_rng(0).permutation(len(X)) < 50, truth, -1)
model = diffclass.DiffusionClassifier(random_state=0).fit(X, y)
home, within, entered, deepest = str(Path(diffclass.__file__).parent), 0, set(), 0

def follow(frame, event, argument):
    global within, deepest
    code = frame.f_code
    if event not in ("call", "return") or not code.co_filename.startswith(home):
        return
    if code.co_name.startswith("<"):  # a comprehension is part of its function
        return
    within += 1 if event == "call" else -1
    deepest = max(deepest, within)
    entered.add((code.co_filename, code.co_qualname))

sys.setprofile(follow)
model.fit(X, y)
sys.setprofile(None)
files = {file for file, _ in entered}
lines = sum(len(Path(file).read_text("utf-8").splitlines()) for file in files)
print(json.dumps([len(files), len(entered), lines, deepest]))
"""
_PATH_NAMES = ("modules", "functions", "lines of its modules", "depth of its calls")


def path_figures(checkout: Path) -> dict[str, float | str]:
    """Return what a default fit enters, by name."""
    counts = json.loads(_run(_PATH, checkout))
    return {f"default fit: {name}": n for name, n in zip(_PATH_NAMES, counts, strict=True)}


def figures(checkout: Path) -> dict[str, float | str]:
    """Return the figures of a checkout by name."""
    files = sorted(source_files(checkout))
    lines_of = {path: line_count(path) for path in files}
    trees = {path: ast.parse(path.read_text("utf-8")) for path in files}
    lengths = [code_lines(node) for tree in trees.values() for node in functions(tree)]
    largest = max(files, key=lines_of.__getitem__)
    options = shown_options(checkout)
    imported = names_from_the_core(checkout, trees)
    code = sum(code_lines_of_file(path, tree) for path, tree in trees.items())
    core = [path for path in files if path.parent == checkout / "diffclass"]
    python, page = sum(lines_of.values()), sum(map(line_count, page_files(checkout)))
    return {
        "lines of Python and TypeScript": python + page,
        "lines of Python": python,
        "of these, code": code,
        "of these, docstrings": sum(map(docstring_lines, trees.values())),
        "comments per 100 lines of code": round(100 * sum(map(comments, files)) / code, 1),
        "lines of TypeScript": page,
        "files": len(files),
        "modules at the core's root": sum(path.name != "__init__.py" for path in core),
        "names in an __all__": sum(len(exports(tree)) for tree in trees.values()),
        "modules that import each other": sum(map(len, cycles(built_graph(checkout)))),
        f"files under {SHORT_FILE} lines": sum(n < SHORT_FILE for n in lines_of.values()),
        "largest file": largest.relative_to(checkout).as_posix(),
        "lines of the largest file": lines_of[largest],
        "lines of tests": sum(map(line_count, (checkout / "tests").rglob("*.py"))),
        "parameters of DiffusionClassifier": constructor_parameters(trees, "DiffusionClassifier"),
        "options of diffclass classify": options["classify"],
        "options of all commands": sum(options.values()),
        "imports of the core's names by plugins": len(imported),
        "of these, in no __all__": sum(not is_public for *_, is_public in imported),
        "import arrows": import_arrows(checkout),
        "floors of the relabelling tool": floors(checkout, "Layers of the relabelling tool"),
        "functions": len(lengths),
        "median lines of a function": int(np.median(lengths)),
        "90th percentile": int(np.percentile(lengths, 90)),
        "longest function": max(lengths),
        "uses of Any": sum(uses_of_any(tree) for tree in trees.values()),
        "README, bytes": (checkout / "README.md").stat().st_size,
        "site, bytes": folder_bytes(checkout / "site") or "not built",
    }


def line_count(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def page_files(checkout: Path) -> Iterator[Path]:
    """Yield the page's TypeScript sources, those made by a script included."""
    for path in (checkout / "plugins").rglob("*.ts"):
        if "node_modules" not in path.parts:
            yield path


def constructor_parameters(trees: dict[Path, ast.Module], name: str) -> int:
    """Return how many parameters the constructor of a class has."""
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == name:
                made = next(one for one in functions(node) if one.name == "__init__")
                return len(made.args.args) - 1 + len(made.args.kwonlyargs)
    raise LookupError(name)


def shown_options(checkout: Path) -> dict[str, int]:
    """Return how many options each command shows."""
    counts: dict[str, int] = json.loads(_run(_COUNT_OPTIONS, checkout))
    return counts


def _run(script: str, checkout: Path) -> str:
    """Return what a script prints that imports the packages of a checkout."""
    path = os.pathsep.join(map(str, (checkout, checkout / "plugins")))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=checkout, env=os.environ | {"PYTHONPATH": path},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def names_from_the_core(
    checkout: Path, trees: dict[Path, ast.Module]
) -> set[tuple[Path, str, str, bool]]:
    """Return file, module and name of what plugins import from the core, and if it is public."""
    found = set()
    for path, tree in trees.items():
        if not path.is_relative_to(checkout / "plugins"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("diffclass."):
                module = str(node.module)
                found |= {
                    (path, module, one.name, is_public(checkout, module, one.name))
                    for one in node.names
                }
    return found


def is_public(checkout: Path, module: str, name: str) -> bool:
    """Tell whether a name is in the ``__all__`` of `diffclass`, a chapter or a module of system."""
    is_open = module.count(".") < 2 or module.startswith("diffclass.system.")
    return is_open and name in exported_names(checkout, module)


@functools.cache
def exported_names(checkout: Path, module: str) -> Sequence[str]:
    """Return the names in the ``__all__`` of a module, read from its source."""
    folder = checkout.joinpath(*module.split("."))
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return exports(ast.parse(source.read_text("utf-8")))


def exports(tree: ast.Module) -> Sequence[str]:
    """Return the names in the ``__all__`` of a module's source."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value)) if isinstance(node.value, ast.List) else ()
    return ()


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def source_files(checkout: Path) -> Iterator[Path]:
    for folder in ("diffclass", "plugins"):
        for path in (checkout / folder).rglob("*.py"):
            if "node_modules" not in path.parts:
                yield path


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def code_lines(function: Function) -> int:
    """Return how many lines a function has, its docstring left out."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return lines


def code_lines_of_file(path: Path, tree: ast.Module) -> int:
    """Return how many lines of a file are neither empty, nor a comment, nor of a docstring."""
    lines = path.read_text("utf-8").splitlines()
    in_docstring = in_docstrings(tree)
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in in_docstring
        for number, line in enumerate(lines, 1)
    )


def in_docstrings(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines of a file that are in a docstring."""
    return {
        number
        for node in ast.walk(tree)
        if isinstance(node, Function | ast.ClassDef | ast.Module)
        and ast.get_docstring(node) is not None
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }


def docstring_lines(tree: ast.Module) -> int:
    return len(in_docstrings(tree))


def comments(path: Path) -> int:
    """Return how many comments a file has, in lines of their own or after code, for readers."""
    with path.open("rb") as file:
        found = (one.string for one in tokenize.tokenize(file.readline) if one.type == COMMENT)
        return sum(not text.startswith(FOR_TOOLS) for text in found)


def cycles(graph: grimp.ImportGraph) -> list[list[str]]:
    """Return the modules that import each other, at any depth; imports in functions count too."""
    modules = sorted(graph.modules)
    place = {name: i for i, name in enumerate(modules)}
    pairs = [
        (place[name], place[other])
        for name in modules
        for other in graph.find_modules_directly_imported_by(name)
    ]
    arrows = coo_array((np.ones(len(pairs)), np.transpose(pairs)), shape=(len(place),) * 2)
    n, part = connected_components(arrows, connection="strong")
    parts = [np.flatnonzero(part == k) for k in range(n)]
    return [[modules[i] for i in one] for one in parts if len(one) > 1]


def floors(checkout: Path, contract: str) -> int:
    """Return how many layers an import contract has."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return next(len(one["layers"]) for one in contracts if one["name"] == contract)


def uses_of_any(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


def import_arrows(checkout: Path) -> int:
    """Return how many pairs of modules there are of which one imports the other."""
    return built_graph(checkout).count_imports()


def built_graph(checkout: Path) -> grimp.ImportGraph:
    """Return the graph of imports between the packages of a checkout."""
    sys.path[:0] = [str(checkout), str(checkout / "plugins")]
    try:
        return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    finally:
        del sys.path[:2]


def figures_at(commit: str, of: Callable[[Path], dict[str, float | str]]) -> dict[str, float | str]:
    """Return some figures of a commit of this repository."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", commit], cwd=ROOT, capture_output=True, check=True
    )
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as tar:
            tar.extractall(folder, filter="data")
        return of(Path(folder).resolve())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--at", nargs="*", default=[], metavar="COMMIT")
    parser.add_argument("--path", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)

    def of(checkout: Path) -> dict[str, float | str]:
        return figures(checkout) | (path_figures(checkout) if options.path else {})

    found = {commit: figures_at(commit, of) for commit in options.at}
    found["checkout"] = of(options.checkout.resolve())
    if options.json:
        print(json.dumps(found, indent=1))
        return
    rows = [[name, *(one[name] for one in found.values())] for name in found["checkout"]]
    print("\n".join(markdown_table(["figure", *found], rows)))


if __name__ == "__main__":
    main()
