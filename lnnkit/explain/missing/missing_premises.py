"""Finds why an atom's bound is no tighter: the instances that could tighten it, and the premises that they lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lnnkit.analysis.families import Polarity
from lnnkit.check.program import Assertion
from lnnkit.explain.missing.nearest_instances import FOLLOWED_AT, LOOKED_AT, NearestInstances, ends
from lnnkit.explain.missing.premise_improvement import ImprovablePremise, PremiseImprovement
from lnnkit.explain.missing.unmet_premises import ExaminedInstance, UnmetPremises, known_numbers, unsettled
from lnnkit.explain.missing.verified_ways import Added, chosen, followed
from lnnkit.explain.missing.why_not import Missing, Way, WhyNot
from lnnkit.explain.proof.explanation import set_apart
from lnnkit.explain.proof.proof import SIDES, ground_key
from lnnkit.explain.provenance.bound_sources import Argument
from lnnkit.explain.provenance.instance_view import InstanceViews
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import COMPARISON
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

# Limits of work, not of correctness: each way is verified by one inference, which takes long above _LARGE atoms.
# Ways by one instance, through other rows of its quantifiers: 1, 3 and 6 take 3.8, 9.2 and 13.3 s, and each finds more
_ALTERNATIVES = 3
_MANY, _FEW = 10, 2  # further ways of one statement, in programs below and above that size
_LARGE = 20_000  # atoms
# Rows of a quantifier that are tried first; all if these are not enough. 1 finds less; 3, 6 and 12 find the same ways
# in 5.0, 8.7 and 17.9 s (likewise)
_NEAREST = 3


class MissingPremises:
    """Searches the statements in which an atom occurs."""

    def __init__(self, views: InstanceViews) -> None:
        self._run = run = views.sources.run
        self._grounding = run.grounding
        self._wording = views.sources.wording
        self._views = views
        self._premises = UnmetPremises(views)
        self._eps = views.sources.eps
        nodes, open_sorts = run.plan.lifted.graph.nodes.items(), run.grounding.domain.open_sorts
        certain = {  # what is stated of unnamed individuals, nothing about its parts says
            node
            for node, data in nodes
            if data["shared"] and (data["lower"] >= 1 or data["upper"] <= 0) and open_sorts.intersection(data["sorts"])
        }
        whole = partial(unfold, run.plan.lifted, through_shared=True, through_comparisons=False, kept=certain)
        self._nearest = NearestInstances(views, [whole(root) for root in run.plan.lifted.statements])

    def why_not(
        self,
        predicate: str,
        arguments: Sequence[str],
        side: int,
        bounds: tuple[float, float],
        goal: float,
        added: Added,
    ) -> WhyNot:
        """What could move one side of an atom to ``goal``, or as far as its other bound allows. For a closed predicate
        the default is no limit, but only rules that define it raise it. ``added`` infers with additional facts."""
        closed = side == 0 and self._run.plan.lifted.graph.nodes[predicate]["closed"]
        bound, other = bounds[side], bounds[1 - side]
        ruled_out = not closed and (goal > other + self._eps if side == 0 else goal < other - self._eps)
        limit = other if ruled_out else goal
        atom = format_expression(self._wording.conclusion(predicate, arguments))
        if (bound >= goal) if side == 0 else (bound <= goal):
            return WhyNot(atom, SIDES[side], bound, goal, [])
        near = [
            way
            for formula in self._nearest.formulas
            for leaf in formula.leaves
            if formula.neurons[leaf].source == predicate and (leaf in formula.heads or not closed)
            for way in self._ways(formula, leaf, arguments, side, bound, limit)
            if all(premise.atom != atom for premise in way.missing)
        ]
        further = _FEW if len(self._grounding.atoms) > _LARGE else _MANY  # each takes one inference
        shown, more = chosen([*followed(near, atom, self._deriving)], side, bound, added, further)
        return WhyNot(atom, SIDES[side], bound, goal, shown, other if ruled_out else None, more=more)

    def _deriving(self, premise: Missing) -> list[Way]:
        """The ways to derive an atom of a closed predicate: those about known entities, if there are any."""
        key = ground_key(premise.formula)
        assert key is not None  # premises with variables are not followed
        predicate, arguments = key
        ways = [
            way
            for formula, leaf in self._nearest.heads(predicate)
            for way in self._ways(formula, leaf, arguments, 0, premise.now, premise.needed, FOLLOWED_AT)
            if way.gives >= premise.needed - self._eps
        ]
        return [way for way in ways if not way.free] or ways

    def _ways(
        self,
        formula: Formula,
        leaf: int,
        arguments: Sequence[str],
        side: int,
        bound: float,
        goal: float,
        most: int = LOOKED_AT,
    ) -> Iterator[Way]:
        """The ways by at most so many instances of one statement, through one of its leaves."""
        index = self._grounding.domain.index
        bindings = self._views.unified(formula, leaf, [index[argument] for argument in arguments])
        if bindings is None or formula.neurons[leaf].block:
            return
        for extended in self._nearest.of(formula, leaf, side, bindings, {})[:most]:
            yield from self._by_instance(self._instance(formula, leaf, arguments, side, extended), side, bound, goal)

    def _instance(
        self, formula: Formula, leaf: int, arguments: Sequence[str], side: int, bindings: Mapping[int, int]
    ) -> ExaminedInstance:
        """One instance, without the rows of quantifiers that do not matter."""
        free = frozenset(formula.blocks[0].variables) - set(bindings)
        row = self._views.sources.find(formula.neurons[leaf].source, arguments)
        view = self._views.whole(formula, {**bindings, **dict.fromkeys(free, self._grounding.domain.generic)}, free)
        known: dict[int, Argument] = {v: self._wording.names[entity] for v, entity in bindings.items()}
        instance = ExaminedInstance(view, leaf, row, known, free)
        return unsettled(instance, _raised(formula, ends(formula, leaf, side)))

    def _by_instance(self, instance: ExaminedInstance, side: int, bound: float, goal: float) -> Iterator[Way]:
        """The nearest way, and those through other rows of its quantifiers."""
        neurons = instance.view.formula.neurons
        attempt = self._attempt(instance, side, goal)
        for _ in range(_ALTERNATIVES):
            reach = (max if side else min)(attempt.best(), goal)
            if _signed(reach, side) - _signed(bound, side) <= self._eps:
                return
            least = attempt.least(reach, self._eps)
            yield self._way(instance, reach, least)
            inner = {id(premise) for premise, _ in least if neurons[premise.leaf].block}
            if not inner:
                return
            attempt = replace(attempt, wanted=[premise for premise in attempt.wanted if id(premise) not in inner])

    def _attempt(self, instance: ExaminedInstance, side: int, goal: float) -> PremiseImprovement:
        """The way by one instance. If an equivalence reads both ends of an operand, use the one that leads further; use
        only the nearest rows of quantifiers if they lead as far as all."""
        reads, moved = self._premises.reads(instance), ends(instance.view.formula, instance.target, side)
        none = PremiseImprovement(instance.view, instance.target, side, reads, ())

        def tightness(attempt: PremiseImprovement) -> float:
            return _signed(attempt.best(), side)

        def through(nearest: int | None) -> PremiseImprovement:
            wanted = (self._premises.wanted(instance, reads, some, nearest) for some in _one_end_each(moved))
            return max((replace(none, wanted=premises) for premises in wanted), key=tightness)

        near = through(_NEAREST)
        far_enough = not instance.view.has_rows or tightness(near) >= _signed(goal, side)
        return near if far_enough else max(near, through(None), key=tightness)

    def _way(self, instance: ExaminedInstance, reach: float, least: Sequence[tuple[ImprovablePremise, float]]) -> Way:
        formula = instance.view.formula
        assert formula.root is not None and isinstance(formula.root.origin, Assertion)
        names = formula.root.variables
        said = {names[v]: str(entity) for v, entity in instance.known.items() if v < len(names)}
        written = sorted(least, key=lambda pair: pair[0].leaf)
        missing = [self._missing(formula, premise, needed) for premise, needed in written]
        mentioned = {v for premise, _ in least for v in formula.neurons[premise.leaf].arguments}
        free = tuple(names[v] for v in sorted(instance.free) if v < len(names) and v in mentioned)
        heads = instance.target in formula.heads
        return Way(formula.root.origin, said, reach, missing, free, concludes=heads)

    def _missing(self, formula: Formula, wanted: ImprovablePremise, needed: float) -> Missing:
        source = formula.neurons[wanted.leaf].source
        about = self._wording.pattern(formula, wanted.leaf, wanted.named)
        missing = self._wording.conclusion(source, about)
        excluded = needed > wanted.other + self._eps if wanted.side == 0 else needed < wanted.other - self._eps
        row = np.array([self._views.sources.find(source, about)])
        unlisted = excluded and bool(self._premises.unlisted(source, wanted.side, row)[0])
        data, ground = self._run.plan.lifted.graph.nodes.get(source, {}), all(isinstance(a, str) for a in about)
        never_false = wanted.side == 1 and isinstance(missing, ast.Atom) and not data.get("closed")
        derived = unlisted and self._nearest.derived(source)
        return Missing(
            set_apart(missing, format_expression(missing)),
            SIDES[wanted.side],
            wanted.now,
            needed,
            wanted.other if excluded else None,
            wanted.arrested,
            unlisted,
            never_false and (source, "upper") not in self._run.plan.relevance.produced,
            known_numbers(self._run, source, about) if data.get("kind") == COMPARISON and ground else (),
            wanted.gap,
            missing,
            derived,
            underived=derived and ground,
        )


def _raised(formula: Formula, moved: Sequence[tuple[int, int]]) -> dict[int, bool]:
    """The inner blocks whose quantifiers these ends move one way, and whether up."""
    raised: dict[int, bool] = {}
    polarity = Polarity(formula)
    for neuron in formula.neurons:
        if neuron.inner > 0:
            signs = polarity.signs_beneath(neuron.operands[0])
            moves = {(side == 0) == (signs[leaf] > 0) if signs[leaf] else None for leaf, side in moved if leaf in signs}
            if len(moves) == 1 and None not in moves:
                raised[neuron.inner] = bool(moves.pop())
    return raised


def _one_end_each(moved: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The ends that could be improved, one a leaf: of leaves of which both are read, all lower or all upper ones."""
    both = {leaf for leaf, side in moved if (leaf, 1 - side) in moved}
    return [[(leaf, end) for leaf, end in dict.fromkeys(moved) if leaf not in both or end == side] for side in (0, 1)]


def _signed(bound: float, side: int) -> float:
    """The bound with its sign chosen such that greater is tighter."""
    return -bound if side else bound
