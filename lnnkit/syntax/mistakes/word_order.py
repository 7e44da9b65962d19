"""Statements in the word order of natural language: the head first, the entity before its predicate, a question with
its question word."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, AGGREGATING
from lnnkit.syntax.rewrite import aggregate_message, balanced

_CONDITION = re.compile(r"(if|when|whenever|provided that|provided|because|given)(?!\w)", re.IGNORECASE)
_NAME = r"[^\W\d_][\w-]*"
_IS = re.compile(rf"(fact|label)\s+({_NAME})\s+is\s+(?:an?\s+)?({_NAME})\s*", re.IGNORECASE)
_APART = re.compile(rf"(fact|label)\s+({_NAME})\s+(?:of\s+|for\s+)?({_NAME})\s*(=\s*-?[\d.]+|)\s*")
_TRUTHS = ("true", "false", "unknown", "null", "none")
_QUESTION_WORDS = ("who", "whom", "whose", "which", "what", "where", "is", "are", "does", "do", "find", "get", "if")
_SHOWN = re.compile(r"(order\s+by|sort(?:ed)?\s+by|limit|top|group\s+by|desc|asc)(?!\w)", re.IGNORECASE)
_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)
_VARIABLES = ("X", "Y", "Z", "U", "V", "W")


def head_first(fault: Fault) -> Diagnostic | None:
    """`rule Q(X) if P(X)`."""
    word = _CONDITION.match(fault.rest)
    if word is None or fault.keyword not in ("rule", "axiom") or fault.open or "AND" not in fault.expected:
        return None
    words = fault.before[1:]
    name = f"{words[0].text}: " if len(words) > 1 and words[1].text == ":" else ""
    words = words[2:] if name else words
    if not words or any(lexeme.text in ("->", "=>", "if", "If", "IF") for lexeme in words):
        return None
    head = " ".join(fault.source.text[words[0].start : fault.start].split())
    body = " ".join(fault.source.text[fault.start + word.end() : fault.piece.end].split()).removesuffix(".")
    short = body and balanced(body) and len(body) + len(head) < 90 and "->" not in body
    bounds = re.search(r"\s+in\s*\[[^\]]*\]$", body)
    hint = "write `P -> Q` for Q if P"
    if short:
        end = bounds[0] if bounds else ""
        hint = f"write `{fault.keyword} {name}{body.removesuffix(end)} -> {head}{end}`"
    end = fault.start + word.end()
    return fault.report("if-then", f"`{word[0]}` is not a keyword: a rule is written with its head last", hint, end=end)


def spoken_fact(fault: Fault) -> Diagnostic | None:
    """`fact ann is Person`, `fact age ann = 34`."""
    if fault.keyword not in ("fact", "label"):
        return None
    text = fault.source.text[fault.piece.start : fault.piece.end]
    said, apart = _IS.fullmatch(text), _APART.fullmatch(text)
    if said and said[3].lower() not in _TRUTHS:
        instead = f"{said[1]} {said[3]}({said[2]})"
    elif apart and apart[3] != "is" and apart[3].lower() not in _TRUTHS:
        instead = f"{apart[1]} {apart[2]}({apart[3]}) {apart[4]}".rstrip()
    else:
        return None
    message = f"a {fault.keyword} names its predicate, and the entities in parentheses"
    return fault.report("fact-order", message, f"write `{instead}`")


def truth_first(fault: Fault) -> Diagnostic | None:
    """`fact 0.7 Cough(ann)`."""
    found = re.fullmatch(r"(\d*\.?\d+)\s*:{0,2}\s*([^\W\d_][\w-]*(?:\([^()]*\))?)\s*", fault.rest)
    if fault.keyword not in ("fact", "label") or len(fault.before) != 1 or found is None:
        return None
    hint = f"write `{fault.keyword} {found[2]} = {found[1]}`"
    return fault.report("leading-truth", f"the truth of a {fault.keyword} is written at its end", hint)


def about(fault: Fault) -> Diagnostic | None:
    """`fact age(ann) ~ 34`, `fact age(ann) = 34 +- 2`."""
    if fault.keyword not in ("fact", "label") or fault.previous is None or fault.open:
        return None
    given = re.fullmatch(r"(?:\+\s*/?\s*-|±)\s*(\d[\d.]*)\s*", fault.rest)
    if given and fault.previous.kind == "number" and fault.previous.text.count(".") < 2:
        middle, margin = float(fault.previous.text), float(given[1])
        hint = f"write `in [{middle - margin:.15g}, {middle + margin:.15g}]`"
        start, end = fault.previous.start, fault.start + len(fault.rest.rstrip())
        return fault.report("wrong-bounds", "a margin is written as bounds", hint, start, end)
    if re.fullmatch(r"(?:~|≈|about|around|approx\.?)\s*-?[\d.]+\s*", fault.rest):
        hint = "write what it lies between: `in [l, u]`"
        return fault.report("wrong-bounds", "a value is exact: a margin is written as bounds", hint)
    return None


def bare_variable(fault: Fault) -> Diagnostic | None:
    """`rule Person X -> Well X`."""
    previous, word = fault.previous, fault.word
    if fault.keyword not in _FORMULA_KEYWORDS or previous is None or word is None or fault.in_arguments:
        return None
    if previous.kind != "word" or not previous.text[:1].isupper() or not re.fullmatch(r"[A-Z]\d*", word.text):
        return None
    if len(previous.text) < 2 or len(fault.before) < 2 or fault.quantified(len(fault.before) - 1):
        return None
    hint = f"write `{previous.text}({word.text})`"
    message = f"the arguments of `{previous.text}` stand in parentheses"
    return fault.report("missing-parentheses", message, hint, previous.start, word.end)


def negating_word(fault: Fault) -> Diagnostic | None:
    """`rule P(X) & no Q(X) -> R(X)`."""
    previous = fault.previous
    if fault.keyword not in _FORMULA_KEYWORDS or previous is None or len(fault.before) < 2:
        return None
    if previous.text.lower() not in ("no", "never", "neither", "isnt", "without") or fault.in_arguments:
        return None
    if not re.match(r"[^\W\d_][\w-]*\s*\(", fault.rest):
        return None
    message = f"`{previous.text}` is not the negation"
    return fault.report_at(previous, "word-negation", message, "write `~`")


def counted(fault: Fault) -> Diagnostic | None:
    """`exists 2 Y: P(X, Y)`, `at least 2 Y: P(X, Y)`."""
    if fault.keyword not in _FORMULA_KEYWORDS:
        return None
    text = fault.source.text[fault.piece.start : fault.piece.end]
    found = re.search(
        r"(?:(?:exists|exist|∃)\s+(?:exactly\s+|at\s+(?:least|most)\s+|only\s+)?|(?:at\s+(?:least|most)|exactly|only)\s+)"
        r"(\d+|one|two|three)\s+([A-Z]\w*)\s*:",
        text,
    )
    start = fault.piece.start + found.start() if found else 0
    if found is None or not start <= fault.start <= fault.piece.start + found.end():
        return None
    hint = "two different ones are `exists Y, Z: P(X, Y) & P(X, Z) & Y != Z`; count more before loading"
    return fault.report("counting", "there are no counting quantifiers", hint, start, fault.piece.start + found.end())


def question_word(fault: Fault) -> Diagnostic | None:
    """`query who Parent(ann, X)`, `query X: Parent(ann, X)`, `query count Person(X)`."""
    previous = fault.previous
    if fault.keyword != "query" or previous is None or len(fault.before) != 2 or previous.kind != "word":
        return None
    asked = " ".join(fault.rest.split()).removesuffix("?").rstrip()
    variable = fault.rest.startswith(":") and (previous.text.startswith("?") or previous.text[:1].isupper())
    if variable and asked[1:].strip():
        message = "a query names no variables: it asks for those that are free"
        plain = re.sub(r"[?$]([^\W\d_])", lambda mark: mark[1].upper(), asked[1:].strip())
        return fault.report_at(previous, "query-words", message, f"write `query {plain}`")
    if not re.match(r"[~¬]?[^\W\d_][\w-]*\s*\(", fault.rest):
        return None
    if previous.text.lower() in AGGREGATING:
        return fault.report_at(previous, "aggregate", aggregate_message(previous.text), AGGREGATE_HINT)
    if previous.text.lower() in _QUESTION_WORDS:
        message = f"`{previous.text}` is not part of a query"
        return fault.report_at(previous, "query-words", message, f"write `query {asked}`")
    return None


def order_of_answers(fault: Fault) -> Diagnostic | None:
    """`query P(X) order by age(X)`, `query P(X) limit 10`."""
    word = _SHOWN.match(fault.rest)
    if word is None or fault.keyword != "query" or fault.open or "AND" not in fault.expected:
        return None
    said = " ".join(word[0].lower().split())
    hint = "remove it; `lnnkit run FILE --sort lower --limit 10` sorts and cuts what is shown"
    end = fault.start + word.end()
    return fault.report(
        "query-words", f"`{said}` cannot be part of a query: a query returns all answers", hint, end=end
    )


def asked_argument(fault: Fault) -> Diagnostic | None:
    """`query Parent(ann, ?)`, `query Parent(ann, *)`."""
    mark = re.match(r"[?*]\s*[,)]", fault.rest)
    if fault.keyword != "query" or not fault.in_arguments or mark is None:
        return None
    if fault.previous is None or fault.previous.text not in ("(", ","):
        return None
    text = fault.source.text[fault.piece.start : fault.piece.end]
    free = next((name for name in _VARIABLES if not re.search(rf"(?<!\w){name}(?!\w)", text)), "X1")
    message = f"`{mark[0][0]}` is not an argument"
    hint = f"a variable stands for what is asked: `{free}`"
    return fault.report("query-words", message, hint, end=fault.start + 1)
