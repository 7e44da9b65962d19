"""Writing a program: as text, with the facts that were told, or as a model file with the exact numbers that it has
learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.check.named_files import merge
from lnnkit.check.program import Predicate
from lnnkit.data.files import is_model, model_bytes
from lnnkit.errors import Error
from lnnkit.output import write_text
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_predicate
from lnnkit.syntax.relocate import queries, relocate

if TYPE_CHECKING:
    from lnnkit.explain.proof.proof import GivenFact

_MOST = 100_000  # facts, which are read in some seconds


def save(program: ast.Program, home: Path, values: Mapping[str, float], path: str | Path) -> None:
    """Write the program to ``path``, its paths rewritten to lead from there to the same files as from ``home``; a model
    file also holds its ``values``. Raises `Error` if it cannot be written."""
    refuse_moved(program, home, path)
    text = relocate(program, home, Path(path).parent)
    write_text(path, model_bytes(text, values) if is_model(Path(path)) else text)


def refuse_moved(program: ast.Program, home: Path, path: str | Path) -> None:
    """Raises `Error` if a program with queries would leave its folder: they read files that are there."""
    if queries(program) and Path(path).parent.resolve() != home.resolve():
        message = f'"{path}" is in another folder than the files that the queries of the program read'
        raise Error([Diagnostic("moved-query", message, f'write it beside them: "{home / Path(path).name}"')])


def restated(
    program: ast.Program, home: Path, changed: Mapping[Predicate, Iterable[GivenFact]], added: Iterable[GivenFact] = ()
) -> ast.Program:
    """The program with the facts ``added``, and with those of the ``changed`` predicates in place of all its own facts
    and tables of them. Raises `Error` if they are too many for a text, and if a file that it imports states some."""

    names = {predicate.name for predicate in changed}

    def replaced(statement: ast.Statement) -> bool:
        """Whether it states facts of these predicates."""
        stated = statement.atom if isinstance(statement, ast.FactStatement) else statement
        return isinstance(stated, ast.Atom | ast.LoadStatement) and stated.name in names

    source, pieces, done = program.span.source, list[str](), 0
    statements = [entry.statement for entry in merge(program, home).entries]
    for span in (statement.span for statement in statements if replaced(statement)):
        if span.source != source:
            message = f"facts were taken back, and {span.source.path}:{span.line}, which is imported, states some"
            raise Error([Diagnostic("told-facts", message, "state them in this program instead")])
        pieces.append(source.text[done : span.start].rstrip(" "))
        done = span.end + source.text.startswith("\n", span.end)
    given = [fact.text for fact in chain(*changed.values(), added)]
    if len(given) > _MOST:
        message = f"{len(given):,} facts that were told are too many for the text of a program"
        raise Error([Diagnostic("told-facts", message, "write them to a table, and `load` it in the program")])
    names -= {statement.name for statement in statements if isinstance(statement, ast.Declaration)}
    texts = [_declaration(predicate) for predicate in changed if predicate.name in names]
    texts += [text for text in given if not text.startswith("axiom")]
    written = "\n".join(["".join([*pieces, source.text[done:]]).rstrip("\n"), *texts]) + "\n"
    return parse(written, source.path)[0]


def _declaration(predicate: Predicate) -> str:
    sorts = f"({', '.join(predicate.sorts)})" if predicate.sorts else ""
    return f"predicate {format_predicate(predicate.name)}{sorts}"
