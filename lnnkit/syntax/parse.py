"""Text -> abstract syntax and diagnostics; never raises on bad input."""

from __future__ import annotations

import re

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from lnnkit.syntax import ast
from lnnkit.syntax.build import AstBuilder, Rejected
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.grammar import parser
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.span import QUERY, Source, Span, as_source
from lnnkit.syntax.split import Slice, split

_SUSPECT = re.compile(r"""--|(?:rule|axiom)\s+(?:"[^"\n]*"|[^\s:()]+)\s*:?=""")


def parse(text: str, path: str = "<string>") -> tuple[ast.Program, list[Diagnostic]]:
    """The program that ``text`` holds and all its syntax errors; a statement with an error is left out.

    ``path`` is shown in diagnostics. A byte order mark is dropped, so spans count from the first character after it.
    """
    source = as_source(path, text)
    parts, diagnostics = parse_parts(source)
    version = next((node for _, node in parts if isinstance(node, int)), None)
    statements = tuple([node for _, node in parts if not isinstance(node, int)])
    return ast.Program(span=Span(source, 0, len(source.text)), statements=statements, version=version), diagnostics


def parse_parts(source: Source) -> tuple[list[tuple[Slice, ast.Statement | int]], list[Diagnostic]]:
    """As `parse`, but each statement comes with its slice of the text; a version in the first line comes as an
    ``int``."""
    reader = _Reader(source)
    parts: list[tuple[Slice, ast.Statement | int]] = []
    for index, piece in enumerate(split(reader.shadow)):
        tree = reader.tree(piece, "statement")
        if tree is None:
            continue
        if (mistake := reader.misread(piece)) is not None:
            reader.diagnostics.append(mistake)
            continue
        builder = AstBuilder(source, piece.start)
        try:
            if tree.data != "version":
                parts.append((piece, builder.statement(tree)))
            elif index == 0:
                parts.append((piece, builder.version(tree)))
            else:
                span = builder.span(tree)
                message = f"`{span.text}` is allowed only in the first line of a file"
                reader.diagnostics.append(Diagnostic("late-version", message, "move it to the top", span))
        except Rejected as rejected:
            reader.diagnostics.append(rejected.diagnostic)
    return parts, reader.diagnostics


def parse_expression(text: str, path: str = QUERY) -> tuple[ast.Expression | None, list[Diagnostic]]:
    """The formula or term of a single query, which may start with the word ``query``; None if it has an error."""
    source = as_source(path, text)
    reader = _Reader(source)
    tree = reader.tree(Slice(0, len(source.text), "query"), "lone_query")
    if tree is None:
        return None, reader.diagnostics
    asked = tree.children[1] if isinstance(tree, Tree) and tree.data == "query_statement" else tree
    try:
        return AstBuilder(source, 0).expression(asked), []
    except Rejected as rejected:
        return None, [rejected.diagnostic]


class _Reader:
    """One source while it is parsed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.shadow = shadow(source.text)
        self.diagnostics: list[Diagnostic] = []

    def tree(self, piece: Slice, start: str) -> Tree[Token] | None:
        """The parse tree of a slice; None, and a diagnostic, if it has an error.

        Lark gets the text of the slice as such: given a `TextSlice` it would count the lines before it each time.
        """
        try:
            return parser().parse(self.shadow[piece.start : piece.end], start=start)
        except UnexpectedInput as error:
            self.diagnostics.append(self._diagnose(error, piece))
            return None

    def misread(self, piece: Slice) -> Diagnostic | None:
        """The mistake in a slice that parses, as something else."""
        if not _SUSPECT.search(self.source.text, piece.start, piece.end):
            return None
        # Imported here for the same reason as below.
        from lnnkit.syntax.mistakes.recognisers import misread

        return misread(self.source, piece)

    def _diagnose(self, error: UnexpectedInput, piece: Slice) -> Diagnostic:
        # Imported here because only a program with errors needs them, and `lnnkit check` starts often.
        from lnnkit.syntax.fault import Fault
        from lnnkit.syntax.mistakes import diagnose
        from lnnkit.syntax.mistakes.stray_lines import stray

        if piece.keyword is None:
            return stray(self.source, self.shadow, piece)
        fault = Fault.of(error, self.source, self.shadow, piece)
        diagnostic = diagnose(fault)
        if diagnostic.code == "syntax" and fault.first_on_line and fault.text[:1].isalnum():
            line = Slice(fault.start, piece.end, None)
            return stray(self.source, self.shadow, line)
        return diagnostic
