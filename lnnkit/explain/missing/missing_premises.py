"""Finds why an atom's bound is no tighter: the instances that could tighten it, and the premises that they lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.analysis.leaf_polarity import Polarity
from lnnkit.check.program import Assertion
from lnnkit.engine.start.prepared import Prepared
from lnnkit.explain.missing.comparison_values import known_numbers
from lnnkit.explain.missing.nearest_instances import Literal, nearest
from lnnkit.explain.missing.premise_improvement import PremiseImprovement, Wanted
from lnnkit.explain.missing.quantifier_rows import unsettled
from lnnkit.explain.missing.unmet_premises import Instance, UnmetPremises
from lnnkit.explain.missing.verified_ways import Added, chosen
from lnnkit.explain.missing.why_not import Missing, Way, WhyNot
from lnnkit.explain.proof.proof import Side
from lnnkit.explain.provenance.bound_sources import BoundSources
from lnnkit.explain.provenance.ground_text import Argument, GroundText
from lnnkit.explain.provenance.regrounding import assemble
from lnnkit.explain.render.proof_text import set_apart
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import COMPARISON
from lnnkit.logic.bounds import tolerance
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

SIDES: tuple[Side, Side] = ("lower", "upper")
# Limits of work, not of correctness: each way is verified by one inference, which takes long above _LARGE atoms.
# Instances of one statement. For two atoms of a rule with five premises 2, 5, 10 and 20 take 1.2, 2.9, 5.7 and 9.9 s,
# and each finds more; 40 and 80 find no more (`python -m benchmarks.question_constants missing`)
_LOOKED_AT = 20
# Ways by one instance, through other rows of its quantifiers: 1, 3 and 6 take 3.8, 9.2 and 13.3 s, and each finds more
_ALTERNATIVES = 3
_MANY, _FEW = 10, 2  # further ways of one statement, in programs below and above that size
_LARGE = 20_000  # atoms
# Rows of a quantifier that are tried first; all if these are not enough. 1 finds less; 3, 6 and 12 find the same ways
# in 5.0, 8.7 and 17.9 s (likewise)
_NEAREST = 3


class MissingPremises:
    """Searches the statements in which an atom occurs."""

    def __init__(self, prepared: Prepared, readings: BoundSources, wording: GroundText) -> None:
        self._prepared = prepared
        self._grounding = prepared.grounding
        self._wording = wording
        self._premises = UnmetPremises(prepared, readings, wording)
        self._eps = tolerance(prepared.state.dtype)
        self._formulas = [
            unfold(prepared.lifted, root, through_shared=True, through_comparisons=False)
            for root in prepared.lifted.statements
        ]

    def why_not(
        self,
        predicate: str,
        arguments: Sequence[str],
        side: int,
        bounds: tuple[float, float],
        goal: float,
        added: Added,
    ) -> WhyNot:
        """What could move one side of an atom from its bound to ``goal``, or as far as its other bound allows. For a
        closed predicate the default is no limit, but only rules that define it raise it. ``added`` infers with
        additional facts."""
        closed = side == 0 and self._prepared.lifted.graph.nodes[predicate]["closed"]
        bound, other = bounds[side], bounds[1 - side]
        ruled_out = not closed and (goal > other + self._eps if side == 0 else goal < other - self._eps)
        limit = other if ruled_out else goal
        if (bound >= goal) if side == 0 else (bound <= goal):
            return WhyNot(self._atom(predicate, arguments), SIDES[side], bound, goal, [])
        ways = [
            way
            for formula in self._formulas
            for leaf in formula.leaves
            if formula.neurons[leaf].source == predicate and (leaf in formula.heads or not closed)
            for way in self._ways(formula, leaf, arguments, side, bound, limit)
        ]
        atom = self._atom(predicate, arguments)
        shown, more = chosen([way for way in ways if not _needs(way, atom)], side, bound, added, self._seconds)
        return WhyNot(atom, SIDES[side], bound, goal, shown, other if ruled_out else None, more=more)

    @property
    def _seconds(self) -> int:
        """The number of ways shown besides the first one of each statement: each takes one inference."""
        return _FEW if len(self._grounding.atoms) > _LARGE else _MANY

    def _atom(self, predicate: str, arguments: Sequence[str]) -> str:
        return format_expression(self._wording.conclusion(predicate, arguments))

    def _ways(
        self, formula: Formula, leaf: int, arguments: Sequence[str], side: int, bound: float, goal: float
    ) -> Iterator[Way]:
        """The ways by one statement, through one of its leaves."""
        bindings = self._unified(formula, leaf, arguments)
        ends = [(each.leaf, int(each.end == "upper")) for each in Polarity(formula).reads(leaf, SIDES[side])]
        if bindings is None or formula.neurons[leaf].block:
            return
        free = set(formula.blocks[0].variables)
        own = self._row(formula.neurons[leaf].source, arguments)
        literals = [Literal(other, end) for other, end in ends if other != leaf and formula.neurons[other].block == 0]
        looked = nearest(self._grounding, self._prepared.state, formula, literals, bindings)
        for found in looked[:_LOOKED_AT]:
            yield from self._by_instance(formula, leaf, own, found, free - set(found), ends, side, bound, goal)

    def _by_instance(
        self,
        formula: Formula,
        leaf: int,
        own: int,
        bindings: Mapping[int, int],
        free: set[int],
        ends: Sequence[tuple[int, int]],
        side: int,
        bound: float,
        goal: float,
    ) -> Iterator[Way]:
        """The nearest way, and those through other rows of its quantifiers."""
        generic = self._grounding.domain.generic
        view = assemble(self._grounding, formula, {**bindings, **dict.fromkeys(free, generic)}, free)
        view = unsettled(view, self._prepared.state, own, _raised(formula, ends))
        known: dict[int, Argument] = {v: self._wording.names[entity] for v, entity in bindings.items()}
        instance = Instance(view, leaf, own, known, frozenset(free))
        attempt = self._attempt(instance, ends, side, goal)
        for _ in range(_ALTERNATIVES):
            best = attempt.best(leaf, side)
            reach = min(best, goal) if side == 0 else max(best, goal)
            if (reach - bound if side == 0 else bound - reach) <= self._eps:
                return
            least = attempt.least(leaf, side, reach, self._eps)
            yield self._way(instance, reach, least)
            inner = {id(each) for each, _ in least if formula.neurons[each.leaf].block}
            if not inner:
                return
            attempt = replace(attempt, wanted=[each for each in attempt.wanted if id(each) not in inner])

    def _attempt(
        self, instance: Instance, ends: Sequence[tuple[int, int]], side: int, goal: float
    ) -> PremiseImprovement:
        """The way by one instance. If an equivalence reads both ends of an operand, use the one that leads further; use
        only the nearest rows of quantifiers if they lead as far as all."""
        reads = self._premises.reads(instance)

        def through(nearest: int | None) -> PremiseImprovement:
            tried = [
                PremiseImprovement(instance.view, reads, self._premises.wanted(instance, reads, some, nearest))
                for some in _one_end_each(ends)
            ]
            return max(tried, key=lambda one: _signed(one.best(instance.target, side), side))

        near = through(_NEAREST)
        if not instance.view.inner or _signed(near.best(instance.target, side), side) >= _signed(goal, side):
            return near
        every = through(None)
        further = _signed(every.best(instance.target, side), side) > _signed(near.best(instance.target, side), side)
        return every if further else near

    def _way(self, instance: Instance, reach: float, least: Sequence[tuple[Wanted, float]]) -> Way:
        formula = instance.view.formula
        assert formula.root is not None and isinstance(formula.root.origin, Assertion)
        names = formula.root.variables
        said = {names[v]: str(entity) for v, entity in instance.known.items() if v < len(names)}
        written = sorted(least, key=lambda pair: pair[0].leaf)
        missing = [self._missing(formula, each, needed) for each, needed in written]
        mentioned = {v for each, _ in least for v in formula.neurons[each.leaf].arguments}
        free = tuple(names[v] for v in sorted(instance.free) if v < len(names) and v in mentioned)
        heads = instance.target in formula.heads
        return Way(formula.root.origin, said, reach, missing, free, concludes=heads)

    def _missing(self, formula: Formula, wanted: Wanted, needed: float) -> Missing:
        source = formula.neurons[wanted.leaf].source
        about = self._wording.pattern(formula, wanted.leaf, wanted.named)
        missing = self._wording.conclusion(source, about)
        atom = set_apart(missing, format_expression(missing))
        excluded = needed > wanted.other + self._eps if wanted.side == 0 else needed < wanted.other - self._eps
        row = self._row(source, about)
        unlisted = excluded and bool(self._premises.unlisted(source, np.array([row]))[0])
        data = self._prepared.lifted.graph.nodes.get(source, {})
        entities = [each for each in about if isinstance(each, str)]
        numbers: tuple[str, ...] = ()
        if data.get("kind") == COMPARISON and len(entities) == len(about):
            numbers = known_numbers(self._prepared, source, entities)
        never_false = wanted.side == 1 and isinstance(missing, ast.Atom) and not data.get("closed")
        never_false = never_false and (source, "upper") not in self._prepared.relevance.produced
        return Missing(
            atom,
            SIDES[wanted.side],
            wanted.now,
            needed,
            wanted.other if excluded else None,
            wanted.arrested,
            unlisted,
            never_false,
            numbers,
            wanted.gap,
            missing,
        )

    def _row(self, table: str, about: Sequence[Argument]) -> int:
        """The row of an atom; -1 where it has none of its own."""
        own, index = self._grounding.atoms.tables[table], self._grounding.domain.index
        if not all(isinstance(each, str) and each in index for each in about):
            return -1
        ids = [np.array([index[str(each)]], np.int32) for each in about]
        row = int(self._grounding.atoms.find(own, ids, 1)[0])
        return -1 if row == own.default_row else row

    def _unified(self, formula: Formula, leaf: int, arguments: Sequence[str]) -> dict[int, int] | None:
        domain = self._grounding.domain
        bindings: dict[int, int] = {}
        for own, argument in zip(formula.neurons[leaf].arguments, arguments, strict=True):
            entity = domain.index[argument]
            if isinstance(own, str):
                if own != argument:
                    return None
            elif bindings.setdefault(own, entity) != entity or not bool(
                (domain.sorts[formula.sorts[own]] == entity).any()
            ):
                return None
        return bindings


def _raised(formula: Formula, ends: Sequence[tuple[int, int]]) -> dict[int, bool]:
    """The inner blocks whose quantifiers these ends move one way, and whether up."""
    found: dict[int, bool] = {}
    polarity = Polarity(formula)
    for neuron in formula.neurons:
        if neuron.inner > 0:
            signs = polarity.signs_beneath(neuron.operands[0])
            moves = {(side == 0) == (signs[leaf] > 0) if signs[leaf] else None for leaf, side in ends if leaf in signs}
            if len(moves) == 1 and None not in moves:
                found[neuron.inner] = bool(moves.pop())
    return found


def _one_end_each(ends: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The ends that could be improved, one for each leaf: all lower or all upper ends for leaves of which both are
    read."""
    both = {leaf for leaf, _ in ends if {(leaf, 0), (leaf, 1)} <= {*ends}}
    return [
        [(leaf, end) for leaf, end in dict.fromkeys(ends) if leaf not in both or end == chosen] for chosen in (0, 1)
    ]


def _signed(bound: float, side: int) -> float:
    """The bound with its sign chosen such that greater is tighter."""
    return -bound if side else bound


def _needs(way: Way, atom: str) -> bool:
    return any(each.atom == atom for each in way.missing)
