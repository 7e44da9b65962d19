"""What training finds. Learnable values: ``?`` is allowed in rules only, and all occurrences of one name have the same
initial value. Without one, the program can be trained, but not evaluated before that.

Unknown functions, ``rule rate(X) = ?f(susceptible(X), infected(X))``: where they stand, and what is stated of them.
Training finds their formulas by regression, so a statement must say what their values are: it is an equation of numbers
on conditions, ``A -> B -> left = right``, with one unknown function, which `+ - * /` and `sqrt` can be undone around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from lnnkit.check.date_terms import dated_parameters, with_dated_parameters
from lnnkit.check.findings import error, place, repeated, warning
from lnnkit.check.named_files import merge
from lnnkit.check.program import Assertion, CheckedProgram, Unknown
from lnnkit.check.symbols import Formula, Symbols, gather
from lnnkit.check.values import mentions_numbers
from lnnkit.check.walk import children, conjunction, nodes, strip_foralls, transform
from lnnkit.check.weights import shapes_of
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression as shown
from lnnkit.syntax.printer import format_literal

UNEVALUATED = frozenset({"untrained"})
"""Findings that a program or query is checked with as warnings, and not evaluated with."""
_HOLDING: Mapping[type, Sequence[str]] = {
    **dict.fromkeys((*get_args(ast.Connective), ast.Comparison, ast.Unit), ("attributes",)),
    **{ast.Attribute: ("value",), ast.Weighted: ("weight",), ast.ValueList: ("items",), ast.Bounds: ("lower", "upper")},
}
"""What holds values, and where."""
_ELSE = {
    "rule": "or train the program",
    "axiom": "or write `rule`: an axiom is never trained",
    "query": "or ask for it in a rule: a query learns nothing",
}


def learnables(symbols: Symbols) -> Iterator[Diagnostic]:
    for kind, statement in symbols.stated():
        for item in among(statement.bounds.written if statement.bounds else ()):
            yield _misplaced(item, f"`{item.span.text}` is learnable, but a {kind} must be given")
    named = {item.name for formula in symbols.formulas if formula.kind == "rule" for item in in_formula(formula)}
    named |= symbols.learned.keys()
    items = [(formula, item) for formula in symbols.formulas for item in in_formula(formula)]
    for formula, item in items:
        if formula.kind == "axiom":
            message = f"`{item.span.text}` is learnable, but an axiom is never trained"
            yield _misplaced(item, message, "write a number, or `rule` for `axiom`")
        elif formula.kind == "query" and (item.name is None or item.name not in named):
            message = f"`{item.span.text}` is a new learnable value, but a query learns nothing"
            hint = "write a number, or the name of a learnable value of a rule"
            match formula.root:
                case ast.Comparison((ast.Atom() as atom, other), ("=",)) if other is item:
                    hint = f"to ask for the number write `query {atom.span.text}`"
            yield _misplaced(item, message, hint)
    started = (item for _, item in items if item.name is not None and item.initial is not None)
    for before, item in repeated(started, lambda item: item.name):
        if before.initial != item.initial:
            where = place(before.span, item.span)
            starts = [format_literal(known.initial or 0, known.unit) for known in (item, before)]
            message = f"`?{item.name}` starts at {starts[0]} here, and at {starts[1]} on {where}"
            hint = "the same name is the same parameter: give its initial value once, or use two names"
            yield error("conflicting-initial", item.span, message, hint)
    yield from _unknown_functions(symbols)
    yield from _untrained(symbols)


def _misplaced(
    item: ast.Node, message: str, hint: str = "write a number; only rules have learnable values"
) -> Diagnostic:
    return error("misplaced-learnable", item.span, message, hint)


def in_formula(formula: Formula) -> Iterator[ast.Learnable]:
    """Every ``?`` of a statement: terms, weights, attributes and bounds."""
    return among([*(visit.node for visit in formula.visits), *(formula.bounds.written if formula.bounds else ())])


def starting_values(symbols: Symbols) -> dict[str, float]:
    """The initial value of each name for which some rule gives one."""
    known = {name: start for name, start in symbols.learned.items() if start is not None}
    return known | initial_values(item for formula in symbols.formulas for item in in_formula(formula))


def initial_values(items: Iterable[ast.Learnable]) -> dict[str, float]:
    """The initial value of each name for which some occurrence gives one."""
    return {item.name: float(item.initial) for item in items if item.name is not None and item.initial is not None}


def named_values(query: Formula, checked: CheckedProgram) -> dict[str, float | None]:
    """The names of the learnable values that a query with some may mention, with their initial values."""
    assertions = checked.assertions if any(True for _ in in_formula(query)) else ()
    items = [item for assertion in assertions for item in in_assertion(assertion)]
    return {item.name: None for item in items if item.name is not None} | initial_values(items)


def in_assertion(assertion: Assertion) -> Iterator[ast.Learnable]:
    """Every ``?`` of a checked rule or axiom."""
    return among([*nodes(cast(ast.Expression, assertion.formula)), assertion.lower, assertion.upper])


def among(items: Iterable[ast.Node | float | str]) -> Iterator[ast.Learnable]:
    """Every ``?`` that is one of these nodes or values, the weight of one, or in its attributes or its list."""
    for item in items:
        if isinstance(item, ast.Learnable):
            yield item
        for held in (getattr(item, name) for name in _HOLDING.get(type(item), ())):
            yield from among(held if isinstance(held, tuple) else [held])


def _untrained(symbols: Symbols) -> Iterator[Diagnostic]:
    """Findings about learnable values without an initial value. Weights, biases and truths start at 1 by default;
    everything else needs one."""
    started = starting_values(symbols).keys()
    for formula, visit in symbols.visits():
        node = visit.node
        if isinstance(node, ast.Unit | ast.Comparison):
            yield from _unlearned(node, formula.kind)
        elif not isinstance(node, ast.Learnable) or visit.role not in ("term", "comparand"):
            continue
        for item in among([node]):
            if item.initial is None and item.name not in started:
                start = 'date "2026-01-01"' if id(item) in dated_parameters(formula.root, symbols.dates) else "1"
                text = item.span.text
                hint = f"give it an initial value, `{text}{'=' * (item.name is not None)}{start}`, or train the program"
                yield warning("untrained", item.span, f"`{text}` has no value before it is trained", hint)


def _unlearned(node: ast.Unit | ast.Comparison, kind: str) -> Iterator[Diagnostic]:
    for key in lacking(node)[:1]:
        count = shapes_of(node)[key].count
        example = f"{key}: " + ("0.5" if count is None else f"[{', '.join(['1'] * (count or len(node.operands)))}]")
        if isinstance(node, ast.Unit):
            hint = f"give it one, `{node.span.text}{{{example}}}`, {_ELSE[kind]}"
            message = f"the unit `{node.name}` has no `{key}` before it is trained"
            yield warning("untrained", node.span, message, hint)
        else:
            hint = f"give its weights, `({node.span.text}){{{example}}}`, {_ELSE[kind]}"
            yield warning("untrained-relation", node.span, "`<?>` has no weights before it is trained", hint)


def lacking(node: ast.Unit | ast.Comparison) -> list[str]:
    """The attributes without which a unit or relation has no value, and which are not given."""
    given = {attribute.key for attribute in node.attributes}
    return [key for key, shape in shapes_of(node).items() if shape.needed and key not in given]


def settled(
    program: ast.Program, base: Path, change: Callable[[ast.Expression], ast.Expression] = lambda node: node
) -> Iterator[ast.RuleOrAxiom]:
    """The rules and axioms of a program and of its imports, in reading order. A learnable value without an initial
    value stays as it is. ``change`` is applied to every node whose values were replaced, operands first."""
    entries = merge(program, base).entries
    symbols = gather(entries)
    starts = starting_values(symbols)
    for entry in entries:
        statement = entry.statement
        if isinstance(statement, ast.RuleOrAxiom):
            formula = with_dated_parameters(statement.formula, symbols.dates)
            formula = transform(formula, lambda node: change(settled_value(node, starts)))
            yield replace(statement, formula=formula, bounds=settled_value(statement.bounds, starts))


def settled_value(value: Any, starts: Mapping[str, float]) -> Any:
    """A node, a value, or bounds, with the learnable values that it holds itself replaced by their initial values; for
    a name without one, by that in ``starts``."""
    if isinstance(value, tuple):
        return tuple(settled_value(item, starts) for item in value)
    if isinstance(value, ast.Learnable):
        start = value.initial if value.initial is not None else starts.get(value.name or "")
        number = start if start is None or start != int(start) else int(start)
        return value if number is None else ast.Number(number, value.unit, span=value.span)
    held = {name: settled_value(getattr(value, name), starts) for name in _HOLDING.get(type(value), ())}
    return replace(value, **held) if held else value


_CODE = "unknown-function"
_UNDOING: Mapping[str, Literal["+", "-", "*", "/"]] = {"+": "-", "-": "+", "*": "/", "/": "*"}


def _unknown_functions(symbols: Symbols) -> Iterator[Diagnostic]:
    named: list[ast.UnknownFunction] = []
    for formula in symbols.formulas:
        if functions := list(formula.nodes(ast.UnknownFunction)):
            named += [function for function in functions if function.name is not None]
            text = shown(functions[0])
            message = f"`{text}` is unknown before it is trained, so that this {formula.kind} says nothing yet"
            hint = "`lnnkit train` finds its formula where the other side is stated or labelled"
            untrained = warning("untrained-function", functions[0].span, message, hint)
            yield next(_wrong(formula, functions), untrained)
    for before, node in repeated(named, lambda function: function.name):
        if len(before.operands) != len(node.operands):
            counts = [f"{len(other.operands)} term{'s' * (len(other.operands) > 1)}" for other in (node, before)]
            message = f"`?{node.name}` has {counts[0]} here, and {counts[1]} on {place(before.span, node.span)}"
            hint = "the same name is the same function: give it as many terms, or use two names"
            yield error(_CODE, node.span, message, hint)
    first = {function.name: function for function in reversed(named)}
    items = (item for formula in symbols.formulas for item in in_formula(formula))
    for name, item in {item.name: item for item in items if item.name in first}.items():
        message = f"`?{name}` is a number here, and an unknown function on {place(first[name].span, item.span)}"
        yield error(_CODE, item.span, message, "give one of them another name")


def stated(root: ast.Expression, node: ast.UnknownFunction, atom: ast.Atom, key: str) -> Unknown:
    """What the formula ``root`` of a statement without errors states about its unknown function ``node``, which
    ``atom`` replaces during inference."""
    conditions, equation = _equation(root)
    target = None if equation is None else _solved(equation, node)
    assert target is not None
    condition = conjunction(conditions, node.span) if conditions else None
    return Unknown(key, atom, node.operands, target, condition, node.span)


def substituted(root: ast.Expression, old: ast.Expression, new: ast.Expression) -> ast.Expression:
    """``root`` with ``new`` in the place of the node ``old``."""
    return transform(root, lambda node: new if node is old or node == old else node)


def _wrong(formula: Formula, functions: list[ast.UnknownFunction]) -> Iterator[Diagnostic]:
    """The errors of a statement, the most specific first."""
    node, text = functions[0], shown(functions[0])
    if formula.kind == "axiom":
        message = f"`{text}` is an unknown function, but an axiom is never trained"
        yield _misplaced(node, message, "write `rule` for `axiom`")
    if formula.kind == "query":
        hint = f"write it in a rule, `rule rate(X) = {text}`, and ask for the number on the other side"
        yield _misplaced(node, f"`{text}` is an unknown function, but a query learns nothing", hint)
    inner = [part for operand in node.operands for part in nodes(operand) if isinstance(part, ast.UnknownFunction)]
    if inner:
        message = f"`{shown(inner[0])}` stands within `?{node.name or ''}(...)`, so the data determine neither"
        hint = "give one unknown function the numbers that both depend on"
        yield error(_CODE, inner[0].span, message, hint)
    if len(functions) > 1:
        message = f"`{shown(functions[1])}` is the second unknown function of this {formula.kind}"
        hint = "one equation determines one function: give it the terms of both"
        yield error(_CODE, functions[1].span, message, hint)
    yield from _within(formula, node)
    _, equation = _equation(formula.root)
    if equation is None or not any(part is node for part in nodes(equation)):
        message = f"`{text}` stands in no equation, so no data say what its values are"
        hint = f"state a number that it gives, `rule rate(X) = {text}`; compare that number in another rule"
        yield error(_CODE, node.span, message, hint)
        return
    if formula.bounds is not None:
        message = f"`{text}` is found from equations that hold, and this one holds to a degree"
        yield error(_CODE, formula.bounds.span, message, "leave out the bounds")
    target = _solved(equation, node)
    if target is None:
        message = f"what stands around `{text}` cannot be undone: only `+ - * /` and sqrt can"
        hint = "let the function give the whole term, or name the term by a number of its own"
        yield error(_CODE, node.span, message, hint)
        return
    if not mentions_numbers(target):
        message = f"`{shown(equation)}` equates an unknown function with a constant"
        yield error(_CODE, equation.span, message, "name the number that it gives: `rule rate(X) = " + text + "`")
    read = [atom for operand in node.operands for atom in nodes(operand) if isinstance(atom, ast.Atom)]
    if all(atom in read for atom in nodes(target) if isinstance(atom, ast.Atom)):
        both = next(atom for atom in read if atom in set(nodes(target)))
        message = f"the other side contains only terms of the function, as `{shown(both)}`: any table fulfils that"
        yield error(_CODE, both.span, message, "leave it out of the function's terms")


def _within(formula: Formula, node: ast.UnknownFunction) -> Iterator[Diagnostic]:
    """The errors within a function: constants among its terms, and other learnable values of the statement."""
    for operand in node.operands:
        if not mentions_numbers(operand):
            message = f"`{shown(operand)}` is a constant, and an unknown function finds its own"
            yield error(_CODE, operand.span, message, "leave it out")
    learned = [*in_formula(formula), *filter(lacking, formula.nodes(ast.Unit, ast.Comparison))]
    for span in (item.span for item in learned):
        message = f"`{span.on_one_line}` is learned too, and one equation determines one of them"
        yield error(_CODE, span, message, "write a number, or leave it out: the function has constants of its own")


def _equation(root: ast.Expression) -> tuple[list[ast.Expression], ast.Comparison | None]:
    """The conditions of a formula and the equation that follows from them; None where it is no plain equation."""
    conditions: list[ast.Expression] = []
    conclusion = strip_foralls(root)
    while isinstance(conclusion, ast.Implies) and not conclusion.attributes:
        if isinstance(conclusion.antecedent, ast.Weighted):
            return conditions, None
        conditions.append(conclusion.antecedent)
        conclusion = conclusion.consequent
    plain = isinstance(conclusion, ast.Comparison) and conclusion.operators == ("=",) and not conclusion.attributes
    return conditions, cast(ast.Comparison, conclusion) if plain else None


def _solved(equation: ast.Comparison, node: ast.UnknownFunction) -> ast.Expression | None:
    """The term that ``node`` equals by an equation."""
    left, right = equation.operands
    return _undone(left, right, node) or _undone(right, left, node)


def _undone(side: ast.Expression, other: ast.Expression, node: ast.UnknownFunction) -> ast.Expression | None:
    """The term that ``node`` equals where ``side = other``; None if it is not in ``side``, or only through what has no
    inverse."""
    while side is not node and side != node:
        inside = [any(part == node for part in nodes(child)) for child in children(side)]
        match side:
            case ast.Negate(operand=operand):
                side, other = operand, ast.Negate(other, span=other.span)
            case ast.Arithmetic(operator="+" | "-" | "*" | "/" as operator, left=left, right=right) if any(inside):
                side, rest = (left, right) if inside[0] else (right, left)
                if inside[0] or operator in ("+", "*"):
                    other = ast.Arithmetic(_UNDOING[operator], other, rest, span=other.span)
                else:
                    other = ast.Arithmetic(operator, rest, other, span=other.span)
            case ast.Function(name="sqrt", operands=(operand,)):
                # defined where the root is: y * sqrt(y)^2 is y^2, but only for y >= 0
                two = ast.Number(2, span=other.span)
                root = ast.Arithmetic("^", ast.Function("sqrt", (other,), span=other.span), two, span=other.span)
                side, other = operand, ast.Arithmetic("*", other, root, span=other.span)
            case _:
                return None
    return other
