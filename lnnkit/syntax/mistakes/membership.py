"""`S in (retired, employed)`: `in` gives bounds and does not test membership."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import is_name
from lnnkit.syntax.printer import format_string
from lnnkit.syntax.rewrite import between

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)
_ITEM = r"""(?:"(?:[^"\\\n]|\\.)*"|[^\W_][\w.:-]*)"""
_LISTED = re.compile(rf"in\s*[(\[{{]\s*({_ITEM}(?:\s*,\s*{_ITEM})*)\s*[)\]}}]")
_NUMBER = re.compile(r"\d[\d.]*(?:[eE]-?\d+)?|inf")


def membership(fault: Fault) -> Diagnostic | None:
    """A list of entities after `in`."""
    place = _place(fault)
    if fault.keyword not in _FORMULA_KEYWORDS or place < 1 or fault.quantified(place - 1):
        return None
    start = fault.before[place].start if place < len(fault.before) else fault.start
    listed = _LISTED.match(fault.source.text, start, fault.piece.end)
    items = re.findall(_ITEM, listed[1]) if listed else []
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
