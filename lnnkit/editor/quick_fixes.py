"""The changes that hints name literally, each tried before it is offered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lnnkit.editor.renaming import Edit
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import KEYWORDS

MOST = 4  # changes that are tried for a finding
_LITERAL = re.compile(r"`([^`]+)`|(\"[^\"\s]+\")")
_REMOVED = re.compile(r"remove (?:it|them|the)\b|leave (?:it|them) out")
_TOKEN = re.compile(r"\w+(?:[.,]\w+)*|\"[^\"]*\"|[<>=!]+|[^\w\s]")
_ATOM = re.compile(r"[^\W\d]\w*\(")
_DECLARING = ("predicate", "number", "sort")

Findings = Callable[[str], Sequence[Diagnostic]]


@dataclass(frozen=True, slots=True)
class QuickFix:
    title: str
    edit: Edit


def quick_fixes(text: str, finding: Diagnostic, findings: Findings) -> list[QuickFix]:
    """The changes of ``text`` that the hint of a finding in it names and that end the finding without another: its
    place is replaced, or its line, or a statement is put before that. ``findings`` checks a text."""
    named = list(dict.fromkeys(_named(text, finding)))[:MOST]
    before = Counter(map(_key, findings(text))) if named else Counter[tuple[str, str]]()
    found: list[QuickFix] = []
    for fix in named:
        after = Counter(map(_key, findings(text[: fix.edit.start] + fix.edit.text + text[fix.edit.end :])))
        if after < before and after[_key(finding)] < before[_key(finding)]:
            found.append(fix)
    return found


def _key(finding: Diagnostic) -> tuple[str, str]:
    return finding.code, finding.message


def _named(text: str, finding: Diagnostic) -> Iterator[QuickFix]:
    span = finding.span
    if span is None:
        return
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    end = len(text) if end < 0 else end
    if _REMOVED.match(finding.hint):
        yield QuickFix("Remove it", Edit(span.start, span.end, ""))
    for found in _LITERAL.finditer(finding.hint):
        said = found[1] or found[2]
        word, _, rest = said.partition(" ")
        if word not in KEYWORDS or not rest:
            edit = _replacing(text, start, end, span.start, span.end, said)
            line = text[start : edit.start] + edit.text + text[edit.end : end]
            if not (Counter(_ATOM.findall(line)) - Counter(_ATOM.findall(text[start:end]))) or "(" not in said:
                yield QuickFix(f"Replace by `{said}`", edit)  # else the line would say something twice
            continue
        if finding.hint.startswith(f"write `{said}`") and "below it" not in finding.hint:  # others are examples
            yield QuickFix(f"Replace the line by `{said}`", Edit(start, end, said))
        if word in _DECLARING:
            yield QuickFix(f"Insert `{said}`", Edit(start, start, f"{said}\n"))


def _replacing(text: str, first: int, last: int, start: int, end: int, said: str) -> Edit:
    """The replacement of a place by what is said, in a line from ``first`` to ``last``. Tokens beside the place that
    are said too are replaced with it: of `age(X) is 34`, ``is`` by `age(X) = 34`."""
    tokens = [(first + each.start(), first + each.end()) for each in _TOKEN.finditer(text[first:last])]
    if text[start:end].partition(" ")[0] in KEYWORDS:  # a whole statement: the word that is nearly what is said
        near = get_close_matches(said, [text[a:b] for a, b in tokens] + [f'"{text[a:b]}"' for a, b in tokens], 1)
        start, end = next(
            ((a, b) for a, b in tokens if near and text[a:b].strip('"') == near[0].strip('"')), (start, end)
        )
        said = said if text[start] == '"' else said.strip('"')
    start = min([start, *(a for a, b in tokens if a < start < b)])  # a token that it is a part of
    end = max([end, *(b for a, b in tokens if a < end < b)])
    within = _TOKEN.findall(said)
    for a, b in reversed([each for each in tokens if each[1] <= start]):
        if text[a:b] not in within:
            break
        start = a
    for a, b in [each for each in tokens if each[0] >= end]:
        if text[a:b] not in within:
            break
        end = b
    if text[start:end].count("(") > text[start:end].count(")") and text[end : end + 1] == ")":
        end += 1
    before, after = text[start - 1 : start], text[end : end + 1]
    apart = before.isalnum() or (after.isspace() and before in (")", "]", "}", '"'))
    return Edit(start, end, f" {said}" if apart else said)
