"""Users can check their scripts: the public names are annotated, and visible to mypy."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

from tests.project import typed_user_script

PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")


def test_the_script_runs(tmp_path):
    typed_user_script.scene_to_map(tmp_path)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_say_that_they_are_typed(package):
    module = importlib.import_module(package)
    assert Path(module.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_names_that_load_on_first_use_are_visible_to_mypy(package):
    module = importlib.import_module(package)
    tree = ast.parse(inspect.getsource(module))
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {
        alias.name: f"{node.module}".removeprefix(f"{package}.")
        for node in block.body
        for alias in node.names
    }
    assert seen == module._HOMES
    assert set(module.__all__) - {"__version__"} == set(seen)


def public_functions():
    """Yield every function that a user may call, by the path of its name."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield f"{package}.{name}", found
            elif inspect.isclass(found) and not issubclass(found, Exception):
                for method, function in vars(found).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        yield f"{package}.{name}.{method}", function


@pytest.mark.parametrize(("name", "function"), [*public_functions()])
def test_public_functions_are_annotated(name, function):
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        assert parameter.name == "self" or parameter.annotation is not parameter.empty, name
    assert signature.return_annotation is not signature.empty, name
