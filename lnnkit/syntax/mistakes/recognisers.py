"""Mistakes whose explanation takes more than a pattern: brackets, quantifiers, arguments, dates, membership."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import DATE, date_as_number, hours_hint, is_date
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import END, Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, AGGREGATING, FOREIGN_FUNCTIONS, SHOUTED, is_name, unglued
from lnnkit.syntax.mistakes.rows import ITEM, in_table
from lnnkit.syntax.printer import format_string
from lnnkit.syntax.rewrite import aggregate_message, between, by_cases, parts_of_call
from lnnkit.syntax.span import Span

_FORMULAS = ("rule", "axiom", "query", None)

_CALLED = re.compile(r"(?i:date|datetime|timestamp|to_date)\s*(?:\(\s*)?([\"']?)(?P<date>[^\"'()]*)\1(?:\s*\))?")


def date_literal(fault: Fault) -> Diagnostic | None:
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in ("load", "predicate", "number", "sort"):
        return None
    starts = {fault.start, *(lexeme.start for lexeme in fault.before if lexeme.kind in ("number", "word"))}
    for match in DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end):
        if match.start() in starts and match.start() <= fault.start < match.end():
            return date_as_number(match[0], Span(fault.source, *match.span()))
    return None


def time_of_day(fault: Fault) -> Diagnostic | None:
    """`opens(X) > 10:30`."""
    previous, time = fault.previous, re.match(r":\d{2}(?::\d{2})?(?![\w:])", fault.rest)
    if previous is None or time is None or fault.in_arguments or not re.fullmatch(r"\d{1,2}", previous.text):
        return None
    text = previous.text + time[0]
    hint = hours_hint(text)
    end = fault.start + time.end()
    return fault.report("time-as-number", f"`{text}` is a time where a number is expected", hint, previous.start, end)


def called_date(fault: Fault) -> Diagnostic | None:
    """`fact start(ann) = date("2024-01-05")`, `start(X) > DATE "2024-01-05"`."""
    text, first = fault.source.text, fault.start
    if fault.token == "STRING" and fault.previous is not None:
        first = fault.previous.start
    elif fault.keyword not in ("fact", "label"):
        return None
    if fault.token == "STRING" and text[first] == "=" and is_date(fault.text[1:-1]):
        return date_as_number(fault.text[1:-1], Span(fault.source, fault.start, fault.end))
    called = _CALLED.match(text, first, fault.piece.end)
    if called is None or fault.in_arguments or not is_date(called["date"]):
        return None
    return date_as_number(called["date"], Span(fault.source, *called.span()))


def date_in_table(fault: Fault) -> Diagnostic | None:
    """`joined >= 2021-01-01` without quotes: its first digits are parsed as a number."""
    if fault.keyword not in ("load", "label") or not in_table(fault):
        return None
    for match in DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end):
        value = match.start() == fault.start or any(lexeme.start == match.start() for lexeme in fault.before)
        if value and match.start() <= fault.start < match.end():
            message = f"the value `{match[0]}` needs quotes"
            return fault.report("unquoted-value", message, f'write "{match[0]}"', *match.span())
    return None


def shouted(fault: Fault) -> Diagnostic | None:
    for lexeme in (fault.word, fault.previous):
        if lexeme is None or lexeme.kind != "word" or fault.in_arguments:
            continue
        text = lexeme.text
        if fault.keyword in ("fact", "label") and fault.previous is not None and fault.previous.text == "=":
            return None  # a value
        if text.upper() in ("IF", "THEN") and fault.keyword in _FORMULAS:
            return fault.report_at(
                lexeme, "if-then", f"`{text}` is not a word of the language", "write `P -> Q` for if P then Q"
            )
        if text.upper() == "ELSE" and fault.keyword in _FORMULAS:
            hint = "end the statement before it, and write a second one: `~P -> Q` for else Q"
            return fault.report_at(lexeme, "if-then", f"`{text}` is not a word of the language", hint)
        if text in SHOUTED:
            return fault.report_at(
                lexeme, "capital-operator", f"`{text}` in capitals is not an operator", f"write `{text.lower()}`"
            )
        if text in ("And", "Or", "Not") and fault.word:
            return fault.report_at(
                lexeme, "capital-operator", f"`{text}` is not an operator", f"write `{text.lower()}`"
            )
    return None


def if_call(fault: Fault) -> Diagnostic | None:
    """`IF(A(X), B(X), C(X))`."""
    for place in fault.open:
        called = fault.before[place - 1] if place else None
        if called is not None and called.text.upper() in ("IF", "IIF", "IFELSE", "IF_ELSE"):
            call = fault.source.text[called.start : fault.piece.end]
            return fault.report_at(called, "if-then", *no_if(called.text, call))
    return None


def no_if(name: str, call: str) -> tuple[str, str]:
    """The message and the hint for a conditional written as a call."""
    cases = by_cases(call)
    hint = f"write `{cases}`" if cases else "write a rule for each case: `P -> Q` for if P then Q, `~P -> R` for else R"
    return f"`{name}` is not a function", hint


def head_shouted(fault: Fault) -> Diagnostic | None:
    """`NOT(P(X))`, which parses as an atom named NOT."""
    if not fault.in_arguments:
        return None
    head = fault.before[fault.open[-1] - 1]
    if head.text in SHOUTED:
        return fault.report_at(
            head, "capital-operator", f"`{head.text}` in capitals is not an operator", f"write `{head.text.lower()}`"
        )
    return None


def quantifier_list(fault: Fault) -> Diagnostic | None:
    """`forall x y: P(x, y)`: `y` is parsed as the formula, so the fault comes after it."""
    count = len(fault.before)
    second: int | None = None
    if fault.token == "COLON" and count > 2:
        second = count - 1
    elif (
        fault.in_arguments
        and fault.open[-1] > 1
        and fault.before[fault.open[-1]].start > fault.before[fault.open[-1] - 1].end
    ):
        second = fault.open[-1] - 1
    elif fault.token in ("NAME", "ENTITY") and count > 2:
        second = count - 1
    if second is None or fault.before[second].kind != "word" or not fault.quantified(second - 1):
        return None
    first, name = fault.before[second - 1], fault.before[second]
    return fault.report_at(
        name,
        "quantifier-comma",
        "variables of a quantifier are separated by commas",
        f"write `{first.text}, {name.text}`",
    )


def glued_quantifier(fault: Fault) -> Diagnostic | None:
    """`∀xP(x, y)`, which parses as a variable `xP` before a group."""
    if fault.token != "COMMA" or not fault.open:
        return None
    place = fault.open[-1]
    if place < 2 or place != len(fault.before) - 2 or not fault.quantified(place - 1):
        return None
    glued = fault.before[place - 1]
    arguments = fault.source.text[fault.before[place + 1].start : fault.piece.end].split(")", 1)[0]
    parts = unglued(glued.text, [argument.strip() for argument in arguments.split(",")])
    if fault.before[place].start != glued.end or parts is None:
        return None
    write = f"{fault.before[place - 2].text}{parts[0]} {parts[1]}({arguments})"
    message = f"`{glued.text}` is read as one variable"
    return fault.report_at(glued, "glued-quantifier", message, f"put a space after the variable: `{write}`")


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: parsed as an atom, whose arguments cannot be expressions."""
    if not fault.in_arguments or fault.keyword not in _FORMULAS:
        return None
    for place in reversed(fault.open):
        called = fault.before[place - 1] if place else None
        if called is None:
            continue
        opened = fault.before[place]
        inside = parts_of_call(fault.source.text[opened.start : fault.piece.end])
        if called.text.lower() in AGGREGATING and len(inside) == 1:
            return fault.report_at(called, "aggregate", aggregate_message(called.text), AGGREGATE_HINT)
        hint = FOREIGN_FUNCTIONS.get(called.text)
        if hint is not None:
            message = f"`{called.text}` is not a function: there are `abs` and `sqrt`"
            return fault.report_at(called, "unknown-function", message, hint)
    return None


def argument_expression(fault: Fault) -> Diagnostic | None:
    if not fault.in_arguments or fault.previous is None or fault.token in (END, "RSQB", "RBRACE", "STRING", "COLON"):
        return None
    head = fault.before[fault.open[-1] - 1]
    if fault.token in ("AND", "OR", "XOR", "IMPLIES", "IFF", "NOT", "QUANTIFIER"):
        sign = {"AND": "&", "OR": "|", "XOR": "xor", "IMPLIES": "->", "IFF": "<->"}.get(fault.token or "")
        hint = f"join atoms instead: `{head.text}(...) {sign} {head.text}(...)`" if sign else "put it before the atom"
        return fault.report("argument-formula", f"`{fault.text}` cannot be used in an argument of `{head.text}`", hint)
    if fault.token == "LPAR":
        inner = fault.previous
        message = f"an argument is a variable or an entity, and `{inner.text}(` starts an expression"
        hint = f"give it an atom or comparison of its own, and use a variable in `{head.text}`"
        return fault.report_at(inner, "argument-expression", message, hint)
    if fault.token in ("PLUS", "MINUS", "TIMES", "DIVIDE", "POWER", "COMPARE", "EQUALS"):
        message = f"an argument is a variable or an entity, never an expression: `{fault.text}`"
        hint = f"compute outside of `{head.text}`; an entity with such a character needs quotes"
        return fault.report("argument-expression", message, hint)
    if fault.token is None and fault.previous.kind in ("word", "number") and fault.touching:
        start = max(fault.source.text.rfind(mark, 0, fault.start) for mark in "(,") + 1
        inside = re.match(r"[^,()\n]*", fault.source.text[start : fault.piece.end])
        entity = inside[0].strip() if inside else ""
        message = f"`{fault.text}` cannot be part of an unquoted entity"
        return fault.report("unquoted-entity", message, f'write "{entity}"')
    return None


_LISTED = re.compile(rf"in\s*[(\[{{]\s*({ITEM}(?:\s*,\s*{ITEM})*)\s*[)\]}}]")

_NUMBER = re.compile(r"\d[\d.]*(?:[eE]-?\d+)?|inf")


def membership(fault: Fault) -> Diagnostic | None:
    """A list of entities after `in`."""
    place = _place(fault)
    if fault.keyword not in _FORMULAS or place < 1 or fault.quantified(place - 1):
        return None
    start = fault.before[place].start if place < len(fault.before) else fault.start
    listed = _LISTED.match(fault.source.text, start, fault.piece.end)
    items = re.findall(ITEM, listed[1]) if listed else []
    if listed is None or any(_NUMBER.fullmatch(item) for item in items):
        return None
    entities = [item if item.startswith('"') or is_name(item) else format_string(item) for item in items]
    held, last = between(fault, place), fault.before[place - 1]
    if held and held.endswith(")"):
        cases = [f"{held[:-1]}, {entity})" for entity in entities]
    elif last.kind == "word":
        cases = [f"{last.text} = {entity}" for entity in entities]
    else:
        return None
    instead = " | ".join(cases)
    hint = f"write `({instead})`" if len(cases) > 1 else f"write `{instead}`"
    return fault.report("membership", "`in` gives bounds and does not test membership", hint, start, listed.end())


def _place(fault: Fault) -> int:
    """The index of the lexeme `in` that the fault belongs to, which is the fault itself or one before it; -1 if there
    is none."""
    if fault.token == "IN":
        return len(fault.before)
    words = [lexeme.text for lexeme in fault.before]
    if words[-1:] == ["in"]:
        return len(words) - 1
    return len(words) - 2 if words[-2:-1] == ["in"] and words[-1] in "[({" else -1


_UNIT = re.compile(r"0?\.\d+|[01](?:\.0*)?")

_GOES_ON = re.compile(r"\s*(?:[&|)]|<?->|=>|→|(?:and|or|xor|implies|iff)\b)")

_OPERATORS = frozenset(("AND", "OR", "XOR", "IMPLIES", "IFF"))


def open_interval(fault: Fault) -> Diagnostic | None:
    words = [lexeme.text for lexeme in fault.before]
    wrong_start = fault.token == "LPAR" and bool(words) and words[-1] == "in"
    wrong_end = (
        fault.token == "RPAR" and fault.open and fault.before[fault.open[-1]].text == "[" and words[-5:-4] == ["in"]
    )
    if not (wrong_start or wrong_end):
        return None
    match = re.match(r"\(\s*([^,()\[\]]+),\s*([^,()\[\]]+)[\])]", fault.rest) if wrong_start else None
    ends = [match[1].strip(), match[2].strip()] if match else words[-3::2] if wrong_end else ["l", "u"]
    within = match is not None and bool(_GOES_ON.match(fault.rest, match.end()))
    operand = between(fault, len(fault.before) - 1) if within and fault.keyword in _FORMULAS else None
    if operand and "(" in operand:  # a part of a formula: numbers, which are compared
        closing = "<=" if match and match[0].endswith("]") else "<"
        hint = f"a number is compared: `{ends[0]} < {operand} {closing} {ends[1]}`"
        return fault.report("interval-in-body", "`in [l, u]` bounds a whole statement, not a part of it", hint)
    hint = f"write `in [{', '.join(ends)}]`"
    return fault.report("open-interval", "bounds are closed: both ends belong to them", hint)


def interval_in_body(fault: Fault) -> Diagnostic | None:
    """`age(X) in [18, 65] & ...`: `in [l, u]` bounds a whole statement."""
    if fault.keyword not in _FORMULAS:
        return None
    if fault.keyword != "query" and not (fault.token == "IN" and fault.open) and fault.token not in _OPERATORS:
        return None
    if fault.token == "IN":
        place, rest = len(fault.before), fault.rest
    else:
        place = next((i for i in range(len(fault.before) - 1, 0, -1) if fault.before[i].text == "in"), 0)
        if not place or fault.previous is None or fault.previous.text != "]":
            return None
        rest = fault.source.text[fault.before[place].start : fault.piece.end]
    match = re.match(r"in\s*\[\s*([^,\[\]]+?)\s*,\s*([^,\[\]]+?)\s*\]", rest)
    start = fault.start if fault.token == "IN" else fault.before[place].start
    if not match:
        return None
    end = start + match.end()
    if fault.keyword == "query" and not fault.open and not fault.source.text[end : fault.piece.end].strip():
        return fault.report("query-bounds", "a query takes no bounds: it asks for them", "remove them", start, end)
    operand = between(fault, place)
    compared = f"{match[1]} <= {operand} <= {match[2]}" if operand and "(" in operand else "l <= age(X) <= u"
    hint = f"write `{compared}`"
    if _UNIT.fullmatch(match[1]) and _UNIT.fullmatch(match[2]):  # of a truth, or of a number
        own = f"the bounds of a statement are written at its end: `{match[0]}`"
        hint = f"a number is compared: `{compared}`; {'a query takes no bounds' if fault.keyword == 'query' else own}"
    return fault.report("interval-in-body", "`in [l, u]` bounds a whole statement, not a part of it", hint, start, end)


def unclosed_group(fault: Fault) -> Diagnostic | None:
    trailing = fault.token == "IN" and re.fullmatch(r"in\s*\[[^\[\]]*\]\s*", fault.rest)
    if not fault.open or not (fault.token == END or trailing):
        return None
    opener = fault.before[fault.open[-1]]
    closer = {"(": ")", "[": "]", "{": "}"}[opener.text]
    return fault.report_at(opener, "unclosed-group", f"this `{opener.text}` is never closed", f"add a `{closer}`")


def chained(fault: Fault) -> Diagnostic | None:
    if fault.token not in ("IFF", "XOR"):
        return None
    same = ("<->", "<=>", "↔", "⇔", "iff") if fault.token == "IFF" else ("xor", "⊕")
    depth = fault.open[-1] if fault.open else 0
    if not any(lexeme.text in same for lexeme in fault.before[depth:]):
        return None
    return fault.report(
        "chained-connective", f"`{fault.text}` does not chain", "use parentheses to show which comes first"
    )
