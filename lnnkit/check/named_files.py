"""The other files that a program names: each import is included once, where it is first, with its own folder and logic;
tables are read through ``lnnkit.data``. Warns of two columns of one sort that share no name, though nearly all would be
shared but for leading zeros, outer blanks or case: ``007`` in one table, ``7`` in the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.check.findings import error
from lnnkit.check.predicates import arity_of
from lnnkit.check.program import ENTITY
from lnnkit.check.symbols import Entry, Symbols
from lnnkit.check.variables import grouped
from lnnkit.data.files import is_table, nearest_file
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_predicate, format_string

if TYPE_CHECKING:
    from lnnkit.data.load import Sheets
    from lnnkit.data.table import FactTable

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
    _merge(program, base, {known[0] if known else path: path.name or str(path)}, set(known), merged)
    return merged


def _merge(program: ast.Program, base: Path, trail: dict[Path, str], seen: set[Path], merged: Merged) -> None:
    """Add a file's statements; ``trail`` has the names of the files that import it, ``seen`` all that were imported."""
    logic = logic_of(program.statements)
    merged.left_out |= left_out(program)
    for statement in program.statements:
        if not isinstance(statement, ast.ImportStatement):
            merged.entries.append(Entry(statement, base, logic))
            continue
        path = base / statement.path
        identity = path.resolve()
        if identity in trail:
            circle = " -> ".join([*list(trail.values())[list(trail).index(identity) :], path.name])
            message = f"these files import each other: {circle}"
            hint = "take one of these imports out, or move what both need into a third file"
            merged.diagnostics.append(error("import-cycle", statement.span, message, hint))
        elif identity not in seen:
            seen.add(identity)
            imported = _read(statement, path)
            if isinstance(imported, Diagnostic):
                merged.diagnostics.append(imported)
                merged.whole = False
            else:
                merged.diagnostics += imported[1]
                _merge(imported[0], path.parent, {**trail, identity: path.name}, seen, merged)


def _read(statement: ast.ImportStatement, path: Path) -> tuple[ast.Program, list[Diagnostic]] | Diagnostic:
    """The file with its syntax errors, or why it cannot be read."""
    from lnnkit.syntax.parse import parse  # lark is loaded only by programs that import others

    span, code = statement.span, "import-unreadable"
    if is_table(path) and path.is_file():
        hint = f"read it instead: `load P from {format_string(statement.path)}`"
        return error("table-as-program", span, f"`{path}` is a table, not a program", hint)
    try:
        return parse(path.read_text(encoding="utf-8-sig"), str(path))
    except FileNotFoundError:
        hint = nearest_file(path if path.suffix else path.with_suffix(".lnn"))
        return error("import-not-found", span, f"there is no file `{path}` to import", hint)
    except UnicodeDecodeError as fault:
        return error(code, span, f"`{path}` is not UTF-8 text (byte {fault.start})", "save it as UTF-8")
    except OSError as fault:
        message = f"`{path}` cannot be read: {fault.strerror or fault}"
        return error(code, span, message, "name a .lnn file that can be read")


def left_out(program: ast.Program) -> set[str]:
    """The words of a file that are in no statement and no comment: those of statements that did not parse. Predicates
    that these might have supplied are not reported as missing."""
    source = program.span.source
    spans = [statement.span for statement in program.statements if statement.span.source is source]  # not a shell's
    ends = zip([0, *(span.end for span in spans)], [*(span.start for span in spans), len(source.text)], strict=True)
    gaps = (source.text[start:end] for start, end in ends)
    return {word for gap in gaps if not gap.isspace() for word in _WORD.findall(_COMMENT.sub("", gap))}


def logic_of(statements: Sequence[ast.Statement]) -> ast.LogicName:
    """The logic that a file declares for itself, at whatever position in the file."""
    logics: list[ast.LogicName] = [stated.logic for stated in statements if isinstance(stated, ast.LogicStatement)]
    return logics[0] if logics else ast.DEFAULT_LOGIC


READING = frozenset({"load", "from"})
"""Keywords of statements that read tables; a statement with a syntax error that contains one may have named a table."""


def read_tables(symbols: Symbols, left: Collection[str] = ()) -> tuple[Symbols, list[Diagnostic]]:
    """The program with its tables, and the findings about the files. Files of the predicates in ``left`` are not
    opened."""
    every = [(item.statement, item.base) for item in symbols.entries if isinstance(item.statement, ast.TableStatement)]
    wanted = [(statement, base) for statement, base in every if statement.name not in left]
    if len(wanted) < len(every):
        symbols = unread(symbols)
    if not wanted:
        return symbols, []
    from lnnkit.data.grid import Load  # numpy and Arrow are loaded only by programs with data
    from lnnkit.data.load import Sheets, key_of, read_table

    tables: list[FactTable] = []
    labels: list[FactTable] = []
    diagnostics: dict[Diagnostic, Diagnostic] = {}  # those about a file are given once, however many statements read it
    arities, complete = dict(symbols.arities), symbols.complete
    sheets = Sheets(key_of(statement.table, base) for statement, base in wanted)
    for statement, base in wanted:
        name, table = statement.name, statement.table
        arity = arity_of(symbols, name)
        if arity is None:
            arity = arities.setdefault(name, _width(table, base, sheets))
        closed = name in symbols.declared and symbols.declared[name].closed
        gaps = "skipped" if isinstance(statement, ast.LabelTableStatement) else "refused" if closed else "unknown"
        numeric, negated = name in symbols.numbers and symbols.declared[name].numeric, statement.negated
        facts, findings = read_table(Load(name, arity, numeric, table, base, statement.span, negated, gaps), sheets)
        for finding in findings:
            diagnostics.setdefault(finding if finding.file is None else replace(finding, span=None), finding)
        complete = complete and not any(finding.severity == "error" for finding in findings)
        if facts is not None:
            (tables if isinstance(statement, ast.LoadStatement) else labels).append(facts)
    read = replace(symbols, tables=tuple(tables), label_tables=tuple(labels), complete=complete, arities=arities)
    return read, list(diagnostics.values())


def _width(table: ast.Table, base: Path, sheets: Sheets) -> int:
    """The arity of a predicate that only a table mentions: all columns are arguments."""
    from lnnkit.data.files import Unreadable

    if table.read is not None:
        return len(table.read)
    try:
        return len(sheets.sheet(table, base).names)
    except Unreadable:
        return 1  # reading the table reports it


def unread(symbols: Symbols) -> Symbols:
    """The program without opening its files; their contents count as unknown."""
    loads = list(symbols.statements(ast.LoadStatement, ast.LabelTableStatement))
    arities = {load.name: len(load.table.read) for load in loads if load.table.read is not None}
    return replace(symbols, complete=symbols.complete and not loads, arities=arities)


_MOST = 200_000  # names of a column that are compared: 0.1 CPU seconds
_SAMPLE = 1_000  # names of one column that are looked for in the other
_NEARLY = 0.9


def unjoined(symbols: Symbols) -> Iterator[Diagnostic]:
    warned: set[tuple[object, object]] = set()
    used: dict[int, _Used] = {}
    for pair in _pairs(symbols):
        sources = pair[0][0].source, pair[1][0].source
        if sources in warned:
            continue
        for table, place in pair:
            if id(table.columns[place]) not in used:
                used[id(table.columns[place])] = _Used(table, place)
        one, other = (used[id(table.columns[place])] for table, place in pair)
        if not one.shares(other) and (finding := _spelled_apart(one, other)):
            warned.add(sources)
            yield finding


def _pairs(symbols: Symbols) -> Iterator[tuple[tuple[FactTable, int], tuple[FactTable, int]]]:
    """Columns of tables with one declared sort, or with a variable of one statement in both."""
    tables: dict[str, list[FactTable]] = {}
    for table in symbols.tables:
        tables.setdefault(table.predicate, []).append(table)
    groups: dict[object, dict[tuple[str, int], None]] = {}
    for name in tables:
        for place, sort in enumerate(symbols.resolved[name].sorts):
            if sort != ENTITY:
                groups.setdefault(sort, {})[name, place] = None
    for number, formula in enumerate(symbols.formulas if tables else ()):
        for variable, mentions in grouped(formula.mentions).items():
            for mention in mentions:
                if mention.atom is not None and mention.atom.name in tables:
                    groups.setdefault((number, variable), {})[mention.atom.name, mention.position] = None
    for group in groups.values():
        columns = [(table, place) for name, place in group for table in tables[name] if place < len(table.columns)]
        yield from combinations(columns, 2)


class _Used:
    """The names that occur in one column of a table."""

    def __init__(self, table: FactTable, place: int) -> None:
        import numpy as np

        self.table, self.column = table, table.columns[place]
        self.mask = np.zeros(len(self.column.names), bool)
        self.mask[self.column.codes] = True
        self.sample = self.names(_SAMPLE)

    def names(self, most: int) -> list[str]:
        """Up to about so many of its names."""
        (ids,) = self.mask.nonzero()
        return self.column.names.at(ids[:: max(1, len(ids) // most)], most)

    def shares(self, other: _Used) -> bool:
        """Whether some names are found in another column too; so is an empty column."""
        if not len(self.column) or not len(other.column):
            return True
        names = other.column.names
        places = (names.find(name) for name in self.sample)
        return any(place is not None and other.mask[place] for place in places)


def _spelled_apart(one: _Used, other: _Used) -> Diagnostic | None:
    if max(int(one.mask.sum()), int(other.mask.sum())) > _MOST:
        return None
    few, many = sorted((one.names(_MOST), other.names(_MOST)), key=len)
    spelled = {_alike(name): name for name in many}
    both = [(name, spelled[_alike(name)]) for name in few if _alike(name) in spelled]
    if not both or len(both) < _NEARLY * len(few):
        return None
    about = " and ".join(f"`{format_predicate(used.table.predicate)}`" for used in (one, other))
    names = f"{both[0][0]!r}, {both[0][1]!r}"
    message = f"{about} share no name, and would share nearly all but for leading zeros, blanks or case: {names}"
    hint = "write both alike: `trim` after both `load`s leaves out blanks, pandas zeros by `column.str.lstrip('0')`"
    return Diagnostic("unjoined-columns", message, hint, other.table.span, "warning")


def _alike(name: str) -> str:
    return name.strip().casefold().lstrip("0")
