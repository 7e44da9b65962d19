"""Converts what the functions of `lnnkit.editor` return into values of the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from lnnkit.editor.outline import OutlineItem
from lnnkit.editor.renaming import Edit
from lnnkit.editor.shown_findings import ShownFinding
from lnnkit.editor.suggestions import Suggestion
from lnnkit.editor.text_positions import Positions
from lnnkit.syntax.span import Span

SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
ITEMS = {
    "keyword": types.CompletionItemKind.Keyword,
    "predicate": types.CompletionItemKind.Function,
    "number": types.CompletionItemKind.Value,
    "sort": types.CompletionItemKind.Class,
    "logic": types.CompletionItemKind.EnumMember,
    "entity": types.CompletionItemKind.Constant,
    "variable": types.CompletionItemKind.Variable,
    "file": types.CompletionItemKind.File,
}
SYMBOLS = {
    "sort": types.SymbolKind.Class,
    "predicate": types.SymbolKind.Function,
    "number": types.SymbolKind.Number,
    "file": types.SymbolKind.File,
    "rule": types.SymbolKind.Method,
    "query": types.SymbolKind.Event,
}


def as_range(positions: Positions, start: int, end: int) -> types.Range:
    return types.Range(*(types.Position(*positions.position(offset)) for offset in (start, end)))


def as_location(uri: str, positions: Positions, span: Span) -> types.Location:
    return types.Location(uri, as_range(positions, span.start, span.end))


def as_diagnostic(positions: Positions, found: ShownFinding) -> types.Diagnostic:
    return types.Diagnostic(
        range=as_range(positions, found.start, found.end),
        message=found.message,
        severity=SEVERITIES[found.severity],
        code=found.code,
        source="lnnkit",
    )


def as_edits(positions: Positions, edits: Sequence[Edit]) -> list[types.TextEdit]:
    return [types.TextEdit(as_range(positions, each.start, each.end), each.text) for each in edits]


def as_item(positions: Positions, start: int, end: int, found: Suggestion) -> types.CompletionItem:
    return types.CompletionItem(
        label=found.text,
        kind=ITEMS[found.kind],
        label_details=types.CompletionItemLabelDetails(detail=found.detail) if found.detail else None,
        detail=f"{found.kind} {found.text}{found.detail}" if found.detail else found.kind,
        text_edit=types.TextEdit(as_range(positions, start, end), found.text),
    )


def as_symbol(positions: Positions, found: OutlineItem) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=found.name,
        kind=SYMBOLS[found.kind],
        range=as_range(positions, found.span.start, found.span.end),
        selection_range=as_range(positions, found.selected.start, found.selected.end),
        detail=found.detail or None,
    )
