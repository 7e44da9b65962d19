"""The table of mistakes, last part: lines of other languages, which no keyword starts. See `rows` for the notation."""

from __future__ import annotations

import re

from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes.rows import Table
from lnnkit.syntax.rewrite import ARROW

_KEYWORDS = {
    "assert": "fact", "assertz": "fact", "add": "fact", "tell": "fact", "given": "fact",
    "declare": "predicate", "decl": "predicate", ".decl": "predicate", "relation": "predicate", "table": "predicate",
    "constraint": "axiom", "law": "axiom", "always": "axiom",
    "ask": "query", "show": "query", "find": "query", "prove": "query", "goal": "query", "infer": "query",
}  # fmt: skip
_COMMANDS = {"explain": "explain", "why": "explain", "check": "check", "eval": "eval"}
_ASKED_IN_SQL = "ask with `query P(X, Y) & X = bob`, where a table is a predicate and its columns are arguments"


def _rule(found: dict[str, str], _: Fault) -> str:
    """A rule whose body has commas and semicolons, and whose variables may be small letters."""
    parts = (found["body"], found["head"])
    body, head = (re.sub(r"(?<=[(,\s])[a-z](?=\s*[,)])", lambda match: match[0].upper(), each) for each in parts)
    joined = re.sub(r"\)\s*;\s*", ") | ", re.sub(r"\)\s*,\s*", ") & ", body.replace("\\+", "~"))).strip()
    bounds = f" in [{found['truth']}, 1]" if "truth" in found else ""
    return f"write `rule {joined} -> {head}{bounds}`"


def _declared(found: dict[str, str], _: Fault) -> str:
    sorts = ", ".join(["entity"] * int(found["count"] or 1))
    return f"write `predicate {found['name']}({sorts}){' closed' if found['at'] == 'closed' else ''}`"


def _query(found: dict[str, str], _: Fault) -> str | None:
    asked = " ".join(found["asked"].split()).replace("), ", ") & ")
    return None if ARROW.search(asked) else f"write `query {asked}`"


def _command(found: dict[str, str], _: Fault) -> str:
    command = _COMMANDS.get(found["at"], "run")
    return f"remove it; `lnnkit {command} FILE" + (f" '{found['atom']}'`" if found["atom"] else "`") + " does that"


def _defined(found: dict[str, str], _: Fault) -> str:
    head, body = found["head"], found["body"]
    if re.search(r"[*/+^]|\s-\s", body) and not re.search(r"[<>=&|~]", body):
        sorts = ", ".join(["entity"] * (head.count(",") + 1))
        return f"write `number {head.partition('(')[0]}({sorts})`, and below it `rule {head} = {body}`"
    return f"write `rule {body} -> {head}`; `<->` where it is nothing else"


def _keyword(found: dict[str, str], _: Fault) -> str | None:
    instead = _KEYWORDS.get(found["lower"])
    return instead and f"write `{instead} {' '.join(found['rest'].split()).removesuffix('.')}`"


LINES: Table = {
    "line leading-truth: the truth of a statement is written at its end": {
        r"⟦(<truth>\d*\.?\d+)⟧\s*:{0,2}\s*(<word>fact|label) (<rest>.+?)\.?": "write `{word} {rest} = {truth}`",
        r"⟦(<truth>\d*\.?\d+)⟧\s*:{0,2}\s*(<word>rule|axiom) (<rest>.+?)\.?": "write `{word} {rest} in [{truth}, 1]`",
        r"⟦(<truth>\d*\.\d+|1|0)⟧\s*::\s*(<head>NAME(?:\([^()]*\))?)\s*:-\s*(<body>.+?)\.?": _rule,
    },
    "line backward-arrow: a rule is written with its head last, and without a delay": {
        r"(<head>⟦NAME⟧\([^()]*\))\s*(?::\s*\[[^\]]*\]\s*)?<-\s*\d+ (<body>.+?)\.?": _rule,
    },
    "line query-words: a query is a statement, not a call": {
        r"⟦query⟧\(\s*(<atom>NAME(?:\([^()]*\))?)\s*\)\s*\.?": "write `query {atom}`",
    },
    "line missing-keyword: `evidence` is not a keyword": {
        r"⟦evidence⟧\(\s*(<atom>NAME(?:\([^()]*\))?)\s*(?:,\s*true\s*)?\)\s*\.?": "write `fact {atom}`",
        r"⟦evidence⟧\(\s*(<atom>NAME(?:\([^()]*\))?)\s*,\s*false\s*\)\s*\.?": "write `fact ~{atom}`",
    },
    "line declaration: `{at}` belongs to a declaration": {
        r"⟦closed|open⟧\s*:\s*(<name>NAME)\s*(?:/\s*(<count>\d+))?": _declared,
    },
    "line query-mark: `{at}` cannot start a query": {
        r"⟦\?-?⟧\s*(<asked>[^\W\d_~¬(].*?|[~¬(].*?)[.?]?": _query,
    },
    "line query-mark: `?` cannot end a query": {r"⟦(<atom>NAME\([^()]*\))\s*\?⟧": "write `query {atom}`"},
    "line declaration: `{at}` comes after the predicate": {
        r"⟦closed⟧ (<rest>predicate\s.+)": "write `{rest} closed`",
        r"⟦open⟧ (<rest>predicate\s.+)": "write `{rest}`",
    },
    "line foreign-comment: `{at}` does not start a comment": {
        r"⟦--+|;+|\"{3}|'{3}|%|\*|REM\b|<!--⟧.*": "a comment starts with `#`",
    },
    "line missing-keyword: `{at}` is not a keyword": {
        r"⟦print|display⟧ (<atom>NAME\([^()]*\))\.?": "write `query {atom}`",
        r"⟦explain|why|print|display|run|check|eval⟧(?: (<atom>NAME\([^()]*\)))?\.?": _command,
        r"⟦(?i:let|const|set|constant|param|parameter)⟧ (<name>NAME)\s*=\s*(<value>-?[\d.]+)": (
            "write `number {name}`, and below it `fact {name} = {value}`"
        ),
        (
            r"⟦(?i:let|def|define|set)⟧ (<head>NAME\([^()]*\))\s*(?::=|:-|=|:|<->|as)\s*"
            r"(?:(?i:return) )?(<body>[^=].*[^.:])\.?"
        ): _defined,
        r"⟦(?i:include|require|use|using|source|consult|from)⟧ (<path>\"[^\"]+\")(?: (?i:import)\s.*)?": (
            "write `import {path}`"
        ),
        r"⟦(?i:table|read|csv|data|read_csv)⟧ (<name>NAME) (?i:from) (<rest>\".*)": "write `load {name} from {rest}`",
        r"⟦(?i:var|variable|variables)⟧ NAME(?:\s*,\s*NAME)*": (
            "remove the line: variables start upper-case, and are not declared"
        ),
        r"⟦(?i:entity|entities|constant|individual|object)⟧ NAME(?:\s*,\s*NAME)*": (
            "remove the line: entities are named by facts, and are not declared"
        ),
        r"⟦(?i:type|domain|class|kind|concept)⟧ (<name>NAME)": (
            "write `sort {name}`, or leave it out: a declaration names its sorts"
        ),
        r"⟦(?i:num|int|integer|float|double|real|attribute|function)⟧ (<name>NAME(?:\([^()]*\))?)": (
            "write `number {name}`"
        ),
        r"⟦\.?\w+⟧ (<rest>[\w~¬\"(].*\(.*|\(.*)": _keyword,
        r"⟦(?i:train|learn|fit)⟧(?:\s.*)?": (
            "a `rule` is trained by `lnnkit train FILE -o OUT`: write its learnable numbers as `?`"
        ),
    },
    "line sql-statement: `{at}` is not a keyword: this is not SQL": {
        r"⟦(?i:insert|update|create)⟧\s.*": (
            'state a row as `fact P(anna, bob)`, or read a table with `load P from "p.csv"`'
        ),
        r"⟦(?i:select|delete|with)⟧\s.*": _ASKED_IN_SQL,
    },
}
