"""The table of mistakes: loads and declarations. See `rows` for the notation."""

from __future__ import annotations

import re

from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes.rows import ITEM, Groups, Table, joined


def _listed_sorts(groups: Groups, _: Fault) -> str:
    sorts = ", ".join(re.findall(r"[\w-]+", re.sub(r"[^,:]*:", "", groups["sorts"])))
    return f"`{groups['keyword']} {groups['name']}({sorts}){groups['closed']}`"


def _selected(groups: Groups, _: Fault) -> str:
    test = re.sub(r'"([^"]*)"', r"'\1'", " ".join(groups["test"].split()))
    select = f"select {', '.join(groups['columns'].replace(',', ' ').split())} from '{groups['path']}' where {test}"
    return f'`load {groups["name"]} from query "{select}"`, in the SQL of DuckDB'


_LOADED = "`{keyword} {name} from {path:quoted} {list}`"

CLAUSES: Table = (
    "table [in_table] capital-word: `{at}` in capitals is not a word of the language",
    (r"‸⟦WHERE|AND|IN|IS|NOT|NULL|MISSING|DELIMITER|TRUST|NO|TRUE|FALSE|DECIMAL|ENCODING|TRIM⟧(?!\w)", "`{lower}`"),
    "table [in_table top AND] bad-condition: a comma cannot join conditions",
    (r"‸,(?!\d{3}(?!\d))", "`and`"),
    "table [in_table top AND] bad-condition: conditions are joined by `and` alone",
    (r"‸(?:or(?!\w)|\||∨)", 'write one statement for each, or `in ("a", "b")` for several values of one column'),
    "table [in_table] bad-condition: `{at}` cannot follow `is`",
    (r"\bis(?: not)?\s*‸⟦NAME⟧", "`null` for a cell that is empty; to compare it, write `=` instead of `is`"),
    "table [in_table] bad-condition: `{at}` cannot deny a condition",
    (r"(?:\bwhere|\band|&)\s*‸⟦not|~|¬⟧", "`!=`, or `is not null`"),
    "table [in_table IS] bad-condition: `between` is not an operator",
    (
        r"⟦(<column>\"[^\"\n]*\"|[\w-]+)\s*‸(?i:between) (<low>CELL) (?i:and|&|,) (<high>CELL)⟧(?![\w.-])",
        "`{column} >= {low} and {column} <= {high}`",
    ),
    "table [in_table IS] bad-condition: `not in` is not an operator",
    (
        r"⟦(<column>\"[^\"\n]*\"|[\w-]+)\s*‸(?i:not in)\s*\(\s*(<list>CELL(?:\s*,\s*CELL)*)\s*\)⟧",
        joined(ITEM, "{column} != {}", " and "),
    ),
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
    (
        r"⟦(<column>\"[^\"\n]*\"|[\w-]+)\s*‸(<test>(?:[<>]=?|!=|=)\s*(?:\"[^\"\n]*\"|-?[\d.]+))⟧(?=\s*[,)])",
        "write it after the columns: `where {column} {test}`",
    ),
    "sort declaration: a sort does not list its entities: facts and tables name them",
    (r"\A\w+ (<name>\S+?)\s*‸[=:({\[]", "`sort {name}`"),
    "logic declaration: the name of the logic follows the word",
    (r"\A\w+\s*‸[=:]\s*(<name>\w+)", "`logic {name}`"),
    "declaration [=DIVIDE] predicate-arity: the arity is not written as `{at}`",
    (r"\S\s*‸⟦/\s*(<count>\d)⟧\b", "`{keyword} {previous}({count:entities})`"),
    "table [=DIVIDE] predicate-arity: the arity is not written as `{at}`",
    (r"\S\s*‸⟦/\s*\d⟧\b", "leave it out"),
)
EXPRESSIONS: Table = (
    "load [in_table top calculated] bad-condition: a condition compares a column with a value or another column",
    (r"(<name>[\w-]+) from \"(<path>[^\"\n]+)\"\s*\((<columns>[\w\s,]+)\) where (<test>[^{}\[\]\\]*)", _selected),
)
DECLARATIONS: Table = (
    "declaration declaration: an argument is declared by its sort alone",
    (r"(<name>[\w-]+)\((<sorts>[^()]*:[^()]*)\)(<closed> closed)?", _listed_sorts),
    "declaration declaration: `{at}` comes after the predicate",
    (r"⟦closed⟧ (<name>[\w-]+(?:\([^()]*\))?)", "`{keyword} {name} closed`"),
    (r"⟦open⟧ (<name>[\w-]+(?:\([^()]*\))?)", "`{keyword} {name}`"),
    "declaration declaration: a predicate is open unless it is declared `closed`",
    (r"(<name>[\w-]+(?:\([^()]*\))?) open", "`{keyword} {name}`"),
    "declaration declaration: a declaration gives no value",
    (r"(<name>[\w-]+) = (<value>\S+)", "`{keyword} {name}`, and its value as `fact {name} = {value}`"),
    (
        r"(<name>(<number>[\w-]+)\([^()]*\)) = (<value>\S+)",
        "`{keyword} {name}`, and its value as `fact {number}(...) = {value}`",
    ),
    "declaration declaration: the sorts of the arguments stand in parentheses",
    (r"(<name>[\w-]+)\s*:\s*(<sorts>[\w-]+(?:\s*,\s*[\w-]+)*)(<closed> closed)?", _listed_sorts),
    "declaration declaration: sorts are separated by commas",
    (r"(<name>[\w-]+)\((<sorts>[\w-]+(?:,?\s+[\w-]+)+)\)(<closed> closed)?", _listed_sorts),
    "number declaration: a number has no further type",
    (r"(<name>[\w-]+(?:\([^()]*\))?) (?::\s*)?(?:int|integer|float|double|real|decimal)", "`number {name}`"),
)
