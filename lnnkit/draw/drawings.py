"""What pictures show: a program's predicates, rules and axioms, or its formulas, connective by connective; and the
neighbourhood of an atom, the atoms and instances that its bounds depend on. `lnnkit.picture` draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import networkx as nx

from lnnkit.answer_table import Answer, formatter, state_in_words
from lnnkit.check.program import Assertion, CheckedFormula, CheckedProgram, SameEntity
from lnnkit.check.walk import children, with_signs
from lnnkit.explain.proof.explanation import because, free_names
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.graph.describe import derived_by
from lnnkit.graph.lifted import COMPARISON, NUMBER, TERMS, LiftedGraph
from lnnkit.markup.pages import counted, shortened
from lnnkit.picture.picture import Arrow, Box, Picture
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import TIMED
from lnnkit.syntax.printer import format_expression, format_sorts

_LETTERS = 28  # greatest length of a comparison's or term's text
_SHOWN = 40  # characters of a line about an atom or an instance
_COMPLETED = {"completed": "no rule makes it truer", "candidates": "no candidate is better"}
_SYMBOLS = {
    "and": "∧", "or": "∨", "implies": "→", "iff": "↔", "xor": "⊕", "not": "¬", "forall": "∀", "exists": "∃",
    "add": "+", "subtract": "−", "multiply": "×", "divide": "÷", "power": "^", "true": "⊤", "false": "⊥",
}  # fmt: skip

T = TypeVar("T")


def predicate_graph(program: CheckedProgram, title: str, centre: str | None, most: int) -> Picture:
    """A box for each predicate and number, and one for each rule and axiom; if ``centre`` is given or there are more
    than ``most``, only those nearest to that predicate.

    Arrows lead from an implication's antecedent to its consequent. A statement of another form bounds each of its atoms
    by the others: its arrows have two heads. (An implication does too: a false consequent bounds the antecedent from
    above. That is left out of the picture.)
    """
    statements = _named([assertion for assertion in program.assertions if assertion.kind != "law"])
    arrows: dict[Arrow, None] = {}
    for name, assertion in statements.items():
        premises, conclusion = _sides(assertion.formula)
        if (derived := derived_by(assertion, program.predicates)) is not None:
            premises, conclusion = [derived.aggregate], derived.head
        for part in premises:
            arrows |= dict.fromkeys(Arrow(predicate, name, negative=negative) for predicate, negative in _atoms(part))
        for predicate, negative in _atoms(conclusion):
            arrows[Arrow(name, predicate, negative=negative, both=not premises)] = None

    def box(name: str) -> Box:
        return _statement(name, statements[name]) if name in statements else _predicate(program, name)

    return _nearest(title, [*program.predicates, *statements], [*arrows], box, centre, most)


def syntax_graph(lifted: LiftedGraph, title: str, centre: str | None, most: int) -> Picture:
    """All of the graph, if it has ``most`` boxes or fewer; else those nearest to the predicate ``centre``."""
    nodes, statements = lifted.graph.nodes, _named(lifted.statements)
    arrows = [
        Arrow(operand, node, edge["weight"], negative=not place and nodes[node]["kind"] in ("not", "implies"))
        for node, operands in lifted.graph.operands.items()
        for place, (operand, edge) in enumerate(operands)
        if nodes[node]["stated"] and nodes[operand]["stated"]
    ]
    arrows += [Arrow(root.reference.node, name) for name, root in statements.items()]
    joined = {end for arrow in arrows for end in (arrow.source, arrow.target)}

    def box(name: str) -> Box:
        if name not in statements:
            return _node(name, nodes[name])
        origin, *ends = statements[name].origin, statements[name].lower, statements[name].upper
        assert isinstance(origin, Assertion)
        return _statement(name, origin, *([] if ends == [1.0, 1.0] else ["in [{:g}, {:g}]".format(*ends)]))

    return _nearest(title, [*(node for node in nodes if node in joined), *statements], arrows, box, centre, most)


def _nearest(
    title: str, names: Sequence[str], arrows: Sequence[Arrow], box: Callable[[str], Box], centre: str | None, most: int
) -> Picture:
    """The picture of all that is named, or if ``centre`` is given or that is more than ``most``, of those nearest to
    it, or to what has most neighbours. What no path connects with it comes last, by its neighbours."""
    kept = set(names)
    if centre is not None or len(names) > most:
        graph = nx.Graph()
        graph.add_nodes_from(names)
        graph.add_edges_from((arrow.source, arrow.target) for arrow in arrows)
        kept = set[str]()
        for start in [centre] if centre in graph else sorted(names, key=graph.degree, reverse=True):
            if start not in kept and len(kept) < most:
                kept |= set(islice(chain.from_iterable(nx.bfs_layers(graph, start)), most - len(kept)))
    boxes = [box(name) for name in names if name in kept]
    drawn = [arrow for arrow in arrows if arrow.source in kept and arrow.target in kept]
    return Picture(title, boxes, drawn, len(names) - len(kept))


def _named(statements: Sequence[T]) -> dict[str, T]:
    """Each statement by the name of its box, which no predicate or neuron has."""
    return {f"\0{number}": statement for number, statement in enumerate(statements)}


def _sides(formula: CheckedFormula) -> tuple[list[CheckedFormula], CheckedFormula]:
    """The antecedents and the consequent of an implication, without the quantifiers and weights around it."""
    premises: list[CheckedFormula] = []
    while isinstance(formula, ast.Implies | ast.Weighted | ast.Quantifier):
        *antecedents, formula = children(formula)
        premises += antecedents
    return premises, formula


def _atoms(formula: CheckedFormula) -> Iterator[tuple[str, bool]]:
    """The names of its predicates and numbers, each with whether it stands under an odd number of negations. Without
    recursion: formulas may be nested deep."""
    stack: list[tuple[CheckedFormula, int]] = [(formula, 1)]
    while stack:
        node, sign = stack.pop()
        if isinstance(node, ast.Atom):
            yield node.name, sign < 0
        elif not isinstance(node, SameEntity):
            stack += reversed(with_signs(node, sign))


def _predicate(program: CheckedProgram, name: str) -> Box:
    predicate = program.predicates[name]
    facts = sum(fact.predicate == name for fact in program.facts)
    facts += sum(len(table) for table in program.tables if table.predicate == name)
    details = filter(None, ("closed" if predicate.closed else "", counted(facts, "fact") if facts else ""))
    shown = f"{name}{format_sorts(predicate.sorts)}"
    lines = tuple(filter(None, (shown, ", ".join(details))))
    return Box(name, "predicate", lines, "number" if predicate.numeric else None, note=shown)


def _statement(name: str, assertion: Assertion, *more: str) -> Box:
    return Box(name, "statement", (f"{assertion.kind} {assertion.called}", *more), note=assertion.text)


def _node(name: str, data: Mapping[str, Any]) -> Box:
    """The box of a predicate, number, neuron or term, by its attributes (`lnnkit.graph.lifted`)."""
    kind: str = data["kind"]
    if kind in ("predicate", NUMBER):
        lines = (name, "closed") if data.get("closed") else (name,)
        return Box(name, "predicate", lines, note=f"{name}{format_sorts(data['sorts'])}")
    written = data["span"].on_one_line
    if kind == "same":
        symbol = " = ".join(f"X{a}" if isinstance(a, int) else a for a in data["arguments"])
    elif kind in (COMPARISON, *TERMS) and len(written) <= _LETTERS:
        symbol = written
    else:
        symbol = str(data["operator"]) if kind == COMPARISON else _SYMBOLS.get(kind, kind.removeprefix(TIMED))
    bias = data.get("bias", 1.0)
    return Box(name, "connective", (symbol, f"bias {bias:g}") if bias != 1.0 else (symbol,), note=written)


# --- the neighbourhood of an atom -------------------------------------------------------------------------------------


def neighbourhood(
    proof: Proof,
    bounds: Callable[[ast.Expression], tuple[float, float] | None],
    alpha: float,
    depth: int,
    most: int,
) -> Picture:
    """Atoms with their ``bounds``, and between them the instances that set them, up to ``depth`` instances away. An
    uninformative side is left out with everything behind it."""
    steps, boxes, arrows = proof.steps, dict[str, Box](), dict[tuple[str, str], Arrow]()

    def default(step: Step) -> tuple[float, float]:
        """The bounds of a number, or of a truth, of which nothing is known."""
        return (-math.inf, math.inf) if step.numeric else (0.0, 1.0)

    def tells(step: Step) -> bool:
        return step.bound != default(step)[step.side == "upper"]

    def atom(step: Step) -> str:
        """The name of the box of a step's conclusion. Without ``bounds``, the step's bound is the only one known."""
        if step.atom in boxes:
            return step.atom
        low, high = default(step)
        known = bounds(step.conclusion) or ((step.bound, high) if step.side == "lower" else (low, step.bound))
        state = Answer({}, *known, alpha=alpha, numeric=step.numeric).state
        words = "" if step.numeric else f"  {state_in_words(state, False)}"
        lines = [shortened(step.atom, _SHOWN), f"{formatter(step.numeric)(*known)}{words}"]
        if names := free_names(step.conclusion):
            lines.append(f"for any other {' and '.join(names)}")
        boxes[step.atom] = Box(step.atom, "atom", tuple(lines), state, note=step.atom)
        return step.atom

    away = dict.fromkeys([end for end in proof.ends if tells(steps[end])] or proof.ends, 0)
    queue, left_out = list(away), 0
    for number in queue:
        step = steps[number]
        below = [premise for premise in step.premises if tells(steps[premise.step])]
        full = away[number] >= depth or len(boxes) + len(below) >= most
        target = atom(step)
        if not step.premises:
            source = _source(step)
            if source and source not in boxes[target].lines:
                boxes[target] = replace(boxes[target], kind="fact", lines=(*boxes[target].lines, source))
        elif below and full:
            left_out += len(below)
        else:
            instance = _instance(step)
            boxes.setdefault(instance.name, instance)
            arrows.setdefault((instance.name, target), Arrow(instance.name, target))
            for premise in below:
                source, negative = atom(steps[premise.step]), steps[premise.step].side == "upper"
                arrows.setdefault((source, instance.name), Arrow(source, instance.name, premise.weight, negative))
            fresh = dict.fromkeys((premise.step for premise in below if premise.step not in away), away[number] + 1)
            away |= fresh
            queue += fresh
    return Picture(proof.atom, list(boxes.values()), list(arrows.values()), left_out)


def _source(step: Step) -> str:
    """The source of a bound without premises."""
    if step.given is not None:
        return f"{Path(step.given.file).name}:{step.given.row}"
    if step.statement is not None:
        return f"{step.statement.kind} {step.statement.called}"
    return {"closed": "no fact, closed", **_COMPLETED}.get(step.reason, "")


def _instance(step: Step) -> Box:
    """The box of the instance that derived a bound."""
    if step.reason in _COMPLETED:
        name, lines = f"completed {step.atom}", (_COMPLETED[step.reason],)
    elif step.statement is not None:
        bindings = ", ".join(f"{name} = {value}" for name, value in step.bindings.items())
        name = f"{step.statement.place} {dict(step.bindings)}"
        lines = (f"{step.statement.kind} {step.statement.called}", shortened(bindings, _SHOWN))
    else:
        shown = step.reason if step.formula is None else format_expression(step.formula)
        name = f"{step.reason} {shown}"
        lines = ("by its operands" if step.conclusion == step.formula else shortened(shown, _SHOWN),)
    note = because(step) if step.statement is None else step.statement.text
    return Box(name, "statement", tuple(filter(None, lines)), note=note)
