"""Programs as an editor sees them: the open texts, and the files they import, open or on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lnnkit.check.named_files import left_out, logic_of, unread
from lnnkit.check.program import Predicate
from lnnkit.check.symbols import Entry, Symbols, gather
from lnnkit.check.variables import resolve_predicates
from lnnkit.data.files import in_lines, read_program
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.fault import Lexeme, lexemes
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.parse import parse


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """A parsed file. The text is that of the file, except that a lone carriage return becomes a line feed; spans refer
    to it."""

    path: Path
    program: ast.Program
    findings: tuple[Diagnostic, ...]

    @property
    def text(self) -> str:
        return self.program.span.source.text

    @cached_property
    def shadow(self) -> str:
        return shadow(self.text)

    @cached_property
    def broken(self) -> frozenset[str]:
        """The words of statements that do not parse."""
        return frozenset(left_out(self.program)) if self.findings else frozenset()

    @cached_property
    def names(self) -> frozenset[str]:
        """The predicates and numbers that the file mentions, and words that may be such names."""
        symbols = gather(_entries(self))
        return self.broken.union(symbols.uses, symbols.declared)

    def lexemes(self, span: Span) -> tuple[Lexeme, ...]:
        return lexemes(self.text, self.shadow, span.start, span.end)

    def span(self, lexeme: Lexeme) -> Span:
        """Where a lexeme of the file is."""
        return Span(self.program.span.source, lexeme.start, lexeme.end)

    def statement_at(self, offset: int) -> ast.Statement | None:
        """The statement that holds an offset, or ends there."""
        return next((known for known in self.program.statements if holds(known.span, offset)), None)

    def imports(self) -> Iterator[tuple[ast.ImportStatement, Path]]:
        for statement in self.program.statements:
            if isinstance(statement, ast.ImportStatement):
                yield statement, resolved(self.path.parent / statement.path)

    def tables(self) -> Iterator[tuple[ast.TableStatement, Path]]:
        for statement in self.program.statements:
            if isinstance(statement, ast.TableStatement):
                yield statement, resolved(self.path.parent / statement.table.path)


@dataclass(frozen=True, eq=False)
class Linked:
    """The file of a program and all files that it imports, each once."""

    files: tuple[ProgramFile, ...]

    @property
    def main(self) -> ProgramFile:
        return self.files[0]

    @cached_property
    def symbols(self) -> Symbols:
        """The checker's index of all files; no table is read."""
        symbols = unread(gather([entry for file in self.files for entry in _entries(file)]))
        return replace(symbols, left_out=frozenset(word for file in self.files for word in file.broken))

    @cached_property
    def predicates(self) -> Mapping[str, Predicate]:
        """Every predicate and number, with the sorts of its arguments."""
        return resolve_predicates(self.symbols)


class Library:
    """The files as last read, so that each text is parsed once. ``opened`` holds the texts of open documents, which
    take precedence over files on disk."""

    def __init__(self) -> None:
        self.opened: dict[Path, str] = {}
        self._files: dict[Path, tuple[str, ProgramFile]] = {}
        self._linked: dict[Path, Linked] = {}

    def linked(self, path: Path) -> Linked | None:
        """The program of a file; None if it cannot be read."""
        main = self.file(path)
        if main is None:
            return None
        files = [main]
        for file in files:  # which grows
            for _, imported in file.imports():
                if all(other.path != imported for other in files) and (parsed := self.file(imported)):
                    files.append(parsed)
        known = self._linked.get(main.path)
        if known is None or [id(file) for file in known.files] != [id(file) for file in files]:
            known = self._linked[main.path] = Linked(tuple(files))
        return known

    def file(self, path: Path) -> ProgramFile | None:
        """One file; None if it cannot be read."""
        path = resolved(path)
        text = self.opened[path] if path in self.opened else read_program(path)[0]
        if text is None:
            return None
        known = self._files.get(path)
        if known is None or known[0] != text:
            known = self._files[path] = text, parsed_file(path, in_lines(text))
        return known[1]

    def affected(self, path: Path, name: str) -> Linked | None:
        """The files in which a predicate of ``path`` may occur: those of its program, and those of every open program
        that shares with it a file that mentions the name."""
        linked = self.linked(path)
        if linked is None:
            return None
        files = {file.path: file for file in linked.files}
        programs = [program for opened in self.opened if (program := self.linked(opened))]
        while True:
            naming = {file.path for file in files.values() if name in file.names}
            more = {
                file.path: file
                for program in programs
                if naming & {file.path for file in program.files}
                for file in program.files
                if file.path not in files
            }
            if not more:
                return Linked(tuple(files.values()))
            files |= more


def parsed_file(path: Path, text: str) -> ProgramFile:
    """The file with this text."""
    program, findings = parse(text, str(path))
    return ProgramFile(path, program, tuple(findings))


def line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the line of a range begins and ends."""
    after = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if after < 0 else after


def holds(span: Span, offset: int) -> bool:
    """Whether a cursor at an offset is in a range, or right behind it."""
    return span.start <= offset <= span.end


def resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError):  # a null character in a path that is being typed
        return path


def _entries(file: ProgramFile) -> list[Entry]:
    logic = logic_of(file.program.statements)
    return [Entry(statement, file.path.parent, logic) for statement in file.program.statements]
