"""The page of the papers is that of the tests, and names what there is."""

from __future__ import annotations

import importlib
import re
from functools import reduce

import pytest

from tests.papers import items
from tests.papers.page import PAGE, all_items, page

README = PAGE.parents[1] / "diffclass" / "README.md"


def test_the_page_is_that_of_the_tests():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.papers.page"


def test_an_item_names_what_there_is():
    for one in all_items():
        for name in one.names:
            assert _found(name.partition("(")[0]) is not None, name


WORDS = (
    "alpha", "anomaly", "biorthogonal", "bump", "chi_i", "conjugate", "connectivity",
    "cutoff epsilon", "degree", "diffusion distance", "diffusion map", "diffusion matrix",
    "diffusion operator", "epsilon-neighbourhood", "Fokker-Planck", "fully connected graph",
    "geometric harmonics", "heat kernel", "iterative relabelling", "Isomap", "k nearest",
    "Langevin", "Laplace-Beltrami", "Laplacian eigenmaps", "left eigenvectors", "LLE", "MDS",
    "mutual", "normalised cut", "numerical rank", "Nystrom", "PCA", "phi_0",
    "quantised correlation", "Rayleigh-Ritz", "relaxation time", "restart", "SGE(t)",
    "similarity matrix", "spectral clustering", "spectral gap", "stationary distribution", "tau",
    "transition matrix", "v(x)", "weight matrix",
)  # fmt: skip


def test_the_glossary_has_the_papers_words_and_names_what_there_is():
    text = README.read_text(encoding="utf-8")
    rows = text[text.index("| in the papers | here |") :].splitlines()[2:]
    words, here = zip(*(row.strip("| ").split(" | ", 1) for row in rows), strict=True)
    missing = [word for word in WORDS if not any(word in theirs for theirs in words)]
    assert not missing
    for name in re.findall(r"`((?:diffclass|experiments)[.\w]+)", " ".join(here)):
        assert _found(name) is not None, name


def test_an_item_that_deviates_fails(monkeypatch):
    monkeypatch.setattr(items, "ITEMS", [])
    with pytest.raises(AssertionError, match=r"deviates by 0\.1"):
        items.item("1", "a sum")(lambda: 0.1)()


def _found(name):
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        return reduce(_attribute, parts[n:], module)
    return None


def _attribute(home, name):
    fields = getattr(home, "__dataclass_fields__", {})
    return fields[name] if name in fields else getattr(home, name)
