"""An explanation as a tree of lines, in parts that a terminal may colour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lnnkit.answer_table import TruthState, format_bounds, number_state, state_in_words, truth_state
from lnnkit.check.program import Assertion
from lnnkit.check.walk import nodes
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

RELATION = {"lower": ">=", "upper": "<="}
_ROUNDING = 1e-9
SIGNS = {"lower": "≥", "upper": "≤"}


@dataclass(frozen=True)
class ProofData:
    """Why ``atom`` has its bounds, for every renderer. ``steps`` are numbered; ``lower`` and ``upper`` are the bounds.
    ``warnings`` are those about the question."""

    proof: Proof
    alpha: float = 1.0
    contested: bool = False
    numeric: bool = False
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def atom(self) -> str:
        return self.proof.atom

    @property
    def steps(self) -> Sequence[Step]:
        return self.proof.steps

    @property
    def lower(self) -> float:
        return self._ends[0]

    @property
    def upper(self) -> float:
        return self._ends[1]

    @property
    def _ends(self) -> tuple[float, float]:
        """The bounds, swapped where rounding made them cross, as answers show them."""
        lower, upper = (self.proof.steps[number].bound for number in (self.proof.lower, self.proof.upper))
        crossed = lower > upper and math.isclose(lower, upper, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
        return (upper, lower) if crossed else (lower, upper)

    @property
    def state(self) -> TruthState:
        if self.numeric:
            return number_state(self.lower, self.upper)
        return truth_state(self.lower, self.upper, self.alpha)


@dataclass(frozen=True, slots=True)
class ProofLine:
    """A line: ``rails`` draw the tree; ``conclusion`` and ``reason`` are its text."""

    rails: str = ""
    conclusion: str = ""
    reason: str = ""

    @property
    def plain(self) -> str:
        gap = "   " if self.conclusion and self.reason else ""
        return f"{self.rails}{self.conclusion}{gap}{self.reason}".rstrip()


def lines(explanation: ProofData, depth: int | None = None) -> Iterator[ProofLine]:
    """The bounds, then the tree of each informative side, then the statements used."""
    bounds = format_bounds(explanation.lower, explanation.upper)
    state = state_in_words(explanation.state, explanation.contested)
    yield ProofLine(conclusion=f"{explanation.atom}  {bounds}  {state}")
    repeated, lasts = explanation.proof.repeated(), list[bool]()
    marks: dict[int, int] = {}
    used: dict[int, Assertion] = {}
    for visit in filter(None, explanation.proof.walk(depth)):
        step = explanation.steps[visit.number]
        if visit.level == 0:
            yield ProofLine()
        lasts[visit.level :] = [visit.last]
        rails = "".join("   " if last else "│  " for last in lasts[1:-1])
        rails += ("└─ " if visit.last else "├─ ") if visit.level else ""
        if visit.again:
            yield ProofLine(rails, claimed(step, visit.weight), f"see ({marks[visit.number]})")
            continue
        reason = because(step) + ("" if visit.opens else left_out(step))
        if visit.number in repeated and step.premises:
            marks[visit.number] = len(marks) + 1
            reason += f"  ({marks[visit.number]})"
        yield ProofLine(rails, claimed(step, visit.weight), reason)
        used |= {id(rule): rule for rule in (step.statement, *step.rules) if rule is not None and id(rule) not in used}
    if used:
        yield ProofLine()
        yield ProofLine(conclusion="by")
    for statement in used.values():
        yield ProofLine("  ", statement.text, f"{statement.span.source.path}:{statement.span.line}")


def claimed(step: Step, weight: float, relation: Mapping[str, str] = RELATION) -> str:
    """What a step says, with the weight of the operand that it bounds."""
    scale = "" if weight == 1 else f" @{weight:g}"
    return f"{set_apart(step.conclusion, step.atom)} {relation[step.side]} {format_bound(step.bound)}{scale}"


def left_out(step: Step) -> str:
    """The remark on premises that are not shown."""
    return f", resting on {len(step.premises)} more" if step.premises else ""


def set_apart(formula: ast.Expression, text: str) -> str:
    """The text of a formula; comparisons in parentheses, so that their operator is not taken for that of the bound."""
    return f"({text})" if any(isinstance(node, ast.Comparison) for node in nodes(formula)) else text


def because(step: Step) -> str:
    """The reason of a step, as text."""
    match step.reason:
        case "fact":
            assert step.given is not None
            kind = "axiom" if step.given.text.startswith("axiom") else "fact"  # an axiom without antecedent
            trust = "" if step.given.trust == 1 else f", trust {format_bound(step.given.trust)}"
            return f"{kind}, {step.given.file}:{step.given.row}{trust}"
        case "contradiction" if step.statement is None:
            return "its truth contradicts that of its operands"
        case "closed":
            return f"{_others(step)}no fact, and the predicate is closed"
        case "open":
            return "nothing says more"
        case "completed" if free_names(step.conclusion):
            return f"{_others(step)}no rule makes it truer"
        case "completed":
            if not step.premises and step.bound == 0:
                return "no rule concludes it, and the predicate is closed"
            return f"no rule makes it truer{'' if step.all_seen else ' (the list of unmet premises is incomplete)'}"
        case "exact":
            completed = [format_expression(atom) for atom in step.completes]
            if not completed:
                return "exact: these together allow no other bound"
            rules = ", ".join(f"{rule.span.source.path}:{rule.span.line}" for rule in step.rules)
            which = f"{', '.join(completed)} as true as rules make {'it' if len(completed) == 1 else 'them'}"
            return f"exact: these together allow no other bound, {which} ({rules})"
        case "neuron":
            assert step.formula is not None
            return "by its operands" if step.conclusion == step.formula else f"in {format_expression(step.formula)}"
    bindings = ", ".join(f"{name} = {value}" for name, value in step.bindings.items())
    if step.statement is None:
        said = "a formula"
    else:
        span = step.statement.span
        said = f"{step.statement.kind} {step.statement.name or ''}".rstrip() + f", {span.source.path}:{span.line}"
    return f"{said}{f' ({bindings})' if bindings else ''}"


def _others(step: Step) -> str:
    names = free_names(step.conclusion)
    return f"for any other {' and '.join(names)}: " if names else ""


def free_names(conclusion: ast.Expression) -> list[str]:
    """The variables of a conclusion that holds for many atoms."""
    if not isinstance(conclusion, ast.Atom):
        return []
    return [argument.name for argument in conclusion.arguments if isinstance(argument, ast.Variable)]


def format_bound(value: float) -> str:
    """A bound to six digits; printed as 0 or 1 only if it is exactly that."""
    return format_bounds(value, value)[1:].partition(",")[0]
