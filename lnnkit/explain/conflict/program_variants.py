"""Programs with other facts or fewer statements: what if, conflicts alone, and what is left without some members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lnnkit.check.program import CheckedProgram, Fact, SameEntity
from lnnkit.check.walk import nodes
from lnnkit.data.column import EntityColumn
from lnnkit.explain.conflict.repairs import ConflictMember, StatedFact, StatedRule
from lnnkit.explain.proof.proof import FactSources, fact_text
from lnnkit.syntax import ast
from lnnkit.syntax.span import NOWHERE, Source, Span

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

ASSUMED = "<assumed>"


def assumption(predicate: str, arguments: Sequence[str], lower: float, upper: float, *, numeric: bool) -> Fact:
    """The assumed fact about an atom, or a ``numeric`` attribute. Raises ``ValueError`` for invalid bounds."""
    if numeric and not (lower <= upper and lower < math.inf and upper > -math.inf):
        raise ValueError(f"[{lower}, {upper}] are not the ends of a number: lower must be at most upper")
    if not numeric and not 0 <= lower <= upper <= 1:
        raise ValueError(f"[{lower}, {upper}] are not truth bounds: 0 <= lower <= upper <= 1 must hold")
    text = fact_text(predicate, arguments, lower, upper, numeric=numeric)
    return Fact(predicate, tuple(arguments), lower, upper, Span(Source(ASSUMED, text), 0, len(text)))


def with_facts(program: CheckedProgram, origins: FactSources, facts: Sequence[Fact]) -> CheckedProgram:
    """The program with these facts in place of all its own facts about their atoms."""
    atoms = {(fact.predicate, fact.arguments) for fact in facts}
    kept = tuple(fact for fact in program.facts if (fact.predicate, fact.arguments) not in atoms)
    tables = tuple(
        without_rows(table, {row for fact in facts for row in origins.rows(number, fact.predicate, fact.arguments)})
        for number, table in enumerate(program.tables)
    )
    return replace(program, facts=(*kept, *facts), tables=tables)


def tightens(origins: FactSources, fact: Fact) -> bool:
    """Whether a fact implies all of the program's facts about its atom."""
    said = origins.of(fact.predicate, fact.arguments)
    return all(fact.lower >= other.lower and fact.upper <= other.upper for other in said)


def without_rows(table: FactTable, rows: set[int]) -> FactTable:
    """The table without some rows; the entities that they name remain known."""
    if not rows:
        return table
    import numpy as np

    keep = np.ones(len(table), bool)
    keep[list(rows)] = False
    columns = tuple(EntityColumn(column.codes[keep], column.names) for column in table.columns)
    return replace(table, columns=columns, lower=table.lower[keep], upper=table.upper[keep], rows=table.rows[keep])


def alone(program: CheckedProgram, members: Sequence[ConflictMember]) -> CheckedProgram:
    """The program of these members only. Its other facts are kept without bounds, since they introduce entities."""
    completed = frozenset[str]().union(*program.strata)
    atoms = {(member.predicate, member.arguments) for member in members if isinstance(member, StatedFact)}
    facts: list[Fact] = [
        _silent(program, fact)
        for fact in program.facts
        if fact.arguments
        and not program.predicates[fact.predicate].numeric
        and fact.predicate not in completed
        and (fact.predicate, fact.arguments) not in atoms
    ]
    stated = [member.weakened(*member.bounds).statement for member in members if isinstance(member, StatedRule)]
    given = (member for member in members if isinstance(member, StatedFact))
    facts += [Fact(member.predicate, member.arguments, *member.bounds, NOWHERE) for member in given]
    named = {fact.predicate for fact in facts}.union(*(names_in(statement.formula) for statement in stated))
    predicates = {name: predicate for name, predicate in program.predicates.items() if name in named}
    strata = tuple(stratum & named for stratum in program.strata if stratum & named)
    labels = tuple(label for label in program.labels if label.predicate in named)
    return replace(
        program,
        predicates=predicates,
        facts=tuple(facts),
        tables=(),
        assertions=tuple(stated),
        queries=(),
        strata=strata,
        labels=labels,
        label_tables=(),
    )


def without(program: CheckedProgram, members: Sequence[ConflictMember]) -> CheckedProgram:
    """The program without some facts and statements; the entities that the facts name stay known."""
    facts = [member for member in members if isinstance(member, StatedFact)]
    places = {(member.predicate, member.arguments, member.given.file, member.given.row) for member in facts}
    rules = {id(member.statement) for member in members if isinstance(member, StatedRule)}
    origins = FactSources(program)

    def silent(fact: Fact) -> Fact:
        place = fact.predicate, fact.arguments, fact.span.source.path, fact.span.line
        return _silent(program, fact) if place in places else fact

    def rows(number: int, table: FactTable) -> set[int]:
        given = [member for member in facts if (member.predicate, member.given.file) == (table.predicate, table.source)]
        return {
            place
            for member in given
            for place in origins.rows(number, member.predicate, member.arguments)
            if int(table.rows[place]) == member.given.row
        }

    return replace(
        program,
        facts=tuple(map(silent, program.facts)),
        tables=tuple(without_rows(table, rows(n, table)) for n, table in enumerate(program.tables)),
        assertions=tuple(statement for statement in program.assertions if id(statement) not in rules),
    )


def _silent(program: CheckedProgram, fact: Fact) -> Fact:
    """The fact with the bounds of an atom of which nothing is known."""
    predicate = program.predicates[fact.predicate]
    lower, upper = (-math.inf, math.inf) if predicate.numeric else (0.0, 0.0 if predicate.closed else 1.0)
    return replace(fact, lower=lower, upper=upper)


def names_in(formula: ast.Expression | SameEntity) -> frozenset[str]:
    """The predicates and numbers of a formula."""
    parts = nodes(cast("ast.Expression", formula))  # equalities of entities have no operands
    return frozenset(node.name for node in parts if isinstance(node, ast.Atom))
