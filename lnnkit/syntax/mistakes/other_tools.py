"""Functions and clauses of other tools within rules: of Prolog, clingo, SQL, Python, Excel and IBM LNN."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import AGGREGATE_HINT
from lnnkit.syntax.mistakes.phrasing import ATOM, FACTS, FORMULAS, RULES, VALUE, covered, phrasing

_BEFORE = r"(?:.*?[\s(&|~¬])?"
_CALL = r"[^\W\d][\w-]*\([^()]*\)\s*[<>=!]+\s*" + VALUE
_PART = rf"(?:{_CALL}|{ATOM})"
_AGGREGATES = "len|sumif|sumifs|countif|countifs"


def _last_variable(atom: str) -> str:
    found = re.findall(r"(?<!\w)[A-Z]\w*(?!\w*\()", atom.partition("(")[2])
    return found[-1] if found else "X"


def _exists(found: dict[str, str]) -> str:
    return f"write `(exists {_last_variable(found['atom'])}: {found['atom']})`"


def _forall(found: dict[str, str]) -> str:
    return f"write `(forall {_last_variable(found['atom'])}: {found['atom']})`"


def _forall_of(found: dict[str, str]) -> str:
    return f"write `(forall {_last_variable(found['atom'])}: {found['atom']} -> {found['then']})`"


def _joined(found: dict[str, str]) -> str:
    sign = " & " if found["name"].lower() == "and" else " | "
    return f"write `({sign.join(re.findall(_PART, found['list']))})`"


def _listed(found: dict[str, str]) -> str:
    body = f"{found['class']}({found['variable']})" + (f" & {found['where']}" if found["where"] else "")
    return f"write `{body} -> {found['name']}({found['variable']})`"


def _positional(found: dict[str, str]) -> str:
    values = [each.partition("=")[2].strip() for each in found["list"].split(",")]
    return f"write `{found['name']}({', '.join(values)})`"


_NO_CALLS = "formulas are joined by operators, not by calls"
_CALLS = (
    phrasing(
        FORMULAS,
        r".*?(?P<at>#(?:count|sum|min|max)\s*\{[^}]*\}).*",
        "aggregate",
        "the language has no aggregates yet",
        AGGREGATE_HINT,
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?P<name>(?i:{_AGGREGATES}))\({ATOM}[^()]*\)).*",
        "aggregate",
        "the language has no aggregates yet",
        AGGREGATE_HINT,
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?:findall|bagof|setof)\((?P<variable>[A-Z]\w*)\s*,\s*(?P<goal>{ATOM})\s*,[^()]*\)).*",
        "argument-list",
        "there are no lists: a rule holds for each binding by itself",
        "write `(exists {variable}: {goal})`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?i:forall)\((?P<atom>{ATOM})\s*,\s*(?P<then>{ATOM})\)).*",
        "quantifier-word",
        "a quantifier names its variables before a colon",
        _forall_of,
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?i:(?P<word>exists|forall))\((?P<variable>[^\W\d]\w*)\s*,\s*(?P<atom>{ATOM})\)).*",
        "quantifier-word",
        "a quantifier names its variables before a colon",
        lambda found: f"write `({found['word'].lower()} {found['variable']}: {found['atom']})`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>exists\s+(?P<atom>{ATOM})).*",
        "quantifier-word",
        "a quantifier names its variables before a colon",
        _exists,
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>any\((?P<atom>{ATOM})\)).*",
        "quantifier-word",
        "`any` is not a quantifier",
        _exists,
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>all\((?P<atom>{ATOM})\)).*",
        "quantifier-word",
        "`all` is not a quantifier",
        _forall,
    ),
    phrasing(
        FORMULAS,
        rf"(?P<at>(?i:implies)\(\s*(?P<one>{_PART})\s*,\s*(?P<other>{_PART})\s*\))",
        "connective-call",
        _NO_CALLS,
        "write `{one} -> {other}`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?P<name>And|Or|AND|OR)\(\s*(?P<list>{_PART}(?:\s*,\s*{_PART})+)\s*\)).*",
        "connective-call",
        _NO_CALLS,
        _joined,
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>Not\(\s*(?P<atom>{_PART})\s*\)).*",
        "connective-call",
        _NO_CALLS,
        "write `~{atom}`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?i:isblank|isna|isnull|is_null)\({ATOM}\)).*",
        "null-test",
        "a number without a value is unknown, which no formula tests",
        'leave it out, or load the rows that lack it: `load Missing from "people.csv" (name) where years is null`',
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?i:round|ceil|ceiling|floor|int)\((?P<number>{ATOM})[^()]*\)).*",
        "unknown-function",
        "there are no functions but `abs` and `sqrt`",
        "write `{number}`, and compare it with where the rounding would change it",
    ),
    phrasing(
        FORMULAS,
        r"(?:.*?[\s(&])?(?P<at>\|(?P<term>[^|<>=&]+)\|)\s*[<>=].*",
        "absolute-bars",
        "`|` is or",
        "write `abs({term})`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>√\s*(?P<term>{ATOM}|\d+)).*",
        "root-sign",
        "a root is a function",
        "write `sqrt({term})`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<number>{ATOM})(?P<at>[²³]).*",
        "raised-digit",
        "a power is written with `^`",
        lambda found: f"write `{found['number']}^{'²³'.index(found['at']) + 2}`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}{ATOM}\s+(?P<at>[xX])\s+\d.*",
        "times-sign",
        "a product is written with `*`",
        "write `*`",
    ),
    phrasing(
        FORMULAS,
        rf"{_BEFORE}(?P<at>(?P<variable>[A-Z]\w*)\s+is\s+(?P<term>[^&,]*[(+*/][^&,]*?))\s*(?:[&,]|->).*",
        "number-variable",
        "variables stand for entities, not for numbers",
        "leave it out, and write `{term}` where `{variable}` is used",
    ),
    phrasing(
        RULES,
        r".*?[&,]\s*(?P<at>!)\s*(?:->|[&,]).*",
        "cut",
        "there is no cut: a rule holds for all bindings",
        "remove it",
    ),
    # SQL
    phrasing(
        FORMULAS,
        rf"{ATOM}\s+(?P<at>(?i:(?:(?:left|right|inner|outer|full|cross|natural)\s+)*join))\s.*",
        "sql-word",
        "atoms are joined by the variables that they share",
        "write `&`, and the same variable in both",
    ),
    phrasing(
        ("query",), rf"{ATOM}\s+(?P<at>(?i:intersect|intersection))\s+.*", "sql-word", "`&` joins formulas", "write `&`"
    ),
    phrasing(
        ("query",), rf"{ATOM}\s+(?P<at>(?i:union(?:\s+all)?))\s+.*", "sql-word", "`|` joins formulas", "write `|`"
    ),
    phrasing(("query",), rf"{ATOM}\s+(?P<at>(?i:minus))\s+.*", "sql-word", "`& ~` excludes", "write `& ~`"),
    phrasing(
        ("query",),
        rf"{ATOM}\s+(?P<at>(?i:as)\s+\w+)",
        "query-words",
        "an answer's columns are the query's variables",
        "remove it",
    ),
    phrasing(
        RULES,
        rf"(?P<at>(?i:case)\s+(?i:when))\s+(?P<one>{_PART})\s+(?i:then)\s+(?P<then>{ATOM})\s+(?i:else)\s+(?P<other>{ATOM})"
        r"(?:\s+(?i:end))?",
        "if-then",
        "`case` is not a word of the language",
        "write `({one} -> {then}) & (~({one}) -> {other})`",
    ),
    # Python
    phrasing(
        RULES,
        rf"(?P<head>{ATOM})\s*(?P<at>=\s*lambda\s+\w+\s*:)\s*(?P<body>.*)",
        "backward-arrow",
        "a rule runs forward",
        "write `rule {body} -> {head}`",
    ),
    phrasing(
        RULES,
        r"(?P<name>[^\W\d]\w*)\s*=\s*(?P<at>[\[{]\s*(?P<variable>[A-Z])\s+for\s+\w+\s+in\s+(?P<class>\w+)"
        r"(?:\s+if\s+(?P<where>[^\[\]]+?))?\s*[\]}])",
        "backward-arrow",
        "a rule concludes an atom for each entity",
        _listed,
    ),
    phrasing(
        (*FACTS, "query"),
        r"(?P<name>[^\W\d]\w*)(?P<at>\((?P<list>\w+\s*=\s*[\w\"-]+(?:\s*,\s*\w+\s*=\s*[\w\"-]+)*)\))",
        "named-argument",
        "arguments have no names: their order says which is which",
        _positional,
    ),
    phrasing(
        (*RULES, *FACTS),
        rf"{ATOM}\s*(?P<at>\+\s*=\s*{VALUE}|\+\+|-\s*=\s*{VALUE})",
        "assignment",
        "nothing is updated: a statement says what holds",
        "state the new value: `fact age(anna) = 35`",
    ),
)


def other_tool(fault: Fault) -> Diagnostic | None:
    """The first of these that covers the statement."""
    return covered(fault, _CALLS)
