"""Programs rewritten: other names, a predicate in place of its negation, all atoms asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.oracle import Formula, Predicate, Program
from tests.oracle.program import (
    QUANTIFIERS,
    TERMS,
    UNITS,
    Statement,
    map_numbers,
    numbers,
    operands,
    replace_operands,
    subformulas,
    weights,
)

Argument = tuple[str, str]
Names = dict[str, str]


def parts_of(program: Program) -> list[Formula]:
    """Every subformula of its statements and queries."""
    formulas = [*(each.formula for each in program.statements), *program.queries]
    return [part for formula in formulas for part in subformulas(formula)]


def entities_of(program: Program) -> list[str]:
    """Those of facts and formulas."""
    found = {name for fact in program.facts for name in fact.arguments}
    for part in parts_of(program):
        atoms = [part] if part[0] == "atom" else [("eq", "", part[1:])] if part[0] == "eq" else numbers(part)
        found |= {text for atom in atoms for kind, text in atom[2] if kind == "const"}
    return sorted(found)


def map_leaves(
    formula: Formula, atom: Callable[[Formula], Formula], argument: Callable[[Argument], Argument]
) -> Formula:
    """Other arguments of atoms, equalities and numbers, and then other atoms and numbers."""
    match formula[0]:
        case "atom":
            return atom(("atom", formula[1], tuple(map(argument, formula[2]))))
        case "eq":
            return "eq", *map(argument, formula[1:])
    if formula[0] in ("compare", *TERMS, *UNITS):
        return map_numbers(formula, lambda number: atom(("number", number[1], tuple(map(argument, number[2])))))
    return replace_operands(formula, [map_leaves(part, atom, argument) for part in operands(formula)])


def renamed(program: Program, predicates: Names, entities: Names, variables: Names, sorts: Names) -> Program:
    """With other names throughout; those that are not given stay."""

    def argument(given: Argument) -> Argument:
        kind, text = given
        return kind, (variables if kind == "var" else entities).get(text, text)

    def atom(given: Formula) -> Formula:
        return given[0], predicates.get(given[1], given[1]), given[2]

    def formula(given: Formula) -> Formula:
        given = map_leaves(given, atom, argument)
        return bound(given)

    def bound(given: Formula) -> Formula:
        if given[0] in QUANTIFIERS:
            given = given[0], tuple(variables.get(name, name) for name in given[1]), given[2]
        return replace_operands(given, [bound(part) for part in operands(given)])

    def declared(given: Predicate) -> Predicate:
        own = None if given.sorts is None else tuple(sorts.get(sort, sort) for sort in given.sorts)
        return replace(given, name=predicates.get(given.name, given.name), sorts=own)

    return replace(
        program,
        predicates=[declared(each) for each in program.predicates],
        facts=[
            fact._replace(
                predicate=predicates.get(fact.predicate, fact.predicate),
                arguments=tuple(entities.get(name, name) for name in fact.arguments),
            )
            for fact in program.facts
        ],
        statements=[each._replace(formula=formula(each.formula)) for each in program.statements],
        queries=[formula(query) for query in program.queries],
        sorts={sorts.get(name, name): is_open for name, is_open in program.sorts.items()},
    )


def negated(program: Program, predicate: str, other: str) -> Program:
    """With ``~other`` wherever the predicate stood, and its facts turned round."""

    def atom(given: Formula) -> Formula:
        return ("not", ("atom", other, given[2])) if given[1] == predicate else given

    def formula(given: Formula) -> Formula:
        return map_leaves(given, atom, lambda argument: argument)

    return replace(
        program,
        predicates=[replace(each, name=other) if each.name == predicate else each for each in program.predicates],
        facts=[
            fact._replace(predicate=other, lower=1 - fact.upper, upper=1 - fact.lower)
            if fact.predicate == predicate
            else fact
            for fact in program.facts
        ],
        statements=[each._replace(formula=formula(each.formula)) for each in program.statements],
        queries=[formula(query) for query in program.queries],
    )


def of_all_atoms(program: Program) -> list[Formula]:
    """A query of each predicate and number."""
    return [
        ("number" if each.numeric else "atom", each.name, tuple(("var", f"V{n}") for n in range(each.arity)))
        for each in program.predicates
    ]


def is_plain(formula: Formula) -> bool:
    """Whether all its neurons are those of the program's logic, without weights, and its comparisons crisp."""
    return all(
        set(weights(part)) <= {1.0} and part[-2:] == (1.0, None)
        if part[0] in ("and", "or", "implies", "iff", "xor")
        else part[0] != "compare" or (part[4] is None and part[1] != "<?>")
        for part in subformulas(formula)
    )


def without_false_implications(program: Program) -> Program:
    """Without the statements that can say that an implication or an equivalence is false: of product and Goedel
    implications that says less, for ``x -> y`` is 0 there wherever ``y`` is 0 and ``x`` is not."""

    def holds(statement: Statement) -> bool:
        formula = statement.formula
        found = [part for part in subformulas(formula) if part[0] in ("implies", "iff", "xor")]
        return not found or (found == [formula] and formula[0] != "xor" and statement.upper == 1.0)

    return replace(program, statements=[each for each in program.statements if holds(each)])


def is_crisp(program: Program) -> bool:
    """Whether its logic is not to be seen: all is two-valued or unknown, and nothing is weighed."""
    truths = {each.name for each in program.predicates if not each.numeric}
    return (
        all({fact.lower, fact.upper} <= {0.0, 1.0} for fact in program.facts if fact.predicate in truths)
        and all({each.lower, each.upper} <= {0.0, 1.0} and is_plain(each.formula) for each in program.statements)
        and all(is_plain(query) for query in program.queries if query[0] not in (*TERMS, *UNITS))
    )
