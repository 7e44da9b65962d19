"""Turns of phrase: whole statements as people word them, in a table of patterns with what to write instead."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import TEXT_FUNCTIONS, TEXTS_UNSEARCHED
from lnnkit.syntax.mistakes.phrasing import ATOM, FACTS, FORMULAS, RULES, SHARE, VALUE, covered, phrasing

_LEARNED = r"confidence|conf|weight|probability|prob|truth|certainty"
_OPENING = r"[\s(&|]"
_RELATION_WORDS = r"(?!is\b|of\b|has\b|in\b|trust\b)[a-z]\w*"
_NO_NAME = "no|not|if|all|any|some|every|each|a|an|the|either|neither|both|exists|forall"
_METHODS = f"(?i:{'|'.join(sorted(TEXT_FUNCTIONS))})"


def _share(found: dict[str, str]) -> str:
    return f"{float(found['share']) / 100:g}"


def _weighed(found: dict[str, str]) -> str:
    parts = re.findall(rf"({SHARE})?\s*({ATOM})\s*(?::\s*({SHARE}))?", found["body"])
    return "write `" + " & ".join(f"{atom}@{before or after or 1}" for before, atom, after in parts) + "`"


def _thousands(found: dict[str, str]) -> str:
    number = float(found["number"]) * (1_000_000 if found["unit"] == "M" else 1000)
    return f"write `{number:.15g}`"


def _one_each(found: dict[str, str]) -> str:
    every = [each.strip() for each in re.split("[;,]", found["list"])]
    return "give each its own line: " + ", ".join(f"`{found['keyword']} {found['name']}({each})`" for each in every)


def _among(found: dict[str, str]) -> str:
    equal = " | ".join(f"V = {each.strip()}" for each in found["list"].split(","))
    return f"write `{found['name']}({found['rest']}, V) & ({equal})`"


def _quoted(text: str) -> str:
    return f'"{text}"' if text[0].isupper() else text


def _related(found: dict[str, str]) -> str:
    return f"write `{found['keyword']} {found['verb']}({_quoted(found['who'])}, {_quoted(found['whom'])})`"


_PROPERTIES = {
    "transitive": "axiom {0}(X, Y) & {0}(Y, Z) -> {0}(X, Z)",
    "symmetric": "axiom {0}(X, Y) -> {0}(Y, X)",
    "asymmetric": "axiom {0}(X, Y) -> ~{0}(Y, X)",
    "irreflexive": "axiom ~{0}(X, X)",
    "functional": "axiom {0}(X, Y) & {0}(X, Z) -> Y = Z",
    "unique": "axiom {0}(X, Y) & {0}(X, Z) -> Y = Z",
}
_NAMED = "|".join(_PROPERTIES)


def _property(found: dict[str, str]) -> str:
    return f"write `{_PROPERTIES[found['at'].split()[-1].lower()].format(found['name'])}`"


_BOUNDS = "bounds are written `in [l, u]`"
_PHRASES = (
    # truths of rules
    phrasing(
        RULES,
        rf".*?(?P<at>\[\s*(?:{_LEARNED})\s*[=:]\s*(?P<low>{SHARE})\s*\])",
        "wrong-bounds",
        _BOUNDS,
        "write `in [{low}, 1]`",
    ),
    phrasing(
        RULES,
        r".*?(?P<at>\(\s*(?P<share>\d+(?:\.\d+)?)\s*%\s*\))",
        "wrong-bounds",
        _BOUNDS,
        lambda found: f"write `in [{_share(found)}, 1]`",
    ),
    phrasing(RULES, rf".*?(?P<at>::\s*(?P<low>{SHARE}))", "wrong-bounds", _BOUNDS, "write `in [{low}, 1]`"),
    phrasing(
        RULES,
        rf".*?->\s*(?P<at>(?P<low>{SHARE}))\s*\*?\s*(?P<head>{ATOM})",
        "wrong-bounds",
        _BOUNDS,
        "write `-> {head} in [{low}, 1]`",
    ),
    phrasing(
        RULES,
        rf"(?P<body>(?P<at>{SHARE})\s+{ATOM}(?:\s*(?:&|,|and)\s*{SHARE}\s+{ATOM})+)\s*->.*",
        "leading-truth",
        "a weight follows its operand",
        _weighed,
    ),
    phrasing(
        RULES,
        rf"(?P<body>{ATOM}(?P<at>:\s*{SHARE})(?:\s*(?:&|,|and)\s*{ATOM}(?::\s*{SHARE})?)+)\s*->.*",
        "weight-colon",
        "a weight is written with `@`",
        _weighed,
    ),
    # marks and words at the end
    phrasing(RULES, r".*\)\s*(?P<at>[!?]+)", "stray-mark", "a rule has no mark at its end", "remove it"),
    phrasing(
        RULES,
        r"(?!(?i:case)\b).*\)\s+(?P<at>end|END|endif|fi|done|stop)",
        "end-word",
        "a statement ends where its line ends",
        "remove it",
    ),
    # names of rules
    phrasing(
        RULES,
        rf"(?P<at>\[(?P<name>[^\W\d][\w-]*)\])\s*{ATOM}.*",
        "rule-name",
        "a rule's name has a colon",
        "write `{name}:`",
    ),
    phrasing(
        RULES,
        rf"(?P<at>(?P<name>[^\W\d_][\w-]*)\.)\s+{ATOM}.*->.*",
        "rule-name",
        "a rule's name has a colon",
        "write `{name}:`",
    ),
    phrasing(
        RULES,
        rf"(?P<at>(?P<name>(?!(?:{_NO_NAME})\b)[a-z][\w-]*))\s+{ATOM}.*->.*",
        "rule-name",
        "a rule's name has a colon",
        "write `{name}:`",
    ),
    # bodies
    phrasing(
        FORMULAS, r".*?(?P<at>~>|\|=|\|\|-|⊢|⊨|⟹|⟶|↦|>>).*", "broken-arrow", "this is not an operator", "write `->`"
    ),
    phrasing(
        RULES,
        rf"(?P<part>{ATOM}\s*[<>=!]+\s*{ATOM})\s+(?P<at>(?:for\s+)?(?:all|every|any|each)\s+"
        r"(?P<variable>[A-Z]\w*))\s*->.*",
        "late-quantifier",
        "a quantifier comes before its formula",
        "write `(forall {variable}: {part})`",
    ),
    phrasing(
        FORMULAS,
        rf"(?:.*?{_OPENING})?(?P<number>{ATOM})\s+"
        rf"(?P<at>in\s+(?P<low>{VALUE})\s*\.\.+\s*(?P<high>{VALUE}))(?:\s*(?:&|and|->|\|).*)?",
        "interval-in-body",
        "a number is compared with a number, not with a range",
        "write `{low} <= {number} <= {high}`",
    ),
    phrasing(
        FORMULAS,
        rf"(?:.*?{_OPENING})?(?P<atom>[A-Z]\w*\((?P<variable>[A-Z]\w*)\))(?P<at>\.(?P<name>[a-z]\w*))(?!\w*\().*",
        "dotted-attribute",
        "there are no dotted attributes: each is a number or a predicate",
        "write `{atom} & {name}({variable})`",
    ),
    phrasing(FORMULAS, rf".*?(?P<at>\.(?:{_METHODS})\().*", "text-method", "texts have no methods", TEXTS_UNSEARCHED),
    phrasing(
        FORMULAS,
        r"(?:.*?[\s(&|])?(?P<name>[^\W\d][\w-]*)\((?P<rest>[^()\[\]{}]*?),\s*"
        r"(?P<at>[\[{](?P<list>[^{}\[\]]*)[\]}])\s*\).*",
        "argument-list",
        "an argument is one entity",
        _among,
    ),
    phrasing(
        FORMULAS,
        r"(?:.*?[\s(&|])?(?P<name>[^\W\d][\w-]*)\((?P<rest>[^()]*?),\s*"
        r"(?P<at>(?:!=|<>|≠|not\s)\s*(?P<entity>\"[^\"]*\"|[a-z][\w-]*))\s*\).*",
        "argument-expression",
        "an argument is a variable or an entity",
        "write `{name}({rest}, V) & V != {entity}`",
    ),
    # numbers
    phrasing(
        (*FORMULAS, *FACTS),
        r".*?(?<![\w.])(?P<at>(?P<number>\d+(?:\.\d+)?)(?P<unit>[kKM]))(?!\w).*",
        "number-unit",
        "a number has no unit",
        _thousands,
    ),
    # facts
    phrasing(
        FACTS,
        r"(?P<name>[^\W\d][\w-]*)\((?P<at>(?P<list>[\w\"-]+(?:\s*;\s*[\w\"-]+)+))\)",
        "several-facts",
        "a fact is one atom",
        _one_each,
    ),
    phrasing(
        FACTS,
        r"(?P<name>[^\W\d][\w-]*)\((?P<at>[\[{](?P<list>[^\[\]{}]+)[\]}])\)",
        "several-facts",
        "a fact is one atom",
        _one_each,
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s+(?P<at>(?P<share>\d+(?:\.\d+)?)\s*%)",
        "missing-equals",
        "a value follows `=`",
        lambda found: f"write `= {_share(found)}`",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>=\s*(?i:yes|y|certain|sure|always))",
        "truth-as-value",
        "a value is a number",
        "write `= 1`, or leave it out",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>=\s*(?i:no|never|impossible))",
        "truth-as-value",
        "a value is a number",
        "write `= 0`, or `~` before the atom",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s+(?P<at>(?i:is\s+)?(?i:true|yes|holds))",
        "truth-word",
        "what is stated is true",
        "leave it out",
    ),
    phrasing(
        FACTS,
        rf"(?P<atom>{ATOM})\s+(?P<at>(?i:is\s+)?(?i:false|no|wrong))",
        "truth-word",
        "a denial is written `~`",
        "write `~{atom}`",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s+(?P<at>between\s+(?P<low>{VALUE})\s+(?:and|to|,)\s*(?P<high>{VALUE}))",
        "wrong-bounds",
        _BOUNDS,
        "write `in [{low}, {high}]`",
    ),
    phrasing(
        FACTS,
        rf"(?P<at>(?P<entity>[a-z]\w*)\.(?P<name>[a-z]\w*))\s*=\s*(?P<value>{VALUE})",
        "dotted-attribute",
        "there are no dotted attributes: each is a number or a predicate",
        "write `{keyword} {name}({entity}) = {value}`",
    ),
    phrasing(
        FACTS,
        rf"(?P<who>[^\W\d]\w*)\s+(?P<at>(?P<verb>{_RELATION_WORDS}))\s+(?P<whom>[^\W\d]\w*)",
        "word-order",
        "a relation comes before what it relates",
        _related,
    ),
    phrasing(
        (*FORMULAS, *FACTS),
        r".*?\([^()]*?(?P<at>,)\s*\).*",
        "trailing-comma",
        "nothing follows the last comma",
        "remove it",
    ),
    # queries
    phrasing(
        ("query",),
        rf"(?P<at>is)\s+(?P<atom>{ATOM})\s+(?:true|so|known)\??",
        "query-words",
        "a query asks for bounds",
        "write `query {atom}`",
    ),
    phrasing(
        ("query",),
        rf"(?P<at>(?i:explain|why\s+not|whynot|why|proof\s+of))\s+(?P<atom>{ATOM})\??",
        "query-words",
        "answers are explained by a command, not by a statement",
        "write `query {atom}`, and run `lnnkit explain FILE '{atom}'`",
    ),
    phrasing(
        ("query",),
        rf"(?P<at>(?i:all|each|every|the|list|show|find|get|distinct|unique|select))\s+(?P<rest>{ATOM}.*)",
        "query-words",
        "a query has all answers, each once",
        "write `query {rest}`",
    ),
    phrasing(
        ("query",),
        r".*\)\s*(?P<at>\|\s*(?:top|head|first|limit|sort|order)\b.*)",
        "query-words",
        "a query returns all answers",
        "remove it; `lnnkit run FILE --sort lower --limit 10` sorts and cuts what is shown",
    ),
    # declarations
    phrasing(
        ("predicate", "number"),
        r"(?P<name>[^\W\d][\w-]*)\s+(?P<at>(?P<sorts>(?!closed\b|open\b)[^\W\d]\w*"
        r"(?:\s*,\s*[^\W\d]\w*)*))",
        "declaration",
        "sorts stand in parentheses",
        "write `{keyword} {name}({sorts})`",
    ),
    phrasing(
        ("number",),
        rf"(?P<name>[^\W\d][\w-]*)\([^(),]*\)\s+"
        rf"(?P<at>in\s*\[\s*(?P<low>{VALUE})\s*,\s*(?P<high>{VALUE})\s*\])",
        "declaration",
        "a declaration gives no bounds",
        "remove it, and write `axiom {low} <= {name}(X) <= {high}`",
    ),
    phrasing(
        ("number", "predicate"),
        r".*?(?P<at>default\b.*)",
        "declaration",
        "there are no defaults: what is not stated is unknown",
        "remove it; a predicate is false where it is not stated if it is `closed`",
    ),
    # properties of relations
    phrasing(
        RULES,
        rf"(?P<at>(?i:{_NAMED}))[:\s]\s*(?P<name>[^\W\d][\w-]*)",
        "property-word",
        "properties of relations are written as axioms",
        _property,
    ),
    phrasing(
        RULES,
        rf"(?P<name>[^\W\d][\w-]*)\s+(?P<at>(?:is\s+)(?i:{_NAMED}))",
        "property-word",
        "properties of relations are written as axioms",
        _property,
    ),
    # loads
    phrasing(
        ("load",),
        r".*\((?P<at>(?P<first>[\w\"]+)\s*(?:->|=>|:|=)\s*(?P<second>[\w\"]+))\).*",
        "load-words",
        "a comma separates two columns",
        "write `{first}, {second}`",
    ),
    phrasing(
        ("load",),
        r".*(?P<at>(?:as|type|dtype)\s*=?\s*\"?(?:float|int|integer|str|string|text|bool|number)\"?)",
        "load-words",
        "declarations say how cells are read: `number` or `predicate`",
        "remove it",
    ),
    phrasing(
        ("load",),
        r".*(?P<at>(?:encoding|charset)\s*=?\s*[\"']?(?P<name>[\w-]+)[\"']?)",
        "load-words",
        "an encoding is named in quotes",
        'write `encoding "{name}"`',
    ),
    phrasing(
        ("load",),
        r".*(?P<at>decimal\s*=?\s*[\"']?,[\"']?)",
        "load-words",
        "the decimal comma is in quotes",
        'write `decimal ","`',
    ),
    phrasing(
        ("load",), r".*(?P<at>(?:limit|first|top|nrows\s*=?)\s*\d+)", "load-words", "all rows are read", "remove it"
    ),
)


def phrase(fault: Fault) -> Diagnostic | None:
    """The first phrase that covers the statement."""
    return covered(fault, _PHRASES)


def spaced_thousands(fault: Fault) -> Diagnostic | None:
    """`income(X) > 50 000`."""
    previous, rest = fault.previous, re.match(r"\d{3}(?: \d{3})*(?![\w.])", fault.rest)
    if (
        previous is None
        or rest is None
        or not re.fullmatch(r"\d{1,3}", previous.text)
        or fault.start != previous.end + 1
    ):
        return None
    hint = f"write `{previous.text}{rest[0].replace(' ', '')}`"
    return fault.report(
        "thousands-separator", "a number has no separators", hint, previous.start, fault.start + rest.end()
    )
