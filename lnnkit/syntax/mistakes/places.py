"""The table of mistakes: capitals, quantifiers, arguments, brackets and bounds. See `rows` for the notation."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import date_text, days
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import END, Fault
from lnnkit.syntax.identifiers import (
    AGGREGATE_HINT,
    AGGREGATING,
    FOREIGN_DATES,
    FOREIGN_FUNCTIONS,
    FUNCTIONS,
    FUNCTIONS_LISTED,
    unglued,
)
from lnnkit.syntax.mistakes.rows import ITEM, Groups, MistakeTable
from lnnkit.syntax.rewrite import aggregate_message, as_entity, balanced, between, by_cases, parts_of_call

_BOUNDS = "bounds are written `in [l, u]`"
_ELSE = "end the statement before it, and write a second one: `~P -> Q` for else Q"


def _ends(groups: Groups, fault: Fault) -> str:
    operand = between(fault, len(fault.before)) or "age(X)"
    low, high = (
        end if (at := days(end)) is None else f'date "{date_text(at)}"' for end in (groups["low"], groups["high"])
    )
    return f"`{low} <= {operand} <= {high}`"


def _one_sided(groups: Groups, _: Fault) -> str:
    end, upward = groups["end"], groups["sign"][0] in ">≥"
    number, truth = (f"[{end}, inf]", f"[{end}, 1]") if upward else (f"[-inf, {end}]", f"[0, {end}]")
    return f"`in {number}` for a number" + (f", `in {truth}` for a truth value" if float(end) <= 1 else "")


def _quotient(groups: Groups, _: Fault) -> str:
    if not groups["divisor"] or float(groups["divisor"]) == 0:
        return "write the result"
    return f"`= {float(groups['sign'] + groups['number']) / float(groups['divisor']):.15g}`"


def _cases(groups: Groups, _: Fault) -> str:
    cases = by_cases(groups["at"] + groups["call"] + groups["more"])
    return f"`{cases}`" if cases else "write a rule for each case: `P -> Q` for if P then Q, `~P -> R` for else R"


def _between_atoms(groups: Groups, fault: Fault) -> str:
    sign = {"AND": "&", "OR": "|", "XOR": "xor", "IMPLIES": "->", "IFF": "<->"}[fault.token or ""]
    return f"join atoms instead: `{groups['applied']}(...) {sign} {groups['applied']}(...)`"


def _bounded(groups: Groups, fault: Fault) -> str:
    low, high, operand = groups["low"], groups["high"], groups["operand"]
    compared = f"{low} <= {operand} <= {high}" if "(" in operand else "l <= age(X) <= u"
    if not all(re.fullmatch(r"0?\.\d+|[01](?:\.0*)?", end) for end in (low, high)):
        return f"`{compared}`"
    truth = f"the bounds of a statement are written at its end: `{groups['at']}`"
    return f"a number is compared: `{compared}`; {'a query takes no bounds' if fault.keyword == 'query' else truth}"


def _glued(groups: Groups, _: Fault) -> str | None:
    arguments = groups["first"] + groups["others"]
    parts = unglued(groups["glued"], [argument.strip() for argument in arguments.split(",")])
    return parts and f"put a space after the variable: `{groups['binder']}{parts[0]} {parts[1]}({arguments})`"


def _one_of(groups: Groups, fault: Fault) -> str | None:
    items, held = re.findall(ITEM, groups["list"]), groups["held"]
    place = len(fault.before) if fault.token == "IN" else len(fault.before) - 1 - (fault.before[-1].text != "in")
    if fault.quantified(place - 1) or any(re.fullmatch(r"\d[\d.]*(?:[eE]-?\d+)?|inf", item) for item in items):
        return None
    atom = held.endswith(")")
    cases = [f"{held[:-1]}, {entity})" if atom else f"{held} = {entity}" for entity in map(as_entity, items)]
    return f"`({' | '.join(cases)})`" if len(cases) > 1 else f"`{cases[0]}`"


def _selected(groups: Groups, _: Fault) -> str:
    test = re.sub(r'"([^"]*)"', r"'\1'", " ".join(groups["test"].split()))
    select = f"select {', '.join(groups['columns'].replace(',', ' ').split())} from '{groups['path']}' where {test}"
    return f'`load {groups["name"]} from query "{select}"`, in the SQL of DuckDB'


def foreign_function(fault: Fault) -> Diagnostic | None:
    """`max(age(X), 3)`: parsed as an atom, whose arguments cannot be expressions."""
    if not (fault.in_arguments or fault.text == ":") or fault.keyword not in ("rule", "axiom", "query", None):
        return None
    for place in (place for place in reversed(fault.open) if place):
        called, text = fault.before[place - 1], fault.source.text
        inside = parts_of_call(text[fault.before[place].start : fault.piece.end])
        if called.text.lower() in AGGREGATING and len(inside) == 1:
            return fault.report_at(called, "aggregate", aggregate_message(called.text), AGGREGATE_HINT)
        name = called.text.lower()
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


PLACES: MistakeTable = (
    "any if-then: `{at}` is not a function",
    (r"EDGE⟦(?i:if|iif|ifelse|if_else)⟧(<call>\s*\((?:[^()]|\([^()]*\))*(?:\([^()]*)?)‸(<more>.*)", _cases),
    "formula+line [outside] if-then: `{at}` is not a word of the language",
    (r"‸⟦(?i:if|then)⟧(?!\w)", "`P -> Q` for if P then Q"),
    (r"‸⟦(?i:else)⟧(?!\w)", _ELSE),
    (r"EDGE⟦(?i:if|then)⟧\s*‸", "`P -> Q` for if P then Q"),
    "any [outside] capital-operator: `{at}` in capitals is not an operator",
    (r"(?:\A|[^=\s])\s*‸⟦CAPITALS⟧(?!\w)", "`{lower}`"),
    (r"EDGE⟦CAPITALS⟧\s*‸", "`{lower}`"),
    "any [outside] capital-operator: `{at}` is not an operator",
    (r"(?:\A|[^=\s])\s*‸⟦And|Or|Not⟧(?!\w)", "`{lower}`"),
    (r"EDGE⟦And|Or|Not⟧\s*‸[^\W\d_]", "`{lower}`"),
    "any [arguments] capital-operator: `{at}` in capitals is not an operator",
    (r"EDGE⟦CAPITALS⟧\s*\([^()]*‸", "`{lower}`"),
    "formula+line [outside] word-negation: `{at}` is not the negation",
    (r"\S ⟦(?i:no|never|neither|isnt|without)⟧\s*‸NAME\s*\(", "`~`"),
    "formula+line [outside free] missing-parentheses: the arguments of `{name}` stand in parentheses",
    (r"\S\s*EDGE⟦(<name>[A-Z][\w-]+)\s*‸(<variable>[A-Z]\d*)⟧(?!\w)", "`{name}({variable})`"),
    "any [outside word] quantifier-word: `{at}` is not a quantifier",
    (r"EDGE⟦for|all|every|each|foreach|forAll|Forall|ForAll⟧\s*‸EVERY", "`forall X: ...`"),
    (r"EDGE⟦exist|some|there|Exists⟧\s*‸EVERY", "`exists X: ...`"),
    "any [bound] quantifier-sort: a quantifier cannot name a sort",
    (r"EDGE(<name>[\w-]+)\s*‸(?:in|∈)\s*(<sort>NAME)", "`{sort}({name})` in the formula, or give the predicates sorts"),
    (r"‸(?:in(?!\w)|∈)", "leave it out"),
    "any quantifier-comma: variables of a quantifier are separated by commas",
    (r"BINDER\s*(?:NAME\s*,\s*)*(<first>NAME) ⟦(<name>NAME)⟧\s*‸[:\w]", "`{first}, {name}`"),
    (r"BINDER\s*(?:NAME\s*,\s*)*(<first>NAME) ⟦(<name>NAME)⟧\s+\([^()]*‸", "`{first}, {name}`"),
    "any [=COMMA nested] glued-quantifier: `{at}` is read as one variable",
    (r"(<binder>BINDER\s*(?:NAME\s*,\s*)*)⟦(<glued>NAME)⟧\((<first>\s*(?:ITEM|-\S+?)\s*)‸(<others>[^)]*)", _glued),
    foreign_function,
    "formula+line between: `between` is not a word of the language",
    (r"\)\s*‸⟦(?i:between)⟧ (<low>TERM) (?i:and) (<high>TERM)", _ends),
    "any [arguments literal] unquoted-entity: `{at}` follows `{previous}` with no comma between",
    (r"EDGE(<words>(?:\d+(?:\.\d+)?|\??NAME)\s+)‸(<more>[^\W_][\w.:-]*(?:GAP+[^\W_][\w.:-]*)*)",
     'quote an entity of several words: "{words}{more}"; or put a comma between two'),
    "any [arguments =AND|OR|XOR|IMPLIES|IFF] argument-formula: `{at}` cannot be used in an argument of `{applied}`",
    (r"‸", _between_atoms),
    "any [arguments =NOT|QUANTIFIER] argument-formula: `{at}` cannot be used in an argument of `{applied}`",
    (r"‸", "put it before the atom"),
    "any [arguments =LPAR] argument-expression: an argument is a variable or an entity, not a call: `{at}(`",
    (r"⟦[\w-]+|\"[^\"\n]*\"|\S⟧\s*‸", "give it an atom or comparison of its own, and use a variable in `{applied}`"),
    "any [arguments sign] argument-expression: an argument is a variable or an entity, never an expression: `{at}`",
    (r"‸", "compute outside of `{applied}`; an entity with such a character needs quotes"),
    "any [arguments junk] unquoted-entity: `{at}` cannot be part of an unquoted entity",
    (r"[(,]\s*(<entity>[^(),\n]*\w)‸(<more>[^,()\n]*?)\s*(?:[,()\n]|\Z)", 'write "{entity}{more}"'),
    "any [outside] misplaced-attributes: attributes follow the parentheses of a connective or comparison, or a unit",
    (r"(<atom>ATOM)\s*‸⟦\{\s*(?:weight\s*[:=]\s*)?(<weight>-?[\d.]+)\s*\}⟧", "a weight is written `{atom}@{weight}`"),
    (r"\S\s*‸\{", "write them as in `(A & B){{bias: 1}}`"),
    ("any [outside] square-brackets: arguments are written in parentheses", r"\W(<name>NAME)‸\[", "`{name}(...)`"),
    "any [outside word] function-parentheses: `{at}` takes parentheses",
    (r"EDGE⟦CALLED⟧GAP*‸(?!NAMES\s*:)", "`{at}(...)`"),  # `max Y:` is an aggregate
    "any [NAME] reserved-word: `not` is the negation and cannot be a name",
    (r"EDGE⟦not⟧\s*‸\(", "`~P(a)` for not P(a)"),
    "any [NAME] reserved-word: `{at}` is a word of the language and cannot be a name",
    (r"\S\s*‸⟦WORDS⟧\(", "choose another name, such as `is-{at}`"),
    "any wrong-bounds: a comma separates two bounds",
    (r"\bin\s*\[\s*(<low>[^\s,\[\]]+)\s*‸⟦(<high>\?|-?DIGITS)⟧\s*\]", "`in [{low}, {high}]`"),
    (r"\bin\s*\[\s*(<low>[^\s,\[\]]+)\s*‸⟦(?:\.\.+|-|–|to )\s*(<high>-?DIGITS)⟧\s*\]", "`in [{low}, {high}]`"),
    (f"rule [top] wrong-bounds: {_BOUNDS}", r"\bin\s*‸⟦\?⟧\s*\Z", "`in [?, 1]`"),
    "formula+line half-comparison: a comparison has two sides",
    (r"(<number>\??NAME(?:\([^()]*\))?)\s*(?:[<>]=?|=)[^<>=]*(?:\band|&|\bor|\|)\s*"
     r"‸⟦(<sign><=|>=|<|>|≤|≥|!=|=)\s*(<value>-?[\d.]+)⟧",
     "name it again: `{number} {sign} {value}`"),
    "formula+line interval-in-body: a number is compared with a number, not with a range",
    (r"\)\s*[<>=!?-]*[<>=]\s*⟦(<low>NUMBER)\s*‸\.\.+\s*(<high>\d[\d.]*)⟧", "`{low} <= {operand} <= {high}`"),
    "formula+line interval-in-body: a number is compared with a number, not with two",
    (r"\)\s*(?:[<>!]=|<\?>|[<>=]|\bin)\s*‸⟦\[\s*(<low>-?[\d.]+)\s*,\s*(<high>-?[\d.]+)\s*\]⟧",
     "`{low} <= {operand} <= {high}`"),
    "formula+line membership: `in` gives bounds and does not test membership",
    (r"EDGE(<held>ATOM|NAME)\s*‸⟦in\s*[(\[{]\s*(<list>ITEMS)\s*[)\]}]⟧", _one_of),
    (r"EDGE(<held>ATOM|NAME)\s*⟦in\s*(?:[(\[{]\s*)?‸[(\[{]?\s*(<list>ITEMS)\s*[)\]}]⟧", _one_of),
    "formula+line interval-in-body: `in [l, u]` bounds a whole statement, not a part of it",
    (r"\)\s*in\s*‸\(\s*ENDS\s*\]\s*LINK", "a number is compared: `{low} < {operand} <= {high}`"),
    (r"\)\s*in\s*‸\(\s*ENDS\s*\)\s*LINK",
     "a number is compared: `{low} < {operand} < {high}`; with each of a list: "
     "`({operand} = {low} | {operand} = {high})`"),
    "any open-interval: bounds are closed: both ends belong to them",
    (r"\bin\s*‸\(\s*ENDS\s*[\])]", "`in [{low}, {high}]`"),
    (r"\bin\s*‸\(", "`in [l, u]`"),
    (r"\bin\s*\[\s*(<low>[^\s,\[\]]+)\s*,\s*(<high>[^\s,()\[\]]+)\s*‸\)", "`in [{low}, {high}]`"),
    unclosed_group,
    "query [top] query-bounds: a query takes no bounds: it asks for them",
    (r"‸⟦in\s*INTERVAL⟧\s*\Z", "remove them"),
    "formula+line [bounded] interval-in-body: `in [l, u]` bounds a whole statement, not a part of it",
    (r"‸⟦in\s*INTERVAL⟧", _bounded),
    (r"⟦in\s*INTERVAL⟧\s*‸", _bounded),
    "any [top =RPAR|RSQB|RBRACE] unmatched-bracket: this `{at}` closes nothing",
    (r"‸", "remove it, or open the group that it should close"),
    f"rule [top] wrong-bounds: {_BOUNDS}",
    (r"\bin\s*‸\[?\s*(<low>[-\d.]+)\s*,\s*(<high>[-\d.]+)\s*\]?\s*\Z", "`in [{low}, {high}]`"),
    (r"\S\s*‸\[\s*(<low>[-\d.]+)\s*,\s*(<high>[-\d.]+)\s*\]?\s*\Z", "`in [{low}, {high}]`"),
    (r"\S\s*‸[:\[(]?\s*(<low>SHARE)\s*[\])]?\s*\Z", "`in [{low}, 1]`"),
    "fact [top] wrong-bounds: bounds are written in square brackets",
    (r"\bin\s*‸(<low>-?[\d.]+)\s*,\s*(<high>-?[\d.]+)\s*\Z", "`in [{low}, {high}]`"),
    "fact [top] wrong-bounds: `{at}` cannot be combined with this value",
    (r"⟦=⟧\s*‸\[[^\[\],]+,[^\[\],]+\]\s*\Z", "`in {there}`"),
    (r"\b⟦in⟧\s*‸(?:-?[\d.]+|\?[\w=.-]*)\s*\Z", "`= {there}`"),
    "fact [top] truth-as-value: a value is a number, not `{there}`",
    (r"=\s*‸(?i:true|⊤)\s*\Z", "`= 1`, or leave it out"),
    (r"=\s*‸(?i:false|⊥)\s*\Z", "`= 0`, or `~` before the atom"),
    "fact [top] missing-equals: the value of a {keyword} follows `=`",
    (r"\)\s*‸[:@]?\s*(<value>-?[\d.]+)\s*\Z", "`= {value}`"),
    (r"\)\s*‸[:?\d]", "`= v` or `in [l, u]`"),
    "fact [top] fact-formula: a {keyword} is one atom or its negation, not several",
    (r"\S\s*‸,", "give each its own line and its own `{keyword}`"),
    (r"\S\s*‸(?:&|and(?!\w)|∧)",
     lambda groups, fault: f"give each its own line and its own `{fault.keyword}`" if balanced(fault.rest) else None),
    "fact [top] fact-formula: a {keyword} gives bounds, not a comparison",
    (r"\S\s*‸(<sign>[<>]=?|≤|≥)\s*(<end>-?[\d.]+)\s*\Z", _one_sided),
    "fact [top] fact-formula: a {keyword} is one atom or its negation, not a formula",
    (r"\S\s*‸(?:\||or(?!\w)|∨|->|→|=>|⇒|implies(?!\w)|<->|<=>|↔|⇔|iff(?!\w)|xor"
     r"(?!\w)|⊕|∀|∃|forall(?!\w)|exists(?!\w)|[<>≤≥≠]|!=)",
     "a formula takes `rule` or `axiom`"),
    "fact [top literal] value-not-number: `{at}` is not a number; a {keyword} gives a number after `=`",
    (r"=\s*‸\"(<number>-?\d+(?:\.\d+)?)\"", "write it in digits, without quotes: `{number}`"),
    (r"\w+\s+(<atom>ATOM)\s*=\s*‸today\b", "`rule {atom} = today`"),
    (r"=\s*‸", 'write it in digits, or as `date "2024-01-15"`; leave the {keyword} out where the value is not known'),
    "fact [top =IN] two-values: a {keyword} has one value, or bounds, not both",
    (r"[=-]\s*NUMBER\s*‸", "remove one of the two"),
    "fact [top] computed-value: a {keyword} states a number and cannot compute one",
    (r"[=]\s*(<sign>-?)\s*(<number>NUMBER)\s*‸(?:/\s*(<divisor>\d+(?:\.\d+)?)\s*\Z|[+*/^]|[-−](?!\d))", _quotient),
    ("formula [=COMMA] aggregate: beside a comma an aggregate is in parentheses",
     r"\(\s*⟦count|sum|mean|min|max⟧ (<names>NAMES)\s*:GROUPS‸,", "`({at} {names}: ...)`"),
    ("formula+line [AND] comma-conjunction: `,` cannot join formulas", r"\S\s*‸,", "`&`"),
    ("any repeated-weight: an operand has one weight", r"@\s*-?\??[\w.]*\s*‸@", "keep one of them"),
    "rule rule-name: there is no name before the colon",
    (r"\A\w+\s*‸:", "`{keyword} name: ...`, or leave the colon out"),
    "formula aggregate: `{at}` is not an aggregate of the language",
    (r"⟦(?i:avg|average|total|minimum|maximum)⟧ ‸NAMES\s*:",
     lambda groups, _: "`{}`".format({"a": "mean", "t": "sum"}.get(groups["lower"][0], groups["lower"][:3]))),
    "rule aggregate: `{at}` begins a name here: beside an operator an aggregate is in parentheses",
    (r"\A\w+ ⟦count|sum|mean|min|max⟧ ‸(<names>NAMES)\s*:\s*(<rest>[^<>=]*[^<>=\s-])\s*(<more>(?:[<>]=?|!?=)[^>].*)",
     "`{keyword} ({at} {names}: {rest}) {more}`"),
    "formula aggregate: beside an operator an aggregate is in parentheses",
    (r"⟦count|sum|mean|min|max⟧ ‸(<names>NAMES)\s*:", "`({at} {names}: ...)`"),
    "rule rule-name: a name must be one word, not `{first:words} {more:words}`",
    (r"\A\w+ (<first>\w+(?:GAP+\w+)*)\s*‸(<more>(?:\w+GAP+)*\w+)\s*:(?!-)",
     '`{first:dashed}-{more:dashed}:` or `"{first:words} {more:words}":`'),
    "any [path] unquoted-path: the path `{at}` needs quotes",
    (r"\b(?:from|import)\s*‸⟦[\w./~\\-][^\s(]*+⟧(?!\s*\")", 'write "{at}"'),
    "any [=IFF|XOR] chained-connective: `{at}` does not chain",
    (r"(?:<->|<=>|↔|⇔|\biff\b)GROUPS‸⟦<->|<=>|↔|⇔|iff⟧", "use parentheses to show which comes first"),
    (r"(?:\bxor\b|⊕)GROUPS‸⟦xor|⊕⟧", "use parentheses to show which comes first"),
    "load [in_table top calculated] bad-condition: a condition compares a column with a value or another column",
    (r"(<name>[\w-]+) from \"(<path>[^\"\n]+)\"\s*\((<columns>[\w\s,]+)\) where (<test>[^{}\[\]\\]*)", _selected),
)  # fmt: skip
