"""Which terms are dates: a date is a number of days, so what is computed with it is arithmetic; the days between two
dates are a number. It is known from declarations and literals. Also `years` and `months` of two bare names, which parse
as atoms."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from lnnkit.check.walk import children, nodes, transform, visits
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.identifiers import CALENDAR_UNITS

if TYPE_CHECKING:
    from lnnkit.check.program import Predicate

UNITS_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(CALENDAR_UNITS))})\b")

TermKind = Literal["date", "number", "any"]
"""Of a term: ``any`` where a number is learned, or nothing is known."""


def with_calendar_units(
    statements: Sequence[ast.Statement], declared: Mapping[str, Predicate]
) -> Sequence[ast.Statement]:
    """The statements, with `years(hired, today)` as a unit of two numbers where the name is that of no predicate."""
    sources = {id(statement.span.source): statement.span.source.text for statement in statements}
    if not any(map(UNITS_WORDS.search, sources.values())):
        return statements
    met: dict[int, list[ast.Atom]] = {}
    taken = {*declared}
    for place, given in enumerate(statements):
        match given:
            case ast.PredicateStatement() | ast.NumberStatement() | ast.LoadStatement() | ast.LabelTableStatement():
                taken.add(given.name)
            case ast.FactStatement() | ast.LabelStatement():
                taken.add(given.atom.name)
            case ast.RuleStatement() | ast.AxiomStatement() | ast.QueryStatement():
                query = isinstance(given, ast.QueryStatement)
                for visit in visits(given.formula, "query" if query else "formula"):
                    atom = visit.node
                    if isinstance(atom, ast.Atom) and atom.name in CALENDAR_UNITS and len(atom.arguments) > 1:
                        met.setdefault(place, []).append(atom)
                        taken.update([atom.name] if visit.role == "formula" else [])
            case _:
                pass
    if taken >= CALENDAR_UNITS or not met:
        return statements
    changed = list(statements)
    for place, atoms in met.items():
        units = {id(atom): _unit(atom) for atom in atoms if atom.name not in taken}
        statement = cast("ast.FormulaStatement", statements[place])
        formula = transform(statement.formula, lambda node, units=units: units.get(id(node), node))
        changed[place] = replace(statement, formula=formula)
    return changed


def _unit(atom: ast.Atom) -> ast.Unit:
    operands = tuple(
        ast.Entity(argument.text, span=argument.span)
        if isinstance(argument, ast.Constant) and argument.quoted
        else ast.Atom(argument.name if isinstance(argument, ast.Variable) else argument.text, span=argument.span)
        for argument in atom.arguments
    )
    return ast.Unit(cast("Literal['years', 'months']", atom.name), operands, span=atom.span)


def term_kinds(
    root: ast.Expression, dates: Collection[str], numbers: Collection[str] | None = None
) -> dict[int, TermKind]:
    """The kind of each term of a formula, by its identity; ``dates`` are the names of dates, ``numbers`` (None: any) of
    these and of numbers."""
    found: dict[int, TermKind] = {}
    for node in reversed(list(nodes(root))):  # operands before their parents
        below: list[TermKind] = [found[id(child)] for child in children(node)]
        unknown = numbers is not None and isinstance(node, ast.Atom) and node.name not in numbers
        found[id(node)] = "any" if unknown else _kind(node, below, dates)
    return found


def _kind(node: ast.Expression, below: Sequence[TermKind], dates: Collection[str]) -> TermKind:
    match node:
        case ast.Atom(name):
            return "date" if name in dates else "number"
        case ast.Number(unit=unit):
            return "date" if unit == "date" else "number"
        case ast.Learnable(initial=start, unit=unit):
            return "date" if unit == "date" else "any" if start is None else "number"
        case ast.Arithmetic("+" | "-" as sign):
            first, second = below
            return "date" if (first == "date" and second != "date") or (sign == "+" and second == "date") else "number"
        case ast.Aggregate("min" | "max" | "mean"):
            return below[0]
        case ast.Function(name) if str(name) in ("min", "max") and "date" in below:
            return "date"
        case ast.UnknownFunction():
            return "any"
    return "number"


def is_dated(root: ast.Expression, dates: Collection[str]) -> bool:
    """Whether a term is a date."""
    return term_kinds(root, dates)[id(root)] == "date"


def numeric_kind(root: ast.Expression, predicates: Mapping[str, Predicate]) -> Numeric:
    """Whether an expression is a number, and one that is a date."""
    if isinstance(root, ast.Atom):
        return predicates[root.name].numeric if root.name in predicates else False
    if not isinstance(root, ast.NumericNode):
        return False
    return "date" if is_dated(root, {name for name, known in predicates.items() if known.numeric == "date"}) else True


def dated_parameters(root: ast.Expression, dates: Collection[str]) -> set[int]:
    """The identities of the learnable values that are compared with dates."""
    learned: set[int] = set()
    if not any(isinstance(node, ast.Learnable) for node in nodes(root)):
        return learned
    kinds = term_kinds(root, dates)
    for node in nodes(root):
        if isinstance(node, ast.Comparison) and "date" in [kinds[id(side)] for side in node.operands]:
            learned.update(id(side) for side in node.operands if isinstance(side, ast.Learnable))
    return learned


def with_dated_parameters(root: ast.Expression, dates: Collection[str]) -> ast.Expression:
    """The formula, in which learnable values that are compared with dates have the unit ``date``."""
    learned = dated_parameters(root, dates)

    def change(node: ast.Expression) -> ast.Expression:
        return replace(node, unit="date") if isinstance(node, ast.Learnable) and id(node) in learned else node

    return transform(root, change) if learned else root
