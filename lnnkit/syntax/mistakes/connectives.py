"""Commas between formulas, connectives that do not chain, and repeated weights."""

from __future__ import annotations

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)


def comma_conjunction(fault: Fault) -> Diagnostic | None:
    if fault.token != "COMMA" or fault.keyword not in _FORMULA_KEYWORDS or "AND" not in fault.expected:
        return None
    if fault.open and fault.before[fault.open[-1]].text != "(":
        return None
    return fault.report("comma-conjunction", "`,` cannot join formulas", "write `&`")


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


def repeated_weight(fault: Fault) -> Diagnostic | None:
    if (
        fault.token == "AT"
        and len(fault.before) > 1
        and "@" in (fault.before[-2].text, fault.before[-3:-2] and fault.before[-3].text)
    ):
        return fault.report("repeated-weight", "an operand has one weight", "keep one of them")
    return None
