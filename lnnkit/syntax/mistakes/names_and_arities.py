"""Names of rules, arities, and paths without quotes."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import WORDS


def rule_name(fault: Fault) -> Diagnostic | None:
    """`rule my rule: ...` has a name of several words; `rule: ...` has none."""
    if fault.keyword not in ("rule", "axiom") or not fault.before:
        return None
    words = fault.before[1:]
    if fault.token == "COLON" and not words:
        hint = f"write `{fault.keyword} name: ...`, or leave the colon out"
        return fault.report("rule-name", "there is no name before the colon", hint)
    match = re.match(r"((?:\w+[ \t]+)*\w+)\s*:(?!-)", fault.rest)
    if not match or not words or not all(lexeme.kind == "word" for lexeme in words):
        return None
    name = " ".join([*(lexeme.text for lexeme in words), *match[1].split()])
    hint = f'write `{name.replace(" ", "-")}:` or `"{name}":`'
    return fault.report("rule-name", f"a name must be one word, not `{name}`", hint)


def reserved(fault: Fault) -> Diagnostic | None:
    """`fact and(a)`, `predicate in(entity)`: reserved words as names."""
    previous = fault.previous
    if previous is not None and previous.text == "not" and fault.rest.startswith("(") and "NAME" in fault.expected:
        return fault.report_at(
            previous, "reserved-word", "`not` is the negation and cannot be a name", "write `~P(a)` for not P(a)"
        )
    word = re.match(r"(\w+)\(", fault.rest)
    if word is None or word[1] not in WORDS or fault.previous is None or "NAME" not in fault.expected:
        return None
    end = fault.start + len(word[1])
    hint = f"choose another name, such as `is-{word[1]}`"
    return fault.report("reserved-word", f"`{word[1]}` is a word of the language and cannot be a name", hint, end=end)


def arity(fault: Fault) -> Diagnostic | None:
    match = re.match(r"/\s*(\d)\b", fault.rest)
    if (
        fault.keyword in ("predicate", "number", "load", "label")
        and fault.token == "DIVIDE"
        and match
        and fault.previous
    ):
        sorts = ", ".join(["entity"] * int(match[1]))
        hint = (
            f"write `{fault.keyword} {fault.previous.text}({sorts})`"
            if fault.keyword in ("predicate", "number")
            else "leave it out"
        )
        return fault.report(
            "predicate-arity", f"the arity is not written as `{match[0]}`", hint, end=fault.start + match.end()
        )
    return None


def unquoted_path(fault: Fault) -> Diagnostic | None:
    previous = fault.previous
    if (
        previous is None
        or fault.expected - {"QUERY", "DATABASE"} != {"STRING"}
        or not re.match(r"[\w./~\\-]", fault.rest)
    ):
        return None
    word = re.split(r"[\s(]", fault.rest, maxsplit=1)[0]
    end = fault.start + len(word)
    if fault.source.text[end : fault.piece.end].lstrip().startswith('"'):
        return None  # an extra word before the path
    if previous.text in ("from", "import"):
        return fault.report("unquoted-path", f"the path `{word}` needs quotes", f'write "{word}"', end=end)
    return None
