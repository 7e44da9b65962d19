"""Checks facts that are added to a program that is already checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lnnkit.check.checker import Pass, ordered, run
from lnnkit.check.entity_names import clashes
from lnnkit.check.gather import gather
from lnnkit.check.learnables import learnables
from lnnkit.check.predicates import predicates
from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.check.stated import fact
from lnnkit.check.symbols import Entry
from lnnkit.check.truth_values import values
from lnnkit.check.variables import variables
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

FACT_PASSES: tuple[Pass, ...] = (predicates, variables, values, learnables)


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
