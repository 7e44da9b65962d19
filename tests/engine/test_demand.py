"""What bound questions demand, by loops over the magic rules of their plan; and that nothing else is derived."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest

import lnnkit
from lnnkit.analysis.demand import ENTERED
from lnnkit.analysis.needs import Literal
from lnnkit.engine.inference_run import Run
from lnnkit.formula.unfolding import Formula
from lnnkit.trail.events import Chunk, Kind
from tests.blocks import at_length
from tests.engine.bound_questions import drawn
from tests.engine.every_round import entities_of

Ids = dict[int, int]
Tuples = dict[str, set[tuple[int, ...]]]


def matches(run: Run, formula: Formula, terms: Sequence[int | str], entities: tuple[int, ...], ids: Ids) -> Ids | None:
    """The assignment with the variables of an atom bound too; None where it does not match."""
    more, domain = dict(ids), run.grounding.domain
    for term, entity in zip(terms, entities, strict=True):
        if isinstance(term, str):
            if domain.index[term] != entity:
                return None
        elif more.setdefault(term, entity) != entity or entity not in domain.sorts[formula.sorts[term]]:
            return None
    return more


def unified(run: Run, formula: Formula, literals: Sequence[Literal], ids: Ids) -> Iterator[Ids]:
    if not literals:
        yield ids
        return
    table = run.grounding.atoms.tables[literals[0].table]
    known = entities_of(table)
    for row in table.listing(literals[0].column).values.tolist():
        more = matches(run, formula, literals[0].arguments, known[row], ids)
        if more is not None:
            yield from unified(run, formula, literals[1:], more)


def demanded(run: Run) -> Tuples:
    """The tuples that are asked for, and those that magic rules derive from them, until there are no more."""
    demand, domain = run.plan.demand, run.grounding.domain
    assert demand is not None
    found: Tuples = {name: set() for name in demand.bound}
    for name, texts in demand.asked:
        found[name].add(tuple(domain.index[text] for text in texts))
    changed = True
    while changed:
        before = sum(map(len, found.values()))
        for formula, head, literals, (target, terms) in demand.passings:
            starts = [{}] if head is None else [matches(run, formula, head[1], t, {}) for t in [*found[head[0]]]]
            for start in starts:
                for ids in unified(run, formula, literals, start) if start is not None else ():
                    free = sorted({term for term in terms if isinstance(term, int)} - ids.keys())
                    for entities in itertools.product(*(domain.sorts[formula.sorts[v]].tolist() for v in free)):
                        every = ids | dict(zip(free, entities, strict=True))
                        found[target].add(tuple(every[t] if isinstance(t, int) else domain.index[t] for t in terms))
        changed = sum(map(len, found.values())) > before
    return found


def narrow(run: Run, chunk: Chunk) -> bool:
    """Whether a rule is joined with what is demanded: not if it has quantifiers, nor from an atom that names all its
    variables, which is joined with nothing."""
    shape = run.grounding.shapes[chunk.shape]
    rule = run.grounding.members[shape.members[int(shape.blocks[0].member[chunk.instances[0]])]]
    formula = rule.formula
    read = ({*formula.arguments(leaf)} for leaf in formula.leaves if leaf not in formula.heads)
    return len(formula.blocks) == 1 and not any(terms.issuperset(formula.blocks[0].variables) for terms in read)


@pytest.mark.parametrize("block", at_length([*range(4)], plain=1))
def test_demand(block: int) -> None:
    narrowed = 0
    for seed in range(10 * block, 10 * block + 10):
        text, questions = drawn(seed)
        for question in questions[:2]:
            try:
                kb = lnnkit.loads(f"{text}query {question}\n")
                kb.infer()
            except lnnkit.ProgramError:
                continue
            run = kb._session.program_fixpoint().run
            if run.plan.demand is None:
                assert not run.plan.demands
                continue
            narrowed += 1
            expected, tables = demanded(run), run.grounding.atoms.tables
            assert {name for name, _ in run.plan.demands.values()} == expected.keys()
            for relation, (name, places) in run.plan.demands.items():
                table = tables[relation]
                assert {*entities_of(table)} == expected[name]
                assert len(table.listing(ENTERED)) == len(table)
                known = entities_of(tables[name])
                for chunk in run.state.trail.chunks():
                    if chunk.kind == Kind.SENT and chunk.table == tables[name].number and narrow(run, chunk):
                        for row in chunk.rows:
                            assert tuple(known[row][place] for place in places) in expected[name]
    assert narrowed
