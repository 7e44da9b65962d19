"""Writing a program: as text, with the facts that were told, or as a model file with the exact learned numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path

from lnnkit.check.named_files import merge
from lnnkit.check.program import CheckedProgram, Predicate
from lnnkit.data.files import is_model, model_bytes
from lnnkit.data.table import TOLD
from lnnkit.errors import Error
from lnnkit.output import write_text
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_expression, format_number, format_statement
from lnnkit.syntax.relocate import queries, relocate

_MOST = 100_000  # facts: to read so many takes 27 CPU seconds


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


def statements(checked: CheckedProgram, name: str) -> Iterator[str]:
    """The facts of a predicate as statements, exactly; axioms are none."""
    from lnnkit.explain.proof.proof import fact_text

    text = partial(fact_text, name, numeric=checked.predicates[name].numeric, shown=format_number)
    for fact in checked.facts:
        if fact.predicate == name and not fact.of_axiom:
            yield text(fact.arguments, fact.lower, fact.upper, fact.trust)
    for table in checked.tables:
        if table.predicate == name:
            entities = zip(*table.columns, strict=True) if table.columns else repeat(())
            yield from map(text, entities, table.lower.tolist(), table.upper.tolist(), repeat(table.trust))


class Loaded:
    """The facts with which a program was loaded."""

    def __init__(self, checked: CheckedProgram) -> None:
        self._facts, self._rows = checked.facts, _rows(checked)

    def since(self, checked: CheckedProgram) -> tuple[set[str], CheckedProgram]:
        """The predicates of which some of these facts are no longer in a program, and the program with those facts
        alone that are none of these."""
        kept, rows = set(map(id, checked.facts)), _rows(checked)
        lost = {fact.predicate for fact in self._facts if id(fact) not in kept}
        kept = set(map(id, self._facts))
        facts = tuple(fact for fact in checked.facts if id(fact) not in kept)
        tables = [table for table in checked.tables if table.source.startswith(TOLD)]
        lost.update(name for name in self._rows if rows[name] != self._rows[name])
        return lost, replace(checked, facts=facts, tables=tables)


def _rows(checked: CheckedProgram) -> Counter[str]:
    """The number of facts in tables of the program, by predicate."""
    rows = Counter[str]()
    for table in checked.tables:
        rows[table.predicate] += 0 if table.source.startswith(TOLD) else len(table)
    return rows


def restated(
    program: ast.Program,
    home: Path,
    changed: Mapping[Predicate, Iterable[str]],
    added: Iterable[str] = (),
    assumed: Collection[object] = (),
) -> ast.Program:
    """The program with the statements ``added``, and with those of the ``changed`` predicates in place of all its own
    facts and tables of them. Raises `Error` if they are too many for a text, if a file that it imports states some, and
    if it has an axiom about one of the ``assumed`` atoms."""
    from lnnkit.explain.proof.proof import ground_key

    names = {predicate.name for predicate in changed}

    def replaced(statement: ast.Statement) -> bool:
        """Whether it states facts of these predicates."""
        stated = statement.atom if isinstance(statement, ast.FactStatement) else statement
        return isinstance(stated, ast.Atom | ast.LoadStatement) and stated.name in names

    source, pieces, done = program.span.source, list[str](), 0
    everything = [entry.statement for entry in merge(program, home).entries]
    for statement in (statement for statement in everything if isinstance(statement, ast.AxiomStatement)):
        formula = statement.formula
        while isinstance(formula, ast.Not):
            formula = formula.operand
        if ground_key(formula) in assumed:
            message = f"`{format_expression(formula)}` is assumed otherwise than an axiom has it"
            raise Error([Diagnostic("told-facts", message, "change the axiom before you save", statement.span)])
    for span in (statement.span for statement in everything if replaced(statement)):
        if span.source != source:
            message = f"facts were taken back, and {span.source.path}:{span.line}, which is imported, states some"
            raise Error([Diagnostic("told-facts", message, "state them in this program instead")])
        pieces.append(source.text[done : span.start].rstrip(" "))
        done = span.end + source.text.startswith("\n", span.end)
    texts = [*chain(*changed.values(), added)]
    if len(texts) > _MOST:
        message = f"{len(texts):,} facts that were told are too many for the text of a program"
        raise Error([Diagnostic("told-facts", message, "write them to a table, and `load` it in the program")])
    names -= {statement.name for statement in everything if isinstance(statement, ast.Declaration)}
    declared = (ast.PredicateStatement(p.name, p.sorts) for p in changed if p.name in names)
    undeclared = map(format_statement, declared)
    kept = "".join([*pieces, source.text[done:]]).rstrip("\n")
    return parse("\n".join([kept, *undeclared, *texts]) + "\n", source.path)[0]
