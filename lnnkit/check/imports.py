"""Resolves imports: each file is included once, where it is first imported, with its own folder and its own logic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lnnkit.check.findings import error
from lnnkit.check.symbols import Entry
from lnnkit.data.source import is_table, nearest_file
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_string

_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r"[^\W_][\w-]*")


@dataclass(slots=True)
class Merged:
    """The statements of a program and of all its imports, in order, and the findings about imports that failed."""

    entries: list[Entry] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)  # the words of statements that did not parse
    whole: bool = True  # no file is missing
    diagnostics: list[Diagnostic] = field(default_factory=list)


def merge(program: ast.Program, base: Path) -> Merged:
    merged = Merged()
    path = Path(program.span.source.path)
    known = [candidate.resolve() for candidate in (path, base / path.name) if path.name and candidate.is_file()]
    trail = [(known[0] if known else path, path.name or str(path))]
    seen = set(known)
    _merge(program, base, trail, seen, merged)
    return merged


def _merge(program: ast.Program, base: Path, trail: list[tuple[Path, str]], seen: set[Path], merged: Merged) -> None:
    logic = logic_of(program.statements)
    merged.left_out |= left_out(program)
    for statement in program.statements:
        if not isinstance(statement, ast.ImportStatement):
            merged.entries.append(Entry(statement, base, logic))
            continue
        path = base / statement.path
        identity = path.resolve()
        names = [name for file, name in trail]
        cycle = next((index for index, (file, _) in enumerate(trail) if file == identity), None)
        if cycle is not None:
            circle = " -> ".join([*names[cycle:], path.name])
            hint = "take one of these imports out, or move what both need into a third file"
            merged.diagnostics.append(
                error("import-cycle", statement.span, f"these files import each other: {circle}", hint)
            )
        elif identity not in seen:
            seen.add(identity)
            imported = _read(statement, path, merged.diagnostics)
            if imported is not None:
                _merge(imported, path.parent, [*trail, (identity, path.name)], seen, merged)
            else:
                merged.whole = False


def _read(statement: ast.ImportStatement, path: Path, diagnostics: list[Diagnostic]) -> ast.Program | None:
    from lnnkit.syntax.parse import parse  # lark is loaded only by programs that import others

    span = statement.span
    if is_table(path) and path.is_file():
        hint = f"read it instead: `load P from {format_string(statement.path)}`"
        diagnostics.append(error("table-as-program", span, f"`{path}` is a table, not a program", hint))
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        hint = nearest_file(path if path.suffix else path.with_suffix(".lnn"))
        diagnostics.append(error("import-not-found", span, f"there is no file `{path}` to import", hint))
    except UnicodeDecodeError as fault:
        message = f"`{path}` is not UTF-8 text (byte {fault.start})"
        diagnostics.append(error("import-unreadable", span, message, "save it as UTF-8"))
    except OSError as fault:
        message = f"`{path}` cannot be read: {fault.strerror or fault}"
        diagnostics.append(error("import-unreadable", span, message, "name a .lnn file that can be read"))
    else:
        program, found = parse(text, str(path))
        diagnostics.extend(found)
        return program
    return None


def left_out(program: ast.Program) -> set[str]:
    """The words of a file that are in no statement and no comment: those of statements that did not parse.

    Predicates that these might have supplied are not reported as missing.
    """
    text, start, gaps = program.span.source.text, 0, []
    for statement in program.statements:
        if statement.span.source is not program.span.source:  # typed in a shell
            continue
        gaps.append(text[start : statement.span.start])
        start = statement.span.end
    words: set[str] = set()
    for gap in (*gaps, text[start:]):
        if not gap.isspace():
            words.update(_WORD.findall(_COMMENT.sub("", gap)))
    return words


def logic_of(statements: Sequence[ast.Statement]) -> ast.LogicName:
    """The logic that a file declares for itself, at whatever position in the file."""
    found: list[ast.LogicName] = [each.logic for each in statements if isinstance(each, ast.LogicStatement)]
    return found[0] if found else ast.DEFAULT_LOGIC
