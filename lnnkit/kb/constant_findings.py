"""After a fit: learned literals that are always or never true of the data. Each is reported, and removed from its rule
if no answer depends on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.check.learnables import among, settled_node
from lnnkit.check.walk import nodes, transform
from lnnkit.errors import Error, ProgramError
from lnnkit.kb.asking import answers
from lnnkit.kb.querying import asked
from lnnkit.kb.session import Session
from lnnkit.learn.parameters.constant_literals import Dropped, learned_literals, place_of, without
from lnnkit.learn.replay.recorded_inference import label_queries
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

if TYPE_CHECKING:
    from lnnkit.answer_table import Answers
    from lnnkit.learn.learner import Learner
    from lnnkit.learn.parameters.trained_text import TrainedRule
    from lnnkit.syntax import ast

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class _Constant:
    """A literal of a rule that has the same ``truth`` for all ``rows`` whose numbers are known."""

    rule: TrainedRule
    literal: ast.Comparison
    text: str
    truth: bool
    rows: int


def constant_findings(session: Session, trained: Collection[str], instances: int | None) -> tuple[Diagnostic, ...]:
    """A ``constant-literal`` warning for each learned literal of the rules ``trained`` that is always or never true.

    A literal is removed from its rule if no answer depends on it: the answers for labelled predicates and for the
    program's queries, with and without it, must agree bit for bit. Literals that need more than ``instances``
    instances, or that cannot be asked for, are skipped.
    """
    theory = session.theory
    learner = theory.learning()
    try:
        found = list(_constants(session, learner, trained, instances))
        gone = _drop(session, learner, found, instances) if found else []
    except Error:  # too large, or other rules keep the program from being evaluated
        return ()
    return tuple(_finding(each, dropped=each in gone) for each in found)


def _finding(each: _Constant, *, dropped: bool) -> Diagnostic:
    always = "always" if each.truth else "never"
    message = f"`{each.text}` of `{each.rule.name}` is {always} true ({each.rows:,} rows): it distinguishes no rows"
    if dropped:
        message += "; it was removed from the rule, and every answer stayed the same"
        hint = "nothing needs to be done; to learn it, add rows or labels that it distinguishes"
    else:
        hint = "take it out of the rule, or add rows or labels that it distinguishes"
    return Diagnostic("constant-literal", message, hint, each.literal.span, "warning")


def _constants(
    session: Session, learner: Learner, trained: Collection[str], instances: int | None
) -> Iterator[_Constant]:
    for rule in learner.learned(session.theory.checked):
        if rule.name not in trained:
            continue
        written = {place_of(each.span): each for each in nodes(rule.after.formula)}
        for literal in learned_literals(rule.before.formula):
            now = written.get(place_of(literal.span))
            if now is None:
                continue
            text = format_expression(transform(now, lambda node: settled_node(node, {})), as_written=True)
            bounds = _asked(session, text, instances)
            if bounds is None or len(bounds) < 2:
                continue
            if bool((bounds.lower >= 1 - _TOLERANCE).all()):
                yield _Constant(rule, literal, text, True, len(bounds))
            elif bool((bounds.upper <= _TOLERANCE).all()):
                yield _Constant(rule, literal, text, False, len(bounds))


def _asked(session: Session, text: str, instances: int | None) -> Answers | None:
    """The truth of the literal for all rows whose numbers are known; None if it cannot be asked for by itself."""
    try:
        query, _ = asked(session.theory, text)
    except ProgramError:
        return None
    return answers(_fresh(session, instances), query, 1.0)


def _fresh(session: Session, instances: int | None) -> Session:
    found = session.about(session.theory)
    found.most = instances
    return found


def _drop(session: Session, learner: Learner, found: Sequence[_Constant], instances: int | None) -> list[_Constant]:
    """Remove from the rules the literals that no answer needs: all at once if possible, else one after another."""
    asked_for = {each.name for query in session.theory.checked.queries for each in among(nodes(query.formula))}  # pyright: ignore[reportArgumentType]  # a formula
    may = [each for each in found if not asked_for & {item.name for item in among(nodes(each.literal)) if item.name}]
    kept, gone = learner.dropped, list[_Constant]()
    before = _answered(session, instances) if may else None
    for tried in (may, *([each] for each in may)):
        own = _dropped(learner, [*gone, *tried])
        if before is None or own is None or len(gone) == len(may):
            continue
        try:
            learner.dropped = (*kept, *own)
            if _same(before, _answered(session, instances)):
                gone = [*gone, *tried]
        finally:  # restore whatever was tried, however the trial ends
            learner.dropped = (*kept, *(_dropped(learner, gone) or ()))
    session.forget()
    return gone


def _dropped(learner: Learner, found: Sequence[_Constant]) -> list[Dropped] | None:
    """What is removed, rule by rule; None if a literal is all that a rule has at that place."""
    own: dict[int, dict[tuple[int, int], bool]] = {}
    for each in found:
        own.setdefault(each.rule.place, {})[place_of(each.literal.span)] = each.truth
    values, made = learner.module.current(), []
    for each in {each.rule.place: each.rule for each in found}.values():
        literals = own[each.place]
        if without(each.after.formula, literals) is None:
            return None
        names = [one.name for one in learner.module.parameters_of_program if each.name in one.rules]
        made.append(Dropped(each.place, literals, {name: values[name] for name in names}))
    return made


def _answered(session: Session, instances: int | None) -> tuple[list[Answers], int]:
    """The answers for labelled predicates and to the program's queries, and the number of contradictions."""
    fresh = _fresh(session, instances)
    fresh.forget()
    checked = session.theory.checked
    queries = (*label_queries(checked), *checked.queries)
    rested = fresh.rest(queries)
    return [answers(fresh, query, 1.0) for query in queries], len(rested.outcome.contradictions)


def _same(one: tuple[list[Answers], int], other: tuple[list[Answers], int]) -> bool:
    def alike(before: Answers, after: Answers) -> bool:
        pairs = ((before.lower, after.lower), (before.upper, after.upper), (before.contested, after.contested))
        return (
            len(before) == len(after)
            and all(np.array_equal(left, right) for left, right in pairs)
            and all(left == right for left, right in zip(before.columns, after.columns, strict=True))
        )

    return one[1] == other[1] and all(alike(*pair) for pair in zip(one[0], other[0], strict=True))
