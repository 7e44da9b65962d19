"""What facts that were added and taken back change in the answers to the program's queries, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import cast

from lnnkit.answer_table import Answers
from lnnkit.answers.query_rows import answer
from lnnkit.budget import allowed
from lnnkit.check.program import Query, SameEntity, named_entities, with_entities
from lnnkit.check.walk import nodes
from lnnkit.data.names import Entities
from lnnkit.errors import ProgramError
from lnnkit.explain.proof.proof import FactSources, GivenFact, ground_key
from lnnkit.graph.lifted import LiftedGraph, Root
from lnnkit.kb.asking import answers, covering_widely
from lnnkit.kb.fixpoint import Fixpoint
from lnnkit.kb.session import Session
from lnnkit.kb.theory import asked
from lnnkit.markup.pages import Listing
from lnnkit.outcome import Change
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

_EndPair = tuple[float, float]


def changes(earlier: Session, now: Session) -> Listing[Change]:
    """The answers to the queries of ``now`` that differ in two sessions, whose facts stay. Nothing is known of what one
    of them cannot be asked."""
    queries = now.theory.checked.queries
    listed = (change for query in queries for change in _changed(_Queried(earlier, query), _Queried(now, query)))
    return Listing(listed, ["answer", "before", "after", "because"], Change.cells)


class _Queried:
    """A session that is asked a query of another; all its answers and proofs come from one fixpoint."""

    def __init__(self, session: Session, query: Query) -> None:
        self._session = session
        mine = [one for one in session.theory.checked.queries if one.text == query.text]
        try:
            self.query = mine[0] if mine else asked(session.theory, query.text)[0]
        except ProgramError:
            self.query = None

    @cached_property
    def table(self) -> Answers:
        return answers(self._session, cast("Query", self.query), 1.0)

    @cached_property
    def rows(self) -> dict[tuple[str, ...], _EndPair]:
        """The bounds of each row, by the entities of its variables."""
        if self.query is None:
            return {}
        table = self.table
        entities = zip(*table.columns, strict=True) if table.columns else [()] * len(table)
        return dict(zip(entities, zip(table.lower.tolist(), table.upper.tolist(), strict=True), strict=True))

    def _placed(self, text: str) -> tuple[Fixpoint, LiftedGraph, Root]:
        """An instance of the query, and a fixpoint that covers it: one for all, but for entities that are unknown."""
        queries, instance = self._session.theory.checked.queries, asked(self._session.theory, text, strangers=None)[0]
        fixpoint = self._session.rest(queries if self.query in queries else (*queries, cast("Query", self.query)))
        known = fixpoint.run.grounding.domain.index
        named = (entity for _, _, entity in named_entities(instance.formula))
        if not all(entity in known for entity in named):
            fixpoint = covering_widely(self._session, instance)
        return fixpoint, *fixpoint.explainer.root(instance)

    @cached_property
    def origins(self) -> FactSources:
        return self._session.theory.origins()

    def bounds(self, text: str) -> _EndPair | None:
        """The bounds of one instance of the query that is not among its rows; None where it cannot be asked."""
        if self.query is None:
            return None
        fixpoint, lifted, root = self._placed(text)
        rows = answer(fixpoint.run, fixpoint.marks, lifted, root, guard=allowed(self._session.most))
        return None if root.variables else (float(rows.lower[0]), float(rows.upper[0]))

    def atoms(self, text: str) -> Iterator[ast.Atom]:
        """The atoms of the proof of an instance; those with variables stand for all without facts."""
        if self.query is None:
            return
        fixpoint, lifted, root = self._placed(text)
        for step in fixpoint.explainer.explain(lifted, root, 1.0).steps:
            if isinstance(step.conclusion, ast.Atom):
                yield step.conclusion


def _changed(earlier: _Queried, now: _Queried) -> Iterator[Change]:
    query = now.query
    assert query is not None
    formula = cast("ast.Expression", query.formula)
    variables, tolerance = now.table.variables, now.table.tolerance
    alike = not any(isinstance(node, SameEntity) for node in nodes(formula))  # all other rows have one value
    others: dict[_Queried, _EndPair | None] = {}
    rows = {**earlier.rows, **now.rows}
    rank = Entities(text for row in rows for text in row)
    for entities in sorted(rows, key=lambda row: [rank[text] for text in row]):  # as answers are
        text = format_expression(with_entities(formula, dict(zip(variables, entities, strict=True))))
        ends: list[_EndPair | None] = []
        for side in (earlier, now):
            if entities in side.rows:
                ends.append(side.rows[entities])
            else:
                ends.append(others[side] if alike and side in others else side.bounds(text))
                others[side] = ends[-1]
        before, after = ends
        if before is None or after is None or _differ(before, after, tolerance):
            yield Change(text, before, after, query.numeric, partial(_because, earlier, now, text))


def _differ(one: _EndPair, other: _EndPair, tolerance: float) -> bool:
    return any(a != b and not abs(a - b) <= tolerance for a, b in zip(one, other, strict=True))


def _because(earlier: _Queried, now: _Queried, text: str) -> tuple[str, ...]:
    """The facts that differ about the atoms in the two proofs."""
    atoms = dict.fromkeys(atom for side in (earlier, now) for atom in side.atoms(text))
    both = ((earlier, now, "taken back: "), (now, earlier, ""))
    found = (
        f"{head}{fact.text} ({fact.place})"
        for atom in atoms
        for side, other, head in both
        for fact in _only(side.origins, other.origins, atom)
    )
    return tuple(dict.fromkeys(found))


def _only(mine: FactSources, others: FactSources, atom: ast.Atom) -> Iterator[GivenFact]:
    """The facts about an atom, or about those that a pattern matches, that only the first ones state."""
    key = ground_key(atom)
    if key is not None:
        stated = {(fact.lower, fact.upper) for fact in others.of(*key)}
        yield from (fact for fact in mine.of(*key) if (fact.lower, fact.upper) not in stated)
    else:
        pattern = [argument.text if isinstance(argument, ast.Constant) else None for argument in atom.arguments]
        texts = {fact.text for fact in others.every(atom.name, pattern)}
        yield from (fact for fact in mine.every(atom.name, pattern) if fact.text not in texts)
