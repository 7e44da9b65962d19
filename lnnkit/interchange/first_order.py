"""First-order formulas with equality, functions and real numbers, as a text states them, and the findings about it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lark import Token
from lark.tree import Meta

from lnnkit.errors import ProgramError
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Source, Span

CONNECTIVES = ("not", "and", "or", "implies", "iff", "xor")
QUANTIFIERS = ("forall", "exists")
COMPARISONS = ("<", "<=", ">", ">=", "=")  # of numbers; `equal` compares individuals
ARITHMETIC = ("+", "-", "*", "/")


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula or a term.

    | kind | name | parts |
    | --- | --- | --- |
    | ``variable``, ``true``, ``false`` | its name | |
    | ``function``; a constant is one without parts | its name | its arguments |
    | ``number``, a literal | as written | |
    | ``attribute``, a number that individuals have, and ``atom`` | its name | its arguments |
    | one of `ARITHMETIC`, `COMPARISONS`, or ``equal`` | | two terms |
    | one of `CONNECTIVES` | | formulas: one for ``not``, any number for ``and`` and ``or``, else two |
    | one of `QUANTIFIERS` | its variable | the formula in its scope |

    ``value`` is that of a number, and ``quoted`` marks a string literal.
    """

    kind: str
    name: str = ""
    parts: tuple[Expression, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    value: float | int = 0
    quoted: bool = field(default=False, compare=False)


TRUE, FALSE = Expression("true"), Expression("false")


@dataclass(frozen=True, slots=True)
class Stated:
    """A line with its ``formula``, once it is read; one that is made for a function has no place. ``role`` is axiom,
    query or predicate, ``gloss`` what it says in words."""

    span: Span
    role: str = "axiom"
    name: str | None = None
    gloss: str = ""
    formula: Expression = TRUE


def joined(kind: str, *parts: Expression) -> Expression:
    """A connective of these operands."""
    return Expression(kind, parts=parts)


def quantified(kind: str, variables: Iterable[str], body: Expression) -> Expression:
    """The formula under a quantifier for each variable, the first outermost."""
    for name in reversed(list(variables)):
        body = Expression(kind, name, (body,))
    return body


def nodes(*expressions: Expression) -> Iterator[Expression]:
    """The expressions and all within them, outer before inner, left before right."""
    waiting = [*reversed(expressions)]
    while waiting:
        yield (node := waiting.pop())
        waiting.extend(reversed(node.parts))


def depth(expression: Expression) -> int:
    """The nesting depth of operators, including those of terms."""
    level, row = 0, [expression]
    while row := [part for node in row for part in node.parts]:
        level += 1
    return level


def changed(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each of its parts changed."""
    return replace(expression, parts=tuple([change(part) for part in expression.parts]))


def free_occurrences(expression: Expression) -> Iterator[Expression]:
    """Each occurrence of a free variable, from left to right."""
    if expression.kind == "variable":
        yield expression
    bound = expression.name if expression.kind in QUANTIFIERS else None
    for part in expression.parts:
        yield from (variable for variable in free_occurrences(part) if variable.name != bound)


def free_variables(expression: Expression) -> dict[str, Expression]:
    """The first occurrence of each free variable, in order."""
    first: dict[str, Expression] = {}
    for variable in free_occurrences(expression):
        first.setdefault(variable.name, variable)
    return first


def variables(expression: Expression) -> set[str]:
    """The variables that occur, free or bound."""
    return {node.name for node in nodes(expression) if node.kind in ("variable", *QUANTIFIERS)}


def renamed(expression: Expression, name: str, other: str) -> Expression:
    """The expression with another name, which does not occur in it, for a free variable."""
    if expression.kind == "variable" and expression.name == name:
        return Expression("variable", other)
    if expression.kind in QUANTIFIERS and expression.name == name:
        return expression
    return changed(expression, lambda part: renamed(part, name, other))


def fresh(names: Sequence[str], stem: str, first: int, taken: Container[str]) -> str:
    """The first of these names, and then of the stem with each number from the first one on, that is not taken."""
    numbered = (f"{stem}{number}" for number in itertools.count(first))
    return next(name for name in itertools.chain(names, numbered) if name not in taken)


def unreadable(code: str, message: str, hint: str, span: Span | None) -> ProgramError:
    """The error for a line that cannot be read."""
    return ProgramError([Diagnostic(code, message, hint, span)])


@dataclass
class Liberties:
    """The findings about one source, in the order in which they were made. A liberty is a finding of severity
    warning: the meaning may not be what the author had in mind."""

    source: Source
    findings: list[Diagnostic] = field(default_factory=list)

    def span(self, *tokens: Token | Meta) -> Span:
        """Where tokens stand, from the first to the last."""
        return Span(self.source, tokens[0].start_pos or 0, tokens[-1].end_pos or 0)

    def note(self, code: str, message: str, hint: str, span: Span | None) -> None:
        """A liberty taken with a stretch of the source, or at the first occurrence of a symbol."""
        self.add(Diagnostic(code, message, hint, span, "warning", None if span else self.source.path))

    def add(self, diagnostic: Diagnostic) -> None:
        """A finding, once."""
        if diagnostic not in self.findings:
            self.findings.append(diagnostic)
