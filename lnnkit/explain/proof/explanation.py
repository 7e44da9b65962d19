"""An explanation: the proof of an atom's bounds, to print, export and check; as a tree of lines that a terminal may
colour, as JSON, as HTML (a tree that folds), and as boxes and arrows."""

from __future__ import annotations

import itertools
import math
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lnnkit.answer_table import Answer, TruthState, finite, format_bound, format_bounds, state_in_words
from lnnkit.check.program import Assertion
from lnnkit.check.walk import nodes
from lnnkit.explain.checker.proof_checker import faults
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.proof.proof import GivenFact, Proof, Step
from lnnkit.markup.pages import FoldingTree, TreeLine, TreePage
from lnnkit.picture.picture import Arrow, Box, Picture
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

RELATION = {"lower": ">=", "upper": "<="}
SIGNS = {"lower": "≥", "upper": "≤"}
_ROUNDING = 1e-9
_NESTED = 100  # nested steps in one JSON value: JSON readers recurse
_LEGEND = '<b class="lower">≥</b> lower bounds, <b class="upper">≤</b> upper bounds; each rests on those within it.'
_OPEN = 3  # levels that are unfolded at first
_GIVEN = ("fact", "closed", "open", "stated")
_WIDTH = 44  # greatest length of a line in a box
_INDENTED = 9  # levels that are indented: on a telephone, more of them leave no room for words


class ProofLine(NamedTuple):
    """A line: ``rails`` draw the tree; ``conclusion`` and ``reason`` are its text."""

    rails: str = ""
    conclusion: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Explanation(TreePage):
    """Why ``atom`` has its bounds, ``lower`` and ``upper``, by numbered ``steps``; ``warnings`` concern the question.
    It prints as a tree in which a repeated step is shown once; ``as_dict`` is for JSON, ``to_dot`` for Graphviz,
    ``to_html`` gives a self-contained page. ``verify`` recomputes every step from the program's text alone."""

    proof: Proof
    alpha: float = 1.0
    contested: bool = False
    numeric: Numeric = False
    warnings: tuple[Diagnostic, ...] = ()
    _world: Callable[[], ProofWorld] | None = field(default=None, repr=False)
    _others: Callable[[], Iterator[Proof]] | None = field(default=None, repr=False)

    @property
    def atom(self) -> str:
        return self.proof.atom

    @property
    def steps(self) -> Sequence[Step]:
        return self.proof.steps

    @property
    def lower(self) -> float:
        return self._bounds[0]

    @property
    def upper(self) -> float:
        return self._bounds[1]

    @property
    def _bounds(self) -> tuple[float, float]:
        """The bounds, swapped where rounding made them cross, as answers show them; unknown without a value."""
        lower, upper = (self.proof.steps[number].bound for number in (self.proof.lower, self.proof.upper))
        if self.numeric and lower == math.inf:
            return -math.inf, math.inf
        crossed = lower > upper and math.isclose(lower, upper, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
        return (upper, lower) if crossed else (lower, upper)

    @property
    def state(self) -> TruthState:
        return Answer({}, *self._bounds, alpha=self.alpha, numeric=self.numeric).state

    def facts(self) -> list[GivenFact]:
        """The facts that its bounds rest on, each once, in the order in which the proof names them."""
        given = (self.steps[visit.number].given for visit in self.proof.walk() if visit is not None)
        return list(dict.fromkeys(fact for fact in given if fact is not None))

    def derivations(self, most: int = 10) -> list[Explanation]:
        """This explanation, and others of the same atom, ``most`` in all: in each of them another instance gives its
        lower or its upper bound. Each verifies. Raises ``ValueError`` unless ``most`` is a positive whole number."""
        if not isinstance(most, int) or most < 1:
            raise ValueError(f"most must be a positive whole number; got {most!r}")
        proofs = self._others() if self._others is not None else ()
        several = (replace(self, proof=proof, _others=None) for proof in proofs)
        verified = (one for one in several if not one.verify())
        return [self, *itertools.islice(verified, min(most, sys.maxsize) - 1)]

    def verify(self) -> list[str]:
        """The faults found by the proof checker; empty if the proof holds."""
        assert self._world is not None
        return faults(self.proof, self._world())

    def as_dict(self, depth: int | None = None) -> dict[str, object]:
        """The object that ``lnnkit explain --format json`` prints; steps deeper than ``depth`` are left out. ``{"atom",
        "state", "contested", "lower": NODE, "upper": NODE}``. A NODE has ``atom``, ``side``, ``bound``, ``reason``,
        ``rule``, ``text``, ``file``, ``line``, ``bindings`` and ``premises`` (NODEs, with the ``weight`` of the
        operand); a fact has ``fact``, ``file``, ``row``, ``trust``; an exact step the atoms that are ``completed``, and
        the ``rules`` that do so (``text``, ``file``, ``line``). A step that is used again has an ``id``; a NODE that
        has only ``ref`` refers to it. Very deep steps are in a list ``more``."""
        nested = _nested(self.proof, depth)
        return {"atom": nested["atom"], "state": self.state, "contested": self.contested} | nested

    def to_dot(self, depth: int | None = None) -> str:
        """A graph for Graphviz: arrows lead from premises to conclusions."""
        return _drawing(self.proof, depth).to_dot()

    def _tree(self, depth: int | None = None) -> FoldingTree:
        from markupsafe import Markup

        said = f"{format_bounds(*self._bounds, self.numeric)} {state_in_words(self.state, self.contested)}"
        return FoldingTree(self.atom, said, _tree_lines(self.proof, depth), above=[Markup(_LEGEND)])

    def lines(self, depth: int | None = None) -> Iterator[ProofLine]:
        """The bounds, then the tree of each informative side, then the statements used."""
        state = state_in_words(self.state, self.contested)
        yield ProofLine(conclusion=f"{self.atom}  {format_bounds(*self._bounds, self.numeric)}  {state}")
        repeated, lasts = self.proof.repeated(), list[bool]()
        marks: dict[int, int] = {}
        used: dict[int, Assertion] = {}
        for visit in filter(None, self.proof.walk(depth)):
            step = self.steps[visit.number]
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
            used |= {id(rule): rule for rule in (step.statement, *step.rules) if rule is not None}
        yield from (ProofLine(), ProofLine(conclusion="by")) if used else ()
        for statement in used.values():
            yield ProofLine("  ", statement.text, statement.place)

    def text(self, depth: int | None = None) -> str:
        """The tree, as ``lnnkit explain`` prints it."""
        said = ((rails, "   ".join(filter(None, (claim, reason)))) for rails, claim, reason in self.lines(depth))
        return "\n".join(f"{rails}{text}".rstrip() for rails, text in said)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def claimed(step: Step, weight: float, relation: Mapping[str, str] = RELATION) -> str:
    """What a step says, with the weight of the operand that it bounds."""
    scale = "" if weight == 1 else f" @{weight:g}"
    if step.reason in ("closed", "candidates") and math.isinf(step.bound):
        return f"{set_apart(step.conclusion, step.atom)} has no value"
    bound = format_bound(step.bound, step.numeric)
    return f"{set_apart(step.conclusion, step.atom)} {relation[step.side]} {bound}{scale}"


def left_out(step: Step) -> str:
    """The remark on premises that are not shown."""
    return f", resting on {len(step.premises)} more" if step.premises else ""


def set_apart(formula: ast.Expression, text: str) -> str:
    """The text of a formula; in parentheses where an operator in it could be taken for that of the bound."""
    compares = any(isinstance(node, ast.Comparison | ast.Aggregate) for node in nodes(formula))
    return f"({text})" if compares else text


def because(step: Step) -> str:
    """The reason of a step, as text."""
    match step.reason:
        case "fact":
            assert step.given is not None
            kind = "axiom" if step.given.text.startswith("axiom") else "fact"  # an axiom without antecedent
            trust = "" if step.given.trust == 1 else f", trust {format_bound(step.given.trust)}"
            return f"{kind}, {step.given.place}{trust}"
        case "contradiction" if step.statement is None:
            return "its truth contradicts that of its operands"
        case "closed":
            return f"{_others(step)}no fact, and the {'number' if math.isinf(step.bound) else 'predicate'} is closed"
        case "open":
            return "nothing says more"
        case "candidates":
            better = "there" if math.isinf(step.bound) else "less" if step.side == "lower" else "greater"
            return f"{_others(step)}no candidate is {better}{_unseen(step)}"
        case "completed" if free_names(step.conclusion):
            return f"{_others(step)}no rule makes it truer"
        case "completed":
            if not step.premises and step.bound == 0:
                return "no rule concludes it, and the predicate is closed"
            return f"no rule makes it truer{_unseen(step)}"
        case "exact":
            completed = [format_expression(atom) for atom in step.completes]
            if not completed:
                return "exact: these together allow no other bound"
            rules = ", ".join(rule.place for rule in step.rules)
            which = f"{', '.join(completed)} as true as rules make {'it' if len(completed) == 1 else 'them'}"
            return f"exact: these together allow no other bound, {which} ({rules})"
        case "neuron":
            assert step.formula is not None
            return "by its operands" if step.conclusion == step.formula else f"in {format_expression(step.formula)}"
    bindings = ", ".join(f"{name} = {value}" for name, value in step.bindings.items())
    said = "a formula" if step.statement is None else f"{heading(step.statement)}, {step.statement.place}"
    return f"{said}{f' ({bindings})' if bindings else ''}"


def heading(statement: Assertion) -> str:
    """The kind of a statement, and its name."""
    return f"{statement.kind} {statement.name or ''}".rstrip()


def statement_fields(statement: Assertion) -> dict[str, object]:
    """What JSON says of a statement."""
    span = statement.span
    return {"rule": statement.name, "text": statement.text, "file": span.source.path, "line": span.line}


def _unseen(step: Step) -> str:
    return "" if step.all_seen else " (the list of unmet premises is incomplete)"


def _others(step: Step) -> str:
    names = free_names(step.conclusion)
    return f"for any other {' and '.join(names)}: " if names else ""


def free_names(conclusion: ast.Expression) -> list[str]:
    """The variables of a conclusion that holds for many atoms."""
    if not isinstance(conclusion, ast.Atom):
        return []
    return [argument.name for argument in conclusion.arguments if isinstance(argument, ast.Variable)]


def _nested(proof: Proof, depth: int | None) -> dict[str, object]:
    """The steps as nested dictionaries. Each step is written once: where it occurs again, ``ref`` names it, and steps
    more than `_NESTED` levels deep stand in the list ``more``."""
    repeated, written = proof.repeated(), set[int]()
    ends: list[dict[str, object]] = []
    more: list[dict[str, object]] = []
    enclosing = [ends]  # the lists of premises that are open at a visit
    for visit in proof.walk(depth):
        if visit is None:
            enclosing.pop()
            continue
        number, step = visit.number, proof.steps[visit.number]
        claim: dict[str, object] = {"atom": step.atom, "side": step.side, "bound": finite(step.bound, step.numeric)}
        node = claim | ({"weight": visit.weight} if visit.level else {})
        enclosing[-1].append(node)
        deep = visit.level > 0 and visit.level % (_NESTED + 1) == 0
        if number in written or deep:
            node["ref"] = number
        if number in written:
            continue
        written.add(number)
        if deep:
            more.append(node := claim)
        node |= ({"id": number} if deep or number in repeated else {}) | _step_fields(step)
        if step.given is None:
            premises: list[dict[str, object]] = []
            omitted = {"omitted": len(step.premises)} if step.premises and not visit.opens else {}
            node |= omitted | {"premises": premises}
            enclosing += [premises] if visit.opens else []
    if len(ends) == 1:
        ends.append({key: ends[0][key] for key in ("atom", "side", "bound")} | {"ref": proof.upper})
    fields: dict[str, object] = {"atom": proof.atom, "lower": ends[0], "upper": ends[1]}
    return fields | {"more": more} if more else fields


def fact_fields(given: GivenFact) -> dict[str, object]:
    """What JSON says of a fact."""
    return {"fact": given.text, "file": given.file, "row": given.row, "trust": given.trust}


def _step_fields(step: Step) -> dict[str, object]:
    """The fields of a node that concern its step alone."""
    if step.given is not None:
        return {"reason": "fact"} | fact_fields(step.given)
    entry: dict[str, object] = {"reason": step.reason, "rule": None, "text": None, "file": None, "line": None}
    if step.statement is not None:
        entry |= statement_fields(step.statement)
    if not step.all_seen:
        entry["all_seen"] = False
    if step.reason == "exact":
        entry["completed"] = [format_expression(atom) for atom in step.completes]
        rules = map(statement_fields, step.rules)
        entry["rules"] = [{key: fields[key] for key in ("text", "file", "line")} for fields in rules]
    return entry | {"bindings": dict(step.bindings)}


def _tree_lines(proof: Proof, depth: int | None) -> Iterator[TreeLine]:
    repeated = proof.repeated()
    key = f"lnn-{zlib.crc32(proof.atom.encode()):x}"  # A notebook may show several.
    for visit in proof.walk(depth):
        if visit is None:
            yield TreeLine("close")
            continue
        number, level, step = visit.number, visit.level, proof.steps[visit.number]
        claim, code = claimed(step, visit.weight, SIGNS), "" if step.statement is None else step.statement.text
        anchor = f"{key}-{number}" if number in repeated and step.premises else ""
        if visit.opens:
            opened, deep = level < _OPEN, level >= _INDENTED
            yield TreeLine("open", claim, because(step), code, step.side, opened, deep, anchor)
        elif visit.again:
            yield TreeLine("leaf", claim, because(step), code, step.side, to=anchor)
        else:
            yield TreeLine("leaf", claim, because(step) + left_out(step), code, step.side, anchor=anchor)


def _drawing(proof: Proof, depth: int | None) -> Picture:
    """A box for each step no more than ``depth`` from an end; arrows lead from premises to conclusions."""
    steps, levels = proof.steps, dict.fromkeys(proof.ends, 0)
    queue, arrows = list(levels), list[Arrow]()
    for number in queue:
        if depth is None or levels[number] < depth:
            premises = steps[number].premises
            arrows += [Arrow(str(premise.step), str(number), premise.weight) for premise in premises]
            fresh = dict.fromkeys((p.step for p in premises if p.step not in levels), levels[number] + 1)
            levels |= fresh
            queue += fresh
    return Picture(proof.atom, [_box(number, steps[number]) for number in levels], arrows)


def _box(number: int, step: Step) -> Box:
    lines = tuple(line for text in (claimed(step, 1.0), because(step)) for line in textwrap.wrap(text, _WIDTH))
    note = "" if step.statement is None else step.statement.text
    return Box(str(number), "fact" if step.reason in _GIVEN else "atom", lines, note=note)
