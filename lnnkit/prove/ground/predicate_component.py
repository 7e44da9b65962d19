"""The part of a program that shares predicates with a question: the statements and facts about them, and all entities.

Two statements are linked by a predicate or number that both mention, unless facts alone settle it: a closed predicate
that no rule defines, of facts that are each a single truth. Other statements bound no atom of the part, nor does the
part bound any of theirs, so inference finds the same bounds of its atoms in it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import networkx as nx

from lnnkit.check.program import ENTITY, CheckedProgram, Fact, Predicate, SameEntity
from lnnkit.check.walk import nodes
from lnnkit.explain.conflict.program_variants import names_in
from lnnkit.syntax import ast
from lnnkit.syntax.span import NOWHERE

Formula = ast.Expression | SameEntity
_OF = "?{}"  # a predicate of the members of a sort, by a name that no program can write


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a program as a ``program``, about its ``predicates``; ``kept`` are its statements by their places,
    of ``total``."""

    program: CheckedProgram
    predicates: frozenset[str]
    kept: tuple[int, ...]
    total: int

    @property
    def note(self) -> str:
        """A remark on answers from it."""
        return (
            f"{len(self.kept):,} of {self.total:,} statements share predicates with it; "
            "whether the others contradict each other was not checked"
        )


def component(program: CheckedProgram, formulas: Sequence[Formula]) -> Component | None:
    """The part that the formulas share predicates with; None if it has more than half of the statements."""
    names = [names_in(assertion.formula) for assertion in program.assertions]
    asked = frozenset[str]().union(*map(names_in, formulas))
    kept = _linked(program, names, asked)
    if 2 * len(kept) > len(names):
        return None
    predicates = asked.union(*(names[place] for place in kept))
    return Component(_part(program, kept, predicates), predicates, tuple(sorted(kept)), len(names))


def _linked(program: CheckedProgram, names: Sequence[frozenset[str]], asked: frozenset[str]) -> set[int]:
    """The places of the statements that are linked to the names asked, and of those that mention no names."""
    loose = _unsettled_by_facts(program)
    graph = nx.Graph((place, name) for place, mentioned in enumerate(names) for name in mentioned & loose)
    met = set[object]().union(*(nx.node_connected_component(graph, name) for name in asked if name in graph))
    return {place for place, mentioned in enumerate(names) if place in met or not mentioned}


def _unsettled_by_facts(program: CheckedProgram) -> set[str]:
    """The predicates and numbers of which facts leave some atom open, or rules make some true."""
    derived = frozenset[str]().union(*program.strata)
    loose = {name for name, relation in program.predicates.items() if not relation.closed or relation.numeric} | derived
    loose |= {fact.predicate for fact in program.facts if fact.lower != fact.upper}
    return loose | {
        table.predicate
        for table in program.tables
        if table.predicate not in loose and not bool((table.lower == table.upper).all())
    }


def _part(program: CheckedProgram, kept: set[int], predicates: frozenset[str]) -> CheckedProgram:
    """The program of the kept statements, about its ``predicates``; what else names entities has become labels."""
    elsewhere = {table.predicate for table in (*program.tables, *program.label_tables)}
    named = predicates | elsewhere | {fact.predicate for fact in (*program.facts, *program.labels)}
    constants = _constants(program, kept)
    sorts = {_OF.format(sort): Predicate(_OF.format(sort), (sort,)) for sort, _ in constants}
    return replace(
        program,
        predicates={name: predicate for name, predicate in program.predicates.items() if name in named} | sorts,
        assertions=tuple(program.assertions[place] for place in sorted(kept)),
        facts=tuple(fact for fact in program.facts if fact.predicate in predicates),
        tables=tuple(table for table in program.tables if table.predicate in predicates),
        labels=(
            *program.labels,
            *(fact for fact in program.facts if fact.predicate not in predicates),
            *(Fact(_OF.format(sort), (text,), 0.0, 1.0, NOWHERE) for sort, text in constants),
        ),
        label_tables=(*program.label_tables, *(table for table in program.tables if table.predicate not in predicates)),
        queries=(),
        strata=tuple(shared for stratum in program.strata if (shared := stratum & predicates)),
        unevaluated=(),
    )


def _constants(program: CheckedProgram, kept: set[int]) -> dict[tuple[str, str], None]:
    """The entities that the statements outside of the part name, each behind the sort of its place."""
    named: dict[tuple[str, str], None] = {}
    left_out = (assertion for place, assertion in enumerate(program.assertions) if place not in kept)
    for node in (node for assertion in left_out for node in nodes(cast("ast.Expression", assertion.formula))):
        if isinstance(node, SameEntity):
            named |= {(ENTITY, side.text): None for side in (node.left, node.right) if isinstance(side, ast.Constant)}
        elif isinstance(node, ast.Atom):
            places = zip(program.predicates[node.name].sorts, node.arguments, strict=True)
            named |= {(sort, term.text): None for sort, term in places if isinstance(term, ast.Constant)}
    return named
