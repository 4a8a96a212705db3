"""What imports what: plugins only public names of the core, and nothing goes round in a circle."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import grimp

from experiments.scaling.structure import (
    PACKAGES,
    cycles,
    exported_names,
    is_public,
    names_from_the_core,
    source_files,
)

ROOT = Path(__file__).resolve().parents[2]


@cache
def imported() -> set[tuple[Path, str, str, bool]]:
    """Return file, module and name of what the plugins import from the core, and if public."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in source_files(ROOT)}
    return names_from_the_core(ROOT, trees)


def test_the_core_is_read():
    assert "DiffusionClassifier" in exported_names(ROOT, "diffclass.classifier")
    assert is_public(ROOT, "diffclass", "__version__")
    assert not is_public(ROOT, "diffclass.relabel.edits", "free_name")
    assert len(imported()) > 300


def test_plugins_import_public_names_alone():
    private = sorted(one[:-1] for one in imported() if not one[-1])
    assert private == [], "\n".join(f"{file}: {module}.{name}" for file, module, name in private)


def test_no_modules_import_each_other():
    assert cycles(grimp.build_graph(*PACKAGES)) == []


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
