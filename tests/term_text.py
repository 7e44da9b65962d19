"""Terms and comparisons of the oracle's structure as text."""

from __future__ import annotations

from tests.oracle import Formula
from tests.oracle.program import subterms

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "^"}
_WEIGHTS = {"nau": "weight", "nmu": "weight", "realnpu": "power"}


def group(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})" if names else ""


def number_text(value: float) -> str:
    """As short as the value allows: whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def term_text(term: Formula, nested: bool = False) -> str:
    """A term; ``nested`` puts an operation in parentheses."""
    match term[0]:
        case "number":
            return term[1] + group(tuple(text for _, text in term[2]))
        case "constant":
            return number_text(term[1]) if term[1] >= 0 else f"({number_text(term[1])})"
        case "abs" | "sqrt" | "exp" | "log" | "sin" | "cos" | "floor" | "ceil" | "round" | "least" | "greatest":
            name = {"least": "min", "greatest": "max"}.get(term[0], term[0])
            return f"{name}({', '.join(map(term_text, term[1:]))})"
        case "nau" | "nmu" | "realnpu":
            weights = ", ".join(map(number_text, term[1]))
            operands = ", ".join(term_text(part) for part in term[2])
            return f"{term[0]}({operands}){{{_WEIGHTS[term[0]]}: [{weights}]}}"
    parts = [term_text(part, nested=True) for part in subterms(term)]
    text = f"-{parts[0]}" if term[0] == "negate" else f"{parts[0]} {_SYMBOLS[term[0]]} {parts[1]}"
    return f"({text})" if nested else text


def comparison_text(formula: Formula, nested: bool = False) -> str:
    _, operator, left, right, scale, weight = formula
    return _attributed(f"{term_text(left)} {operator} {term_text(right)}", scale, weight, nested)


def chain_text(formula: Formula, nested: bool = False) -> str | None:
    """A plain conjunction of two comparisons of which the second goes on where the first ends; None for any other."""
    if formula[0] != "and" or formula[2:] != (1.0, None) or len(formula[1]) != 2:
        return None
    (weight, first), (other, second) = formula[1]
    if (weight, other) != (1.0, 1.0) or first[0] != "compare" or second[0] != "compare":
        return None
    if first[3] != second[2] or first[4:] != second[4:]:
        return None
    text = f"{term_text(first[2])} {first[1]} {term_text(first[3])} {second[1]} {term_text(second[3])}"
    return _attributed(text, first[4], first[5], nested)


def _attributed(text: str, scale: float | None, weight: tuple[float, ...] | None, nested: bool) -> str:
    attributes = [f"scale: {number_text(scale)}"] if scale is not None else []
    attributes += [f"weight: [{', '.join(map(number_text, weight))}]"] if weight is not None else []
    return f"({text}){{{', '.join(attributes)}}}" if attributes else f"({text})" if nested else text
