"""What an editor shows of a program: the Markdown text of a hover over a name, and the outline of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lnnkit.check.predicates import supplied
from lnnkit.check.program import CheckedProgram
from lnnkit.editor.name_places import Place, named
from lnnkit.editor.program_files import Linked, ProgramFile
from lnnkit.markup.pages import counted, shortened
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span
from lnnkit.syntax.printer import format_sorts, format_statement

_SHOWN = 8  # greatest number of rules listed for a predicate
_RULE, _ITEM = 200, 80  # greatest length of a rule's text, and of a name in the outline


def hover_text(linked: Linked, place: Place, checked: CheckedProgram | None, bounds: str = "") -> str:
    """What is known about the name: for a predicate its declaration, the rules that conclude it, and its facts.

    ``checked`` is the program when it was last checked without errors, including the rows of its tables. ``bounds`` is
    a text about the atom under the cursor.
    """
    match place.kind:
        case "predicate":
            parts = [bounds, *_predicate(linked, place.name, checked)]
        case "sort":
            parts = _sort(linked, place.name)
        case _:
            parts = [_block(place.statement.span.text), f"on {_where(linked, place.span)}"]
    return "\n\n".join(part for part in parts if part)


def _predicate(linked: Linked, name: str, checked: CheckedProgram | None) -> list[str]:
    places = named(linked, "predicate", name)
    known = linked.predicates.get(name)
    if known is None or (name not in supplied(linked.symbols)[0] and not linked.symbols.doubtful(name)):
        return [f"`{name}`: nothing supplies it: it has no fact, table or rule, and is not declared"]
    if checked is not None and name in checked.predicates and not known.sorts:
        known = checked.predicates[name]  # its number of arguments may be known from a table alone
    declaration = next((place for place in places if place.role == "declaration"), None)
    if declaration is not None:
        written = format_statement(declaration.statement)
        origin = f"declared on {_where(linked, declaration.span)}"
    else:
        written = format_statement(ast.PredicateStatement(name, known.sorts, known.closed, span=places[0].span))
        origin = "not declared; its sorts are inferred" if known.sorts else "not declared"
    meaning = "open: what is not listed is unknown"
    if known.numeric:
        absent = "has no value" if known.closed else "is unknown"
        meaning = f"a {'date' if known.numeric == 'date' else 'number'}: what is not listed {absent}"
    elif known.closed:
        meaning = "closed: what is not listed and does not follow is false"
    rules = [place for place in places if place.role == "conclusion"]
    return [_block(written), f"{origin}; {meaning}", _rules(linked, rules), _facts(places, name, checked)]


def _rules(linked: Linked, concluding: Sequence[Place]) -> str:
    if not concluding:
        return "No rule concludes it."
    lines: list[str] = []
    for place in {id(place.statement): place for place in concluding}.values():
        text = shortened(place.statement.span.on_one_line.replace("`", "'"), _RULE)
        lines.append(f"- `{text}` ({_where(linked, place.span)})")
    more = [f"- and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(["Concluded by", *lines[:_SHOWN], *more])


def _facts(places: Sequence[Place], name: str, checked: CheckedProgram | None) -> str:
    written = sum(place.role == "fact" for place in places)
    loads = [place.statement for place in places if isinstance(place.statement, ast.LoadStatement)]
    files = ", ".join(dict.fromkeys(f"`{load.table.origin}`" for load in loads))
    if not loads:
        return counted(written, "fact")
    if checked is None:
        return f"{counted(written, 'fact')} in the text, and the rows of {files} (not read: the program has errors)"
    rows = sum(len(table) for table in checked.tables if table.predicate == name)
    return f"{counted(written + rows, 'fact')}, {rows:,} of them from {files}"


def _sort(linked: Linked, name: str) -> list[str]:
    places = named(linked, "sort", name)
    declared = next((place for place in places if isinstance(place.statement, ast.SortStatement)), None)
    head = format_statement(declared.statement if declared else ast.SortStatement(name, span=places[0].span))
    origin = "" if declared else "not declared, which it need not be"
    users = dict.fromkeys(place.statement.name for place in places if isinstance(place.statement, ast.Declaration))
    return [_block(head), origin, f"Arguments of {', '.join(f'`{user}`' for user in users)}" if users else ""]


def _where(linked: Linked, span: Span) -> str:
    file = "" if span.source.path == str(linked.main.path) else f"{Path(span.source.path).name} "
    return f"{file}line {span.line}"


def _block(text: str) -> str:
    return f"```lnn\n{text}\n```"


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """``name`` may be the text of a statement; ``selected`` is the range that the cursor moves to."""

    kind: Literal["sort", "predicate", "number", "file", "rule", "query"]
    name: str
    detail: str
    span: Span
    selected: Span


def outline(file: ProgramFile) -> Iterator[OutlineItem]:
    """The items in the order of the text."""
    for statement in file.program.statements:
        span = statement.span
        keyword, *rest = file.lexemes(span)
        selected = Span(span.source, rest[0].start, rest[0].end) if rest else span
        after = shortened(" ".join(span.text[len(keyword.text) :].split()), _ITEM)
        match statement:
            case ast.SortStatement():
                yield OutlineItem("sort", statement.name, "open" if statement.open else "", span, selected)
            case ast.PredicateStatement() | ast.NumberStatement():
                number = isinstance(statement, ast.NumberStatement)
                detail = f"{format_sorts(statement.sorts)}{' closed' if statement.closed else ''}".strip()
                yield OutlineItem("number" if number else "predicate", statement.name, detail, span, selected)
            case ast.ImportStatement() | ast.LoadStatement() | ast.LabelTableStatement():
                yield OutlineItem("file", f"{keyword.text} {after}", "", span, selected)
            case ast.RuleStatement() | ast.AxiomStatement():
                yield OutlineItem("rule", statement.name or after, keyword.text, span, selected)
            case ast.QueryStatement():
                yield OutlineItem("query", after, "query", span, selected)
            case _:
                pass
