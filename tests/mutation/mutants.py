"""Mutants of a file: copies with one small change each, which tests should notice.

Most kinds are mutmut's: an operator for its neighbour, a number plus one, ``not`` left out, a choice forced to one
side, True for False, a ``case`` left out. Added are a condition negated, a call for its effect or a named argument left
out, and a name for its opposite. None for an argument or a value is left out: it nearly always stops the program at
once and would only raise the score. So are type annotations, decorators, texts, and what checks itself: ``raise``,
``assert``, ``strict``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation import mutators

_OPPOSITES = [
    ("all", "any"),
    ("argmax", "argmin"),
    ("ceil", "floor"),
    ("logical_and", "logical_or"),
    ("lower", "upper"),
    ("max", "min"),
    ("maximum", "minimum"),
]
_OPPOSITE = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}


@dataclass(frozen=True)
class Mutant:
    """A change of one node, and the lines of the statement (or of the head of the block) that it stands in."""

    path: Path
    module: cst.Module
    old: cst.CSTNode
    new: cst.CSTNode
    lines: range
    on_import: bool  # it runs when the file is imported, whatever the tests do

    def text(self) -> str:
        changed = self.module.deep_replace(self.old, self.new)
        assert isinstance(changed, cst.Module)
        return changed.code

    def difference(self) -> str:
        lines = difflib.unified_diff(self.module.code.splitlines(), self.text().splitlines(), n=0, lineterm="")
        return "\n".join([f"{self.path}:{self.lines.start}", *list(lines)[3:]])


def mutants(path: Path, root: Path = Path()) -> list[Mutant]:
    """All mutants of a file, whose path is relative to ``root``, in the order of the text."""
    wrapper = MetadataWrapper(cst.parse_module((root / path).read_text(encoding="utf-8")), unsafe_skip_copy=True)
    finder = _Finder(path, wrapper.module)
    wrapper.visit(finder)
    return finder.found


class _Finder(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, path: Path, module: cst.Module) -> None:
        super().__init__()
        self.found: list[Mutant] = []
        self._path, self._module = path, module
        self._around: list[cst.CSTNode] = []  # statements, from the outermost

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, _KEPT) or _is_strict(node) or _tells_kind(node):
            return False
        if isinstance(node, _STATEMENTS):
            self._around.append(node)
        # The last of a head that runs on import is a function: its body does not, nor what is within.
        on_import = not any(isinstance(each, cst.FunctionDef) for each in self._around[:-1])
        for changed in _changed(node):
            lines = self._lines(self._around[-1])
            self.found.append(Mutant(self._path, self._module, node, changed, lines, on_import))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self._around and original_node is self._around[-1]:
            self._around.pop()

    def _lines(self, statement: cst.CSTNode) -> range:
        start, end = self._place(statement).start.line, self._place(statement).end.line + 1
        if isinstance(statement, cst.Match):
            end = self._place(statement.cases[0]).start.line
        elif not isinstance(statement, cst.SimpleStatementLine):
            end = self._place(statement.body.body[0]).start.line  # type: ignore[attr-defined]  # it is a block
        return range(start, max(end, start + 1))

    def _place(self, node: cst.CSTNode) -> CodeRange:
        place = self.get_metadata(PositionProvider, node)
        assert isinstance(place, CodeRange)
        return place


_KEPT = (cst.Annotation, cst.Assert, cst.BaseString, cst.Decorator, cst.Raise)
_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement, cst.MatchCase, cst.ExceptHandler)
_LEFT_OUT = (mutators.operator_arg_removal, mutators.operator_assignment, mutators.operator_string)


def _changed(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in [*mutators.mutation_operators, *_ADDED]:
        if isinstance(node, kind) and operator not in _LEFT_OUT:
            yield from operator(node)


def _is_strict(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == "strict"


def _tells_kind(node: cst.CSTNode) -> bool:
    """Whether it is an array's type, of which both ends of bounds have the same."""
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("dtype", "ndim", "shape")
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "namespace"


def _negated(node: cst.If | cst.While | cst.CompIf) -> Iterator[cst.CSTNode]:
    condition = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    negation = cst.UnaryOperation(cst.Not(), condition)
    yield node.with_changes(test=negation)


def _without_statement(node: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    (first, *more) = node.body
    if not more and (
        isinstance(first, cst.AugAssign) or (isinstance(first, cst.Expr) and isinstance(first.value, cst.Call))
    ):
        yield node.with_changes(body=[cst.Pass()])


def _without_named_argument(node: cst.Call) -> Iterable[cst.CSTNode]:
    for place, argument in enumerate(node.args):
        if argument.keyword is not None and not _is_strict(argument):
            yield node.with_changes(args=[*node.args[:place], *node.args[place + 1 :]])


def _opposite(node: cst.Attribute | cst.Call) -> Iterator[cst.CSTNode]:
    part = "attr" if isinstance(node, cst.Attribute) else "func"
    name = getattr(node, part)
    if isinstance(name, cst.Name) and name.value in _OPPOSITE:
        yield node.with_changes(**{part: name.with_changes(value=_OPPOSITE[name.value])})


_ADDED = [
    (cst.If | cst.While | cst.CompIf, _negated),
    (cst.SimpleStatementLine, _without_statement),
    (cst.Call, _without_named_argument),
    (cst.Attribute | cst.Call, _opposite),
]
