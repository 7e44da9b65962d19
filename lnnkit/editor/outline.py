"""The outline of a file: what it declares, loads, states and asks. Facts and labels are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lnnkit.editor.program_files import ProgramFile
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

WIDEST = 80  # greatest length of a name in the outline


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
        after = _shortened(span.text[len(keyword.text) :])
        match statement:
            case ast.SortStatement():
                yield OutlineItem("sort", statement.name, "open" if statement.open else "", span, selected)
            case ast.PredicateStatement():
                signature = f"({', '.join(statement.sorts)})" if statement.sorts else ""
                detail = f"{signature}{' closed' if statement.closed else ''}".strip()
                yield OutlineItem("predicate", statement.name, detail, span, selected)
            case ast.NumberStatement():
                signature = f"({', '.join(statement.sorts)})" if statement.sorts else ""
                yield OutlineItem("number", statement.name, signature, span, selected)
            case ast.ImportStatement() | ast.LoadStatement() | ast.LabelTableStatement():
                yield OutlineItem("file", f"{keyword.text} {after}", "", span, selected)
            case ast.RuleStatement() | ast.AxiomStatement():
                yield OutlineItem("rule", statement.name or after, keyword.text, span, selected)
            case ast.QueryStatement():
                yield OutlineItem("query", after, "query", span, selected)
            case _:
                pass


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
