"""Lines that no keyword starts: which keyword was meant, or which mistake of another language they contain. The last
part of the table of mistakes; see `rows` for the notation."""

from __future__ import annotations

import difflib
import re

from lark.exceptions import UnexpectedInput

from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.fault import Fault, visible
from lnnkit.syntax.grammar import parser
from lnnkit.syntax.identifiers import KEYWORDS
from lnnkit.syntax.mistakes import diagnose
from lnnkit.syntax.mistakes.rows import Groups, MistakeTable, rows
from lnnkit.syntax.rewrite import ARROW, truth_before
from lnnkit.syntax.split import Slice

_OTHER_KEYWORDS = {
    "assertz?|add|tell|given": "`fact {rest:stated}`",
    r"declare|\.?decl|relation|table": "`predicate {rest:stated}`",
    "constraint|law|always": "`axiom {rest:stated}`",
    "ask|show|find|prove|goal|infer": "`query {rest:stated}`",
}
_FIRST = re.compile(r"[^\W\d_]\w*")
_LITERAL = re.compile(r"[~¬]?\s*[^\W\d_][\w-]*\s*(?:\([^()]*\))?\s*(?:=.*|in\s*\[.*)?", re.DOTALL)
_FACT = re.compile(r"(0?\.\d+|[01](?:\.0+)?)\s*::?\s*([^\W\d_][\w-]*(?:\([^()]*\))?)\s*\.?")
_ASKED_IN_SQL = "ask with `query P(X, Y) & X = bob`, where a table is a predicate and its columns are arguments"


def _rule(groups: Groups, _: Fault) -> str:
    """A rule whose body has commas and semicolons, and whose variables may be small letters."""
    parts = (groups["body"], groups["head"])
    body, head = (re.sub(r"(?<=[(,\s])[a-z](?=\s*[,)])", lambda match: match[0].upper(), part) for part in parts)
    joined = re.sub(r"\)\s*;\s*", ") | ", re.sub(r"\)\s*,\s*", ") & ", body.replace("\\+", "~"))).strip()
    bounds = f" in [{groups['truth']}, 1]" if "truth" in groups else ""
    return f"`rule {joined} -> {head}{bounds}`"


def _defined(groups: Groups, _: Fault) -> str:
    head, body = groups["head"], groups["body"]
    if re.search(r"[*/+^]|\s-\s", body) and not re.search(r"[<>=&|~]", body):
        sorts = ", ".join(["entity"] * (head.count(",") + 1))
        return f"`number {head.partition('(')[0]}({sorts})`, and below it `rule {head} = {body}`"
    return f"`rule {body} -> {head}`; `<->` where it is nothing else"


_LINES: MistakeTable = (
    "line leading-truth: the truth of a statement is written at its end",
    (r"⟦(<truth>\d*\.?\d+)⟧\s*:{0,2}\s*(<word>fact|label) (<rest>.+?)\.?", "`{word} {rest} = {truth}`"),
    (r"⟦(<truth>\d*\.?\d+)⟧\s*:{0,2}\s*(<word>rule|axiom) (<rest>.+?)\.?", "`{word} {rest} in [{truth}, 1]`"),
    (r"⟦(<truth>\d*\.\d+|1|0)⟧\s*::\s*(<head>NAME(?:\([^()]*\))?)\s*:-\s*(<body>.+?)\.?", _rule),
    "line backward-arrow: a rule is written with its head last, and without a delay",
    (r"(<head>⟦NAME⟧\([^()]*\))\s*(?::\s*\[[^\]]*\]\s*)?<-\s*\d+ (<body>.+?)\.?", _rule),
    "line missing-keyword: `evidence` is not a keyword",
    (r"⟦evidence⟧\(\s*(<atom>NAME(?:\([^()]*\))?)\s*(?:,\s*true\s*)?\)\s*\.?", "`fact {atom}`"),
    (r"⟦evidence⟧\(\s*(<atom>NAME(?:\([^()]*\))?)\s*,\s*false\s*\)\s*\.?", "`fact ~{atom}`"),
    "line declaration: `{at}` belongs to a declaration",
    (r"⟦closed⟧\s*:\s*(<name>NAME)\s*(?:/\s*(<count>\d+))?", "`predicate {name}({count:entities}) closed`"),
    (r"⟦open⟧\s*:\s*(<name>NAME)\s*(?:/\s*(<count>\d+))?", "`predicate {name}({count:entities})`"),
    "line query-mark: `{at}` cannot start a query",
    (rf"⟦\?-?⟧(?!.*(?:{ARROW.pattern}))\s*(<asked>[^\W\d_~¬(].*?|[~¬(].*?)[.?]?", "`query {asked:joined}`"),
    ("line query-mark: `?` cannot end a query", r"⟦(<atom>NAME\([^()]*\))\s*\?⟧", "`query {atom}`"),
    "line declaration: `{at}` comes after the predicate",
    (r"⟦closed⟧ (<rest>predicate\s.+)", "`{rest} closed`"),
    (r"⟦open⟧ (<rest>predicate\s.+)", "`{rest}`"),
    "line foreign-comment: `{at}` does not start a comment",
    (r"⟦--+|;+|\"{3}|'{3}|%|\*|REM\b|<!--⟧.*", "a comment starts with `#`"),
    "line missing-keyword: `{at}` is not a keyword",
    (r"⟦print|display⟧ (<atom>NAME\([^()]*\))\.?", "`query {atom}`"),
    (r"⟦explain|why|print|display|run|check|eval⟧\.?", "remove it; `lnnkit {at:command} FILE` does that"),
    (r"⟦explain|why|run|check|eval⟧ (<atom>NAME\([^()]*\))\.?",
     "remove it; `lnnkit {at:command} FILE '{atom}'` does that"),
    (r"⟦(?i:let|const|set|constant|param|parameter)⟧ (<name>NAME)\s*=\s*(<value>-?[\d.]+)",
     "`number {name}`, and below it `fact {name} = {value}`"),
    (r"⟦(?i:let|def|define|set)⟧ (<head>NAME\([^()]*\))\s*(?::=|:-|=|:|<->|as)\s*"
     r"(?:(?i:return) )?(<body>[^=].*[^.:])\.?",
     _defined),
    (r"⟦(?i:include|require|use|using|source|consult|from)⟧ (<path>\"[^\"]+\")(?: (?i:import) .*)?", "`import {path}`"),
    (r"⟦(?i:table|read|csv|data|read_csv)⟧ (<name>NAME) (?i:from) (<rest>\".*)", "`load {name} from {rest}`"),
    (r"⟦(?i:var|variable|variables)⟧ NAMES", "remove the line: variables start upper-case, and are not declared"),
    (r"⟦(?i:entity|entities|constant|individual|object)⟧ NAMES",
     "remove the line: entities are named by facts, and are not declared"),
    (r"⟦(?i:type|domain|class|kind|concept)⟧ (<name>NAME)",
     "`sort {name}`, or leave it out: a declaration names its sorts"),
    (r"⟦(?i:num|int|integer|float|double|real|attribute|function)⟧ (<name>NAME(?:\([^()]*\))?)", "`number {name}`"),
    *((rf"⟦(?i:{words})⟧ (<rest>[\w~¬\"(].*\(.*|\(.*)", hint) for words, hint in _OTHER_KEYWORDS.items()),
    (r"⟦(?i:train|learn|fit)⟧(?:\s.*)?",
     "a `rule` is trained by `lnnkit train FILE -o OUT`: write its learnable numbers as `?`"),
    "line sql-statement: `{at}` is not a keyword: this is not SQL",
    (r"⟦(?i:insert|update|create)⟧\s.*",
     'state a row as `fact P(anna, bob)`, or read a table with `load P from "p.csv"`'),
    (r"⟦(?i:select|delete|with)⟧\s.*", _ASKED_IN_SQL),
    "line unsupported-version: `lnnkit` must be followed by the version of the language",
    (r"⟦lnnkit⟧\b.*", "`lnnkit 1`"),
)  # fmt: skip
_ROWS = tuple(rows(_LINES))


# --- lines that are in no table ---------------------------------------------------------------------------------------


def stray(source: Source, shadow: str, piece: Slice) -> Diagnostic:
    """The diagnostic for a slice without a keyword."""
    text = source.text[piece.start : piece.end]
    first = _FIRST.match(text)
    word = first[0] if first else text[:1]
    start = Fault(source, piece, piece.start, piece.start)
    foreign = next((diagnostic for row in _ROWS if (diagnostic := row(start)) is not None), None)
    if foreign is not None:
        return foreign
    near, code = nearest_keyword(text), "missing-keyword"
    if near == word:
        message = f"`{word}(` is read as a predicate that is called {word}"
        hint = f"put a space after the keyword: `{near} ...`"
    elif near:
        message, hint = f"`{word}` is not a keyword", f"did you mean `{near}`?"
    elif (mistake := _mistake_within(source, shadow, piece)) is not None:
        return mistake
    else:
        line = " ".join(text.split())
        rule, fact = truth_before(text), _FACT.fullmatch(line)
        keyword = "rule" if ARROW.search(text) else "fact" if _LITERAL.fullmatch(text) else None
        message = f"a statement starts with a keyword, not with `{visible(word)}`"
        hint = f"begin with one of {', '.join(KEYWORDS[:-1])}"
        if rule or fact:
            code, message = "leading-truth", "the truth of a statement is written at its end"
            hint = f"write `rule {rule}`" if fact is None else f"write `fact {fact[2]} = {fact[1]}`"
        elif keyword and len(line) < 80:
            hint = f"write `{keyword} {line}`"
    return Diagnostic(code, message, hint, Span(source, piece.start, piece.start + len(word)))


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
