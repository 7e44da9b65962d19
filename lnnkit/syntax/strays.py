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
from lnnkit.syntax.mistakes.truth_bounds import ARROW, truth_before
from lnnkit.syntax.span import Source, Span
from lnnkit.syntax.split import Slice

_FIRST = re.compile(r"[^\W\d_]\w*")
_LITERAL = re.compile(r"[~¬]?\s*[^\W\d_][\w-]*\s*(?:\([^()]*\))?\s*(?:=.*|in\s*\[.*)?", re.DOTALL)
_TOLD = re.compile(r"(0?\.\d+|[01](?:\.0+)?)\s*::?\s*([^\W\d_][\w-]*(?:\([^()]*\))?)\s*\.?")


def stray(source: Source, shadow: str, piece: Slice) -> Diagnostic:
    """The diagnostic for a slice without a keyword."""
    text = source.text[piece.start : piece.end]
    first = _FIRST.match(text)
    word = first[0] if first else text[:1]
    span = Span(source, piece.start, piece.start + len(word))
    foreign = _foreign(" ".join(text.split()))
    if foreign is not None:
        code, message, hint, width = foreign
        return Diagnostic(code, message, hint, Span(source, piece.start, piece.start + width))
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


_WEIGHED = re.compile(r"(\d*\.?\d+)\s*:{0,2}\s*(rule|axiom|fact|label)\s+(.+?)\.?")
_ASKED = re.compile(r"(\?-?)\s*([^\W\d_~¬(].*?|[~¬(].*?)[.?]?")
_KEYWORDS_ELSEWHERE = {
    "assert": "fact", "assertz": "fact", "add": "fact", "tell": "fact", "given": "fact",
    "declare": "predicate", "decl": "predicate", ".decl": "predicate", "relation": "predicate", "table": "predicate",
    "constraint": "axiom", "law": "axiom", "always": "axiom",
    "ask": "query", "show": "query", "find": "query", "prove": "query", "goal": "query", "infer": "query",
}  # fmt: skip
_DECLARED_NOWHERE = ("entity", "entities", "constant", "individual", "object", "var", "variable", "variables")
_ABOUT_NAMES = re.compile(rf"({'|'.join(_DECLARED_NOWHERE)})\s+[^\W\d_][\w-]*(?:\s*,\s*[\w-]+)*", re.IGNORECASE)
_SORTS = re.compile(r"(type|domain|class|kind|concept)\s+([^\W\d_][\w-]*)", re.IGNORECASE)
_NUMBERS = re.compile(
    r"(num|int|integer|float|double|real|attribute|function)\s+([^\W\d_][\w-]*(?:\([^()]*\))?)", re.IGNORECASE
)
_IMPORTED = re.compile(
    r"(include|require|use|using|source|consult|from)\s+(\"[^\"]+\")(?:\s+import\s.*)?", re.IGNORECASE
)
_READ = re.compile(r"(table|read|csv|data|read_csv)\s+([^\W\d_][\w-]*)\s+from\s+(\".*)", re.IGNORECASE)
_VALUED = re.compile(r"(let|const|set|constant|param|parameter)\s+([^\W\d_][\w-]*)\s*=\s*(-?[\d.]+)", re.IGNORECASE)
_DEFINED = re.compile(
    r"(let|def|define|set)\s+([^\W\d_][\w-]*\([^()]*\))\s*(?::=|:-|=|:|<->|as)\s*(?:return\s+)?([^=].*[^.:])\.?",
    re.IGNORECASE,
)
_SQL = re.compile(r"(select|insert|update|delete|create|with)\s", re.IGNORECASE)


def _foreign(line: str) -> tuple[str, str, str, int] | None:
    """The mistake in a line of another language: its code, message, hint, and the number of characters to mark."""
    weighed = _WEIGHED.fullmatch(line)
    if weighed:
        truth, keyword, rest = weighed.groups()
        end = f" = {truth}" if keyword in ("fact", "label") else f" in [{truth}, 1]"
        hint = f"write `{keyword} {rest}{end}`"
        return "leading-truth", "the truth of a statement is written at its end", hint, len(truth)
    if told := _of_logic_programs(line):
        return told
    asked = _ASKED.fullmatch(line)
    if asked and ARROW.search(line) is None:
        hint = f"write `query {asked[2].replace('), ', ') & ')}`"
        return "query-mark", f"`{asked[1]}` cannot start a query", hint, len(asked[1])
    if re.fullmatch(r"[^\W\d_][\w-]*\([^()]*\)\s*\?", line):
        return "query-mark", "`?` cannot end a query", f"write `query {line[:-1].rstrip()}`", len(line)
    moved = re.fullmatch(r"(closed|open)\s+(predicate\s.+)", line)
    if moved:
        end = " closed" if moved[1] == "closed" else ""
        return "declaration", f"`{moved[1]}` comes after the predicate", f"write `{moved[2]}{end}`", len(moved[1])
    marked = re.match(r"--+|;+|\"{3}|'{3}|%|\*|REM\b|<!--", line)
    if marked:
        return "foreign-comment", f"`{marked[0]}` does not start a comment", "a comment starts with `#`", len(marked[0])
    word, _, rest = line.partition(" ")
    shown = re.fullmatch(r"(explain|why|print|display|run|check|eval)(?:\s+([^\W\d][\w-]*\([^()]*\)))?\.?", line)
    if shown and word in ("print", "display") and shown[2]:
        return "missing-keyword", f"`{word}` is not a keyword", f"write `query {shown[2]}`", len(word)
    if shown:
        command = "explain" if word in ("explain", "why") else word if word in ("check", "eval") else "run"
        hint = f"remove it; `lnnkit {command} FILE" + (f" '{shown[2]}'`" if shown[2] else "`") + " does that"
        return "missing-keyword", f"`{word}` is not a keyword", hint, len(word)
    if instead := _declared(line):
        return "missing-keyword", f"`{word}` is not a keyword", instead, len(word)
    instead = _KEYWORDS_ELSEWHERE.get(word.lower())
    if instead and re.match(r"[\w~¬\"(]", rest) and "(" in rest:
        return "missing-keyword", f"`{word}` is not a keyword", f"write `{instead} {rest.removesuffix('.')}`", len(word)
    if word.lower() in ("train", "learn", "fit"):
        hint = "a `rule` is trained by `lnnkit train FILE -o OUT`: write its learnable numbers as `?`"
        return "missing-keyword", f"`{word}` is not a keyword", hint, len(word)
    sql = _SQL.match(line)
    if sql:
        word = sql[1].lower()
        hint = "ask with `query P(X, Y) & X = bob`, where a table is a predicate and its columns are arguments"
        if word in ("insert", "update", "create"):
            hint = 'state a row as `fact P(anna, bob)`, or read a table with `load P from "p.csv"`'
        return "sql-statement", f"`{sql[1]}` is not a keyword: this is not SQL", hint, len(sql[1])
    return None


_ANNOTATED = re.compile(r"([^\W\d][\w-]*\([^()]*\))\s*(?::\s*\[[^\]]*\]\s*)?<-\s*\d+\s+(.+?)\.?")
_WEIGHED_HEAD = re.compile(r"(\d*\.\d+|1|0)\s*::\s*([^\W\d][\w-]*(?:\([^()]*\))?)\s*:-\s*(.+?)\.?")
_SHOWN = re.compile(r"query\(\s*([^\W\d][\w-]*(?:\([^()]*\))?)\s*\)\s*\.?")
_EVIDENCE = re.compile(r"evidence\(\s*([^\W\d][\w-]*(?:\([^()]*\))?)\s*(?:,\s*(true|false)\s*)?\)\s*\.?")
_CLOSED = re.compile(r"(closed|open)\s*:\s*([^\W\d][\w-]*)\s*(?:/\s*(\d+))?")


def _of_logic_programs(line: str) -> tuple[str, str, str, int] | None:
    """A line of ProbLog, PSL, PyReason or Prolog."""
    if found := _ANNOTATED.fullmatch(line):
        width = len(found[1].partition("(")[0])
        return (
            "backward-arrow",
            "a rule is written with its head last, and without a delay",
            f"write `{_forward(found[2], found[1])}`",
            width,
        )
    if found := _WEIGHED_HEAD.fullmatch(line):
        hint = f"write `{_forward(found[3], found[2])} in [{found[1]}, 1]`"
        return "leading-truth", "the truth of a statement is written at its end", hint, len(found[1])
    if found := _SHOWN.fullmatch(line):
        return "query-words", "a query is a statement, not a call", f"write `query {found[1]}`", len("query")
    if found := _EVIDENCE.fullmatch(line):
        sign = "~" if found[2] == "false" else ""
        return "missing-keyword", "`evidence` is not a keyword", f"write `fact {sign}{found[1]}`", len("evidence")
    if found := _CLOSED.fullmatch(line):
        sorts = ", ".join(["entity"] * int(found[3] or 1))
        end = " closed" if found[1] == "closed" else ""
        message = f"`{found[1]}` belongs to a declaration"
        return "declaration", message, f"write `predicate {found[2]}({sorts}){end}`", len(found[1])
    return None


def _forward(body: str, head: str) -> str:
    """A rule whose body has commas and semicolons, and whose variables may be small letters."""
    body, head = (re.sub(r"(?<=[(,\s])[a-z](?=\s*[,)])", lambda found: found[0].upper(), each) for each in (body, head))
    joined = re.sub(r"\)\s*;\s*", ") | ", re.sub(r"\)\s*,\s*", ") & ", body.replace("\\+", "~"))).strip()
    return f"rule {joined} -> {head}"


def _declared(line: str) -> str | None:
    """What a declaration, a definition or an import in other words is to be instead."""
    if found := _VALUED.fullmatch(line):
        return f"write `number {found[2]}`, and below it `fact {found[2]} = {found[3]}`"
    if found := _DEFINED.fullmatch(line):
        if re.search(r"[*/+^]|\s-\s", found[3]) and not re.search(r"[<>=&|~]", found[3]):
            sorts = ", ".join(["entity"] * (found[2].count(",") + 1))
            declared = f"number {found[2].partition('(')[0]}({sorts})"
            return f"write `{declared}`, and below it `rule {found[2]} = {found[3]}`"
        return f"write `rule {found[3]} -> {found[2]}`; `<->` where it is nothing else"
    if found := _IMPORTED.fullmatch(line):
        return f"write `import {found[2]}`"
    if found := _READ.fullmatch(line):
        return f"write `load {found[2]} from {found[3]}`"
    if found := _ABOUT_NAMES.fullmatch(line):
        what = "variables start upper-case" if found[1].lower().startswith("var") else "entities are named by facts"
        return f"remove the line: {what}, and are not declared"
    if found := _SORTS.fullmatch(line):
        return f"write `sort {found[2]}`, or leave it out: a declaration names its sorts"
    if found := _NUMBERS.fullmatch(line):
        return f"write `number {found[2]}`"
    return None


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
