"""Checks an exact step: whether its bound follows from its premises together, by the solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.explain.checker.ground_form import Form
from lnnkit.explain.checker.solver_encoding import Z3, Box, SolverEncoding, TooMany

_EPS = 1e-9  # tolerance of a truth
_MILLISECONDS = 20_000


@dataclass(frozen=True)
class Completed:
    """A completed ``atom``: it is the least truth for which the ``instances`` of its rules hold, each with its lower
    truth."""

    atom: Form
    statements: Sequence[Assertion]
    instances: Sequence[tuple[Form, float]]


@dataclass(frozen=True)
class Together:
    """The premises of an exact step: bounds ``read`` of atoms and numbers, bounds ``stated`` for formulas, and
    ``completed`` atoms."""

    program: CheckedProgram
    entities: Callable[[str], Sequence[str]]
    read: Callable[[Form], Box]
    stated: Mapping[Form, Box]
    completed: Sequence[Completed]
    crisp: bool  # whether every atom is either true or false


def objection(target: Form, side: str, bound: float, together: Together) -> str | None:
    """Why the bound does not follow; None if it does."""
    try:
        import z3
    except ImportError:
        return "it can be checked with the package z3-solver alone, which is not installed"
    encoding = SolverEncoding(z3, together.program, together.entities, together.read, crisp=together.crisp)
    try:
        goal = encoding.truth(target)
        for form, box in together.stated.items():
            encoding.said += encoding.within(encoding.truth(form), box)
        for each in together.completed:
            encoding.said += _definition(encoding, each)
    except TooMany:
        return "a quantifier has too many rows to try"
    solver: Z3 = z3.Solver(ctx=encoding.context)
    solver.set("timeout", _MILLISECONDS)
    solver.add(encoding.said)
    limit, slack = encoding.number(bound), encoding.number(_EPS)
    solver.add(goal < limit - slack if side == "lower" else goal > limit + slack)
    found = str(solver.check())
    if found == "unsat":
        return None
    return "a world of its premises has another truth" if found == "sat" else "the solver could not tell in time"


def _definition(encoding: SolverEncoding, completed: Completed) -> list[Z3]:
    """The constraint that the atom is the least truth for which its rules hold; None where this is not supported."""
    needs = [_need(encoding, rule, lower) for rule, lower in completed.instances]
    if any(need is None for need in needs):
        return []
    return [encoding.truth(completed.atom) == encoding.greatest(needs)]


def _need(encoding: SolverEncoding, rule: Form, lower: float) -> Z3 | None:
    (w, v), (body, head) = rule.weights, rule.operands
    plain = (w, v, rule.bias) == (1, 1, 1) and _plain(head)
    weighted = rule.name == "lukasiewicz" and head.kind == "atom" and w > 0 and v > 0
    if not plain and not weighted:
        return None
    if lower <= 0:
        return encoding.number(0.0)
    x, least = encoding.truth(body), encoding.number(lower)
    match rule.name:
        case "lukasiewicz":  # 1 - bias + w (1 - x) + v head >= lower
            short = least - 1 + encoding.number(rule.bias) - encoding.number(w) * (1 - x)
            return encoding.clamp(short / encoding.number(v))
        case "godel":
            return encoding.least([x, least])
        case "product":
            return least * x
    return None


def _plain(head: Form) -> bool:
    """Whether a consequent is an atom, or an unweighted conjunction of atoms."""
    if head.kind == "atom":
        return True
    same = head.kind == "and" and head.bias == 1 and all(weight == 1 for weight in head.weights)
    return same and all(map(_plain, head.operands))
