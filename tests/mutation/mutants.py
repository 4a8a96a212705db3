"""Small faults: every place of a source at which one operator, constant or argument may be wrong.

Texts, annotations and what stands within a formatted string are left as they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED = {
    "comparison": {
        ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
        ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
        ast.NotIn: ast.In,
    },
    "arithmetic": {
        ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
        ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
        ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    },
    "boolean": {ast.And: ast.Or, ast.Or: ast.And},
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A place in a source, and what is to stand there instead."""

    kind: str
    line: int
    start: int  # in bytes of the source
    stop: int
    before: str
    after: str

    def applied(self, source: str) -> str:
        """Return the source with the fault in it."""
        raw = source.encode()
        return (raw[: self.start] + f"({self.after})".encode() + raw[self.stop :]).decode()


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a source, in the order of their places."""
    lengths = [len(line.encode()) for line in source.splitlines(keepends=True)]

    def place(line: int, column: int) -> int:
        return sum(lengths[: line - 1]) + column

    found = []
    for node in _code(ast.parse(source)):
        whole = node.value if isinstance(node, ast.Return) else node
        for kind, other in _faults(node):
            start, stop = place(whole.lineno, whole.col_offset), place(
                whole.end_lineno, whole.end_col_offset
            )  # fmt: skip
            before = source.encode()[start:stop].decode()
            found.append(Mutant(kind, whole.lineno, start, stop, before, ast.unparse(other)))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.stop, mutant.after))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in a tree, without texts, annotations and decorators."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _code(child)


def _faults(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield what may stand instead of an expression, or be returned instead of one."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            other = copy.copy(node)
            other.ops = [*node.ops[:i], SWAPPED["comparison"][type(operator)](), *node.ops[i + 1 :]]
            yield "comparison", other
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        kind = "arithmetic" if isinstance(node, ast.BinOp) else "boolean"
        is_text = isinstance(node, ast.BinOp) and any(
            isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str)
            for side in (node.left, node.right)
        )
        if type(node.op) in SWAPPED[kind] and not is_text:
            other = copy.copy(node)
            other.op = SWAPPED[kind][type(node.op)]()
            yield kind, other
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "boolean", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield "constant", ast.Constant(_other(node.value))
    elif isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield "return", ast.Constant(None)
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        first, second, *rest = node.args
        is_starred = any(isinstance(one, ast.Starred) for one in (first, second))
        if not is_starred and ast.dump(first) != ast.dump(second):
            other = copy.copy(node)
            other.args = [second, first, *rest]
            yield "arguments", other


def _other(value: float) -> float:
    """Return another constant of its kind."""
    if isinstance(value, bool):
        return not value
    return value + 1 if value == int(value) and value < 1e9 else 2 * value
