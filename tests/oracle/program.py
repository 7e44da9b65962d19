"""The oracle's own program structure: nested tuples and small dataclasses, no syntax tree of lnnkit.

A formula is one of::

    ("atom", predicate, (argument, ...))        argument: ("var", name) or ("const", text)
    ("true",)  ("false",)  ("eq", argument, argument)
    ("not", f)
    ("and", ((weight, f), ...), bias, logic)    "or" the same; logic None is the program's default
    ("implies", (weight, x), (weight, y), bias, logic)      "iff" and "xor" the same
    ("forall", (name, ...), f)                  "exists" the same
    ("compare", operator, term, term, scale, weight)        a comparison of numbers; terms as in ``comparison``

A query may also be a term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

Box = tuple[float, float]
Formula = tuple[Any, ...]
Argument = tuple[str, str]
AtomKey = tuple[str, tuple[str, ...]]

UNKNOWN: Box = (0.0, 1.0)
ENTITY = "entity"  # the top sort
CONNECTIVES = ("and", "or", "implies", "iff", "xor")
QUANTIFIERS = ("forall", "exists")
NEURONS = (*CONNECTIVES, *QUANTIFIERS, "compare")  # what can hold state: not "not", "true", "false", "eq"
TERMS = ("number", "constant", "add", "subtract", "multiply", "divide", "power", "negate", "abs", "sqrt")
FUNCTIONS = ("exp", "log", "sin", "cos", "floor", "ceil", "round", "least", "greatest")
TERMS += FUNCTIONS
UNITS = ("nau", "nmu", "realnpu")


class ProgramError(ValueError):
    """The program is not valid: sorts that clash, or a cycle through negation."""


@dataclass(frozen=True)
class Predicate:
    """``sorts`` is None for a predicate that is not declared."""

    name: str
    arity: int
    sorts: tuple[str, ...] | None = None
    closed: bool = False
    numeric: bool = False


class Fact(NamedTuple):
    predicate: str
    arguments: tuple[str, ...]
    lower: float
    upper: float


class Statement(NamedTuple):
    """A rule or an axiom with its truth."""

    kind: str
    formula: Formula
    lower: float = 1.0
    upper: float = 1.0


@dataclass
class Program:
    predicates: list[Predicate]
    facts: list[Fact] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    queries: list[Formula] = field(default_factory=list)
    sorts: dict[str, bool] = field(default_factory=dict)  # name -> declared open
    logic: str = "lukasiewicz"


def operands(formula: Formula) -> tuple[Formula, ...]:
    """The direct subformulas, in their written order."""
    match formula[0]:
        case "and" | "or":
            return tuple(f for _, f in formula[1])
        case "implies" | "iff" | "xor":
            return formula[1][1], formula[2][1]
        case "forall" | "exists":
            return (formula[2],)
        case "not":
            return (formula[1],)
    return ()


def weights(formula: Formula) -> tuple[float, ...]:
    """The operand weights of a connective."""
    if formula[0] in ("and", "or"):
        return tuple(w for w, _ in formula[1])
    return formula[1][0], formula[2][0]


def replace_operands(formula: Formula, new: list[Formula]) -> Formula:
    """The same formula over other subformulas."""
    match formula[0]:
        case "and" | "or":
            return (formula[0], tuple((w, f) for (w, _), f in zip(formula[1], new, strict=True)), *formula[2:])
        case "implies" | "iff" | "xor":
            return (formula[0], (formula[1][0], new[0]), (formula[2][0], new[1]), *formula[3:])
        case "forall" | "exists":
            return (*formula[:2], new[0])
        case "not":
            return ("not", new[0])
    return formula


def subterms(term: Formula) -> tuple[Formula, ...]:
    """The direct operands of a term."""
    if term[0] in ("number", "constant"):
        return ()
    return term[2] if term[0] in UNITS else term[1:]


def numbers(formula: Formula) -> list[Formula]:
    """The number atoms of a comparison or a term, in their written order, each as often as it stands there."""
    if formula[0] == "number":
        return [formula]
    if formula[0] == "compare":
        return numbers(formula[2]) + numbers(formula[3])
    return [found for part in subterms(formula) for found in numbers(part)] if formula[0] in (*TERMS, *UNITS) else []


def map_numbers(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """A comparison or a term with other number atoms."""
    match formula[0]:
        case "number":
            return change(formula)
        case "constant":
            return formula
        case "compare":
            return (*formula[:2], *(map_numbers(term, change) for term in formula[2:4]), *formula[4:])
    parts = tuple(map_numbers(part, change) for part in subterms(formula))
    return (*formula[:2], parts) if formula[0] in UNITS else (formula[0], *parts)


def leaf_arguments(formula: Formula) -> tuple[Argument, ...]:
    """The arguments of an atom, an equality, or of the numbers in a comparison; nothing for anything else."""
    match formula[0]:
        case "atom":
            return formula[2]
        case "eq":
            return formula[1:]
    return tuple(argument for number in numbers(formula) for argument in number[2])


def leaf_positions(formula: Formula) -> tuple[tuple[str, int] | None, ...]:
    """Where each of these arguments stands: the predicate or number, and the place in it; None in an equality."""
    match formula[0]:
        case "atom":
            return tuple((formula[1], place) for place in range(len(formula[2])))
        case "eq":
            return None, None
    return tuple((number[1], place) for number in numbers(formula) for place in range(len(number[2])))


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Every subformula, itself first, in their written order."""
    yield formula
    for part in operands(formula):
        yield from subformulas(part)


def with_stated_facts(program: Program) -> Program:
    """The program with its bare axioms, those that are one literal about named entities, as the facts that they are."""
    facts, statements = list(program.facts), []
    for statement in program.statements:
        atom, negated = strip_negations(statement.formula)
        if statement.kind == "axiom" and atom[0] == "atom" and all(kind == "const" for kind, _ in atom[2]):
            ends = (1 - statement.upper, 1 - statement.lower) if negated else (statement.lower, statement.upper)
            facts.append(Fact(atom[1], tuple(text for _, text in atom[2]), *ends))
        else:
            statements.append(statement)
    return replace(program, facts=facts, statements=statements)


def rename(formula: Formula, names: dict[str, str]) -> Formula:
    """Free variables renamed."""

    def changed(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(("var", names.get(text, text)) if kind == "var" else (kind, text) for kind, text in arguments)

    match formula[0]:
        case "atom":
            return "atom", formula[1], changed(formula[2])
        case "eq":
            return "eq", *changed(formula[1:])
    if formula[0] in ("compare", *TERMS, *UNITS):
        return map_numbers(formula, lambda number: ("number", number[1], changed(number[2])))
    if formula[0] in QUANTIFIERS:
        names = {old: new for old, new in names.items() if old not in formula[1]}
    return replace_operands(formula, [rename(f, names) for f in operands(formula)])


@lru_cache(maxsize=20_000)
def free_variables(formula: Formula) -> tuple[str, ...]:
    """Free variables by their first occurrence."""
    found = [text for kind, text in leaf_arguments(formula) if kind == "var"]
    for part in operands(formula):
        found += free_variables(part)
    bound = formula[1] if formula[0] in QUANTIFIERS else ()
    return tuple(dict.fromkeys(name for name in found if name not in bound))


def bind_apart(formula: Formula) -> Formula:
    """Gives each quantifier variables of its own (``X`` becomes ``X#1``), so that a name means one thing."""
    counter = iter(range(1, 1_000_000))

    def visit(f: Formula, names: dict[str, str]) -> Formula:
        if f[0] in QUANTIFIERS:
            names = names | {name: f"{name}#{next(counter)}" for name in f[1]}
            f = (f[0], tuple(names[name] for name in f[1]), f[2])
        elif not operands(f):
            return rename(f, names)
        return replace_operands(f, [visit(part, names) for part in operands(f)])

    return visit(formula, {})


def strip_negations(formula: Formula) -> tuple[Formula, bool]:
    """The formula below its leading negations, and whether they leave it negated."""
    negated = False
    while formula[0] == "not":
        formula, negated = formula[1], not negated
    return formula, negated
