"""Imports: every file once, at the place of its first import, with its own folder and its own logic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lnnkit.check.program import LogicName
from lnnkit.check.report import error
from lnnkit.check.symbols import Entry
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


def merge(program: ast.Program, base: Path) -> tuple[tuple[Entry, ...], list[Diagnostic]]:
    """The statements of a program and of all that it imports, in order."""
    entries: list[Entry] = []
    diagnostics: list[Diagnostic] = []
    path = Path(program.span.source.path)
    known = [candidate.resolve() for candidate in (path, base / path.name) if path.name and candidate.is_file()]
    trail = [(known[0] if known else path, path.name or str(path))]
    seen = set(known)
    _merge(program, base, trail, seen, entries, diagnostics)
    return tuple(entries), diagnostics


def _merge(
    program: ast.Program,
    base: Path,
    trail: list[tuple[Path, str]],
    seen: set[Path],
    entries: list[Entry],
    diagnostics: list[Diagnostic],
) -> None:
    logic = logic_of(program.statements)
    for statement in program.statements:
        if not isinstance(statement, ast.ImportStatement):
            entries.append(Entry(statement, base, logic))
            continue
        path = base / statement.path
        identity = path.resolve()
        names = [name for file, name in trail]
        cycle = next((index for index, (file, _) in enumerate(trail) if file == identity), None)
        if cycle is not None:
            circle = " -> ".join([*names[cycle:], path.name])
            hint = "take one of these imports out, or move what both need into a third file"
            diagnostics.append(error("import-cycle", statement.span, f"these files import each other: {circle}", hint))
        elif identity not in seen:
            seen.add(identity)
            imported = _read(statement, path, diagnostics)
            if imported is not None:
                _merge(imported, path.parent, [*trail, (identity, path.name)], seen, entries, diagnostics)


def _read(statement: ast.ImportStatement, path: Path, diagnostics: list[Diagnostic]) -> ast.Program | None:
    from lnnkit.syntax.parse import parse  # lark is loaded only by programs that import others

    span = statement.span
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        hint = "the path is relative to the folder of the file that imports it"
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


def logic_of(statements: Sequence[ast.Statement]) -> LogicName:
    """The logic that a file states for itself; its place in the file does not matter."""
    stated = (statement.logic for statement in statements if isinstance(statement, ast.LogicStatement))
    return next(stated, "lukasiewicz")
