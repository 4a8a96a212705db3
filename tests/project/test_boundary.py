"""What imports what: plugins only public names of the core, and nothing goes round in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]


def exported(module: str) -> set[str]:
    """Return the names in the ``__all__`` of a module of the core, read from its source."""
    folder = ROOT.joinpath(*module.split("."))
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    for node in ast.parse(source.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def imported() -> Iterator[tuple[str, str, str]]:
    """Yield file, module and name of what the plugins import from the core."""
    for path in sorted((ROOT / "plugins").glob("diffclass_*/**/*.py")):
        if "node_modules" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "diffclass"
            ):
                for alias in node.names:
                    yield path.relative_to(ROOT).as_posix(), str(node.module), alias.name


def is_public(module: str, name: str) -> bool:
    """Tell whether a name is in the ``__all__`` of `diffclass`, a chapter or a module of system."""
    return (module.count(".") <= 1 or module.startswith("diffclass.system.")) and name in exported(
        module
    )


def test_the_core_is_read():
    assert "DiffusionClassifier" in exported("diffclass.classifier")
    assert is_public("diffclass", "__version__")
    assert not is_public("diffclass.relabel.edits", "free_name")
    assert len(list(imported())) > 300


def test_plugins_import_public_names_alone():
    private = [one for one in imported() if not is_public(*one[1:])]
    assert private == [], "\n".join(f"{file}: {module}.{name}" for file, module, name in private)


PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")


def cycles() -> list[list[str]]:
    """Return the modules that import each other, at any depth; imports in functions count too."""
    graph = grimp.build_graph(*PACKAGES)
    modules = sorted(graph.modules)
    number = {module: i for i, module in enumerate(modules)}
    edges = [
        (number[module], number[other])
        for module in modules
        for other in graph.find_modules_directly_imported_by(module)
    ]
    imports = sp.coo_array((np.ones(len(edges)), np.transpose(edges)), shape=(len(modules),) * 2)
    n, part = sp.csgraph.connected_components(imports, connection="strong")
    parts = [np.flatnonzero(part == k) for k in range(n)]
    return [[modules[i] for i in one] for one in parts if len(one) > 1]


def test_no_modules_import_each_other():
    assert cycles() == []


def names_in(path: Path) -> set[str]:
    """Return the names that a file uses or imports."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    return {
        getattr(node, kind)
        for node in nodes
        for kind in ("id", "attr", "name")
        if hasattr(node, kind)
    }


def test_graphs_and_model_files_name_no_kernel():
    interface = {"Kernel", "FittedKernel", "KeptPlacing", "Placing"}
    kernels = {
        node.name
        for path in (ROOT / "diffclass" / "kernels").glob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    } - interface
    assert {"Gaussian", "SharedNeighbors", "FittedIsotropic", "OverKernel"} <= kernels
    core = ROOT / "diffclass"
    for path in [core / "graph.py", *(core / "model_files").glob("*.py")]:
        assert not names_in(path) & kernels, path
