"""How the code is built, in figures: files, functions, imports, untyped places, README.

    python -m experiments.scaling.structure [CHECKOUT] [--json]

Counts the Python files of ``diffclass`` and ``plugins`` in a checkout, by default this one; run it
on two checkouts to compare them. The length of a function is that of its code from ``def`` to its
last line, its docstring left out. An import arrow leads from one module of the project to another;
several imports between the same two are one arrow, those that only a type checker follows are none.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import grimp
import numpy as np

PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def figures(checkout: Path) -> dict[str, int | str]:
    """Return the figures of a checkout by name."""
    files = sorted(source_files(checkout))
    lengths_of_files = {path: len(path.read_text("utf-8").splitlines()) for path in files}
    trees = [ast.parse(path.read_text("utf-8")) for path in files]
    lengths = [code_lines(node) for tree in trees for node in functions(tree)]
    largest = max(files, key=lengths_of_files.__getitem__)
    return {
        "files": len(files),
        "lines": sum(lengths_of_files.values()),
        "largest file": largest.relative_to(checkout).as_posix(),
        "lines of the largest file": lengths_of_files[largest],
        "functions": len(lengths),
        "median lines of a function": int(np.median(lengths)),
        "90th percentile": int(np.percentile(lengths, 90)),
        "longest function": max(lengths),
        "import arrows": import_arrows(checkout),
        "uses of Any": sum(uses_of_any(tree) for tree in trees),
        "README, bytes": (checkout / "README.md").stat().st_size,
    }


def source_files(checkout: Path) -> Iterator[Path]:
    for folder in ("diffclass", "plugins"):
        for path in (checkout / folder).rglob("*.py"):
            if "node_modules" not in path.parts:
                yield path


def functions(tree: ast.Module) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def code_lines(function: Function) -> int:
    """Return how many lines a function has, its docstring left out."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return lines


def uses_of_any(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


def import_arrows(checkout: Path) -> int:
    """Return how many pairs of modules there are of which one imports the other."""
    sys.path[:0] = [str(checkout), str(checkout / "plugins")]
    try:
        graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
        return graph.count_imports()
    finally:
        del sys.path[:2]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).parents[2])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found = figures(options.checkout.resolve())
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(f"{name:28} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
