"""Loads and declarations with their parts in another order, or with other words."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault

_PATH = r"\"[^\"\n]+\"|[\w./-]+\.\w+"
_AS = re.compile(rf"(load|label)\s+({_PATH})(?:\s+(?:as|into|to)\s+([\w-]+))?\s*")
_SIGNED = re.compile(rf"(load|label)\s+([\w-]+)\s*(\([^()]*\))\s*from\s+({_PATH})\s*")
_WITHOUT_FROM = re.compile(rf"(load|label)\s+([\w-]+)\s+({_PATH})(\s*\([^()]*\)|)\s*")
_HEADER_WORDS = re.compile(
    r"(?:with|has|without|skip|no_?header|headers|header\s*=\s*\w+)\b[ \t]*(?:an?\s+)?(?:headers?)?", re.IGNORECASE
)
_UNLISTED = re.compile(r"(?:columns?|using|select|cols)\s*[:=]?\s*([\w\"-]+(?:\s*,\s*[\w\"-]+)*)\s*$")
_DELIMITERS = ("sep", "separator", "delim", "delimited by", "separated by")
_CLAUSE_WORDS = re.compile(
    r"(sep|separator|delim|delimited\s+by|separated\s+by|na|na_values|nan|null|nulls|none|unknown)\s*[:=]?\s*"
    r"\"([^\"\n]*)\"",
    re.IGNORECASE,
)
_FILTER = re.compile(r"(?:if|when|filter|filtered\s+by|whenever|only)(?=\s+\w)", re.IGNORECASE)
_LISTED = re.compile(r"(?:columns?|using|select|cols)\s*[:=]?\s*[(\[]([^()\[\]]*)[)\]]|\[([^()\[\]]*)\]")


def load_order(fault: Fault) -> Diagnostic | None:
    """`load "p.csv" as P`, `load P(name) from "p.csv"`, `load P "p.csv"`."""
    if fault.keyword not in ("load", "label"):
        return None
    text = fault.source.text[fault.piece.start : fault.piece.end]
    if found := _AS.fullmatch(text):
        instead = f"{found[1]} {found[3] or 'P'} from {_quoted(found[2])}"
    elif found := _SIGNED.fullmatch(text):
        instead = f"{found[1]} {found[2]} from {_quoted(found[4])} {found[3]}"
    elif fault.expected == {"FROM"} and (found := _WITHOUT_FROM.fullmatch(text)):
        instead = f"{found[1]} {found[2]} from {_quoted(found[3])}{found[4]}"
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
    elif found := _UNLISTED.match(fault.rest):
        instead = f"({found[1].strip()})"
    elif found := _CLAUSE_WORDS.match(fault.rest):
        clause = "delimiter" if found[1].lower() in _DELIMITERS else "missing"
        instead = f'{clause} "{found[2]}"'
    elif found := _FILTER.match(fault.rest):
        instead = "where"
    else:
        return None
    said = found[0].rstrip()
    message = f"`{said}` is not a clause of a {fault.keyword}"
    return fault.report("load-words", message, f"write `{instead}`", end=fault.start + len(said))


def load_condition(fault: Fault) -> Diagnostic | None:
    """`load P from "p.csv" (name, years > 18)`, `... header = true`."""
    if fault.keyword not in ("load", "label") or fault.previous is None:
        return None
    switched = re.match(r"[=:]\s*(\w+)", fault.rest)
    if fault.previous.text == "header" and switched and not fault.open:
        none = switched[1].lower() in ("false", "no", "none", "0")
        end = fault.start + switched.end()
        message = "`header` takes no value"
        hint = f"write `{'no header' if none else 'header'}`"
        return fault.report("load-words", message, hint, fault.previous.start, end)
    condition = re.match(r"(?:[<>]=?|!=|=)\s*(?:\"[^\"\n]*\"|-?[\d.]+)(?=\s*[,)])", fault.rest)
    if condition is None or not fault.open or "FROM" in fault.expected or fault.expected != {"COMMA", "RPAR"}:
        return None
    end = fault.start + condition.end()
    hint = f"write it after the columns: `where {fault.previous.text} {condition[0]}`"
    return fault.report(
        "load-words", "a condition cannot stand in the list of columns", hint, fault.previous.start, end
    )


def sort_members(fault: Fault) -> Diagnostic | None:
    """`sort person = {ann, bob}`, `sort person(ann, bob)`."""
    if fault.keyword != "sort" or len(fault.before) != 2 or not re.match(r"[=:({\[]", fault.rest):
        return None
    message = "a sort does not list its entities: facts and tables name them"
    return fault.report("declaration", message, f"write `sort {fault.before[1].text}`")


def logic_sign(fault: Fault) -> Diagnostic | None:
    """`logic = product`."""
    named = re.match(r"[=:]\s*(\w+)", fault.rest)
    if fault.keyword != "logic" or len(fault.before) != 1 or named is None:
        return None
    return fault.report("declaration", "the name of the logic follows the word", f"write `logic {named[1]}`")


def declaration(fault: Fault) -> Diagnostic | None:
    """`predicate P(x: person)`, `predicate closed P(person)`, `predicate P(person) open`, `number age(x) = 3`."""
    if fault.keyword not in ("predicate", "number"):
        return None
    text = " ".join(fault.source.text[fault.piece.start : fault.piece.end].split())
    typed = re.fullmatch(r"(\w+ [\w-]+)\(([^()]*:[^()]*)\)( closed)?", text)
    moved = re.fullmatch(r"predicate (closed|open) ([\w-]+(?:\([^()]*\))?)", text)
    opened = re.fullmatch(r"(predicate [\w-]+(?:\([^()]*\))?) open", text)
    valued = re.fullmatch(r"(number|predicate) ([\w-]+(?:\([^()]*\))?) = (\S+)", text)
    listed = re.fullmatch(r"(\w+) ([\w-]+) ?: ?([\w-]+(?: ?, ?[\w-]+)*)( closed)?", text)
    spaced = re.fullmatch(r"(\w+ [\w-]+)\(([\w-]+(?:,? [\w-]+)+)\)( closed)?", text)
    of_type = re.fullmatch(r"(number [\w-]+(?:\([^()]*\))?) (?::\s*)?(int|integer|float|double|real|decimal)", text)
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
        name, arguments, _ = valued[2].partition("(")
        value = f"its value as `fact {name}{'(...)' if arguments else ''} = {valued[3]}`"
        hint = f"write `{valued[1]} {valued[2]}`, and {value}"
        return fault.report("declaration", "a declaration gives no value", hint)
    if listed:
        sorts = ", ".join(part.strip() for part in listed[3].split(","))
        instead = f"{listed[1]} {listed[2]}({sorts}){listed[4] or ''}"
        return fault.report("declaration", "the sorts of the arguments stand in parentheses", f"write `{instead}`")
    if spaced:
        sorts = ", ".join(re.split(r",? ", spaced[2]))
        instead = f"{spaced[1]}({sorts}){spaced[3] or ''}"
        return fault.report("declaration", "sorts are separated by commas", f"write `{instead}`")
    if of_type:
        return fault.report("declaration", "a number has no further type", f"write `{of_type[1]}`")
    return None


def _quoted(path: str) -> str:
    return path if path.startswith('"') else f'"{path}"'
