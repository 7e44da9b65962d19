"""The table of mistakes: signs, numbers and texts as other languages write them, loads and declarations. See `rows` for
the notation."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import DATE, date_as_number, hours_hint, is_date
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import DECLARING
from lnnkit.syntax.mistakes.rows import ITEM, Groups, MistakeTable, in_table, joined, rows
from lnnkit.syntax.rewrite import as_rule, truth_before
from lnnkit.syntax.split import Slice

# Text at the fault -> code, what to write instead. Longest first.
_SYMBOLS = {
    "==>": ("broken-arrow", "->"), "&&": ("double-and", "&"), "||": ("double-or", "|"), "==": ("double-equals", "="),
    "=<": ("reversed-less-equal", "<="), "<>": ("chevron-unequal", "!="), "\\=": ("backslash-unequal", "!="),
    "\\+": ("backslash-not", "~"), "**": ("double-star", "^"), "≡": ("foreign-symbol", "<->"),
    "⊃": ("foreign-symbol", "->"), "×": ("foreign-symbol", "*"), "·": ("foreign-symbol", "*"),
    "÷": ("foreign-symbol", "/"),
}  # fmt: skip
_SEPARATORS = "a number has no separators"
_DIRECTIVES = "dynamic|discontiguous|table|use_module|initialization|set_prolog_flag|module"
_DIGITS = "`{number:digits}{more:digits}`"
_LISTED = "`{keyword} {name}({sorts:sorts}){closed}`"
_LOADED = "`{keyword} {name} from {path:quoted} {list}`"
_UNIT = "`{number}`, and put the unit into the name"
_OPAQUE = r'"(?:[^"\\\n]|\\.)*"|#[^\n]*'
_DASHES = re.compile(rf"{_OPAQUE}|(?<!\S)(?P<at>--+)(?=[ \t]+[^\W\d]|[ \t]*$)", re.MULTILINE)
_CALLED = re.compile(r"(?i:date|datetime|timestamp|to_date)\s*(?:\(\s*)?([\"']?)(?P<date>[^\"'()]*)\1(?:\s*\))?")


def _forward(groups: Groups, fault: Fault) -> str:
    if fault.first_on_line and groups["at"] == ":-":  # a constraint, which has no head
        body = re.sub(r"\),\s*", ") & ", " ".join(fault.rest[2:].split()).removesuffix("."))
        return f"`axiom {body} -> false`"
    rule = as_rule(fault)
    return f"`{rule}`" if rule else "write the body first: `rule body -> head`"


def _led(groups: Groups, fault: Fault) -> str | None:
    truth = truth_before(groups["truth"] + fault.source.text[fault.before[-1].end : fault.piece.end])
    return None if truth is None else f"`{groups['head'].strip()} {truth}`"


def _assigned(groups: Groups, fault: Fault) -> str:
    stated = groups["number"] or fault.keyword not in ("rule", "axiom", "query", None)
    rule = None if stated else as_rule(fault)
    return f"`{rule}`" if rule else "`=`"


def _named(groups: Groups, fault: Fault) -> str | None:
    """What to write for `r1 =`, unless that may be a variable, an entity that the statement mentions, or a number."""
    name = groups["name"]
    numeric = rf"^\s*(?:number\s+{re.escape(name)}\b|import\b)"
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", groups["compared"]) or (
        not name.startswith('"') and re.search(numeric, fault.source.text, re.MULTILINE)
    ):
        return None
    short = re.sub(r"\W+", "-", name.strip('"')).strip("-") or "r1"
    return f"`{short}:`"


def date_literal(fault: Fault) -> Diagnostic | None:
    if fault.in_arguments or fault.expected == {"STRING"} or fault.keyword in (*DECLARING, "load", "sort"):
        return None
    match = _date(fault, "number", "word")
    return date_as_number(match[0], Span(fault.source, *match.span())) if match else None


def _date(fault: Fault, *kinds: str) -> re.Match[str] | None:
    """The date that the fault is in, if it starts there or with an earlier lexeme of these kinds."""
    starts = {fault.start, *(lexeme.start for lexeme in fault.before if lexeme.kind in kinds)}
    dates = DATE.finditer(fault.source.text, fault.piece.start, fault.piece.end)
    return next((date for date in dates if date.start() in starts and date.start() <= fault.start < date.end()), None)


def called_date(fault: Fault) -> Diagnostic | None:
    """`fact start(ann) = date("2024-01-05")`, `start(X) > DATE "2024-01-05"`."""
    text, first = fault.source.text, fault.start
    if fault.token == "STRING" and fault.previous is not None:
        first = fault.previous.start
    elif fault.keyword not in ("fact", "label"):
        return None
    if fault.token == "STRING" and text[first] == "=" and is_date(fault.text[1:-1]):
        return date_as_number(fault.text[1:-1], Span(fault.source, fault.start, fault.end))
    called = _CALLED.match(text, first, fault.piece.end)
    text = re.sub(r"\s*,\s*", "-", called["date"]) if called else ""
    if called is None or fault.in_arguments or not is_date(text):
        return None
    return date_as_number(text, Span(fault.source, *called.span()))


def date_in_table(fault: Fault) -> Diagnostic | None:
    """`joined >= 2021-01-01` without quotes: its first digits are parsed as a number."""
    match = _date(fault, "string", "word", "number", "symbol") if in_table(fault) else None
    if match is None:
        return None
    return fault.report("unquoted-value", f"the value `{match[0]}` needs quotes", f'write "{match[0]}"', *match.span())


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


# `rule r1 = P(X) -> Q(X)` parses, `rule r1 := ...` does not
_NAME_PATTERN = r"⟦(<name>\"[^\"\n]*\"|[^\W\d][\w-]*)\s*:?=⟧(<compared>\s*[~¬(]*[^\W\d][\w-]*\([^()]*\).*)"
(RULE_NAMED,) = rows([("rule rule-name: a rule's name has a colon", _NAME_PATTERN, _named)])
TEXTS: MistakeTable = (
    ("any [junk] unclosed-string: this text is never closed", r'‸⟦"[^\n]*?⟧GAP*(?:\n|\Z)', 'add a `"` where it ends'),
    "any [junk] single-quotes: a text is written in double quotes",
    (r"‸⟦'(<text>[^'\n]*)'⟧", 'write "{text}"'),
    (r"‸⟦[“”„](<text>[^“”\n]*)[“”]⟧", 'write "{text}"'),
    lambda fault: comment(fault.source, fault.piece, fault.start + 1),
    RULE_NAMED,
    date_literal,
    "any [outside] time-as-number: `{hours}{minutes}` is a time where a number is expected",
    (r"(?<![\w.])⟦(<hours>\d{1,2})\s*‸(<minutes>:\d{2}(?::\d{2})?)⟧(?![\w:])",
     lambda groups, _: hours_hint(groups["hours"] + groups["minutes"])),
    called_date,
)  # fmt: skip
SIGNS: MistakeTable = (
    date_in_table,
    "table [in_table STRING -NAME] unquoted-value: the value `{at}` needs quotes",
    (r"\bdecimal\s*‸⟦[^\s(),\"'#]+⟧", 'write ","'),
    (r"(?:[=<>(,]|\b(?:missing|delimiter|encoding))\s*‸⟦[^\s(),\"'#]+⟧", 'write "{at}"'),
    "any [junk] unique-exists: `∃!` is not a quantifier",
    (r"‸⟦∃!⟧", "`exists X: P(X)`, and `axiom P(X) & P(Y) -> X = Y` for the uniqueness"),
    (r"(?:∃|\bexists)\s*‸!", "`exists X: P(X)`, and `axiom P(X) & P(Y) -> X = Y` for the uniqueness"),
    ("any [junk] bang-negation: `!` is not the negation", r"‸!\s*[\w(]", "`~`"),
    "any directive: `:- {word}` is a directive of Prolog",
    (rf"‸⟦:-⟧\s*(<word>{_DIRECTIVES})\b\s*(<name>[^\W\d][\w-]*)\s*/\s*(<count>\d)\.?\s*(?:\n|\Z)",
     "remove the line, or write `predicate {name}({count:entities})`"),
    (rf"‸⟦:-⟧\s*(<word>{_DIRECTIVES})\b[^\n]*(?:\n|\Z)", "remove the line: nothing has to be imported or switched on"),
    ("any [junk] backward-arrow: `<-` is not an operator", r"‸⟦<-⟧\s*(<number>\d[\d.]*)", "`< -{number}`"),
    ("any [junk] backward-arrow: `{at}` is not an operator: a rule runs forward", r"‸⟦:-|<-⟧", _forward),
    *(
        row
        for sign, (code, instead) in _SYMBOLS.items()
        for row in (f"any [junk] {code}: `{sign}` is not an operator here", (rf"‸⟦{re.escape(sign)}⟧", f"`{instead}`"))
    ),
    ("any slash-unequal: `/=` is not an operator", r"⟦/‸=⟧(?![=<>])", "`!=`"),
    ("any tilde-unequal: `{at}` is not an operator", r"‸⟦[~¬]=⟧", "`!=`"),
    ("any broken-arrow: `{at}` is not an operator", r"(?<![!<>=])⟦[-=]\s*‸[-=]?>⟧(?!=)", "`->`"),
    "rule leading-truth: the truth of a statement is written at its end",
    (r"\A(<head>\w+ (?:NAME\s*:\s*)?)⟦(<truth>NUMBER)⟧\s*‸", _led),
    "any [outside] missing-space: `{number}-{name}` reads as one name",
    (r"‸(<number>\d+(?:\.\d+)?)-(<name>[^\W\d_]\w*)\(", "`{number} - {name}(...)`"),
    "any [outside glued] missing-operator: a product needs its `*`",
    (r"‸⟦(<number>\d+(?:\.\d+)?)(<name>[^\W\d_]\w*)⟧\(", "`{number} * {name}(...)`"),
    "any [outside] missing-operator: a product needs its `*`",
    (r"BEHIND‸\(", "`{number} * (...)`"),
    (r"(?:[(&|~]|->|\A\w+)\s*BEHIND\s*‸⟦(<name>(?!(?:RESERVED)\()NAME)⟧\(", "`{number} * {name}(...)`"),
    f"any thousands-separator: {_SEPARATORS}",
    (r"BEHIND‸(<more>(?:[,_]\d{3})+)(?!\d)", _DIGITS),
    (r"(?<![\w.])(<number>\d{1,3}\.\d{3})‸⟦(<more>(?:\.\d{3})+)⟧(?![\d.])", _DIGITS),
    (f"any [outside] thousands-separator: {_SEPARATORS}", r"‸⟦(<number>\d{1,3})(<more>(?:_\d{3})+)⟧(?!\w)", _DIGITS),
    "any [outside glued] number-base: numbers are decimal, not `{at}`",
    (r"‸⟦0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)⟧(?!\w)", lambda groups, _: f"`{int(groups['at'], 0)}`"),
    "any [outside] number-unit: a number has no unit: `{at}`",
    (r"‸⟦[€$£¥]⟧\s*(<number>\d[\d.]*)", _UNIT),
    (r"BEHINDGAP*‸⟦[€$£¥]⟧", _UNIT),
    "any [outside literal] number-unit: `days` is the only unit of a number, not `{at}`",
    (r"BEHINDGAP*‸⟦weeks?⟧(?![\w-])", lambda groups, _: f"`{7 * float(groups['number']):g} days`"),
    (
        r"BEHINDGAP*‸⟦(<unit>month|year)s?⟧(?![\w-])",
        "months and years differ in length: compare completed ones, `{unit}s(hired(X), today) >= {number}`",
    ),
    "any [outside] number-unit: a learned number has no unit: `{at}`",
    (r"(<learned>\?(?:NAME\s*=\s*)?NUMBER)GAP*‸⟦days?⟧", "`{learned}`: the time between two dates is in days"),
    "formula [outside] number-unit: `days` follows a literal number only",
    (r"(<days>[\w.-]+(?:\([^()]*\))?)GAP*‸⟦days?⟧(?![\w-]|\s*\()", "`{days}`: what is added to a date is in days"),
    "any [outside] learned-date: a date is written after the word `date`",
    (r"(<learned>\?(?:NAME\s*=\s*)?)‸⟦(<text>\"\d[^\"\n]*\")⟧", "`{learned}date {text}`"),
    "any [outside literal] number-unit: a number has no unit: `{at}`",
    (r"BEHINDGAP*‸⟦(?!(?:RESERVED)(?![\w-]))NAME⟧(?!\w*GAP*\()", _UNIT),
    "any [outside glued] missing-space: a number and its unit are two words",
    (r"‸(<number>\d+(?:\.\d+)?)⟦days?⟧(?![\w-])", "`{number} days`"),
    "any [outside glued] number-unit: a number has no unit: `{at}`",
    (r"‸(<number>\d+(?:\.\d+)?)⟦[^\W\d_]\w*⟧", _UNIT),
    "any [outside] number-unit: a number cannot be followed by `%`",
    (r"BEHINDGAP*‸%", "`{number:percent}` for `{number}%`"),
    "any decimal-comma: a number has a point, not a comma",
    (r"BEHIND‸⟦,(<part>\d+)⟧(?![\w.])", "`{number:digits}.{part}`"),
    ("any [outside] assignment: `:=` is not an operator", r"‸⟦:=⟧(<number>\s*-?[\d.])?", _assigned),
)  # fmt: skip
CLAUSES: MistakeTable = (
    f"any thousands-separator: {_SEPARATORS}",
    (r"(?<!\S)⟦(<number>\d{1,3})\s‸(<more>\d{3}(?: \d{3})*)⟧(?![\w.])", _DIGITS),
    "table [in_table] capital-word: `{at}` in capitals is not a word of the language",
    (r"‸⟦WHERE|AND|IN|IS|NOT|NULL|MISSING|DELIMITER|TRUST|NO|TRUE|FALSE|DECIMAL|ENCODING|TRIM⟧(?!\w)", "`{lower}`"),
    ("table [in_table top AND] bad-condition: a comma cannot join conditions", r"‸,(?!\d{3}(?!\d))", "`and`"),
    "table [in_table top AND] bad-condition: conditions are joined by `and` alone",
    (r"‸(?:or(?!\w)|\||∨)", 'write one statement for each, or `in ("a", "b")` for several values of one column'),
    "table [in_table] bad-condition: `{at}` cannot follow `is`",
    (r"\bis(?: not)?\s*‸⟦NAME⟧", "`null` for a cell that is empty; to compare it, write `=` instead of `is`"),
    "table [in_table] bad-condition: `{at}` cannot deny a condition",
    (r"(?:\bwhere|\band|&)\s*‸⟦not|~|¬⟧", "`!=`, or `is not null`"),
    "table [in_table IS] bad-condition: `between` is not an operator",
    (r"⟦(<column>COLUMN)\s*‸(?i:between) (<low>CELL) (?i:and|&|,) (<high>CELL)⟧(?![\w.-])",
     "`{column} >= {low} and {column} <= {high}`"),
    "table [in_table IS] bad-condition: `not in` is not an operator",
    (r"⟦(<column>COLUMN)\s*‸(?i:not in)\s*\(\s*(<list>CELLS)\s*\)⟧", joined(ITEM, "{column} != {}", " and ")),
    "table load-order: a {keyword} names the predicate, then the file, then the columns",
    (r"(<path>PATH)", "`{keyword} P from {path:quoted}`"),
    (r"(<path>PATH) (?:as|into|to) (<name>[\w-]+)", "`{keyword} {name} from {path:quoted}`"),
    (r"(<name>[\w-]+)\s*(<list>\([^()]*\))\s*from (<path>PATH)", _LOADED),
    (r"(<name>[\w-]+)\s*\([^()]*\)\s*from (<path>PATH)\s*(<list>\([^()]*\).*)", _LOADED),
    "table [from_only] load-order: a {keyword} names the predicate, then the file, then the columns",
    (r"(<name>[\w-]+) (<path>PATH)(<list>\s*\([^()]*\)|)", "`{keyword} {name} from {path:quoted}{list}`"),
    "table [top clause] load-words: `{at}` is not a clause of a {keyword}",
    (r"‸⟦(?i:without|no_?header|header\s*=\s*(?:no|none|false))\b(?:GAP+(?:an?\s+)?(?i:headers?))?⟧", "`no header`"),
    (r"‸⟦(?i:with|has|skip|headers|header\s*=\s*\w+)\b(?:GAP+(?:an?\s+)?(?i:headers?))?⟧", "`header`"),
    (r"‸⟦(?:columns?|using|select|cols)\s*[:=]?\s*[(\[](<list>[^()\[\]]*)[)\]]⟧", "`({list})`"),
    (r"‸⟦\[(<list>[^()\[\]]*)\]⟧", "`({list})`"),
    (r"‸⟦(?:columns?|using|select|cols)\s*[:=]?\s*(<list>[\w\"-]+(?:\s*,\s*[\w\"-]+)*)⟧\s*\Z", "`({list})`"),
    (r"‸⟦(?i:sep|separator|delim|delimited by|separated by)\s*[:=]?\s*\"(<mark>[^\"\n]*)\"⟧", '`delimiter "{mark}"`'),
    (r"‸⟦(?i:na|na_values|nan|null|nulls|none|unknown)\s*[:=]?\s*\"(<mark>[^\"\n]*)\"⟧", '`missing "{mark}"`'),
    (r"‸⟦(?i:if|when|filter|filtered by|whenever|only)⟧(?= \w)", "`where`"),
    "table [top] load-words: `header` takes no value",
    (r"⟦\bheader\s*‸[=:]\s*(?i:false|no|none|0)⟧(?!\w)", "`no header`"),
    (r"⟦\bheader\s*‸[=:]\s*\w+⟧", "`header`"),
    "table [nested column] load-words: a condition cannot stand in the list of columns",
    (r"⟦(<column>COLUMN)\s*‸(<test>(?:[<>]=?|!=|=)\s*(?:\"[^\"\n]*\"|-?[\d.]+))⟧(?=\s*[,)])",
     "write it after the columns: `where {column} {test}`"),
    "sort declaration: a sort does not list its entities: facts and tables name them",
    (r"\A\w+ (<name>\S+?)\s*‸[=:({\[]", "`sort {name}`"),
    ("logic declaration: the name of the logic follows the word", r"\A\w+\s*‸[=:]\s*(<name>\w+)", "`logic {name}`"),
    "declaration [=DIVIDE] predicate-arity: the arity is not written as `{at}`",
    (r"\S\s*‸⟦/\s*(<count>\d)⟧\b", "`{keyword} {previous}({count:entities})`"),
    ("table [=DIVIDE] predicate-arity: the arity is not written as `{at}`", r"\S\s*‸⟦/\s*\d⟧\b", "leave it out"),
)  # fmt: skip
DECLARATIONS: MistakeTable = (
    "declaration declaration: an argument is declared by its sort alone",
    (r"(<name>[\w-]+)\((<sorts>[^()]*:[^()]*)\)(<closed> closed)?", _LISTED),
    "declaration declaration: `{at}` comes after the predicate",
    (r"⟦closed⟧ (<name>[\w-]+(?:\([^()]*\))?)", "`{keyword} {name} closed`"),
    (r"⟦open⟧ (<name>[\w-]+(?:\([^()]*\))?)", "`{keyword} {name}`"),
    "declaration declaration: a predicate is open unless it is declared `closed`",
    (r"(<name>[\w-]+(?:\([^()]*\))?) open", "`{keyword} {name}`"),
    "declaration declaration: a declaration gives no value",
    (r"(<name>[\w-]+) = (<value>\S+)", "`{keyword} {name}`, and its value as `fact {name} = {value}`"),
    (r"(<name>(<number>[\w-]+)\([^()]*\)) = (<value>\S+)",
     "`{keyword} {name}`, and its value as `fact {number}(...) = {value}`"),
    "declaration declaration: the sorts of the arguments stand in parentheses",
    (r"(<name>[\w-]+)\s*:\s*(<sorts>[\w-]+(?:\s*,\s*[\w-]+)*)(<closed> closed)?", _LISTED),
    "declaration declaration: sorts are separated by commas",
    (r"(<name>[\w-]+)\((<sorts>[\w-]+(?:,?\s+[\w-]+)+)\)(<closed> closed)?", _LISTED),
    "number declaration: a number has no further type",
    (r"(<name>[\w-]+(?:\([^()]*\))?) (?::\s*)?(?:int|integer|float|double|real|decimal)", "`number {name}`"),
)  # fmt: skip
