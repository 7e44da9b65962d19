"""A JSON file of a benchmark -> the text of one of its examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lnnkit.errors import ProgramError
from lnnkit.syntax.diagnostic import Diagnostic

_IDS = ("id", "example_id", "story_id")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Example:
    """The text of an example, and what it is about in words."""

    text: str
    path: str
    about: tuple[str, ...] = ()


def example_of(text: str, path: str, name: str | None) -> Example:
    """The text itself where it is no JSON; else the logic of the example with this name, or of the only one. Raises
    `ProgramError` where there is none, or several."""
    rows = _rows(text)
    if rows is None:
        if name is not None:
            raise _fault(
                "not-a-collection", "this file is not JSON with examples to choose from", "leave out --id", path
            )
        return Example(text, path)
    if name is None and len(rows) == 1:
        row = rows[0]
    else:
        chosen = [row for row in rows if name is not None and name in {str(row[key]) for key in _IDS if key in row}]
        if not chosen:
            names = [str(next((row[key] for key in _IDS if key in row), "?")) for row in rows[:_SHOWN]]
            listed = ", ".join(names) + (", ..." if len(rows) > _SHOWN else "")
            problem = f"no example is called `{name}`" if name is not None else f"this file has {len(rows):,} examples"
            raise _fault("which-example", problem, f"choose one with --id: {listed}", path)
        row = chosen[0]
    label = next((str(row[key]) for key in _IDS if key in row), "")
    about = tuple(
        [f"{key}: {row[key]}" for key in ("context", "question", "conclusion", "answer", "label") if row.get(key)]
    )
    return Example(_logic(row, path), f"{path}#{label}" if label else path, about)


def _rows(text: str) -> list[Mapping[str, object]] | None:
    """The objects of a JSON text, or of one on each line; None for any other text."""
    head = text.lstrip()[:1]
    if head not in ("[", "{"):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return None
    rows = found if isinstance(found, list) else [found]
    return rows if rows and all(isinstance(row, Mapping) for row in rows) else None


def _logic(row: Mapping[str, object], path: str) -> str:
    """The logic of an example: a program that a language model wrote, or the formulas of FOLIO."""
    programs = row.get("raw_logic_programs")
    if isinstance(programs, Sequence) and programs and isinstance(programs[0], str):
        return programs[0]
    premises, conclusion = row.get("premises-FOL"), row.get("conclusion-FOL")
    if isinstance(premises, str):
        premises = premises.splitlines()
    if isinstance(premises, Sequence):
        words = row.get("premises")
        words = words.splitlines() if isinstance(words, str) else words if isinstance(words, Sequence) else []
        lines = ["Premises:"]
        for index, premise in enumerate(premises):
            gloss = " ".join(str(words[index]).split()) if index < len(words) else ""
            formula = " ".join(str(premise).split())
            lines.append(f"{formula} ::: {gloss}" if gloss and formula else formula)
        if isinstance(conclusion, str):
            lines += ["Conclusion:", " ".join(conclusion.split())]
        return "\n".join(lines) + "\n"
    hint = "it has `raw_logic_programs`, or `premises-FOL`"
    raise _fault("no-logic", "this example has no logic that can be read", hint, path)


def _fault(code: str, message: str, hint: str, path: str) -> ProgramError:
    return ProgramError([Diagnostic(code, message, hint, file=path)])
