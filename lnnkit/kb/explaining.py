"""What would follow if facts were others, and why bounds are what they are: hypothetical sessions, in which some atoms
have other facts or some premises are added, continued from another session's fixpoints where that can be; what keeps
bounds from being tighter, and the facts and statements that cause contradictions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from itertools import islice
from numbers import Real
from typing import TYPE_CHECKING

from lnnkit.answers.query_rows import answer
from lnnkit.check import check_query
from lnnkit.check.program import Assertion, CheckedProgram, Fact, Query, with_entities
from lnnkit.check.walk import nodes
from lnnkit.data.fact_tables import keys_of
from lnnkit.errors import BudgetError
from lnnkit.explain.conflict.conflict import Conflict, RepairSet, first_conflicts, kind_of, repair_set
from lnnkit.explain.conflict.program_variants import ASSUMED, ConflictMember, alone, assumption
from lnnkit.explain.missing.why_not import Added, Came, Missing, Way, WhyNot
from lnnkit.explain.proof.proof import ground_key
from lnnkit.join.instances.grounding import unlimited
from lnnkit.kb.asking import covering_widely
from lnnkit.kb.fixpoint import Fixpoint
from lnnkit.kb.session import Continuation, Session
from lnnkit.kb.theory import Theory, asked, check_bound, neither_true_nor_false, no_atom
from lnnkit.markup.pages import Listing
from lnnkit.syntax import ast
from lnnkit.syntax.dates import days_of
from lnnkit.syntax.diagnostic import Source as Text
from lnnkit.syntax.diagnostic import Span
from lnnkit.syntax.printer import format_expression

if TYPE_CHECKING:
    from lnnkit.engine.inference_run import Watch

_SUPPOSED = 8  # sets of atoms whose last copy is kept
_NOWHERE = Span(Text(ASSUMED, ""), 0, 0)
_OPPOSITE: dict[str, str] = {">": "<=", "<=": ">", "<": ">=", ">=": "<"}
_MARGIN = {">": 1e-3, ">=": 0.0, "<": -1e-3, "<=": 0.0}
_KNOWN = 2  # entities tried for a free variable if a new one fails; the way must succeed with each
_COMPARED = 1000  # contradictions compared with those before
_COUNTED = 100_000  # contradictions whose kinds are looked for
_AT_ONCE = 20  # conflicts of a kind that a set meets before inference shows what is left

Assumed = float | str | date | tuple[float | str | date, float | str | date]  # one end or two; of dates also texts


def hypothetical(session: Session, bounds: Mapping[str, Assumed | None]) -> Session:
    """A session in which atoms have these bounds instead of those of their facts; None: no facts. Raises `ProgramError`
    for a key that is not an atom, ``ValueError`` for invalid bounds."""
    if not isinstance(bounds, Mapping):
        raise TypeError(f"bounds must be a mapping from atoms, not {type(bounds).__name__}")
    taken = [_atom(session.theory, text)[0] for text, value in bounds.items() if value is None]
    facts = [_assumption(session.theory, text, value) for text, value in bounds.items() if value is not None]
    theory = session.theory.assuming(facts)
    keys = [keys_of(name, [arguments]) for name, arguments in taken]
    for atoms in keys:
        theory.retract(atoms)
    clone = session.about(theory, session.graph())
    # An interactive slider assumes the same atoms again and again: each copy goes on from the last one
    atoms = frozenset((*taken, *((fact.predicate, fact.arguments) for fact in facts)))
    origin, checked = session.supposed.get(atoms, (session, session.theory.checked))
    if origin.theory.checked is not checked or not origin.fixpoints:
        origin, checked = session, session.theory.checked
    changed = [(stated, gone) for stated in facts for gone in (True, False)]
    clone.source = Continuation(origin, checked, [*((atom, True) for atom in keys), *changed])
    session.supposed[atoms] = clone, clone.theory.checked
    if len(session.supposed) > _SUPPOSED:
        del session.supposed[next(iter(session.supposed))]
    return clone


def _atom(theory: Theory, text: str) -> tuple[tuple[str, tuple[str, ...]], Query]:
    """The predicate and the entities of an atom, and the query that it is."""
    query, _ = asked(theory, text, strangers=None)
    about = ground_key(query.formula)
    if about is None:
        raise no_atom(text, query)
    return about, query


def _assumption(theory: Theory, text: str, value: Assumed) -> Fact:
    about, query = _atom(theory, text)
    ends = value if isinstance(value, tuple) else (value, value)
    what = "date" if query.numeric == "date" else "number"
    wrong = ValueError(f"`{text}` needs one {what}, or two as a tuple; got {value!r:.60}")
    if what == "date":
        texts = (end.isoformat() if isinstance(end, date) else end for end in ends)
        ends = tuple(days_of(text) if isinstance(text, str) else text for text in texts)
    numbers = [end for end in ends if isinstance(end, Real)]
    if len(ends) != 2 or len(numbers) != 2:
        raise wrong
    try:
        lower, upper = map(float, numbers)
    except OverflowError:
        raise wrong from None
    return assumption(*about, lower, upper, numeric=query.numeric)


def adding(session: Session, query: Query, before: Fixpoint, side: int) -> Added:
    """A function from a way (a set of missing premises) to the bound that the atom of a query would get on one
    ``side``; ``before`` is the fixpoint without the premises."""

    arguments = query.formula.arguments if isinstance(query.formula, ast.Atom) else ()
    entities = {argument.text for argument in arguments if isinstance(argument, ast.Constant)}

    def tried(way: Way, free: dict[str, str]) -> Came | None:
        came: Came | None = None
        for pinned in (False, True) if any(premise.numbers for premise in way.lacking) else (False,):
            facts, axioms = _stated(before, way.lacking, free, pinned=pinned)
            came = _came(session, query, before, facts, axioms)
            if came is None or came.reaches(way, side):
                break
        return came

    def added(way: Way) -> Came | None:
        came = tried(way, {name: _fresh(before, name) for name in way.unbound})
        if came is None or not way.unbound or came.reaches(way, side):
            return came
        others = [tried(way, free) for free in _known(before, way, entities)]
        if None in others:
            return None
        all_reach = bool(others) and all(other is not None and other.reaches(way, side) for other in others)
        return others[0] if all_reach else came

    return added


def _fresh(before: Fixpoint, variable: str) -> str:
    """An entity that nothing else mentions."""
    fresh = f"some {variable}"
    while fresh in before.run.grounding.domain.index:
        fresh += "'"
    return fresh


def _known(before: Fixpoint, way: Way, entities: Collection[str]) -> Iterator[dict[str, str]]:
    """Existing entities in place of free variables, each of its variable's sort: they may succeed where a new entity
    fails because a `forall` ranges over it. None is among the atom's ``entities``: its bound may follow otherwise."""
    predicates, sorts = before.program.predicates, before.run.grounding.domain.sorts
    members: dict[str, list[str]] = {}
    for premise in way.lacking:
        for atom in nodes(premise.formula) if premise.formula is not None else ():
            if not isinstance(atom, ast.Atom):
                continue
            for argument, sort in zip(atom.arguments, predicates[atom.name].sorts, strict=True):
                if isinstance(argument, ast.Variable) and argument.name in way.unbound:
                    named = (before.names[number] for number in sorts[sort].tolist())
                    members[argument.name] = list(islice((name for name in named if name not in entities), _KNOWN))
    for place in range(min(map(len, members.values()), default=0)):
        yield {name: names[place] for name, names in members.items()}


def _came(
    session: Session, query: Query, before: Fixpoint, facts: Sequence[Fact], axioms: Sequence[Assertion]
) -> Came | None:
    theory = session.theory
    if axioms:
        program = theory.bound(theory.settled())
        stated = replace(program, facts=(*program.facts, *facts), assertions=(*program.assertions, *axioms))
        clone = session.about(theory.about(stated))
    else:
        assumed = copy(theory)
        assumed.checked = replace(theory.checked, facts=(*theory.checked.facts, *facts))
        clone = session.about(assumed, session.graph())
        clone.source = Continuation(session, theory.checked, [(fact, False) for fact in facts])
    try:
        fixpoint = covering_widely(clone, query)
    except BudgetError:
        return None
    lifted, root = fixpoint.explainer.root(query)
    rows = answer(fixpoint.run, fixpoint.marks, lifted, root, guard=unlimited)
    return Came(float(rows.lower[0]), float(rows.upper[0]), _new_contradiction(before, fixpoint))


def _stated(
    before: Fixpoint, missing: Sequence[Missing], free: dict[str, str], *, pinned: bool
) -> tuple[list[Fact], list[Assertion]]:
    """The premises as facts; those that are not atoms as axioms. A comparison of several unknown numbers says nothing
    about any one of them, so all but one are ``pinned`` to a value that they may have."""
    facts: list[Fact] = []
    axioms: list[Assertion] = []
    for premise in missing:
        assert premise.formula is not None
        formula = with_entities(premise.formula, free)
        lower, upper = (premise.needed, 1.0) if premise.side == "lower" else (0.0, premise.needed)
        if (about := ground_key(formula)) is not None:  # else it is about unnamed individuals
            facts.append(Fact(*about, lower, upper, _NOWHERE))
        else:
            axioms.append(_axiom(before, formula, lower, upper))
            if pinned:
                facts += _pinned(before, formula)
            apart = _apart(formula, true=premise.side == "lower")
            if apart is not None and lower == upper:
                axioms.append(_axiom(before, apart, 1.0, 1.0))
    return facts, axioms


def _axiom(before: Fixpoint, formula: ast.Expression, lower: float, upper: float) -> Assertion:
    """An axiom about a formula as it would be written; only a check tells entities that it compares from numbers."""
    query, _ = check_query(format_expression(formula), before.program, strangers=None)
    stated = formula if query is None else query.formula
    return Assertion("axiom", None, stated, lower, upper, before.program.logic, _NOWHERE)


def _pinned(before: Fixpoint, formula: ast.Expression) -> Iterator[Fact]:
    """A value for each number of a comparison except the first; what is aggregated is left as it is."""
    outside = nodes(formula, lambda node: not isinstance(node, ast.Aggregate))
    numbers = dict.fromkeys(node for node in outside if isinstance(node, ast.Atom))
    for atom in list(numbers)[1:]:
        low, high = before.explainer.bounds(atom) or (-math.inf, math.inf)
        value = min(max(1.0, low), high)
        arguments = tuple(argument.text for argument in atom.arguments if isinstance(argument, ast.Constant))
        yield Fact(atom.name, arguments, value, value, _NOWHERE)


def _apart(formula: ast.Expression, *, true: bool) -> ast.Expression | None:
    """A formula that separates the sides of an order comparison by a margin, so that it is true (or false) for every
    remaining value: intervals have no open ends."""
    if not isinstance(formula, ast.Comparison) or len(formula.operators) != 1 or formula.attributes:
        return None
    operator = formula.operators[0] if true else _OPPOSITE.get(formula.operators[0], "=")
    margin = _MARGIN.get(operator)
    if margin is None:
        return None
    left, right = formula.operands
    if margin:
        right = ast.Arithmetic("+", right, ast.Number(margin, span=_NOWHERE), span=_NOWHERE)
    return ast.Comparison((left, right), (">=" if operator[0] == ">" else "<=",), span=_NOWHERE)


def _new_contradiction(before: Fixpoint, after: Fixpoint) -> str | None:
    old, new = before.outcome.contradictions, after.outcome.contradictions
    if not len(new) or len(new) == len(old):
        return None
    known = {contradiction.atom for contradiction in old[:_COMPARED]}
    return next((contradiction.atom for contradiction in new[:_COMPARED] if contradiction.atom not in known), None)


# --- why bounds are what they are -------------------------------------------------------------------------------------


def why_not(session: Session, query: Query, text: str, *, upper: bool, goal: float | None) -> WhyNot:
    """See `KnowledgeBase.why_not`; ``goal`` None is true or false, ``text`` the query as the user wrote it."""
    before = covering_widely(session, query)
    lifted, root = before.explainer.root(query)
    check_bound(root, session.theory.checked)
    reference = root.reference
    if lifted.graph.nodes[reference.node]["kind"] != "predicate":
        raise neither_true_nor_false(text, query) if query.numeric else no_atom(text, query)
    wanted = (0.0 if upper else 1.0) if goal is None else goal
    entities, added = list(map(str, reference.arguments)), adding(session, query, before, int(upper))
    return before.explainer.why_not(reference.node, entities, int(upper), wanted, added)


def conflicts(
    session: Session, most: int, fixpoint: Fixpoint | None = None, watch: Watch | None = None, kind: str | None = None
) -> Listing[Conflict]:
    """The first ``most`` contradictions of a fixpoint (default: of the program's own queries), or those of a kind, each
    with the facts and statements behind it. ``watch`` is called after each round of inference from some of them."""
    fixpoint = fixpoint or session.program_fixpoint()
    most_rounds = 4 * fixpoint.outcome.rounds + 64  # slow convergence could take arbitrarily long

    def inconsistent(members: Sequence[ConflictMember], *, thoroughly: bool = False) -> bool:
        part = session.about(session.theory.about(alone(fixpoint.program, members)))
        part.watch = watch
        return bool(part.rest((), 8 * most_rounds if thoroughly else most_rounds).outcome.contradictions)

    prover, world = fixpoint.explainer.prover, fixpoint.explainer.world
    listed = first_conflicts(prover, world, inconsistent, most, kind)
    return Listing(listed, ["contradiction", "facts and rules"], Conflict.cells)


def repairs(session: Session) -> Listing[RepairSet]:
    """One smallest set of facts and statements for all contradictions of each kind."""
    outcome = session.program_fixpoint().outcome
    counts = Counter(map(kind_of, outcome.contradictions[:_COUNTED]))

    def find(program: CheckedProgram, kind: str) -> Listing[Conflict]:
        part = session if program is whole else session.about(session.theory.about(program))
        return conflicts(part, _AT_ONCE, kind=kind)

    whole = session.theory.bound(session.theory.settled())
    sets = [repair_set(whole, kind, count, find) for kind, count in counts.items()]
    return Listing(sets, ["contradictions of", "count", "cost", "leave out"], RepairSet.cells)
