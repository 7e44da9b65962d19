"""The part of a program that shares predicates with a question: the statements and facts about them, and all entities.

Two statements are linked by a predicate or number that both mention, unless facts alone settle it: a closed predicate
that no rule defines, of facts that are each a single truth. Other statements bound no atom of the part, nor does the
part bound any of theirs, so inference finds the same bounds of its atoms in it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import networkx as nx

from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Predicate, SameEntity
from lnnkit.check.walk import nodes
from lnnkit.data.column import EntityColumn
from lnnkit.data.names import Names
from lnnkit.data.table import FactTable
from lnnkit.explain.conflict.program_variants import names_in
from lnnkit.syntax import ast

Formula = ast.Expression | SameEntity
_OF = "?{}"  # a predicate of the members of a sort, by a name that no program can write
_NOWHERE = "<other statements>"


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a program as a ``program``, about its ``own`` predicates; ``kept`` are its statements by their places,
    of ``total``."""

    program: CheckedProgram
    own: frozenset[str]
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
    names = [names_in(each.formula) for each in program.assertions]
    asked = frozenset[str]().union(*map(names_in, formulas))
    kept = _linked(program, names, asked)
    if 2 * len(kept) > len(names):
        return None
    own = asked.union(*(names[place] for place in kept))
    return Component(_part(program, kept, own), own, tuple(sorted(kept)), len(names))


def _linked(program: CheckedProgram, names: Sequence[frozenset[str]], asked: frozenset[str]) -> set[int]:
    """The places of the statements that are linked to the names asked, and of those that mention no names."""
    loose = _unsettled_by_facts(program)
    graph = nx.Graph((place, name) for place, own in enumerate(names) for name in own & loose)
    met = set[object]().union(*(nx.node_connected_component(graph, name) for name in asked if name in graph))
    return {place for place, own in enumerate(names) if place in met or not own}


def _unsettled_by_facts(program: CheckedProgram) -> set[str]:
    """The predicates and numbers of which facts leave some atom open, or rules make some true."""
    derived = frozenset[str]().union(*program.strata)
    found = {name for name, each in program.predicates.items() if not each.closed or each.numeric} | derived
    found |= {fact.predicate for fact in program.facts if fact.lower != fact.upper}
    return found | {
        table.predicate
        for table in program.tables
        if table.predicate not in found and not bool((table.lower == table.upper).all())
    }


def _part(program: CheckedProgram, kept: set[int], own: frozenset[str]) -> CheckedProgram:
    """The program of the kept statements, about its ``own`` predicates; what else names entities has become labels."""
    others = [table for table in program.tables if table.predicate not in own]
    named = own | {table.predicate for table in (*others, *program.label_tables)}
    members = _members(program, kept, own)
    sorts = {_OF.format(sort): Predicate(_OF.format(sort), (sort,)) for sort in members}
    return replace(
        program,
        predicates={name: each for name, each in program.predicates.items() if name in named} | sorts,
        assertions=tuple(program.assertions[place] for place in sorted(kept)),
        facts=tuple(fact for fact in program.facts if fact.predicate in own),
        tables=tuple(table for table in program.tables if table.predicate in own),
        labels=tuple(label for label in program.labels if label.predicate in own),
        label_tables=(
            *program.label_tables,
            *others,
            *(_table(_OF.format(sort), texts) for sort, texts in members.items()),
        ),
        queries=(),
        strata=tuple(found for each in program.strata if (found := each & own)),
        unevaluated=(),
    )


def _members(program: CheckedProgram, kept: set[int], own: frozenset[str]) -> dict[str, set[str]]:
    """The entities, by sort, that facts, labels and statements outside of the part name."""
    found: dict[str, set[str]] = {}
    for each in (*program.facts, *program.labels):
        if each.predicate not in own:
            for sort, text in zip(program.predicates[each.predicate].sorts, each.arguments, strict=True):
                found.setdefault(sort, set()).add(text)
    for place, assertion in enumerate(program.assertions):
        if place not in kept:
            for sort, text in _constants(assertion, program):
                found.setdefault(sort, set()).add(text)
    return found


def _constants(assertion: Assertion, program: CheckedProgram) -> Iterator[tuple[str, str]]:
    """The entities that a statement names, with the sorts of their places."""
    for node in nodes(assertion.formula):  # pyright: ignore[reportArgumentType]  # equalities have no operands
        if isinstance(node, SameEntity):
            yield from ((ENTITY, each.text) for each in (node.left, node.right) if isinstance(each, ast.Constant))
        elif isinstance(node, ast.Atom):
            sorts = program.predicates[node.name].sorts
            for sort, each in zip(sorts, node.arguments, strict=True):
                if isinstance(each, ast.Constant):
                    yield sort, each.text


def _table(predicate: str, texts: Iterable[str]) -> FactTable:
    """Labels of some entities, which keep them in their sort and state nothing."""
    import numpy as np

    names = Names.of(texts)
    count = len(names)
    column = EntityColumn(np.arange(count, dtype=np.int32), names)
    return FactTable(predicate, (column,), np.zeros(count), np.ones(count), np.arange(count), _NOWHERE)
