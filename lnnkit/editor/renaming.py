"""Renames a predicate in all files, or refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lnnkit.editor.name_places import named, places
from lnnkit.editor.program_files import Linked, ProgramFile
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import is_name
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_predicate


class RenameRefused(Exception):
    """Why a predicate cannot be renamed like this."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces ``start:end``, in code points, by ``text``."""

    start: int
    end: int
    text: str


def rename(linked: Linked, name: str, wanted: str) -> dict[Path, list[Edit]]:
    """The edits of each file that rename the predicate ``name`` to ``wanted``, which is spelt as in a declaration.

    Raises `RenameRefused` if ``wanted`` is not a name or is taken, if a statement that does not parse may mention the
    predicate, and if any statement would then parse differently.
    """
    new = _new_name(wanted)
    if new == name:
        return {}
    _refuse_taken(linked, new)
    for file in linked.files:
        if name in file.broken:
            raise RenameRefused(
                f"a statement of {file.path.name} that mentions `{name}` has a syntax error: correct it first"
            )
    edits: dict[Path, list[Edit]] = {}
    for place in named(linked, "predicate", name):
        text = format_predicate(new)
        end = place.span.end
        if text.startswith('"') and _bare(place.statement, linked, end):
            text += "()"
        edits.setdefault(Path(place.span.source.path), []).append(Edit(place.span.start, end, text))
    _verify(linked, name, new, edits)
    return edits


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that do not overlap."""
    pieces, done = list[str](), 0
    for edit in sorted(edits, key=lambda each: each.start):
        pieces += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*pieces, text[done:]])


def _new_name(wanted: str) -> str:
    """The name that a text spells, possibly in quotes."""
    written = wanted.strip()
    program, findings = parse(f"predicate {written}")
    if findings:
        hint = f" ({findings[0].hint})" if findings[0].hint else ""
        raise RenameRefused(f"`{written}` is not a name: {findings[0].message}{hint}")
    match program.statements:
        case (ast.PredicateStatement(name=name, sorts=(), closed=False),) if "#" not in written or written[0] == '"':
            return name
    raise RenameRefused(f"`{written}` is not a name; in quotes it may hold anything")


def _refuse_taken(linked: Linked, new: str) -> None:
    for place in places(linked):
        if place.kind == "predicate" and place.name == new:
            raise RenameRefused(
                f"`{new}` is taken: {Path(place.span.source.path).name} line {place.span.line} names it"
            )
    for file in linked.files:
        if new in file.broken:
            raise RenameRefused(
                f"`{new}` may be taken: a statement of {file.path.name} with a syntax error mentions it"
            )


def _bare(statement: ast.Statement, linked: Linked, end: int) -> bool:
    """Whether the name that ends here stands alone in a formula, without parentheses."""
    if not isinstance(
        statement, ast.RuleStatement | ast.AxiomStatement | ast.QueryStatement | ast.FactStatement | ast.LabelStatement
    ):
        return False
    file = linked.file(statement.span.source.path)
    assert file is not None
    return not file.text[end:].lstrip().startswith("(")


def _verify(linked: Linked, name: str, new: str, edits: Mapping[Path, Sequence[Edit]]) -> None:
    """Parse the edited texts again and check that only the name has changed."""
    after = Linked(tuple(_after(file, edits.get(file.path, ())) for file in linked.files))
    for old, changed in zip(linked.files, after.files, strict=True):
        if len(changed.findings) > len(old.findings):
            said = next(each for each in changed.findings if each.message not in {one.message for one in old.findings})
            raise RenameRefused(f"`{new}` cannot stand in {old.path.name} line {said.line}: {said.message}")
    expected = Counter((new if each.name == name else each.name, each.kind, each.role) for each in places(linked))
    if expected != Counter((each.name, each.kind, each.role) for each in places(after)):
        kind = "a variable" if is_name(new) else "something else"
        raise RenameRefused(f"`{new}` would be read as {kind} in some place of `{name}`")


def _after(file: ProgramFile, edits: Sequence[Edit]) -> ProgramFile:
    if not edits:
        return file
    program, findings = parse(edited(file.text, edits), str(file.path))
    return ProgramFile(file.path, program, tuple(findings))
