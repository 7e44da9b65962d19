"""Arithmetic functions and operators that the language lacks, and values of facts that are not numbers."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import date_as_number, days, is_date
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, AGGREGATING, FOREIGN_FUNCTIONS, TEXTS_UNSEARCHED
from lnnkit.syntax.rewrite import aggregate_message, as_rule, between, parts_of_call
from lnnkit.syntax.span import Span

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: parsed as an atom, whose arguments cannot be expressions."""
    if not fault.in_arguments or fault.keyword not in _FORMULA_KEYWORDS:
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


def remainder(fault: Fault) -> Diagnostic | None:
    """`age(X) % 2 = 0`."""
    if fault.keyword not in _FORMULA_KEYWORDS or fault.previous is None or fault.previous.text != ")":
        return None
    if fault.token is not None or not re.match(r"%\s*\(?\s*[\w.]+\s*\)?\s*(?:[<>=!]|$)", fault.rest):
        return None
    hint = "give each entity the remainder as a number or predicate of its own: `even(X)`"
    return fault.report("unknown-operator", "`%` is not an operator: remainders are not computed", hint)


_DIVIDED = re.compile(  # by a number; or by an atom, and then compared or calculated with
    r"//\s*(?:\d[\d.]*\s*(?:[<>=!≤≥≠+*^&|)-]|$)|\(?\s*[^\W\d_][\w-]*\s*\([^()]*\)\s*\)?\s*(?:[<>!≤≥≠+*^]|=(?!>)))"
)


def floor_division(fault: Fault) -> Diagnostic | None:
    """`income(X) // 2 > 3`; `//` followed by words is a comment in another language."""
    if fault.keyword not in _FORMULA_KEYWORDS or fault.previous is None or fault.token is not None:
        return None
    ends_term = fault.previous.text == ")" or fault.previous.kind in ("number", "word")
    line = fault.rest.split("\n", 1)[0]
    if not ends_term or not _DIVIDED.match(line):
        return None
    hint = "write `/`, which keeps the fraction; a whole part is compared with both ends: `3 <= a / b < 4`"
    return fault.report("unknown-operator", "`//` is not an operator", hint, end=fault.start + 2)


_END = r"(-?[\w.]+(?:\([^()]*\)|[\w.:-]*))"
_BETWEEN = re.compile(rf"between\s+{_END}\s+and\s+{_END}", re.IGNORECASE)


def between_words(fault: Fault) -> Diagnostic | None:
    """`age(X) between 3 and 5`, `age(X) is 3`."""
    if fault.keyword not in _FORMULA_KEYWORDS or fault.previous is None or fault.previous.text != ")":
        return None
    operand = between(fault, len(fault.before)) or "age(X)"
    ends = _BETWEEN.match(fault.rest)
    if ends:
        low, high = (end if days(end) is None else f"{days(end):.15g}" for end in ends.groups())
        hint = f"write `{low} <= {operand} <= {high}`"
        return fault.report("between", "`between` is not a word of the language", hint, end=fault.start + 7)
    return None


_EQUAL = re.compile(
    r"(is\s+not|isnt|equals|equal\s+to|eq|is|i?like|contains|matches|(?:starts|ends)\s+with)\s+(-?[\w.\"]+)",
    re.IGNORECASE,
)


def equals_word(fault: Fault) -> Diagnostic | None:
    """`age(X) is 3`, `Y is not bob`, `age(X) IS NULL`."""
    if fault.in_arguments or fault.previous is None or fault.token not in ("NAME", "ENTITY", "IS", None):
        return None
    null = re.match(r"is\s+(not\s+)?(?:null|none|nan|unknown|missing|na)(?!\w)", fault.rest, re.IGNORECASE)
    if null:
        hint = "leave it out: a comparison with an unknown number is unknown anyway"
        if not null[1]:
            hint = 'no rule can ask for that: list those that lack it in a table, and `load Missing from "missing.csv"`'
        end = fault.start + null.end()
        return fault.report("no-null", "there is no null: whatever is not stated is unknown", hint, end=end)
    equal = _EQUAL.match(fault.rest)
    if equal is None or not (fault.previous.text == ")" or fault.previous.kind in ("word", "string", "number")):
        return None
    word = " ".join(equal[1].split())
    sign = "!=" if "n" in word[2:].lower() and word.lower().startswith("is") else "="
    end = fault.start + len(equal[1])
    if not re.match(r"is|eq", word, re.IGNORECASE):
        return fault.report("equals-word", f"`{word}` is not an operator", TEXTS_UNSEARCHED, end=end)
    operand = between(fault, len(fault.before)) or (fault.previous.text if fault.previous.kind == "word" else None)
    whole = operand and fault.keyword in _FORMULA_KEYWORDS
    hint = f"write `{operand} {sign} {equal[2]}`" if whole else f"write `{sign}`"
    return fault.report("equals-word", f"`{word}` is not an operator", hint, end=end)


def assignment(fault: Fault) -> Diagnostic | None:
    """`fact age(ann) := 3`, `Flies(X) := Bird(X)`."""
    if not fault.rest.startswith(":=") or fault.in_arguments:
        return None
    end = fault.start + 2
    number = re.match(r":=\s*-?[\d.]", fault.rest)
    rule = None if number or fault.keyword not in _FORMULA_KEYWORDS else as_rule(fault)
    hint = f"write `{rule}`" if rule else "write `=`"
    return fault.report("assignment", "`:=` is not an operator", hint, end=end)


def where_clause(fault: Fault) -> Diagnostic | None:
    """`query P(X, Y) where Y = bob`."""
    word = re.match(r"(where|such\s+that|having|with|if|when|given)(?!\w)", fault.rest, re.IGNORECASE)
    if word is None or fault.keyword not in _FORMULA_KEYWORDS or "AND" not in fault.expected or fault.in_arguments:
        return None
    if word[1].lower() in ("if", "when", "given") and fault.keyword in ("rule", "axiom"):
        return None
    end = fault.start + len(word[0])
    return fault.report("where-clause", f"`{word[0]}` does not belong in a formula", "write `&`", end=end)


def value_of_fact(fault: Fault) -> Diagnostic | None:
    """`fact age(bob) = old`, `fact age(bob) = 1/2`, `fact age(bob) = 3 in [0, 1]`."""
    if fault.keyword not in ("fact", "label") or fault.open or len(fault.before) < 2:
        return None
    word, last, sign = fault.keyword, fault.before[-1], fault.before[-2].text
    if last.text == "=" and fault.token in ("NAME", "ENTITY", "STRING"):
        if fault.token == "STRING" and is_date(fault.text[1:-1]):
            return date_as_number(fault.text[1:-1], Span(fault.source, fault.start, fault.end))
        message = f"`{fault.shown}` is not a number; a {word} gives a number after `=`"
        hint = f"write it in digits; leave the {word} out where the value is not known"
        if number := re.fullmatch(r'"(-?\d+(?:\.\d+)?)"', fault.text):
            hint = f"write it in digits, without quotes: `{number[1]}`"
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
        return fault.report("computed-value", f"a {word} states a number and cannot compute one", hint)
    return None
