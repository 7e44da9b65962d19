"""The arithmetic of a comparison or term as it is written, apart from the numbers that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from lnnkit.numeric import (
    Apply,
    Comparison,
    Constant,
    Fixed,
    Learned,
    Number,
    Operation,
    Relation,
    Sign,
    Term,
    apply,
    constant,
    gated_product,
    linear,
    number,
    power_product,
    undetermined,
)
from lnnkit.syntax import ast

_OPERATIONS: dict[str, Operation] = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}


def comparison(formula: ast.Comparison) -> tuple[Comparison, Sequence[ast.Atom]]:
    """A comparison of two terms, and the numbers that it reads, each once, in the order in which it does."""
    written = _Written()
    (left, right), atoms = _read([written.term(operand) for operand in formula.operands], written.atoms)
    return Comparison(left, right, _relation(formula)), atoms


def term(formula: ast.Expression) -> tuple[Term, Sequence[ast.Atom]]:
    """The same of a term."""
    written = _Written()
    (made,), atoms = _read([written.term(formula)], written.atoms)
    return made, atoms


def _read(terms: Sequence[Term], atoms: Sequence[ast.Atom]) -> tuple[Sequence[Term], Sequence[ast.Atom]]:
    """The terms over those of the atoms alone that they read: a unit leaves out what has no weight."""
    used = list(dict.fromkeys(step.index for made in terms for step in made.steps if isinstance(step, Number)))
    renumbered = [
        Term(tuple(Number(used.index(step.index)) if isinstance(step, Number) else step for step in made.steps))
        for made in terms
    ]
    return renumbered, [atoms[index] for index in used]


@dataclass(slots=True)
class _Written:
    """``atoms`` are the numbers of a comparison or term, each once, in the order of their first mention."""

    atoms: list[ast.Atom] = field(default_factory=list)

    def term(self, formula: ast.Expression) -> Term:
        """Raises ``ValueError`` for what is no term."""
        match formula:
            case ast.Number():
                return constant(float(formula.value))
            case ast.Learnable():
                return undetermined()
            case ast.Atom():
                if formula not in self.atoms:
                    self.atoms.append(formula)
                return number(self.atoms.index(formula))
            case ast.Negate():
                return apply("negate", self.term(formula.operand))
            case ast.Function():
                return apply(formula.name, self.term(formula.operand))
            case ast.Arithmetic():
                return apply(_OPERATIONS[formula.operator], self.term(formula.left), self.term(formula.right))
            case ast.Unit():
                return _unit(formula, [self.term(operand) for operand in formula.operands])
        raise ValueError(f"no term for {type(formula).__name__}")


def text(arithmetic: Comparison | Term) -> str:
    """The same for the same arithmetic, however its sums and products of many were grouped from the left."""
    if isinstance(arithmetic, Term):
        return _text(arithmetic)
    return f"{_text(arithmetic.left)} {arithmetic.relation!r} {_text(arithmetic.right)}"


def _text(term: Term) -> str:
    built: list[str] = []
    for step in term.steps:
        match step:
            case Number():
                built.append(f"#{step.index}")
            case Constant():
                built.append(repr(step.value))
            case Apply(operation="negate" | "abs" | "sqrt" | "unknown"):
                built.append(f"{step.operation}({', '.join(built[place] for place in step.operands)})")
            case Apply():
                first, *rest = (built[place] for place in step.operands)
                for each in rest:
                    first = f"({first} {step.operation} {each})"
                built.append(first)
    return built[-1]


def _relation(formula: ast.Comparison) -> Relation | None:
    given = {attribute.key: attribute.value for attribute in formula.attributes}
    scale = _number(given["scale"]) if "scale" in given else 0.0
    (operator,) = formula.operators
    if operator != "<?>":
        return Fixed(cast("Sign", operator), scale)
    if "weight" not in given:
        return None
    plus, zero, bias = _numbers(given["weight"])
    return Learned(plus, zero, bias, scale)


def _unit(formula: ast.Unit, operands: Sequence[Term]) -> Term:
    given = {attribute.key: _numbers(attribute.value) for attribute in formula.attributes}
    if formula.name in ("nau", "nac") and "weight" in given:
        return linear(given["weight"], operands)
    if formula.name == "nmu" and "weight" in given:
        return gated_product(given["weight"], operands)
    gates = given.get("gate", [1.0] * len(operands))
    plain = set(gates) <= {0.0, 1.0} and not any(given.get("imaginary", ()))
    if formula.name in ("npu", "realnpu") and "power" in given and plain:
        powers = [power if gate else 0.0 for power, gate in zip(given["power"], gates, strict=True)]
        return power_product(powers, operands)
    return undetermined(*operands)


def _numbers(value: object) -> list[float]:
    return [_number(item) for item in value.items] if isinstance(value, ast.ValueList) else [_number(value)]


def _number(value: object) -> float:
    if isinstance(value, ast.Number):
        return float(value.value)
    if isinstance(value, (int, float)):
        return float(value)
    raise ValueError("a number that nobody has given")
