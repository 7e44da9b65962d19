"""The mistakes that logicians and users of SQL, Prolog, Datalog and pandas make, each with its own message.

A row of `MISTAKES` is a place, a pattern, a code, a message and a hint. The rows are tried in order where the parser
stopped, the more certain ones first: a wrong explanation is worse than the general message, `plain` of `fault`.

The pattern is looked for in the statement, with ``‸`` where the parser stopped; the match of a pattern with ``‸?``
holds the mark. A blank is ``\\s+``, ``(<name>`` opens a named group, ``⟦`` and ``⟧`` enclose what the finding points at
(without them it is what the parser stopped at), and the words of `MACROS` stand for what recurs.

The place lists what must hold there: a kind of statement of `KEYWORDS_OF`, a word of `CONDITIONS`, or a terminal that
the grammar expects (``-NAME``: that it does not). Message and hint are filled in with the groups and with ``{at}`` (the
text pointed at), ``{lower}`` (the same in small letters), ``{keyword}``, ``{applied}`` (whose arguments these are) and
``{operand}`` (the atom before it). A hint that begins with a backtick is what to write; where a function returns None,
the row does not hold. `diagnosis` reads all this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from lnnkit.syntax import rewrite
from lnnkit.syntax.dates import called_date, unquoted_date
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.fault import END, Fault
from lnnkit.syntax.identifiers import (
    AGGREGATE_HINT,
    AGGREGATES,
    AGGREGATING,
    FOREIGN_DATES,
    FOREIGN_FUNCTIONS,
    FUNCTIONS,
    FUNCTIONS_LISTED,
    TEXT_FUNCTIONS,
    TEXTS_UNSEARCHED,
    WORDS,
)
from lnnkit.syntax.rewrite import Groups, aggregate_message, parts_of_call
from lnnkit.syntax.split import Slice

Hint = str | Callable[[Groups, Fault], str | None]
Row = tuple[str, str, str, str, Hint]
Recogniser = Callable[[Fault], Diagnostic | None]

# What other languages write, and what is written here.
_SIGNS = {
    "&&": "&", "||": "|", "==": "=", "=<": "<=", "<>": "!=", "\\=": "!=", "~=": "!=", "¬=": "!=", "/=": "!=",
    ":=": "=", "\\+": "~", "!": "~", "**": "^", "<-": "< -", "≡": "<->", "⊃": "->", "×": "*", "·": "*", "÷": "/",
}  # fmt: skip
_COMPARED = {
    "greater than or equal to": ">=", "less than or equal to": "<=", "greater than": ">", "more than": ">",
    "less than": "<", "fewer than": "<", "at least": ">=", "at most": "<=", "above": ">", "below": "<", "over": ">",
    "under": "<", "equals": "=", "equal to": "=", "eq": "=",
}  # fmt: skip
_COMPARISONS = _COMPARED | {f"is {words}": sign for words, sign in _COMPARED.items()} | {"is": "=", "is not": "!="}
_AGGREGATES = {"avg": "mean", "average": "mean", "total": "sum", "minimum": "min", "maximum": "max"}
_WORDS = {
    **dict.fromkeys(("therefore", "hence", "thus", "then", "so", "means", "causes"), "->"),
    **dict.fromkeys(("where", "such that", "having", "with", "given", "but", "also", "plus", "whose", "while"), "&"),
    **dict.fromkeys(("join", "inner join", "left join", "intersect"), "&"),
    **dict.fromkeys(("unless", "except", "but not", "without", "minus"), "& ~"),
    **{"union": "|", "if and only if": "<->", "no": "~"},
}
_CLAUSES = {
    **dict.fromkeys(("sep", "separator", "delim", "delimited by", "separated by"), "delimiter"),
    **dict.fromkeys(("na_values", "na", "nan"), "missing"),
    **dict.fromkeys(("if", "when", "filter"), "where"),
    **dict.fromkeys(("columns", "usecols", "using", "["), "(name, age)"),
    **dict.fromkeys(("without header", "no_header"), "no header"),
    **{"with header": "header"},
}
_IN_CONDITIONS = {
    ",": "write `and`",
    **dict.fromkeys(("or", "|", "∨"), 'write a statement for each, or `in ("a", "b")` for several values of a column'),
    **dict.fromkeys(("not", "not in"), "write `!=`, or `is not null`"),
    "between": "write `age >= 18 and age <= 65`",
}
_KEYWORDS = {
    **dict.fromkeys(("assert", "assertz", "add", "tell"), "fact"),
    **dict.fromkeys(("declare", "decl", ".decl", "relation"), "predicate"),
    **dict.fromkeys(("constraint", "always"), "axiom"),
    **dict.fromkeys(("ask", "show", "find", "print", "prove", "goal"), "query"),
    **dict.fromkeys(("include", "use", "using", "source", "consult", "require"), "import"),
    **dict.fromkeys(("num", "int", "float", "integer"), "number"),
    **dict.fromkeys(("type", "domain", "class"), "sort"),
    **dict.fromkeys(("table", "read", "read_csv"), "load"),
}


def _any(texts: Iterable[str]) -> str:
    """A pattern for each of the texts, in any case."""
    longest_first = sorted(texts, key=len, reverse=True)
    return f"(?i:{'|'.join(re.escape(text) for text in longest_first)})".replace("\\ ", " ")


def _instead(texts: Mapping[str, str], form: str = "`{}`") -> Hint:
    """A hint with what to write for the text pointed at."""
    return lambda groups, _: form.format(texts[groups["lower"]], **groups)


# --- mistakes that take more than a pattern ---------------------------------------------------------------------------

_DASHES = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*|(?<!\S)(?P<at>--+)(?=[ \t]+[^\W\d]|[ \t]*$)', re.MULTILINE)


def comment(source: Source, piece: Slice, end: int) -> Diagnostic | None:
    """A comment of SQL or Haskell that starts before ``end``: `fact P(a) -- why` ends before its words."""
    if source.text.find("--", piece.start, piece.end) < 0:
        return None
    for match in _DASHES.finditer(source.text, piece.start, piece.end):
        if match["at"] and match.start("at") < end:
            span = Span(source, *match.span("at"))
            hint = "a comment starts with `#`; less a negative number is `- -`"
            return Diagnostic("foreign-comment", f"`{match['at']}` does not start a comment", hint, span)
    return None


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: parsed as an atom, whose arguments cannot be expressions."""
    if not (fault.in_arguments or fault.text == ":") or fault.keyword not in ("rule", "axiom", "query", None):
        return None
    for place in (place for place in reversed(fault.open) if place):
        called, text = fault.before[place - 1], fault.source.text
        inside = parts_of_call(text[fault.before[place].start : fault.piece.end])
        name = called.text.lower()
        if name in AGGREGATING and len(inside) == 1:
            return fault.report_at(called, "aggregate", aggregate_message(called.text), AGGREGATE_HINT)
        hint = f"write `{name}(...)`" if name in FUNCTIONS else FOREIGN_FUNCTIONS.get(name)
        listed, hint = FUNCTIONS_LISTED, hint if fault.in_arguments else None
        if called.text in FOREIGN_DATES:
            listed, hint = "there are `years` and `months` of dates", FOREIGN_DATES[called.text]
        if hint:
            return fault.report_at(called, "unknown-function", f"`{called.text}` is not a function: {listed}", hint)
    return None


def unclosed_group(fault: Fault) -> Diagnostic | None:
    trailing = fault.token == "IN" and re.fullmatch(r"in\s*\[[^\[\]]*\]\s*", fault.rest)
    if not fault.open or not (fault.token == END or trailing):
        return None
    opener = fault.before[fault.open[-1]]
    closer = {"(": ")", "[": "]", "{": "}"}[opener.text]
    return fault.report_at(opener, "unclosed-group", f"this `{opener.text}` is never closed", f"add a `{closer}`")


# --- the table --------------------------------------------------------------------------------------------------------

# `rule r1 = P(X) -> Q(X)` parses, `rule r1 := ...` does not
RULE_NAMED: Row = (
    "rule", r"\A\w+ ⟦(<name>\"[^\"\n]*\"|[^\W\d][\w-]*)\s*:?=⟧(<compared>\s*[~¬(]*[^\W\d][\w-]*\([^()]*\).*)\Z",
    "rule-name", "a rule's name has a colon", rewrite.named,
)  # fmt: skip
_LED: Row = (
    "", r"\A(?:\w+ )?(?:NAME\s*:\s*)?⟦(<truth>\d*\.?\d+)⟧", "leading-truth",
    "the truth of a statement is written at its end", rewrite.truth_last,
)  # fmt: skip

MISTAKES: tuple[Row | Recogniser, ...] = (
    # texts, dates and comments
    ("", r'‸⟦"(?:[^"\\\n]|\\.)*?⟧GAP*(?:\n|\Z)', "unclosed-string", "this text is never closed",
     'add a `"` where it ends'),
    ("", r"‸⟦(<mark>['“”„‘])(<text>[^\n]*?)(?:(?P=mark)|[“”’])⟧", "single-quotes", "a text is written in double quotes",
     'write "{text}"'),
    lambda fault: comment(fault.source, fault.piece, fault.start + 1),
    RULE_NAMED,
    unquoted_date,
    called_date,
    _LED,
    # signs and words of other languages
    ("", r"‸⟦:-⟧\s*(?:dynamic|discontiguous|table|use_module|initialization|set_prolog_flag|module)\b", "directive",
     "there are no directives as in Prolog", "remove the line: nothing has to be imported or switched on"),
    ("", r"‸⟦:-|<-(?!>|\s*\d)|:=(?!\s*-?[\d.])⟧", "backward-arrow", "`{at}` is not an operator: a rule runs forward",
     rewrite.forward),
    ("", r"⟦(?<![!<>=])[-=]\s*‸[-=]?>|\|\s*‸[=>]|‸(?:==>|~>|⊢|⊨|⟹|⟶|↦)⟧(?!=)", "broken-arrow",
     "`{at}` is not an operator", "`->`"),
    ("", r"⟦‸∃!|(?:∃|\bexists)\s*‸!⟧", "unique-exists", "`∃!` is not a quantifier",
     "`exists X: P(X)`, and `axiom P(X) & P(Y) -> X = Y` for the uniqueness"),
    ("", rf"⟦/‸=|‸(?:{_any(_SIGNS.keys() - {'!', '<-', '=='})}|!(?=\s*[\w(])|<-(?=\s*\d)|==(?!>))⟧", "foreign-sign",
     "`{at}` is not an operator here", _instead(_SIGNS)),
    ("fact", r"=\s*‸⟦(?i:true|yes|⊤)⟧\s*\Z", "truth-as-value", "a value is a number, not `{at}`",
     "`1`, or leave the value out"),
    ("fact", r"=\s*‸⟦(?i:false|no|⊥)⟧\s*\Z", "truth-as-value", "a value is a number, not `{at}`",
     "`0`, or `~` before the atom"),
    ("formula outside", r"[\w)\"]\s*‸⟦(?i:is (?:not )?(?:null|none|nan|unknown|missing|na))⟧WORD", "no-null",
     "there is no null: what is not stated is unknown", "leave it out, for a comparison with an unknown number is "
     'unknown; rows without a value are read by `load Missing from "people.csv" (name) where age is null`'),
    ("outside", r"⟦‸SHOUTED|EDGESHOUTED(?=\s*‸)⟧WORD", "capital-operator",
     "`{at}` in capitals is not a word of the language", "`{lower}`"),
    ("arguments", r"EDGE⟦AND|OR|NOT|XOR|IMPLIES|IFF|And|Or|Not|Implies|Iff⟧CALLED", "capital-operator",
     "`{at}` is not a function: an operator stands between its operands, in small letters", "`{lower}`"),
    ("formula outside", rf"[\w)\"]\s*⟦‸(?i:i?like|contains|matches|(?:starts|ends) with)(?= -?[\w.\"])"
     rf"|‸\.{_any(TEXT_FUNCTIONS)}(?=\()⟧", "text-function", "`{at}` is not an operator", TEXTS_UNSEARCHED),
    ("formula", r"\)\s*‸⟦(?i:between)⟧ (<low>TERM) (?i:and) (<high>TERM)", "between",
     "`between` is not a word of the language", rewrite.within),
    ("fact", r"\A\w+ ⟦NAME⟧\s*‸(?=[^\W\d_])(?!in\b)", "fact-order",
     "a {keyword} names its predicate, and the entities in parentheses", "such as `{keyword} Likes(ann, bob)`"),
    ("outside", rf"[\w)\"]\s*‸⟦{_any(_COMPARISONS)}⟧\s", "worded-comparison",
     "`{at}` is not an operator", _instead(_COMPARISONS)),
    ("formula", r"⟦EDGE(?i:if|iif|ifelse|case)(?=\s*‸)|EDGE(?i:if|iif|ifelse)CALLED"
     r"|‸(?i:if(?! and only if)|else|otherwise|when|whenever|provided|because)WORD⟧", "if-then",
     "`{at}` is not a word of the language: a rule is an implication",
     "`P -> Q` for if P then Q, or Q if P; `~P -> R`, in a rule of its own, for else R"),
    ("query top AND", r"‸⟦(?i:order by|sort(?:ed)? by|limit|top|group by|desc|asc)⟧WORD", "query-words",
     "`{at}` cannot be part of a query: a query returns all answers",
     "remove it; `lnnkit run FILE --sort lower --limit 10` sorts and cuts what is shown"),
    ("rule IN", r"‸⟦(?:with )?(?:weight|confidence|probability|truth)?\s*[:=]?\s*[\[(,]?\s*(<low>SHARE)"
     r"(?:\s*,\s*(<high>SHARE))?\s*[\])]?⟧\s*\Z", "wrong-bounds",
     "the truth of a rule is written as bounds, at its end", rewrite.bounds),
    ("formula outside AND", rf"⟦‸{_any(_WORDS.keys() - {'no'})}WORD|(?<=\s)no(?=\s*‸NAME\s*\()⟧", "foreign-word",
     "`{at}` is not a word of the language", _instead(_WORDS)),
    ("query", r"\A\w+ ⟦(?i:who|whom|which|what|where|is|are|does|do|find|get|show|list|all|each|every|the|distinct"
     r"|unique|select|why|explain)(?=\s*‸[~¬]?NAME\s*\()|\??[A-Z]\w*(?=\s*‸:)⟧\s*‸:?(<asked>.*\(.*)", "query-words",
     "`{at}` is not part of a query, which asks for all variables", rewrite.asked),
    # quantifiers and aggregates
    ("", r"BINDERNAME\s*‸⟦\.⟧", "quantifier-period", "a quantifier takes a colon, not a period", "`:`"),
    ("", r"BINDER(<name>NAME)\s*‸⟦in(?!\w)|∈⟧\s*(<sort>NAME|)", "quantifier-sort", "a quantifier cannot name a sort",
     "leave it out, and write `{sort}({name})` in the formula or give the predicates sorts"),
    ("", r"BINDER(<first>NAME) ⟦(<name>NAME)⟧(?:\s*‸[:\w]| \([^()‸]*‸)", "quantifier-comma",
     "variables of a quantifier are separated by commas", "`{first}, {name}`"),
    ("", r"(<binder>BINDER)⟦(<glued>NAME)⟧\((<first>\s*(?:ITEM|-\S+?)\s*)‸(<others>,[^)]*)", "glued-quantifier",
     "`{at}` is read as one variable", rewrite.separated),
    ("outside", r"EDGE⟦for|all|every|each|foreach|for_?[aA]ll|For[aA]ll⟧\s*‸(?:(?:all|each|every) )?NAMES\s*[:(.\w]",
     "quantifier-word", "`{at}` is not a quantifier", "`forall X: ...`"),
    ("outside", r"EDGE⟦exist|some|there|Exists⟧\s*‸(?:(?:exists?|is) )?NAMES\s*[:(.\w]", "quantifier-word",
     "`{at}` is not a quantifier", "`exists X: ...`"),
    ("", r"EDGE⟦(?i:forall|exists)|any|all⟧(?:\s*‸\(|CALLED| NAME\([^()‸]*‸,)", "quantifier-word",
     "`{at}` is not a function: a quantifier names variables before a colon",
     "`(exists Y: P(X, Y))` or `(forall Y: P(X, Y) -> Q(Y))`"),
    ("formula", r"⟦(?i:avg|average|total|minimum|maximum)⟧ ‸NAMES\s*:", "aggregate",
     "`{at}` is not an aggregate of the language", _instead(_AGGREGATES)),
    ("rule", rf"\A\w+ ⟦{_any(AGGREGATES)}⟧ ‸(<names>NAMES)\s*:\s*(<rest>[^<>=]*[^<>=\s-])\s*"
     r"(<more>(?:[<>]=?|!?=)[^>].*)", "aggregate", "beside an operator an aggregate is in parentheses",
     "`{keyword} ({at} {names}: {rest}) {more}`"),
    ("formula", rf"⟦{_any(AGGREGATES)}⟧ ‸(<names>NAMES)\s*:", "aggregate",
     "beside an operator an aggregate is in parentheses", "`({at} {names}: ...)`"),
    ("formula", rf"EDGE⟦{_any([*AGGREGATING, 'total', 'len', 'minimum', 'maximum'])}⟧"
     r"(?:\s*‸(?:[~¬]?NAME\s*[(:,]|\{)| NAMES\s*:(?:[^()‸]|\([^()‸]*\))*‸,)", "aggregate",
     "an aggregate names the variables that it runs over before a colon: `{at}`", AGGREGATE_HINT),
    foreign_function,
    # arguments
    unclosed_group,
    ("-LEARNABLE", r"[(,]\s*‸⟦[$@:]\w+|[?*]\w*⟧", "marked-variable", "`{at}` cannot be an argument",
     "a variable starts upper-case, without a mark, as `X`; `?` stands for a number to be learned"),
    ("arguments", r"⟦[\w-]+(?=\s*‸\()|‸(?:[+*/^<>=!&|∧∨~¬∀∃→↔-]+|(?:and|or|xor|not|implies|iff|forall|exists)WORD)"
     r"|EDGEnot(?= ‸)⟧", "argument-expression",
     "an argument of `{applied}` is a variable or an entity: `{at}` cannot be in it",
     "calculate and join outside of `{applied}`, with a variable in it; an entity with such a character needs quotes"),
    ("arguments", r"[(,]\s*(<entity>(?!not )[^\W_][^(),\n‸\"]*)‸(?![;{}\[\])]|\Z)(<more>[^,()\n\"]*?)\s*(?:[,()\n]|\Z)",
     "unquoted-entity", "`{at}` cannot continue an argument",
     'an entity with blanks or marks needs quotes: "{entity}{more}"; two arguments need a comma'),
    ("formula outside", r"EDGE⟦(<name>[A-Z]\w*)‸\.(<attribute>[^\W\d_]\w*)⟧(?!\w*\()", "dotted-attribute",
     "there are no dotted attributes: each is a number or a predicate", "`{attribute}({name})`"),
    ("", r"‸⟦_\w*⟧", "reserved-underscore", "`_` is reserved and cannot start a name", "name it, or write `exists`"),
    # numbers
    ("outside", r"(?<![\w.])⟦(<whole>NUMBER‸(?:[,_]\d{3})+|\d{1,3}\.\d{3}‸(?:\.\d{3})+|\d{1,3} ‸\d{3}(?: \d{3})*"
     r"|‸\d{1,3}(?:_\d{3})+)⟧(?![\w.])", "thousands-separator", "a number has no separators",
     rewrite.without_separators),
    ("outside", r"(?<![\w.])⟦(<whole>NUMBER)‸,(<part>\d+)⟧(?![\w.])", "decimal-comma",
     "a number has a point, not a comma", rewrite.without_separators),
    ("fact", r"⟦(?:(?:in|=)\s*)?‸?[\[(]?\s*(<low>VALUE)\s*‸?(?:,|\.\.+|–|to )\s*‸?(<high>VALUE)\s*[\])]?⟧\s*\Z",
     "wrong-bounds", "bounds are written `in [l, u]`", "`in [{low}, {high}]`"),
    ("fact", r"⟦in\s*‸?\[?\s*(<value>VALUE)\s*‸?\]?⟧\s*\Z", "wrong-bounds", "a value follows `=`", "`= {value}`"),
    ("formula outside", r"(?:[(&|~]\s*|\A\w+ |(?<![\w.])(?=‸|NUMBER‸\())⟦(<number>‸?NUMBER\s*‸?)"
     r"(<minus>-?)(<name>(?!(?:WORDS)\b)[^\W\d_]\w*|)⟧\(", "missing-operator",
     "a product needs its `*`, a difference blanks", rewrite.calculated),
    ("outside", r"⟦(?<![\w.])(?!‸?0[xXbBoO])(<number>‸\d+(?:\.\d+)?|\d+‸\.\d+|NUMBERGAP*‸(?!days?\b))"
     r"(<unit>[€$£¥%]|(?!(?:WORDS)\b)NAME)⟧(?!\w*GAP*\()", "number-unit",
     "a number has no unit but `days`: `{at}`", rewrite.without_unit),
    ("outside", r"(?:\)|\?[\w=.-]*|NAME)GAP*‸⟦days?⟧WORD(?!\s*\()", "number-unit",
     "`days` follows a literal number only", "remove it: what is added to a date is in days"),
    ("formula outside -NAME", r"[\w.)]\s*‸⟦%|//⟧GAP*(?:\(?\s*\d[\d.]*\s*\)?\s*(?:[<>=!≤≥≠+*^&|)-]|\Z|\n)"
     r"|\(?\s*NAME\s*\([^()\n]*\)\s*\)?\s*(?:[<>!≤≥≠+*^]|=(?!>)))", "unknown-operator", "`{at}` is not an operator",
     "`/` for the fraction; the whole part is `floor(a / b)`, the remainder `a - b * floor(a / b)`"),
    ("", r"[<>=@,(\[+*/^-]\s*⟦\?\s+‸[\w-]+(?:\.\d+)?|‸\?\s*=\s*[\d.]+⟧", "learnable-form",
     "a learnable number is one word: `?`, `?50`, `?name` or `?name=50`", rewrite.learnable),
    ("NAME", rf"\S\s*‸⟦(?:{'|'.join(sorted(WORDS))})⟧\(", "reserved-word",
     "`{at}` is a word of the language and cannot be a name", "choose another name, such as `is-{at}`"),
    # bounds, lists and ranges
    ("formula", r"EDGE(<held>ATOM|(?!(?:WORDS)\b)NAME)\s*⟦‸?(<not>(?:not )?)in\s*‸?[(\[{]\s*‸?(<list>ITEMS)\s*[)\]}]⟧",
     "membership", "`in` gives bounds and does not test membership", rewrite.one_of),
    ("formula", r"\)\s*⟦(?:in|[<>=!]+)?\s*‸?(?:in\s*)?(<range>[(\[]\s*‸?VALUE\s*,\s*VALUE\s*[)\]]"
     r"|\[?VALUE‸?\.\.+\s*VALUE\]?)⟧\s*‸?LINK", "interval-in-body",
     "`in [l, u]` bounds a whole statement, at its end: a number is compared", rewrite.within),
    ("query top", r"‸⟦in\s*\[[^\[\]]*\]⟧\s*\Z", "query-bounds", "a query takes no bounds: it asks for them",
     "remove them"),
    ("top", r"‸⟦[)\]}]⟧", "unmatched-bracket", "this `{at}` closes nothing",
     "remove it, or open the group that it should close"),
    ("formula", r"(<number>\??NAME(?:\([^()]*\))?)\s*(?:[<>]=?|=)[^<>=]*(?:\band|&|\bor|\|)\s*"
     r"‸⟦(<sign><=|>=|<|>|≤|≥|!=|=)\s*(<value>-?[\d.]+)⟧", "half-comparison", "a comparison has two sides",
     "name it again: `{number} {sign} {value}`"),
    # tables
    ("STRING -NAME", r"\b(?:from|import)\s*‸⟦[\w./~\\-][^\s(]*+⟧(?!\s*\")", "unquoted-path",
     "the path `{at}` needs quotes", 'write "{at}"'),
    ("table top", r"\b(header|missing|delimiter|decimal|encoding)\s*‸⟦[=:]⟧", "load-words", "a clause takes no `{at}`",
     "remove it"),
    ("table STRING -NAME", r"(?:[=<>(,]|\b(?:missing|delimiter|encoding))\s*‸⟦[^\s(),\"'#]+⟧", "unquoted-value",
     "the value `{at}` needs quotes", 'write "{at}"'),
    ("load top", r"\A\w+ (<name>[\w-]+) from \"(<path>[^\"\n]+)\"\s*\((<columns>[\w\s,]+)\) "
     r"where (<test>(?:[^{}\[\]\\]*[\w)]\s*)?‸⟦[(+*/^-]⟧[^{}\[\]\\]*)", "bad-condition",
     "a condition compares a column with a value or another column", rewrite.as_query),
    ("table", rf"\bwhere .*‸⟦{_any(_IN_CONDITIONS)}⟧(?<!\w(?=\w))", "bad-condition",
     "`{at}` is not part of a condition", _instead(_IN_CONDITIONS, "{}")),
    ("table", r"\bis(?: not)?\s*‸⟦NAME⟧", "bad-condition", "`{at}` cannot follow `is`",
     "`null` for a cell that is empty; to compare it, write `=` instead of `is`"),
    ("table top", rf"‸⟦{_any(_CLAUSES.keys() - {'['})}WORD|\[⟧", "load-words", "`{at}` is not a clause of a {keyword}",
     _instead(_CLAUSES)),
    # facts
    ("fact EQUALS", r"\)\s*‸⟦[:@,]?\s*(<value>VALUE)⟧\s*\Z", "missing-equals", "the value of a {keyword} follows `=`",
     "`= {value}`"),
    ("fact top", r"\S\s*‸⟦,|&|∧|and(?!\w)⟧", "fact-formula", "a {keyword} is one atom or its negation",
     "give each its own line and its own `{keyword}`"),
    ("fact top EQUALS", r"‸⟦(?:>=?|≥)\s*(<end>VALUE)⟧\s*\Z", "fact-formula",
     "a {keyword} gives bounds, not a comparison", "`in [{end}, inf]`; a truth value is at most 1"),
    ("fact top EQUALS", r"‸⟦(?:<=?|≤)\s*(<end>VALUE)⟧\s*\Z", "fact-formula",
     "a {keyword} gives bounds, not a comparison", "`in [-inf, {end}]`; a truth value is at least 0"),
    ("fact top", r"\S\s*‸⟦\||∨|->|→|=>|⇒|<->|<=>|↔|⇔|⊕|∀|∃|[<>≤≥≠]=?|!=|(?:or|implies|iff|xor|forall|exists)(?!\w)⟧",
     "fact-formula", "a {keyword} is one atom or its negation, not a formula", "a formula takes `rule` or `axiom`"),
    ("fact top", r"(<atom>ATOM)\s*=\s*‸⟦\"[^\"\n]*\"|[^\W\d]\w*⟧", "value-not-number",
     "`{at}` is not a number; a {keyword} gives a number after `=`",
     'write it in digits, or as `date "2024-01-15"`; a value that follows from others is a rule: `rule {atom} = {at}`'),
    ("fact top", r"=\s*-?NUMBER\s*‸⟦[+*/^−-]⟧", "computed-value", "a {keyword} states a number and cannot compute one",
     "write the result; a value that follows from others is a rule"),
    # statements
    ("rule", r"\A\w+ (?!at ‸|exactly)⟦(<first>\w+(?:GAP+\w+)*)GAP+‸(<more>(?:\w+GAP+)*\w+)⟧\s*:(?!-)", "rule-name",
     "a name must be one word", '`"{first} {more}":`, or join its words by `-`'),
    ("query top AND", r"\S\s*‸⟦\?⟧\s*\Z", "query-mark", "a query takes no `?`", "remove the `?`"),
    ("declaration", r"(<name>NAME)\s*‸⟦/\s*(<count>\d)⟧", "predicate-arity", "the arity is not written as `{at}`",
     rewrite.with_arity),
    # brackets, ends and what joins
    ("outside", r"\W(<name>NAME)‸⟦\[⟧", "square-brackets", "arguments are written in parentheses", "`{name}(...)`"),
    ("formula outside", r"\S\s*‸⟦\{⟧", "misplaced-attributes",
     "attributes follow the parentheses of a connective or comparison, or a unit",
     "write them as in `(A & B){{bias: 1}}`, and a weight as in `A@0.5`"),
    ("formula", r"(?:<->|<=>|↔|⇔|⊕|\b(?:iff|xor)\b).*[\w)]\s*‸⟦<->|<=>|↔|⇔|⊕|(?:iff|xor)WORD⟧", "chained-connective",
     "`{at}` does not chain", "use parentheses to show which comes first"),
    ("formula AND", r"\S\s*‸⟦,⟧", "comma-conjunction", "`,` cannot join formulas", "`&`"),
    ("outside", r"\S\s*‸⟦[.;](?=\s*(?:\Z|\n|[#%]|//|KEYWORD ))⟧", "trailing-mark",
     "a statement ends where its line ends, without `{at}`", "remove it"),
    ("", r"(?<!\d)‸⟦%+|//+|/\*⟧", "foreign-comment", "`{at}` does not start a comment", "a comment starts with `#`"),
    ("outside", r"‸⟦;⟧", "semicolon", "`;` is not an operator",
     "`|` for or, `#` before a comment; put a statement on its own line"),
)  # fmt: skip

LINES: tuple[Row | Recogniser, ...] = (
    _LED,
    ("", r"\A⟦\?-?⟧\s*(<asked>[^\W\d_~¬(].*?|[~¬(].*?)[.?]?\Z", "query-mark", "`{at}` cannot start a query",
     rewrite.asked),
    ("", r"\A⟦(<asked>NAME\([^()]*\))\s*\?⟧\Z", "query-mark", "`?` cannot end a query", rewrite.asked),
    ("", r"\A⟦--+|;+|\"{3}|'{3}|%|\*|//+|/\*|<!--⟧", "foreign-comment", "`{at}` does not start a comment",
     "a comment starts with `#`"),
    ("", rf"\A⟦{_any(_KEYWORDS)}⟧ (<rest>[\w~¬\"(].*)", "missing-keyword", "`{at}` is not a keyword",
     _instead(_KEYWORDS, "`{} {rest}`")),
    ("", r"\A⟦(?i:select|insert|update|create|delete|with)⟧\s", "sql-statement",
     "`{at}` is not a keyword: this is not SQL",
     'state a row as `fact P(anna, bob)`, read a table by `load P from "p.csv"`, ask by `query P(X, Y) & X = bob`'),
    ("", r"\A⟦lnnkit⟧\b", "unsupported-version", "`lnnkit` must be followed by the version of the language",
     "`lnnkit 1`"),
)  # fmt: skip
"""Mistakes of lines that no keyword starts."""
