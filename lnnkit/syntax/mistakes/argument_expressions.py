"""Arguments that are expressions or need quotes."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import END, Fault


def several_words(fault: Fault) -> Diagnostic | None:
    """`Lives(anna, New York)`: the entity needs quotes, or a comma is missing."""
    previous = fault.previous
    if not fault.in_arguments or fault.token not in ("ENTITY", "NAME", "NUMBER") or previous is None:
        return None
    if previous.kind not in ("word", "number"):
        return None
    start = previous.start
    match = re.match(r"[^\W_][\w.:-]*(?:[ \t]+[^\W_][\w.:-]*)*", fault.rest)
    words = fault.source.text[start : fault.start + (match.end() if match else 0)]
    hint = f'quote an entity of several words: "{words}"; or put a comma between two'
    return fault.report("unquoted-entity", f"`{fault.text}` follows `{previous.text}` with no comma between", hint)


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


def underscore(fault: Fault) -> Diagnostic | None:
    if fault.text.startswith("_"):
        word = re.match(r"\w+", fault.rest)
        end = fault.start + (word.end() if word else 1)
        return fault.report(
            "reserved-underscore", "`_` is reserved and cannot start a name", "name it, or write `exists`", end=end
        )
    return None
