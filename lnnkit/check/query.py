"""Checks a query or facts against a program that is already checked: on the command line, or through ``kb``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lnnkit.check.assembly import query
from lnnkit.check.checker import PASSES, Pass, ordered, run, unmasked
from lnnkit.check.declarations import declarations
from lnnkit.check.entity_names import clashes
from lnnkit.check.gather import gather
from lnnkit.check.learnables import in_assertion, in_formula, learnables, starting_values
from lnnkit.check.predicates import predicates
from lnnkit.check.program import CheckedProgram, Fact, Query
from lnnkit.check.query_entities import asked, stated_by
from lnnkit.check.stated import fact
from lnnkit.check.strata import strata
from lnnkit.check.symbols import Entry
from lnnkit.check.unjoined import unjoined
from lnnkit.check.values import values
from lnnkit.check.variables import variables
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity
from lnnkit.syntax.span import QUERY, Source, Span

OF_PROGRAMS: tuple[Pass, ...] = (declarations, unjoined, asked, values, strata)
QUERY_PASSES = tuple(each for each in PASSES if each not in OF_PROGRAMS)
FACT_PASSES: tuple[Pass, ...] = (predicates, variables, values, learnables)


def check_query(
    text: str,
    checked: CheckedProgram,
    *,
    strangers: Severity | None = "error",
) -> tuple[Query | None, list[Diagnostic]]:
    """The query that ``text`` spells, checked against the names, sorts and entities of ``checked``; None if it has an
    error.

    Its connectives have the logic of the program's main file. ``strangers`` is the severity of findings about entities
    that the program does not have (None: no findings).
    """
    from lnnkit.syntax.parse import parse_expression

    written, found = parse_expression(text)
    if written is None:
        return None, found
    span = Span(Source(QUERY, text), 0, len(text))
    entry = Entry(ast.QueryStatement(written, span=span), Path(), checked.logic)
    symbols = gather([entry], declared=checked.predicates)
    formula = symbols.formulas[0]
    named = any(not mention.variable or mention.name not in "XYZ" for mention in formula.mentions)
    symbols = replace(
        symbols,
        texts=frozenset(text for _, _, text in stated_by(checked)) if named else frozenset(),
        tables=checked.tables,
        label_tables=checked.label_tables,
        resolved=checked.predicates,
        learned=_learned(checked) if any(True for _ in in_formula(formula)) else {},
        program=checked,
    )
    found = run(QUERY_PASSES, symbols)
    said = {finding.span.start for finding in found if finding.span is not None}
    unknown = [] if strangers is None else asked(symbols, strangers)
    found += [each for each in unknown if each.span is None or each.span.start not in said]
    found = ordered(unmasked(found), [QUERY])
    if any(finding.severity == "error" for finding in found):
        return None, found
    return query(formula, symbols, starting_values(symbols)), found


def _learned(checked: CheckedProgram) -> dict[str, float | None]:
    """The names of the program's learnable values, with their initial values."""
    found: dict[str, float | None] = {}
    for assertion in checked.assertions:
        for item in in_assertion(assertion):
            if item.name is not None and (item.initial is not None or item.name not in found):
                found[item.name] = None if item.initial is None else float(item.initial)
    return found


def check_facts(
    statements: Sequence[ast.FactStatement], checked: CheckedProgram
) -> tuple[tuple[Fact, ...] | None, list[Diagnostic]]:
    """The facts of some statements, checked against the names and entities of ``checked``; None if one has an error.

    Their predicates must exist in ``checked``. Entities may be new. If a new entity differs only in case from a
    variable of the program, the statement with the variable gets an error, just as if the program had contained the
    fact.
    """
    entries = [Entry(statement, Path(), checked.logic) for statement in statements]
    symbols = replace(gather(entries, declared=checked.predicates), resolved=checked.predicates, program=checked)
    found = ordered([*run(FACT_PASSES, symbols), *clashes(checked.suspects, symbols.texts, ())], [])
    if any(finding.severity == "error" for finding in found):
        return None, found
    return tuple(map(fact, statements)), found
