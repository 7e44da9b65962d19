"""Loads and declarations with their parts in another order, or with other words."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault

_PATH = r"\"[^\"\n]+\"|[\w./-]+\.\w+"
_AS = re.compile(rf"(load|label)\s+({_PATH})(?:\s+(?:as|into|to)\s+([\w-]+))?\s*")
_SIGNED = re.compile(rf"(load|label)\s+([\w-]+)\s*(\([^()]*\))\s*from\s+({_PATH})\s*")
_HEADER_WORDS = re.compile(
    r"(?:with|has|without|skip|no_?header|headers|header\s*=\s*\w+)\b[ \t]*(?:an?\s+)?(?:headers?)?", re.IGNORECASE
)
_LISTED = re.compile(r"(?:columns?|using|select|cols)\s*[:=]?\s*[(\[]([^()\[\]]*)[)\]]|\[([^()\[\]]*)\]")


def load_order(fault: Fault) -> Diagnostic | None:
    """`load "p.csv" as P`, `load P(name) from "p.csv"`."""
    if fault.keyword not in ("load", "label"):
        return None
    text = fault.source.text[fault.piece.start : fault.piece.end]
    if found := _AS.fullmatch(text):
        instead = f"{found[1]} {found[3] or 'P'} from {_quoted(found[2])}"
    elif found := _SIGNED.fullmatch(text):
        instead = f"{found[1]} {found[2]} from {_quoted(found[4])} {found[3]}"
    else:
        return None
    message = f"a {found[1]} names the predicate, then the file, then the columns"
    return fault.report("load-order", message, f"write `{instead}`")


def load_words(fault: Fault) -> Diagnostic | None:
    """`load P from "p.csv" with header`, `... columns (a)`, `... [a, b]`."""
    if fault.keyword not in ("load", "label") or fault.previous is None or fault.open:
        return None
    if not fault.expected & {"HEADER", "LPAR", "WHERE"}:
        return None
    if found := _HEADER_WORDS.match(fault.rest):
        none = re.match(r"without|no_?header|header\s*=\s*(?:no|none|false)", fault.rest, re.IGNORECASE)
        instead = "no header" if none else "header"
    elif found := _LISTED.match(fault.rest):
        instead = f"({(found[1] or found[2] or '').strip()})"
    else:
        return None
    said = found[0].rstrip()
    message = f"`{said}` is not a clause of a {fault.keyword}"
    return fault.report("load-words", message, f"write `{instead}`", end=fault.start + len(said))


def declaration(fault: Fault) -> Diagnostic | None:
    """`predicate P(x: person)`, `predicate closed P(person)`, `predicate P(person) open`, `number age(x) = 3`."""
    if fault.keyword not in ("predicate", "number"):
        return None
    text = " ".join(fault.source.text[fault.piece.start : fault.piece.end].split())
    typed = re.fullmatch(r"(\w+ [\w-]+)\(([^()]*:[^()]*)\)( closed)?", text)
    moved = re.fullmatch(r"predicate (closed|open) ([\w-]+(?:\([^()]*\))?)", text)
    opened = re.fullmatch(r"(predicate [\w-]+(?:\([^()]*\))?) open", text)
    valued = re.fullmatch(r"number ([\w-]+(?:\([^()]*\))?) = (\S+)", text)
    if typed:
        sorts = ", ".join(part.rpartition(":")[2].strip() for part in typed[2].split(","))
        instead = f"{typed[1]}({sorts}){typed[3] or ''}"
        return fault.report("declaration", "an argument is declared by its sort alone", f"write `{instead}`")
    if moved:
        end = " closed" if moved[1] == "closed" else ""
        return fault.report(
            "declaration", f"`{moved[1]}` comes after the predicate", f"write `predicate {moved[2]}{end}`"
        )
    if opened:
        hint = f"write `{opened[1]}`"
        return fault.report("declaration", "a predicate is open unless it is declared `closed`", hint)
    if valued:
        hint = f"write `number {valued[1]}`, and its value as `fact {valued[1].partition('(')[0]}(...) = {valued[2]}`"
        return fault.report("declaration", "a declaration gives no value", hint)
    return None


def _quoted(path: str) -> str:
    return path if path.startswith('"') else f'"{path}"'
