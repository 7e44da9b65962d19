"""Where the names of a program (predicates, numbers, sorts, rules) occur, which one is under the cursor, and how
one is renamed everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from lnnkit.check.predicates import heads
from lnnkit.check.walk import visits
from lnnkit.editor.program_files import Linked, ProgramFile, holds, line_around, parsed_file
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span
from lnnkit.syntax.identifiers import is_name
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_predicate

NameRole = Literal["declaration", "conclusion", "condition", "query", "fact", "label", "load"]
NameKind = Literal["predicate", "sort", "rule"]
_ROLES: dict[type, NameRole] = {ast.FactStatement: "fact", ast.LabelStatement: "label", ast.QueryStatement: "query"}


@dataclass(frozen=True, slots=True)
class Place:
    """One occurrence of a name; the span covers the name as written. Numbers count as predicates here.

    An occurrence is a *conclusion* if its rule or axiom, read forwards, derives that atom.
    """

    kind: NameKind
    name: str
    role: NameRole
    span: Span
    statement: ast.Statement


@lru_cache(maxsize=4)
def places(linked: Linked) -> tuple[Place, ...]:
    """All occurrences in a program, file by file, in the order of the text."""
    uses = {
        (use.span.source.path, use.span.start)
        for group in linked.symbols.uses.values()
        for use in group
        if use.how not in ("load", "labels")
    }
    return tuple(
        place for file in linked.files for place in sorted(_places(file, uses), key=lambda place: place.span.start)
    )


def named(linked: Linked, kind: NameKind, name: str) -> list[Place]:
    return [place for place in places(linked) if place.kind == kind and place.name == name]


def at_cursor(linked: Linked, offset: int) -> Place | None:
    """The occurrence at an offset of the main file; the position right after a name belongs to it. In a statement that
    does not parse, a word that is a known predicate counts as a condition."""
    main = linked.main
    source = main.program.span.source
    for place in places(linked):
        if place.span.source.path == source.path and holds(place.span, offset):
            return place
    if main.statement_at(offset) is not None:
        return None
    for lexeme in main.lexemes(Span(source, *line_around(main.text, offset, offset))):
        span = main.span(lexeme)
        if holds(span, offset) and lexeme.text in linked.predicates:
            atom = ast.Atom(lexeme.text, span=span)
            return Place("predicate", lexeme.text, "condition", span, ast.QueryStatement(atom, span=span))
    return None


def ground_atom(linked: Linked, offset: int) -> ast.Atom | None:
    """The atom at an offset of the main file, if all its arguments are entities and it can be asked."""
    statement = linked.main.statement_at(offset)
    for atom in _atoms(statement) if statement else ():
        known = linked.predicates.get(atom.name) if holds(atom.span, offset) else None
        ground = not any(isinstance(argument, ast.Variable) for argument in atom.arguments)
        if known is not None and ground and len(atom.arguments) == known.arity:
            return atom
    return None


def target_file(linked: Linked, offset: int) -> str | None:
    """The path written at an offset of the main file, in an import or before the columns of a table."""
    main = linked.main
    statement = main.statement_at(offset)
    for lexeme in main.lexemes(statement.span) if statement else ():
        if lexeme.kind == "string" and holds(main.span(lexeme), offset):
            if isinstance(statement, ast.ImportStatement):
                return statement.path
            if isinstance(statement, ast.TableStatement):
                before = main.text[statement.span.start : lexeme.start].rstrip()
                return statement.table.path if before.endswith(("from", "database")) else None
    return None


def _places(file: ProgramFile, uses: set[tuple[str, int]]) -> Iterator[Place]:
    for statement in file.program.statements:
        match statement:
            case ast.PredicateStatement(name=name) | ast.NumberStatement(name=name):
                yield Place("predicate", name, "declaration", _word(file, statement.span, 1), statement)
                written = [word for word in file.lexemes(statement.span)[2:] if word.kind in ("word", "string")]
                for sort, word in zip(statement.sorts, written, strict=False):
                    yield Place("sort", sort, "condition", file.span(word), statement)
            case ast.SortStatement(name=name):
                yield Place("sort", name, "declaration", _word(file, statement.span, 1), statement)
            case ast.LoadStatement(name=name) | ast.LabelTableStatement(name=name):
                role = "load" if isinstance(statement, ast.LoadStatement) else "label"
                yield Place("predicate", name, role, _word(file, statement.span, 1), statement)
            case ast.RuleStatement(name=str(name)) | ast.AxiomStatement(name=str(name)):
                yield Place("rule", name, "declaration", _word(file, statement.span, 1), statement)
            case _:
                pass
        derived = heads(statement.formula) if isinstance(statement, ast.RuleOrAxiom) else ()
        concluded = {atom.span.start for atom in derived}
        for atom in _atoms(statement):
            start = atom.span.start
            if (atom.span.source.path, start) in uses:
                role = _ROLES.get(type(statement), "conclusion" if start in concluded else "condition")
                yield Place("predicate", atom.name, role, _word(file, atom.span, 0), statement)


def _word(file: ProgramFile, span: Span, number: int) -> Span:
    return file.span(file.lexemes(span)[number])


def _atoms(statement: ast.Statement) -> Iterator[ast.Atom]:
    if isinstance(statement, ast.AtomStatement):
        yield statement.atom
    elif isinstance(statement, ast.FormulaStatement):
        yield from (visit.node for visit in visits(statement.formula) if isinstance(visit.node, ast.Atom))


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
            reason = f"a statement of {file.path.name} that mentions `{name}` has a syntax error: correct it first"
            raise RenameRefused(reason)
    edits: dict[Path, list[Edit]] = {}
    texts = {str(file.path): file.text for file in linked.files}
    for place in named(linked, "predicate", name):
        path, end, text = place.span.source.path, place.span.end, format_predicate(new)
        inside = isinstance(place.statement, ast.FormulaStatement | ast.AtomStatement)
        if text.startswith('"') and inside and not texts[path][end:].lstrip().startswith("("):
            text += "()"  # a quoted text alone is no formula
        edits.setdefault(Path(path), []).append(Edit(place.span.start, end, text))
    _verify(linked, name, new, edits)
    return edits


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that do not overlap."""
    pieces, done = list[str](), 0
    for edit in sorted(edits, key=lambda edit: edit.start):
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
    for place in named(linked, "predicate", new)[:1]:
        where = f"{Path(place.span.source.path).name} line {place.span.line}"
        raise RenameRefused(f"`{new}` is taken: {where} names it")
    for file in linked.files:
        if new in file.broken:
            reason = f"`{new}` may be taken: a statement of {file.path.name} with a syntax error mentions it"
            raise RenameRefused(reason)


def _verify(linked: Linked, name: str, new: str, edits: Mapping[Path, Sequence[Edit]]) -> None:
    """Parse the edited texts again and check that only the name has changed."""
    after = Linked(tuple(parsed_file(file.path, edited(file.text, edits.get(file.path, ()))) for file in linked.files))
    for old, changed in zip(linked.files, after.files, strict=True):
        if len(changed.findings) > len(old.findings):
            known = {finding.message for finding in old.findings}
            first = next(finding for finding in changed.findings if finding.message not in known)
            raise RenameRefused(f"`{new}` cannot stand in {old.path.name} line {first.line}: {first.message}")
    expected = Counter((new if place.name == name else place.name, place.kind, place.role) for place in places(linked))
    if expected != Counter((place.name, place.kind, place.role) for place in places(after)):
        kind = "a variable" if is_name(new) else "something else"
        raise RenameRefused(f"`{new}` would be read as {kind} in some place of `{name}`")
