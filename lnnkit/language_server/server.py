"""The language server: passes each request to a function of `lnnkit.editor`, and sends back its result."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from lnnkit import __version__
from lnnkit.editor.descriptions import hover_text, outline
from lnnkit.editor.name_places import Place, RenameRefused, at_cursor, ground_atom, named, rename, target_file
from lnnkit.editor.program_files import Library, Linked, ProgramFile, parsed_file, resolved
from lnnkit.editor.shown_findings import quick_fixes, shown_findings
from lnnkit.editor.suggestions import suggestions, word_start
from lnnkit.language_server.inference_client import InferenceClient
from lnnkit.language_server.open_document import OpenDocument, Positions, as_diagnostic, as_edits, as_item, as_symbol
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression
from lnnkit.syntax.tidy import tidy

REQUEST_FAILED = -32803


class Cursor(Protocol):
    """A request about a position in a document."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class LnnServer(LanguageServer):
    """Documents are sent whole with each change: pygls applies partial changes by Python's line ends, only some of
    which the protocol knows."""

    def __init__(self) -> None:
        super().__init__("lnnkit", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.library = Library()
        self.documents: dict[str, OpenDocument] = {}
        self.inference = InferenceClient()

    # --- documents --------------------------------------------------------------------------------------------------

    def opened(self, uri: str) -> None:
        path = path_of(uri)
        self.library.opened[path] = self.workspace.get_text_document(uri).source
        self.documents[uri] = OpenDocument(uri, path, partial(self.library.file, path), self.publish)
        self.documents[uri].changed()

    def edited(self, uri: str) -> None:
        if document := self.documents.get(uri):
            self.inference.cancel()
            self.library.opened[document.path] = self.workspace.get_text_document(uri).source
            document.changed()

    def saved(self) -> None:
        """Check all open documents again, since one may import another."""
        for document in self.documents.values():
            document.changed(saved=True)

    def closed(self, uri: str) -> None:
        if document := self.documents.pop(uri, None):
            document.closed = True
            self.library.opened.pop(document.path, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def publish(self, document: OpenDocument, file: ProgramFile, findings: Sequence[Diagnostic]) -> None:
        positions = self.positions(file)
        shown = [as_diagnostic(positions, finding) for finding in shown_findings(findings, file, self.library)]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, shown))

    # --- places -----------------------------------------------------------------------------------------------------

    def positions(self, file: ProgramFile) -> Positions:
        return Positions(file.text, types.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value)

    def program(self, uri: str) -> Linked:
        """The program of a document; one that cannot be read is empty."""
        path = path_of(uri)
        return self.library.linked(path) or Linked((parsed_file(path, ""),))

    def cursor(self, params: Cursor) -> tuple[Linked, int]:
        """The program of a document and the offset in it."""
        linked = self.program(params.text_document.uri)
        return linked, self.positions(linked.main).offset(params.position.line, params.position.character)

    def place(self, params: Cursor) -> tuple[Linked, Place | None]:
        linked, offset = self.cursor(params)
        return linked, at_cursor(linked, offset)

    def locations(self, linked: Linked, places: Sequence[Place]) -> list[types.Location]:
        positions = {str(file.path): self.positions(file) for file in linked.files}
        ranges = [positions[place.span.source.path].range(place.span.start, place.span.end) for place in places]
        return [
            types.Location(self.uri(Path(place.span.source.path)), extent)
            for place, extent in zip(places, ranges, strict=True)
        ]

    def uri(self, path: Path) -> str:
        """The URI of a file, spelt as the editor spells it if the file is open there."""
        return next((document.uri for document in self.documents.values() if document.path == path), path.as_uri())

    # --- answers ----------------------------------------------------------------------------------------------------

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        linked, offset = self.cursor(params)
        document = self.documents.get(params.text_document.uri)
        place, atom = at_cursor(linked, offset), ground_atom(linked, offset)
        bounds = ""
        if atom is not None and document is not None:
            query = format_expression(atom, as_written=True)
            bounds = await document.bounds(query, linked.main.text, self.inference)
        checked = document.program if document else None
        text = hover_text(linked, place, checked, bounds) if place else bounds
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    def definition(self, params: types.DefinitionParams) -> list[types.Location]:
        linked, offset = self.cursor(params)
        path = target_file(linked, offset)
        if path is not None:
            target = resolved(linked.main.path.parent / path)
            start = types.Range(types.Position(0, 0), types.Position(0, 0))
            return [types.Location(self.uri(target), start)] if target.is_file() else []
        place = at_cursor(linked, offset)
        return self.locations(linked, _defining(linked, place)) if place else []

    def references(self, params: types.ReferenceParams) -> list[types.Location]:
        """All occurrences; the rules that conclude the predicate come first."""
        linked, place = self.place(params)
        if place is None:
            return []
        linked = self.library.affected(linked.main.path, place.name) or linked
        roles = {"declaration"} if not params.context.include_declaration else set[str]()
        every = [other for other in named(linked, place.kind, place.name) if other.role not in roles]
        return self.locations(linked, sorted(every, key=lambda other: other.role != "conclusion"))

    def concluding(self, params: types.ImplementationParams) -> list[types.Location]:
        """The rules that conclude the predicate."""
        linked, place = self.place(params)
        every = named(linked, place.kind, place.name) if place else []
        return self.locations(linked, [other for other in every if other.role == "conclusion"])

    def renamable(self, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        linked, place = self.place(params)
        if place is None or place.kind != "predicate":
            return None
        extent = self.positions(linked.main).range(place.span.start, place.span.end)
        return types.PrepareRenamePlaceholder(extent, place.span.text)

    async def renamed(self, params: types.RenameParams) -> types.WorkspaceEdit:
        linked, place = self.place(params)
        if place is None or place.kind != "predicate":
            raise JsonRpcException("only predicates and numbers can be renamed", REQUEST_FAILED)
        linked = self.library.affected(linked.main.path, place.name) or linked
        try:
            edits = await asyncio.to_thread(rename, linked, place.name, params.new_name)
        except RenameRefused as refused:
            raise JsonRpcException(str(refused), REQUEST_FAILED) from None
        positions = {file.path: self.positions(file) for file in linked.files}
        changes = {self.uri(path): as_edits(positions[path], file_edits) for path, file_edits in edits.items()}
        return types.WorkspaceEdit(changes=changes)

    def formatted(self, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        file = self.program(params.text_document.uri).main
        text, findings = tidy(file.text, str(file.path))
        if findings or text == file.text.replace("\r\n", "\n"):
            return []
        return [types.TextEdit(self.positions(file).range(0, len(file.text)), text)]

    def symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        file = self.program(params.text_document.uri).main
        positions = self.positions(file)
        return [as_symbol(positions, entry) for entry in outline(file)]

    async def fixes(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The quick fixes of the findings on the lines of a range."""
        uri, fixes = params.text_document.uri, list[types.CodeAction]()
        document = self.documents.get(uri)
        if document is None:
            return fixes
        await document.checked()
        for finding in document.findings:
            file = self.library.file(document.path)
            if file is None or finding.span is None or finding.span.source.text != file.text:
                continue  # about another file, or of an earlier text
            positions, (shown,) = self.positions(file), shown_findings([finding], file, self.library)
            at = positions.range(shown.start, shown.end)
            if at.end.line < params.range.start.line or params.range.end.line < at.start.line:
                continue
            for fix in await asyncio.to_thread(quick_fixes, file.text, finding, document.trial):
                edit = types.WorkspaceEdit(changes={uri: as_edits(positions, [fix.edit])})
                about = [as_diagnostic(positions, shown)]
                fixes.append(types.CodeAction(fix.title, types.CodeActionKind.QuickFix, about, edit=edit))
        return fixes

    def completion(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        linked, offset = self.cursor(params)
        positions, start = self.positions(linked.main), word_start(linked, offset)
        document = self.documents.get(params.text_document.uri)
        offered = suggestions(linked, offset, document.program if document else None)
        return [as_item(positions, start, offset, suggestion) for suggestion in offered]


def _defining(linked: Linked, place: Place) -> list[Place]:
    """The declaration of a name; without one, the rules that conclude it; without these, its facts and tables."""
    if place.kind == "rule":
        return [place]
    every = named(linked, place.kind, place.name)
    for role in ("declaration", "conclusion", "load", "fact"):
        if places := [other for other in every if other.role == role]:
            return places[:1] if role == "fact" else places
    return every[:1]


def path_of(uri: str) -> Path:
    """The file of a document. An unsaved one gets the name of a file in the working folder that does not exist."""
    path = to_fs_path(uri)
    return resolved(Path(path) if path else Path.cwd() / quote(uri, safe=""))


def make_server() -> LnnServer:
    """The server with all its features registered."""
    server = LnnServer()
    completing = types.CompletionOptions(trigger_characters=["(", ",", '"', "/"])
    features: tuple[tuple[str, Callable[..., object], object], ...] = (
        (types.TEXT_DOCUMENT_DID_OPEN, lambda params: server.opened(params.text_document.uri), None),
        (types.TEXT_DOCUMENT_DID_CHANGE, lambda params: server.edited(params.text_document.uri), None),
        (types.TEXT_DOCUMENT_DID_SAVE, lambda params: server.saved(), None),
        (types.TEXT_DOCUMENT_DID_CLOSE, lambda params: server.closed(params.text_document.uri), None),
        (types.TEXT_DOCUMENT_HOVER, server.hover, None),
        (types.TEXT_DOCUMENT_DEFINITION, server.definition, None),
        (types.TEXT_DOCUMENT_IMPLEMENTATION, server.concluding, None),
        (types.TEXT_DOCUMENT_REFERENCES, server.references, None),
        (types.TEXT_DOCUMENT_PREPARE_RENAME, server.renamable, None),
        (types.TEXT_DOCUMENT_RENAME, server.renamed, types.RenameOptions(prepare_provider=True)),
        (types.TEXT_DOCUMENT_FORMATTING, server.formatted, None),
        (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, server.symbols, None),
        (types.TEXT_DOCUMENT_COMPLETION, server.completion, completing),
        (types.TEXT_DOCUMENT_CODE_ACTION, server.fixes, types.CodeActionOptions([types.CodeActionKind.QuickFix])),
        (types.SHUTDOWN, server.inference.ended, None),
    )
    for feature, answer, options in features:
        # pygls sets attributes of what it is given: of a partial it can, of a method it cannot
        server.feature(feature, options)(partial(answer))
    return server


def serve() -> None:
    """Serve on standard input and output until the client says ``exit``."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # standard error is shown to users by some editors
    server = make_server()
    writing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")  # a copy, since pygls closes it
    try:
        with redirect_stdout(sys.stderr):  # what others print is no message
            server.start_io(sys.stdin.buffer, writing)
    finally:
        server.inference.end()
