"""Which terms are dates: a date is a number of days, so what is computed with it is arithmetic; the days between two
dates are a number. It is known from declarations and literals.

Findings about dates: two dates are not added, a date is compared with a date, functions of numbers take none; and about
`today`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Literal, cast

from lnnkit.check.findings import error, short, signature, warning
from lnnkit.check.program import CheckedProgram, Predicate, may_have_fraction
from lnnkit.check.symbols import Symbols
from lnnkit.check.walk import atoms, children, nodes, transform
from lnnkit.syntax import ast
from lnnkit.syntax.dates import NO_DATE, Numeric, date_text, days_of
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.identifiers import CALENDAR, OPERATION_OF, TIMED

TODAY = "today"
GIVEN_TODAY = "--today"
EXAMPLE = "2024-01-15"

TermKind = Literal["date", "number", "any"]
"""Of a term: ``any`` where a number is learned, or nothing is known."""


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
    learned = any(isinstance(node, ast.Learnable) for node in nodes(root))
    kinds = term_kinds(root, dates) if learned else {}
    compared = [node.operands for node in nodes(root) if learned and isinstance(node, ast.Comparison)]
    dated = [sides for sides in compared if "date" in [kinds[id(side)] for side in sides]]
    return {id(side) for sides in dated for side in sides if isinstance(side, ast.Learnable)}


def with_dated_parameters(root: ast.Expression, dates: Collection[str]) -> ast.Expression:
    """The formula, in which learnable values that are compared with dates have the unit ``date``."""
    learned = dated_parameters(root, dates)

    def change(node: ast.Expression) -> ast.Expression:
        return replace(node, unit="date") if isinstance(node, ast.Learnable) and id(node) in learned else node

    return transform(root, change) if learned else root


def operation_of(call: ast.Function, program: CheckedProgram) -> str:
    """The operation of a function. That of `years` and `months` depends on whether some of the dates have a time of
    day: no statement says whether they are days, and a missing one is taken for one of the kind that its column has."""
    if call.name in CALENDAR and any(may_have_fraction(node, program.timed) for node in nodes(call)):
        return TIMED + call.name
    return OPERATION_OF[call.name]


# --- findings ---------------------------------------------------------------------------------------------------------


def dates(symbols: Symbols) -> Iterator[Diagnostic]:
    yield from _given_today(symbols)
    for formula in symbols.formulas:
        kept = list(formula.nodes(ast.Comparison, ast.Arithmetic, ast.Negate, ast.Function, ast.Aggregate))
        kinds = term_kinds(formula.root, symbols.dates, symbols.numbers) if kept else {}
        for node in reversed(kept):  # operands before their parents
            finding = _misused(node, [kinds[id(child)] for child in children(node)])
            if finding is not None:
                yield finding
                break
    yield from _unknown_today(symbols)


def _misused(node: ast.Expression, kinds: Sequence[TermKind]) -> Diagnostic | None:
    """What is wrong with a node, given the kinds of its operands."""
    first = next((child for child, kind in zip(children(node), kinds, strict=True) if kind == "date"), None)
    match node:
        case ast.Comparison(operands):
            for (left, kind), (right, other) in pairwise(zip(operands, kinds, strict=True)):
                day, number = (left, right) if kind == "date" else (right, left)
                if {kind, other} == {"date", "number"} and not isinstance(number, ast.Entity):
                    message = f"`{short(day)}` is a date, compared with the number `{short(number)}`"
                    return error("date-and-number", number.span, message, _instead(day, number))
        case ast.Function("years" | "months" as name):
            other = next((c for c, kind in zip(children(node), kinds, strict=True) if kind == "number"), None)
            hint = f"write `{name}(born(X), {TODAY})`"
            if len(kinds) != 2:
                count = f"{len(kinds)} term{'' if len(kinds) == 1 else 's'}"
                return error("date-and-number", node.span, f"`{name}` is of two dates, and here of {count}", hint)
            if other is not None and not isinstance(other, ast.Entity):
                message = f"`{name}` is of two dates, and `{short(other)}` is a number"
                hint += f"; what holds dates is declared `date`, not `number`: {_declared(other)}"
                return error("date-and-number", other.span, message, hint)
        case ast.Arithmetic("+", left, right) if kinds.count("date") == 2:
            middle = f"{short(left)} + ({short(right)} - {short(left)}) / 2"
            hint = f"add days, `{short(left)} + 30 days`; the middle of two dates is `{middle}`"
            return error("date-arithmetic", node.span, "two dates cannot be added", hint)
        case ast.Arithmetic("-", left, right) if tuple(kinds) == ("number", "date"):
            message = f"the date `{short(right)}` is subtracted from the number `{short(left)}`"
            return error("date-arithmetic", node.span, message, f"write `{short(right)} - {short(left)}`")
        case ast.Function("min" | "max") if "number" not in kinds:
            return None
        case ast.Negate() | ast.Arithmetic("*" | "/" | "^") | ast.Function() | ast.Aggregate("sum") if first:
            sign = node.operator if isinstance(node, ast.Arithmetic) else getattr(node, "name", "-")
            message = f"`{sign}` is of numbers, and `{short(first)}` is a date"
            hint = f'the days from one date to another are a number: `{short(first)} - date "1970-01-01"`'
            return error("date-arithmetic", node.span, message, hint)
    return None


def _instead(day: ast.Expression, number: ast.Expression) -> str:
    """What to write for the number that a date is compared with."""
    if isinstance(number, ast.Number | ast.Learnable) and number.start is not None and number.unit is None:
        return f"write `{as_date(number)}`; days are compared with days: `{short(day)} - {TODAY} > 30`"
    if isinstance(number, ast.Atom):
        return f"compare two dates; what holds dates is declared `date`: {_declared(number)}"
    return "compare two dates, or the days between two dates with a number"


def as_date(written: ast.Value) -> str:
    """The date that a number stands for, as the language has it: a year, or days from 1970."""
    value, example = written.start or 0, written.unit == "days"
    year = isinstance(value, int) and 1000 <= value <= 2999
    date = f'date "{EXAMPLE if example else f"{value}-01-01" if year else date_text(value)}"'
    if isinstance(written, ast.Number):
        return date
    return f"?{date}" if written.name is None else f"?{written.name}={date}"


def _declared(term: ast.Expression) -> str:
    declared = signature(term.name, len(term.arguments)) if isinstance(term, ast.Atom) else "born(person)"
    return f"`date {declared}`"


def today_fact(today: str | date) -> ast.FactStatement:
    """The fact that states which date `today` is. Raises ``ValueError`` for a text that is no date."""
    text = today.isoformat() if isinstance(today, date) else str(today)
    days = days_of(text)
    if days is None:
        raise ValueError(f"{text!r} is not a date; {NO_DATE}")
    source = Source(GIVEN_TODAY, f'fact {TODAY} = date "{date_text(days)}"')
    span = Span(source, 0, len(source.text))
    value = ast.Number(days, "date", span=span)
    bounds = ast.Bounds(value, value, exact=True, span=span)
    return ast.FactStatement(ast.Atom(TODAY, span=span), bounds=bounds, span=span)


def _given_today(symbols: Symbols) -> Iterator[Diagnostic]:
    """Errors for a date of `today` that is given beside the program, which does not declare it, or states another."""
    stated = [s for s in symbols.statements(ast.FactStatement) if s.atom.name == TODAY and s.bounds is not None]
    given = [statement for statement in stated if statement.span.source.path == GIVEN_TODAY]
    if given and TODAY not in symbols.dates:
        message = f"the program has no date `{TODAY}`"
        yield error("undeclared-today", given[0].span, message, f"declare it: `date {TODAY}`")
    for other in stated if given else ():
        if other.bounds != given[0].bounds:
            message = f"`{TODAY}` is stated here, and given otherwise: {given[0].span.text}"
            yield error("two-todays", other.span, message, f"take this fact out, or leave `{GIVEN_TODAY}` out")


def _unknown_today(symbols: Symbols) -> Iterator[Diagnostic]:
    """A warning where no fact says which date `today` is."""
    known = symbols.program
    stated = [statement.atom.name for _, statement in symbols.stated()]
    stated += [table.predicate for table in symbols.tables]
    if known is not None:
        stated += [fact.predicate for fact in known.facts]
        stated += [atom.name for given in known.assertions for atom in atoms(cast("ast.Expression", given.formula))]
    equations = (n for formula in symbols.formulas for n in formula.nodes(ast.Comparison) if n.operators == ("=",))
    stated += [side.name for equation in equations for side in equation.operands if isinstance(side, ast.Atom)]
    uses = (atom for formula in symbols.formulas for atom in formula.nodes(ast.Atom) if atom.name == TODAY)
    if TODAY in symbols.dates.difference(stated) and (use := next(uses, None)):
        message = f"no fact says which date `{TODAY}` is, and the clock is not read"
        hint = f'run it with `--today 2026-11-29`, or state it: `fact {TODAY} = date "2026-11-29"`'
        yield warning("unknown-today", use.span, message, hint)
