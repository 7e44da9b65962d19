"""Smaller programs of the oracle's structure, tried one after another as long as the fault stays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.program import (
    CONNECTIVES,
    QUANTIFIERS,
    TERMS,
    UNITS,
    free_variables,
    map_numbers,
    numbers,
    operands,
    replace_operands,
    subformulas,
    subterms,
    weights,
)
from tests.programs import to_text

Each = TypeVar("Each")


def shrunken(program: Program, fails: Callable[[Program], bool], seconds: float = 120.0) -> Program:
    """A program that still fails and of which no smaller one that is tried does, unless the time runs out before."""
    end, smaller = time.monotonic() + seconds, True
    while smaller:
        smaller = False
        for candidate in candidates(program):
            if time.monotonic() > end:
                return program
            if _size(candidate) < _size(program) and fails(candidate):
                program, smaller = candidate, True
                break
    return program


def _size(program: Program) -> tuple[int, int, int, int]:
    """What gets less with each step: what the program says, whom it speaks of, what it declares, its text."""
    formulas = [*(each.formula for each in program.statements), *program.queries]
    nodes = sum(1 + len(numbers(part)) for formula in formulas for part in subformulas(formula))
    entities = {name for fact in program.facts for name in fact.arguments}
    declared = len(program.predicates) + len(program.sorts) + sum(program.sorts.values())
    declared += sum(each.closed + len({*(each.sorts or ())} - {"entity"}) for each in program.predicates)
    declared += program.logic != "lukasiewicz"
    return nodes + len(program.facts), len(entities), declared, len(to_text(replace(program, logic="godel")))


def candidates(program: Program) -> Iterator[Program]:
    """Programs with a little less, those that lose most first."""
    for statements in _shorter(program.statements):
        yield replace(program, statements=statements)
    for facts in _shorter(program.facts):
        yield replace(program, facts=facts)
    for queries in _shorter(program.queries):
        yield replace(program, queries=queries)
    for number, statement in enumerate(program.statements):
        for other in _simpler_statements(statement):
            yield replace(program, statements=_with(program.statements, number, other))
    for number, query in enumerate(program.queries):
        for other in simpler(query):
            yield replace(program, queries=_with(program.queries, number, other))
    yield from _with_fewer_entities(program)
    yield from _with_plainer_declarations(program)
    numeric = {each.name for each in program.predicates if each.numeric}
    for number, fact in enumerate(program.facts):
        for other in _simpler_facts(fact, fact.predicate in numeric):
            yield replace(program, facts=_with(program.facts, number, other))


def _shorter(items: list[Each]) -> Iterator[list[Each]]:
    """Without one half, a quarter and so on, down to one item."""
    size = (len(items) + 1) // 2
    while size:
        for start in range(0, len(items), size):
            yield items[:start] + items[start + size :]
        size = 0 if size == 1 else (size + 1) // 2


def _with(items: list[Each], number: int, other: Each) -> list[Each]:
    return [*items[:number], other, *items[number + 1 :]]


def _simpler_statements(statement: Statement) -> Iterator[Statement]:
    for formula in simpler(statement.formula):
        yield statement._replace(formula=formula)
    lower, upper = statement.lower, statement.upper
    for ends in ((1.0, 1.0), (lower, 1.0), (0.0, upper), (round(lower, 1), round(upper, 1))):
        yield statement._replace(lower=ends[0], upper=ends[1])


def _simpler_facts(fact: Fact, numeric: bool) -> Iterator[Fact]:
    lower, upper = fact.lower, fact.upper
    if numeric:
        plain = [(lower, lower), (float(round(lower)), float(round(upper)))] if abs(lower) + abs(upper) < 1e9 else []
    else:
        plain = [(1.0, 1.0), (0.0, 0.0), (lower, 1.0), (0.0, upper), (round(lower, 1), round(upper, 1))]
    for ends in plain if (lower, upper) not in plain[:2] else []:
        yield fact._replace(lower=ends[0], upper=ends[1])


def _with_fewer_entities(program: Program) -> Iterator[Program]:
    """One entity made another one throughout."""
    found = sorted({name for fact in program.facts for name in fact.arguments})
    for gone in found[1:]:
        yield _with_entities(program, {gone: found[0]})


def _with_entities(program: Program, names: dict[str, str]) -> Program:
    def changed(argument: tuple[str, str]) -> tuple[str, str]:
        kind, text = argument
        return (kind, names.get(text, text)) if kind == "const" else argument

    facts = [fact._replace(arguments=tuple(names.get(name, name) for name in fact.arguments)) for fact in program.facts]
    return replace(
        program,
        facts=list(dict.fromkeys(facts)),
        statements=[each._replace(formula=_map_arguments(each.formula, changed)) for each in program.statements],
        queries=[_map_arguments(query, changed) for query in program.queries],
    )


def _map_arguments(formula: Formula, change: Callable[[tuple[str, str]], tuple[str, str]]) -> Formula:
    match formula[0]:
        case "atom":
            return "atom", formula[1], tuple(map(change, formula[2]))
        case "eq":
            return "eq", *map(change, formula[1:])
    if formula[0] in ("compare", *TERMS, *UNITS):
        return map_numbers(formula, lambda number: ("number", number[1], tuple(map(change, number[2]))))
    return replace_operands(formula, [_map_arguments(part, change) for part in operands(formula)])


def _with_plainer_declarations(program: Program) -> Iterator[Program]:
    formulas = [part for each in program.statements for part in subformulas(each.formula)]
    formulas += [part for query in program.queries for part in subformulas(query)]
    used = {fact.predicate for fact in program.facts} | {part[1] for part in formulas if part[0] == "atom"}
    used |= {number[1] for part in formulas for number in numbers(part)}
    unused = [each for each in program.predicates if each.name not in used]
    for gone in [unused, *([each] for each in unused)]:
        yield replace(program, predicates=[each for each in program.predicates if each not in gone])
    if program.logic != "lukasiewicz":
        yield replace(program, logic="lukasiewicz")
    for sort, is_open in program.sorts.items():
        yield replace(program, sorts={name: given for name, given in program.sorts.items() if name != sort})
        if is_open:
            yield replace(program, sorts=program.sorts | {sort: False})
    for number, each in enumerate(program.predicates):
        for other in _plainer(each):
            yield replace(program, predicates=_with(program.predicates, number, other))


def _plainer(predicate: Predicate) -> Iterator[Predicate]:
    if predicate.closed:
        yield replace(predicate, closed=False)
    if predicate.sorts is not None and set(predicate.sorts) - {"entity"}:
        yield replace(predicate, sorts=("entity",) * predicate.arity)


def simpler(formula: Formula) -> Iterator[Formula]:
    """Formulas or terms a little smaller, those that lose most first."""
    kind = formula[0]
    if kind in ("compare", *TERMS, *UNITS):
        yield from _simpler_arithmetic(formula)
        return
    parts = operands(formula)
    yield from parts
    if kind in ("and", "or") and len(parts) > 2:
        for gone in range(len(parts)):
            yield (kind, formula[1][:gone] + formula[1][gone + 1 :], *formula[2:])
    for number, part in enumerate(parts):
        for other in simpler(part):
            if kind not in QUANTIFIERS or {*formula[1]} <= {*free_variables(other)}:
                yield replace_operands(formula, _with([*parts], number, other))
    if kind in QUANTIFIERS and len(formula[1]) > 1:
        for name in formula[1]:
            yield kind, tuple(other for other in formula[1] if other != name), formula[2]
    if kind in CONNECTIVES and ({*weights(formula)} != {1.0} or formula[-2:] != (1.0, None)):
        plain = tuple((1.0, part) for part in parts)
        yield (*_connected(formula, plain), 1.0, None)
        yield (*_connected(formula, plain), *formula[-2:])
        yield (*formula[:-2], 1.0, formula[-1])
        yield (*formula[:-1], None)


def _connected(formula: Formula, weighted: tuple[tuple[float, Formula], ...]) -> Formula:
    return (formula[0], weighted) if formula[0] in ("and", "or") else (formula[0], *weighted)


def _simpler_arithmetic(formula: Formula) -> Iterator[Formula]:
    kind = formula[0]
    if kind == "compare":
        _, operator, left, right, scale, weight = formula
        yield from (("compare", operator, other, right, scale, weight) for other in _simpler_sides(left, right))
        yield from (("compare", operator, left, other, scale, weight) for other in _simpler_sides(right, left))
        if scale is not None and operator != "<?>":
            yield "compare", operator, left, right, None, weight
        return
    if kind == "constant":
        yield from (("constant", value) for value in (0.0, 1.0, float(round(formula[1]))) if abs(formula[1]) < 1e9)
        return
    parts = subterms(formula)
    yield from (part for part in parts if numbers(part))
    if kind == "power":  # whose exponent is a constant that has its reasons
        parts = parts[:1]
    for number, part in enumerate(parts):
        for other in simpler(part):
            if other != part:
                new = tuple(_with([*subterms(formula)], number, other))
                yield (*formula[:2], new) if kind in UNITS else (kind, *new)


def _simpler_sides(side: Formula, beside: Formula) -> Iterator[Formula]:
    """A comparison keeps a number on one side at least; a constant that is simple stays."""
    if side[0] == "constant" and side[1] in (0.0, 1.0):
        return
    yield from (other for other in simpler(side) if numbers(other) or numbers(beside))
