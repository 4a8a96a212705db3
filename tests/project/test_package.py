"""What importing costs, and that the package's list of names is true."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

import diffclass


def modules_after(statement):
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_import_diffclass_loads_nothing_heavy():
    loaded = modules_after("import diffclass")
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "msgspec", "pandas", "matplotlib"}


def test_names_load_without_compiler_and_extras():
    loaded = modules_after(
        "from diffclass import DiffusionClassifier, diffuse_labels, markov_operator\n"
        "from diffclass import neighbors_graph\n"
        "import diffclass.kernels; dir(diffclass)"
    )
    # scikit-learn itself imports pandas where it is installed
    assert loaded & {"numba", "msgspec", "matplotlib", "diffclass.plots"} == set()
    assert "sklearn.covariance" not in loaded  # kernels load it at first use


@pytest.mark.slow
def test_works_without_what_extras_bring():
    statement = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(['pandas', 'matplotlib', 'msgspec', 'distributed'])\n"
        "from diffclass import *\n"  # all names but those that need an extra
        "X = [[0.0], [1.0], [5.0], [6.0]]\n"
        "clf = DiffusionClassifier(n_neighbors=2).fit(X, ['a', None, -1, 'b'])\n"
        "assert clf.transduction_.tolist() == ['a', 'a', 'b', 'b']\n"
        "import diffclass.blocks\n"
        "try:\n"
        "    from diffclass import RelabelSession\n"
        "except ValueError as error:\n"
        "    assert \"pip install 'diffclass[relabel]'\" in str(error)\n"
        "else:\n"
        "    raise AssertionError"
    )
    assert "diffclass.classifier" in modules_after(statement)


def test_dir_lists_what_is_public():
    assert dir(diffclass) == sorted(diffclass.__all__)


@pytest.mark.parametrize(("name", "home"), diffclass._HOMES.items())
def test_homes_define_their_names(name, home):
    module = importlib.import_module(f"diffclass.{home}")
    defined_in = getattr(module, name).__module__  # a package's names may be a module's in it
    assert f"{defined_in}.".startswith(f"{module.__name__}.")


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = diffclass.nonsense
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = importlib.import_module("diffclass._compiled").nonsense


def test_errors_are_also_built_in_ones():
    assert issubclass(diffclass.ParameterError, ValueError)
    assert issubclass(diffclass.DataError, ValueError)
    assert issubclass(diffclass.UnreachedWarning, UserWarning)
