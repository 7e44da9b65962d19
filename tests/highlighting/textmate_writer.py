"""The TextMate grammar of `.lnn`, for GitHub and editors such as VS Code: `grammar/lnn.tmLanguage.json`.

``python -m tests.highlighting.textmate_writer`` writes the file anew after a change of the grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from lnnkit.syntax.grammar import grammar_file
from tests.highlighting.contexts import STYLES, Context, Pattern, highlighting

FILE = "lnn.tmLanguage.json"


def textmate() -> dict[str, object]:
    """The grammar as TextMate reads it."""
    found = highlighting()
    stop = rf"(?=^\s*{found.start})"
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "lnnkit",
        "scopeName": "source.lnn",
        "fileTypes": ["lnn"],
        "patterns": [
            *(_statement(each, stop) for each in found.beginnings),
            *_all(found.outside, stop),
        ],
        "repository": {context.name: _repository(context, stop) for context in found.contexts},
    }


def textmate_text() -> str:
    """The file's text."""
    return json.dumps(textmate(), ensure_ascii=False, indent=2) + "\n"


def _statement(pattern: Pattern, stop: str) -> dict[str, object]:
    return _entering(Pattern(r"^\s*" + pattern.regex, pattern.styles, pattern.enters), stop, stop)


def _repository(context: Context, stop: str) -> dict[str, object]:
    return {"patterns": _all(context.patterns, stop)}


def _all(patterns: Iterable[Pattern], stop: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for pattern in patterns:
        if pattern.enters is not None:
            found.append(_entering(pattern, rf"({_closing(pattern.enters)})|{stop}", stop))
        elif pattern.styles == ("argument",):
            upper = Pattern(rf"(?=[\p{{Lu}}\p{{Lt}}]){pattern.regex}", ("variable",))
            found += [_plain(upper), _plain(pattern)]
        else:
            found.append(_plain(pattern))
    return found


def _closing(name: str) -> str:
    return next(each.closing or "" for each in highlighting().contexts if each.name == name)


def _entering(pattern: Pattern, end: str, stop: str) -> dict[str, object]:
    entry: dict[str, object] = {
        "begin": pattern.regex,
        "beginCaptures": _captures(pattern),
        "end": end,
        "patterns": [{"include": f"#{pattern.enters}"}],
    }
    if end != stop:
        entry["endCaptures"] = {"1": {"name": _scope("punctuation")}}
    return entry


def _plain(pattern: Pattern) -> dict[str, object]:
    if len(pattern.styles) == 1 and pattern.styles[0] is not None:
        return {"match": pattern.regex, "name": _scope(pattern.styles[0])}
    return {"match": pattern.regex, "captures": _captures(pattern)}


def _captures(pattern: Pattern) -> dict[str, object]:
    return {str(number): {"name": _scope(style)} for number, style in enumerate(pattern.styles, 1) if style is not None}


def _scope(style: str) -> str:
    return f"{STYLES[style]}.lnn"


if __name__ == "__main__":
    Path(str(grammar_file(FILE))).write_text(textmate_text(), "utf-8")
