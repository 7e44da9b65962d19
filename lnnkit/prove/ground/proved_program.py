"""The program from which a question is proved: the part that shares predicates with it, in its classical reading.

Two statements are linked by a predicate or number that both mention, unless facts alone settle it: a closed predicate
that no rule defines, of facts that are each a single truth. Other statements bound no atom of the part, nor does the
part bound any of theirs, so inference finds the same bounds of its atoms in it alone.

In the classical reading truths of at least ``alpha`` count as true, weights are left out, and numbers are integers
where all that is said of them is integral.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

import networkx as nx
import numpy as np

from lnnkit.check.program import ENTITY, Assertion, CheckedFormula, CheckedProgram, Fact, Predicate, SameEntity
from lnnkit.check.walk import nodes, transform, unweighted
from lnnkit.data.table import FactTable
from lnnkit.explain.conflict.program_variants import names_in
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import NOWHERE
from lnnkit.time_limit import check_time

T = TypeVar("T", Fact, FactTable)
_OF = "?{}"  # a predicate of the members of a sort, by a name that no program can write

# --- the part ---------------------------------------------------------------------------------------------------------


class Component(NamedTuple):
    """A part of a program as a ``program`` about its ``predicates``, of the statements at the places ``kept``; and a
    ``note`` on answers from it."""

    program: CheckedProgram
    predicates: frozenset[str]
    kept: tuple[int, ...]
    note: str


def component(program: CheckedProgram, formulas: Sequence[CheckedFormula]) -> Component | None:
    """The part that the formulas share predicates with; None if it has more than half of the statements."""
    names = [names_in(assertion.formula) for assertion in program.assertions]
    asked = frozenset[str]().union(*map(names_in, formulas))
    # The predicates and numbers of which facts leave some atom open, or rules make some true
    loose = {name for name, relation in program.predicates.items() if not relation.closed or relation.numeric}
    loose = loose.union(*program.strata, (fact.predicate for fact in program.facts if fact.lower != fact.upper))
    tables = (table for table in program.tables if table.predicate not in loose)
    loose |= {table.predicate for table in tables if not bool((table.lower == table.upper).all())}
    graph = nx.Graph((place, name) for place, mentioned in enumerate(names) for name in mentioned & loose)
    met = set[object]().union(*(nx.node_connected_component(graph, name) for name in asked if name in graph))
    kept = tuple(place for place, mentioned in enumerate(names) if place in met or not mentioned)
    if 2 * len(kept) > len(names):
        return None
    predicates = asked.union(*(names[place] for place in kept))
    note = "statements share predicates with it; whether the others contradict each other was not checked"
    part = _part(program, kept, predicates)
    return Component(part, predicates, kept, f"{len(kept):,} of {len(names):,} {note}")


def _part(program: CheckedProgram, kept: Sequence[int], predicates: frozenset[str]) -> CheckedProgram:
    """The program of the kept statements, about its ``predicates``; what else names entities has become labels."""
    stated = (*program.facts, *program.labels, *program.tables, *program.label_tables)
    named = predicates | {given.predicate for given in stated}
    constants = _constants(program, kept)
    sorts = {_OF.format(sort): Predicate(_OF.format(sort), (sort,)) for sort, _ in constants}
    facts, others = _divided(program.facts, predicates)
    tables, other_tables = _divided(program.tables, predicates)
    members = (Fact(_OF.format(sort), (text,), 0.0, 1.0, NOWHERE) for sort, text in constants)
    return replace(
        program,
        predicates={name: predicate for name, predicate in program.predicates.items() if name in named} | sorts,
        assertions=tuple(program.assertions[place] for place in kept),
        facts=facts,
        tables=tables,
        labels=(*program.labels, *others, *members),
        label_tables=(*program.label_tables, *other_tables),
        queries=(),
        strata=tuple(shared for stratum in program.strata if (shared := stratum & predicates)),
        unevaluated=(),
    )


def _divided(stated: Sequence[T], predicates: frozenset[str]) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """The facts about these predicates, and the others."""
    inside = tuple(given for given in stated if given.predicate in predicates)
    return inside, tuple(given for given in stated if given.predicate not in predicates)


def _constants(program: CheckedProgram, kept: Sequence[int]) -> dict[tuple[str, str], None]:
    """The entities that the statements outside of the part name, each behind the sort of its place."""
    named: list[tuple[str, object]] = []
    for place in sorted({*range(len(program.assertions))}.difference(kept)):
        for node in nodes(cast("ast.Expression", program.assertions[place].formula)):
            if isinstance(node, SameEntity):
                named += [(ENTITY, node.left), (ENTITY, node.right)]
            elif isinstance(node, ast.Atom):
                named += zip(program.predicates[node.name].sorts, node.arguments, strict=True)
    return {(sort, term.text): None for sort, term in named if isinstance(term, ast.Constant)}


# --- the classical reading --------------------------------------------------------------------------------------------


def is_crisp(program: CheckedProgram) -> bool:
    """Whether every statement and fact is true, false or unknown, without weights or soft comparisons."""
    stated = (given for given in (*program.facts, *program.tables) if not program.predicates[given.predicate].numeric)
    return all(map(_is_crisp, program.assertions)) and all(_crisp_ends(given.lower, given.upper) for given in stated)


def crisped(program: CheckedProgram, alpha: float) -> tuple[CheckedProgram, int]:
    """The program in its classical reading, and the number of statements too weak to be read so."""

    def cut(stated: T) -> T:
        if program.predicates[stated.predicate].numeric:
            return stated
        lower, upper = _cut(stated.lower, stated.upper, alpha)
        return replace(stated, lower=lower, upper=upper)

    kept = [crisp for assertion in program.assertions if (crisp := _crisp_assertion(assertion, alpha)) is not None]
    facts, tables = tuple(map(cut, program.facts)), tuple(map(cut, program.tables))
    crisp = replace(program, assertions=tuple(kept), facts=facts, tables=tables, queries=(), logic=ast.DEFAULT_LOGIC)
    return crisp, len(program.assertions) - len(kept)


def plain(formula: CheckedFormula) -> CheckedFormula:
    """A formula without weights, biases, logics and scales; operands of weight 0 are left out."""
    return cast("CheckedFormula", transform(cast("ast.Expression", formula), _plain))


def _is_crisp(assertion: Assertion) -> bool:
    check_time()
    ends = _number(assertion.lower), _number(assertion.upper)
    return (
        None not in ends
        and _crisp_ends(*ends)
        and not any(
            isinstance(node, (ast.Weighted, ast.Learnable))
            or (isinstance(node, ast.Comparison) and (node.attributes or "<?>" in node.operators))
            or (isinstance(node, ast.Connective) and any(attribute.key == "bias" for attribute in node.attributes))
            for node in nodes(cast("ast.Expression", assertion.formula))
        )
    )


def _crisp_ends(lower: Any, upper: Any) -> bool:
    """Whether a truth, or each truth in columns, is true, false or unknown."""
    crisp = ((lower == 0) | (lower == 1)) & ((upper == 0) | (upper == 1)) & (lower <= upper)
    return bool(np.all(crisp))


def _crisp_assertion(assertion: Assertion, alpha: float) -> Assertion | None:
    lower, upper = _number(assertion.lower), _number(assertion.upper)
    truth = None if lower is None or upper is None else _cut(lower, upper, alpha)
    if truth is None or truth == (0.0, 1.0):
        return None
    return replace(assertion, formula=plain(assertion.formula), lower=truth[0], upper=truth[1], logic=ast.DEFAULT_LOGIC)


def _cut(lower: Any, upper: Any, alpha: float) -> tuple[Any, Any]:
    """The ends of a truth, or of columns of truths, as true, false or unknown."""
    return (lower >= alpha) * 1.0, (upper > 1 - alpha) * 1.0


def _number(value: ast.Value | float) -> float | None:
    start = value.start if isinstance(value, ast.Value) else value
    return None if start is None else float(start)


def _plain(node: ast.Expression) -> ast.Expression:
    match node:
        case ast.And() | ast.Or():
            weights = (operand.weight if isinstance(operand, ast.Weighted) else None for operand in node.operands)
            nothing = [isinstance(weight, ast.Number) and weight.value == 0 for weight in weights]
            kept = tuple(unweighted(operand) for operand, left in zip(node.operands, nothing, strict=True) if not left)
            if len(kept) < 2:
                return kept[0] if kept else ast.Truth(isinstance(node, ast.And), span=node.span)
            return replace(node, operands=kept, attributes=())
        case ast.Implies():
            one, other = map(unweighted, (node.antecedent, node.consequent))
            return replace(node, antecedent=one, consequent=other, attributes=())
        case ast.Iff() | ast.Xor():
            return replace(node, left=unweighted(node.left), right=unweighted(node.right), attributes=())
        case ast.Comparison():
            return replace(node, attributes=tuple(given for given in node.attributes if given.key != "scale"))
    return node


def whole_numbers(program: CheckedProgram, questions: Iterable[CheckedFormula]) -> frozenset[str]:
    """The names of the numbers that are integers. All numbers in one comparison are integers together, if all their
    given values and all constants are integral and nothing is divided, raised or weighted."""
    numbers = {name for name, predicate in program.predicates.items() if predicate.numeric}
    if not numbers:
        return frozenset()
    graph = nx.Graph()
    graph.add_nodes_from(numbers)
    fractional, mentioned = set[str](), set[str]()
    formulas = [*(assertion.formula for assertion in program.assertions), *questions]
    every = (node for formula in formulas for node in nodes(cast("ast.Expression", formula)))
    for comparison in (node for node in every if isinstance(node, ast.Comparison)):
        inner = [*nodes(comparison)]
        names = [node.name for node in inner if isinstance(node, ast.Atom) and node.name in numbers]
        nx.add_path(graph, names)
        constants = [float(node.value) for node in inner if isinstance(node, ast.Number)]
        if not all(map(_stays_whole, inner)) or not _are_whole(constants):
            fractional.update(names)
        elif constants:
            mentioned.update(names)
    for stated in (*program.facts, *(table for table in program.tables if len(table))):
        if stated.predicate in numbers:
            (mentioned if _are_whole([stated.lower, stated.upper]) else fractional).add(stated.predicate)
    groups = (group for group in nx.connected_components(graph) if group & mentioned and not group & fractional)
    return frozenset[str]().union(*groups)


def _stays_whole(node: ast.Expression) -> bool:
    match node:
        case ast.Arithmetic(operator=operator):
            return operator in ("+", "-", "*")
        case ast.Function(name=name):
            return name in ("abs", "floor", "ceil", "round", "min", "max")
        case ast.Comparison():
            return not node.attributes and "<?>" not in node.operators
    return isinstance(node, (ast.Atom, ast.Number, ast.Negate))


def _are_whole(values: Sequence[Any]) -> bool:
    numbers = np.array(values)
    return bool((np.floor(numbers) == numbers).all())  # infinite ends too
