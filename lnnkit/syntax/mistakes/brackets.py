"""Strings and brackets that are not closed, or of the wrong kind."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import END, Fault
from lnnkit.syntax.identifiers import FUNCTIONS, UNITS
from lnnkit.syntax.rewrite import between


def unclosed_string(fault: Fault) -> Diagnostic | None:
    if fault.token is None and fault.text == '"':
        line = fault.rest.split("\n", 1)[0].rstrip()
        return fault.report(
            "unclosed-string", "this text is never closed", 'add a `"` where it ends', end=fault.start + len(line)
        )
    return None


def single_quotes(fault: Fault) -> Diagnostic | None:
    match = re.match(r"'([^'\n]*)'|[“”„]([^“”\n]*)[“”]", fault.rest)
    if match and fault.token is None:
        text = match[1] if match[1] is not None else match[2]
        hint = f'write "{text}"'
        return fault.report("single-quotes", "a text is written in double quotes", hint, end=fault.start + match.end())
    return None


def unclosed_group(fault: Fault) -> Diagnostic | None:
    trailing = fault.token == "IN" and re.fullmatch(r"in\s*\[[^\[\]]*\]\s*", fault.rest)
    if not fault.open or not (fault.token == END or trailing):
        return None
    opener = fault.before[fault.open[-1]]
    closer = {"(": ")", "[": "]", "{": "}"}[opener.text]
    return fault.report_at(opener, "unclosed-group", f"this `{opener.text}` is never closed", f"add a `{closer}`")


def unmatched_bracket(fault: Fault) -> Diagnostic | None:
    if fault.token in ("RPAR", "RSQB", "RBRACE") and not fault.open:
        hint = "remove it, or open the group that it should close"
        return fault.report("unmatched-bracket", f"this `{fault.text}` closes nothing", hint)
    return None


def brackets(fault: Fault) -> Diagnostic | None:
    """`P[X]`, `abs age(X)` and `A{bias: 1}`: the wrong kind of bracket, or a missing one."""
    previous = fault.previous
    if previous is None or fault.in_arguments:
        return None
    if fault.token == "LBRACE":
        message = "attributes follow the parentheses of a connective or comparison, or a unit"
        weight = re.match(r"\{\s*(?:weight\s*[:=]\s*)?(-?[\d.]+)\s*\}", fault.rest)
        operand = between(fault, len(fault.before)) if weight else None
        if weight and operand:
            hint = f"a weight is written `{operand}@{weight[1]}`"
            return fault.report("misplaced-attributes", message, hint, end=fault.start + weight.end())
        return fault.report("misplaced-attributes", message, "write them as in `(A & B){bias: 1}`")
    if fault.token == "LSQB" and previous.kind == "word" and fault.touching and len(fault.before) > 1:
        return fault.report("square-brackets", "arguments are written in parentheses", f"write `{previous.text}(...)`")
    if previous.text in FUNCTIONS | UNITS and fault.word and not fault.first_on_line:
        message = f"`{previous.text}` takes parentheses"
        return fault.report_at(previous, "function-parentheses", message, f"write `{previous.text}(...)`")
    return None
