"""A small reader of TextMate grammars, as editors read them: line by line, with a stack of begun patterns.

It covers what the grammar of `.lnn` uses: `match`, `begin` and `end` with captures, `include` of the repository.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

UPPER = "[A-ZÀ-ÖØ-Þ]"  # in place of `[\\p{Lu}\\p{Lt}]`, which Python's expressions lack


def tokens(grammar: dict[str, Any], text: str) -> list[tuple[str, str]]:
    """The pieces of the text that have a scope, and their scopes."""
    found: list[tuple[str, str]] = []
    stack: list[dict[str, Any]] = []
    for line in text.split("\n"):
        place = 0
        while True:
            end = _search(stack[-1]["end"], line, place) if stack else None
            best, rule = end, None
            for candidate in _patterns(grammar, stack):
                match = _search(candidate.get("match") or candidate["begin"], line, place)
                if match and (best is None or match.start() < best.start()):
                    best, rule = match, candidate
            if best is None:
                break
            if rule is None:
                found += _captured(best, stack.pop().get("endCaptures", {}))
            elif "begin" in rule:
                found += _captured(best, rule["beginCaptures"])
                stack.append(rule)
            elif "name" in rule:
                found.append((best[0], rule["name"]))
            else:
                found += _captured(best, rule["captures"])
            place = best.end()
    return found


def _patterns(grammar: dict[str, Any], stack: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not stack:
        return grammar["patterns"]
    return [
        each
        for part in stack[-1]["patterns"]
        for each in grammar["repository"][part["include"].lstrip("#")]["patterns"]
    ]


def _search(regex: str, line: str, place: int) -> re.Match[str] | None:
    return _compiled(regex).search(line, place)


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex.replace(r"[\p{Lu}\p{Lt}]", UPPER))


def _captured(match: re.Match[str], captures: dict[str, dict[str, str]]) -> list[tuple[str, str]]:
    return [(match[int(number)], each["name"]) for number, each in captures.items() if match[int(number)]]
