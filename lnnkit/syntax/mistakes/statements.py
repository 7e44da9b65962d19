"""The table of mistakes, second part: whole statements as people word them. See `rows` for the notation."""

from __future__ import annotations

import re

from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT, TEXTS_UNSEARCHED
from lnnkit.syntax.mistakes.rows import ATOM, PART, SHARE, SORTED, VALUE, Groups, Table, joined

_PROPERTIES = {
    "transitive": "axiom {0}(X, Y) & {0}(Y, Z) -> {0}(X, Z)",
    "symmetric": "axiom {0}(X, Y) -> {0}(Y, X)",
    "asymmetric": "axiom {0}(X, Y) -> ~{0}(Y, X)",
    "irreflexive": "axiom ~{0}(X, X)",
    **dict.fromkeys(("functional", "unique"), "axiom {0}(X, Y) & {0}(X, Z) -> Y = Z"),
}


def _weighed(groups: Groups, _: Fault) -> str:
    parts = re.findall(rf"({SHARE})?\s*({ATOM})\s*(?::\s*({SHARE}))?", groups["body"])
    return "`" + " & ".join(f"{atom}@{before or after or 1}" for before, atom, after in parts) + "`"


def _thousands(groups: Groups, _: Fault) -> str:
    number = float(groups["number"]) * (1_000_000 if groups["unit"] == "M" else 1000)
    return f"`{number:.15g}`"


def _related(groups: Groups, _: Fault) -> str:
    who, whom = (f'"{name}"' if name[0].isupper() else name for name in (groups["who"], groups["whom"]))
    return f"`{groups['keyword']} {groups['verb']}({who}, {whom})`"


def _property(groups: Groups, _: Fault) -> str:
    return f"`{_PROPERTIES[groups['lower'].split()[-1]].format(groups['name'])}`"


def _last_variable(atom: str) -> str:
    variables = re.findall(r"(?<!\w)[A-Z]\w*(?!\w*\()", atom.partition("(")[2])
    return variables[-1] if variables else "X"


def _exists(groups: Groups, _: Fault) -> str:
    return f"`(exists {_last_variable(groups['atom'])}: {groups['atom']})`"


def _forall(groups: Groups, _: Fault) -> str:
    then = f" -> {groups['then']}" if "then" in groups else ""
    return f"`(forall {_last_variable(groups['atom'])}: {groups['atom']}{then})`"


def _listed(groups: Groups, _: Fault) -> str:
    body = f"{groups['class']}({groups['variable']})" + (f" & {groups['where']}" if groups["where"] else "")
    return f"`{body} -> {groups['name']}({groups['variable']})`"


_ONE_EACH = joined("[^;,]+", "`{keyword} {name}({})`", ", ", "give each its own line: {}")
_EACH_ATOM = joined(ATOM, "`{keyword} {}`", ", ", "give each its own line and its own `{keyword}`: {}")
_AMONG = joined("[^,]+", "V = {}", " | ", "`{name}({rest}, V) & ({})`")
_POSITIONAL = joined(r"=\s*([\w\"-]+)", "{}", ", ", "`{name}({})`")

STATEMENTS: Table = (
    "rule wrong-bounds: bounds are written `in [l, u]`",
    (r".*?⟦\[\s*(?:LEARNED)\s*[=:]\s*(<low>SHARE)\s*\]⟧", "`in [{low}, 1]`"),
    (r".*?⟦\(\s*(<share>\d+(?:\.\d+)?)\s*%\s*\)⟧", "`in [{share:percent}, 1]`"),
    (r".*?⟦::\s*(<low>SHARE)⟧", "`in [{low}, 1]`"),
    (r".*?->\s*⟦(<low>SHARE)⟧\s*\*?\s*(<head>ATOM)", "`-> {head} in [{low}, 1]`"),
    (r".*->\s*ATOM\s*⟦in\s*\[\s*(<low>SHARE)\s*\]⟧", "`in [{low}, 1]`"),
    (r".*->\s*ATOM\s*⟦=\s*\[\s*(<low>SHARE)\s*,\s*(<high>SHARE)\s*\]⟧", "`in [{low}, {high}]`"),
    "rule leading-truth: a weight follows its operand",
    (r"(<body>⟦SHARE⟧ ATOM(?:\s*(?:&|,|and)\s*SHARE ATOM)+)\s*->.*", _weighed),
    "rule weight-colon: a weight is written with `@`",
    (r"(<body>ATOM⟦:\s*SHARE⟧(?:\s*(?:&|,|and)\s*ATOM(?::\s*SHARE)?)+)\s*->.*", _weighed),
    "rule stray-mark: a rule has no mark at its end",
    (r".*\)\s*⟦[!?]+⟧", "remove it"),
    "rule end-word: a statement ends where its line ends",
    (r"(?!(?i:case)\b).*\) ⟦end|END|endif|fi|done|stop⟧", "remove it"),
    "rule rule-name: a rule's name has a colon",
    (r"⟦\[(<name>NAME)\]⟧\s*ATOM.*", "`{name}:`"),
    (r"⟦(<name>NAME)\.⟧ ATOM.*->.*", "`{name}:`"),
    (r"⟦(<name>(?!(?:SMALL_WORD)\b)[a-z][\w-]*)⟧ ATOM.*->.*", "`{name}:`"),
    "formula broken-arrow: this is not an operator",
    (r".*?⟦~>|\|=|\|\|-|⊢|⊨|⟹|⟶|↦|>>⟧.*", "`->`"),
    "rule late-quantifier: a quantifier comes before its formula",
    (
        r"(<part>ATOM\s*[<>=!]+\s*ATOM) ⟦(?:for )?(?:all|every|any|each) (<variable>[A-Z]\w*)⟧\s*->.*",
        "`(forall {variable}: {part})`",
    ),
    "formula interval-in-body: a number is compared with a number, not with a range",
    (
        r"START(<number>ATOM) ⟦in (<low>VALUE)\s*\.\.+\s*(<high>VALUE)⟧(?:\s*(?:&|and|->|\|).*)?",
        "`{low} <= {number} <= {high}`",
    ),
    "formula dotted-attribute: there are no dotted attributes: each is a number or a predicate",
    (r"START(<atom>[A-Z]\w*\((<variable>[A-Z]\w*)\))⟦\.(<name>[a-z]\w*)⟧(?!\w*\().*", "`{atom} & {name}({variable})`"),
    "formula text-method: texts have no methods",
    (r".*?⟦\.(?:METHOD)\(⟧.*", TEXTS_UNSEARCHED),
    "formula argument-list: an argument is one entity",
    (r"START(<name>NAME)\((<rest>[^()\[\]{}]*?),\s*⟦[\[{](<list>[^{}\[\]]*)[\]}]⟧\s*\).*", _AMONG),
    "formula argument-expression: an argument is a variable or an entity",
    (
        r"START(<name>NAME)\((<rest>[^()]*?),\s*⟦(?:!=|<>|≠|not\s)\s*(<entity>\"[^\"]*\"|[a-z][\w-]*)⟧\s*\).*",
        "`{name}({rest}, V) & V != {entity}`",
    ),
    "formula+fact number-unit: a number has no unit",
    (r".*?(?<![\w.])⟦(<number>\d+(?:\.\d+)?)(<unit>[kKM])⟧(?!\w).*", _thousands),
    "fact several-facts: a fact is one atom",
    (r"(<name>NAME)\(⟦(<list>[\w\"-]+(?:\s*;\s*[\w\"-]+)+)⟧\)", _ONE_EACH),
    (r"(<name>NAME)\(⟦[\[{](<list>[^\[\]{}]+)[\]}]⟧\)", _ONE_EACH),
    (r"(<name>[A-Z][\w-]*)\s*⟦[=:]\s*[\[{]\s*(<list>[\w\"-]+(?:\s*,\s*[\w\"-]+)*)\s*[\]}]⟧", _ONE_EACH),
    (r"(<name>[A-Z][\w-]*)\s*⟦=\s*\{.*\}⟧", "give each its own line: `{keyword} {name}(anna) = 0.7`"),
    "fact missing-equals: a value follows `=`",
    (r"ATOM ⟦(<share>\d+(?:\.\d+)?)\s*%⟧", "`= {share:percent}`"),
    (r"ATOM\s*⟦(?:,|->|=>)\s*(<value>SHARE)⟧", "`= {value}`"),
    "fact truth-as-value: a value is a number",
    (r"ATOM\s*⟦=\s*(?i:yes|y|certain|sure|always)⟧", "`= 1`, or leave it out"),
    (r"ATOM\s*⟦=\s*(?i:no|never|impossible)⟧", "`= 0`, or `~` before the atom"),
    (r"ATOM\s*⟦(?:(?::=|:|<-)\s*(?:Fact\.)?|=\s*Fact\.)(?:FALSE|False|false)⟧", "`= 0`, or `~` before the atom"),
    "fact truth-word: what is stated is true",
    (r"ATOM ⟦(?i:is )?(?i:true|yes|holds)⟧", "leave it out"),
    "fact truth-word: a denial is written `~`",
    (r"(<atom>ATOM) ⟦(?i:is )?(?i:false|no|wrong)⟧", "`~{atom}`"),
    "fact wrong-bounds: bounds are written `in [l, u]`",
    (r"ATOM ⟦between (<low>VALUE) (?:and|to|,)\s*(<high>VALUE)⟧", "`in [{low}, {high}]`"),
    (r"ATOM\s*⟦(?:(?::\s*)?[\[(]|=\s*\()\s*(<low>VALUE)\s*,\s*(<high>VALUE)\s*[\])]⟧", "`in [{low}, {high}]`"),
    (r"ATOM\s*⟦=?\s*(<low>DIGITS)\s*(?:\.\.+|-|–|to)\s*(<high>DIGITS)⟧", "`in [{low}, {high}]`"),
    (r"ATOM\s*⟦in\s*\[\s*(<value>VALUE)\s*\]⟧", "`= {value}`"),
    "fact dotted-attribute: there are no dotted attributes: each is a number or a predicate",
    (r"⟦(<entity>[a-z]\w*)\.(<name>[a-z]\w*)⟧\s*=\s*(<value>VALUE)", "`{keyword} {name}({entity}) = {value}`"),
    "fact word-order: a relation comes before what it relates",
    (r"(<who>[^\W\d]\w*) ⟦(<verb>(?!is\b|of\b|has\b|in\b|trust\b)[a-z]\w*)⟧ (<whom>[^\W\d]\w*)", _related),
    "formula+fact trailing-comma: nothing follows the last comma",
    (r".*?\([^()]*?⟦,⟧\s*\).*", "remove it"),
    "query query-words: a query asks for bounds",
    (r"⟦is⟧ (<atom>ATOM) (?:true|so|known)\??", "`query {atom}`"),
    "query query-words: answers are explained by a command, not by a statement",
    (
        r"⟦(?i:explain|why not|whynot|why|proof of)⟧ (<atom>ATOM)\??",
        "`query {atom}`, and run `lnnkit explain FILE '{atom}'`",
    ),
    "query query-words: a query has all answers, each once",
    (r"⟦(?i:all|each|every|the|list|show|find|get|distinct|unique|select)⟧ (<rest>ATOM.*)", "`query {rest}`"),
    "query query-words: a query returns all answers",
    (r".*\)\s*⟦\|\s*(?:top|head|first|limit|sort|order)\b.*⟧", SORTED),
    "declaration declaration: sorts stand in parentheses",
    (r"(<name>NAME) ⟦(<sorts>(?!closed\b|open\b)[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)⟧", "`{keyword} {name}({sorts})`"),
    "number declaration: a declaration gives no bounds",
    (
        r"(<name>NAME)\([^(),]*\) ⟦in\s*\[\s*(<low>VALUE)\s*,\s*(<high>VALUE)\s*\]⟧",
        "remove it, and write `axiom {low} <= {name}(X) <= {high}`",
    ),
    "declaration declaration: there are no defaults: what is not stated is unknown",
    (r".*?⟦default\b.*⟧", "remove it; a predicate is false where it is not stated if it is `closed`"),
    "rule property-word: properties of relations are written as axioms",
    (r"⟦PROPERTY⟧[:\s]\s*(<name>NAME)", _property),
    (r"(<name>NAME) ⟦(?:is )PROPERTY⟧", _property),
    "load load-words: a comma separates two columns",
    (r".*\(⟦(<first>[\w\"]+)\s*(?:->|=>|:|=)\s*(<second>[\w\"]+)⟧\).*", "`{first}, {second}`"),
    "load load-words: declarations say how cells are read: `number` or `predicate`",
    (r".*⟦(?:as|type|dtype)\s*=?\s*\"?(?:float|int|integer|str|string|text|bool|number)\"?⟧", "remove it"),
    "load load-words: an encoding is named in quotes",
    (r".*⟦(?:encoding|charset)\s*=?\s*[\"']?(<name>[\w-]+)[\"']?⟧", '`encoding "{name}"`'),
    "load load-words: the decimal comma is in quotes",
    (r".*⟦decimal\s*=?\s*[\"']?,[\"']?⟧", '`decimal ","`'),
    "load load-words: all rows are read",
    (r".*⟦(?:limit|first|top|nrows\s*=?)\s*\d+⟧", "remove it"),
    "formula aggregate: an aggregate names the variables that it runs over before a colon",
    (r".*?⟦#?count\s*\{\s*(<names>NAMES)\s*:\s*(<condition>[^}]*[^}\s])\s*\}⟧.*", "`(count {names}: {condition})`"),
    (r".*?⟦#?(?:count|sum|min|max)\s*\{[^}]*\}⟧.*", AGGREGATE_HINT),
    (r"START⟦(<name>(?i:len|sumif|sumifs|countif|countifs))\(ATOM[^()]*\)⟧.*", AGGREGATE_HINT),
    "formula argument-list: there are no lists: a rule holds for each binding by itself",
    (r"START⟦(?:findall|bagof|setof)\((<name>[A-Z]\w*)\s*,\s*(<goal>ATOM)\s*,[^()]*\)⟧.*", "`(exists {name}: {goal})`"),
    "formula quantifier-word: a quantifier names its variables before a colon",
    (r"START⟦(?i:forall)\((<atom>ATOM)\s*,\s*(<then>ATOM)\)⟧.*", _forall),
    (
        r"START⟦(?i:(<word>exists|forall))\((<variable>[^\W\d]\w*)\s*,\s*(<atom>ATOM)\)⟧.*",
        lambda groups, _: f"`({groups['word'].lower()} {groups['variable']}: {groups['atom']})`",
    ),
    (r"START⟦exists (<atom>ATOM)⟧.*", _exists),
    "formula quantifier-word: `any` is not a quantifier",
    (r"START⟦any\((<atom>ATOM)\)⟧.*", _exists),
    "formula quantifier-word: `all` is not a quantifier",
    (r"START⟦all\((<atom>ATOM)\)⟧.*", _forall),
    "formula connective-call: formulas are joined by operators, not by calls",
    (r"⟦(?i:implies)\(\s*(<one>PART)\s*,\s*(<other>PART)\s*\)⟧", "`{one} -> {other}`"),
    (r"START⟦(?:And|AND)\(\s*(<list>PART(?:\s*,\s*PART)+)\s*\)⟧.*", joined(PART, "{}", " & ", "`({})`")),
    (r"START⟦(?:Or|OR)\(\s*(<list>PART(?:\s*,\s*PART)+)\s*\)⟧.*", joined(PART, "{}", " | ", "`({})`")),
    (r"START⟦Not\(\s*(<atom>PART)\s*\)⟧.*", "`~{atom}`"),
    "formula null-test: a number without a value is unknown, which no formula tests",
    (
        r"START⟦(?i:isblank|isna|isnull|is_null)\(ATOM\)⟧.*",
        'leave it out, or load the rows that lack it: `load Missing from "people.csv" (name) where years is null`',
    ),
    "formula unknown-function: there are no functions but `abs` and `sqrt`",
    (
        r"START⟦(?i:round|ceil|ceiling|floor|int)\((<number>ATOM)[^()]*\)⟧.*",
        "`{number}`, and compare it with where the rounding would change it",
    ),
    "formula absolute-bars: `|` is or",
    (r"START⟦\|(<term>[^|<>=&]+)\|⟧\s*[<>=].*", "`abs({term})`"),
    "formula root-sign: a root is a function",
    (r"START⟦√\s*(<term>ATOM|\d+)⟧.*", "`sqrt({term})`"),
    "formula raised-digit: a power is written with `^`",
    (r"START(<number>ATOM)⟦[²³]⟧.*", lambda groups, _: f"`{groups['number']}^{'²³'.index(groups['at']) + 2}`"),
    "formula times-sign: a product is written with `*`",
    (r"STARTATOM ⟦[xX]⟧ \d.*", "`*`"),
    "formula number-variable: variables stand for entities, not for numbers",
    (
        r"START⟦(<variable>[A-Z]\w*) is (<term>[^&,]*[(+*/][^&,]*?)⟧\s*(?:[&,]|->).*",
        "leave it out, and write `{term}` where `{variable}` is used",
    ),
    "rule cut: there is no cut: a rule holds for all bindings",
    (r".*?[&,]\s*⟦!⟧\s*(?:->|[&,]).*", "remove it"),
    "formula sql-word: atoms are joined by the variables that they share",
    (r"ATOM ⟦(?i:(?:(?:left|right|inner|outer|full|cross|natural) )*join)⟧\s.*", "`&`, and the same variable in both"),
    "query sql-word: `&` joins formulas",
    (r"ATOM ⟦(?i:intersect|intersection)⟧ .*", "`&`"),
    "query sql-word: `|` joins formulas",
    (r"ATOM ⟦(?i:union(?: all)?)⟧ .*", "`|`"),
    "query sql-word: `& ~` excludes",
    (r"ATOM ⟦(?i:minus)⟧ .*", "`& ~`"),
    "query query-words: an answer's columns are the query's variables",
    (r"ATOM ⟦(?i:as) \w+⟧", "remove it"),
    "rule if-then: `case` is not a word of the language",
    (
        r"⟦(?i:case) (?i:when)⟧ (<one>PART) (?i:then) (<then>ATOM) (?i:else) (<other>ATOM)(?: (?i:end))?",
        "`({one} -> {then}) & (~({one}) -> {other})`",
    ),
    "rule backward-arrow: a rule runs forward",
    (r"(<head>ATOM)\s*⟦=\s*lambda \w+\s*:⟧\s*(<body>.*)", "`rule {body} -> {head}`"),
    "rule backward-arrow: a rule concludes an atom for each entity",
    (
        r"(<name>[^\W\d]\w*)\s*=\s*⟦[\[{]\s*(<variable>[A-Z]) for \w+ in "
        r"(<class>\w+)(?: if (<where>[^\[\]]+?))?\s*[\]}]⟧",
        _listed,
    ),
    "fact+query named-argument: arguments have no names: their order says which is which",
    (r"(<name>[^\W\d]\w*)⟦\((<list>\w+\s*=\s*[\w\"-]+(?:\s*,\s*\w+\s*=\s*[\w\"-]+)*)\)⟧", _POSITIONAL),
    "rule+fact assignment: nothing is updated: a statement says what holds",
    (r"ATOM\s*⟦\+\s*=\s*VALUE|\+\+|-\s*=\s*VALUE⟧", "state the new value: `fact age(anna) = 35`"),
    "rule worded-connective: this is not a word of the language",
    (r"(<one>PART) ⟦if and only if|exactly (?:if|when)|iff and only iff⟧ PART", "`<->`"),
    (r"PART(?:\s*(?:&|and|,)\s*PART)*\s*,? ⟦THEN⟧ [~¬]?ATOM.*", "`->`"),
    (r"⟦either⟧ (<one>PART) or (<other>PART)\s*->.*", "`{one} | {other}`, or `xor` where not both hold"),
    (r"⟦neither⟧ (<one>PART) nor (<other>PART)\s*->.*", "`~{one} & ~{other}`"),
    (r"⟦both⟧ (<one>PART) and (<other>PART)\s*->.*", "`{one} & {other}`"),
    "rule worded-connective: a colon follows the name of a rule",
    (r"PART(?:\s*(?:&|and)\s*PART)*⟦\s*:⟧ ATOM", "` ->`"),
    "formula worded-connective: this is not a word of the language",
    (r"PART ⟦but(?! not)|also|as well as|plus|whose|who has|while|and also|and then⟧ PART.*", "`&`"),
    "rule worded-connective: the variables of a rule stand for every entity",
    (r"⟦(?i:each|a|an|the|any)⟧ (<rest>ATOM.*->.*)", "`{rest}`"),
    "rule wrong-bounds: the truth of a rule is written at its end",
    (r".*->\s*⟦maybe|usually|probably|possibly|often|sometimes|likely|mostly⟧ (<head>ATOM)", "`{head} in [0.8, 1]`"),
    (r".*⟦-\s*\[?\s*(<low>SHARE)\s*\]?\s*->⟧\s*(<head>ATOM)", "`-> {head} in [{low}, 1]`"),
    (r".*⟦->\s*\[\s*(<low>SHARE)\s*,\s*(<high>SHARE)\s*\]⟧\s*(<head>ATOM)", "`-> {head} in [{low}, {high}]`"),
    (r".*->\s*ATOM\s*⟦[<{|,]\s*(<low>SHARE)\s*[>}]?⟧", "`in [{low}, 1]`"),
    "rule worded-connective: all conditions stand before `->`",
    (
        r"(<body>[^\n]*?)\s*->\s*(<head>ATOM) ⟦"
        r"(?:because|since|if|when|whenever|where|provided|as long as) (<more>PART)⟧",
        "`{body} & {more} -> {head}`",
    ),
    "rule if-then: this is not a word of the language",
    (r".*->\s*ATOM\s*⟦otherwise⟧ ATOM", "end the statement before it, and write a second one: `~P -> Q`"),
    "formula number-choice: a number is compared with one number at a time",
    (
        r"START⟦(<number>ATOM)\s*(?:=|is)\s*(<list>VALUE(?:\s*(?:or|\||,)\s*VALUE"
        r"(?![\d.])(?!\s*[<>=*/+]|\s*-(?!>)))+)⟧\s*(?:&.*|->.*)?",
        joined(VALUE, "{number} = {}", " | ", "`({})`"),
    ),
    "rule broken-arrow: this is not an operator",
    (r".*?⟦\|>|\.->|-\.->|~~>⟧.*", "`->`"),
    "fact fact-formula: a fact is one atom or its negation, not several",
    (r"(<list>ATOM\s*⟦&|,|and⟧\s*ATOM(?:\s*(?:&|,|and)\s*ATOM)*)", _EACH_ATOM),
    "fact fact-arguments: the arguments of an atom stand in parentheses",
    (r"(<name>[A-Z][\w-]*)\s*⟦:\s*(<list>ENTITY(?:\s*,\s*ENTITY)*)⟧", "`{keyword} {name}({list})`"),
    (
        r"(<name>[A-Z][\w-]*)\s*⟦=\s*(<list>(?!\d)(?!(?i:true|false|yes|no|unknown|none|null)\b)ENTITY)⟧",
        "`{keyword} {name}({list})`",
    ),
    "fact fact-arguments: the predicate comes before what it is about",
    (r"⟦(<who>ENTITY)\s*:⟧\s*(<name>[A-Z][\w-]*)", "`{keyword} {name}({who})`"),
    "fact entity-as-value: an entity is an argument, not a value",
    (
        r"(<name>[A-Z][\w-]*)\((<who>[^()]*)\)\s*⟦=\s*(<value>(?!\d)(?!(?i:VALUE_WORD)\b)ENTITY)⟧",
        "`{keyword} {name}({who}, {value})`",
    ),
    "fact argument-formula: a comma separates two arguments",
    (r"(<name>NAME)\((<one>ENTITY)\s*⟦->|=>|→|to⟧\s*(<other>ENTITY)\)", "`{keyword} {name}({one}, {other})`"),
    "fact truth-as-value: a value is a number, and what is stated is true",
    (r"ATOM\s*⟦(?:(?::=|:|<-)\s*(?:Fact\.)?|=\s*Fact\.)(?:TRUE|True|true)⟧", "`= 1`, or leave it out"),
)
