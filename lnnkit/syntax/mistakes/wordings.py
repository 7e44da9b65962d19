"""The table of mistakes: statements in words, questions, marks and calculations. See `rows` for the notation."""

from __future__ import annotations

import re

from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, AGGREGATING, KEYWORDS, TEXTS_UNSEARCHED
from lnnkit.syntax.mistakes.rows import ITEM, SORTED, Groups, MistakeTable, joined
from lnnkit.syntax.rewrite import balanced

_BOUNDS = "bounds are written `in [l, u]`"
_NO_NULL = "leave it out: a comparison with an unknown number is unknown anyway"
_MISSING = 'no rule can ask for that: list those that lack it in a table, and `load Missing from "missing.csv"`'
_LESS = {
    "greater than or equal to": ">=", "less than or equal to": "<=", "greater than": ">", "more than": ">",
    "less than": "<", "fewer than": "<", "at least": ">=", "at most": "<=", "above": ">", "below": "<", "over": ">",
    "under": "<",
}  # fmt: skip


def _head_last(groups: Groups, fault: Fault) -> str | None:
    if re.search(r"->|=>|\b[iI]f\b", groups["head"]):
        return None
    head, name = " ".join(groups["head"].split()), groups["name"]
    body = " ".join(fault.rest[len(groups["at"]) :].split()).removesuffix(".")
    if not body or not balanced(body) or len(body) + len(head) >= 90 or "->" in body:
        return "`P -> Q` for Q if P"
    bounds = re.search(r"\s+in\s*\[[^\]]*\]$", body)
    end = bounds[0] if bounds else ""
    return f"`{fault.keyword} {name}{body.removesuffix(end)} -> {head}{end}`"


def _free_variable(_: Groups, fault: Fault) -> str:
    text = fault.source.text[fault.piece.start : fault.piece.end]
    free = next((name for name in "XYZUVW" if not re.search(rf"(?<!\w){name}(?!\w)", text)), "X1")
    return f"a variable stands for what is asked: `{free}`"


def _margin(groups: Groups, _: Fault) -> str:
    middle, margin = float(groups["number"]), float(groups["margin"])
    return f"`in [{middle - margin:.15g}, {middle + margin:.15g}]`"


_UNEQUAL = joined(ITEM, "{name} != {:entity}", " & ")

WORDS: MistakeTable = (
    "rule [top AND] if-then: `{at}` is not a keyword: a rule is written with its head last",
    (r"\A\w+ (<name>NAME\s*: |)(<head>.+)‸⟦(?i:if|when|whenever|provided(?: that)?|because|given)⟧(?!\w)", _head_last),
    "fact fact-order: a {keyword} names its predicate, and the entities in parentheses",
    (r"(<who>NAME) (?i:is)(?: (?i:an?))? (<name>(?!UNSAID\s*\Z)NAME)", "`{keyword} {name}({who})`"),
    (r"(<name>NAME) (?:of |for )?(<who>(?!(?:is|UNSAID)(?![\w-]))NAME)(?:\s*(<value>=\s*-?[\d.]+))?",
     "`{keyword} {name}({who}){value:valued}`"),
    "query query-words: a query names no variables: it asks for those that are free",
    (r"\A\w+ ⟦\?NAME|[A-Z][\w-]*⟧\s*‸:(<rest>.*\S.*)", "`query {rest:free}`"),
    "query aggregate: `{at}` is no function: an aggregate names the variables that it runs over before a colon",
    (rf"\A\w+ ⟦(?i:{'|'.join(sorted(AGGREGATING))})⟧\s*‸[~¬]?NAME\s*\(", AGGREGATE_HINT),
    "query query-words: `{at}` is not part of a query",
    (r"\A\w+ ⟦(?i:who|whom|whose|which|what|where|is|are|does|do|find|get|if)⟧\s*‸(<rest>[~¬]?NAME\s*\(.*)",
     "`query {rest:asked}`"),
    "query [top AND] query-words: `{lower}` cannot be part of a query: a query returns all answers",
    (r"‸⟦(?i:order by|sort(?:ed)? by|limit|top|group by|desc|asc)⟧(?!\w)", SORTED),
    ("query [arguments] query-words: `{at}` is not an argument", r"[(,]\s*‸⟦[?*]⟧\s*[,)]", _free_variable),
    "formula counting: there are no counting quantifiers",
    (r".*?⟦(?:(?:exists?|∃) (?:QUANTITY )?|QUANTITY )COUNT [A-Z]\w*\s*:⟧.*",
     "two different ones are `exists Y, Z: P(X, Y) & P(X, Z) & Y != Z`; count more before loading"),
    "fact leading-truth: the truth of a {keyword} is written at its end",
    (r"\A\w+\s+‸(<truth>\d*\.?\d+)\s*:{0,2}\s*(<atom>NAME(?:\([^()]*\))?)\s*\Z", "`{keyword} {atom} = {truth}`"),
    "fact [top] wrong-bounds: a margin is written as bounds",
    (r"(?<![\w.])⟦(<number>NUMBER)\s*‸(?:\+\s*/?\s*-|±)\s*(<margin>\d[\d.]*)⟧\s*\Z", _margin),
    "fact [top] wrong-bounds: a value is exact: a margin is written as bounds",
    (r"‸(?:~|≈|about|around|approx\.?)\s*-?[\d.]+\s*\Z", "write what it lies between: `in [l, u]`"),
    "fact wrong-bounds: `{there}` is not a valid value of a {keyword}",
    (r"⟦(?:\bin|=)\s*‸\[?(<low>\d*\.?\d+)\s*(?:\.\.+|-|–|to)\s*(<high>\d*\.?\d+)\]?⟧\s*\Z", "`in [{low}, {high}]`"),
    (r"⟦(?:\bin|=)\s*‸[\[($€£]\s*(<value>-?\d*\.?\d+)\s*[\])]?⟧\s*\Z", "`= {value}`"),
    "formula+line [arguments] marked-variable: `{at}` is not an argument",
    # longer names behind `?` are those of learnable values
    (r"‸⟦(?:[$@:]|\?(?!\w{3}))(<name>[^\W\d_]\w*)⟧", "a variable starts upper-case, without a mark: `{name:capital}`"),
    "formula+line [outside] dotted-attribute: there are no dotted attributes: each is a number or a predicate",
    (r"EDGE⟦(<name>[A-Z]\w*)‸\.(<attribute>[^\W\d_]\w*)⟧(?!\w*\()", "`{attribute}({name})`"),
    ("query [top AND] query-mark: a query takes no `?`", r"\S\s*‸⟦\?⟧\s*\Z", "remove the `?`"),
    ("query query-mark: a query takes no `?`", r"\A\w+ ⟦\?⟧\s*‸", "remove the `?`"),
    "rule if-then: `? :` is not an operator",
    (r"‸⟦\?⟧\s[^:]+:", "write two rules: `P & Q -> R` where P holds, `~P & Q -> S` where it does not"),
    "formula+line membership: `in` gives bounds and does not test membership",
    (r"EDGE(<name>NAME)\s*‸⟦not in\s*[(\[{]\s*(<list>ITEMS)\s*[)\]}]⟧", _UNEQUAL),
    "formula+line [outside] worded-comparison: `{at}` is not an operator",
    (rf"‸⟦(?:(?i:is) )?(?i:(<word>{'|'.join(_LESS)}))⟧\s",
     lambda groups, _: f"`{_LESS[' '.join(groups['word'].lower().split())]}`"),
    f"rule [top word] wrong-bounds: {_BOUNDS}",
    (r"‸⟦(?:with )?(?:[^\W\d]\w*)?\s*[:=]?\s*(<low>SHARE)⟧\s*\Z", "`in [{low}, 1]`"),
    "formula+line [AND] unless: `{at}` is not a word of the language",
    (r"‸⟦(?i:unless|except|but not|without)⟧(?!\w)", "`& ~` in the body"),
    "formula+line [junk] unknown-operator: `%` is not an operator",
    (r"\)\s*‸%\s*\(?\s*(<by>[\w.]+)\s*\)?\s*(?:[<>=!]|\Z)", "the remainder of `a` is `a - {by} * floor(a / {by})`"),
    # by a number; or by an atom, and then compared or calculated with
    "formula+line [junk] unknown-operator: `//` is not an operator",
    (r"[\w.)]\s*‸⟦//⟧GAP*(?:\d[\d.]*\s*(?:[<>=!≤≥≠+*^&|)-]|\Z|\n)|\(?\s*NAME\s*\([^"
     r"()\n]*\)\s*\)?\s*(?:[<>!≤≥≠+*^]|=(?!>)))",
     "`/`, which keeps the fraction; the whole part is `floor(a / b)`"),
    "any [junk] foreign-comment: `{at}` does not start a comment",
    (r"(?<!\d)‸⟦%+⟧", "a comment starts with `#`"),
    (r"‸⟦//+|/\*⟧", "a comment starts with `#`"),
    ("any [junk outside bound] quantifier-period: a quantifier takes a colon, not a period", r"‸\.", "`:`"),
    "any [junk outside top] trailing-period: a statement ends where its line ends, without `.`",
    (r"\S\s*‸\.(?:\s|[#%]|//|\Z)", "remove the period"),
    "any [junk] semicolon: a statement ends where its line ends, without `;`",
    (r"‸;\s*\Z", "remove the `;`"),
    (rf"‸;+\s*(?:{'|'.join(KEYWORDS)})\s", "put the next on its own line"),
    "formula+line [junk top] foreign-comment: `;` does not start a comment",
    (r"‸;+\s*[^\s(&|~=<>∧∨¬→-]+ (?:[^(&|~=<>∧∨¬→-]|-(?!>))*\Z", "a comment starts with `#`"),
    "fact+table+declaration+sort+logic [junk top] foreign-comment: `;` does not start a comment",
    (r"‸;(?:[^(&|~=<>∧∨¬→-]|-(?!>))*\Z", "a comment starts with `#`"),
    "any [junk] semicolon: `;` is not an operator",
    (r"‸;", "`|` for or, `#` before a comment; put a statement on its own line"),
    ("any reserved-underscore: `_` is reserved and cannot start a name", r"‸⟦_\w*⟧", "name it, or write `exists`"),
    ("any learnable-space: `?` must not be followed by a space", r"\?\s+‸⟦[\w-]+(?:\.\d+)?⟧", "`?{at}`"),
    "any [junk] learnable-form: a learnable value without a name cannot be followed by `=`",
    (r"‸⟦\?\s*=\s*(<number>-?[\d.]+)⟧", "`?{number}`"),
    "any [LPAR] no-operands: `{at}` has no operands",
    (r"\b⟦abs|sqrt|exp|log|sin|cos|floor|ceil|round⟧\s*\(\s*‸\)", "write the numbers that it takes: `{at}(age(X))`"),
    (r"\b⟦CALLED⟧\s*\(\s*‸\)", "write the numbers that it takes: `{at}(income(X), debt(X))`"),
    "any [name] misplaced-learnable: `{at}` is a learnable number where a name is expected",
    (r"‸\?", "learnable values are numbers: constants, weights, biases, truths of rules, and attributes of units"),
    "any [outside] no-null: there is no null: whatever is not stated is unknown",
    (r"\S\s*‸⟦(?i:is not (?:null|none|nan|unknown|missing|na))⟧(?!\w)", _NO_NULL),
    (r"\S\s*‸⟦(?i:is (?:null|none|nan|unknown|missing|na))⟧(?!\w)", _MISSING),
    "any [outside] equals-word: `{lower}` is not an operator",
    (r"[\w)\"]\s*‸⟦(?i:i?like|contains|matches|(?:starts|ends) with)⟧ -?[\w.\"]+", TEXTS_UNSEARCHED),
    "formula+line [outside] equals-word: `{lower}` is not an operator",
    (r"[\w)\"]\s*‸⟦(?i:is not|isnt)⟧ (<value>-?[\w.\"]+)", "`{operand} != {value}`"),
    (r"[\w)\"]\s*‸⟦(?i:equals|equal to|eq|is)⟧ (<value>-?[\w.\"]+)", "`{operand} = {value}`"),
    "any [outside] equals-word: `{lower}` is not an operator",
    (r"[\w)\"]\s*‸⟦(?i:equals|equal to|eq|is)⟧ -?[\w.\"]", "`=`"),
    "formula+line [outside AND] where-clause: `{at}` does not belong in a formula",
    (r"‸⟦(?i:where|such that|having|with)⟧(?!\w)", "`&`"),
    "query+line [outside AND] where-clause: `{at}` does not belong in a formula",
    (r"‸⟦(?i:if|when|given)⟧(?!\w)", "`&`"),
)  # fmt: skip
