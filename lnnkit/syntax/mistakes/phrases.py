"""Turns of phrase: whole statements as people word them, in a table of patterns with what to write instead.

A pattern covers a statement after its keyword; its group `at` is what the finding points at. ``hint`` is filled in with
the pattern's groups, in braces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault

_LONGEST = 400  # characters of a statement: what people type by hand
_ATOM = r"[~¬]?[^\W\d][\w-]*\([^()]*\)"
_SHARE = r"(?:0?\.\d+|[01](?:\.0+)?)"
_VALUE = r"-?\d+(?:\.\d+)?"
_LEARNED = r"confidence|conf|weight|probability|prob|truth|certainty"
_RULES = ("rule", "axiom")
_FACTS = ("fact", "label")
_FORMULAS = (*_RULES, "query")
_OPENING = r"[\s(&|]"
_RELATION_WORDS = r"(?!is\b|of\b|has\b|in\b|trust\b)[a-z]\w*"
_NO_NAME = "no|not|if|all|any|some|every|exists|forall"
_METHODS = "startswith|endswith|contains|startsWith|endsWith|includes|match|lower|upper"
_POINTS = 'as pandas does: `pd.read_csv(path, sep=";", decimal=",").to_csv(path, sep=";", index=False)`'
_TEXTS = "texts are not searched: list the entities that match in a table of their own, and load it"


@dataclass(frozen=True)
class _Phrase:
    """``hint`` is a template, or a function of the groups."""

    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    code: str
    message: str
    hint: str | Callable[[dict[str, str]], str]


def _phrase(
    keywords: tuple[str, ...], pattern: str, code: str, message: str, hint: str | Callable[[dict[str, str]], str]
) -> _Phrase:
    return _Phrase(keywords, re.compile(rf"(?:{pattern})\s*", re.DOTALL), code, message, hint)


def _share(found: dict[str, str]) -> str:
    return f"{float(found['share']) / 100:g}"


def _weighed(found: dict[str, str]) -> str:
    parts = re.findall(rf"({_SHARE})?\s*({_ATOM})\s*(?::\s*({_SHARE}))?", found["body"])
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
    _phrase(
        _RULES,
        rf".*?(?P<at>\[\s*(?:{_LEARNED})\s*[=:]\s*(?P<low>{_SHARE})\s*\])",
        "wrong-bounds",
        _BOUNDS,
        "write `in [{low}, 1]`",
    ),
    _phrase(
        _RULES,
        r".*?(?P<at>\(\s*(?P<share>\d+(?:\.\d+)?)\s*%\s*\))",
        "wrong-bounds",
        _BOUNDS,
        lambda found: f"write `in [{_share(found)}, 1]`",
    ),
    _phrase(_RULES, rf".*?(?P<at>::\s*(?P<low>{_SHARE}))", "wrong-bounds", _BOUNDS, "write `in [{low}, 1]`"),
    _phrase(
        _RULES,
        rf".*?->\s*(?P<at>(?P<low>{_SHARE}))\s*\*?\s*(?P<head>{_ATOM})",
        "wrong-bounds",
        _BOUNDS,
        "write `-> {head} in [{low}, 1]`",
    ),
    _phrase(
        _RULES,
        rf"(?P<body>(?P<at>{_SHARE})\s+{_ATOM}(?:\s*(?:&|,|and)\s*{_SHARE}\s+{_ATOM})+)\s*->.*",
        "leading-truth",
        "a weight follows its operand",
        _weighed,
    ),
    _phrase(
        _RULES,
        rf"(?P<body>{_ATOM}(?P<at>:\s*{_SHARE})(?:\s*(?:&|,|and)\s*{_ATOM}(?::\s*{_SHARE})?)+)\s*->.*",
        "weight-colon",
        "a weight is written with `@`",
        _weighed,
    ),
    # marks and words at the end
    _phrase(_RULES, r".*\)\s*(?P<at>[!?]+)", "stray-mark", "a rule takes no mark at its end", "remove it"),
    _phrase(
        _RULES, r".*\)\s+(?P<at>end|END|endif|fi|done|stop)", "end-word", "a statement ends with its line", "remove it"
    ),
    # names of rules
    _phrase(
        _RULES,
        rf"(?P<at>\[(?P<name>[^\W\d][\w-]*)\])\s*{_ATOM}.*",
        "rule-name",
        "a rule's name has a colon",
        "write `{name}:`",
    ),
    _phrase(
        _RULES,
        rf"(?P<at>(?P<name>[^\W\d_][\w-]*)\.)\s+{_ATOM}.*->.*",
        "rule-name",
        "a rule's name has a colon",
        "write `{name}:`",
    ),
    _phrase(
        _RULES,
        rf"(?P<at>(?P<name>(?!(?:{_NO_NAME})\b)[a-z][\w-]*))\s+{_ATOM}.*->.*",
        "rule-name",
        "a rule's name has a colon",
        "write `{name}:`",
    ),
    # bodies
    _phrase(_FORMULAS, r".*?(?P<at>~>|⊢|⊨|⟹|⟶|↦|>>).*", "broken-arrow", "this is no operator here", "write `->`"),
    _phrase(
        _RULES,
        rf"(?P<part>{_ATOM}\s*[<>=!]+\s*{_ATOM})\s+(?P<at>(?:for\s+)?(?:all|every|any|each)\s+"
        r"(?P<variable>[A-Z]\w*))\s*->.*",
        "late-quantifier",
        "a quantifier comes before its formula",
        "write `(forall {variable}: {part})`",
    ),
    _phrase(
        _FORMULAS,
        rf"(?:.*?{_OPENING})?(?P<number>{_ATOM})\s+"
        rf"(?P<at>in\s+(?P<low>{_VALUE})\s*\.\.+\s*(?P<high>{_VALUE}))(?:\s*(?:&|and|->|\|).*)?",
        "interval-in-body",
        "a number is compared with a number, not with a range",
        "write `{low} <= {number} <= {high}`",
    ),
    _phrase(
        _FORMULAS,
        rf"(?:.*?{_OPENING})?(?P<atom>[A-Z]\w*\((?P<variable>[A-Z]\w*)\))(?P<at>\.(?P<name>[a-z]\w*))(?!\w*\().*",
        "dotted-attribute",
        "there are no dotted attributes: each is a number or a predicate",
        "write `{atom} & {name}({variable})`",
    ),
    _phrase(_FORMULAS, rf".*?(?P<at>\.(?:{_METHODS})\().*", "text-method", "texts have no methods", _TEXTS),
    _phrase(
        _FORMULAS,
        r"(?:.*?[\s(&|])?(?P<name>[^\W\d][\w-]*)\((?P<rest>[^()\[\]{}]*?),\s*"
        r"(?P<at>[\[{](?P<list>[^{}\[\]]*)[\]}])\s*\).*",
        "argument-list",
        "an argument is one entity",
        _among,
    ),
    _phrase(
        _FORMULAS,
        r"(?:.*?[\s(&|])?(?P<name>[^\W\d][\w-]*)\((?P<rest>[^()]*?),\s*"
        r"(?P<at>(?:!=|<>|≠|not\s)\s*(?P<entity>\"[^\"]*\"|[a-z][\w-]*))\s*\).*",
        "argument-expression",
        "an argument is a variable or an entity",
        "write `{name}({rest}, V) & V != {entity}`",
    ),
    # numbers
    _phrase(
        (*_FORMULAS, *_FACTS),
        r".*?(?<![\w.])(?P<at>(?P<number>\d+(?:\.\d+)?)(?P<unit>[kKM]))(?!\w).*",
        "number-unit",
        "a number has no unit",
        _thousands,
    ),
    # facts
    _phrase(
        _FACTS,
        r"(?P<name>[^\W\d][\w-]*)\((?P<at>(?P<list>[\w\"-]+(?:\s*;\s*[\w\"-]+)+))\)",
        "several-facts",
        "a fact is one atom",
        _one_each,
    ),
    _phrase(
        _FACTS,
        r"(?P<name>[^\W\d][\w-]*)\((?P<at>[\[{](?P<list>[^\[\]{}]+)[\]}])\)",
        "several-facts",
        "a fact is one atom",
        _one_each,
    ),
    _phrase(
        _FACTS,
        rf"{_ATOM}\s+(?P<at>(?P<share>\d+(?:\.\d+)?)\s*%)",
        "missing-equals",
        "a value follows `=`",
        lambda found: f"write `= {_share(found)}`",
    ),
    _phrase(
        _FACTS,
        rf"{_ATOM}\s*(?P<at>=\s*(?i:yes|y|certain|sure|always))",
        "truth-as-value",
        "a value is a number",
        "write `= 1`, or leave it out",
    ),
    _phrase(
        _FACTS,
        rf"{_ATOM}\s*(?P<at>=\s*(?i:no|never|impossible))",
        "truth-as-value",
        "a value is a number",
        "write `= 0`, or `~` before the atom",
    ),
    _phrase(
        _FACTS,
        rf"{_ATOM}\s+(?P<at>(?i:is\s+)?(?i:true|yes|holds))",
        "truth-word",
        "what is stated is true",
        "leave it out",
    ),
    _phrase(
        _FACTS,
        rf"(?P<atom>{_ATOM})\s+(?P<at>(?i:is\s+)?(?i:false|no|wrong))",
        "truth-word",
        "a denial is written `~`",
        "write `~{atom}`",
    ),
    _phrase(
        _FACTS,
        rf"{_ATOM}\s+(?P<at>between\s+(?P<low>{_VALUE})\s+(?:and|to|,)\s*(?P<high>{_VALUE}))",
        "wrong-bounds",
        _BOUNDS,
        "write `in [{low}, {high}]`",
    ),
    _phrase(
        _FACTS,
        rf"(?P<at>(?P<entity>[a-z]\w*)\.(?P<name>[a-z]\w*))\s*=\s*(?P<value>{_VALUE})",
        "dotted-attribute",
        "there are no dotted attributes: each is a number or a predicate",
        "write `{keyword} {name}({entity}) = {value}`",
    ),
    _phrase(
        _FACTS,
        rf"(?P<who>[^\W\d]\w*)\s+(?P<at>(?P<verb>{_RELATION_WORDS}))\s+(?P<whom>[^\W\d]\w*)",
        "word-order",
        "a relation comes before what it relates",
        _related,
    ),
    _phrase(
        (*_FORMULAS, *_FACTS),
        r".*?\([^()]*?(?P<at>,)\s*\).*",
        "trailing-comma",
        "nothing follows the last comma",
        "remove it",
    ),
    # queries
    _phrase(
        ("query",),
        rf"(?P<at>is)\s+(?P<atom>{_ATOM})\s+(?:true|so|known)\??",
        "query-words",
        "a query asks for bounds",
        "write `query {atom}`",
    ),
    _phrase(
        ("query",),
        rf"(?P<at>(?i:explain|why\s+not|whynot|why|proof\s+of))\s+(?P<atom>{_ATOM})\??",
        "query-words",
        "an answer is explained from outside of the program",
        "write `query {atom}`, and run `lnnkit explain FILE '{atom}'`",
    ),
    _phrase(
        ("query",),
        rf"(?P<at>(?i:all|each|every|the|list|show|find|get|distinct|unique|select))\s+(?P<rest>{_ATOM}.*)",
        "query-words",
        "a query has all answers, each once",
        "write `query {rest}`",
    ),
    _phrase(
        ("query",),
        r".*\)\s*(?P<at>\|\s*(?:top|head|first|limit|sort|order)\b.*)",
        "query-words",
        "a query returns all answers",
        "remove it; `lnnkit run FILE --sort lower --limit 10` sorts and cuts what is shown",
    ),
    # declarations
    _phrase(
        ("predicate", "number"),
        r"(?P<name>[^\W\d][\w-]*)\s+(?P<at>(?P<sorts>(?!closed\b|open\b)[^\W\d]\w*"
        r"(?:\s*,\s*[^\W\d]\w*)*))",
        "declaration",
        "sorts stand in parentheses",
        "write `{keyword} {name}({sorts})`",
    ),
    _phrase(
        ("number",),
        rf"(?P<name>[^\W\d][\w-]*)\([^(),]*\)\s+"
        rf"(?P<at>in\s*\[\s*(?P<low>{_VALUE})\s*,\s*(?P<high>{_VALUE})\s*\])",
        "declaration",
        "a declaration gives no bounds",
        "remove it, and write `axiom {low} <= {name}(X) <= {high}`",
    ),
    _phrase(
        ("number", "predicate"),
        r".*?(?P<at>default\b.*)",
        "declaration",
        "there are no defaults: what is not stated is unknown",
        "remove it; a predicate is false where it is not stated if it is `closed`",
    ),
    # properties of relations
    _phrase(
        _RULES,
        rf"(?P<at>(?i:{_NAMED}))[:\s]\s*(?P<name>[^\W\d][\w-]*)",
        "property-word",
        "properties of relations are written as axioms",
        _property,
    ),
    _phrase(
        _RULES,
        rf"(?P<name>[^\W\d][\w-]*)\s+(?P<at>(?:is\s+)(?i:{_NAMED}))",
        "property-word",
        "properties of relations are written as axioms",
        _property,
    ),
    # loads
    _phrase(
        ("load",),
        r".*\((?P<at>(?P<first>[\w\"]+)\s*(?:->|=>|:|=)\s*(?P<second>[\w\"]+))\).*",
        "load-words",
        "a comma separates two columns",
        "write `{first}, {second}`",
    ),
    _phrase(
        ("load",),
        r".*(?P<at>(?:as|type|dtype)\s*=?\s*\"?(?:float|int|integer|str|string|text|bool|number)\"?)",
        "load-words",
        "how cells are read is said by `number` and `predicate`",
        "remove it",
    ),
    _phrase(
        ("load",),
        r".*(?P<at>encoding\s*=?\s*\"?[\w-]+\"?)",
        "load-words",
        "text files are read as UTF-8",
        "remove it; save the file as UTF-8, as `iconv -f latin1 -t utf-8` does",
    ),
    _phrase(
        ("load",),
        r".*(?P<at>decimal\s*=?\s*\"?,\"?)",
        "load-words",
        "numbers are read with a point",
        f"remove it; write points, {_POINTS}",
    ),
    _phrase(
        ("load",), r".*(?P<at>(?:limit|first|top|nrows\s*=?)\s*\d+)", "load-words", "all rows are read", "remove it"
    ),
)


def phrase(fault: Fault) -> Diagnostic | None:
    """The first phrase that covers the statement."""
    if fault.keyword is None:
        return None
    text, start = fault.source.text, fault.piece.start
    head = re.match(rf"\s*{fault.keyword}\s+", text[start : fault.piece.end])
    if head is None:
        return None
    start += head.end()
    if fault.piece.end - start > _LONGEST:
        return None
    for each in _PHRASES:
        if fault.keyword not in each.keywords:
            continue
        match = each.pattern.fullmatch(text, start, fault.piece.end)
        if match is None:
            continue
        found = {"keyword": fault.keyword, **{name: value or "" for name, value in match.groupdict().items()}}
        hint = each.hint.format(**found) if isinstance(each.hint, str) else each.hint(found)
        return fault.report(each.code, each.message, hint, *match.span("at"))
    return None


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
