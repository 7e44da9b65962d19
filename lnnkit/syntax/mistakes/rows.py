"""The notation of the table of mistakes, and how a row of it is found.

Under each heading of a table, ``KEYWORDS [CONDITIONS] CODE: MESSAGE``, stand patterns with their hints; a row of three
has a heading of its own. In a pattern

- a blank is ``\\s+``, ``(<name>`` opens a named group, and `MACROS` in capitals stand for what recurs;
- ``⟦`` and ``⟧`` enclose what the finding points at (without them it is what the parser stopped at);
- ``‸`` is where the parser stopped: the pattern is looked for there, what is left of the mark just before it. Without
  ``‸`` it covers the whole statement after its keyword.

Message and hint are filled in with the groups, each in one of the `FORMS` if a colon and its name follow, and with what
`_row` adds. A hint that begins with a backtick is what to write; one with ``{operand}`` holds where an atom stands
before the finding. A hint may be a function of them; where it returns None, the row does not hold. Conditions are those
of `CONDITIONS`, or a terminal that the grammar expects there (``-NAME``: that it does not), or ``=ONE|OTHER``: the
terminal that stands there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import CONNECTIVES, Fault, visible
from lnnkit.syntax.identifiers import DECLARING, FUNCTIONS, KEYWORDS, SHOUTED, TEXT_FUNCTIONS, UNITS, WORDS
from lnnkit.syntax.rewrite import as_entity, operand_before

LONGEST = 400  # characters of a statement, and before the fault, that are looked at: what people type by hand
Groups = dict[str, str]  # named groups of a match and their texts
Hint = str | Callable[[Groups, Fault], str | None]
Recogniser = Callable[[Fault], Diagnostic | None]
Row = tuple[str, Hint] | tuple[str, str, Hint]  # a pattern with its hint, under the heading above or its own
MistakeTable = Sequence[str | Row | Recogniser]  # headings, rows, and what takes more than a pattern

_KINDS = {  # the others are keywords; None is a line that no keyword starts
    "rule": ("rule", "axiom"), "fact": ("fact", "label"), "formula": ("rule", "axiom", "query"),
    "table": ("load", "label"), "declaration": DECLARING, "line": (None,), "any": (*KEYWORDS, None),
}  # fmt: skip
NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
ATOM = r"[~¬]?[^\W\d][\w-]*\([^()]*\)"
SHARE = r"(?:0?\.\d+|[01](?:\.0+)?)"
VALUE = r"-?\d+(?:\.\d+)?"
ITEM = r"(?:\"(?:[^\"\\\n]|\\.)*\"|[^\W_][\w.:-]*)"
PART = rf"(?:{ATOM}\s*[<>=!]+\s*{VALUE}|{ATOM})"
CELL = rf"(?:\"(?:[^\"\\\n]|\\.)*\"|-?{NUMBER}|true|false)"
NAME = r"[^\W\d_]\w*(?:-\w+)*"
SORTED = "remove it; `lnnkit run FILE --sort lower --limit 10` sorts and cuts what is shown"
MACROS = {
    "ATOM": ATOM, "SHARE": SHARE, "VALUE": VALUE, "PART": PART, "ITEM": ITEM, "CELL": CELL, "NAME": NAME,
    "NUMBER": NUMBER, "DIGITS": r"(?:\d+(?:\.\d+)?|\.\d+)", "COUNT": r"(?:\d+|one|two|three)",
    "ITEMS": rf"{ITEM}(?:\s*,\s*{ITEM})*", "CELLS": rf"{CELL}(?:\s*,\s*{CELL})*", "NAMES": rf"{NAME}(?:\s*,\s*{NAME})*",
    "COLUMN": r"(?:\"[^\"\n]*\"|[\w-]+)", "ENTITY": r"(?:\"[^\"\n]*\"|[a-z0-9][\w-]*)",
    "PATH": r"(?:\"[^\"\n]+\"|[\w./-]+\.\w+)", "START": r"(?:.*?[\s(&|~¬])?",
    "EDGE": r"(?<![\w-])", "GAP": r"[^\S\n]",  # where a word starts; white space within a line
    "BEHIND": rf"(?<![\w.])(?P<number>{NUMBER})",  # a number before the fault
    "TERM": r"date\s*\"[^\"\n]*\"|-?[\w.]+(?:\([^()]*\)|[\w.:-]*)", "BINDER": r"(?:[∀∃]|\b(?:forall|exists)(?!\w))",
    "LINK": r"(?:[&|)]|<?->|=>|→|(?:and|or|xor|implies|iff)\b)",
    "GROUPS": r"[^()\[\]{}]*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[^()\[\]{}]*)*",
    "INTERVAL": r"\[\s*(?P<low>[^,\[\]]+?)\s*,\s*(?P<high>[^,\[\]]+?)\s*\]",
    "ENDS": r"(?P<low>[^,()\[\]]+?)\s*,\s*(?P<high>[^,()\[\]]+?)",
    "EVERY": r"(?:all\s+|each\s+|every\s+|exists?\s+|is\s+)?\s*\w+(?:\s*,\s*\w+)*\s*[:(.\w]",
    "CALLED": "|".join(sorted(FUNCTIONS.keys() | UNITS)), "RESERVED": "|".join(sorted(WORDS | SHOUTED)),
    "CAPITALS": "|".join(sorted(SHOUTED)), "WORDS": "|".join(sorted(WORDS)),
    "METHOD": f"(?i:{'|'.join(sorted(TEXT_FUNCTIONS))})",
    "PROPERTY": "(?i:transitive|symmetric|asymmetric|irreflexive|functional|unique)",
    "QUANTITY": r"(?:exactly|at\s+(?:least|most)|only)",
    "LEARNED": "confidence|conf|weight|probability|prob|truth|certainty",
    "SMALL_WORD": "no|not|if|all|any|some|every|each|a|an|the|either|neither|both|exists|forall",
    "VALUE_WORD": "true|false|yes|no|unknown|certain|sure|always|never|impossible|none|null|nan|na|n",
    "UNSAID": "(?i:true|false|unknown|null|none)",
    "THEN": r"(?i:implies\s+that|therefore|hence|thus|means(?:\s+that)?|causes|leads\s+to|results\s+in|yields|entails"
    r"|so\s+that|so|must(?:\s+be)?|can\s+be|may\s+be|is\s+also|only\s+if|then)",
}  # fmt: skip
_MACRO = re.compile("|".join(sorted(MACROS, key=len, reverse=True)))


def in_table(fault: Fault) -> bool:
    """Whether the fault is after the path of a ``load`` or ``label ... from``."""
    return fault.keyword in ("load", "label") and any(
        word.text in ("from", "query", "table") and path.kind == "string"
        for word, path in zip(fault.before, fault.before[1:], strict=False)
    )


CONDITIONS: dict[str, Callable[[Fault], bool]] = {
    "arguments": lambda fault: fault.in_arguments,
    "outside": lambda fault: not fault.in_arguments,
    "junk": lambda fault: fault.token is None,  # no terminal of the grammar
    "literal": lambda fault: fault.token in ("NAME", "ENTITY", "NUMBER", "STRING"),
    "sign": lambda fault: fault.token in ("PLUS", "MINUS", "TIMES", "DIVIDE", "POWER", "COMPARE", "EQUALS"),
    "calculated": lambda fault: fault.token in ("LPAR", "PLUS", "MINUS", "TIMES", "DIVIDE", "POWER"),
    "glued": lambda fault: fault.token in (None, "ENTITY"),
    "top": lambda fault: not fault.open,
    "nested": lambda fault: bool(fault.open),
    "in_table": in_table,
    "clause": lambda fault: bool(fault.expected & {"HEADER", "LPAR", "WHERE"}),
    "column": lambda fault: fault.expected == {"COMMA", "RPAR"},
    "path": lambda fault: fault.expected - {"QUERY", "DATABASE"} == {"STRING"},
    "from_only": lambda fault: fault.expected == {"FROM"},
    "bounded": lambda fault: (
        fault.keyword == "query" or fault.token in CONNECTIVES or (fault.token == "IN" and bool(fault.open))
    ),
    "bound": lambda fault: bool(fault.before) and fault.quantified(len(fault.before) - 1),
    "free": lambda fault: not fault.before or not fault.quantified(len(fault.before) - 1),
    "word": lambda fault: re.match(r"[^\W\d_]", fault.rest) is not None,
    "name": lambda fault: (
        not fault.expected.isdisjoint(("NAME", "ENTITY", "STRING")) and fault.expected.isdisjoint(("LEARNABLE", "LPAR"))
    ),
}

FORMS: dict[str, Callable[[str], str]] = {
    "quoted": lambda text: text if text.startswith('"') else f'"{text}"',
    "entity": as_entity,
    "entities": lambda count: ", ".join(["entity"] * int(count or 1)),
    "percent": lambda text: f"{float(text) / 100:g}",
    "digits": lambda text: re.sub(r"[.,_\s]", "", text),
    "thousands": lambda text: f"{float(text) * 1000:.15g}",
    "millions": lambda text: f"{float(text) * 1_000_000:.15g}",
    "lower": str.lower,
    "capital": lambda text: text[:1].upper() + text[1:],
    "named": lambda text: f'"{text}"' if text[0].isupper() else text,
    "valued": lambda text: f" {text}" if text else "",
    "also": lambda text: f" & {text}" if text else "",
    # the last variable of an atom
    "variable": lambda atom: (re.findall(r"(?<!\w)[A-Z]\w*(?!\w*\()", atom.partition("(")[2]) or ["X"])[-1],
    "sorts": lambda text: ", ".join(re.findall(r"[\w-]+", re.sub(r"[^,:]*:", "", text))),
    "words": lambda text: " ".join(text.split()),
    "dashed": lambda text: "-".join(text.split()),
    "joined": lambda text: " ".join(text.split()).replace("), ", ") & "),
    "stated": lambda text: " ".join(text.split()).removesuffix("."),
    "asked": lambda text: " ".join(text.split()).removesuffix("?").rstrip(),
    "command": lambda word: {"explain": "explain", "why": "explain", "check": "check", "eval": "eval"}.get(word, "run"),
    "free": lambda text: re.sub(r"[?$]([^\W\d_])", lambda mark: mark[1].upper(), FORMS["asked"](text)),
}


class Text(str):
    """The text of a group; in a hint one of the `FORMS` may follow its name."""

    def __format__(self, form: str) -> str:
        return FORMS[form](self) if form else str(self)


def joined(items: str, form: str, between: str, around: str = "`{}`") -> Hint:
    """A hint with each of the ``items`` of the group ``list`` in a ``form``, these joined, and what is ``around``."""

    def hint(groups: Groups, _: Fault) -> str:
        shown = (form.format(Text(item.strip()), **groups) for item in re.findall(items, groups["list"]))
        return around.format(between.join(shown), **groups)

    return hint


def rows(table: MistakeTable) -> Iterator[Recogniser]:
    """The rows of a table, compiled."""
    heading = ""
    for entry in table:
        match entry:
            case str():
                heading = entry
            case (*own, pattern, hint):
                yield _row(own[0] if own else heading, pattern, hint)
            case _:
                yield entry


_HEADING = re.compile(r"(?P<kinds>[a-z+]+) (?:\[(?P<conditions>[^\]]*)\] )?(?P<code>[a-z-]+): (?P<message>.*)")


def _row(heading: str, pattern: str, hint: Hint) -> Recogniser:
    about = _HEADING.fullmatch(heading)
    assert about, heading
    keywords = frozenset(word for kind in about["kinds"].split("+") for word in _KINDS.get(kind, (kind,)))
    conditions = (about["conditions"] or "").split()
    left, mark, right = pattern.rpartition("‸")
    before = re.compile(_compiled(left) + r"\Z", re.DOTALL) if mark else None
    whole = re.compile(_compiled(right) if mark else rf"\s*(?<!\S){_compiled(right)}\s*", re.DOTALL)

    def recognise(fault: Fault) -> Diagnostic | None:
        if fault.keyword not in keywords or not all(_holds(condition, fault) for condition in conditions):
            return None
        matches = _covering(whole, fault) if before is None else _at_fault(before, whole, fault)
        if not matches:
            return None
        groups: Groups = {name: Text(value or "") for _, match in matches for name, value in match.groupdict().items()}
        spans = {
            name: (base + match.start(name), base + match.end(name))
            for base, match in matches
            for name in match.re.groupindex
        }
        start, end = spans.get("at") or (spans.get("from", (fault.start, 0))[0], spans.get("to", (0, fault.end))[1])
        at = fault.source.text[start:end]
        groups |= {"keyword": fault.keyword or "rule", "at": Text(visible(at)), "lower": " ".join(at.lower().split())}
        applied = fault.before[fault.open[-1] - 1].text if fault.open and fault.open[-1] else ""
        previous = fault.previous.text if fault.previous else ""
        groups |= {"applied": applied, "there": fault.rest.strip(), "previous": previous}
        groups["operand"] = operand_before(fault, start)
        if isinstance(hint, str) and "{operand}" in hint and not groups["operand"]:
            return None
        said = hint.format(**groups) if isinstance(hint, str) else hint(groups, fault)
        said = f"write {said}" if said and said.startswith("`") else said
        message = about["message"].format(**groups)
        return None if said is None else fault.report(about["code"], message, said, start, end)

    return recognise


def _holds(condition: str, fault: Fault) -> bool:
    if condition.startswith("="):
        return fault.token in condition[1:].split("|")
    if condition.lstrip("-").isupper():
        return (condition.lstrip("-") in fault.expected) != condition.startswith("-")
    return CONDITIONS[condition](fault)


def _covering(whole: re.Pattern[str], fault: Fault) -> list[tuple[int, re.Match[str]]]:
    """The match of the statement after its keyword, with the offset of its positions."""
    start, end = fault.piece.start + len(fault.keyword or ""), fault.piece.end
    match = whole.fullmatch(fault.source.text, start, end) if end - start <= LONGEST else None
    return [(0, match)] if match else []


def _at_fault(before: re.Pattern[str], after: re.Pattern[str], fault: Fault) -> list[tuple[int, re.Match[str]]]:
    """The matches of what stands before the fault and from it on, each with the offset of its positions."""
    match = after.match(fault.source.text, fault.start, fault.piece.end)
    if match is None:
        return []
    base = max(fault.piece.start, fault.start - LONGEST)
    cut = "\0" if base > fault.piece.start else ""  # so that `\\A` is the start of the statement
    left = before.search(cut + fault.source.text[base : fault.start])
    return [(base - len(cut), left), (0, match)] if left else []


def _compiled(pattern: str) -> str:
    """A pattern in the notation of `re`."""
    if ("⟦" in pattern) == ("⟧" in pattern):
        pattern = pattern.replace("⟦", "(<at>").replace("⟧", ")")
    pattern = pattern.replace("⟦", "(<from>)").replace("⟧", "(<to>)")
    pattern = pattern.replace(" ", r"\s+").replace("(<", "(?P<")
    return f"(?:{_MACRO.sub(lambda match: MACROS[match[0]], pattern)})"
