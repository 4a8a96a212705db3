"""What is drawn is a fault each time, and modules have tests of their own."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

import pytest

from ..own_files import ROOT, changed_tests, own_files
from .__main__ import drawn, sources
from .mutants import mutants


@pytest.mark.parametrize(
    ("code", "faults"),
    [
        ("a < b", ["a <= b"]),
        ("a in b", ["a not in b"]),
        ("a < b == c", ["a < b != c", "a <= b == c"]),
        ("a + b", ["a - b"]),
        ("'é', a // b", ["a / b"]),
        ("'%s' % a", []),
        ("f'{a + 1}'", []),
        ("a and b", ["a or b"]),
        ("not a", ["a"]),
        ("a[3]", ["4"]),
        ("True, 0.5, 1e300", ["False", "1.0", "2e+300"]),
        ("f(a, b, c)", ["f(b, a, c)"]),
        ("f(a, a), f(*a, b), f(a)", []),
        ("def f(a: 1 + 1 = 2): return a", ["3", "None"]),
        ("def f(): return None", []),
    ],
)
def test_small_faults(code, faults):
    found = mutants(code)
    assert [one.after for one in found] == faults
    for one in found:
        assert ast.dump(ast.parse(one.applied(code))) != ast.dump(ast.parse(code))


def test_a_draw_is_that_of_its_seed_and_every_fault_is_a_program():
    modules = sources(["diffclass/operators"])
    assert modules
    chosen = drawn(modules, 60, 1)
    assert chosen == drawn(modules, 60, 1) != drawn(modules, 60, 2)
    for path, mutant in chosen:
        ast.parse(mutant.applied((ROOT / path).read_text("utf-8")))


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("diffclass/operators/markov.py", ["tests/operators/test_markov.py"]),
        ("diffclass/graph.py", ["tests/test_graph.py"]),
        ("plugins/diffclass_tables/rows.py", ["tests/plugins/tables/test_results.py"]),
        ("diffclass/_compiled/gaussians.py", ["tests/compiled/test_loops.py"]),
    ],
)
def test_modules_have_tests_of_their_own(module, files):
    assert set(files) <= set(own_files(PurePosixPath(module), ROOT))
    assert set(files) <= set(changed_tests([module, "README.md"], ROOT))
