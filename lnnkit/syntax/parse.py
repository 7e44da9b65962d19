"""Text -> abstract syntax and diagnostics; never raises on bad input."""

from __future__ import annotations

import re

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from lnnkit.syntax import ast
from lnnkit.syntax.build import AstBuilder, Rejected
from lnnkit.syntax.diagnostic import QUERY, Diagnostic, Source, Span, as_source
from lnnkit.syntax.grammar import parser
from lnnkit.syntax.identifiers import shadow
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
    marked = shadow(source.text)
    parts: list[tuple[Slice, ast.Statement | int]] = []
    diagnostics: list[Diagnostic] = []
    for index, piece in enumerate(split(marked)):
        part = _part(source, marked, piece, first=index == 0)
        if isinstance(part, Diagnostic):
            diagnostics.append(part)
        else:
            parts.append((piece, part))
    return parts, diagnostics


def parse_expression(text: str, path: str = QUERY) -> tuple[ast.Expression | None, list[Diagnostic]]:
    """The formula or term of a single query, which may start with the word ``query``; None if it has an error."""
    source = as_source(path, text)
    tree = _tree(source, shadow(source.text), Slice(0, len(source.text), "query"), "lone_query")
    if isinstance(tree, Diagnostic):
        return None, [tree]
    asked = tree.children[1] if isinstance(tree, Tree) and tree.data == "query_statement" else tree
    try:
        return AstBuilder(source, 0).expression(asked), []
    except Rejected as rejected:
        return None, [rejected.diagnostic]


def _part(source: Source, marked: str, piece: Slice, *, first: bool) -> ast.Statement | int | Diagnostic:
    tree = _tree(source, marked, piece, "statement")
    if isinstance(tree, Diagnostic):
        return tree
    if _SUSPECT.search(source.text, piece.start, piece.end):
        # Imported here for the same reason as below.
        from lnnkit.syntax.diagnosis import misread

        if mistake := misread(source, piece):
            return mistake
    builder = AstBuilder(source, piece.start)
    try:
        if tree.data != "version":
            return builder.statement(tree)
        if first:
            return builder.version(tree)
    except Rejected as rejected:
        return rejected.diagnostic
    span = builder.span(tree)
    message = f"`{span.text}` is allowed only in the first line of a file"
    return Diagnostic("late-version", message, "move it to the top", span)


def _tree(source: Source, marked: str, piece: Slice, start: str) -> Tree[Token] | Diagnostic:
    """The parse tree of a slice, or its error; ``marked`` is the shadow of the source.

    Lark gets the text of the slice as such: given a `TextSlice` it would count the lines before it each time.
    """
    try:
        return parser().parse(marked[piece.start : piece.end], start=start)
    except UnexpectedInput as error:
        # Imported here because only a program with errors needs them, and `lnnkit check` starts often.
        from lnnkit.syntax.diagnosis import diagnose, stray
        from lnnkit.syntax.fault import Fault

        if piece.keyword is None:
            return stray(source, marked, piece)
        fault = Fault.of(error, source, marked, piece)
        diagnostic = diagnose(fault)
        if diagnostic.code == "syntax" and fault.first_on_line and fault.text[:1].isalnum():
            return stray(source, marked, Slice(fault.start, piece.end, None))
        return diagnostic
