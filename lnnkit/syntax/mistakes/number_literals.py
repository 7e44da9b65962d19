"""Numbers with separators or units, missing operators, calls without operands, and misplaced learnable values."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import FUNCTIONS, SHOUTED, UNITS, WORDS, is_name


def number_text(fault: Fault) -> Diagnostic | None:
    previous = fault.previous
    separated = re.match(r"[,_](\d{3})(?!\d)", fault.rest)
    if previous and previous.kind == "number" and separated and fault.touching:
        match = re.match(r"(?:[,_]\d{3})+", fault.rest)
        digits = previous.text + (match[0] if match else "")
        hint = f"write `{digits.replace(',', '').replace('_', '')}`"
        return fault.report("thousands-separator", "a number has no separators", hint)
    underscored = re.match(r"\d{1,3}(?:_\d{3})+(?!\w)", fault.rest)
    if underscored and not fault.in_arguments:
        hint = f"write `{underscored[0].replace('_', '')}`"
        end = fault.start + underscored.end()
        return fault.report("thousands-separator", "a number has no separators", hint, end=end)
    grouped = re.match(r"(?:\.\d{3})+(?![\d.])", fault.rest)
    if previous and previous.kind == "number" and re.fullmatch(r"\d{1,3}\.\d{3}", previous.text) and grouped:
        digits = (previous.text + grouped[0]).replace(".", "")
        end = fault.start + grouped.end()
        return fault.report("thousands-separator", "a number has no separators", f"write `{digits}`", end=end)
    based = re.match(r"0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)(?!\w)", fault.rest)
    if based and not fault.in_arguments and fault.token in (None, "ENTITY"):
        end, value = fault.start + based.end(), int(based[0], 0)
        return fault.report("number-base", f"numbers are decimal, not `{based[0]}`", f"write `{value}`", end=end)
    priced = re.match(r"[€$£¥]\s*(\d[\d.]*)", fault.rest)
    if priced and not fault.in_arguments:
        hint = f"write `{priced[1]}`, and put the unit into the name"
        return fault.report("number-unit", f"a number has no unit: `{fault.text}`", hint)
    glued = re.match(r"(\d+(?:\.\d+)?)([^\W\d_]\w*)", fault.rest)
    if glued and not fault.in_arguments and fault.token in (None, "ENTITY"):
        start = fault.start + glued.end(1)
        return fault.report(
            "number-unit",
            f"a number has no unit: `{glued[2]}`",
            f"write `{glued[1]}`, and put the unit into the name",
            start,
            fault.start + glued.end(),
        )
    if previous and previous.kind == "number" and not fault.in_arguments and not fault.first_on_line:
        if fault.text in "€$£¥":
            hint = f"write `{previous.text}`, and put the unit into the name"
            return fault.report("number-unit", f"a number has no unit: `{fault.text}`", hint)
        if fault.text == "%":
            hint = f"write `{float(previous.text) / 100:g}` for `{previous.text}%`"
            return fault.report("number-unit", "a number cannot be followed by `%`", hint)
        applied = fault.source.text[fault.end :].lstrip(" ").startswith("(")  # an atom: a connective is missing
        if fault.token in ("NAME", "ENTITY") and not applied and is_name(fault.text) and fault.text not in SHOUTED:
            hint = f"write `{previous.text}`, and put the unit into the name"
            return fault.report("number-unit", f"a number has no unit: `{fault.text}`", hint)
    return None


def decimal_comma(fault: Fault) -> Diagnostic | None:
    previous, decimals = fault.previous, re.match(r",(\d+)(?![\w.])", fault.rest)
    if previous is None or previous.kind != "number" or decimals is None or not fault.touching:
        return None
    hint = f"write `{previous.text.replace('.', '')}.{decimals[1]}`"
    end = fault.start + decimals.end()
    return fault.report("decimal-comma", "a number has a point, not a comma", hint, end=end)


def missing_operator(fault: Fault) -> Diagnostic | None:
    """``2income(X)``, ``2(a(X) + 1)``, and ``2-income(X)``, which is a single name."""
    if fault.in_arguments:
        return None
    applied = re.match(r"(\d+(?:\.\d+)?)(-?)([^\W\d_]\w*)\(", fault.rest)
    if applied and applied[2]:
        hint = f"write `{applied[1]} - {applied[3]}(...)`"
        return fault.report("missing-space", f"`{applied[1]}-{applied[3]}` reads as one name", hint)
    if applied and fault.token in (None, "ENTITY"):
        hint = f"write `{applied[1]} * {applied[3]}(...)`"
        return fault.report("missing-operator", "a product needs its `*`", hint, end=fault.start + applied.end(3))
    previous = fault.previous
    if previous and previous.kind == "number" and fault.text == "(" and fault.touching:
        return fault.report("missing-operator", "a product needs its `*`", f"write `{previous.text} * (...)`")
    spaced = re.match(r"([^\W\d_][\w-]*)\(", fault.rest)
    first = len(fault.before) > 1 and (fault.before[-2].text in ("(", "&", "|", "~", "->") or len(fault.before) == 2)
    if previous and previous.kind == "number" and spaced and first and spaced[1] not in WORDS | SHOUTED:
        hint = f"write `{previous.text} * {spaced[1]}(...)`"
        return fault.report("missing-operator", "a product needs its `*`", hint, end=fault.start + spaced.end(1))
    return None


def no_operands(fault: Fault) -> Diagnostic | None:
    if fault.text != ")" or len(fault.before) < 2 or fault.before[-1].text != "(":
        return None
    called = fault.before[-2]
    if called.text not in FUNCTIONS | UNITS or "LPAR" not in fault.expected:
        return None
    example = f"{called.text}(age(X))" if called.text in FUNCTIONS else f"{called.text}(income(X), debt(X))"
    hint = f"write the numbers that it takes: `{example}`"
    return fault.report_at(called, "no-operands", f"`{called.text}` has no operands", hint)


def misplaced_learnable(fault: Fault) -> Diagnostic | None:
    """A `?` in the place of a name, an argument or a column. Where a number is allowed, the fault has another cause."""
    if fault.token != "LEARNABLE" and not (fault.token is None and fault.text == "?"):
        return None
    if not fault.expected & {"NAME", "ENTITY", "STRING"} or fault.expected & {"LEARNABLE", "LPAR"}:
        return None
    hint = "learnable values are numbers: constants, weights, biases, truths of rules, and attributes of units"
    return fault.report("misplaced-learnable", f"`{fault.text}` is a learnable number where a name is expected", hint)


def called_learnable(fault: Fault) -> Diagnostic | None:
    """`fact rate(a) = ?f(size(a))`, `rule P(X)@?f(size(X)) -> Q(X)`."""
    if fault.text != "(" or not fault.before or not fault.before[-1].text.startswith("?"):
        return None
    text = f"{fault.before[-1].text}(...)"
    message = f"`{text}` is an unknown function, which stands in equations of rules"
    hint = f"write `rule rate(X) = {text}`: its values are stated or labelled, its formula is found"
    return fault.report_at(fault.before[-1], "misplaced-learnable", message, hint)


def learnable(fault: Fault) -> Diagnostic | None:
    if fault.previous and fault.previous.text == "?" and fault.token in ("NAME", "ENTITY", "NUMBER"):
        return fault.report("learnable-space", "`?` must not be followed by a space", f"write `?{fault.text}`")
    match = re.match(r"\?\s*=\s*(-?[\d.]+)", fault.rest)
    if fault.token is None and match:
        return fault.report(
            "learnable-form",
            "a learnable value without a name cannot be followed by `=`",
            f"write `?{match[1]}`",
            end=fault.start + match.end(),
        )
    return None
