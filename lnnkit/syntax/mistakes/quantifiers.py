"""Quantifiers with sorts, without commas, run together with what follows, or under another name."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import unglued


def quantifier_sort(fault: Fault) -> Diagnostic | None:
    if not fault.before or not fault.quantified(len(fault.before) - 1):
        return None
    if fault.token == "IN" or (fault.token is None and fault.text in "∈:"):
        name = fault.before[-1].text
        match = re.match(r"(?:in|∈)\s*([^\W\d_][\w-]*)", fault.rest)
        hint = f"write `{match[1]}({name})` in the formula, or give the predicates sorts" if match else "leave it out"
        return fault.report("quantifier-sort", "a quantifier cannot name a sort", hint)
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


_QUANTIFIER_WORDS = {
    "for": "forall", "all": "forall", "every": "forall", "each": "forall", "foreach": "forall", "forAll": "forall",
    "Forall": "forall", "ForAll": "forall", "exist": "exists", "some": "exists", "there": "exists", "Exists": "exists",
}  # fmt: skip


def quantifier_word(fault: Fault) -> Diagnostic | None:
    """`for all x: ...`, `exist x: ...`."""
    previous = fault.previous
    if previous is None or fault.word is None or fault.in_arguments or previous.kind != "word":
        return None
    instead = _QUANTIFIER_WORDS.get(previous.text)
    if instead is None or not re.match(
        r"(?:all |each |every |exists? |is )?\s*\w+(?:\s*,\s*\w+)*\s*[:(.\w]", fault.rest
    ):
        return None
    return fault.report_at(
        previous, "quantifier-word", f"`{previous.text}` is not a quantifier", f"write `{instead} X: ...`"
    )
