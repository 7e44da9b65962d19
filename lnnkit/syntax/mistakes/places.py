"""The table of mistakes: what is wrong where the parser stops, in rules, facts and queries. See `rows` for the
notation."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import days
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, AGGREGATING, KEYWORDS, TEXTS_UNSEARCHED, is_name
from lnnkit.syntax.mistakes.rows import ITEM, Table
from lnnkit.syntax.printer import format_string
from lnnkit.syntax.rewrite import balanced, between

_BOUNDS = "bounds are written `in [l, u]`"
_SORTED = "remove it; `lnnkit run FILE --sort lower --limit 10` sorts and cuts what is shown"
_NO_NULL = "leave it out: a comparison with an unknown number is unknown anyway"
_MISSING = 'no rule can ask for that: list those that lack it in a table, and `load Missing from "missing.csv"`'
_LESS = {
    "greater than or equal to": ">=", "less than or equal to": "<=", "greater than": ">", "more than": ">",
    "less than": "<", "fewer than": "<", "at least": ">=", "at most": "<=", "above": ">", "below": "<", "over": ">",
    "under": "<",
}  # fmt: skip


def _head_last(found: dict[str, str], fault: Fault) -> str | None:
    if re.search(r"->|=>|\b[iI]f\b", found["head"]):
        return None
    head, name = " ".join(found["head"].split()), found["name"]
    body = " ".join(fault.rest[len(found["at"]) :].split()).removesuffix(".")
    if not body or not balanced(body) or len(body) + len(head) >= 90 or "->" in body:
        return "write `P -> Q` for Q if P"
    bounds = re.search(r"\s+in\s*\[[^\]]*\]$", body)
    end = bounds[0] if bounds else ""
    return f"write `{fault.keyword} {name}{body.removesuffix(end)} -> {head}{end}`"


def _free(found: dict[str, str], _: Fault) -> str:
    plain = re.sub(r"[?$]([^\W\d_])", lambda mark: mark[1].upper(), _asked(found["rest"]))
    return f"write `query {plain}`"


def _asked(text: str) -> str:
    return " ".join(text.split()).removesuffix("?").rstrip()


def _free_variable(_: dict[str, str], fault: Fault) -> str:
    text = fault.source.text[fault.piece.start : fault.piece.end]
    free = next((name for name in "XYZUVW" if not re.search(rf"(?<!\w){name}(?!\w)", text)), "X1")
    return f"a variable stands for what is asked: `{free}`"


def _margin(found: dict[str, str], _: Fault) -> str:
    middle, margin = float(found["number"]), float(found["margin"])
    return f"write `in [{middle - margin:.15g}, {middle + margin:.15g}]`"


def _unequal(found: dict[str, str], _: Fault) -> str:
    items = re.findall(ITEM, found["list"])
    entities = [item if item.startswith('"') or is_name(item) else format_string(item) for item in items]
    unequal = " & ".join(f"{found['name']} != {entity}" for entity in entities)
    return f"write `{unequal}`"


def _variable(found: dict[str, str], _: Fault) -> str | None:
    if found["at"].startswith("?") and len(found["more"]) > 1:
        return None  # a learnable value by its name
    return f"a variable starts upper-case, without a mark: `{found['first'].upper()}{found['more']}`"


def _compared(found: dict[str, str], fault: Fault) -> str:
    sign = "!=" if "n" in found["word"][2:].lower() and found["word"].lower().startswith("is") else "="
    last = fault.previous
    operand = between(fault, len(fault.before)) or (last.text if last and last.kind == "word" else None)
    whole = operand and fault.keyword in ("rule", "axiom", "query", None)
    return f"write `{operand} {sign} {found['value']}`" if whole else f"write `{sign}`"


def _ends(found: dict[str, str], fault: Fault) -> str:
    operand = between(fault, len(fault.before)) or "age(X)"
    low, high = (end if days(end) is None else f"{days(end):.15g}" for end in (found["low"], found["high"]))
    return f"write `{low} <= {operand} <= {high}`"


def _again(found: dict[str, str], fault: Fault) -> str | None:
    signs = (">", ">=", "<", "<=", "=")
    place = next((i for i in range(len(fault.before) - 1, 0, -1) if fault.before[i].text in signs), 0)
    operand = between(fault, place) if place else None
    return f"name it again: `{operand} {found['sign']} {found['value']}`" if operand else None


def _range(found: dict[str, str], fault: Fault) -> str | None:
    operand = between(fault, len(fault.before) - (2 if found.get("number") else 1))
    if operand is None or "(" not in operand:
        return None
    return f"write `{found.get('number') or found['low']} <= {operand} <= {found['high']}`"


def _one_sided(found: dict[str, str], _: Fault) -> str:
    end, upward = found["end"], found["sign"][0] in ">≥"
    number, truth = (f"[{end}, inf]", f"[{end}, 1]") if upward else (f"[-inf, {end}]", f"[0, {end}]")
    return f"write `in {number}` for a number" + (f", `in {truth}` for a truth value" if float(end) <= 1 else "")


def _quotient(found: dict[str, str], _: Fault) -> str:
    if not found["divisor"] or float(found["divisor"]) == 0:
        return "write the result"
    return f"write `= {float(found['sign'] + found['number']) / float(found['divisor']):.15g}`"


def _dashed(found: dict[str, str], _: Fault) -> str:
    name = " ".join(f"{found['first']} {found['more']}".split())
    found["name"] = name
    return f'write `{name.replace(" ", "-")}:` or `"{name}":`'


WORDS: Table = {
    "rule [top AND] if-then: `{at}` is not a keyword: a rule is written with its head last": {
        r"\A\w+\s+(<name>NAME\s*: |)(<head>.+)‸⟦(?i:if|when|whenever|provided that|provided|because|given)⟧(?!\w)": (
            _head_last
        ),
    },
    "fact fact-order: a {keyword} names its predicate, and the entities in parentheses": {
        r"(<who>NAME) (?i:is)(?: (?i:an?))? (<name>(?!(?i:true|false|unknown|null|none)\s*\Z)NAME)": (
            "write `{keyword} {name}({who})`"
        ),
        r"(<name>NAME) (?:of |for )?(<who>(?!(?:is|(?i:true|false|unknown|null|none))(?![\w-]))NAME)": (
            "write `{keyword} {name}({who})`"
        ),
        (
            r"(<name>NAME) (?:of |for )?(<who>(?!(?:is|(?i:true|false|unknown|null|none))"
            r"(?![\w-]))NAME)\s*(<value>=\s*-?[\d.]+)"
        ): "write `{keyword} {name}({who}) {value}`",
    },
    "query query-words: a query names no variables: it asks for those that are free": {
        r"\A\w+ ⟦\?NAME|[A-Z][\w-]*⟧\s*‸:(<rest>.*\S.*)": _free,
    },
    "query aggregate: `{at}` would aggregate rows, and the language has no aggregates yet": {
        rf"\A\w+ ⟦(?i:{'|'.join(sorted(AGGREGATING))})⟧\s*‸[~¬]?NAME\s*\(": AGGREGATE_HINT,
    },
    "query query-words: `{at}` is not part of a query": {
        r"\A\w+ ⟦(?i:who|whom|whose|which|what|where|is|are|does|do|find|get|if)⟧\s*‸(<rest>[~¬]?NAME\s*\(.*)": (
            lambda found, _: f"write `query {_asked(found['rest'])}`"
        ),
    },
    "query [top AND] query-words: `{lower}` cannot be part of a query: a query returns all answers": {
        r"‸⟦(?i:order by|sort(?:ed)? by|limit|top|group by|desc|asc)⟧(?!\w)": _SORTED,
    },
    "query [arguments] query-words: `{at}` is not an argument": {r"[(,]\s*‸⟦[?*]⟧\s*[,)]": _free_variable},
    "formula counting: there are no counting quantifiers": {
        r".*?⟦(?:(?:exists?|∃) (?:QUANTITY )?|QUANTITY )COUNT [A-Z]\w*\s*:⟧.*": (
            "two different ones are `exists Y, Z: P(X, Y) & P(X, Z) & Y != Z`; count more before loading"
        ),
    },
    "fact leading-truth: the truth of a {keyword} is written at its end": {
        r"\A\w+\s+‸(<truth>\d*\.?\d+)\s*:{0,2}\s*(<atom>NAME(?:\([^()]*\))?)\s*\Z": (
            "write `{keyword} {atom} = {truth}`"
        ),
    },
    "fact [top] wrong-bounds: a margin is written as bounds": {
        r"(?<![\w.])⟦(<number>NUMBER)\s*‸(?:\+\s*/?\s*-|±)\s*(<margin>\d[\d.]*)⟧\s*\Z": _margin,
    },
    "fact [top] wrong-bounds: a value is exact: a margin is written as bounds": {
        r"‸(?:~|≈|about|around|approx\.?)\s*-?[\d.]+\s*\Z": "write what it lies between: `in [l, u]`",
    },
    "fact wrong-bounds: `{there}` is not a valid value of a {keyword}": {
        r"⟦(?:\bin|=)\s*‸\[?(<low>\d*\.?\d+)\s*(?:\.\.+|-|–|to)\s*(<high>\d*\.?\d+)\]?⟧\s*\Z": (
            "write `in [{low}, {high}]`"
        ),
        r"⟦(?:\bin|=)\s*‸[\[($€£]\s*(<value>-?\d*\.?\d+)\s*[\])]?⟧\s*\Z": "write `= {value}`",
    },
    "formula+line [arguments] marked-variable: `{at}` is not an argument": {
        r"‸⟦[?$@:](<first>[^\W\d_])(<more>\w*)⟧": _variable,
    },
    "formula+line [outside] dotted-attribute: there are no dotted attributes: each is a number or a predicate": {
        r"(?<![\w-])⟦(<name>[A-Z]\w*)‸\.(<attribute>[^\W\d_]\w*)⟧(?!\w*\()": "write `{attribute}({name})`",
    },
    "query [top AND] query-mark: a query takes no `?`": {r"\S\s*‸⟦\?⟧\s*\Z": "remove the `?`"},
    "query query-mark: a query takes no `?`": {r"\A\w+ ⟦\?⟧\s*‸": "remove the `?`"},
    "rule if-then: `? :` is not an operator": {
        r"‸⟦\?⟧\s[^:]+:": "write two rules: `P & Q -> R` where P holds, `~P & Q -> S` where it does not",
    },
    "formula+line membership: `in` gives bounds and does not test membership": {
        r"(?<![\w-])(<name>NAME)\s*‸⟦not in\s*[(\[{]\s*(<list>ITEM(?:\s*,\s*ITEM)*)\s*[)\]}]⟧": _unequal,
    },
    "formula+line [outside] worded-comparison: `{at}` is not an operator": {
        rf"‸⟦(?:(?i:is) )?(?i:(<word>{'|'.join(_LESS)}))⟧\s": (
            lambda found, _: f"write `{_LESS[' '.join(found['word'].lower().split())]}`"
        ),
    },
    f"rule [top word] wrong-bounds: {_BOUNDS}": {
        r"‸⟦(?:with )?(?:[^\W\d]\w*)?\s*[:=]?\s*(<low>SHARE)⟧\s*\Z": "write `in [{low}, 1]`",
    },
    "formula+line [AND] unless: `{at}` is not a word of the language": {
        r"‸⟦(?i:unless|except|but not|without)⟧(?!\w)": "write `& ~` in the body",
    },
    "formula+line [junk] unknown-operator: `%` is not an operator: remainders are not computed": {
        r"\)\s*‸%\s*\(?\s*[\w.]+\s*\)?\s*(?:[<>=!]|\Z)": (
            "give each entity the remainder as a number or predicate of its own: `even(X)`"
        ),
    },
    # by a number; or by an atom, and then compared or calculated with
    "formula+line [junk] unknown-operator: `//` is not an operator": {
        (
            r"[\w.)]\s*‸⟦//⟧[^\S\n]*(?:\d[\d.]*\s*(?:[<>=!≤≥≠+*^&|)-]|\Z|\n)|\(?\s*NAME\s*\([^"
            r"()\n]*\)\s*\)?\s*(?:[<>!≤≥≠+*^]|=(?!>)))"
        ): "write `/`, which keeps the fraction; a whole part is compared with both ends: `3 <= a / b < 4`",
    },
    "any [junk] foreign-comment: `{at}` does not start a comment": {
        r"(?<!\d)‸⟦%+⟧": "a comment starts with `#`",
        r"‸⟦//+|/\*⟧": "a comment starts with `#`",
    },
    "any [divide] foreign-comment: `{at}` does not start a comment": {r"‸⟦/\*⟧": "a comment starts with `#`"},
    "any [junk outside bound] quantifier-period: a quantifier takes a colon, not a period": {r"‸\.": "write `:`"},
    "any [junk outside top] trailing-period: a statement ends where its line ends, without `.`": {
        r"\S\s*‸\.(?:\s|[#%]|//|\Z)": "remove the period",
    },
    "any [junk] semicolon: a statement ends where its line ends, without `;`": {
        r"‸;\s*\Z": "remove the `;`",
        rf"‸;+\s*(?:{'|'.join(KEYWORDS)})\s": "put the next on its own line",
    },
    "formula+line [junk top] foreign-comment: `;` does not start a comment": {
        r"‸;+\s*[^\s(&|~=<>∧∨¬→-]+ (?:[^(&|~=<>∧∨¬→-]|-(?!>))*\Z": "a comment starts with `#`",
    },
    "fact+table+declaration+sort+logic [junk top] foreign-comment: `;` does not start a comment": {
        r"‸;(?:[^(&|~=<>∧∨¬→-]|-(?!>))*\Z": "a comment starts with `#`",
    },
    "any [junk] semicolon: `;` is not an operator": {
        r"‸;": "write `|` for or, `#` before a comment; put a statement on its own line",
    },
    "any reserved-underscore: `_` is reserved and cannot start a name": {r"‸⟦_\w*⟧": "name it, or write `exists`"},
    "any learnable-space: `?` must not be followed by a space": {r"\?\s+‸⟦[\w-]+(?:\.\d+)?⟧": "write `?{at}`"},
    "any [junk] learnable-form: a learnable value without a name cannot be followed by `=`": {
        r"‸⟦\?\s*=\s*(<number>-?[\d.]+)⟧": "write `?{number}`",
    },
    "any misplaced-learnable: `{at}(...)` is an unknown function, which stands in equations of rules": {
        r"⟦\?(?:NAME)?⟧\s*‸\(": (
            "write `rule rate(X) = {at}(...)`: its values are stated or labelled, its formula is found"
        ),
    },
    "any [LPAR] no-operands: `{at}` has no operands": {
        r"\b⟦abs|sqrt⟧\s*\(\s*‸\)": "write the numbers that it takes: `{at}(age(X))`",
        r"\b⟦CALLED⟧\s*\(\s*‸\)": "write the numbers that it takes: `{at}(income(X), debt(X))`",
    },
    "any [name] misplaced-learnable: `{at}` is a learnable number where a name is expected": {
        r"‸\?": "learnable values are numbers: constants, weights, biases, truths of rules, and attributes of units",
    },
    "any [outside] no-null: there is no null: whatever is not stated is unknown": {
        r"\S\s*‸⟦(?i:is not (?:null|none|nan|unknown|missing|na))⟧(?!\w)": _NO_NULL,
        r"\S\s*‸⟦(?i:is (?:null|none|nan|unknown|missing|na))⟧(?!\w)": _MISSING,
    },
    "any [outside] equals-word: `{lower}` is not an operator": {
        r"[\w)\"]\s*‸⟦(?i:i?like|contains|matches|(?:starts|ends) with)⟧ -?[\w.\"]+": TEXTS_UNSEARCHED,
        r"[\w)\"]\s*‸⟦(<word>(?i:is not|isnt|equals|equal to|eq|is))⟧ (<value>-?[\w.\"]+)": _compared,
    },
    "formula+line [outside AND] where-clause: `{at}` does not belong in a formula": {
        r"‸⟦(?i:where|such that|having|with)⟧(?!\w)": "write `&`",
    },
    "query+line [outside AND] where-clause: `{at}` does not belong in a formula": {
        r"‸⟦(?i:if|when|given)⟧(?!\w)": "write `&`",
    },
}
QUANTIFIERS: Table = {
    "formula+line [outside] word-negation: `{at}` is not the negation": {
        r"\S ⟦(?i:no|never|neither|isnt|without)⟧\s*‸NAME\s*\(": "write `~`",
    },
    "formula+line [outside free] missing-parentheses: the arguments of `{name}` stand in parentheses": {
        r"\S\s*(?<![\w-])⟦(<name>[A-Z][\w-]+)\s*‸(<variable>[A-Z]\d*)⟧(?!\w)": "write `{name}({variable})`",
    },
    "any [outside word] quantifier-word: `{at}` is not a quantifier": {
        (
            r"(?<![\w-])⟦for|all|every|each|foreach|forAll|Forall|ForAll⟧\s*‸"
            r"(?:all |each |every |exists? |is )?\s*\w+(?:\s*,\s*\w+)*\s*[:(.\w]"
        ): "write `forall X: ...`",
        r"(?<![\w-])⟦exist|some|there|Exists⟧\s*‸(?:all |each |every |exists? |is )?\s*\w+(?:\s*,\s*\w+)*\s*[:(.\w]": (
            "write `exists X: ...`"
        ),
    },
    "any [bound] quantifier-sort: a quantifier cannot name a sort": {
        r"(?<![\w-])(<name>[\w-]+)\s*‸(?:in|∈)\s*(<sort>NAME)": (
            "write `{sort}({name})` in the formula, or give the predicates sorts"
        ),
        r"‸(?:in(?!\w)|∈)": "leave it out",
    },
}
ARGUMENTS: Table = {
    "formula+line between: `between` is not a word of the language": {
        (
            r"\)\s*‸⟦(?i:between)⟧ (<low>-?[\w.]+(?:\([^()]*\)|[\w.:-]*)) "
            r"(?i:and) (<high>-?[\w.]+(?:\([^()]*\)|[\w.:-]*))"
        ): _ends,
    },
    "any [arguments entity] unquoted-entity: `{at}` follows `{previous}` with no comma between": {
        r"(?<![\w-])(<words>(?:\d+(?:\.\d+)?|\??NAME)\s+)‸(<more>[^\W_][\w.:-]*(?:[^\S\n]+[^\W_][\w.:-]*)*)": (
            'quote an entity of several words: "{words}{more}"; or put a comma between two'
        ),
    },
}
BRACKETS: Table = {
    "any [outside] misplaced-attributes: attributes follow the parentheses of a connective or comparison, or a unit": {
        r"(<operand>ATOM)\s*‸⟦\{\s*(?:weight\s*[:=]\s*)?(<weight>-?[\d.]+)\s*\}⟧": (
            "a weight is written `{operand}@{weight}`"
        ),
        r"\S\s*‸\{": "write them as in `(A & B){{bias: 1}}`",
    },
    "any [outside] square-brackets: arguments are written in parentheses": {
        r"\W(<name>NAME)‸\[": "write `{name}(...)`",
    },
    "any [outside word] function-parentheses: `{at}` takes parentheses": {
        r"(?<![\w-])⟦CALLED⟧[^\S\n]*‸": "write `{at}(...)`",
    },
    "any [NAME] reserved-word: `not` is the negation and cannot be a name": {
        r"(?<![\w-])⟦not⟧\s*‸\(": "write `~P(a)` for not P(a)",
    },
    "any [NAME] reserved-word: `{at}` is a word of the language and cannot be a name": {
        r"\S\s*‸⟦WORDS⟧\(": "choose another name, such as `is-{at}`",
    },
    "any wrong-bounds: a comma separates two bounds": {
        r"\bin\s*\[\s*(<low>[^\s,\[\]]+)\s*‸⟦(<high>\?|-?DIGITS)⟧\s*\]": "write `in [{low}, {high}]`",
        r"\bin\s*\[\s*(<low>[^\s,\[\]]+)\s*‸⟦(?:\.\.+|-|–|to )\s*(<high>-?DIGITS)⟧\s*\]": "write `in [{low}, {high}]`",
    },
    f"rule [top] wrong-bounds: {_BOUNDS}": {r"\bin\s*‸⟦\?⟧\s*\Z": "write `in [?, 1]`"},
    "formula+line half-comparison: a comparison has two sides": {
        r"(?:\band|&|\bor|\|)\s*‸⟦(<sign><=|>=|<|>|≤|≥|!=|=)\s*(<value>-?[\d.]+)⟧": _again,
    },
    "formula+line interval-in-body: a number is compared with a number, not with a range": {
        r"[<>=]\s*⟦(<number>NUMBER)\s*‸\.\.+\s*(<high>\d[\d.]*)⟧": _range,
    },
    "formula+line interval-in-body: a number is compared with a number, not with two": {
        r"(?:(?<![-=])>|[<=]|\bin)\s*‸⟦\[\s*(<low>-?[\d.]+)\s*,\s*(<high>-?[\d.]+)\s*\]⟧": _range,
    },
}
BOUNDS: Table = {
    "any [top closer] unmatched-bracket: this `{at}` closes nothing": {
        r"‸": "remove it, or open the group that it should close",
    },
    f"rule [top] wrong-bounds: {_BOUNDS}": {
        r"\bin\s*‸\[?\s*(<low>[-\d.]+)\s*,\s*(<high>[-\d.]+)\s*\]?\s*\Z": "write `in [{low}, {high}]`",
        r"\S\s*‸\[\s*(<low>[-\d.]+)\s*,\s*(<high>[-\d.]+)\s*\]?\s*\Z": "write `in [{low}, {high}]`",
        r"\S\s*‸[:\[(]?\s*(<low>SHARE)\s*[\])]?\s*\Z": "write `in [{low}, 1]`",
    },
    "fact [top] wrong-bounds: bounds are written in square brackets": {
        r"\bin\s*‸(<low>-?[\d.]+)\s*,\s*(<high>-?[\d.]+)\s*\Z": "write `in [{low}, {high}]`",
    },
    "fact [top] wrong-bounds: `{at}` cannot be combined with this value": {
        r"⟦=⟧\s*‸\[[^\[\],]+,[^\[\],]+\]\s*\Z": "write `in {there}`",
        r"\b⟦in⟧\s*‸(?:-?[\d.]+|\?[\w=.-]*)\s*\Z": "write `= {there}`",
    },
    "fact [top] truth-as-value: a value is a number, not `{there}`": {
        r"=\s*‸(?i:true|⊤)\s*\Z": "write `= 1`, or leave it out",
        r"=\s*‸(?i:false|⊥)\s*\Z": "write `= 0`, or `~` before the atom",
    },
    "fact [top] missing-equals: the value of a {keyword} follows `=`": {
        r"\)\s*‸[:@]?\s*(<value>-?[\d.]+)\s*\Z": "write `= {value}`",
        r"\)\s*‸[:?\d]": "write `= v` or `in [l, u]`",
    },
    "fact [top] fact-formula: a {keyword} is one atom or its negation, not several": {
        r"\S\s*‸,": "give each its own line and its own `{keyword}`",
        r"\S\s*‸(?:&|and(?!\w)|∧)": lambda found, fault: (
            f"give each its own line and its own `{fault.keyword}`" if balanced(fault.rest) else None
        ),
    },
    "fact [top] fact-formula: a {keyword} gives bounds, not a comparison": {
        r"\S\s*‸(<sign>[<>]=?|≤|≥)\s*(<end>-?[\d.]+)\s*\Z": _one_sided,
    },
    "fact [top] fact-formula: a {keyword} is one atom or its negation, not a formula": {
        (
            r"\S\s*‸(?:\||or(?!\w)|∨|->|→|=>|⇒|implies(?!\w)|<->|<=>|↔|⇔|iff(?!\w)|xor"
            r"(?!\w)|⊕|∀|∃|forall(?!\w)|exists(?!\w)|[<>≤≥≠]|!=)"
        ): "a formula takes `rule` or `axiom`",
    },
    "fact [top entity] value-not-number: `{at}` is not a number; a {keyword} gives a number after `=`": {
        r"=\s*‸\"(<number>-?\d+(?:\.\d+)?)\"": "write it in digits, without quotes: `{number}`",
        r"=\s*‸": "write it in digits; leave the {keyword} out where the value is not known",
    },
    "fact [top bounds] two-values: a {keyword} has one value, or bounds, not both": {
        r"[=-]\s*NUMBER\s*‸": "remove one of the two",
    },
    "fact [top] computed-value: a {keyword} states a number and cannot compute one": {
        r"[=]\s*(<sign>-?)\s*(<number>NUMBER)\s*‸(?:/\s*(<divisor>\d+(?:\.\d+)?)\s*\Z|[+*/^]|[-−](?!\d))": _quotient,
    },
    "formula+line [AND] comma-conjunction: `,` cannot join formulas": {r"\S\s*‸,": "write `&`"},
    "any repeated-weight: an operand has one weight": {r"@\s*-?\??[\w.]*\s*‸@": "keep one of them"},
    "rule rule-name: there is no name before the colon": {
        r"\A\w+\s*‸:": "write `{keyword} name: ...`, or leave the colon out",
    },
    "rule rule-name: a name must be one word, not `{name}`": {
        r"\A\w+ (<first>\w+(?:[^\S\n]+\w+)*)\s*‸(<more>(?:\w+[^\S\n]+)*\w+)\s*:(?!-)": _dashed,
    },
    "any [path] unquoted-path: the path `{at}` needs quotes": {
        r"\b(?:from|import)\s*‸⟦[\w./~\\-][^\s(]*+⟧(?!\s*\")": 'write "{at}"',
    },
}
