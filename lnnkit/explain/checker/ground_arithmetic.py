"""The arithmetic of a comparison or term as written, separate from the number atoms that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lnnkit.numeric import (
    Apply,
    Comparison,
    Constant,
    Number,
    Operation,
    Term,
    apply,
    constant,
    frozen,
    number,
    relation,
    undetermined,
)
from lnnkit.syntax import ast

_OPERATIONS: dict[str, Operation] = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}


def arithmetic(formula: ast.Expression) -> tuple[Comparison | Term, Sequence[ast.Atom]]:
    """A comparison of two terms, or a term, and the distinct number atoms that it reads, in order: a unit omits
    operands of weight 0."""
    written = _Written()
    made = [written.term(side) for side in (formula.operands if isinstance(formula, ast.Comparison) else (formula,))]
    used = list(dict.fromkeys(step.index for term in made for step in term.steps if isinstance(step, Number)))
    places, atoms = {index: place for place, index in enumerate(used)}, [written.atoms[index] for index in used]
    first, *other = (_renumbered(term, places) for term in made)
    if not isinstance(formula, ast.Comparison):
        return first, atoms
    given, (operator,) = _attributes(formula), formula.operators
    return Comparison(first, other[0], relation(operator, given.get("weight"), given.get("scale", [0.0])[0])), atoms


def renumbered(arithmetic: Comparison | Term, places: Mapping[int, int]) -> Comparison | Term:
    """The same arithmetic over inputs in other ``places``; several inputs may be mapped to one."""
    if isinstance(arithmetic, Term):
        return _renumbered(arithmetic, places)
    left, right = (_renumbered(side, places) for side in (arithmetic.left, arithmetic.right))
    return Comparison(left, right, arithmetic.relation)


def _renumbered(made: Term, places: Mapping[int, int]) -> Term:
    return Term(tuple(Number(places[step.index]) if isinstance(step, Number) else step for step in made.steps))


@dataclass(slots=True)
class _Written:
    """Collects ``atoms``: the distinct numbers of a comparison or term, in the order of their first occurrence."""

    atoms: list[ast.Atom] = field(default_factory=list)

    def term(self, formula: ast.Expression) -> Term:
        """The term of an expression. Raises ``ValueError`` for an expression that is no term."""
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
                operands = [self.term(operand) for operand in formula.operands]
                return frozen(formula.name, _attributes(formula), operands)
        raise ValueError(f"no term for {type(formula).__name__}")


def text(arithmetic: Comparison | Term) -> str:
    """A canonical text: equal for arithmetic that differs only in how sums and products are grouped."""
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
            case Apply(operation=str()):
                first, *rest = (built[place] for place in step.operands)
                for operand in rest:
                    first = f"({first} {step.operation} {operand})"
                built.append(first)
            case Apply():
                built.append(f"{step.operation!r}({', '.join(built[place] for place in step.operands)})")
    return built[-1]


def _attributes(formula: ast.Comparison | ast.Unit) -> dict[str, list[float]]:
    return {attribute.key: _numbers(attribute.value) for attribute in formula.attributes}


def _numbers(value: object) -> list[float]:
    return [_number(item) for item in value.items] if isinstance(value, ast.ValueList) else [_number(value)]


def _number(value: object) -> float:
    if isinstance(value, ast.Number):
        return float(value.value)
    if isinstance(value, (int, float)):
        return float(value)
    raise ValueError("a learnable number without a value")
