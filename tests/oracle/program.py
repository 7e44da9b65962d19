"""The oracle's own program structure: nested tuples and small dataclasses, no syntax tree of lnnkit.

A formula is one of::

    ("atom", predicate, (argument, ...))        argument: ("var", name) or ("const", text)
    ("true",)  ("false",)  ("eq", argument, argument)
    ("not", f)
    ("and", ((weight, f), ...), bias, logic)    "or" the same; logic None is the program's default
    ("implies", (weight, x), (weight, y), bias, logic)      "iff" and "xor" the same
    ("forall", (name, ...), f)                  "exists" the same
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

Box = tuple[float, float]
Formula = tuple[Any, ...]
Argument = tuple[str, str]
AtomKey = tuple[str, tuple[str, ...]]

UNKNOWN: Box = (0.0, 1.0)
ENTITY = "entity"  # the top sort (D2)
CONNECTIVES = ("and", "or", "implies", "iff", "xor")
QUANTIFIERS = ("forall", "exists")
NEURONS = CONNECTIVES + QUANTIFIERS  # what can hold state (D3): not "not", "true", "false", "eq"


class ProgramError(ValueError):
    """The program is not valid: sorts that clash, or a cycle through negation."""


@dataclass(frozen=True)
class Predicate:
    """``sorts`` is None for a predicate that is not declared."""

    name: str
    arity: int
    sorts: tuple[str, ...] | None = None
    closed: bool = False


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


def leaf_arguments(formula: Formula) -> tuple[Argument, ...]:
    """The arguments of an atom or an equality; nothing for anything else."""
    return formula[2] if formula[0] == "atom" else formula[1:] if formula[0] == "eq" else ()


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Every subformula, itself first, in their written order."""
    yield formula
    for part in operands(formula):
        yield from subformulas(part)


def rename(formula: Formula, names: dict[str, str]) -> Formula:
    """Free variables renamed."""
    if formula[0] in ("atom", "eq"):
        changed = tuple(
            ("var", names.get(text, text)) if kind == "var" else (kind, text) for kind, text in leaf_arguments(formula)
        )
        return ("atom", formula[1], changed) if formula[0] == "atom" else ("eq", *changed)
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
        elif f[0] in ("atom", "eq"):
            return rename(f, names)
        return replace_operands(f, [visit(part, names) for part in operands(f)])

    return visit(formula, {})


def strip_negations(formula: Formula) -> tuple[Formula, bool]:
    """The formula below its leading negations, and whether they leave it negated."""
    negated = False
    while formula[0] == "not":
        formula, negated = formula[1], not negated
    return formula, negated
