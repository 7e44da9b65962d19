"""Bounds of statements: open intervals, bounds in a body, values of facts."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.rewrite import balanced, between

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)
_COMPARED = (">", ">=", "<", "<=", "=")
_OPERATORS = frozenset(("AND", "OR", "XOR", "IMPLIES", "IFF"))
_LED = re.compile(r"(?P<truth>\d*\.?\d+)\s*(?P<colon>:{0,2})\s*(?=[~¬∀∃(\w])")
_OPENING = re.compile(r"[~¬]?[\w-]+\([^()]*\)\s*(?:[&|,]|[-=]>|and\b|or\b|implies\b|$)")
_UNIT = re.compile(r"0?\.\d+|[01](?:\.0*)?")
_GOES_ON = re.compile(r"\s*(?:[&|)]|<?->|=>|→|(?:and|or|xor|implies|iff)\b)")
ARROW = re.compile(r"->|→|=>|⇒|(?<!\w)implies(?!\w)")


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
    operand = between(fault, len(fault.before) - 1) if within and fault.keyword in _FORMULA_KEYWORDS else None
    if operand and "(" in operand:  # a part of a formula: numbers, which are compared
        closing = "<=" if match and match[0].endswith("]") else "<"
        hint = f"a number is compared: `{ends[0]} < {operand} {closing} {ends[1]}`"
        return fault.report("interval-in-body", "`in [l, u]` bounds a whole statement, not a part of it", hint)
    hint = f"write `in [{', '.join(ends)}]`"
    return fault.report("open-interval", "bounds are closed: both ends belong to them", hint)


def interval_in_body(fault: Fault) -> Diagnostic | None:
    """`age(X) in [18, 65] & ...`: `in [l, u]` bounds a whole statement."""
    if fault.keyword not in _FORMULA_KEYWORDS:
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


def leading_truth(fault: Fault) -> Diagnostic | None:
    """`rule 0.8: A -> B`, `rule name: 0.8 A -> B`."""
    if fault.keyword not in ("rule", "axiom") or fault.previous is None or fault.previous.kind != "number":
        return None
    first = len(fault.before) - 1
    led = first == 1 or (first == 3 and fault.before[2].text == ":")
    truth = truth_before(fault.source.text[fault.previous.start : fault.piece.end])
    if not led or truth is None:
        return None
    head = fault.source.text[fault.piece.start : fault.previous.start].strip()
    hint = f"write `{head} {truth}`"
    return fault.report_at(fault.previous, "leading-truth", "the truth of a statement is written at its end", hint)


def truth_before(text: str) -> str | None:
    """What `0.8: A -> B` means, written as `A -> B in [0.8, 1]`; None if the text is not a truth value before a
    formula."""
    led = _LED.match(text)
    if led is None or not (led["colon"] or _OPENING.match(text, led.end())):
        return None
    formula = " ".join(text[led.end() :].split()).removesuffix(".")
    lower = led["truth"] if float(led["truth"]) <= 1 else "l"
    return f"{formula} in [{lower}, 1]" if ARROW.search(formula) and " in [" not in formula else None


def rule_bounds(fault: Fault) -> Diagnostic | None:
    """`rule A -> B [0.5, 1]` and `rule A -> B in 0.5, 1`."""
    if fault.keyword not in ("rule", "axiom") or fault.open or fault.previous is None:
        return None
    ends = re.fullmatch(r"\[?\s*([-\d.]+)\s*,\s*([-\d.]+)\s*\]?\s*", fault.rest)
    if ends and (fault.token == "LSQB" or fault.previous.text == "in"):
        return fault.report("wrong-bounds", "bounds are written `in [l, u]`", f"write `in [{ends[1]}, {ends[2]}]`")
    lower = re.fullmatch(r"[:=\[(]?\s*(\d*\.?\d+)\s*[\])]?\s*", fault.rest)
    if lower and fault.token in ("NUMBER", "COLON", "LSQB", "LPAR") and float(lower[1]) <= 1:
        return fault.report("wrong-bounds", "bounds are written `in [l, u]`", f"write `in [{lower[1]}, 1]`")
    return None


def missing_comma(fault: Fault) -> Diagnostic | None:
    """`in [0.8 1]`."""
    words = [lexeme.text for lexeme in fault.before]
    ends = re.match(r"(\?|-?[\d.]+)\s*\]", fault.rest)
    if words[-3:-1] != ["in", "["] or ends is None:
        return None
    hint = f"write `in [{words[-1]}, {ends[1]}]`"
    return fault.report("wrong-bounds", "a comma separates two bounds", hint, end=fault.start + len(ends[1]))


def learned_truth(fault: Fault) -> Diagnostic | None:
    """`rule A -> B in ?`."""
    if fault.keyword != "rule" or fault.previous is None or fault.previous.text != "in" or fault.open:
        return None
    if not re.fullmatch(r"\?\s*", fault.rest):
        return None
    hint = "write `in [?, 1]`"
    return fault.report("wrong-bounds", "bounds are written `in [l, u]`", hint, end=fault.start + 1)


def compared_interval(fault: Fault) -> Diagnostic | None:
    """`age(X) > [18, 65]`, `age(X) = 18..65`, `age(X) >= 18 and <= 65`."""
    ends = re.match(r"\[\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\]", fault.rest)
    spelled = re.match(r"\.\.+\s*(\d[\d.]*)", fault.rest)
    again = re.match(r"(<=|>=|<|>|≤|≥|!=|=)\s*(-?[\d.]+)", fault.rest)
    previous = fault.previous
    if previous is None or len(fault.before) < 3 or fault.keyword not in _FORMULA_KEYWORDS:
        return None
    if again and previous.text in ("and", "&", "or", "|"):  # `age(X) >= 18 and <= 65`
        place = next((i for i in range(len(fault.before) - 1, 0, -1) if fault.before[i].text in _COMPARED), 0)
        operand = between(fault, place) if place else None
        hint = f"name it again: `{operand} {again[1]} {again[2]}`"
        end = fault.start + again.end()
        return fault.report("half-comparison", "a comparison has two sides", hint, end=end) if operand else None
    if spelled and previous.kind == "number" and fault.before[-2].text in _COMPARED:  # `age(X) = 18..65`
        operand = between(fault, len(fault.before) - 2)
        hint = f"write `{previous.text} <= {operand} <= {spelled[1]}`"
        end = fault.start + spelled.end()
        message = "a number is compared with a number, not with a range"
        return fault.report("interval-in-body", message, hint, previous.start, end) if operand else None
    if ends is None or previous.text not in (*_COMPARED, "in"):
        return None
    operand = between(fault, len(fault.before) - 1)
    if operand is None or "(" not in operand:
        return None
    end, hint = fault.start + ends.end(), f"write `{ends[1]} <= {operand} <= {ends[2]}`"
    return fault.report("interval-in-body", "a number is compared with a number, not with two", hint, end=end)


def fact_value(fault: Fault) -> Diagnostic | None:
    if fault.keyword not in ("fact", "label") or fault.previous is None or fault.open:
        return None
    listed = re.fullmatch(r"(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*", fault.rest)
    if fault.previous.text == "in" and listed:
        return fault.report(
            "wrong-bounds", "bounds are written in square brackets", f"write `in [{listed[1]}, {listed[2]}]`"
        )
    single = re.fullmatch(r"(?:-?[\d.]+|\?[\w=.-]*)\s*", fault.rest)
    pair = re.fullmatch(r"\[[^\[\],]+,[^\[\],]+\]\s*", fault.rest)
    if (fault.previous.text == "=" and pair) or (fault.previous.text == "in" and single):
        instead = "in" if pair else "="
        message = f"`{fault.previous.text}` cannot be combined with this value"
        return fault.report_at(fault.previous, "wrong-bounds", message, f"write `{instead} {fault.rest.strip()}`")
    truth = re.fullmatch(r"(true|false|⊤|⊥)\s*", fault.rest, re.IGNORECASE)
    if truth and fault.previous.text == "=":
        hint = (
            "write `= 1`, or leave it out"
            if truth[1].lower() in ("true", "⊤")
            else "write `= 0`, or `~` before the atom"
        )
        return fault.report("truth-as-value", f"a value is a number, not `{truth[1]}`", hint)
    weighed = re.fullmatch(r"@\s*[\d.]+\s*", fault.rest)
    if (weighed or fault.token in ("NUMBER", "LEARNABLE", "COLON")) and fault.previous.text == ")":
        match = re.fullmatch(r"[:@]?\s*([-\d.]+)\s*", fault.rest)
        hint = f"write `= {match[1]}`" if match else "write `= v` or `in [l, u]`"
        return fault.report("missing-equals", f"the value of a {fault.keyword} follows `=`", hint)
    return None


def fact_formula(fault: Fault) -> Diagnostic | None:
    if fault.keyword not in ("fact", "label") or fault.open or fault.previous is None:
        return None
    word = fault.keyword
    if fault.token == "COMMA" or (fault.token == "AND" and balanced(fault.rest)):
        hint = f"give each its own line and its own `{word}`"
        return fault.report("fact-formula", f"a {word} is one atom or its negation, not several", hint)
    compared = re.fullmatch(r"([<>]=?|≤|≥)\s*(-?[\d.]+)\s*", fault.rest)
    if compared:
        upward = compared[1][0] in ">≥"
        number = f"[{compared[2]}, inf]" if upward else f"[-inf, {compared[2]}]"
        truth = f"[{compared[2]}, 1]" if upward else f"[0, {compared[2]}]"
        hint = f"write `in {number}` for a number" + (
            f", `in {truth}` for a truth value" if float(compared[2]) <= 1 else ""
        )
        return fault.report("fact-formula", f"a {word} gives bounds, not a comparison", hint)
    if fault.token in ("OR", "IMPLIES", "IFF", "XOR", "QUANTIFIER", "COMPARE"):
        return fault.report(
            "fact-formula",
            f"a {word} is one atom or its negation, not a formula",
            "a formula takes `rule` or `axiom`",
        )
    return None
