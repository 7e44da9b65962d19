"""A constraint program of LogicalDeduction, in the notation of Logic-LM -> a program over numbers.

Each variable is an entity with a number, its ``value``. Its domain is stated twice: as bounds, which arithmetic uses,
and as a disjunction, since the numbers of a program are reals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from lark import Token, Tree

from lnnkit.interchange.as_program import ImportedProgram
from lnnkit.interchange.liberties import Unreadable
from lnnkit.interchange.reading.program_sections import Entry, entries, parsed
from lnnkit.interchange.reading.token_feeding import inside
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_statement
from lnnkit.syntax.span import Source, Span

SECTIONS = ("Domain", "Variables", "Constraints", "Query")
_OPTION = re.compile(r"([A-Z])[).]\s+")
_NOWHERE = Span(Source("<import>", ""), 0, 0)
_VALUE = "value"


@dataclass
class _Puzzle:
    """The content of a constraint program: the domain of each variable, and the statements with the comment above
    each."""

    domains: dict[str, tuple[float, ...]] = field(default_factory=dict)
    meanings: list[str] = field(default_factory=list)
    constraints: list[tuple[list[str], ast.Expression]] = field(default_factory=list)
    options: list[tuple[list[str], ast.Expression]] = field(default_factory=list)


def read_deduction(source: Source, title: str) -> tuple[ImportedProgram, list[Diagnostic]]:
    """The program for a puzzle, and what cannot be read."""
    puzzle, errors = _Puzzle(), []
    try:
        for entry in entries(source, SECTIONS):
            try:
                _take(source, entry, puzzle)
            except Unreadable as problem:
                errors.append(problem.diagnostic)
    except Unreadable as problem:
        errors.append(problem.diagnostic)
    return ImportedProgram("\n".join(_lines(puzzle, title)) + "\n", ()), errors


def _take(source: Source, entry: Entry, puzzle: _Puzzle) -> None:
    text = source.text[entry.start : entry.end]
    if entry.section == "Domain":
        puzzle.meanings.append(" ".join(text.split()))
        return
    if entry.section == "Variables":
        tree = parsed(source, entry.start, entry.end, "domain")
        numbers = [float(str(each)) for each in tree.children if isinstance(each, Token) and each.type == "NUMBER"]
        puzzle.domains[str(tree.children[0])] = tuple(numbers)
        return
    option = _OPTION.match(text) if entry.section == "Query" else None
    start = entry.start + (option.end() if option else 0)
    reader = _Reader(source, start, puzzle)
    formula = reader.constraint(parsed(source, start, entry.end, "constraint"))
    mark = f"{option[1]}) " if option else ""
    comment = [f"{mark}{entry.gloss}"] if entry.gloss else [mark.strip()] if mark else []
    (puzzle.options if entry.section == "Query" else puzzle.constraints).append((comment, formula))


@dataclass
class _Reader:
    """A constraint's tree on its way to a formula."""

    source: Source
    offset: int
    puzzle: _Puzzle

    def constraint(self, tree: Tree[Token]) -> ast.Expression:
        (node,) = tree.children
        assert isinstance(node, Tree)
        if node.data == "among":
            return self._among(node)
        operands = tuple([self._sum(each) for each in node.children[::2]])
        operators = tuple([{"==": "="}.get(str(each), str(each)) for each in node.children[1::2]])
        return ast.Comparison(span=_NOWHERE, operands=operands, operators=operators)  # type: ignore[arg-type]

    def _among(self, node: Tree[Token]) -> ast.Expression:
        kind, *names = [each for each in node.children if isinstance(each, Token) and each.type == "NAME"]
        relation = {"AllDifferentConstraint": "!=", "AllEqualConstraint": "="}.get(str(kind))
        if relation is None:
            hint = "AllDifferentConstraint and AllEqualConstraint are"
            raise Unreadable(Diagnostic("unknown-constraint", f"`{kind}` is not known", hint, self._span(kind)))
        pairs = combinations([self._name(each) for each in names], 2)
        made = [ast.Comparison(span=_NOWHERE, operands=pair, operators=(relation,)) for pair in pairs]  # type: ignore[arg-type]
        return made[0] if len(made) == 1 else ast.And(span=_NOWHERE, operands=tuple(made))

    def _sum(self, node: Tree[Token] | Token) -> ast.Expression:
        if isinstance(node, Token):
            return self._number(str(node)) if node.type == "NUMBER" else self._name(node)
        match node.data:
            case "negative":
                return self._number("-" + str(node.children[1]))
            case "group":
                return self._sum(inside(node, "LPAR", "RPAR")[0])
            case "distance":
                return ast.Function(span=_NOWHERE, name="abs", operand=self._sum(node.children[2]))
        found = self._sum(node.children[0])
        for place in range(1, len(node.children), 2):
            right = self._sum(node.children[place + 1])
            operator = str(node.children[place])
            found = ast.Arithmetic(span=_NOWHERE, operator=operator, left=found, right=right)  # type: ignore[arg-type]
        return found

    def _number(self, text: str) -> ast.Expression:
        return ast.Number(span=_NOWHERE, value=_plain(float(text)))

    def _name(self, token: Token) -> ast.Expression:
        name = str(token)
        if name not in self.puzzle.domains:
            hint = f"the variables are {', '.join(self.puzzle.domains)}" if self.puzzle.domains else ""
            message = f"`{name}` is not among the variables"
            raise Unreadable(Diagnostic("unknown-variable", message, hint, self._span(token)))
        return _value_of(name)

    def _span(self, token: Token) -> Span:
        return Span(self.source, self.offset + (token.start_pos or 0), self.offset + (token.end_pos or 0))


def _value_of(name: str) -> ast.Atom:
    return ast.Atom(span=_NOWHERE, name=_VALUE, arguments=(ast.Constant(span=_NOWHERE, text=name),))


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value


# --- the text ---------------------------------------------------------------------------------------------------------


def _lines(puzzle: _Puzzle, title: str) -> Iterator[str]:
    yield f"# {title}"
    for meaning in puzzle.meanings:
        yield f"# {meaning}"
    yield ""
    yield "sort variable"
    yield f"number {_VALUE}(variable)"
    yield ""
    for name, numbers in puzzle.domains.items():
        ends = [ast.Number(span=_NOWHERE, value=_plain(end)) for end in (min(numbers), max(numbers))]
        bounds = ast.Bounds(span=_NOWHERE, lower=ends[0], upper=ends[1])
        yield format_statement(ast.FactStatement(span=_NOWHERE, atom=_value_of(name), bounds=bounds))
    domains = set(puzzle.domains.values())
    if len(domains) == 1:
        variable = ast.Variable(span=_NOWHERE, name="X")
        yield _one_of(ast.Atom(span=_NOWHERE, name=_VALUE, arguments=(variable,)), domains.pop())
    else:
        for name, numbers in puzzle.domains.items():
            yield _one_of(_value_of(name), numbers)
    for comments, formula in puzzle.constraints:
        yield ""
        yield from (f"# {each}" for each in comments)
        parts = formula.operands if isinstance(formula, ast.And) else (formula,)
        yield from (format_statement(ast.AxiomStatement(span=_NOWHERE, name=None, formula=part)) for part in parts)
    for comments, formula in puzzle.options:
        yield ""
        yield from (f"# {each}" for each in comments)
        yield format_statement(ast.QueryStatement(span=_NOWHERE, formula=formula))


def _one_of(atom: ast.Atom, numbers: Sequence[float]) -> str:
    """The axiom that a value is one of some numbers."""
    values = [ast.Number(span=_NOWHERE, value=_plain(number)) for number in numbers]
    made = [ast.Comparison(span=_NOWHERE, operands=(atom, value), operators=("=",)) for value in values]
    formula = made[0] if len(made) == 1 else ast.Or(span=_NOWHERE, operands=tuple(made))
    return format_statement(ast.AxiomStatement(span=_NOWHERE, name=None, formula=formula))
