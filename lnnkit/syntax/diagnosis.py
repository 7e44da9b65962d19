"""The mistake in a statement that cannot be parsed, or that parses as something else: a row of the tables in
`mistakes`, or the general message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from functools import cache

from lark.exceptions import UnexpectedInput

from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.fault import Fault, plain, visible
from lnnkit.syntax.grammar import parser
from lnnkit.syntax.identifiers import DECLARING, KEYWORDS, WORDS
from lnnkit.syntax.mistakes import LINES, MISTAKES, RULE_NAMED, Recogniser, Row, comment
from lnnkit.syntax.rewrite import ARROW, ITEM, NUMBER, operand_before
from lnnkit.syntax.split import Slice

KEYWORDS_OF = {  # None is a line that no keyword starts
    "rule": ("rule", "axiom"), "fact": ("fact", "label"), "formula": ("rule", "axiom", "query", None),
    "query": ("query",), "declaration": DECLARING, "load": ("load",),
}  # fmt: skip
CONDITIONS: dict[str, Callable[[Fault], bool]] = {
    "arguments": lambda fault: fault.in_arguments,
    "outside": lambda fault: not fault.in_arguments,
    "top": lambda fault: not fault.open,
    "table": lambda fault: fault.in_table,
}

_NAME = r"[^\W\d_]\w*(?:-\w+)*"
_SHOUTED = "AND|OR|NOT|XOR|IMPLIES|IFF|FORALL|EXISTS|IN|WHERE|FROM|IS|NULL|MISSING|DELIMITER|HEADER|TRUST|And|Or|Not"
MACROS = {
    "ATOM": r"[~¬]?[^\W\d][\w-]*\([^()]*\)", "ITEM": ITEM, "ITEMS": rf"{ITEM}(?:\s*,\s*{ITEM})*", "NAME": _NAME,
    "NUMBER": NUMBER, "SHARE": r"(?:0?\.\d+|[01](?:\.0+)?)", "VALUE": rf"-?{NUMBER}",
    "EDGE": r"(?<![\w-])", "WORD": r"(?![\w-])", "GAP": r"[^\S\n]",
    "TERM": r"date\s*\"[^\"\n]*\"|-?[\w.]+(?:\([^()]*\)|[\w.:-]*)",
    "BINDER": rf"(?:[∀∃]|\b(?:forall|exists)(?!\w))\s*(?:{_NAME}\s*,\s*)*",
    "LINK": r"(?:[&|)]|<?->|=>|→|(?:and|or|xor|implies|iff)\b)", "KEYWORD": f"(?:{'|'.join(KEYWORDS)})",
    "WORDS": "|".join(sorted(WORDS)), "SHOUTED": f"(?:{_SHOUTED})",
    "NAMES": rf"{_NAME}(?:\s*,\s*{_NAME})*", "CALLED": r"(?=\s*\((?:[^()‸]|\([^()‸]*\))*(?:\([^()‸]*)?‸)",
}  # fmt: skip
LONGEST = 400  # characters before and after the fault that are looked at
_MARK = "‸"
_MACRO = re.compile("|".join(sorted(MACROS, key=len, reverse=True)))
_FIRST = re.compile(r"[^\W\d_]\w*")
_LITERAL = re.compile(r"[~¬]?\s*[^\W\d_][\w-]*\s*(?:\([^()]*\))?\s*(?:=.*|in\s*\[.*)?", re.DOTALL)


def diagnose(fault: Fault) -> Diagnostic:
    """The named mistake at a fault, or a plain syntax error if none is recognised."""
    return _first(MISTAKES, fault) or plain(fault)


def misread(source: Source, piece: Slice) -> Diagnostic | None:
    """The mistake in a statement that parses, as something else."""
    if (remark := comment(source, piece, piece.end)) is not None:
        return remark
    after = piece.start + len(piece.keyword or "")
    named = piece.end - after <= LONGEST  # what people type by hand
    return recognised(RULE_NAMED, Fault(source, piece, after, after)) if named else None


def _first(table: Iterable[Row | Recogniser], fault: Fault) -> Diagnostic | None:
    return next((found for row in table if (found := recognised(row, fault)) is not None), None)


def recognised(row: Row | Recogniser, fault: Fault) -> Diagnostic | None:
    """The diagnostic of a row where it holds."""
    if callable(row):
        return row(fault)
    place, pattern, code, message, hint = row
    if not all(_holds(word, fault) for word in place.split()):
        return None
    compiled, (text, offset) = _compiled(pattern), _marked(fault)
    if _MARK not in compiled.pattern:
        text = text.replace(_MARK, "")
    matches = compiled.finditer(text)
    match = next((match for match in matches if f"{_MARK}?" not in pattern or _MARK in match[0]), None)
    if match is None:
        return None
    start, end = fault.start, fault.end
    if "at" in match.groupdict():
        start, end = (offset + at - text.count(_MARK, 0, at) for at in match.span("at"))
    groups = {name: (value or "").replace(_MARK, "") for name, value in match.groupdict().items()}
    at, applied = fault.source.text[start:end], fault.open[-1] if fault.open else 0
    groups |= {
        "at": visible(at),
        "lower": " ".join(at.lower().split()),
        "keyword": fault.keyword or "rule",
        "applied": fault.before[applied - 1].text if applied else "",
        "operand": operand_before(fault, start),
    }
    said = hint.format(**groups) if isinstance(hint, str) else hint(groups, fault)
    if said is None:
        return None
    return fault.report(code, message.format(**groups), f"write {said}" if said[0] == "`" else said, start, end)


def _holds(word: str, fault: Fault) -> bool:
    if word in KEYWORDS_OF:
        return fault.keyword in KEYWORDS_OF[word] and not (word == "fact" and fault.in_table)
    if word in CONDITIONS:
        return CONDITIONS[word](fault)
    return (word.lstrip("-") in fault.expected) != word.startswith("-")


def _marked(fault: Fault) -> tuple[str, int]:
    """The statement with a mark where the parser stopped, and the offset of its first character. Where it is cut, a
    null character stands, so that neither ``\\A`` nor ``\\Z`` matches there."""
    text, first, last = fault.source.text, fault.piece.start, fault.piece.end
    start, end = max(first, fault.start - LONGEST), min(last, fault.start + LONGEST)
    before, after = (part.replace(_MARK, "\0") for part in (text[start : fault.start], text[fault.start : end]))
    cut = "\0" if start > first else ""
    return f"{cut}{before}{_MARK}{after}" + ("\0" if end < last else ""), start - len(cut)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern in the notation of `re`."""
    pattern = pattern.replace("(<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")
    pattern = pattern.replace(" ", r"\s+").replace("⟦", "(?P<at>").replace("⟧", ")")
    return re.compile(_MACRO.sub(lambda match: MACROS[match[0]], pattern), re.DOTALL)


# --- lines that no keyword starts -------------------------------------------------------------------------------------


def stray(source: Source, shadow: str, piece: Slice) -> Diagnostic:
    """The diagnostic for a slice without a keyword."""
    text = source.text[piece.start : piece.end]
    first = _FIRST.match(text)
    word = first[0] if first else text[:1]
    foreign = _first(LINES, Fault(source, piece, piece.start, piece.start))
    if foreign is not None:
        return foreign
    near = _nearest_keyword(text)
    if near == word:
        message = f"`{word}(` is read as a predicate that is called {word}"
        hint = f"put a space after the keyword: `{near} ...`"
    elif near:
        message, hint = f"`{word}` is not a keyword", f"did you mean `{near}`?"
    elif (mistake := _mistake_within(source, shadow, piece)) is not None:
        return mistake
    else:
        line = " ".join(text.split())
        keyword = "rule" if ARROW.search(text) else "fact" if _LITERAL.fullmatch(text) else None
        message = f"a statement starts with a keyword, not with `{visible(word)}`"
        hint = f"begin with one of {', '.join(KEYWORDS[:-1])}"
        if keyword and len(line) < 80:
            hint = f"write `{keyword} {line}`"
    return Diagnostic("missing-keyword", message, hint, Span(source, piece.start, piece.start + len(word)))


def _nearest_keyword(text: str) -> str | None:
    """The keyword that the first word of ``text`` was probably meant to be: similar, and followed by what may follow
    that keyword."""
    first = _FIRST.match(text)
    if first is None:
        return None
    rest = text[first.end() :]
    close = difflib.get_close_matches(first[0].lower(), KEYWORDS, n=1, cutoff=0.74)
    if not close or (close[0] != first[0] and not re.match(r"\s*:(?!-)|\s+[~¬∀∃\"(\w]", rest)):
        return None
    return None if re.match(r"\s+(?:and|or|xor|implies|iff|in)(?!-?\w)", rest) else close[0]


def _mistake_within(source: Source, shadow: str, piece: Slice) -> Diagnostic | None:
    """The named mistake in a line that would be wrong even with a keyword."""
    try:
        parser().parse(shadow[piece.start : piece.end], start="lone_query")
    except UnexpectedInput as error:
        diagnostic = diagnose(Fault.of(error, source, shadow, piece))
        return None if diagnostic.code == "syntax" else diagnostic
    return None
