"""What facts that were added and taken back change in the answers to the program's queries, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import cast

from lnnkit.answer_table import Answers
from lnnkit.check.program import Query
from lnnkit.check.walk import with_entities
from lnnkit.data.names import whole
from lnnkit.explain.proof.proof import GivenFact, ground_key
from lnnkit.kb.asking import answers, placed
from lnnkit.kb.session import Session
from lnnkit.kb.theory import asked
from lnnkit.markup.pages import Listing
from lnnkit.outcome import Change
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

_Ends = tuple[float, float]


def changes(earlier: Session, now: Session) -> Listing[Change]:
    """The answers to the queries of ``now`` that differ in two sessions of one program with different facts."""
    queries = now.theory.checked.queries
    listed = (change for query in queries for change in _changed(earlier, now, query))
    return Listing(listed, ["answer", "before", "after", "because"], Change.cells)


def _changed(earlier: Session, now: Session, query: Query) -> Iterator[Change]:
    tables = answers(earlier, query, 1.0), answers(now, query, 1.0)
    rows = [_rows(table) for table in tables]
    for bindings in sorted({**rows[0], **rows[1]}, key=_order):
        entities = dict(zip(tables[0].variables, bindings, strict=True))
        text = format_expression(with_entities(cast("ast.Expression", query.formula), entities))  # never an equality
        before, after = (
            found[bindings] if bindings in found else _bounds(session, text)
            for session, found in zip((earlier, now), rows, strict=True)
        )
        if before is None or after is None or _differ(before, after, tables[1].tolerance):
            yield Change(text, before, after, query.numeric, partial(_because, earlier, now, text))


def _rows(table: Answers) -> dict[tuple[str, ...], _Ends]:
    """The bounds of each row, by the entities of its variables."""
    entities = zip(*table.columns, strict=True) if table.columns else [()] * len(table)
    return dict(zip(entities, zip(table.lower.tolist(), table.upper.tolist(), strict=True), strict=True))


def _order(entities: tuple[str, ...]) -> list[tuple[bool, int, str]]:
    """Rows are sorted as answers are: whole numbers by value, then texts."""
    return [(number is None, number or 0, text) for text in entities for number in (whole(text),)]


def _differ(one: _Ends, other: _Ends, tolerance: float) -> bool:
    return any(a != b and not abs(a - b) <= tolerance for a, b in zip(one, other, strict=True))


def _bounds(session: Session, text: str) -> _Ends | None:
    """The bounds of a formula that is not among a query's answers; None if it has free variables left."""
    table = answers(session, asked(session.theory, text, strangers=None)[0], 1.0)
    return None if table.variables else (float(table.lower[0]), float(table.upper[0]))


def _because(earlier: Session, now: Session, text: str) -> tuple[str, ...]:
    """The facts that differ about the atoms in its two proofs."""
    atoms = dict.fromkeys(atom for session in (earlier, now) for atom in _atoms(session, text))
    both = ((earlier, now, "taken back: "), (now, earlier, ""))
    return tuple(
        dict.fromkeys(
            f"{head}{fact.text} ({fact.file}:{fact.row})"
            for atom in atoms
            for session, other, head in both
            for fact in _only(session, other, atom)
        )
    )


def _atoms(session: Session, text: str) -> Iterator[ast.Atom]:
    """The atoms of a proof; those with variables stand for all without facts."""
    explainer, lifted, root = placed(session, asked(session.theory, text, strangers=None)[0])
    for step in explainer.explain(lifted, root, 1.0).steps:
        if isinstance(step.conclusion, ast.Atom):
            yield step.conclusion


def _only(session: Session, other: Session, atom: ast.Atom) -> Iterator[GivenFact]:
    """The facts about an atom, or about those that a pattern matches, that only the first session states."""
    one, two, key = session.theory.origins(), other.theory.origins(), ground_key(atom)
    if key is not None:
        stated = {(fact.lower, fact.upper) for fact in two.of(*key)}
        yield from (fact for fact in one.of(*key) if (fact.lower, fact.upper) not in stated)
    else:
        texts = {fact.text for fact in two.every(atom.name)}
        yield from (fact for fact in one.every(atom.name) if fact.text not in texts)
