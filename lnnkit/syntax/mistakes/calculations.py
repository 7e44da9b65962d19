"""Functions and operators of arithmetic that the language does not have, and values of facts that are no numbers."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import date_as_number, days
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import FOREIGN_FUNCTIONS
from lnnkit.syntax.rewrite import between
from lnnkit.syntax.span import Span

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: read as an atom, whose arguments are no expressions."""
    if not fault.in_arguments or fault.keyword not in _FORMULA_KEYWORDS:
        return None
    for place in reversed(fault.open):
        called = fault.before[place - 1] if place else None
        hint = FOREIGN_FUNCTIONS.get(called.text) if called is not None else None
        if called is not None and hint is not None:
            message = f"`{called.text}` is no function: there are `abs` and `sqrt`"
            return fault.report_at(called, "unknown-function", message, hint)
    return None


def remainder(fault: Fault) -> Diagnostic | None:
    """`age(X) % 2 = 0`."""
    if fault.keyword not in _FORMULA_KEYWORDS or fault.previous is None or fault.previous.text != ")":
        return None
    if fault.token is not None or not re.match(r"%\s*\(?\s*[\w.]+\s*\)?\s*(?:[<>=!]|$)", fault.rest):
        return None
    hint = "give each entity the remainder as a number or predicate of its own: `even(X)`"
    return fault.report("unknown-operator", "`%` is no operator: remainders are not computed", hint)


_DIVIDED = re.compile(  # by a number; or by an atom, and then compared or calculated with
    r"//\s*(?:\d[\d.]*\s*(?:[<>=!≤≥≠+*^&|)-]|$)|\(?\s*[^\W\d_][\w-]*\s*\([^()]*\)\s*\)?\s*(?:[<>!≤≥≠+*^]|=(?!>)))"
)


def floor_division(fault: Fault) -> Diagnostic | None:
    """`income(X) // 2 > 3`; a comment after `//` begins with words."""
    if fault.keyword not in _FORMULA_KEYWORDS or fault.previous is None or fault.token is not None:
        return None
    ends_term = fault.previous.text == ")" or fault.previous.kind in ("number", "word")
    line = fault.rest.split("\n", 1)[0]
    if not ends_term or not _DIVIDED.match(line):
        return None
    hint = "write `/`, which keeps the fraction; a whole part is compared with both ends: `3 <= a / b < 4`"
    return fault.report("unknown-operator", "`//` is no operator", hint, end=fault.start + 2)


_END = r"(-?[\w.]+(?:\([^()]*\)|[\w.:-]*))"
_BETWEEN = re.compile(rf"between\s+{_END}\s+and\s+{_END}", re.IGNORECASE)


def between_words(fault: Fault) -> Diagnostic | None:
    """`age(X) between 3 and 5`, `age(X) is 3`."""
    if fault.keyword not in _FORMULA_KEYWORDS or fault.previous is None or fault.previous.text != ")":
        return None
    operand = between(fault, len(fault.before)) or "age(X)"
    ends = re.match(
        r"between\s+(-?[\w.]+(?:\([^()]*\)|[\w.:-]*))\s+and\s+(-?[\w.]+(?:\([^()]*\)|[\w.:-]*))", fault.rest, re.I
    )
    if ends:
        low, high = (end if days(end) is None else f"{days(end):.15g}" for end in ends.groups())
        hint = f"write `{low} <= {operand} <= {high}`"
        return fault.report("between", "`between` is no word of the language", hint, end=fault.start + 7)
    equal = re.match(r"(is|equals)\s+(-?\d[\d.]*)", fault.rest)
    if equal:
        end = fault.start + len(equal[1])
        return fault.report("equals-word", f"`{equal[1]}` is no operator", f"write `{operand} = {equal[2]}`", end=end)
    return None


def value_of_fact(fault: Fault) -> Diagnostic | None:
    """`fact age(bob) = old`, `fact age(bob) = 1/2`, `fact age(bob) = 3 in [0, 1]`."""
    if fault.keyword not in ("fact", "label") or fault.open or len(fault.before) < 2:
        return None
    word, last, sign = fault.keyword, fault.before[-1], fault.before[-2].text
    if last.text == "=" and fault.token in ("NAME", "ENTITY", "STRING"):
        if fault.token == "STRING" and days(fault.text[1:-1]) is not None:
            return date_as_number(fault.text[1:-1], Span(fault.source, fault.start, fault.end))
        message = f"`{fault.shown}` is no number, which a {word} gives after `=`"
        hint = f"write it in digits; leave the {word} out where the value is not known"
        return fault.report("value-not-number", message, hint)
    if last.kind != "number" or sign not in ("=", "-"):
        return None
    if fault.token == "IN":
        return fault.report("two-values", f"a {word} has one value, or bounds, not both", "remove one of the two")
    if fault.token in ("PLUS", "MINUS", "TIMES", "DIVIDE", "POWER"):
        quotient = re.fullmatch(r"/\s*(\d+(?:\.\d+)?)\s*", fault.rest)
        exact = quotient is not None and float(quotient[1]) != 0
        value = float(last.text) * (-1 if sign == "-" else 1)
        hint = f"write `= {value / float(quotient[1]):.15g}`" if quotient and exact else "write the result"
        return fault.report("computed-value", f"a {word} gives a number, and computes none", hint)
    return None
