"""Entities in a query that the program does not have.

A query adds nothing to the domain of a sort. An entity that no fact, table, label or rule names, or that none names in
a place of that sort, has default bounds. A misspelt name looks the same, so each is reported: as a warning in a
program, whose data may be told later, and as an error in a query to a loaded program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast

from lnnkit.check.entity_names import SEARCHES, constants, known, meant, near_entity
from lnnkit.check.findings import error, warning
from lnnkit.check.program import ENTITY, CheckedProgram, SameEntity
from lnnkit.check.symbols import Mention, Symbols
from lnnkit.check.walk import nodes
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity

_Member = tuple[str, str]  # a sort, and an entity


def asked(symbols: Symbols, severity: Severity = "warning") -> list[Diagnostic]:
    """Findings of this ``severity``; those about the program's own queries are always warnings."""
    if not symbols.complete:
        return []
    formulas = [formula for formula in symbols.formulas if formula.kind == "query"]
    mentions = [mention for formula in formulas for mention in constants(formula)]
    names = {mention.name for mention in mentions if not symbols.doubtful(mention.name)}
    sorted_ = {(_sort(mention, symbols), mention.name) for mention in mentions if mention.name in names}
    found = _members(symbols, {each for each in sorted_ if each[0] != ENTITY})
    stated = known(symbols, names) | (names & {text for _, _, text in _stated(symbols)})
    findings: list[Diagnostic] = []
    seen: set[_Member] = set()
    for mention in mentions:
        member = ENTITY if mention.name not in stated else _sort(mention, symbols), mention.name
        if mention.name in names and member not in seen:
            seen.add(member)
            if mention.name not in stated:
                findings.append(_unknown(mention, symbols, severity, search=len(findings) < SEARCHES))
            elif member[0] != ENTITY and member not in found:
                findings.append(_of_another_sort(*member, mention))
    return findings


def _sort(mention: Mention, symbols: Symbols) -> str:
    """The sort of an argument's place; ``entity`` for an operand of a comparison."""
    predicate = None if mention.atom is None else symbols.resolved.get(mention.atom.name)
    if predicate is None or mention.position >= predicate.arity:
        return ENTITY
    return predicate.sorts[mention.position]


def _unknown(mention: Mention, symbols: Symbols, severity: Severity, *, search: bool) -> Diagnostic:
    hint = meant(mention, near_entity(mention.name, symbols) if search else None)
    message = f"no fact or table mentions the entity `{mention.name}`"
    # entities of the program's own queries were reported when it was checked
    queries = () if symbols.program is None else symbols.program.queries
    before = {text for query in queries for _, _, text in _in_formula(query.formula)}
    if severity == "error" and mention.name not in before:
        hint += "A question is about entities that a fact, table or rule of the program names"
        return error("unknown-entity", mention.span, message, hint)
    hint += "An entity that nothing else names has default bounds"
    return warning("unknown-entity", mention.span, message, hint)


def _of_another_sort(sort: str, name: str, mention: Mention) -> Diagnostic:
    message = f"no fact, table or rule has `{name}` as an argument of sort `{sort}`"
    hint = "so the answer has default bounds; declare the predicates whose arguments have that sort"
    return warning("entity-of-another-sort", mention.span, message, f"{hint}: `predicate P({sort})`")


# --- what the program has ---------------------------------------------------------------------------------------------


def _stated(symbols: Symbols) -> Iterator[tuple[str | None, int, str]]:
    """Each entity that facts, labels and statements name, with its predicate (None in a comparison) and argument
    position."""
    if symbols.program is None:
        for _, statement in symbols.stated():
            yield from _of_atom(statement.atom)
        for formula in symbols.formulas:
            if formula.kind != "query":
                for item in formula.mentions:
                    if not item.variable:
                        yield None if item.atom is None else item.atom.name, item.position, item.name
    else:
        yield from stated_by(symbols.program)


def stated_by(program: CheckedProgram) -> Iterator[tuple[str | None, int, str]]:
    """Each entity that a program's facts, labels and statements name, as `_stated`."""
    for fact in (*program.facts, *program.labels):
        for place, text in enumerate(fact.arguments):
            yield fact.predicate, place, text
    for assertion in program.assertions:
        yield from _in_formula(assertion.formula)


def _in_formula(formula: ast.Expression | SameEntity) -> Iterator[tuple[str | None, int, str]]:
    for node in nodes(cast(ast.Expression, formula)):
        if isinstance(node, ast.Atom):
            yield from _of_atom(node)
        elif isinstance(node, SameEntity):
            yield from ((None, 0, item.text) for item in (node.left, node.right) if isinstance(item, ast.Constant))


def _of_atom(atom: ast.Atom) -> Iterator[tuple[str, int, str]]:
    for place, item in enumerate(atom.arguments):
        if isinstance(item, ast.Constant):
            yield atom.name, place, item.text


def _members(symbols: Symbols, wanted: Collection[_Member]) -> set[_Member]:
    """The ``wanted`` entities that belong to their sorts."""
    if not wanted:
        return set()
    found: set[_Member] = set()
    for name, place, text in _stated(symbols):
        predicate = symbols.resolved.get(name or "")
        if predicate is not None and place < predicate.arity and (predicate.sorts[place], text) in wanted:
            found.add((predicate.sorts[place], text))
    for table in (*symbols.tables, *symbols.label_tables, *symbols.told):
        sorts = symbols.resolved[table.predicate].sorts if table.predicate in symbols.resolved else ()
        for sort, column in zip(sorts, table.columns, strict=False):
            missing = {text for each, text in wanted if each == sort and (sort, text) not in found}
            places = {text: column.names.find(text) for text in missing}
            held = (text for text, id_ in places.items() if id_ is not None and (column.codes == id_).any())
            found.update((sort, text) for text in held)
    return found
