"""Facts of a checked program -> one numbering of entities and columns of ids."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from lnnkit.check.program import CheckedProgram
from lnnkit.data.entities import Entities, intern
from lnnkit.ground.layout import Given


def given_facts(program: CheckedProgram, mentioned: Iterable[str]) -> tuple[Entities, dict[str, int], list[Given]]:
    """All truth facts of a program, from its text and its tables. ``mentioned`` are entities that formulas name.

    Ids are places in the sorted texts, so that nothing depends on the order of rows.
    """
    tables = [table for table in program.tables if not program.predicates[table.predicate].numeric]
    facts: dict[str, list] = {}
    texts = set(mentioned)
    for fact in program.facts:
        if not program.predicates[fact.predicate].numeric:
            facts.setdefault(fact.predicate, []).append(fact)
            texts.update(fact.arguments)
    for label in program.labels:
        texts.update(label.arguments)
    entities, columns = intern([*tables, *program.label_tables], texts)
    index = {name: position for position, name in enumerate(entities.names)}
    given = [
        Given(
            table.predicate,
            tuple(torch.tensor(column, dtype=torch.int32) for column in ids),
            torch.tensor(table.lower, dtype=torch.float64),
            torch.tensor(table.upper, dtype=torch.float64),
        )
        for table, ids in zip(tables, columns, strict=False)
    ]
    for predicate, listed in facts.items():
        arity = program.predicates[predicate].arity
        given.append(
            Given(
                predicate,
                tuple(
                    torch.tensor([index[fact.arguments[place]] for fact in listed], dtype=torch.int32)
                    for place in range(arity)
                ),
                torch.tensor([fact.lower for fact in listed], dtype=torch.float64),
                torch.tensor([fact.upper for fact in listed], dtype=torch.float64),
            )
        )
    return entities, index, given
