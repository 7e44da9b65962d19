"""Corrected text for hints: what the user meant, in correct syntax."""

from __future__ import annotations

import re

from lnnkit.syntax.fault import CLOSING, Fault
from lnnkit.syntax.identifiers import is_name
from lnnkit.syntax.printer import format_string

_ARROW = re.compile(r"->|→|=>|⇒|:-|<-")
_LED = re.compile(r"(?P<truth>\d*\.?\d+)\s*(?P<colon>:{0,2})\s*(?=[~¬∀∃(\w])")
_OPENING = re.compile(r"[~¬]?[\w-]+\([^()]*\)\s*(?:[&|,]|[-=]>|and\b|or\b|implies\b|$)")
ARROW = re.compile(r"->|→|=>|⇒|(?<!\w)implies(?!\w)")


def balanced(text: str) -> bool:
    """Whether the brackets in ``text`` match."""
    stack: list[str] = []
    for character in text:
        if character in "([{":
            stack.append(character)
        elif character in ")]}" and (not stack or stack.pop() != CLOSING[character]):
            return False
    return not stack


def as_rule(fault: Fault) -> str | None:
    """`h(X) :- a(X), b(X).` rewritten as `rule a(X) & b(X) -> h(X)`; None if that is too long to show."""
    text, words = fault.source.text, fault.before
    if fault.keyword is not None:
        words = words[1:]
    name = ""
    if len(words) > 1 and words[1].text == ":":
        name, words = f"{words[0].text}: ", words[2:]
    if not words:
        return None
    head = text[words[0].start : fault.start].strip()
    body = text[fault.start + 2 : fault.piece.end].strip().removesuffix(".").strip()
    whole = text[fault.piece.start : fault.piece.end]
    if not (head and body and balanced(head) and balanced(body)) or _ARROW.search(head + body):
        return None
    if "\n" in whole or '"' in whole or len(whole) > 100:
        return None
    return f"{'axiom' if fault.keyword == 'axiom' else 'rule'} {name}{_conjoined(body)} -> {head}"


def _conjoined(body: str) -> str:
    """``body`` with the commas outside of brackets replaced by `&`, and the semicolons by `|`."""
    signs, depth, joined = {",": " &", ";": " |"}, 0, ""
    for character in body.replace("\\+", "~"):
        depth += (character in "([{") - (character in ")]}")
        joined += signs.get(character, character) if depth == 0 else character
    return " ".join(re.sub(r"([&|])(?=\S)", r"\1 ", joined).split())


def parts_of_call(text: str) -> list[str]:
    """The arguments of a call, split at the commas outside of brackets; ``text`` starts with its opening
    parenthesis."""
    parts, depth, start = [], 0, 1
    for index, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if (character == "," and depth == 1) or depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
        if depth == 0:
            break
    return parts


def by_cases(call: str) -> str | None:
    """What `IF(a, b, c)` means, as a formula; None if it has another number of parts."""
    parts = parts_of_call(call[call.index("(") :])
    if len(parts) not in (2, 3) or not all(parts) or any(re.fullmatch(r"[-\d.]+|\".*\"", part) for part in parts[1:]):
        return None
    held, then = (part if re.fullmatch(r"[\w-]+(?:\([^()]*\))?", part) else f"({part})" for part in parts[:2])
    if len(parts) == 2:
        return f"{held} -> {then}"
    return f"({held} -> {then}) & (~{held} -> {parts[2]})"


def aggregate_message(name: str) -> str:
    return f"`{name}` is no function: an aggregate names the variables that it runs over before a colon"


def between(fault: Fault, place: int) -> str | None:
    """The text of the atom that ends before ``before[place]``."""
    depth = 0
    for index in range(place - 1, -1, -1):
        text = fault.before[index].text
        depth += (text == ")") - (text == "(")
        if depth < 0:
            return None
        if depth == 0 and fault.before[index].kind == "word":
            return fault.source.text[fault.before[index].start : fault.before[place - 1].end]
        if depth == 0 and text != "(":
            return None
    return None


def operand_before(fault: Fault, start: int) -> str:
    """The text of the atom that ends before an offset, or before the comparison there; empty if there is none."""
    place = sum(lexeme.start < start for lexeme in fault.before)
    compared = place > 1 and re.search(r"[<>=]$|^in$", fault.before[place - 1].text)
    return between(fault, place - 1 if compared else place) or ""


def as_entity(item: str) -> str:
    """An item of a list, in quotes unless it has them or needs none."""
    return item if item.startswith('"') or is_name(item) else format_string(item)


def truth_before(text: str) -> str | None:
    """What `0.8: A -> B` means, written as `A -> B in [0.8, 1]`; None if the text is not a truth value before a
    formula."""
    led = _LED.match(text)
    if led is None or not (led["colon"] or _OPENING.match(text, led.end())):
        return None
    formula = " ".join(text[led.end() :].split()).removesuffix(".")
    lower = led["truth"] if float(led["truth"]) <= 1 else "l"
    return f"{formula} in [{lower}, 1]" if ARROW.search(formula) and " in [" not in formula else None
