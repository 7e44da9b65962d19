"""Learnable values without an initial value: the program can be trained, but not evaluated before that."""

from __future__ import annotations

from collections.abc import Iterator

from lnnkit.check.findings import warning
from lnnkit.check.learnables import in_value, starting_values
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.units import shapes_of
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

UNEVALUATED = frozenset({"untrained"})
"""Findings that a program or query is checked with as warnings, and not evaluated with."""

_ELSE = {
    "rule": "or train the program",
    "axiom": "or write `rule`: an axiom is never trained",
    "query": "or ask for it in a rule: a query learns nothing",
}


def untrained(symbols: Symbols) -> list[Diagnostic]:
    """Findings about learnable values without an initial value. Weights, biases and truths start at 1 by default;
    everything else needs one."""
    started = frozenset(starting_values(symbols))
    return [finding for formula in symbols.formulas for finding in _formula(formula, started)]


def _formula(formula: Formula, started: frozenset[str]) -> Iterator[Diagnostic]:
    for visit in formula.visits:
        node = visit.node
        if isinstance(node, ast.Learnable) and visit.role in ("term", "comparand"):
            yield from _unstarted(node, started)
        elif isinstance(node, ast.Unit | ast.Comparison):
            for attribute in node.attributes:
                for item in in_value(attribute.value):
                    yield from _unstarted(item, started)
            yield from _unlearned(node, formula.kind)


def _unstarted(item: ast.Learnable, started: frozenset[str]) -> Iterator[Diagnostic]:
    if item.initial is None and item.name not in started:
        text = item.span.text
        message = f"`{text}` has no value before it is trained"
        hint = f"give it an initial value, `{text}{'' if item.name is None else '='}1`, or train the program"
        yield warning("untrained", item.span, message, hint)


def _unlearned(node: ast.Unit | ast.Comparison, kind: str) -> Iterator[Diagnostic]:
    given = {attribute.key for attribute in node.attributes}
    shapes = shapes_of(node)
    missing = [key for key, shape in shapes.items() if shape.needed and key not in given]
    if not missing:
        return
    count = shapes[missing[0]].count
    example = f"{missing[0]}: " + ("0.5" if count is None else f"[{', '.join(['1'] * (count or len(node.operands)))}]")
    if isinstance(node, ast.Unit):
        message = f"the unit `{node.name}` has no `{missing[0]}` before it is trained"
        hint = f"give it one, `{node.span.text}{{{example}}}`, {_ELSE[kind]}"
        yield warning("untrained", node.span, message, hint)
    else:
        message = "`<?>` has no weights before it is trained"
        hint = f"give its weights, `({node.span.text}){{{example}}}`, {_ELSE[kind]}"
        yield warning("untrained-relation", node.span, message, hint)
