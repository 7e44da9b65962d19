"""The Markdown text shown when the cursor hovers over a name."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.check.predicates import supplied
from lnnkit.check.program import CheckedProgram
from lnnkit.editor.name_places import Place, named
from lnnkit.editor.program_files import Linked
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_statement
from lnnkit.syntax.span import Span

SHOWN = 8  # greatest number of rules listed for a predicate
WIDEST = 200  # greatest length of a rule's text


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
            parts = [_rule(linked, place)]
    return "\n\n".join(part for part in parts if part)


def _predicate(linked: Linked, name: str, checked: CheckedProgram | None) -> list[str]:
    found = named(linked, "predicate", name)
    known = linked.predicates.get(name)
    if known is None or (name not in supplied(linked.symbols)[0] and not linked.symbols.doubtful(name)):
        return [f"`{name}`: nothing supplies it: it has no fact, table or rule, and is not declared"]
    if checked is not None and name in checked.predicates and not known.sorts:
        known = checked.predicates[name]  # its number of arguments may be known from a table alone
    declaration = next((place for place in found if place.role == "declaration"), None)
    if declaration is not None:
        written = format_statement(declaration.statement)
        said = f"declared on {_where(linked, declaration.span)}"
    else:
        written = format_statement(ast.PredicateStatement(name, known.sorts, known.closed, span=found[0].span))
        said = "not declared; its sorts are inferred" if known.sorts else "not declared"
    kind = "a number" if known.numeric else f"{'closed' if known.closed else 'open'}"
    unlisted = "what is not listed is unknown"
    if known.closed or known.numeric:
        unlisted = "what is not listed and does not follow is false" if known.closed else "an unlisted value is unknown"
    rules = [place for place in found if place.role == "conclusion"]
    return [_block(written), f"{said}; {kind}: {unlisted}", _rules(linked, rules), _facts(found, name, checked)]


def _rules(linked: Linked, concluding: Sequence[Place]) -> str:
    statements = list({id(place.statement): place for place in concluding}.values())
    if not statements:
        return "No rule concludes it."
    lines = [
        f"- `{_shortened(place.statement.span.on_one_line)}` ({_where(linked, place.span)})"
        for place in statements[:SHOWN]
    ]
    if len(statements) > SHOWN:
        lines.append(f"- and {len(statements) - SHOWN} more")
    return "Concluded by\n" + "\n".join(lines)


def _facts(found: Sequence[Place], name: str, checked: CheckedProgram | None) -> str:
    written = sum(place.role == "fact" for place in found)
    loads = [place.statement for place in found if isinstance(place.statement, ast.LoadStatement)]
    files = ", ".join(dict.fromkeys(f"`{load.table.origin}`" for load in loads))
    counted = f"{written:,} fact{'' if written == 1 else 's'}"
    if not loads:
        return counted
    if checked is None:
        return f"{counted} in the text, and the rows of {files} (not read: the program has errors)"
    rows = sum(len(table) for table in checked.tables if table.predicate == name)
    total = written + rows
    return f"{total:,} fact{'' if total == 1 else 's'}, {rows:,} of them from {files}"


def _sort(linked: Linked, name: str) -> list[str]:
    found = named(linked, "sort", name)
    declared = next((place for place in found if isinstance(place.statement, ast.SortStatement)), None)
    head = format_statement(declared.statement if declared else ast.SortStatement(name, span=found[0].span))
    said = "" if declared else "not declared, which it need not be"
    users = dict.fromkeys(
        place.statement.name
        for place in found
        if isinstance(place.statement, ast.PredicateStatement | ast.NumberStatement)
    )
    return [_block(head), said, f"Arguments of {', '.join(f'`{user}`' for user in users)}" if users else ""]


def _rule(linked: Linked, place: Place) -> str:
    return f"{_block(place.statement.span.text)}\n\non {_where(linked, place.span)}"


def _where(linked: Linked, span: Span) -> str:
    if span.source.path == str(linked.main.path):
        return f"line {span.line}"
    other = linked.file(span.source.path)
    return f"{other.path.name if other else span.source.path} line {span.line}"


def _block(text: str) -> str:
    return f"```lnn\n{text}\n```"


def _shortened(text: str) -> str:
    text = text.replace("`", "'")
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
