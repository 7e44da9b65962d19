"""Lines that no keyword starts: which keyword was meant, or which mistake they contain."""

from __future__ import annotations

import difflib
import re

from lark.exceptions import UnexpectedInput

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault, visible
from lnnkit.syntax.grammar import parser
from lnnkit.syntax.identifiers import KEYWORDS
from lnnkit.syntax.mistakes import diagnose
from lnnkit.syntax.mistakes.rows import rows
from lnnkit.syntax.mistakes.stray_lines import LINES
from lnnkit.syntax.rewrite import ARROW, truth_before
from lnnkit.syntax.span import Source, Span
from lnnkit.syntax.split import Slice

_LINES = rows(LINES)
_FIRST = re.compile(r"[^\W\d_]\w*")
_LITERAL = re.compile(r"[~¬]?\s*[^\W\d_][\w-]*\s*(?:\([^()]*\))?\s*(?:=.*|in\s*\[.*)?", re.DOTALL)
_TOLD = re.compile(r"(0?\.\d+|[01](?:\.0+)?)\s*::?\s*([^\W\d_][\w-]*(?:\([^()]*\))?)\s*\.?")


def stray(source: Source, shadow: str, piece: Slice) -> Diagnostic:
    """The diagnostic for a slice without a keyword."""
    text = source.text[piece.start : piece.end]
    first = _FIRST.match(text)
    word = first[0] if first else text[:1]
    span = Span(source, piece.start, piece.start + len(word))
    start = Fault(source, piece, piece.start, piece.start, None, frozenset(), (), ())
    foreign = next((found for row in _LINES if (found := row(start)) is not None), None)
    if foreign is not None:
        return foreign
    near = nearest_keyword(text)
    if word == "lnnkit":
        return Diagnostic(
            "unsupported-version", "`lnnkit` must be followed by the version of the language", "write `lnnkit 1`", span
        )
    if near == word:
        hint = f"put a space after the keyword: `{near} ...`"
        return Diagnostic("missing-keyword", f"`{word}(` is read as a predicate that is called {word}", hint, span)
    if near:
        return Diagnostic("missing-keyword", f"`{word}` is not a keyword", f"did you mean `{near}`?", span)
    mistake = _mistake_within(source, shadow, piece)
    if mistake:
        return mistake
    line = " ".join(text.split())
    truth, told = truth_before(text), _TOLD.fullmatch(line)
    if truth or told:
        hint = f"write `rule {truth}`" if told is None else f"write `fact {told[2]} = {told[1]}`"
        return Diagnostic("leading-truth", "the truth of a statement is written at its end", hint, span)
    keyword = "rule" if ARROW.search(text) else "fact" if _LITERAL.fullmatch(text) else None
    hint = (
        f"write `{keyword} {line}`" if keyword and len(line) < 80 else f"begin with one of {', '.join(KEYWORDS[:-1])}"
    )
    return Diagnostic("missing-keyword", f"a statement starts with a keyword, not with `{visible(word)}`", hint, span)


def nearest_keyword(text: str) -> str | None:
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
