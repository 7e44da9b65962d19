"""Distinguishes truth values, numbers and entities, for which the grammar has one syntax.

Formulas have truth values, operands of arithmetic are numbers, and a comparison is between numbers or, with ``=`` and
``!=``, between entities. Where one kind stands in the place of another it is reported once, and not again for the nodes
below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from lnnkit.check.date_terms import is_dated
from lnnkit.check.entity_names import known
from lnnkit.check.findings import did_you_mean, error, name_span, nearest, short, signature, text_function
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.walk import Scope, Visit, nodes
from lnnkit.data.numerals import TRUTHS
from lnnkit.syntax import ast, identifiers
from lnnkit.syntax.dates import date_as_number, date_hint, is_date
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_expression, format_predicate
from lnnkit.syntax.rewrite import aggregate_message

ExpressionKind = Literal["number", "truth", "entity", "unknown"]


def kinds(symbols: Symbols) -> Iterator[Diagnostic]:
    silenced: set[int] = set()  # nodes below a finding
    for formula, visit in symbols.visits():
        node, finding = visit.node, None
        if id(visit.parent) in silenced:
            silenced.add(id(node))
            continue
        if visit.role != "comparand":
            finding = (_as_term if visit.role == "term" else _as_formula)(visit, symbols)
        if finding is None and isinstance(node, ast.Comparison):
            finding = _comparison(node, visit, formula, symbols)
        if finding is not None:
            silenced.add(id(node))
            yield finding


def is_numeric(node: ast.Expression, symbols: Symbols, scope: Scope) -> bool:
    """Whether an expression is a numeric term, by its form or by its name (if no quantifier binds that name)."""
    if not isinstance(node, ast.Atom):
        return isinstance(node, ast.NumericNode)
    return node.name in symbols.numbers and (bool(node.arguments) or node.name not in scope)


def may_be_numeric(node: ast.Expression, symbols: Symbols, scope: Scope) -> bool:
    """Whether an expression is a numeric term, or a name that a statement with an error may declare as a number."""
    if isinstance(node, ast.Atom) and node.arguments and node.name not in symbols.declared:
        return symbols.doubtful(node.name)
    return is_numeric(node, symbols, scope)


def compares_numbers(visit: Visit, symbols: Symbols) -> bool:
    """Whether a node is a comparison of numbers; a comparison of entities has no numeric operand."""
    node = visit.node
    return isinstance(node, ast.Comparison) and any(is_numeric(side, symbols, visit.scope) for side in node.operands)


# --- where a truth value is asked for -------------------------------------------------------------------------------


def _as_formula(visit: Visit, symbols: Symbols) -> Diagnostic | None:
    node, span, scope = visit.node, visit.node.span, visit.scope
    match node:
        case ast.Entity():
            message = f"the string {span.text} is an entity, which is neither true nor false"
            return error("entity-as-formula", span, message, f"write an atom about it: `P({span.text})`")
        case ast.Number() | ast.Learnable() if visit.role == "query":
            message = f"`{span.text}` is a constant, which cannot be queried"
            return error("number-as-formula", span, message, "query a number of an entity: `query age(X)`")
        case ast.Number() | ast.Learnable():
            truth = span.text if isinstance(node, ast.Number) and 0 <= node.value <= 1 else "0.8"
            hint = f"a weight is written `P(X)@{span.text}`, the truth of a statement `in [{truth}, 1]` at its end"
            return _not_a_formula(span, span.text, hint)
        case ast.Arithmetic("^", ast.Atom() as base, ast.Number() as power) if not may_be_numeric(base, symbols, scope):
            # in other languages `P(X)^2` weighs a rule
            message = f"`^` is the power of numbers, but the base of `{short(node)}` is not a number"
            hint = "an operand's weight is `@2`, a statement's truth `in [0.8, 1]`"
            return error("truth-as-number", span, message, f"leave out `^{short(power)}`; {hint}")
        case ast.Negate() if span.source.text[span.start - 1 : span.start + 1] == "|-":  # parsed as `P(X) | -Q(X)`
            turnstile = Span(span.source, span.start - 1, span.start + 1)
            return error("broken-arrow", turnstile, "`|-` is not an operator", "write `->`")
        case ast.Arithmetic() | ast.Negate() | ast.Function() | ast.Unit() | ast.UnknownFunction():
            outside = nodes(node, lambda part: not isinstance(part, ast.Aggregate))
            atoms = (leaf for leaf in outside if isinstance(leaf, ast.Atom))
            if truth := next((atom for atom in atoms if _is_truth(atom, visit, symbols)), None):
                return _arithmetic_on_truth(node, truth)
            return None if visit.role == "query" else _not_a_formula(span, short(node), _comparing(visit, symbols))
        case ast.Aggregate():
            hint, inner = f"compare it: `({short(node)}) > 0`", node.operands[-1]
            atoms = inner.operands if isinstance(inner, ast.Comparison) else ()  # `P(Y) > 1` is reported there
            within = any(isinstance(atom, ast.Atom) and _is_truth(atom, visit, symbols) for atom in atoms)
            return None if visit.role == "query" or within else _not_a_formula(span, short(node), hint)
        case ast.Atom() if node.name in symbols.numbers and visit.role == "formula" and node.name not in visit.scope:
            return _not_a_formula(name_span(node), node.name, _comparing(visit, symbols))
    return None


def _not_a_formula(span: Span, number: str, hint: str) -> Diagnostic:
    return error("number-as-formula", span, f"`{number}` is a number, and a formula is true or false", hint)


def _comparing(visit: Visit, symbols: Symbols) -> str:
    """A hint how to turn a number into a formula; `=>` before another number was meant as `>=`."""
    parent, node = visit.parent, visit.node
    if isinstance(parent, ast.Implies) and node is parent.antecedent:
        source, other = node.span.source.text, parent.consequent
        first = other.antecedent if isinstance(other, ast.Implies) else other
        if source[node.span.end : other.span.start].strip() in ("=>", "⇒"):
            return f"`=>` is implication; at least is `>=`: `{short(node)} >= {short(first)}`"
    if isinstance(node, ast.Negate) and isinstance(node.operand, ast.Atom):
        return f"a negation is `~{short(node.operand)}`; a number is compared: `{short(node)} > 0`"
    threshold = 'date "2024-01-15"' if is_dated(node, symbols.dates) else "0"
    return f"compare it: `{short(node)} > {threshold}`"


_WORDS = {
    "^": "`^` is the power of numbers; write `&` for and",
    "*": "a weight is written `P(X)@0.8`; write `&` for and",
    "+": "`+` adds numbers; write `|` for or",
    "-": "`-` subtracts numbers; write `~` for not",
    "/": "`/` divides numbers",
}


def _arithmetic_on_truth(node: ast.Expression, atom: ast.Atom) -> Diagnostic:
    name = atom.name
    operator = node.operator if isinstance(node, ast.Arithmetic) else "-" if isinstance(node, ast.Negate) else None
    what = f"`{operator}`" if operator else f"`{node.name}`" if isinstance(node, ast.Function | ast.Unit) else "this"
    message = f"{what} takes numbers, but `{name}` is a truth value"
    hint = _weights(node) or _WORDS[operator] if operator else f"declare `number {_signature(atom)}` if it is a number"
    return error("truth-as-number", atom.span if operator is None else node.span, message, hint)


def _weights(node: ast.Expression) -> str | None:
    """How to weigh the operands of a sum of truths: `0.5 * P(X) + 0.5 * Q(X)`."""
    terms: list[str] = []
    stack = [node]
    while stack:
        match stack.pop():
            case ast.Arithmetic(operator="+", left=left, right=right):
                stack += [right, left]
            case ast.Arithmetic(operator="*", left=ast.Number() as weight, right=ast.Atom() as atom):
                terms.append(f"{short(atom)}@{weight.span.text}")
            case _:
                return None
    return f"weights follow their operands: write `({' & '.join(terms)})`" if len(terms) > 1 else None


# --- where a number is asked for ------------------------------------------------------------------------------------


def _as_term(visit: Visit, symbols: Symbols) -> Diagnostic | None:
    node = visit.node
    if may_be_numeric(node, symbols, visit.scope):
        return None
    if isinstance(node, ast.Entity):
        message = f"the string {node.span.text} is an entity, and arithmetic is on numbers"
        return error("entity-as-number", node.span, message, "write a number without quotes")
    if not isinstance(node, ast.Atom) or _is_truth(node, visit, symbols):
        if not isinstance(visit.parent, ast.Aggregate):
            return _truth_as_number(node)
        kind, bound = visit.parent.name, ", ".join(variable.name for variable in visit.parent.variables)
        hint = f"write `{kind} {bound}: NUMBER where {short(node)}`, or `count {bound}: {short(node)}` of what is true"
        return error("aggregate", node.span, f"a `{kind}` is of a number", hint)
    if not node.arguments and symbols.bare_kind(node, visit.scope) == "variable":
        message = f"`{node.name}` is a variable for entities, and arithmetic is on numbers"
        hint = f"take a number of it: `number size(entity)` and `size({node.name})`"
        return error("entity-as-number", node.span, message, hint)
    return _unknown_number(node, symbols)


def _unknown_number(atom: ast.Atom, symbols: Symbols) -> Diagnostic | None:
    if symbols.doubtful(atom.name):
        return None
    message = f"no number `{atom.name}` is declared"
    if atom.name.lower() in identifiers.AGGREGATING and len(atom.arguments) == 1:
        return error("aggregate", name_span(atom), aggregate_message(atom.name), identifiers.AGGREGATE_HINT)
    if identifiers.is_text_function(atom.name) and atom.arguments and nearest(atom.name, symbols.numbers) is None:
        return text_function(atom.name, name_span(atom), f"`number {_signature(atom)}`")
    if atom.name in identifiers.FOREIGN_FUNCTIONS and atom.arguments:
        message = f"`{atom.name}` is not a function: {identifiers.FUNCTIONS_LISTED}"
        return error("unknown-function", name_span(atom), message, identifiers.FOREIGN_FUNCTIONS[atom.name])
    if is_date(date := "-".join(getattr(argument, "text", "") for argument in atom.arguments)):
        return date_as_number(date, atom.span)
    if atom.name.lower() in identifiers.NULLS and not atom.arguments:
        hint = "leave it out: a number without a value is unknown"
    elif "-" in atom.name and not atom.arguments:
        hint = f"put spaces around the minus: `{atom.name.replace('-', ' - ')}`"
    else:
        near = nearest(atom.name, symbols.numbers)
        hint = did_you_mean(near and format_predicate(near), f"declare it: `number {_signature(atom)}`")
    return error("unknown-number", name_span(atom), message, hint)


def _truth_as_number(node: ast.Expression) -> Diagnostic:
    shown, span, hint = short(node), node.span, "bounds are written `in [l, u]` after a statement"
    if isinstance(node, ast.Atom):
        shown, span = node.name, name_span(node)
        hint += f"; a number is declared: `number {_signature(node)}`"
    message = f"`{shown}` is true or false to a degree, not a number to compare or calculate with"
    return error("truth-as-number", span, message, hint)


# --- comparisons ----------------------------------------------------------------------------------------------------


def _comparison(node: ast.Comparison, visit: Visit, formula: Formula, symbols: Symbols) -> Diagnostic | None:
    kinds = [_kind(operand, visit, symbols) for operand in node.operands]
    equalities = all(operator in ("=", "!=") for operator in node.operators)
    if "truth" in kinds:
        if isinstance(visit.parent, ast.Aggregate):
            begun, close = visit.parent.span.on_one_line, len(short(node)) - len(short(node.operands[0]))
            moved = f"({begun[:-close]}) {begun[-close:].strip()}"
            whole = moved if begun.endswith(short(node)) else "(count Y: ...) > 1"
            return error("aggregate", node.span, "the comparison is within the aggregate", f"write `{whole}`")
        if equalities and all(kind in ("truth", "unknown") for kind in kinds):
            sign, word = ("<->", "the same truth") if node.operators[0] == "=" else ("xor", "opposite truths")
            left, right = (short(operand) for operand in node.operands[:2])
            message = f"`{left}` and `{right}` are formulas, and `{node.operators[0]}` compares numbers or entities"
            return error("proposition-equality", node.span, message, f"for {word} write `{left} {sign} {right}`")
        return _habit(node, visit, formula, known=True) or _truth_as_number(node.operands[kinds.index("truth")])
    for operand, kind in zip(node.operands, kinds, strict=True):
        if kind == "unknown" and isinstance(operand, ast.Atom):
            return _habit(node, visit, formula, known=False) or _unknown_number(operand, symbols)
    for operator, (left, right) in zip(node.operators, pairwise(zip(node.operands, kinds, strict=True)), strict=True):
        if left[1] != right[1]:
            entity, number = (left[0], right[0]) if left[1] == "entity" else (right[0], left[0])
            return _mixed(entity, number, visit, formula, symbols)
        if left[1] == "entity" and operator not in ("=", "!="):
            message = f"`{operator}` compares numbers, but `{short(left[0])}` and `{short(right[0])}` are entities"
            hint = "entities are compared with `=` and `!=`; compare a number of each: `age(X) > age(Y)`"
            return error("entity-order", node.span, message, hint)
    return None


def _habit(node: ast.Comparison, visit: Visit, formula: Formula, known: bool) -> Diagnostic | None:
    """A finding for a truth, or for a name that is not ``known`` to be one, compared as elsewhere: `Married(X) = yes`,
    `City(X) = "New York"`, `query Cough(X) >= 0.5`, and `rule A -> B = 0.8`."""
    if len(node.operands) != 2 or not isinstance(atom := node.operands[0], ast.Atom):
        return None
    value, operator, text = node.operands[1], node.operators[0], node.operands[1].span.text
    truth = TRUTHS.get(text.strip('"').lower()) if known else None
    if truth is not None and operator in ("=", "!="):
        message = f"`{atom.name}` is true or false to a degree, and has no value `{text}`"
        hint = f"write `{'' if bool(truth) == (operator == '=') else '~'}{short(atom)}`"
        return error("truth-as-number", node.span, message, hint)
    if isinstance(value, ast.Entity) and atom.arguments and operator == "=":
        if not known and identifiers.is_text_function(atom.name):
            return None
        message = f"the entity {text} is not a value of `{atom.name}`, which is not a number"
        arguments = ", ".join(argument.span.text for argument in atom.arguments)
        hint = f"an entity is an argument: `{format_predicate(atom.name)}({arguments}, {text})`"
        return error("entity-as-value", node.span, message, hint)
    if formula.kind == "query" and known and isinstance(value, ast.Number):
        message = f"`{atom.name}` has a degree of truth, which a query asks for but cannot compare"
        hint = f"ask for `{short(atom)}`: its answers have bounds; `--only true,likely_true` leaves out the others"
        return error("truth-as-number", name_span(atom), message, hint)
    concluded = isinstance(visit.parent, ast.Implies) and node is visit.parent.consequent
    share = isinstance(value, ast.Learnable) or (isinstance(value, ast.Number) and 0 <= value.value <= 1)
    if formula.kind != "query" and concluded and share and operator != "!=":
        span = Span(node.span.source, atom.span.end, node.span.end)
        bounds = f"[0, {text}]" if operator.startswith("<") else f"[{text}, 1]"
        hint = f"write `in {bounds}`; if `{atom.name}` is a number, declare `number {_signature(atom)}`"
        return error("truth-of-rule", span, f"the truth of a {formula.kind} is written `in [l, u]`", hint)
    return None


def _kind(node: ast.Expression, visit: Visit, symbols: Symbols) -> ExpressionKind:
    if may_be_numeric(node, symbols, visit.scope):
        return "number"
    if isinstance(node, ast.Entity):
        return "entity"
    if isinstance(node, ast.Atom) and not _is_truth(node, visit, symbols):
        return "unknown" if node.arguments else "entity"
    return "truth"


def _is_truth(atom: ast.Atom, visit: Visit, symbols: Symbols) -> bool:
    """Whether a name is known as a predicate. Within arithmetic an unknown name in upper case counts as a
    proposition."""
    if may_be_numeric(atom, symbols, visit.scope):
        return False
    if not atom.arguments:
        power = isinstance(visit.node, ast.Arithmetic) and visit.node.operator == "^"
        return symbols.bare_kind(atom, visit.scope) == "truth" or (power and atom.name[:1].isupper())
    return atom.name in symbols.declared or any(use.how != "term" for use in symbols.uses.get(atom.name, ()))


def _mixed(
    entity: ast.Expression, number: ast.Expression, visit: Visit, formula: Formula, symbols: Symbols
) -> Diagnostic | None:
    constant = isinstance(entity, ast.Atom) and symbols.bare_kind(entity, visit.scope) == "constant"
    if isinstance(entity, ast.Atom) and constant and not known(symbols, [entity.name]):
        return _unknown_number(entity, symbols)
    what = "the variable" if isinstance(entity, ast.Atom) and not constant else "the entity"
    message = f"{what} `{short(entity)}` is compared with the number `{short(number)}`"
    quoted = entity.text if isinstance(entity, ast.Entity) else ""
    if short(entity).lower() in identifiers.NULLS:
        hint = "leave it out: a comparison with an unknown number is unknown anyway"
        return error("no-null", entity.span, "there is no null: whatever is not stated is unknown", hint)
    if re.fullmatch(r"-?\d+(?:\.\d+)?", quoted):
        hint = f"write a number without quotes: `{quoted}`"
    elif is_date(quoted):
        hint = date_hint(quoted)
    elif isinstance(number, ast.Number) and (holder := _holder(entity, formula)) is not None:
        applied = replace(holder, arguments=holder.arguments[:-1])
        fact = f"fact {format_predicate(applied.name)}(...) = 5"
        given = f"declare `number {_signature(applied)}`, give `{fact}`"
        hint = f"a number cannot be an argument: {given}, compare `{format_expression(applied)}`"
    elif isinstance(number, ast.Number):
        name = short(entity)
        hint = f'quote an entity of that name: `"{short(number)}"`; a number of `{name}` is applied: `age({name})`'
    elif isinstance(number, ast.Atom) and number.arguments:
        other = f"{format_predicate(number.name)}({short(entity)})"
        hint = "compare two numbers" + (f", as `{other}`" if other != short(number) else "") + ", or two entities"
    else:
        hint = "compare two numbers, or two entities"
    return error("mixed-comparison", entity.span, message, hint)


def _holder(entity: ast.Expression, formula: Formula) -> ast.Atom | None:
    """The atom whose last argument is a variable, such as `age(X, A)` in languages where numbers are arguments."""
    if not isinstance(entity, ast.Atom) or entity.arguments:
        return None
    atoms = (atom for atom in formula.nodes(ast.Atom) if len(atom.arguments) > 1)
    return next((atom for atom in atoms if atom.arguments[-1] == ast.Variable(entity.name)), None)


def _signature(atom: ast.Atom) -> str:
    return signature(atom.name, len(atom.arguments))
